//! The command line.

#![expect(clippy::doc_markdown, reason = "these comments are help texts, which are not Markdown")]
#![allow(rustdoc::bare_urls, rustdoc::broken_intra_doc_links, reason = "the same, for rustdoc")]

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use muxgate_core::{Config, CreditPolicy, Destination};
use muxgate_transport_native::Endpoint;

use crate::client::forward::Forward;
use crate::client::parse_destination;
use crate::exit::CODES_HELP;
use crate::policy::rule::Rule;
use crate::serve::listen_url::ListenUrl;
use crate::serve::origin::Origin;

const SERVE_HELP: &str = "\
Examples:
  A gateway on this machine, for sessions over WebSocket and TCP:
    muxgate serve --listen ws://127.0.0.1:7171 --listen tcp://127.0.0.1:7172 --allow 127.0.0.1:5001 --allow '*.internal:443'
  For the whole network, with TLS and a token:
    muxgate serve --listen wss://0.0.0.0:443 --cert cert.pem --key key.pem --token-file token --allow '*.example.com:443'
  The same, with a page for browsers at https://gateway.example/:
    muxgate serve --page --allow-origin https://gateway.example --listen wss://0.0.0.0:443 --cert cert.pem --key key.pem --token-file token --allow '*.example.com:443'

Rules (--allow and --deny):
  *, *:443, *:8000-8999            any name, and any address outside of the special ranges
  db.internal:5432, *.internal     names, label by label: * stands for (part of) one label
  192.0.2.7:22, [2001:db8::7]:22   addresses
  198.51.100.0/24, [2001:db8::]/32:443   networks
Nothing is allowed that no rule allows, and deny rules win. Loopback, private, link-local, cloud metadata and other
special addresses need an --allow that names the address or a network inside that range; neither * nor a rule for a
name opens them. A name needs both: a rule for the name, and its addresses must pass.";

const DEMO_HELP: &str = "\
Examples:
  muxgate demo
  muxgate demo --listen ws://127.0.0.1:8080 --allow 127.0.0.1:22

Open the URL that it prints in a browser. The page's tunnel may reach the demo's own destinations and what --allow adds:
an echo service, an HTTP server, a source that sends without end, and a sink that takes everything. They listen on free
ports of 127.0.0.1. Ctrl-C ends the demo.";

const FORWARD_HELP: &str = "\
Examples:
  muxgate forward 5000=127.0.0.1:5001 --via ws://127.0.0.1:7171
  muxgate forward 127.0.0.1:5000=127.0.0.1:5001 127.0.0.1:5002=db.internal:5432 --via tcp://127.0.0.1:7172
  muxgate forward unix:/tmp/db.sock=db.internal:5432 --via wss://gateway.example --token-file token

LISTEN is PORT (on 127.0.0.1), HOST:PORT or unix:/PATH; DEST is HOST:PORT as the gateway sees it.";

const PIPE_HELP: &str = "\
Examples:
  muxgate pipe 127.0.0.1:22 --via ws://127.0.0.1:7171
  ssh -o ProxyCommand='muxgate pipe %h:%p --via wss://gateway.example --token-file token' host.internal";

/// Sessions at a time that a gateway serves.
pub const DEFAULT_SESSIONS: u32 = 4096;

/// Carries many TCP connections over one.
#[derive(Debug, Parser)]
#[command(name = "muxgate", version, after_help = CODES_HELP, arg_required_else_help = true)]
pub struct Cli {
    /// What is logged.
    #[command(flatten)]
    pub log: LogArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options for the log, which goes to standard error.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Log more: -v what happens, -vv details
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// Log filter such as muxgate=debug; takes precedence over -v
    #[arg(long = "log", global = true, env = "MUXGATE_LOG", value_name = "FILTER")]
    pub filter: Option<String>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a gateway: accept sessions and open destinations under a policy
    Serve(ServeArgs),
    /// Listen locally and carry connections through a gateway
    Forward(ForwardArgs),
    /// Connect standard input and output to one destination
    Pipe(PipeArgs),
    /// Run a gateway on this machine with a page to play with, and destinations for it
    Demo(DemoArgs),
}

/// Options of `muxgate serve`.
#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct ServeArgs {
    /// Where to accept sessions: ws://, wss://, tcp:// or tls://HOST:PORT, or unix:/PATH (repeats)
    #[arg(long = "listen", value_name = "URL", required = true)]
    pub listen: Vec<ListenUrl>,
    /// Allow a destination (repeats)
    #[arg(long = "allow", value_name = "HOST[:PORT]")]
    pub allow: Vec<Rule>,
    /// Deny a destination, whatever is allowed (repeats)
    #[arg(long = "deny", value_name = "HOST[:PORT]")]
    pub deny: Vec<Rule>,
    /// Demand the bearer token in FILE from every client
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Accept sessions without authentication where no token protects a listener
    #[arg(long)]
    pub insecure_no_auth: bool,
    /// Certificate chain (PEM) for wss:// and tls://
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Private key (PEM) of the certificate
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Let pages of this origin connect, such as https://app.example (repeats)
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    pub allow_origin: Vec<Origin>,
    /// Serve the demo page on ws:// and wss:// listeners, and let it connect where it was loaded by an address, as
    /// localhost, or by a name in --listen or --allow-origin
    #[arg(long)]
    pub page: bool,
    /// Sessions at a time
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SESSIONS, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_sessions: u32,
    /// How sessions work.
    #[command(flatten)]
    pub session: SessionArgs,
}

/// Options of `muxgate demo`.
#[derive(Debug, Args)]
#[command(after_help = DEMO_HELP)]
pub struct DemoArgs {
    /// Where the page and its gateway are, on this machine; another port is taken if this one is in use
    #[arg(long, value_name = "URL", default_value = "ws://127.0.0.1:7171")]
    pub listen: ListenUrl,
    /// Allow one more destination (repeats)
    #[arg(long = "allow", value_name = "HOST[:PORT]")]
    pub allow: Vec<Rule>,
    /// How sessions work.
    #[command(flatten)]
    pub session: SessionArgs,
}

/// The gateway of a client.
#[derive(Debug, Args)]
pub struct ViaArgs {
    /// The gateway: ws://, wss://, tcp:// or tls://HOST[:PORT], or unix:/PATH
    #[arg(long, value_name = "URL")]
    pub via: Endpoint,
    /// Trust the certificates in FILE (PEM) beside those of the system (repeats)
    #[arg(long = "ca", value_name = "FILE")]
    pub ca: Vec<PathBuf>,
    /// File with the token for the gateway, - for standard input; otherwise the variable MUXGATE_TOKEN is used
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// How sessions work.
    #[command(flatten)]
    pub session: SessionArgs,
}

/// Options of `muxgate forward`.
#[derive(Debug, Args)]
#[command(after_help = FORWARD_HELP)]
pub struct ForwardArgs {
    /// Where to listen, and where connections are to go
    #[arg(value_name = "LISTEN=DEST", required = true)]
    pub forwards: Vec<Forward>,
    /// The gateway.
    #[command(flatten)]
    pub via: ViaArgs,
}

/// Options of `muxgate pipe`.
#[derive(Debug, Args)]
#[command(after_help = PIPE_HELP)]
pub struct PipeArgs {
    /// HOST:PORT as the gateway sees it
    #[arg(value_name = "DEST", value_parser = parse_destination)]
    pub destination: Destination,
    /// The gateway.
    #[command(flatten)]
    pub via: ViaArgs,
}

/// Settings that nobody needs but the bench: what is slower than the default, to compare with.
#[derive(Debug, Clone, Args)]
pub struct SessionArgs {
    /// When credit is granted
    #[arg(long, value_enum, default_value_t = Credit::Batched, hide = true)]
    credit: Credit,
    /// Bytes of the largest DATA message, header included
    #[arg(long, value_name = "BYTES", default_value_t = Config::default().max_frame, hide = true)]
    max_frame: u16,
}

impl SessionArgs {
    /// The settings of a session.
    #[must_use]
    pub fn config(&self) -> Config {
        Config { credit: self.credit.into(), max_frame: self.max_frame, ..Config::default() }
    }
}

/// The policies of credit.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Credit {
    /// In batches.
    Batched,
    /// One grant per message.
    PerMessage,
}

impl From<Credit> for CreditPolicy {
    fn from(credit: Credit) -> Self {
        match credit {
            Credit::Batched => Self::Batched,
            Credit::PerMessage => Self::PerMessage,
        }
    }
}
