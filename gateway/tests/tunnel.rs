//! The binary against itself: a gateway, its clients, and the ways in which a tunnel ends.

#![expect(clippy::unwrap_used, reason = "a failure fails the test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

/// A running `muxgate`. Killed when dropped.
struct Muxgate {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Muxgate {
    fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_muxgate"));
        command.args(args);
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        command.env_remove("MUXGATE_TOKEN").env_remove("MUXGATE_LOG");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr, said: String::new() }
    }

    /// Waits for a line with `words` on standard error, and returns it.
    fn line(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.stderr.read_line(&mut line).unwrap() > 0, "no '{words}' in: {}", self.said);
            self.said.push_str(&line);
            if line.contains(words) {
                return line;
            }
        }
    }

    /// The URL or address of the next listener.
    fn listening(&mut self) -> String {
        let line = self.line("listening on ");
        line.split_whitespace().nth(3).unwrap().to_owned()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// How it ended, and all that it said.
    fn wait(mut self) -> (ExitStatus, String) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        (status, std::mem::take(&mut self.said) + &rest)
    }

    fn assert_exit(self, code: i32, words: &str) {
        let (status, said) = self.wait();
        assert!(status.code() == Some(code) && said.contains(words), "{status}: {said}");
    }
}

impl Drop for Muxgate {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A destination that hands its connections, one after another, to `serve`.
fn destination(serve: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || listener.incoming().for_each(|stream| serve(stream.unwrap())));
    address
}

/// Reads to the end before it answers: works only if the end of a direction travels by itself.
fn answers_at_the_end() -> SocketAddr {
    destination(|mut stream| {
        let mut request = Vec::new();
        stream.read_to_end(&mut request).unwrap();
        stream.write_all(&[b"answer to ".to_vec(), request].concat()).unwrap();
    })
}

fn gateway(listen: &str, more: &[&str]) -> (Muxgate, String) {
    let mut gateway = Muxgate::start(&[&["serve", "--listen", listen, "--allow", "127.0.0.1"], more].concat());
    let url = gateway.listening();
    (gateway, url)
}

fn forward(destination: &str, via: &str) -> (Muxgate, TcpStream) {
    let mut forward = Muxgate::start(&["forward", &format!("127.0.0.1:0={destination}"), "--via", via]);
    let address = forward.listening();
    (forward, TcpStream::connect(address).unwrap())
}

fn pipe(destination: &str, via: &str, input: &[u8]) -> (Muxgate, Vec<u8>) {
    let mut pipe = Muxgate::start(&["pipe", destination, "--via", via]);
    pipe.child.stdin.take().unwrap().write_all(input).unwrap();
    let mut output = Vec::new();
    pipe.child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
    (pipe, output)
}

#[test]
fn half_close_travels_over_every_kind_of_listener() {
    let destination = answers_at_the_end().to_string();
    let directory = tempfile::tempdir().unwrap();
    let unix = format!("unix:{}", directory.path().join("gateway").display());
    for listen in ["tcp://127.0.0.1:0", "ws://127.0.0.1:0", &unix] {
        let (_gateway, via) = gateway(listen, &[]);
        let (_forward, mut stream) = forward(&destination, &via);
        stream.write_all(b"a request").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "answer to a request", "{listen}");

        let (pipe, output) = pipe(&destination, &via, b"the input");
        assert_eq!(output, b"answer to the input", "{listen}");
        pipe.assert_exit(0, "");
    }
}

#[test]
fn a_unix_socket_forwards() {
    let destination = answers_at_the_end();
    let (_gateway, via) = gateway("tcp://127.0.0.1:0", &[]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("local");
    let spec = format!("unix:{}={destination}", path.display());
    let mut forward = Muxgate::start(&["forward", &spec, "--via", &via]);
    forward.listening();
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"a request").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "answer to a request");
    forward.signal(Signal::TERM);
    forward.assert_exit(0, "");
    assert!(!path.exists());
}

/// jetsocat 48242abb: what is logged must not get between the data, however much of it there is.
#[test]
fn logs_stay_out_of_standard_output() {
    let destination = answers_at_the_end().to_string();
    let (_gateway, via) = gateway("ws://127.0.0.1:0", &[]);
    let mut pipe = Muxgate::start(&["-vv", "--log", "trace", "pipe", &destination, "--via", &via]);
    pipe.child.stdin.take().unwrap().write_all(b"the input").unwrap();
    let mut output = Vec::new();
    pipe.child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
    assert_eq!(output, b"answer to the input");
    pipe.line("TRACE");
}

#[test]
fn standard_output_ends_while_standard_input_goes_on() {
    let destination = destination(|mut stream| {
        stream.write_all(b"all there is").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut late = String::new();
        stream.read_to_string(&mut late).unwrap();
        assert_eq!(late, "late input");
    });
    let (_gateway, via) = gateway("tcp://127.0.0.1:0", &[]);
    let mut pipe = Muxgate::start(&["pipe", &destination.to_string(), "--via", &via]);
    let mut output = String::new();
    pipe.child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert_eq!(output, "all there is");
    pipe.child.stdin.take().unwrap().write_all(b"late input").unwrap();
    pipe.assert_exit(0, "");
}

#[test]
fn a_prompt_without_a_line_end_is_shown_at_once() {
    let destination = destination(|mut stream| {
        stream.write_all(b"login: ").unwrap();
        let mut name = [0; 4];
        stream.read_exact(&mut name).unwrap();
        stream.write_all(&name).unwrap();
    });
    let (_gateway, via) = gateway("tcp://127.0.0.1:0", &[]);
    let mut pipe = Muxgate::start(&["pipe", &destination.to_string(), "--via", &via]);
    let mut output = pipe.child.stdout.take().unwrap();
    let mut prompt = [0; 7];
    output.read_exact(&mut prompt).unwrap();
    assert_eq!(&prompt, b"login: ");
    pipe.child.stdin.take().unwrap().write_all(b"root").unwrap();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "root");
    pipe.assert_exit(0, "");
}

#[test]
fn a_refusal_resets_the_program_and_is_told_once() {
    let (_gateway, via) = gateway("tcp://127.0.0.1:0", &["--deny", "*:9"]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for (destination, reason) in [("127.0.0.1:9", "rules"), ("denied.example:1", "rules"), (closed.as_str(), "refused")]
    {
        let (mut forward, mut stream) = forward(destination, &via);
        let error = stream.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{destination}");
        let warning = forward.line("WARN");
        assert!(warning.contains(destination) && warning.contains(reason), "{warning}");
        forward.signal(Signal::INT);
        let (status, said) = forward.wait();
        assert!(status.success() && said.matches("WARN").count() == 1, "{said}");

        let (pipe, output) = pipe(destination, &via, b"");
        assert!(output.is_empty());
        pipe.assert_exit(6, reason);
    }
}

#[test]
fn data_sent_before_the_destination_answers_is_not_lost() {
    // The first connection holds the second one up in the destination's queue; its data has to wait somewhere.
    let destination = answers_at_the_end().to_string();
    let (_gateway, via) = gateway("ws://127.0.0.1:0", &[]);
    let mut forward = Muxgate::start(&["forward", &format!("127.0.0.1:0={destination}"), "--via", &via]);
    let address = forward.listening();
    let mut streams: Vec<_> = (0..20).map(|_| TcpStream::connect(&address).unwrap()).collect();
    for (index, stream) in streams.iter_mut().enumerate() {
        write!(stream, "request {index}").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    }
    for (index, mut stream) in streams.into_iter().enumerate() {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, format!("answer to request {index}"));
    }
}

#[test]
fn a_token_opens_the_door_and_nothing_else_does() {
    let destination = answers_at_the_end().to_string();
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (file("right", "s3cret\n"), file("wrong", "s3cre7\n"));
    let (_gateway, via) = gateway("ws://127.0.0.1:0", &["--token-file", &right]);

    let pipe = |more: &[&str]| Muxgate::start(&[&["pipe", &destination, "--via", &via], more].concat());
    pipe(&["--token-file", &right]).assert_exit(0, "");
    pipe(&["--token-file", &wrong]).assert_exit(5, "401");
    pipe(&[]).assert_exit(5, "401");
    let mut by_variable = Command::new(env!("CARGO_BIN_EXE_muxgate"));
    by_variable.args(["pipe", &destination, "--via", &via]).env("MUXGATE_TOKEN", "s3cret").stdin(Stdio::null());
    assert_eq!(by_variable.output().unwrap().stdout, b"answer to ");

    let mut by_input = Muxgate::start(&["forward", "127.0.0.1:0=a:1", "--via", &via, "--token-file", "-"]);
    by_input.child.stdin.take().unwrap().write_all(b"s3cret\n").unwrap();
    by_input.listening();
}

#[test]
fn a_lost_session_ends_the_client_with_its_code() {
    let destination = answers_at_the_end().to_string();
    let (gateway, via) = gateway("ws://127.0.0.1:0", &[]);
    let (forward, mut stream) = forward(&destination, &via);
    stream.write_all(b"never finished").unwrap();
    gateway.signal(Signal::KILL);
    gateway.wait();
    let error = stream.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    forward.assert_exit(4, "the session with the gateway is lost");
}

#[test]
fn signals_end_a_gateway_in_good_order() {
    for signal in [Signal::INT, Signal::TERM] {
        let destination = answers_at_the_end().to_string();
        let (gateway, via) = gateway("ws://127.0.0.1:0", &[]);
        let (forward, mut stream) = forward(&destination, &via);
        stream.write_all(b"never finished").unwrap();
        gateway.signal(signal);
        gateway.assert_exit(0, "");
        forward.assert_exit(4, "ended by the peer");
    }
}

#[test]
fn tls_protects_both_kinds_of_listener() {
    let destination = answers_at_the_end().to_string();
    let directory = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let file = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (cert, key) = (file("cert.pem", made.cert.pem()), file("key.pem", made.signing_key.serialize_pem()));
    for scheme in ["tls", "wss"] {
        let listen = format!("{scheme}://127.0.0.1:0");
        let (_gateway, url) = gateway(&listen, &["--cert", &cert, "--key", &key]);
        let via = url.replace("127.0.0.1", "localhost");
        let trusting = Muxgate::start(&["pipe", &destination, "--via", &via, "--ca", &cert]);
        trusting.assert_exit(0, "");
        Muxgate::start(&["pipe", &destination, "--via", &via]).assert_exit(4, "certificate");
    }
}

/// A gateway that may have so many descriptors at a time.
fn gateway_with_descriptors(limit: usize) -> Muxgate {
    let script = format!("ulimit -n {limit}; exec \"$0\" serve -v --listen tcp://127.0.0.1:0 --allow 127.0.0.1");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_muxgate")]);
    Muxgate::spawn(command)
}

#[test]
fn a_gateway_without_descriptors_for_its_workers_says_so() {
    gateway_with_descriptors(10).assert_exit(1, "cannot start the workers: Too many open files");
}

#[test]
fn a_gateway_that_ran_out_of_descriptors_recovers() {
    let destination = answers_at_the_end().to_string();
    // Each worker has three for its runtime.
    let workers = thread::available_parallelism().unwrap().get();
    let mut gateway = gateway_with_descriptors(18 + 3 * workers);
    let via = gateway.listening();
    let address = via.strip_prefix("tcp://").unwrap();
    let greedy: Vec<_> = (0..40).map(|_| TcpStream::connect(address).unwrap()).collect();
    gateway.line("accepting failed");
    let clients = greedy.len();
    drop(greedy);
    // Those that waited in the queue of the kernel get their turn, too.
    (0..clients).for_each(|_| drop(gateway.line("session ended")));
    let (pipe, output) = pipe(&destination, &via, b"later");
    assert_eq!(output, b"answer to later");
    pipe.assert_exit(0, "");
}
