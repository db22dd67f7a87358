//! What the user gets to read, all of it on standard error: standard output may carry data.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use muxgate_core::{ConnectionError, SessionStats};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::cli::LogArgs;
use crate::escape::Printable;
use crate::exit::Failure;

/// Sets the log up for the process.
pub fn init(args: &LogArgs) -> Result<(), Failure> {
    let level = match args.verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let filter = match &args.filter {
        Some(filter) => filter.parse().map_err(|error| Failure::usage(format!("--log {filter}: {error}")))?,
        None => EnvFilter::default().add_directive(level.into()),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .try_init()
        .map_err(|error| Failure::usage(error.to_string()))
}

/// Prints a line that users and scripts wait for, whatever the log level.
pub fn announce(line: fmt::Arguments<'_>) {
    // Nobody is left to be told when standard error is closed.
    let _ = writeln!(io::stderr(), "muxgate: {line}");
}

/// Tells how a session ended, and what it moved. `cargo xtask bench` reads the fields.
pub fn session_ended(stats: &SessionStats, why: &ConnectionError) {
    tracing::info!(
        bytes_sent = stats.bytes_sent,
        bytes_received = stats.bytes_received,
        adjusts_lazy = stats.adjusts_sent.lazy,
        adjusts_urgent = stats.adjusts_sent.urgent,
        adjusts_must = stats.adjusts_sent.must,
        adjusts_received = stats.adjusts_received,
        channels = stats.channels_opened,
        refused = stats.opens_failed,
        stalls = stats.stalls,
        glitches = stats.glitches,
        "session ended: {}",
        Printable(&why.to_string())
    );
}
