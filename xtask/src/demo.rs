//! `cargo xtask demo`: from a fresh machine to the page in a browser.

use std::os::unix::process::CommandExt;
use std::process::Stdio;

use anyhow::{Context, Result};

use crate::npm;
use crate::process::{built, cargo, program, run as run_quietly};
use crate::progress::Progress;

/// Options of `cargo xtask demo`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The page's port on this machine; another one is taken if it is in use
    #[arg(long, value_name = "PORT", default_value_t = 7171)]
    port: u16,
}

/// Installs what is missing, builds, and becomes `muxgate demo`. Returns only if that fails.
pub(crate) fn run(args: &Args) -> Result<()> {
    let progress = Progress::start("package");
    let sizes = npm::build(&progress)?;
    progress.finish("ok", &format!("for browsers; {sizes}"));

    let progress = Progress::start("page");
    let size = npm::page::build(&progress)?;
    progress.finish("ok", &size);

    let progress = Progress::start("gateway");
    let features = ["--features", npm::page::FEATURE];
    run_quietly(cargo(["build", "--release", "--bin", "muxgate"]).args(features), &progress)?;
    progress.finish("ok", "optimised, with the page inside");

    let muxgate = built("release")?.join("muxgate").display().to_string();
    let listen = format!("ws://127.0.0.1:{}", args.port);
    println!("\n$ {muxgate} demo --listen {listen}\n");
    // In our place: signals reach it directly, and it cannot be left behind.
    let failed = program(&muxgate).args(["demo", "--listen", &listen]).stdin(Stdio::inherit()).exec();
    Err(failed).context("cannot start the gateway")
}
