//! The step `browser`: the npm package in Chromium, in Node and in bundlers, against the real gateway; core's own scenarios as
//! wasm in the same engines; and the demo page.

use anyhow::{Context, Result};

use super::node::ensure_packages;
use super::{FOLDER, build, build_conformance, page};
use crate::process::{built, cargo, find, program, root, run, run_with};
use crate::progress::Progress;
use crate::setup::apt;

/// Folders with tests of their own, after which `npm test` there takes the package apart. The first two have no need of a
/// browser.
const FOLDERS: &[&str] = &[FOLDER, page::FOLDER, "tests/browser", "tests/browser/packaging"];

pub(crate) fn check(progress: &Progress) -> Result<String> {
    let sizes = build(progress)?;
    build_conformance(progress)?;
    ensure_chromium(progress)?;
    page::build(progress)?;
    page::check(progress)?;
    // The same artefacts as in the other steps, but for the crate itself.
    run(&mut cargo(["build", "--bin", "muxgate", "--features", page::FEATURE]), progress)?;
    let gateway = built("debug")?.join("muxgate");
    // The second folder's packages are links to the first, and the third uses those of the second.
    for folder in FOLDERS {
        ensure_packages(&root().join(folder), progress)?;
    }
    let mut tests = 0;
    for folder in FOLDERS {
        let mut command = program("npm");
        command.arg("test").current_dir(root().join(folder)).env("MUXGATE_BIN", &gateway);
        run_with(&mut command, |line| {
            progress.news(line);
            tests += passed(line);
        })?;
    }
    Ok(format!("{tests} tests; {sizes}"))
}

fn ensure_chromium(progress: &Progress) -> Result<()> {
    if find("chromium").is_none() {
        progress.print("       installing chromium");
        apt::install(&["chromium"], progress).context("the package is tested in a browser")?;
    }
    Ok(())
}

/// The passed tests that a closing line of Node's test runner counts.
fn passed(line: &str) -> u32 {
    line.strip_prefix("# pass ").and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod unit {
    use super::passed;

    #[test]
    fn counts_what_a_closing_line_says() {
        assert_eq!(passed("# pass 17"), 17);
        assert_eq!(passed("# fail 1"), 0);
        assert_eq!(passed("ok 17 - # pass 3"), 0);
    }
}
