//! OpenSSH with a server of our own: on loopback, with keys that are made for it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::places::{Forward, Forwards, free};
use super::running::Running;
use crate::process::{find, output, program};

/// What the client's `LocalCommand` says, which it runs once forwards are set up.
const READY: &str = "ready to forward";

/// The server and the client. Files go to the folder `scratch`.
pub(super) fn start(scratch: &Path, forwards: &Forwards) -> Result<Vec<Running>> {
    let (key, host_key) = (key(scratch, "ssh-user")?, key(scratch, "ssh-host")?);
    let server = free()?;
    // It insists on being started by its full path.
    let sshd = find("sshd").context("there is no sshd")?;
    // Where its service never ran, a server started by root lacks this folder. Others need none.
    let _ = fs::create_dir_all("/run/sshd");
    let mut serve = program(&sshd.to_string_lossy());
    serve.args(["-D", "-e", "-f", "/dev/null"]).args(options(&[
        ("ListenAddress", &server.to_string()),
        ("HostKey", &host_key),
        ("AuthorizedKeysFile", &format!("{key}.pub")),
        ("StrictModes", "no"),
        ("PasswordAuthentication", "no"),
        ("PidFile", "none"),
    ]));

    let user = output(program("id").arg("-un"))?;
    let mut connect = program("ssh");
    connect.args(["-F", "none", "-N", "-c", "aes128-gcm@openssh.com", "-i", &key]).args(options(&[
        ("IdentitiesOnly", "yes"),
        ("StrictHostKeyChecking", "no"),
        ("UserKnownHostsFile", "/dev/null"),
        ("BatchMode", "yes"),
        ("ExitOnForwardFailure", "yes"),
        ("PermitLocalCommand", "yes"),
        ("LocalCommand", &format!("echo {READY} >&2")),
    ]));
    for Forward { entrance, destination } in forwards.all() {
        connect.args(["-L", &format!("{entrance}:{destination}")]);
    }
    connect.args(["-p", &server.port().to_string()]).arg(format!("{}@{}", user.trim(), server.ip()));
    let serve = Running::start(&mut serve, "listening on ")?;
    Ok(vec![serve, Running::start(&mut connect, READY)?])
}

fn options<'a>(settings: &'a [(&str, &str)]) -> impl Iterator<Item = String> + 'a {
    settings.iter().flat_map(|(name, value)| ["-o".to_owned(), format!("{name}={value}")])
}

/// The path of a key, which is made unless it is there.
fn key(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    let shown = path.display().to_string();
    if !path.exists() {
        output(program("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &shown]))?;
    }
    Ok(shown)
}
