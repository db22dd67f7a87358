//! The demo page, which uses the package and is embedded in the gateway.

use anyhow::Result;

use super::node::ensure_packages;
use crate::process::{program, root, run, run_with};
use crate::progress::Progress;

/// The page's folder, from the workspace's.
pub(super) const FOLDER: &str = "web-demo";
/// The feature of the gateway that embeds what [`build`] leaves in `dist`.
pub(crate) const FEATURE: &str = "muxgate/page";

/// Builds the page, after the package; returns its size, for people.
pub(crate) fn build(progress: &Progress) -> Result<String> {
    let folder = root().join(FOLDER);
    ensure_packages(&folder, progress)?;
    let mut size = String::new();
    run_with(program("npm").args(["run", "build"]).current_dir(&folder), |line| {
        progress.news(line);
        if let Some((_, said)) = line.split_once("the page has ") {
            said.clone_into(&mut size);
        }
    })?;
    Ok(size)
}

/// Checks the types of the page's sources.
pub(super) fn check(progress: &Progress) -> Result<()> {
    run(program("npm").args(["run", "check"]).current_dir(root().join(FOLDER)), progress)
}
