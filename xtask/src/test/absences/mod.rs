//! The step `absences`: what must not be there. ARCHITECTURE.md tells why.

mod functions;
mod names;

use anyhow::{Result, bail};

use super::source::files;
use crate::process::{cargo, output};
use crate::progress::Progress;

/// Runtimes, sockets, browsers and randomness: core gets bytes and time from outside and needs none of them.
const CORE_DOES_WITHOUT: &[&str] =
    &["async-std", "getrandom", "js-sys", "mio", "rand", "smol", "socket2", "tokio", "wasm-bindgen", "web-sys"];

pub(super) fn check(progress: &Progress) -> Result<String> {
    let files = files(&["rs"])?;
    let mut faults = core_dependencies()?;
    faults.extend(names::missing_forbids(&files));
    for file in &files {
        progress.news(&file.path);
        let syntax = file.product()?;
        faults.extend(names::faults(&file.path, &syntax));
        faults.extend(functions::faults(&file.path, &syntax));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(format!("{} files", files.len()))
}

fn core_dependencies() -> Result<Vec<String>> {
    let tree = ["tree", "--package", "muxgate-core", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let packages = output(&mut cargo(tree))?;
    let mut found: Vec<_> = packages.lines().filter_map(|line| line.split(' ').next()).collect();
    found.retain(|package| CORE_DOES_WITHOUT.contains(package));
    found.sort_unstable();
    found.dedup();
    let fault =
        |package| format!("core depends on {package}; find the way with: cargo tree -p muxgate-core -i {package}");
    Ok(found.into_iter().map(fault).collect())
}
