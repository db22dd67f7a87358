//! What forwarders cost, from /proc. Each process counts with its descendants: some forwarders fork.

use std::fs;
use std::io;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::param::clock_ticks_per_second;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Forwarding processes.
#[derive(Debug, Clone, Default)]
pub struct Processes(Vec<u32>);

impl Processes {
    /// The processes with these numbers.
    #[must_use]
    pub fn new(pids: Vec<u32>) -> Self {
        Self(pids)
    }

    /// Processor time used so far by all of them, to a hundredth of a second.
    pub fn cpu(&self) -> Result<Duration> {
        self.each(cpu).map(|times| times.iter().sum())
    }

    /// Memory resident now in each, in KiB.
    pub fn resident(&self) -> Result<Vec<u64>> {
        self.each(|pid| memory(pid, "VmRSS"))
    }

    /// The most memory that was ever resident in each, in KiB.
    pub fn peak(&self) -> Result<Vec<u64>> {
        self.each(|pid| memory(pid, "VmHWM"))
    }

    fn each<T>(&self, figure: impl Fn(u32) -> Result<T>) -> Result<Vec<T>> {
        self.0.iter().map(|&pid| figure(pid)).collect()
    }
}

/// Own time, that of children that ended, and that of children that live.
fn cpu(pid: u32) -> Result<Duration> {
    let stat = read(pid, "stat")?;
    let ticks = cpu_ticks(&stat).with_context(|| format!("/proc/{pid}/stat has no times"))?;
    let own = Duration::from_millis(ticks * 1000 / clock_ticks_per_second());
    children(pid)?.into_iter().try_fold(own, |sum, child| Ok(sum + cpu(child)?))
}

/// The sum of `utime`, `stime`, `cutime` and `cstime`, the fields 14 to 17 of proc(5).
fn cpu_ticks(stat: &str) -> Option<u64> {
    // The name of the program is in brackets and may itself contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let times: Vec<u64> = fields.split_whitespace().skip(11).take(4).map_while(|field| field.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum())
}

fn memory(pid: u32, field: &str) -> Result<u64> {
    let own = kibibytes(&read(pid, "status")?, field).with_context(|| format!("/proc/{pid}/status has no {field}"))?;
    children(pid)?.into_iter().try_fold(own, |sum, child| Ok(sum + memory(child, field)?))
}

fn kibibytes(status: &str, field: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    value.split_whitespace().next()?.parse().ok()
}

fn children(pid: u32) -> Result<Vec<u32>> {
    let list = read(pid, &format!("task/{pid}/children"))?;
    Ok(list.split_whitespace().filter_map(|child| child.parse().ok()).collect())
}

fn read(pid: u32, file: &str) -> Result<String> {
    fs::read_to_string(format!("/proc/{pid}/{file}")).with_context(|| format!("is process {pid} gone?"))
}

/// Allows this process as many descriptors as its user may have.
pub fn raise_descriptor_limit() -> io::Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

#[cfg(test)]
mod tests {
    use super::{cpu_ticks, kibibytes};

    #[test]
    fn a_strange_name_hides_no_times() {
        let stat = "17 (a ) b) S 1 17 17 0 -1 4194304 100 0 0 0 250 30 7 2 20 0 1 0 5 0 0";
        assert_eq!(cpu_ticks(stat), Some(250 + 30 + 7 + 2));
        assert_eq!(cpu_ticks("17 (a) S 1"), None);
    }

    #[test]
    fn memory_is_found_by_its_whole_name() {
        let status = "VmPeak:\t 9 kB\nVmHWM:\t  812 kB\nVmRSS:\t 700 kB\n";
        assert_eq!(kibibytes(status, "VmRSS"), Some(700));
        assert_eq!(kibibytes(status, "VmSwap"), None);
    }
}
