//! What the gateway and its client hold: bounded, whatever peers and destinations do, and given back afterwards.
//!
//! One scenario at a time, so that each has the machine for itself.
#![cfg(target_os = "linux")]

use std::net::SocketAddr;
use std::pin::pin;

use futures::FutureExt;
use futures::future::join_all;
use muxgate_core::frame::Frame;
use muxgate_tests::process::{
    Curl, Destination, Forward, Gateway, HttpServer, Pattern, Program, RawSession, code, descriptors,
    raise_descriptor_limit, request, resident, scenario, skipped, upgrade,
};
use muxgate_tests::scripted::{MAX_PACKET, WINDOW, encode, open_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Mutex;

const MIB: usize = 1024 * 1024;

static ALONE: Mutex<()> = Mutex::const_new(());

async fn alone(steps: impl Future<Output = ()>) {
    let _guard = ALONE.lock().await;
    scenario(steps).await;
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("somebody listens")
}

/// What processes hold before something happens to them.
struct Before<'a, const N: usize>([(&'a Program, usize, usize); N]);

impl<'a, const N: usize> Before<'a, N> {
    fn new(programs: [&'a Program; N]) -> Self {
        Self(programs.map(|program| (program, resident(program.pid()), descriptors(program.pid()))))
    }

    fn assert_memory_grew_less_than(&self, limit: usize) {
        for (program, before, _) in &self.0 {
            let now = resident(program.pid());
            assert!(now < before + limit, "{:?}: {before} bytes before, {now} now", program.pid());
        }
    }

    fn assert_same_descriptors(&self) {
        for (program, _, before) in &self.0 {
            assert_eq!(descriptors(program.pid()), *before, "{:?}", program.pid());
        }
    }
}

async fn download(through: SocketAddr, length: usize) {
    let curl = Curl::start(&["--fail", &format!("http://{through}/{length}")]);
    assert_eq!(curl.digest().await, (code::SUCCESS, Pattern::new(length).digest()));
}

/// Writes `piece` again and again, and counts the bytes, until the connection ends.
async fn flood(stream: &mut TcpStream, piece: &[u8], written: &mut usize) {
    while let Ok(n) = stream.write(piece).await {
        *written += n;
    }
}

/// Downloads while somebody floods, who may end before that, or be stopped.
async fn download_beside(flood: impl Future<Output = ()>, through: SocketAddr, length: usize) {
    let mut flood = pin!(flood.fuse());
    let mut transfer = pin!(download(through, length).fuse());
    futures::select! {
        () = transfer => {}
        () = flood => transfer.await,
    }
}

/// russh 730, smux 18, tokio-tungstenite 286: what does not read stops itself and nobody else, on either side.
#[tokio::test]
async fn a_reader_that_stops_holds_little_and_stops_nobody_else() {
    alone(async {
        for scheme in ["tcp", "ws"] {
            let (server, silent, source) =
                (HttpServer::start().await, Destination::silent().await, Destination::source().await);
            let gateway = Gateway::local_on(scheme).await;
            let destinations = [server.address(), silent.address(), source.address()];
            let forward = Forward::start(gateway.url(), &destinations).await;
            download(forward.address(), MIB).await;
            let before = Before::new([&gateway, &forward]);

            // One program floods a destination that never reads, another never reads what its destination floods.
            let mut unread = connect(forward.addresses[2]).await;
            unread.read_u8().await.expect("the source sends");
            let (mut stream, mut written) = (connect(forward.addresses[1]).await, 0);
            let zeros = vec![0; 64 * 1024];
            download_beside(flood(&mut stream, &zeros, &mut written), forward.address(), 50_000_000).await;
            before.assert_memory_grew_less_than(32 * MIB);
            assert!(written < 32 * MIB, "{written} bytes were taken for a destination that reads nothing");
        }
    })
    .await;
}

/// The kernel completes so many connections for a listener that accepts none; its limit is 4096 by default.
const QUEUE: u32 = 2500;

/// A listener that leaves its connections to the kernel: they cost this process nothing.
fn lazy_listener() -> TcpListener {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("there is a free port");
    socket.listen(QUEUE).expect("the socket is bound")
}

#[tokio::test]
async fn ten_thousand_idle_channels() {
    const CHANNELS: usize = 10_000;
    const BATCH: usize = 250;
    let limit = raise_descriptor_limit().expect("the limit may be as high as it may be");
    if limit < CHANNELS as u64 + 1000 {
        return skipped(&format!("{CHANNELS} connections need as many descriptors, and {limit} is the limit here"));
    }
    alone(async {
        let listeners: [_; CHANNELS / QUEUE as usize] = std::array::from_fn(|_| lazy_listener());
        let destinations = listeners.each_ref().map(|listener| listener.local_addr().expect("the listener is bound"));
        let gateway = Gateway::local().await;
        let forward = Forward::start(gateway.url(), &destinations).await;
        let mut streams = Vec::new();
        while streams.len() < CHANNELS {
            let through = forward.addresses[streams.len() / QUEUE as usize];
            streams.extend(join_all((0..BATCH).map(|_| connect(through))).await);
            forward.lines(": opened", streams.len()).await;
        }
        for program in [&*gateway, &*forward] {
            let held = resident(program.pid());
            assert!(held < 64 * MIB, "{held} bytes for {CHANNELS} idle channels");
        }
        // They are alive, first and last.
        for (listener, stream) in [(&listeners[0], 0), (&listeners[3], CHANNELS - QUEUE as usize)] {
            let (mut accepted, _) = listener.accept().await.expect("the kernel has it");
            accepted.write_u8(7).await.expect("the channel lives");
            assert_eq!(streams[stream].read_u8().await.expect("the channel lives"), 7);
        }
    })
    .await;
}

/// wstunnel 251, go-yamux 91: nothing is left of connections that were.
#[tokio::test]
async fn connections_leave_nothing_behind() {
    alone(async {
        let (echo, reset, gateway) = (Destination::echo().await, Destination::reset().await, Gateway::local().await);
        let destinations = [echo.address().to_string(), reset.address().to_string(), "192.0.2.1:9".to_owned()];
        let forward = Forward::with(gateway.url(), &[], &destinations).await;
        // What goes through here comes after everything that happened before.
        let mut last = connect(forward.address()).await;
        round(&forward.addresses, &mut last).await;
        let before = Before::new([&gateway, &forward]);
        for _ in 0..500 {
            round(&forward.addresses, &mut last).await;
        }
        before.assert_same_descriptors();
        before.assert_memory_grew_less_than(8 * MIB);
    })
    .await;
}

/// One connection of each kind: in good order, reset, refused.
async fn round(through: &[SocketAddr], last: &mut TcpStream) {
    let mut stream = connect(through[0]).await;
    stream.write_all(b"hello").await.expect("the echo reads");
    stream.shutdown().await.expect("the connection lives");
    let mut echoed = Vec::new();
    stream.read_to_end(&mut echoed).await.expect("the echo answers");
    assert_eq!(echoed, b"hello");
    for &address in &through[1..] {
        let read = async { TcpStream::connect(address).await?.read_u8().await };
        read.await.expect_err("there is nothing to read");
    }
    last.write_u8(1).await.expect("the connection lives");
    last.read_u8().await.expect("the echo answers");
}

/// A peer that provokes answers and does not read them is stopped, or loses its session.
#[tokio::test]
async fn answers_that_nobody_reads_do_not_pile_up() {
    alone(async {
        let server = HttpServer::start().await;
        let listen = ["--listen", "tcp://127.0.0.1:0", "--listen", "ws://127.0.0.1:0", "--allow", "127.0.0.1"];
        let gateway = Gateway::start(&listen).await;
        let forward = Forward::start(gateway.url(), &[server.address()]).await;
        download(forward.address(), MIB).await;
        let before = Before::new([&gateway]);

        let mut opens = RawSession::connect(gateway.authority()).await;
        let piece = encode((0..1000).map(|sender| open_with(sender, WINDOW, MAX_PACKET, b"tcp://192.0.2.1:9")));
        download_beside(flood(&mut opens.stream, &piece, &mut 0), forward.address(), 50_000_000).await;
        before.assert_memory_grew_less_than(32 * MIB);

        let (_, authority) = gateway.urls[1].split_once("://").expect("it is a URL");
        let (_, mut pings) = upgrade(authority, &request("")).await;
        let piece = [&[0x89, 0xfd, 0, 0, 0, 0], &[0; 125][..]].concat().repeat(1000);
        download_beside(flood(&mut pings, &piece, &mut 0), forward.address(), 50_000_000).await;
        before.assert_memory_grew_less_than(32 * MIB);
    })
    .await;
}

/// H17: opens that fail cost nothing, however many.
#[tokio::test]
async fn failing_opens_leave_nothing_behind() {
    alone(async {
        const BATCH: u32 = 100;
        let gateway = Gateway::start(&["--listen", "tcp://127.0.0.1:0", "--log", "warn"]).await;
        let mut session = RawSession::connect(gateway.authority()).await;
        let mut before = None;
        for _ in 0..500 {
            session.send((0..BATCH).map(|sender| open_with(sender, WINDOW, MAX_PACKET, b"tcp://192.0.2.1:9"))).await;
            for _ in 0..BATCH {
                let answer = session.next().await;
                assert!(matches!(answer, Some(Frame::OpenFailure { .. })), "{answer:?}");
            }
            before.get_or_insert_with(|| Before::new([&gateway]));
        }
        before.expect("there were batches").assert_memory_grew_less_than(4 * MIB);
    })
    .await;
}
