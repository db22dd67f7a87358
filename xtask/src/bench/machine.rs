//! Where and how it was measured.

use std::fs;
use std::thread::available_parallelism;

use anyhow::{Context, Result};

use super::Args;
use crate::process::{output, program};

/// One line that tells which machine measured, when, and how long.
pub(super) fn describe(args: &Args) -> Result<String> {
    let cpus = fs::read_to_string("/proc/cpuinfo").context("the bench needs Linux")?;
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, name)| name);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let date = output(program("date").args(["--utc", "+%Y-%m-%d"]))?;
    Ok(format!(
        "{} cores ({}), Linux {}, {}; medians of {} rounds of {} s.",
        available_parallelism()?,
        model.unwrap_or("unknown"),
        kernel.trim(),
        date.trim(),
        args.rounds,
        args.seconds,
    ))
}
