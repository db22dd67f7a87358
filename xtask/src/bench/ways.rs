//! Ways from a port here to a destination. A new one is a constant here, and a word in the scenarios that it fits.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::figures::Figures;
use super::places::{Forward, Forwards, free};
use super::running::Running;
use super::{ssh, statistics};
use crate::process::{find, output, program};

/// What most forwarders say when they are ready.
const LISTENS: &str = "listening on ";

/// Where a command has the address to listen on.
const LISTEN: &str = "{listen}";
/// Where it has the address to connect to.
const DESTINATION: &str = "{destination}";

/// Messages as small as those of other multiplexers: 4 KiB and their header.
const SMALL: &[&str] = &["--max-frame", "4104"];

/// A way.
pub(super) struct Way {
    pub(super) name: &'static str,
    /// Programs that a machine may lack.
    needs: &'static [&'static str],
    start: Start,
}

enum Start {
    By(fn(&Programs, &Forwards) -> Result<Tunnel>),
    /// A command for each forward, with the places `{listen}` and `{destination}`.
    Command(&'static str),
}

use Start::By;

pub(super) const DIRECT: Way = Way {
    name: "direct",
    needs: &[],
    start: By(|_, forwards| Ok(Tunnel { forwards: forwards.direct(), ..Tunnel::new(forwards, Vec::new()) })),
};
pub(super) const RELAYS: Way = Way { name: "two minimal relays", needs: &[], start: By(relays) };
pub(super) const TCP: Way = Way {
    name: "muxgate, TCP",
    needs: &[],
    start: By(|programs, forwards| muxgate(programs, forwards, "tcp", &[], &[])),
};
pub(super) const WEBSOCKET: Way = Way {
    name: "muxgate, WebSocket",
    needs: &[],
    start: By(|programs, forwards| muxgate(programs, forwards, "ws", &[], &[])),
};
pub(super) const TLS: Way = Way { name: "muxgate, TLS", needs: &["openssl"], start: By(muxgate_with_tls) };
pub(super) const BATCHED: Way = Way {
    name: "batched",
    needs: &[],
    start: By(|programs, forwards| muxgate_with_statistics(programs, forwards, &["--credit", "batched"])),
};
pub(super) const PER_MESSAGE: Way = Way {
    name: "per message",
    needs: &[],
    start: By(|programs, forwards| muxgate_with_statistics(programs, forwards, &["--credit", "per-message"])),
};
pub(super) const BATCHED_SMALL: Way = Way {
    name: "batched, 4 KiB messages",
    needs: &[],
    start: By(|programs, forwards| {
        muxgate_with_statistics(programs, forwards, &[SMALL, &["--credit", "batched"]].concat())
    }),
};
pub(super) const PER_MESSAGE_SMALL: Way = Way {
    name: "per message, 4 KiB messages",
    needs: &[],
    start: By(|programs, forwards| {
        muxgate_with_statistics(programs, forwards, &[SMALL, &["--credit", "per-message"]].concat())
    }),
};
/// Connections through one session.
pub(super) const CHANNELS: Way = Way {
    name: "channels",
    needs: &[],
    start: By(|programs, forwards| Ok(muxgate(programs, forwards, "tcp", &[], &[])?.gateway_alone())),
};
/// A client, and so a session, for each connection.
pub(super) const SESSIONS: Way = Way {
    name: "sessions",
    needs: &[],
    start: By(|programs, forwards| Ok(pipes(programs, forwards)?.gateway_alone())),
};
pub(super) const SSH: Way = Way {
    name: "ssh -L, aes128-gcm",
    needs: &["ssh", "ssh-keygen", "sshd"],
    start: By(|programs, forwards| Ok(Tunnel::new(forwards, ssh::start(&programs.scratch, forwards)?))),
};
pub(super) const SOCAT: Way = Way { name: "two socat", needs: &["socat"], start: By(socat) };
/// A page has no ports: see `browser`.
const NO_FORWARDER: Start = By(|_, _| bail!("it forwards no port"));
const BROWSER: &[&str] = &["chromium", "npm"];
pub(super) const BARE: Way = Way { name: "bare WebSocket", needs: BROWSER, start: NO_FORWARDER };
pub(super) const PAGE: Way = Way { name: "muxgate in a page", needs: BROWSER, start: NO_FORWARDER };

impl Way {
    /// A row of a table that knows by itself how it is measured.
    pub(super) const fn row(name: &'static str) -> Self {
        Self { name, needs: &[], start: NO_FORWARDER }
    }

    /// What the command line calls `NAME=COMMAND`. Lives as long as the process, as the constants do.
    pub(super) fn other(text: &str) -> Result<&'static Self, String> {
        let text: &'static str = text.to_owned().leak();
        match text.split_once('=') {
            Some((name, command)) if !name.is_empty() && command.contains(LISTEN) && command.contains(DESTINATION) => {
                Ok(Box::leak(Box::new(Self { name, needs: &[], start: Start::Command(command) })))
            }
            _ => Err(format!("wanted: a name, `=` and a command with {LISTEN} and {DESTINATION}")),
        }
    }

    /// The first program that this way needs and this machine lacks.
    pub(super) fn missing(&self) -> Option<&'static str> {
        self.needs.iter().copied().find(|name| find(name).is_none())
    }

    /// Starts the processes; what they forward is ready when this returns.
    pub(super) fn start(&self, programs: &Programs, forwards: &Forwards) -> Result<Tunnel> {
        match self.start {
            By(start) => start(programs, forwards),
            Start::Command(command) => other(command, forwards),
        }
    }
}

/// A way at work.
pub(super) struct Tunnel {
    pub(super) forwards: Forwards,
    /// Those behind come first.
    processes: Vec<Running>,
    /// Of how many of them, from the first on, the cost is measured.
    measured: usize,
    /// The first process is a gateway that tells about its session when it ends.
    statistics: bool,
}

impl Tunnel {
    fn new(forwards: &Forwards, processes: Vec<Running>) -> Self {
        Self { forwards: *forwards, measured: processes.len(), processes, statistics: false }
    }

    /// What clients cost is left out.
    fn gateway_alone(self) -> Self {
        Self { measured: 1, ..self }
    }

    /// The numbers of the forwarding processes whose cost is measured.
    pub(super) fn pids(&self) -> impl Iterator<Item = u32> {
        self.processes.iter().take(self.measured).map(Running::pid)
    }

    /// Ends the processes; returns what they tell about themselves.
    pub(super) fn end(self) -> Result<Figures> {
        if !self.statistics {
            return Ok(Figures::new());
        }
        // The client first: it takes leave, and the gateway's session ends in good order.
        let mut said = Vec::new();
        for process in self.processes.into_iter().rev() {
            said = process.end()?;
        }
        statistics::of(&said)
    }
}

/// What the bench starts.
pub(super) struct Programs {
    muxgate: PathBuf,
    bench: PathBuf,
    /// A folder for files of no worth.
    scratch: PathBuf,
}

impl Programs {
    /// Our own programs are in the folder `built`.
    pub(super) fn new(built: &Path) -> Result<Self> {
        let scratch = built.join("bench-scratch");
        std::fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
        Ok(Self { muxgate: built.join("muxgate"), bench: built.join("muxgate-bench"), scratch })
    }

    /// Our program with loads, destinations and the minimal relay.
    pub(super) fn bench(&self) -> Command {
        program(&self.bench.to_string_lossy())
    }

    /// Our gateway and client.
    pub(super) fn muxgate(&self) -> Command {
        program(&self.muxgate.to_string_lossy())
    }
}

fn muxgate(
    programs: &Programs,
    forwards: &Forwards,
    scheme: &str,
    serve_options: &[&str],
    forward_options: &[&str],
) -> Result<Tunnel> {
    let url = format!("{scheme}://{}", free()?);
    let serve = serve(programs, forwards, &url, serve_options)?;
    let mut forward = programs.muxgate();
    forward.args(["forward", "--via", &url]).args(forward_options);
    for Forward { entrance, destination } in forwards.all() {
        forward.arg(format!("{entrance}={destination}"));
    }
    Ok(Tunnel::new(forwards, vec![serve, Running::start(&mut forward, LISTENS)?]))
}

fn serve(programs: &Programs, forwards: &Forwards, url: &str, options: &[&str]) -> Result<Running> {
    let mut serve = programs.muxgate();
    serve.args(["serve", "--listen", url]).args(options);
    for Forward { destination, .. } in forwards.all() {
        serve.args(["--allow", &destination.to_string()]);
    }
    Running::start(&mut serve, LISTENS)
}

/// `muxgate pipe` for each connection.
fn pipes(programs: &Programs, forwards: &Forwards) -> Result<Tunnel> {
    let url = format!("tcp://{}", free()?);
    let mut processes = vec![serve(programs, forwards, &url, &[])?];
    for Forward { entrance, destination } in forwards.all() {
        let mut each = programs.bench();
        each.args(["each", &entrance.to_string()]).arg(&programs.muxgate);
        each.args(["pipe", &destination.to_string(), "--via", &url]);
        processes.push(Running::start(&mut each, LISTENS)?);
    }
    Ok(Tunnel::new(forwards, processes))
}

fn muxgate_with_statistics(programs: &Programs, forwards: &Forwards, options: &[&str]) -> Result<Tunnel> {
    let options = [&["-v"], options].concat();
    let tunnel = muxgate(programs, forwards, "tcp", &options, &options)?;
    Ok(Tunnel { statistics: true, ..tunnel })
}

fn muxgate_with_tls(programs: &Programs, forwards: &Forwards) -> Result<Tunnel> {
    let file = |name: &str| programs.scratch.join(name).display().to_string();
    let (cert, key) = (file("tls-cert.pem"), file("tls-key.pem"));
    if !Path::new(&cert).exists() {
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650"];
        // By itself it would be that of an authority, which no server may use.
        let extensions = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"];
        let mut make = program("openssl");
        make.args(["req", "-x509", "-subj", "/CN=bench", "-keyout", &key, "-out", &cert]).args(curve).args(extensions);
        output(&mut make)?;
    }
    muxgate(programs, forwards, "tls", &["--cert", &cert, "--key", &key], &["--ca", &cert])
}

fn relays(programs: &Programs, forwards: &Forwards) -> Result<Tunnel> {
    chains(forwards, |entrance, exit| {
        Running::start(programs.bench().args(["relay", &entrance.to_string(), &exit.to_string()]), LISTENS)
    })
}

fn socat(_: &Programs, forwards: &Forwards) -> Result<Tunnel> {
    chains(forwards, |entrance, exit| {
        let listen =
            format!("TCP-LISTEN:{},bind={},fork,reuseaddr,nodelay,backlog=1024", entrance.port(), entrance.ip());
        // Its own buffer is 8 KiB; with -d -d it says when it listens.
        let options = ["-d", "-d", "-b", "262144"];
        Running::start(program("socat").args(options).args([listen, format!("TCP:{exit},nodelay")]), LISTENS)
    })
}

/// Each forward goes through two processes that forward one port each.
fn chains(forwards: &Forwards, start: impl Fn(SocketAddr, SocketAddr) -> Result<Running>) -> Result<Tunnel> {
    let mut processes = Vec::new();
    for Forward { entrance, destination } in forwards.all() {
        let middle = free()?;
        processes.push(start(middle, destination)?);
        processes.push(start(entrance, middle)?);
    }
    Ok(Tunnel::new(forwards, processes))
}

/// `command` once for each forward; ready when it listens, whatever it says.
fn other(command: &str, forwards: &Forwards) -> Result<Tunnel> {
    let mut processes = Vec::new();
    for Forward { entrance, destination } in forwards.all() {
        let (listen, to) = (entrance.to_string(), destination.to_string());
        let mut words = command.split_whitespace().map(|word| word.replace(LISTEN, &listen).replace(DESTINATION, &to));
        let mut process = program(&words.next().context("a command has a first word")?);
        processes.push(Running::listening(process.args(words), entrance)?);
    }
    Ok(Tunnel::new(forwards, processes))
}

#[cfg(test)]
mod tests {
    use super::Way;

    #[test]
    fn another_way_has_a_name_and_both_places() {
        let way = Way::other("mine=tool --from {listen} --to={destination}").expect("it has");
        assert_eq!((way.name, way.missing()), ("mine", None));
        for text in ["", "tool {listen} {destination}", "=tool {listen} {destination}", "mine=tool {listen}"] {
            assert!(Way::other(text).is_err(), "{text}");
        }
    }
}
