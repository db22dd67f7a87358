//! `cargo xtask setup`: what the tests need and a new machine lacks.

pub(crate) mod apt;
pub(crate) mod programs;
pub(crate) mod wasm;

use anyhow::Result;

use crate::progress::Progress;

/// Installs what is missing and says what there is.
pub(crate) fn run() -> Result<()> {
    let progress = Progress::start("programs");
    let programs = programs::ensure(&progress)?;
    progress.finish("ok", &programs);

    let progress = Progress::start("wasm32");
    let wasm = wasm::ensure(&progress)?;
    progress.finish("ok", wasm.how());
    Ok(())
}
