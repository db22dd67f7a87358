//! Node and the packages that our JavaScript is built and tested with.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::{find, output, program, run};
use crate::progress::Progress;
use crate::setup::apt;

/// The oldest Node whose long-term support had not ended when this was written.
const OLDEST: u32 = 20;

/// Installs the packages of the lock file in `folder`, unless that was done since it changed.
pub(crate) fn ensure_packages(folder: &Path, progress: &Progress) -> Result<()> {
    ensure_node(progress)?;
    let changed = |path| fs::metadata(folder.join(path)).and_then(|file| file.modified()).ok();
    // Written by npm at the end of an installation.
    if changed("node_modules/.package-lock.json") >= changed("package-lock.json") {
        return Ok(());
    }
    run(program("npm").arg("ci").current_dir(folder), progress)
}

fn ensure_node(progress: &Progress) -> Result<()> {
    if find("npm").is_none() {
        apt::install(&["nodejs", "npm"], progress).context("the npm package is built with Node")?;
    }
    let version = output(program("node").arg("--version"))?;
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < OLDEST) {
        bail!("Node {} is too old, please install {OLDEST} or later", version.trim());
    }
    Ok(())
}
