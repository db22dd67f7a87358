//! The binary: gateways, forwards and pipes.

use std::env;
use std::fs::Permissions;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio::process::Command;

use super::Program;

/// The exit codes, as `muxgate --help` lists them.
pub mod code {
    /// Success, or ended by SIGINT or SIGTERM.
    pub const SUCCESS: Option<i32> = Some(0);
    /// Failure while running.
    pub const RUNTIME: Option<i32> = Some(1);
    /// Wrong usage.
    pub const USAGE: Option<i32> = Some(2);
    /// Cannot listen.
    pub const LISTEN: Option<i32> = Some(3);
    /// The gateway cannot be reached, or the session was lost.
    pub const GATEWAY: Option<i32> = Some(4);
    /// The gateway did not accept the token, or demands one.
    pub const UNAUTHORISED: Option<i32> = Some(5);
    /// The destination was refused, or could not be reached.
    pub const REFUSED: Option<i32> = Some(6);
}

/// `muxgate` with `args`, from the file that `MUXGATE_BIN` names, or else where cargo builds it.
#[must_use]
pub fn muxgate(args: &[&str]) -> Command {
    let binary = env::var_os("MUXGATE_BIN").map_or_else(built, PathBuf::from);
    assert!(binary.is_file(), "no {}: run `cargo xtask test`, or `cargo build --bin muxgate` before", binary.display());
    let mut command = Command::new(binary);
    command.args(args).env_remove("MUXGATE_TOKEN").env_remove("MUXGATE_LOG").kill_on_drop(true);
    command
}

fn built() -> PathBuf {
    let test = env::current_exe().expect("the running test is a file");
    // A test is target/PROFILE/deps/NAME.
    test.ancestors().nth(2).expect("cargo started the test").join("muxgate")
}

/// A gateway that says what it does (`-v`).
#[derive(Debug)]
pub struct Gateway {
    program: Program,
    /// Where it listens, as URLs, in the order of the command line.
    pub urls: Vec<String>,
}

impl Gateway {
    /// Starts `muxgate serve` with `args`, and waits until it listens.
    pub async fn start(args: &[&str]) -> Self {
        Self::run(muxgate(&["-v", "serve"]).args(args), args).await
    }

    /// The same, with a command of the caller that runs it.
    pub async fn run(command: &mut Command, args: &[&str]) -> Self {
        let program = Program::start(command);
        let count = args.iter().filter(|arg| **arg == "--listen").count();
        let lines = program.lines("muxgate: listening on ", count).await;
        let urls = lines.iter().filter_map(|line| line.rsplit(' ').next()).map(str::to_owned).collect();
        Self { program, urls }
    }

    /// A gateway to this machine, on TCP.
    pub async fn local() -> Self {
        Self::local_on("tcp").await
    }

    /// A gateway to this machine, for `tcp` or `ws`.
    pub async fn local_on(scheme: &str) -> Self {
        Self::start(&["--listen", &format!("{scheme}://127.0.0.1:0"), "--allow", "127.0.0.1"]).await
    }

    /// Its first URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.urls[0]
    }

    /// `HOST:PORT` of its first URL.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.url().split_once("://").expect("it listens on TCP").1
    }
}

impl Deref for Gateway {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl DerefMut for Gateway {
    fn deref_mut(&mut self) -> &mut Program {
        &mut self.program
    }
}

/// A client with listeners.
#[derive(Debug)]
pub struct Forward {
    program: Program,
    /// Where it listens, in the order of the destinations.
    pub addresses: Vec<SocketAddr>,
}

impl Forward {
    /// Starts `muxgate forward` to each of `destinations`.
    pub async fn start(via: &str, destinations: &[SocketAddr]) -> Self {
        let destinations: Vec<_> = destinations.iter().map(SocketAddr::to_string).collect();
        Self::with(via, &[], &destinations).await
    }

    /// The same with more options, and destinations of any form.
    pub async fn with(via: &str, options: &[&str], destinations: &[impl AsRef<str>]) -> Self {
        let forwards = destinations.iter().map(|destination| format!("127.0.0.1:0={}", destination.as_ref()));
        let mut command = muxgate(&["-v", "forward", "--via", via]);
        let program = Program::start(command.args(options).args(forwards));
        let lines = program.lines("muxgate: listening on ", destinations.len()).await;
        let addresses = lines.iter().map(|line| line.split(' ').nth(3).and_then(|word| word.parse().ok()));
        let addresses = addresses.map(|address| address.expect("it says where it listens")).collect();
        Self { program, addresses }
    }

    /// Where it listens for the first destination.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.addresses[0]
    }
}

impl Deref for Forward {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl DerefMut for Forward {
    fn deref_mut(&mut self) -> &mut Program {
        &mut self.program
    }
}

/// `muxgate pipe` to `destination`, with pipes for input and output.
#[must_use]
pub fn pipe(via: &str, options: &[&str], destination: &str) -> Program {
    Program::start_piped(muxgate(&["pipe", destination, "--via", via]).args(options))
}

/// An authority and a certificate for 127.0.0.1 that it signed, in files.
#[derive(Debug)]
pub struct Certificates(TempDir);

impl Certificates {
    /// Makes new ones.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("there is room for temporary files");
        let new_key = || KeyPair::generate().expect("the system has random bytes");
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, new_key()).expect("the parameters are valid");
        let key = new_key();
        let server = CertificateParams::new(["127.0.0.1".to_owned()]).expect("an address is a valid name");
        let server = server.signed_by(&key, &authority).expect("the parameters are valid");
        let pem = [("ca", authority.pem()), ("cert", server.pem()), ("key", key.serialize_pem())];
        for (name, pem) in pem {
            std::fs::write(dir.path().join(name), pem).expect("the directory is ours");
        }
        Self(dir)
    }

    /// The authority's certificate, for `--ca`.
    #[must_use]
    pub fn authority(&self) -> String {
        self.file("ca")
    }

    /// The server's certificate, for `--cert`.
    #[must_use]
    pub fn certificate(&self) -> String {
        self.file("cert")
    }

    /// The server's key, for `--key`.
    #[must_use]
    pub fn key(&self) -> String {
        self.file("key")
    }

    /// One more file beside them, for this user only.
    #[must_use]
    pub fn with_file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("the directory is ours");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("the file is ours");
        self.file(name)
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }
}

impl Default for Certificates {
    fn default() -> Self {
        Self::new()
    }
}
