//! Every way in which a connection, a session or a process ends: the right programs are told, and nobody else notices.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;

use muxgate_tests::process::{
    Curl, Destination, Forward, Gateway, Pattern, ReservedPort, Sha256, code, digest_of, pipe, scenario,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::sync::{Notify, mpsc};

/// More than all buffers on the way can hold.
const LARGE: usize = 100_000_000;

/// What curl calls a connection that was reset while it received.
const CURL_RESET: Option<i32> = Some(56);
/// What it calls one that was reset as soon as it was there, by how far it came: "failed to connect", "failed sending",
/// "failure in receiving". None of these is an answer, not even an empty one.
const CURL_FAILED: [Option<i32>; 3] = [Some(7), Some(55), CURL_RESET];

/// A transfer that is under way when something happens to others, and has to go on.
struct Bystander {
    stream: TcpStream,
    received: Sha256,
}

impl Bystander {
    /// Begins to read from a [`Destination::pattern`] of [`LARGE`] bytes.
    async fn begin(through: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(through).await.expect("the forward listens");
        let mut first = vec![0; 100_000];
        stream.read_exact(&mut first).await.expect("the transfer should begin");
        let mut received = Sha256::default();
        received.update(&first);
        Self { stream, received }
    }

    async fn goes_on(mut self) {
        let mut piece = vec![0; 256 * 1024];
        loop {
            match self.stream.read(&mut piece).await.expect("this connection has no part in it") {
                0 => break,
                n => self.received.update(&piece[..n]),
            }
        }
        assert_eq!(self.received.finish(), Pattern::new(LARGE).digest());
    }
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("somebody listens")
}

/// A destination that tells how each of its connections ended: as many bytes, or an error.
async fn witness() -> (Destination, mpsc::UnboundedReceiver<Result<usize, ErrorKind>>) {
    let (sender, ends) = mpsc::unbounded_channel();
    let destination = Destination::start(move |mut stream| {
        let sender = sender.clone();
        async move {
            stream.write_u8(b'!').await?;
            let end = digest_of(&mut stream).await.map(|received| received.length).map_err(|error| error.kind());
            // At the end of a test nobody waits any more.
            let _ = sender.send(end);
            Ok(())
        }
    });
    (destination.await, ends)
}

/// gost 870: the true reason, in bounded time. Each is answered once, and the session goes on.
#[tokio::test]
async fn a_destination_that_cannot_be_reached_fails_with_the_true_reason() {
    scenario(async {
        let (source, refusing) = (Destination::pattern(LARGE).await, ReservedPort::new());
        let allow = ["--listen", "tcp://127.0.0.1:0", "--allow", "127.0.0.1", "--allow", "*.invalid"];
        let gateway = Gateway::start(&[&allow[..], &["--deny", "127.0.0.1:9"]].concat()).await;
        let cases = [
            (refusing.address().to_string(), "connection refused"),
            ("127.0.0.1:9".to_owned(), "--deny 127.0.0.1:9"),
            ("127.0.0.2:80".to_owned(), "needs an --allow"),
            ("nobody.invalid:80".to_owned(), "resolve"),
        ];
        let mut destinations = vec![source.address().to_string()];
        destinations.extend(cases.iter().map(|(destination, _)| destination.clone()));
        let forward = Forward::with(gateway.url(), &[], &destinations).await;
        let bystander = Bystander::begin(forward.address()).await;
        for ((destination, reason), address) in cases.iter().zip(&forward.addresses[1..]) {
            let (code, body) = Curl::start(&[&format!("http://{address}/")]).text().await;
            assert!(CURL_FAILED.contains(&code) && body.is_empty(), "{destination}: {code:?}, {body}");
            let open = format!("tcp://{destination}: ");
            let line = gateway.line(&open).await;
            assert!(line.contains(reason), "{line}");
            assert_eq!(gateway.said().matches(&open).count(), 1, "one answer for one open");
            forward.line(&format!("tcp://{destination}: refused")).await;
        }
        bystander.goes_on().await;
    })
    .await;
}

/// devolutions-gateway 1318, chisel 535: the end of one direction ends only that direction, with every byte before it.
#[tokio::test]
async fn an_answer_comes_after_the_end_of_the_request() {
    scenario(async {
        for scheme in ["tcp", "ws"] {
            let (destination, gateway) = (Destination::answer_after_end().await, Gateway::local_on(scheme).await);
            let forward = Forward::start(gateway.url(), &[destination.address()]).await;
            let mut stream = connect(forward.address()).await;
            let request = Pattern::new(10_000_000);
            for piece in request.clone() {
                stream.write_all(&piece).await.expect("the destination reads");
            }
            stream.shutdown().await.expect("the connection lives");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("the answer should arrive");
            assert_eq!(answer, request.digest().sha256);
        }
    })
    .await;
}

#[tokio::test]
async fn a_request_goes_on_after_the_end_of_the_answer() {
    scenario(async {
        for scheme in ["tcp", "ws"] {
            let (sender, mut received) = mpsc::unbounded_channel();
            let destination = Destination::start(move |mut stream| {
                let sender = sender.clone();
                async move {
                    stream.write_all(b"all there is").await?;
                    stream.shutdown().await?;
                    sender.send(digest_of(stream).await?).map_err(std::io::Error::other)
                }
            });
            let (destination, gateway) = (destination.await, Gateway::local_on(scheme).await);
            let forward = Forward::start(gateway.url(), &[destination.address()]).await;
            let mut stream = connect(forward.address()).await;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("the answer should arrive");
            assert_eq!(answer, "all there is");
            let request = Pattern::new(10_000_000);
            for piece in request.clone() {
                stream.write_all(&piece).await.expect("the other direction lives");
            }
            drop(stream);
            assert_eq!(received.recv().await, Some(request.digest()));
        }
    })
    .await;
}

/// A program that ends its direction when its input ends, as `nc -N` and `socat` do.
#[tokio::test]
async fn socat_gets_its_answer() {
    scenario(async {
        let (destination, gateway) = (Destination::answer_after_end().await, Gateway::local().await);
        let forward = Forward::start(gateway.url(), &[destination.address()]).await;
        let mut socat = Command::new("socat");
        socat.args(["-t", "60", "-", &format!("TCP:{}", forward.address())]).kill_on_drop(true);
        let mut socat = socat.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("socat should start");
        let mut input = socat.stdin.take().expect("standard input is a pipe");
        let request = Pattern::new(1_000_000);
        input.write_all(&request.to_vec()).await.expect("socat reads");
        drop(input);
        let output = socat.wait_with_output().await.expect("the process is ours to wait for");
        assert_eq!(String::from_utf8_lossy(&output.stdout), request.digest().sha256);
    })
    .await;
}

#[tokio::test]
async fn a_destination_that_resets_ends_only_its_own_connection() {
    scenario(async {
        let reset = Arc::new(Notify::new());
        let at_once = Destination::reset().await;
        let in_the_middle = Destination::reset_in_the_middle(reset.clone()).await;
        let (source, gateway) = (Destination::pattern(LARGE).await, Gateway::local().await);
        let destinations = [&source, &at_once, &in_the_middle].map(Destination::address);
        let forward = Forward::start(gateway.url(), &destinations).await;
        let urls = [1, 2].map(|index| format!("http://{}/", forward.addresses[index]));
        let bystander = Bystander::begin(forward.address()).await;

        for _ in 0..20 {
            let (code, body) = Curl::start(&[&urls[0]]).text().await;
            assert!(CURL_FAILED.contains(&code) && body.is_empty(), "{code:?}, {body}");
        }
        let mut curl = Curl::start(&[&urls[1]]);
        curl.begun().await;
        reset.notify_one();
        assert_eq!(curl.digest().await.0, CURL_RESET, "in the middle: cut off is not complete");

        bystander.goes_on().await;
        Bystander::begin(forward.address()).await.goes_on().await;
        assert_eq!(gateway.said().matches("session started").count(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_program_that_resets_or_dies_is_reported_to_its_destination_only() {
    scenario(async {
        let ((destination, mut ends), source) = (witness().await, Destination::pattern(LARGE).await);
        let gateway = Gateway::local().await;
        let forward = Forward::start(gateway.url(), &[source.address(), destination.address()]).await;
        let bystander = Bystander::begin(forward.address()).await;

        let mut stream = connect(forward.addresses[1]).await;
        stream.read_u8().await.expect("the destination greets");
        stream.set_zero_linger().expect("the socket is open");
        drop(stream);
        assert_eq!(ends.recv().await, Some(Err(ErrorKind::ConnectionReset)));

        // Killed with unread data in its socket, which the system turns into a reset.
        let mut pipe = pipe(gateway.url(), &[], &destination.address().to_string());
        let (mut input, mut output) = (pipe.stdin(), pipe.stdout());
        output.read_u8().await.expect("the destination greets");
        input.write_all(b"unfinished").await.expect("the pipe is open");
        pipe.kill().await;
        assert_eq!(ends.recv().await, Some(Err(ErrorKind::ConnectionReset)));

        bystander.goes_on().await;
    })
    .await;
}

/// chisel 445: whoever waits is told, and by an error, because what was cut off is not complete.
#[tokio::test]
async fn a_gateway_that_is_killed_ends_its_clients_with_a_reason() {
    scenario(async {
        for scheme in ["tcp", "ws"] {
            let (source, mut gateway) = (Destination::source().await, Gateway::local_on(scheme).await);
            let mut forward = Forward::start(gateway.url(), &[source.address()]).await;
            let mut pipe = pipe(gateway.url(), &[], &source.address().to_string());
            let (_input, mut output) = (pipe.stdin(), pipe.stdout());
            let mut curl = Curl::start(&[&format!("http://{}/", forward.address())]);
            curl.begun().await;
            output.read_u8().await.expect("the destination sends");

            gateway.kill().await;
            assert_eq!(curl.digest().await.0, CURL_RESET);
            copy(&mut output, &mut tokio::io::sink()).await.expect("a pipe ends");
            for program in [&mut *forward, &mut pipe] {
                assert_eq!(program.ended().await, code::GATEWAY);
                assert!(program.said().contains("the session with the gateway is lost"), "{}", program.said());
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_client_that_is_killed_frees_what_it_had_and_disturbs_nobody() {
    scenario(async {
        let ((destination, mut ends), source) = (witness().await, Destination::pattern(LARGE).await);
        let gateway = Gateway::local().await;
        let mut doomed = Forward::start(gateway.url(), &[destination.address()]).await;
        let other = Forward::start(gateway.url(), &[source.address()]).await;
        let bystander = Bystander::begin(other.address()).await;
        let mut streams = Vec::new();
        for _ in 0..10 {
            let mut stream = connect(doomed.address()).await;
            stream.read_u8().await.expect("the destination greets");
            streams.push(stream);
        }

        doomed.kill().await;
        for _ in &streams {
            assert_eq!(ends.recv().await, Some(Err(ErrorKind::ConnectionReset)));
        }
        gateway.line("session ended").await;
        bystander.goes_on().await;
    })
    .await;
}
