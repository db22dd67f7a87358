//! Set-up, demo, tests and benches of Muxgate: `cargo xtask --help`.
//!
//! Each command is a module with its own arguments; `process` runs other programs and `progress` says what they
//! are at.
#![forbid(unsafe_code)]

mod bench;
mod demo;
mod fuzz;
mod npm;
mod process;
mod progress;
mod setup;
mod soak;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Set-up, demo, tests and benches of Muxgate.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check everything that must hold, stopping at the first failure.
    Test(test::Args),
    /// Install what the tests need and this machine lacks.
    Setup,
    /// Build everything, with what is missing installed, and run the gateway and its page on this machine.
    Demo(demo::Args),
    /// Build and pack the npm package.
    Npm,
    /// Look for input that breaks what must hold.
    Fuzz(fuzz::Args),
    /// Transfer, reset, stop and kill for as long as one likes.
    Soak(soak::Args),
    /// Measure what forwarding costs, beside other ways to do it.
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Test(args) => return test::run(&args),
        Command::Setup => setup::run(),
        Command::Demo(args) => demo::run(&args),
        Command::Npm => npm::run(),
        Command::Fuzz(args) => fuzz::fuzz(&args),
        Command::Soak(args) => soak::soak(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
