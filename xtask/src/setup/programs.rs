//! The real programs that the end-to-end tests send through the gateway.

use std::env;

use anyhow::{Context, Result};

use super::apt;
use crate::process::find;
use crate::progress::Progress;

/// Each program and the Debian package that has it.
const PROGRAMS: &[(&str, &str)] =
    &[("curl", "curl"), ("iperf", "iperf"), ("ssh", "openssh-client"), ("socat", "socat")];
/// Packages that start a service when they are installed, which nobody wants on a machine of their own: installed in CI
/// only. Elsewhere the tests that need them are skipped, and say so.
const SERVERS: &[(&str, &str)] =
    &[("sshd", "openssh-server"), ("nginx", "nginx-light"), ("pg_ctlcluster", "postgresql")];

/// Installs those that are missing; returns the names of all.
pub(crate) fn ensure(progress: &Progress) -> Result<String> {
    let in_ci = env::var_os("CI").is_some();
    let wanted: Vec<_> = PROGRAMS.iter().chain(SERVERS.iter().filter(|_| in_ci)).collect();
    let missing: Vec<_> =
        wanted.iter().filter(|(program, _)| find(program).is_none()).map(|&&(_, package)| package).collect();
    if !missing.is_empty() {
        progress.print(&format!("       installing {}", missing.join(", ")));
        apt::install(&missing, progress).context("the end-to-end tests need these programs")?;
    }
    Ok(wanted.iter().map(|&&(program, _)| program).collect::<Vec<_>>().join(", "))
}
