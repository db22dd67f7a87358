//! `cargo xtask test`: everything that must hold, as named steps.

mod absences;
mod cargo;
mod licences;
mod source;
mod tidy;

use std::process::ExitCode;

use anyhow::Result;
use clap::builder::PossibleValuesParser;

use crate::fuzz;
use crate::npm;
use crate::process;
use crate::progress::Progress;

/// Options of `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run this step only; may be repeated
    #[arg(long, value_name = "STEP", value_parser = PossibleValuesParser::new(STEPS.iter().map(|step| step.name)))]
    only: Vec<String>,
    /// List the steps and what each one checks
    #[arg(long)]
    list: bool,
}

/// One thing that must hold. `check` returns a note for the summary.
struct Step {
    name: &'static str,
    about: &'static str,
    check: fn(&Progress) -> Result<String>,
}

/// Cheap steps first: what fails often should fail soon.
const STEPS: &[Step] = &[
    Step { name: "fmt", about: "rustfmt agrees with every file", check: cargo::fmt },
    Step { name: "tidy", about: "functions up to 70 lines, files up to 600, nothing left to do", check: tidy::check },
    Step { name: "absences", about: "what must not be there is not there", check: absences::check },
    Step { name: "licences", about: "every dependency's licence is on the list in deny.toml", check: licences::check },
    Step { name: "clippy", about: "no warning in any target", check: cargo::clippy },
    Step { name: "build", about: "the binaries and all tests compile", check: cargo::build },
    Step { name: "test", about: "unit, property, integration, end-to-end and doc tests", check: cargo::test },
    Step {
        name: "interleavings",
        about: "no order of tasks loses a wakeup: core under Shuttle",
        check: cargo::interleavings,
    },
    Step { name: "fuzz", about: "a few seconds of each fuzz target", check: fuzz::short },
    Step { name: "doc", about: "rustdoc without a warning", check: cargo::doc },
    Step { name: "wasm", about: "core and the browser's transport compile for wasm32", check: cargo::wasm },
    Step { name: "browser", about: "the npm package and the demo page, in Chromium", check: npm::tests::check },
];

/// Runs the chosen steps. The last line counts them.
pub(crate) fn run(args: &Args) -> ExitCode {
    if args.list {
        for step in STEPS {
            println!("{:10} {}", step.name, step.about);
        }
        return ExitCode::SUCCESS;
    }
    if let Ok(version) = process::output(process::program("rustc").arg("--version")) {
        println!("{}", version.trim());
    }
    let chosen = STEPS.iter().filter(|step| args.only.is_empty() || args.only.iter().any(|name| name == step.name));
    let mut passed = 0;
    for step in chosen {
        if !run_step(step) {
            println!("\nrepeat with: cargo xtask test --only {}\n\n{passed} passed, 1 failed", step.name);
            return ExitCode::FAILURE;
        }
        passed += 1;
    }
    println!("\n{passed} passed, 0 failed");
    ExitCode::SUCCESS
}

fn run_step(step: &Step) -> bool {
    let progress = Progress::start(step.name);
    match (step.check)(&progress) {
        Ok(note) => {
            progress.finish("ok", &note);
            true
        }
        Err(error) => {
            progress.finish("FAIL", "");
            println!("\n{error:#}");
            false
        }
    }
}
