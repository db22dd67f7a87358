//! The steps that cargo does for us.
//!
//! Everything native is built in the `dev` profile, whose dependencies are optimised: one set of artefacts serves
//! the tests, the binary they start and xtask itself. On two cores that takes less time than a release build does.

use std::process::Command;

use anyhow::Result;

use crate::process::{built, cargo, root, run, run_with};
use crate::progress::Progress;
use crate::setup::{programs, wasm};

/// Where the end-to-end tests find the gateway.
const BINARY_VARIABLE: &str = "MUXGATE_BIN";

pub(super) fn fmt(progress: &Progress) -> Result<String> {
    run(&mut cargo(["fmt", "--all", "--check"]), progress)?;
    Ok(String::new())
}

pub(super) fn clippy(progress: &Progress) -> Result<String> {
    // The wasm crate is linted as native code: its dependencies compile there too.
    run(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]), progress)?;
    Ok(String::new())
}

pub(super) fn build(progress: &Progress) -> Result<String> {
    run(&mut build_command(), progress)?;
    Ok(String::new())
}

pub(super) fn test(progress: &Progress) -> Result<String> {
    let programs = programs::ensure(progress)?;
    // Does nothing after the step `build`; the tests must never see a binary of yesterday.
    run(&mut build_command(), progress)?;
    let mut tests = 0;
    let mut command = cargo(["test", "--no-fail-fast"]);
    command.env(BINARY_VARIABLE, built("debug")?.join("muxgate"));
    run_with(&mut command, |line| {
        progress.news(line);
        // The program's name and its closing line: what ran stays visible.
        if line.contains("Running ") || line.contains("Doc-tests ") || line.starts_with("test result:") {
            progress.print(line);
        }
        tests += passed(line);
    })?;
    Ok(format!("{tests} tests, with {programs}"))
}

/// The model tests of core, in a folder of their own: everything in it has other flags than everywhere else.
pub(super) fn interleavings(progress: &Progress) -> Result<String> {
    let mut command = cargo(["test", "--package", "muxgate-core", "--test", "interleavings", "--target-dir"]);
    command.arg(root().join("target/interleavings")).env("RUSTFLAGS", "--cfg muxgate_shuttle");
    let mut tests = 0;
    run_with(&mut command, |line| {
        progress.news(line);
        tests += passed(line);
    })?;
    Ok(format!("{tests} tests"))
}

pub(super) fn doc(progress: &Progress) -> Result<String> {
    let mut command = cargo(["doc", "--workspace", "--no-deps"]);
    run(command.env("RUSTDOCFLAGS", "-D warnings"), progress)?;
    Ok(String::new())
}

pub(super) fn wasm(progress: &Progress) -> Result<String> {
    let wasm = wasm::ensure(progress)?;
    run(&mut wasm.cargo_build(), progress)?;
    Ok(wasm.how().to_owned())
}

/// Both in one command, so that dependencies are compiled with one set of features.
fn build_command() -> Command {
    cargo(["build", "--bins", "--tests"])
}

/// The passed tests that a closing line of a test program counts.
fn passed(line: &str) -> u32 {
    let count = || line.strip_prefix("test result: ")?.split_once(". ")?.1.split_once(" passed")?.0.parse().ok();
    count().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::passed;

    #[test]
    fn counts_what_a_closing_line_says() {
        assert_eq!(passed("test result: ok. 12 passed; 0 failed; 1 ignored; finished in 0.10s"), 12);
        assert_eq!(passed("test result: FAILED. 3 passed; 1 failed; 0 ignored"), 3);
        assert_eq!(passed("test codec::splits ... ok"), 0);
    }
}
