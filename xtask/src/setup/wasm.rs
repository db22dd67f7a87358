//! A way to build for wasm32, on any machine.
//!
//! The ordinary way is the toolchain's own standard library for the target. Where rustup cannot download it,
//! Debian's `rustc-web` comes with the matching library source, from which cargo builds one; that compiler gets a
//! target directory of its own, so that the two do not evict each other's artefacts.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::apt;
use crate::process::{self, cargo, find, program, root};
use crate::progress::Progress;

/// The target of every wasm build.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

const STAND_IN: &[&str] = &["rustc-web", "rust-web-src", "rust-web-llvm"];
const STAND_IN_RUSTC: &str = "/usr/bin/rustc";

/// The target directory of [`Wasm::cargo_build`].
pub(crate) const FOR_TESTS: &str = "target/wasm";
/// The target directory of [`Wasm::cargo_build_small`].
pub(crate) const SMALL: &str = "target/wasm-small";

/// A way that works here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wasm {
    /// The active toolchain has the target's standard library.
    Toolchain,
    /// Debian's compiler builds the standard library; `linker` is the rust-lld of the active toolchain.
    StandIn { linker: PathBuf },
}

/// Finds a way, or makes one: the toolchain as it is, a stand-in installed before, `rustup target add`, and
/// Debian's packages, in this order.
pub(crate) fn ensure(progress: &Progress) -> Result<Wasm> {
    if toolchain_has_target()? {
        return Ok(Wasm::Toolchain);
    }
    if apt::installed(STAND_IN) {
        return stand_in();
    }
    progress.news("rustup target add");
    match rustup_add("target", TARGET) {
        Ok(()) => Ok(Wasm::Toolchain),
        Err(error) => {
            progress.print("       rustup cannot add the target, taking Debian's rustc-web instead");
            apt::install(STAND_IN, progress).with_context(|| format!("{error:#}"))?;
            stand_in()
        }
    }
}

impl Wasm {
    /// Which way it is, for people.
    pub(crate) fn how(&self) -> &'static str {
        match self {
            Self::Toolchain => "standard library of the active toolchain",
            Self::StandIn { .. } => "standard library built by Debian's rustc-web",
        }
    }

    /// `cargo build` for wasm32 of all that compiles for it, for tests.
    pub(crate) fn cargo_build(&self) -> Command {
        let mut command = self.cargo();
        command.args(["-p", "muxgate-core", "-p", "muxgate-transport-wasm", "-p", "muxgate-conformance-wasm"]);
        // No test is slow without, and optimising a standard library takes a minute.
        command.args(["--config", r#"profile.dev.package."*".opt-level=0"#]);
        command.env("CARGO_TARGET_DIR", root().join(FOR_TESTS));
        command
    }

    /// `cargo build` of what pages load, and why the file comes out larger than it should, if it does.
    ///
    /// A panic is a trap without a message: nobody would see it in a browser, and the code that formats it is an eighth of the
    /// file. That takes a standard library built so, from source.
    pub(crate) fn cargo_build_small(&self) -> (Command, Option<String>) {
        let mut command = self.cargo();
        command.args(["-p", "muxgate-transport-wasm", "--profile", "wasm"]).env("CARGO_TARGET_DIR", root().join(SMALL));
        if matches!(self, Self::Toolchain) {
            if let Err(error) = ensure_library_source() {
                return (command, Some(format!("the standard library's source is missing: {error:#}")));
            }
            command.arg("-Zbuild-std=std,panic_abort").env("RUSTC_BOOTSTRAP", "1");
        }
        command.env("RUSTFLAGS", "-Zunstable-options -Cpanic=immediate-abort");
        (command, None)
    }

    fn cargo(&self) -> Command {
        let mut command = cargo(["build", "--target", TARGET]);
        if let Self::StandIn { linker } = self {
            command
                .arg("-Zbuild-std=std,panic_abort")
                .env("RUSTC", STAND_IN_RUSTC)
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        command
    }
}

fn toolchain_has_target() -> Result<bool> {
    let folder = rustc_prints(&["target-libdir", "--target", TARGET])?;
    Ok(Path::new(&folder).is_dir())
}

fn stand_in() -> Result<Wasm> {
    let sysroot = rustc_prints(&["sysroot"])?;
    let host = rustc_prints(&["host-tuple"])?;
    let linker = Path::new(&sysroot).join("lib/rustlib").join(host).join("bin/rust-lld");
    Ok(Wasm::StandIn { linker })
}

/// Distributions put it where rustup does.
fn ensure_library_source() -> Result<()> {
    let sysroot = rustc_prints(&["sysroot"])?;
    if Path::new(&sysroot).join("lib/rustlib/src/rust/library").is_dir() {
        return Ok(());
    }
    rustup_add("component", "rust-src")
}

fn rustup_add(what: &str, name: &str) -> Result<()> {
    find("rustup").context("there is no rustup")?;
    // Without a network the answer is no: ask once.
    process::output(program("rustup").args([what, "add", name]).env("RUSTUP_MAX_RETRIES", "0"))?;
    Ok(())
}

fn rustc_prints(what: &[&str]) -> Result<String> {
    let printed = process::output(program("rustc").arg("--print").args(what))?;
    Ok(printed.trim().to_owned())
}
