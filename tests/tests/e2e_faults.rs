//! What breaks around a connection: processes that are killed or stopped, and descriptors that run out. The other ends learn
//! of it, nothing hangs, and nothing is left behind.
//!
//! One scenario at a time, so that each has the machine for itself. `cargo xtask soak` does the same for hours.
#![cfg(target_os = "linux")]

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures::future::join_all;
use muxgate_core::frame::Frame;
use muxgate_tests::process::{
    Destination, Digest, Forward, Gateway, Pattern, Program, RawSession, ReservedPort, descriptors, digest_of,
    limit_descriptors, processor_time, raise_descriptor_limit, resident, scenario, skipped,
};
use muxgate_tests::scripted::{MAX_PACKET, WINDOW, adjust, close, data, open_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

const MIB: usize = 1024 * 1024;

static ALONE: Mutex<()> = Mutex::const_new(());

async fn alone(steps: impl Future<Output = ()>) {
    let _guard = ALONE.lock().await;
    scenario(steps).await;
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("somebody listens")
}

/// One byte there and back through an echo.
async fn echoes(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_u8(7).await?;
    stream.read_u8().await.map(|byte| assert_eq!(byte, 7))
}

async fn whole_pattern(through: SocketAddr, length: usize) {
    let received = digest_of(connect(through).await).await.expect("this connection has no part in it");
    assert_eq!(received, Pattern::new(length).digest());
}

/// How many descriptors the process holds once their number stays: nobody says when a socket is closed, or a thread has
/// opened what it needs.
async fn settled_descriptors(program: &Program) -> usize {
    loop {
        let count = descriptors(program.pid());
        sleep(Duration::from_millis(200)).await;
        if descriptors(program.pid()) == count {
            return count;
        }
    }
}

/// Waits until the processes hold as many descriptors as before.
async fn same_descriptors<const N: usize>(before: [(&Program, usize); N]) {
    for (program, count) in before {
        while descriptors(program.pid()) != count {
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Starts `socat` between a file and the one connection that it accepts at `port`.
async fn socat(port: &ReservedPort, file: &str, reads: bool) -> Program {
    let listen = format!("TCP4-LISTEN:{},bind=127.0.0.1,reuseaddr", port.address().port());
    let (from, to) = if reads { (&*listen, file) } else { (file, &*listen) };
    let program = Program::start(Command::new("socat").args(["-d", "-d", "-u", from, to]));
    // When it writes to the network, it connects that first, and the other way round.
    program.line("listening on").await;
    program
}

/// A destination that is killed while it sends, and one that is killed while it receives.
#[tokio::test]
async fn a_destination_that_is_killed_ends_its_connections_alone() {
    alone(async {
        let (echo, ports, gateway) =
            (Destination::echo().await, [(); 2].map(|()| ReservedPort::new()), Gateway::local().await);
        let mut sender = socat(&ports[0], "/dev/zero", false).await;
        let mut receiver = socat(&ports[1], "/dev/null", true).await;
        let addresses = [echo.address(), ports[0].address(), ports[1].address()];
        let forward = Forward::start(gateway.url(), &addresses).await;
        let mut bystander = connect(forward.addresses[0]).await;
        echoes(&mut bystander).await.expect("the echo answers");
        let before =
            [(&*gateway, settled_descriptors(&gateway).await), (&*forward, settled_descriptors(&forward).await)];

        let mut download = connect(forward.addresses[1]).await;
        download.read_exact(&mut vec![0; 4 * MIB]).await.expect("it sends");
        sender.kill().await;
        // An end or a reset, as the kernel of the dead process likes.
        let _ = tokio::io::copy(&mut download, &mut tokio::io::sink()).await;

        let mut upload = connect(forward.addresses[2]).await;
        upload.write_all(&vec![0; 4 * MIB]).await.expect("it receives");
        receiver.kill().await;
        while upload.write_all(&vec![0; MIB]).await.is_ok() {}

        drop((download, upload));
        echoes(&mut bystander).await.expect("this connection has no part in it");
        same_descriptors(before).await;
    })
    .await;
}

/// A gateway that is killed under uploads and downloads: its destinations learn of it, and a new one serves new clients.
#[tokio::test]
async fn a_gateway_that_is_killed_lets_its_destinations_go() {
    alone(async {
        let (sender, mut ends) = tokio::sync::mpsc::channel(8);
        let destination = Destination::start(move |mut stream| {
            let sender = sender.clone();
            async move {
                stream.write_u8(b'!').await?;
                let end: io::Result<Digest> = digest_of(&mut stream).await;
                sender.send(end.is_ok()).await.map_err(io::Error::other)
            }
        });
        let (destination, mut gateway) = (destination.await, Gateway::local().await);
        let forward = Forward::start(gateway.url(), &[destination.address()]).await;
        let mut streams = join_all((0..8).map(|_| connect(forward.address()))).await;
        for stream in &mut streams {
            stream.read_u8().await.expect("the destination greets");
            stream.write_all(&vec![0; MIB]).await.expect("the destination reads");
        }
        gateway.kill().await;
        for _ in 0..8 {
            ends.recv().await.expect("the destination lives");
        }
        for stream in &mut streams {
            stream.read_u8().await.expect_err("the session is lost");
        }
    })
    .await;
}

/// boundary 4389: a limit reached refuses what is new, with a reason, and leaves what lives alone.
#[tokio::test]
async fn a_gateway_without_descriptors_says_so_and_recovers() {
    alone(async {
        let (echo, gateway) = (Destination::echo().await, Gateway::local().await);
        let forward = Forward::start(gateway.url(), &[echo.address()]).await;
        let mut first = connect(forward.address()).await;
        echoes(&mut first).await.expect("the echo answers");
        limit_descriptors(gateway.pid(), 8).expect("the process is ours");
        let mut streams = join_all((0..30).map(|_| TcpStream::connect(forward.address()))).await;
        let mut served = 0;
        for stream in &mut streams {
            match stream {
                Ok(stream) => served += usize::from(echoes(stream).await.is_ok()),
                // The refusal can be here before this side knows that it was connected.
                Err(refused) => assert_eq!(refused.kind(), io::ErrorKind::ConnectionReset),
            }
        }
        assert!((1..30).contains(&served), "{served}: those that fit are served");
        forward.line("as many connections as it may").await;
        assert!(gateway.said().contains("Too many open files"), "the operator reads the true reason");
        // A client that comes now waits in the queue of the listener, which must not spin.
        let waiting = connect(gateway.authority().parse().expect("an address")).await;
        is_idle(&gateway).await;
        echoes(&mut first).await.expect("what lives is left alone");
        drop((streams, waiting));
        forward_recovers(&forward).await;
    })
    .await;
}

/// The same on the other side: programs wait in the queue of the listener.
#[tokio::test]
async fn a_client_without_descriptors_recovers() {
    alone(async {
        let (echo, gateway) = (Destination::echo().await, Gateway::local().await);
        let forward = Forward::start(gateway.url(), &[echo.address()]).await;
        let mut first = connect(forward.address()).await;
        echoes(&mut first).await.expect("the echo answers");
        limit_descriptors(forward.pid(), 8).expect("the process is ours");
        let mut streams = join_all((0..30).map(|_| connect(forward.address()))).await;
        forward.line("accepting failed").await;
        for stream in &mut streams[..4] {
            echoes(stream).await.expect("those that fit are served");
        }
        is_idle(&forward).await;
        echoes(&mut first).await.expect("what lives is left alone");
        streams.drain(..8);
        for stream in &mut streams[..4] {
            echoes(stream).await.expect("the next get their turn");
        }
        drop(streams);
        forward_recovers(&forward).await;
    })
    .await;
}

/// A process that cannot go on waits; it does not try again and again without a pause.
async fn is_idle(program: &Program) {
    let (began, before) = (Instant::now(), processor_time(program.pid()));
    sleep(Duration::from_secs(1)).await;
    let used = processor_time(program.pid()).saturating_sub(before);
    assert!(used < began.elapsed() / 10, "{used:?} of {:?}", began.elapsed());
}

/// wstunnel 38: connections on which nothing happens cost no processor time.
#[tokio::test]
async fn idle_connections_cost_no_time() {
    alone(async {
        for scheme in ["tcp", "ws"] {
            let (echo, gateway) = (Destination::echo().await, Gateway::local_on(scheme).await);
            let forward = Forward::start(gateway.url(), &[echo.address()]).await;
            let mut streams = join_all((0..100).map(|_| connect(forward.address()))).await;
            for stream in &mut streams {
                echoes(stream).await.expect("the echo answers");
            }
            tokio::join!(is_idle(&gateway), is_idle(&forward));
        }
    })
    .await;
}

/// Sooner or later a new connection works: what others had held is given back after they have gone.
async fn forward_recovers(forward: &Forward) {
    loop {
        let mut stream = connect(forward.address()).await;
        if echoes(&mut stream).await.is_ok() {
            break;
        }
    }
}

/// tokio-tungstenite 286: a client that is stopped holds little of the gateway's memory, for as long as it likes.
#[tokio::test]
async fn a_client_that_is_stopped_holds_little_and_goes_on_where_it_was() {
    alone(async {
        const LENGTH: usize = 30_000_000;
        let (source, gateway) = (Destination::pattern(LENGTH).await, Gateway::local_on("ws").await);
        let stopped = Forward::start(gateway.url(), &[source.address()]).await;
        let other = Forward::start(gateway.url(), &[source.address()]).await;
        whole_pattern(other.address(), LENGTH).await;
        let before = resident(gateway.pid());
        let downloads = (0..4).map(|_| connect(stopped.address()));
        let mut downloads = join_all(downloads).await;
        for download in &mut downloads {
            download.peek(&mut [0]).await.expect("the destination sends");
        }
        stopped.stop();
        for _ in 0..3 {
            whole_pattern(other.address(), LENGTH).await;
            let held = resident(gateway.pid()).saturating_sub(before);
            assert!(held < 32 * MIB, "{held} bytes for a client that does not read");
        }
        stopped.resume();
        for download in downloads {
            let received = digest_of(download).await.expect("nothing was lost");
            assert_eq!(received, Pattern::new(LENGTH).digest());
        }
    })
    .await;
}

/// wstunnel 251 and 207: however many connections there were, nothing is left of them.
#[tokio::test]
async fn ten_thousand_connections_leave_nothing_behind() {
    alone(async {
        const AT_ONCE: usize = 50;
        let (echo, gateway) = (Destination::echo().await, Gateway::local().await);
        let forward = Forward::start(gateway.url(), &[echo.address()]).await;
        let round = || async {
            let mut streams = join_all((0..AT_ONCE).map(|_| connect(forward.address()))).await;
            for stream in &mut streams {
                echoes(stream).await.expect("the echo answers");
            }
        };
        let programs = [&*gateway, &*forward];
        for _ in 0..20 {
            round().await;
        }
        let count =
            [(programs[0], settled_descriptors(&gateway).await), (programs[1], settled_descriptors(&forward).await)];
        let memory = programs.map(|program| resident(program.pid()));
        for _ in 20..10_000 / AT_ONCE {
            round().await;
        }
        for (program, before) in programs.iter().zip(memory) {
            let now = resident(program.pid());
            assert!(now < before + 4 * MIB, "{before} bytes after a thousand, {now} after ten thousand");
        }
        same_descriptors(count).await;
    })
    .await;
}

/// A session of its own for each of a thousand clients, and a destination for each.
#[tokio::test]
async fn a_thousand_sessions_at_once() {
    const SESSIONS: usize = 1000;
    let limit = raise_descriptor_limit().expect("the limit may be as high as it may be");
    if limit < 3 * SESSIONS as u64 {
        return skipped(&format!(
            "{SESSIONS} sessions need three times as many descriptors, and {limit} is the limit here"
        ));
    }
    alone(async {
        let (echo, gateway) = (Destination::echo().await, Gateway::local().await);
        let destination = format!("tcp://{}", echo.address());
        let before = (settled_descriptors(&gateway).await, resident(gateway.pid()));
        let mut sessions = Vec::new();
        for _ in 0..SESSIONS {
            let mut session = RawSession::connect(gateway.authority()).await;
            session.send([open_with(1, WINDOW, MAX_PACKET, destination.as_bytes())]).await;
            sessions.push(session);
        }
        let mut channels = Vec::new();
        for session in &mut sessions {
            let answer = session.next().await;
            let Some(Frame::OpenSuccess { sender, .. }) = answer else { unreachable!("a destination: {answer:?}") };
            channels.push(sender.0);
        }
        let held = resident(gateway.pid()) - before.1;
        assert!(held < SESSIONS * 64 * 1024, "{held} bytes for {SESSIONS} sessions");
        for ((session, &ours), byte) in sessions.iter_mut().zip(&channels).zip((0..=u8::MAX).cycle()) {
            session.send([data(ours, &[byte])]).await;
            assert_eq!(session.next().await, Some(data(1, &[byte])));
            session.send([adjust(ours, 1), close(ours)]).await;
        }
        drop(sessions);
        same_descriptors([(&*gateway, before.0)]).await;
    })
    .await;
}
