//! Debian's packages.

use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::process::{self, find, program};
use crate::progress::Progress;

/// Installs `packages`, after one `apt-get update` per run.
///
/// Fails with the names where this machine has no apt, or we may not use it.
pub(crate) fn install(packages: &[&str], progress: &Progress) -> Result<()> {
    static UPDATED: OnceLock<()> = OnceLock::new();
    let names = packages.join(" ");
    if find("apt-get").is_none() {
        bail!("not installed here, please install what your system calls: {names}");
    }
    if UPDATED.get().is_none() {
        process::run(apt_get()?.arg("update"), progress)?;
        UPDATED.get_or_init(|| ());
    }
    let mut install = apt_get()?;
    install.args(["install", "-y", "--no-install-recommends"]).args(packages);
    process::run(&mut install, progress).with_context(|| format!("cannot install {names}"))
}

/// Whether all of `packages` are installed.
pub(crate) fn installed(packages: &[&str]) -> bool {
    let mut query = program("dpkg-query");
    query.args(["--show", "--showformat=${db:Status-Status}\\n"]).args(packages);
    // Fails for a package it never heard of, and where there is no dpkg at all.
    process::output(&mut query).is_ok_and(|states| states.lines().all(|state| state == "installed"))
}

fn apt_get() -> Result<Command> {
    let root = process::output(program("id").arg("-u"))?.trim() == "0";
    let mut command = program(if root { "env" } else { "sudo" });
    if !root {
        // Without a terminal a question for the password would hang for ever.
        command.arg("--non-interactive");
    }
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]);
    Ok(command)
}
