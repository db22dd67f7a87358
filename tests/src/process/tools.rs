//! Programs of others.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use super::exchange::{Digest, digest_of};

/// Where `name` is installed. `None` only on a machine of a developer: the scenario is skipped, and that is said.
#[must_use]
pub fn installed(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).chain(of_servers()).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        assert!(env::var_os("CI").is_none(), "{name} is missing: `cargo xtask setup` installs it");
        skipped(&format!("{name} is not installed"));
    }
    found
}

/// Says that a scenario does not run here. Not through a macro, which the test harness would silence.
pub fn skipped(why: &str) {
    writeln!(io::stderr(), "SKIPPED: {why}").expect("there is an output");
}

/// Where Debian keeps servers, out of the path of users: system services, and databases by their version.
fn of_servers() -> impl Iterator<Item = PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    ["/usr/sbin".into(), "/sbin".into()].into_iter().chain(versions.map(|version| version.path().join("bin")))
}

/// A running `curl`.
#[derive(Debug)]
pub struct Curl(Child);

impl Curl {
    /// Starts `curl` with `args`; its output is the body of the answer.
    #[must_use]
    pub fn start(args: &[&str]) -> Self {
        let mut command = Command::new("curl");
        // No settings of the user, no progress, no proxy.
        command.args(["--disable", "--silent", "--show-error", "--noproxy", "*"]).args(args);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        Self(command.spawn().expect("curl should start"))
    }

    /// Starts `curl` with `args`, and with `file` as the body of the request.
    #[must_use]
    pub fn upload(file: &Path, args: &[&str]) -> Self {
        Self::start(&[&["--upload-file", &file.to_string_lossy()], args].concat())
    }

    /// Waits until the body has begun.
    pub async fn begun(&mut self) {
        let body = self.0.stdout.as_mut().expect("standard output is a pipe");
        body.read_u8().await.expect("there should be a body");
    }

    /// Waits for its end: the exit code, and what the body was, or what was left of it.
    pub async fn digest(mut self) -> (Option<i32>, Digest) {
        let body = self.0.stdout.take().expect("standard output is a pipe");
        let digest = digest_of(body).await.expect("a pipe can be read");
        (self.code().await, digest)
    }

    /// Waits for its end: the exit code, and the body as text.
    pub async fn text(self) -> (Option<i32>, String) {
        let output = self.0.wait_with_output().await.expect("the process is ours to wait for");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    async fn code(&mut self) -> Option<i32> {
        self.0.wait().await.expect("the process is ours to wait for").code()
    }
}
