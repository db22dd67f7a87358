//! `cargo xtask npm`: the package that pages install.
//!
//! Rust becomes wasm, muxgate-bindgen writes the JavaScript around it, `npm run build` in `transport-wasm/npm` shrinks the one,
//! compiles the TypeScript that makes sockets of the other, and fails if it is too large.

pub(crate) mod node;
pub(crate) mod page;
pub(crate) mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::{built, cargo, output, program, root, run as run_quietly, run_with};
use crate::progress::Progress;
use crate::setup::wasm::{self, TARGET};

/// The package's folder, from the workspace's.
const FOLDER: &str = "transport-wasm/npm";
/// Tells the package's build why the wasm file may be too large, if it may.
const LARGER: &str = "MUXGATE_LARGER_BECAUSE";

/// Builds the package and packs it as people get it.
pub(crate) fn run() -> Result<()> {
    let progress = Progress::start("npm");
    let sizes = build(&progress)?;
    let packed = pack()?;
    progress.finish("ok", &format!("{sizes}; {}", packed.display()));
    Ok(())
}

/// Builds `dist` of the package; returns its sizes, for people.
pub(crate) fn build(progress: &Progress) -> Result<String> {
    let wasm = wasm::ensure(progress)?;
    let (mut compile, larger_because) = wasm.cargo_build_small();
    if let Some(why) = &larger_because {
        progress.print(&format!("       the wasm file is larger than the one to be published: {why}"));
    }
    run_quietly(&mut compile, progress)?;
    let folder = root().join(FOLDER);
    let input = built_wasm(wasm::SMALL, "wasm/muxgate_transport_wasm.wasm");
    bind(&input, &folder.join("src/generated"), "muxgate", progress)?;

    node::ensure_packages(&folder, progress)?;
    let mut sizes = String::new();
    let mut build = program("npm");
    build.args(["run", "build"]).current_dir(&folder).env(LARGER, larger_because.unwrap_or_default());
    run_with(&mut build, |line| {
        progress.news(line);
        if line.starts_with("muxgate.wasm:") {
            line.clone_into(&mut sizes);
        }
    })?;
    Ok(sizes)
}

/// Builds the scenarios of muxgate-conformance as wasm, for the tests in `tests/browser`.
fn build_conformance(progress: &Progress) -> Result<()> {
    run_quietly(&mut wasm::ensure(progress)?.cargo_build(), progress)?;
    let input = built_wasm(wasm::FOR_TESTS, "debug/muxgate_conformance_wasm.wasm");
    bind(&input, &root().join("tests/browser/generated"), "conformance", progress)
}

fn built_wasm(target: &str, file: &str) -> PathBuf {
    root().join(target).join(TARGET).join(file)
}

/// Writes `input` and the JavaScript around it into `folder`.
fn bind(input: &Path, folder: &Path, name: &str, progress: &Progress) -> Result<()> {
    run_quietly(&mut cargo(["build", "-p", "muxgate-bindgen"]), progress)?;
    let mut bindgen = program(&built("debug")?.join("muxgate-bindgen").display().to_string());
    run_quietly(bindgen.arg(input).arg(folder).arg(name), progress)
}

/// Packs what was built; returns the tarball.
pub(crate) fn pack() -> Result<PathBuf> {
    let target = root().join("target/npm");
    std::fs::create_dir_all(&target)?;
    let mut pack = program("npm");
    pack.args(["pack", "--pack-destination"]).arg(&target).current_dir(root().join(FOLDER));
    let name = output(&mut pack)?;
    let name = name.lines().last().context("npm pack named no file")?;
    Ok(target.join(name))
}
