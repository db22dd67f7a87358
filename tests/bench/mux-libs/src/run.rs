//! One run: two sides, on a thread each over loopback, or both on one thread over memory.

use std::cell::Cell;
use std::io::{Error, Result};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cpu_time::ProcessTime;
use futures::future::{try_join, try_join_all};
use muxgate_transport_native::tune;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::timeout;

use crate::count::{self, Counted};
use crate::library::{Library, Receiver, Sender};

/// No run of any library takes nearly as long, unless it is stuck.
const LIMIT: Duration = Duration::from_secs(20);

/// What one run took. Bulk figures are those of both sides together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    pub gbit_per_second: f64,
    pub cpu_per_gigabyte: f64,
    pub allocations_per_megabyte: f64,
    pub calls_per_megabyte: f64,
    pub round_trip: Duration,
}

/// What is moved.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub streams: usize,
    pub write: usize,
    pub bytes: usize,
}

/// Moves `load.bytes` over loopback.
pub fn over_loopback<L: Library>(load: Load) -> Result<Sample> {
    two_threads(
        async move |io, done| {
            let mut streams = L::open(io, load.streams).await?;
            announce(&mut streams).await?;
            let _senders = send_bulk(streams, load).await?;
            let _ = done.await;
            Ok(())
        },
        async move |io| measured(load, receive_bulk(L::accept(io, load.streams).await?, load)).await,
    )
}

/// Moves `load.bytes` between two tasks of one thread.
pub fn in_memory<L: Library>(load: Load) -> Result<Sample> {
    let (near, far) = tokio::io::duplex(256 * 1024);
    block_on(async {
        let (near, far) = (Counted(near), Counted(far));
        let (senders, receivers) = (L::open(near, load.streams), L::accept(far, load.streams));
        let announced = async {
            let mut senders = senders.await?;
            announce(&mut senders).await?;
            Ok::<_, Error>(senders)
        };
        let (senders, receivers) = try_join(announced, receivers).await?;
        measured(load, async { try_join(send_bulk(senders, load), receive_bulk(receivers, load)).await.map(drop) })
            .await
    })
}

/// Round trips of one byte beside bulk streams that never end.
pub fn round_trips<L: Library>(load: Load, count: usize) -> Result<Sample> {
    two_threads(
        async move |io, done| {
            let mut streams = L::open(io, load.streams + 1).await?;
            announce(&mut streams).await?;
            for (mut sender, receiver) in streams.drain(1..) {
                spawn_local(read_on(receiver));
                let piece = Bytes::from(vec![1; load.write]);
                spawn_local(async move { while sender.send(piece.clone()).await.is_ok() {} });
            }
            let (mut sender, mut receiver) = streams.remove(0);
            while receiver.receive().await?.is_some() {
                sender.send(Bytes::from_static(b"x")).await?;
            }
            sender.finish().await?;
            let _ = done.await;
            Ok(())
        },
        async move |io| {
            let mut streams = L::accept(io, load.streams + 1).await?;
            let received = Rc::new(Cell::new(0));
            for (_sender, mut receiver) in streams.drain(1..) {
                let received = received.clone();
                spawn_local(async move {
                    while let Ok(Some(len)) = receiver.receive().await {
                        received.set(received.get() + len);
                    }
                });
            }
            let (mut sender, mut receiver) = streams.remove(0);
            receiver.receive().await?;
            while received.get() < load.bytes {
                tokio::task::yield_now().await;
            }
            let mut trips = Vec::new();
            for _ in 0..count {
                let start = Instant::now();
                sender.send(Bytes::from_static(b"x")).await?;
                receiver.receive().await?.ok_or(Error::other("the echo ended"))?;
                trips.push(start.elapsed());
            }
            trips.sort();
            Ok(Sample { round_trip: trips[count / 2], ..Sample::default() })
        },
    )
}

/// Bulk data must not begin before the peer knows all streams: it accepts them before it reads.
async fn announce<S: Sender, R>(streams: &mut [(S, R)]) -> Result<()> {
    for (sender, _) in streams {
        sender.send(Bytes::from_static(b"x")).await?;
    }
    Ok(())
}

/// Sends, and reads meanwhile as applications do: tokio-yamux learns of new credit only when it is read from.
///
/// The senders are returned to be kept: a stream that is dropped before its peer has read everything is reset by some.
async fn send_bulk<S: Sender, R: Receiver>(streams: Vec<(S, R)>, load: Load) -> Result<Vec<S>> {
    let piece = Bytes::from(vec![1; load.write]);
    let tasks = streams.into_iter().map(|(mut sender, receiver)| {
        let piece = piece.clone();
        spawn_local(read_on(receiver));
        spawn_local(async move {
            for _ in 0..load.bytes / load.streams / load.write {
                sender.send(piece.clone()).await?;
            }
            sender.finish().await.map(|()| sender)
        })
    });
    try_join_all(tasks).await?.into_iter().collect()
}

async fn read_on(mut receiver: impl Receiver) {
    while let Ok(Some(_)) = receiver.receive().await {}
}

async fn receive_bulk<S: Sender, R: Receiver>(streams: Vec<(S, R)>, load: Load) -> Result<()> {
    let tasks = streams.into_iter().map(|(sender, mut receiver)| {
        spawn_local(async move {
            let mut total = 0;
            while let Some(len) = receiver.receive().await? {
                total += len;
            }
            drop(sender);
            Ok::<_, Error>(total)
        })
    });
    let totals = try_join_all(tasks).await?.into_iter().collect::<Result<Vec<_>>>()?;
    let expected = 1 + load.bytes / load.streams / load.write * load.write;
    assert!(totals.iter().all(|total| *total == expected), "all bytes arrive: {totals:?}, {expected}");
    Ok(())
}

async fn measured(load: Load, work: impl Future<Output = Result<()>>) -> Result<Sample> {
    let (start, cpu) = (Instant::now(), ProcessTime::now());
    let (allocations, calls) = (count::allocations(), count::calls());
    work.await?;
    let bytes = load.bytes as f64;
    Ok(Sample {
        gbit_per_second: bytes * 8.0 / 1e9 / start.elapsed().as_secs_f64(),
        cpu_per_gigabyte: cpu.elapsed().as_secs_f64() / bytes * 1e9,
        allocations_per_megabyte: (count::allocations() - allocations) as f64 / bytes * 1e6,
        calls_per_megabyte: (count::calls() - calls) as f64 / bytes * 1e6,
        round_trip: Duration::ZERO,
    })
}

/// The sending side on a thread of its own, which lives until the receiving side is done.
fn two_threads<S, R>(send: S, receive: R) -> Result<Sample>
where
    S: AsyncFnOnce(Counted<TcpStream>, oneshot::Receiver<()>) -> Result<()> + Send + 'static,
    R: AsyncFnOnce(Counted<TcpStream>) -> Result<Sample>,
{
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let (done, until_done) = oneshot::channel();
    let sender = thread::spawn(move || {
        block_on(async {
            let io = TcpStream::connect(address).await?;
            tune(&io)?;
            send(Counted(io), until_done).await
        })
    });
    let sample = block_on(async {
        let (io, _) = TcpListener::from_std(listener)?.accept().await?;
        tune(&io)?;
        // A library that stops for good is a finding, and no reason to wait.
        timeout(LIMIT, receive(Counted(io))).await?
    })?;
    drop(done);
    // The session is gone under it by now, which may be an error to it.
    let _ = sender.join().expect("the sender does not panic");
    Ok(sample)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    LocalSet::new().block_on(&runtime, work)
}
