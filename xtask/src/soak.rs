//! `cargo xtask soak`: everything at once for as long as one likes. See `tests/tests/soak.rs`.

use anyhow::Result;

use crate::process::{built, cargo, run, run_with};
use crate::progress::Progress;

/// Options of `cargo xtask soak`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    minutes: u32,
}

/// Runs it on the optimised gateway, which is the one that people use.
pub(crate) fn soak(args: &Args) -> Result<()> {
    let progress = Progress::start("build");
    run(&mut cargo(["build", "--release", "--bin", "muxgate"]), &progress)?;
    run(&mut cargo(["test", "--package", "muxgate-tests", "--test", "soak", "--no-run"]), &progress)?;
    progress.finish("ok", "the gateway, optimised");

    let progress = Progress::start("soak");
    let mut command = cargo(["test", "--package", "muxgate-tests", "--test", "soak", "--", "--ignored"]);
    command.env("MUXGATE_BIN", built("release")?.join("muxgate"));
    run_with(command.env("MUXGATE_SOAK_MINUTES", args.minutes.to_string()), |line| {
        progress.news(line);
        if line.contains("MiB, ") {
            progress.print(line);
        }
    })?;
    progress.finish("ok", &format!("{} minutes", args.minutes));
    Ok(())
}
