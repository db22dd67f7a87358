//! What a process uses.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

/// Memory of process `pid` that is resident now, in bytes. Linux only.
#[must_use]
pub fn resident(pid: Pid) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: Option<usize> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.expect("the kernel counts memory") * 1024
}

/// Open descriptors of process `pid`. Linux only.
#[must_use]
pub fn descriptors(pid: Pid) -> usize {
    fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).expect("the process runs").count()
}

/// Processor time that process `pid` has used so far. Linux only.
#[must_use]
pub fn processor_time(pid: Pid) -> Duration {
    /// What the kernel counts in, whatever its own clock does (`USER_HZ`).
    const PER_SECOND: u64 = 100;

    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).expect("the process runs");
    // The name, in brackets, may hold anything.
    let (_, fields) = stat.rsplit_once(')').expect("the name is in brackets");
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 1000 / PER_SECOND)
}

/// Lets process `pid` have `more` descriptors than it has now, for good. Linux only.
#[cfg(target_os = "linux")]
pub fn limit_descriptors(pid: Pid, more: usize) -> io::Result<()> {
    let limit = u64::try_from(descriptors(pid) + more).ok();
    rustix::process::prlimit(Some(pid), Resource::Nofile, Rlimit { current: limit, maximum: limit })?;
    Ok(())
}

/// Allows this process as many descriptors as its user may have, and says how many.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)?;
    Ok(limit.maximum.unwrap_or(u64::MAX))
}
