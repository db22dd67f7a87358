//! `muxgate`: carries many TCP connections over one.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use muxgate::cli::Cli;
use muxgate::logging;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match logging::init(&cli.log).and_then(|()| muxgate::run(&cli.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            logging::announce(format_args!("{failure}"));
            failure.code.into()
        }
    }
}
