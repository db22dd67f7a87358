//! The real programs that the end-to-end tests send through the gateway.

use anyhow::{Context, Result};

use super::apt;
use crate::process::find;
use crate::progress::Progress;

/// Each program and the Debian package that has it.
const PROGRAMS: &[(&str, &str)] =
    &[("curl", "curl"), ("iperf", "iperf"), ("ssh", "openssh-client"), ("socat", "socat")];

/// Installs those that are missing; returns the names of all.
pub(crate) fn ensure(progress: &Progress) -> Result<String> {
    let missing: Vec<_> =
        PROGRAMS.iter().filter(|(program, _)| find(program).is_none()).map(|&(_, package)| package).collect();
    if !missing.is_empty() {
        progress.print(&format!("       installing {}", missing.join(", ")));
        apt::install(&missing, progress).context("the end-to-end tests need these programs")?;
    }
    Ok(PROGRAMS.iter().map(|&(program, _)| program).collect::<Vec<_>>().join(", "))
}
