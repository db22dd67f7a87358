//! Hours of everything at once: `cargo xtask soak --minutes N`.
//!
//! A gateway that lives all the time, and clients that come, transfer, reset, are stopped for a minute, and are killed.
//! Every byte is checked; memory and descriptors are printed on the way, and compared with those after a first while.
#![cfg(target_os = "linux")]

use std::env;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use muxgate_tests::process::{
    Destination, Digest, Forward, Gateway, Pattern, descriptors, digest_of, processor_time, resident,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, sink};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

const MIB: usize = 1024 * 1024;

/// Bytes of one download: more than all buffers on the way hold.
const LENGTH: usize = 30_000_000;

/// How long a client is stopped.
const STOPPED: Duration = Duration::from_secs(60);

/// Longest time of anything that should end by itself.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a gateway may hold more after hours than after the first round: less than one session's budget.
const GROWTH: usize = 32 * MIB;

struct World {
    gateway: Gateway,
    pattern: Destination,
    echo: Destination,
    source: Destination,
    end: Instant,
}

impl World {
    async fn new(minutes: u64) -> Self {
        let args = ["--listen", "tcp://127.0.0.1:0", "--listen", "ws://127.0.0.1:0", "--allow", "127.0.0.1"];
        Self {
            gateway: Gateway::start(&[&args[..], &["--log", "warn"]].concat()).await,
            pattern: Destination::pattern(LENGTH).await,
            echo: Destination::echo().await,
            source: Destination::source().await,
            end: Instant::now() + Duration::from_secs(60 * minutes),
        }
    }

    fn goes_on(&self) -> bool {
        Instant::now() < self.end
    }

    /// A client of its own, over TCP or WebSocket.
    async fn client(&self, round: usize) -> Forward {
        let destinations = [&self.pattern, &self.echo, &self.source].map(|it| it.address().to_string());
        let url = &self.gateway.urls[round % self.gateway.urls.len()];
        Forward::with(url, &["--log", "warn"], &destinations).await
    }

    /// One client after the other transfers and ends in good order.
    async fn transfers(&self) {
        for round in 0.. {
            let client = self.client(round).await;
            for _ in 0..3 {
                download(client.addresses[0]).await;
                echo(client.addresses[1], 5_000_000).await;
            }
            if !self.goes_on() {
                break;
            }
        }
    }

    /// Connections that last a moment, of one client that stays.
    async fn moments(&self) {
        let client = self.client(0).await;
        while self.goes_on() {
            echo(client.addresses[1], 100).await;
            reset(client.addresses[2]).await;
        }
    }

    /// Clients that are killed in the middle.
    async fn kills(&self) {
        for round in 0.. {
            let mut client = self.client(round).await;
            let mut streams = Vec::new();
            for address in client.addresses.clone() {
                streams.push(connect(address).await);
            }
            streams[2].read_exact(&mut vec![0; MIB]).await.expect("the source sends");
            client.kill().await;
            for mut stream in streams {
                // By an end or a reset: it is over.
                let _ = stream.write_all(&[0; 1000]).await;
                let _ = patient(tokio::io::copy(&mut stream, &mut sink())).await;
            }
            if !self.goes_on() {
                break;
            }
        }
    }

    /// Clients that are stopped in the middle, and go on where they were.
    async fn stops(&self) {
        for round in 0.. {
            let client = self.client(round).await;
            let stream = connect(client.addresses[0]).await;
            stream.peek(&mut [0]).await.expect("the destination sends");
            client.stop();
            sleep(STOPPED.min(self.end.saturating_duration_since(Instant::now()))).await;
            client.resume();
            is_whole(patient(digest_of(stream)).await);
            if !self.goes_on() {
                break;
            }
        }
    }

    /// Prints what the gateway holds, every ten seconds.
    async fn report(&self) {
        let began = Instant::now();
        while self.goes_on() {
            sleep(Duration::from_secs(10)).await;
            let (pid, seconds) = (self.gateway.pid(), began.elapsed().as_secs());
            let (memory, count, time) = (resident(pid) / MIB, descriptors(pid), processor_time(pid).as_secs());
            // Not through a macro, which the test harness would silence.
            writeln!(
                io::stderr(),
                "{seconds:6} s: {memory:4} MiB, {count:4} descriptors, {time:5} s of processor time"
            )
            .expect("there is an output");
        }
    }

    /// Everything at once, until the end.
    async fn live(&self) {
        tokio::join!(self.transfers(), self.moments(), self.kills(), self.stops(), self.report());
    }

    /// Waits until the gateway holds as many descriptors as at its beginning.
    async fn settles(&self, count: usize) {
        let settled = async {
            while descriptors(self.gateway.pid()) != count {
                sleep(Duration::from_millis(100)).await;
            }
            Ok(())
        };
        patient(settled).await.expect("it cannot fail");
    }
}

async fn patient<T>(steps: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(PATIENCE, steps).await.expect("this should have ended")
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("the forward listens")
}

fn is_whole(received: io::Result<Digest>) {
    assert_eq!(received.expect("nothing was cut off"), Pattern::new(LENGTH).digest());
}

async fn download(through: SocketAddr) {
    is_whole(patient(digest_of(connect(through).await)).await);
}

async fn echo(through: SocketAddr, length: usize) {
    let (reader, mut writer) = connect(through).await.into_split();
    let sending = async {
        for piece in Pattern::new(length) {
            writer.write_all(&piece).await?;
        }
        writer.shutdown().await
    };
    let (sent, received) = tokio::join!(patient(sending), patient(digest_of(reader)));
    sent.expect("the echo reads");
    assert_eq!(received.expect("the echo answers"), Pattern::new(length).digest());
}

/// Cut off in the middle of a flood.
async fn reset(through: SocketAddr) {
    let mut stream = connect(through).await;
    stream.read_exact(&mut [0; 1000]).await.expect("the source sends");
    stream.set_zero_linger().expect("the socket is open");
}

#[tokio::test]
#[ignore = "takes as long as one likes: cargo xtask soak"]
async fn soak() {
    let minutes = env::var("MUXGATE_SOAK_MINUTES").ok().and_then(|minutes| minutes.parse().ok()).unwrap_or(1);
    let mut world = World::new(minutes).await;
    // Its threads have opened what they need when the first connection works.
    download(world.client(0).await.addresses[0]).await;
    sleep(Duration::from_secs(1)).await;
    let count = descriptors(world.gateway.pid());
    // The first tenth, twenty seconds at least, is for memory to reach what it needs.
    let (all, warm) = (world.end, Duration::from_secs(60 * minutes / 10).max(Duration::from_secs(20)));
    world.end = Instant::now() + warm;
    world.live().await;
    world.settles(count).await;
    let before = resident(world.gateway.pid());
    world.end = all;
    world.live().await;
    world.settles(count).await;
    let after = resident(world.gateway.pid());
    assert!(after < before + GROWTH, "{before} bytes after {warm:?}, {after} at the end");
}
