//! The command line as users and scripts meet it: help, exit codes, what is refused before anything is opened.

#![expect(clippy::unwrap_used, reason = "a failure fails the test")]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use clap::{CommandFactory, Parser};
use muxgate::cli::Cli;

fn muxgate(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_muxgate"));
    command.args(args).env_remove("MUXGATE_TOKEN").env_remove("MUXGATE_LOG").stdin(Stdio::null());
    command.output().unwrap()
}

/// Runs a command that has to fail, and returns its exit code and what it said.
fn failure(args: &[&str]) -> (i32, String) {
    let output = muxgate(args);
    assert!(output.stdout.is_empty(), "{args:?} wrote to standard output");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn assert_failure(args: &[&str], code: i32, words: &str) {
    let (found, said) = failure(args);
    assert!(found == code && said.contains(words), "{args:?}: exit code {found}, said: {said}");
}

fn write(directory: &Path, name: &str, text: &str, mode: u32) -> String {
    let path: PathBuf = directory.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// An address at which nothing listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Splits an example as a shell would, as far as examples go: blanks, and single quotes.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

fn help_of(verb: &str) -> String {
    let output = muxgate(&[verb, "--help"]);
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn the_examples_of_every_help_parse() {
    for verb in ["serve", "forward", "pipe", "demo"] {
        let help = help_of(verb);
        let examples: Vec<_> = help.lines().map(str::trim).filter(|line| line.starts_with("muxgate ")).collect();
        assert!(!examples.is_empty(), "{verb} --help has no example");
        for example in examples {
            let parsed = Cli::try_parse_from(words(example));
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
    }
}

#[test]
fn the_command_lines_that_everybody_types_parse() {
    let lines = [
        "muxgate serve --listen ws://127.0.0.1:7171 --listen tcp://127.0.0.1:7172 --allow 127.0.0.1:5001 --allow '*.internal:443'",
        "muxgate forward 127.0.0.1:5000=127.0.0.1:5001 127.0.0.1:5002=db.internal:5432 --via tcp://127.0.0.1:7172",
        "muxgate forward 5000=127.0.0.1:5001 --via ws://127.0.0.1:7171",
        "muxgate forward unix:/tmp/a=b.sock=[::1]:22 --via unix:/run/muxgate.sock -vv",
        "muxgate pipe 127.0.0.1:22 --via ws://127.0.0.1:7171",
        "muxgate pipe [2001:db8::1]:22 --via wss://gateway.example --token-file token --ca ca.pem",
    ];
    for line in lines {
        let parsed = Cli::try_parse_from(words(line));
        assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
    }
}

#[test]
fn the_help_lists_the_exit_codes() {
    let help = String::from_utf8(muxgate(&["--help"]).stdout).unwrap();
    assert!(help.contains("Exit codes:") && help.contains("4  the gateway cannot be reached"), "{help}");
}

#[test]
fn a_wrong_command_line_says_what_would_be_right() {
    let serve = |args: &[&'static str]| [&["serve", "--listen", "tcp://127.0.0.1:0"], args].concat();
    let forward = |spec| ["forward", spec, "--via", "tcp://127.0.0.1:1"];
    assert_failure(&["serve"], 2, "--listen");
    assert_failure(&["serve", "--listen", "127.0.0.1:7171"], 2, "tcp://");
    assert_failure(&serve(&["--allow", "443"]), 2, "*:443");
    assert_failure(&serve(&["--allow", "10.0.0.1/8"]), 2, "10.0.0.0/8");
    assert_failure(&serve(&["--allow-origin", "*"]), 2, "https://app.example");
    assert_failure(&serve(&["--max-sessions", "0"]), 2, "0");
    assert_failure(&["forward", "--via", "tcp://127.0.0.1:1"], 2, "LISTEN=DEST");
    assert_failure(&forward("5000"), 2, "5000=db.internal:5432");
    assert_failure(&forward("5000=db.internal"), 2, "HOST:PORT");
    assert_failure(&forward("db:5000:1=db.internal:1"), 2, "127.0.0.1:5000");
    assert_failure(&["pipe", "a:1"], 2, "--via");
    assert_failure(&["pipe", "a", "--via", "tcp://127.0.0.1:1"], 2, "port");
    assert_failure(&["pipe", "a:1", "--via", "http://127.0.0.1"], 2, "ws://");
    assert_failure(&["--log", "=,=", "pipe", "a:1", "--via", "tcp://127.0.0.1:1"], 2, "--log");
}

#[test]
fn the_page_says_what_it_needs() {
    assert_failure(&["demo", "--listen", "ws://0.0.0.0:0"], 2, "serve --page");
    assert_failure(&["serve", "--page", "--listen", "tcp://127.0.0.1:0"], 2, "ws://");
    if !cfg!(feature = "page") {
        assert_failure(&["demo"], 2, "cargo xtask demo");
        assert_failure(&["serve", "--page", "--listen", "ws://127.0.0.1:0"], 2, "cargo xtask demo");
    }
}

#[test]
fn tls_needs_a_certificate() {
    assert_failure(&["serve", "--listen", "wss://127.0.0.1:0"], 2, "--cert");
    let args = ["serve", "--listen", "tls://127.0.0.1:0", "--cert", "/nowhere.pem", "--key", "/nowhere.pem"];
    assert_failure(&args, 2, "/nowhere.pem");
}

#[test]
fn beyond_loopback_takes_a_token_or_an_explicit_word() {
    for listen in ["ws://0.0.0.0:0", "tcp://0.0.0.0:0", "tcp://[::]:0"] {
        assert_failure(&["serve", "--listen", listen], 2, "--insecure-no-auth");
    }
}

#[test]
fn a_listener_without_a_place_for_the_token_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let token = write(directory.path(), "token", "secret\n", 0o600);
    let socket = format!("unix:{}", directory.path().join("socket").display());
    for listen in ["tcp://127.0.0.1:0", "tcp://0.0.0.0:0", &socket] {
        let args = ["serve", "--listen", "ws://127.0.0.1:0", "--listen", listen, "--token-file", &token];
        assert_failure(&args, 2, "without the token");
    }
}

#[test]
fn a_broken_token_file_stops_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let empty = write(directory.path(), "empty", "\n", 0o600);
    let spaces = write(directory.path(), "spaces", "two words\n", 0o600);
    let serve = |file| ["serve", "--listen", "ws://127.0.0.1:0", "--token-file", file];
    assert_failure(&serve(&empty), 2, "it is empty");
    assert_failure(&serve(&spaces), 2, "without spaces");
    assert_failure(&serve("/nowhere"), 2, "/nowhere");
    let pipe = |file| ["pipe", "a:1", "--via", "ws://127.0.0.1:1", "--token-file", file];
    assert_failure(&pipe(&empty), 2, "it is empty");
    assert_failure(&pipe("-"), 2, "standard input carries the data");
}

#[test]
fn a_token_that_cannot_be_sent_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let token = write(directory.path(), "token", "secret\n", 0o600);
    assert_failure(&["pipe", "a:1", "--via", "tcp://127.0.0.1:1", "--token-file", &token], 2, "ws://");
}

#[test]
fn a_token_that_everybody_can_read_is_warned_about() {
    let directory = tempfile::tempdir().unwrap();
    let port = closed_port();
    let via = format!("ws://127.0.0.1:{port}");
    for (mode, warns) in [(0o644, true), (0o640, false), (0o600, false)] {
        let token = write(directory.path(), "token", "secret\n", mode);
        let (code, said) = failure(&["pipe", "a:1", "--via", &via, "--token-file", &token]);
        assert_eq!(code, 4, "{said}");
        assert_eq!(said.contains("readable by every user"), warns, "{mode:o}: {said}");
        assert!(!said.contains("secret"));
    }
}

#[test]
fn what_is_taken_cannot_be_listened_on() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    assert_failure(&["serve", "--listen", &format!("tcp://{address}")], 3, "cannot listen on");
    assert_failure(&["forward", &format!("{address}=a:1"), "--via", "tcp://127.0.0.1:1"], 3, "cannot listen on");
    assert_failure(&["serve", "--listen", "unix:/nowhere/socket"], 3, "cannot listen on");
}

#[test]
fn an_unreachable_gateway_has_its_own_code() {
    let port = closed_port();
    for via in [format!("tcp://127.0.0.1:{port}"), format!("ws://127.0.0.1:{port}"), "unix:/nowhere".to_owned()] {
        assert_failure(&["pipe", "a:1", "--via", &via], 4, "no session with the gateway");
        assert_failure(&["forward", "127.0.0.1:0=a:1", "--via", &via], 4, "no session with the gateway");
    }
}

#[test]
fn a_forward_for_the_whole_network_is_warned_about() {
    let via = format!("tcp://127.0.0.1:{}", closed_port());
    let (_, said) = failure(&["forward", "0.0.0.0:0=db.internal:1", "--via", &via]);
    assert!(said.contains("other machines can reach 0.0.0.0:"), "{said}");
    let (_, said) = failure(&["forward", "127.0.0.1:0=db.internal:1", "--via", &via]);
    assert!(!said.contains("other machines"), "{said}");
}
