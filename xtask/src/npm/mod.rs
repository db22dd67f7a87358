//! `cargo xtask npm`: the package that pages install.
//!
//! Rust becomes wasm, muxgate-bindgen writes the JavaScript around it, `npm run build` in `transport-wasm/npm` shrinks the one,
//! compiles the TypeScript that makes sockets of the other, and fails if it is too large.

pub(crate) mod node;
pub(crate) mod tests;

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::process::{built, cargo, output, program, root, run as run_quietly, run_with};
use crate::progress::Progress;
use crate::setup::wasm::{self, TARGET};

/// The package's folder, from the workspace's.
const FOLDER: &str = "transport-wasm/npm";

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
    let library = ["-p", "muxgate-transport-wasm", "--profile", "wasm"];
    run_quietly(&mut wasm.cargo_build_small(&library)?, progress)?;
    run_quietly(&mut cargo(["build", "-p", "muxgate-bindgen"]), progress)?;

    let folder = root().join(FOLDER);
    let input = root().join(wasm::SMALL).join(TARGET).join("wasm/muxgate_transport_wasm.wasm");
    let mut bindgen = program(&built("debug")?.join("muxgate-bindgen").display().to_string());
    run_quietly(bindgen.arg(input).arg(folder.join("src/generated")).arg("muxgate"), progress)?;

    node::ensure_packages(&folder, progress)?;
    let mut sizes = String::new();
    run_with(program("npm").args(["run", "build"]).current_dir(&folder), |line| {
        progress.news(line);
        if line.starts_with("muxgate.wasm") {
            line.clone_into(&mut sizes);
        }
    })?;
    Ok(sizes)
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
