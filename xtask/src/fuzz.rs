//! `cargo xtask fuzz`: libFuzzer looks for input that breaks what `fuzz/` says must hold.
//!
//! The coverage that guides it comes from a pass of LLVM that any rustc has: no nightly toolchain, no sanitizer. None
//! is missed, because the code under test has no `unsafe`. Where there is no C++ compiler for libFuzzer, random bytes
//! take its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{cargo, find, output, program, root, run, run_with};
use crate::progress::Progress;
use crate::setup::apt;

/// Options of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long, over all targets
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    minutes: u32,
    /// This target only; may be repeated
    #[arg(long, value_name = "T")]
    target: Vec<String>,
}

/// Seconds for each target in `cargo xtask test`.
const SHORT: u32 = 5;

/// libFuzzer chooses another one each time ...
const ANY_SEED: u32 = 0;
/// ... but what is checked for every change should not fail for some of them by chance.
const SAME_SEED: u32 = 1;

/// What cargo-fuzz passes for coverage. The host's own programs, such as build scripts, stay as they are because cargo
/// keeps these flags for the target that `--target` names.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// Runs for so many minutes.
pub(crate) fn fuzz(args: &Args) -> Result<()> {
    let all = targets()?;
    if let Some(unknown) = args.target.iter().find(|target| !all.contains(target)) {
        bail!("no target {unknown}; there are {}", all.join(", "));
    }
    let chosen = if args.target.is_empty() { all } else { args.target.clone() };
    let count = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
    let progress = Progress::start("fuzz");
    let note = look(&chosen, (args.minutes * 60 / count).max(1), ANY_SEED, &progress)?;
    progress.finish("ok", &note);
    Ok(())
}

/// A few seconds of each, for `cargo xtask test`.
pub(crate) fn short(progress: &Progress) -> Result<String> {
    look(&targets()?, SHORT, SAME_SEED, progress)
}

fn look(targets: &[String], seconds: u32, seed: u32, progress: &Progress) -> Result<String> {
    if !has_compiler(progress) {
        random_bytes(targets, seconds, progress)?;
        return Ok(format!("{} targets, random bytes only: there is no C++ compiler for libFuzzer", targets.len()));
    }
    let fuzzer = build(progress)?;
    let mut executions = 0;
    for target in targets {
        executions += Search::new(&fuzzer, target)?.run(seconds, seed, progress)?;
    }
    Ok(format!("{} targets, {seconds} s each, {executions} inputs", targets.len()))
}

/// Those that have a corpus.
fn targets() -> Result<Vec<String>> {
    let folders = fs::read_dir(root().join("fuzz/corpus")).context("where are the corpora?")?;
    let mut names: Vec<_> = folders.flatten().filter_map(|folder| folder.file_name().into_string().ok()).collect();
    names.sort_unstable();
    Ok(names)
}

fn has_compiler(progress: &Progress) -> bool {
    find("c++").is_some() || apt::install(&["g++"], progress).is_ok()
}

/// The fuzzer, in a folder of its own: everything in it has other flags than everywhere else.
fn build(progress: &Progress) -> Result<PathBuf> {
    let version = output(program("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let folder = root().join("target/fuzz");
    let features = ["--package", "muxgate-fuzz", "--features", "libfuzzer", "--bin", "muxgate-fuzz"];
    let mut command = cargo(["build", "--profile", "fuzz", "--target", host, "--target-dir"]);
    command.arg(&folder).args(features).env("RUSTFLAGS", COVERAGE);
    run(&mut command, progress)?;
    Ok(folder.join(host).join("fuzz/muxgate-fuzz"))
}

/// One target at work.
struct Search<'a> {
    target: &'a str,
    findings: PathBuf,
    command: Command,
}

impl<'a> Search<'a> {
    fn new(fuzzer: &Path, target: &'a str) -> Result<Self> {
        let folder = root().join("target/fuzz");
        // What is reached on the way is kept for the next time, out of the corpus that is under version control.
        let (found, findings) = (folder.join("corpus").join(target), folder.join("findings").join(target));
        fs::create_dir_all(&found)?;
        fs::create_dir_all(&findings)?;
        let mut command = program(&fuzzer.to_string_lossy());
        command.env("MUXGATE_FUZZ_TARGET", target).arg(&found).arg(root().join("fuzz/corpus").join(target));
        command.arg(format!("-artifact_prefix={}/", findings.display()));
        Ok(Self { target, findings, command })
    }

    /// Returns how many inputs were tried.
    fn run(mut self, seconds: u32, seed: u32, progress: &Progress) -> Result<u64> {
        self.command.arg(format!("-max_total_time={seconds}")).arg(format!("-seed={seed}"));
        self.command.args(["-timeout=10", "-print_final_stats=1"]);
        let mut executions = 0;
        let searched = run_with(&mut self.command, |line| {
            progress.news(&format!("{}: {line}", self.target));
            let count =
                line.strip_prefix("stat::number_of_executed_units:").and_then(|count| count.trim().parse().ok());
            executions += count.unwrap_or(0);
        });
        let (target, findings) = (self.target, self.findings.display());
        let advice = format!(
            "{target} does not hold for the input in {findings}: keep it as fuzz/corpus/{target}/NAME; `cargo test -p \
             muxgate-fuzz {target}` repeats it"
        );
        searched.context(advice)?;
        Ok(executions)
    }
}

/// The targets without a fuzzer: see `fuzz/tests/corpus.rs`.
fn random_bytes(targets: &[String], seconds: u32, progress: &Progress) -> Result<()> {
    for target in targets {
        let mut command = cargo(["test", "--package", "muxgate-fuzz", "--test", "corpus", target]);
        run(command.env("MUXGATE_FUZZ_SECONDS", seconds.to_string()), progress)?;
    }
    Ok(())
}
