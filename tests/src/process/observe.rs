//! What a process uses.

use std::fs;
use std::io;

use rustix::process::{Pid, Resource, getrlimit, setrlimit};

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

/// Allows this process as many descriptors as its user may have, and says how many.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)?;
    Ok(limit.maximum.unwrap_or(u64::MAX))
}
