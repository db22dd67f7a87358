//! Bulk data, counted where it arrives.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{PATIENCE, connect, open_many};
use crate::background::Background;
use crate::destination::{PIECE, listen};
use crate::process::Processes;
use crate::statistics::{float, jain};

/// Until windows and socket buffers have grown.
const WARM_UP: Duration = Duration::from_millis(500);

/// Bytes that an exchange has on the way. Full speed on thousands of connections would fill all of their buffers: more than the
/// system grants to TCP as a whole, whereupon sessions stand still as well.
const EXCHANGED: usize = 16 * 1024;

/// A way through a forwarder to a destination of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Where the forwarder listens.
    pub through: SocketAddr,
    /// Where the forwarder connects to; we listen there.
    pub at: SocketAddr,
}

/// Transfers under way, all at full speed. Sending and receiving each have a thread.
#[derive(Debug)]
pub struct Bulk {
    /// Unless an echo returns what arrives.
    senders: Option<Background>,
    sink: Background,
    received: Received,
}

/// What arrived.
#[derive(Debug, Clone)]
struct Received {
    /// Bytes, per connection.
    bytes: Arc<[AtomicU64]>,
    /// A permit for each connection of which something did.
    connections: Arc<Semaphore>,
}

impl Bulk {
    /// Starts `connections` transfers; they are warm when this returns.
    pub async fn start(route: Route, connections: usize) -> Result<Self> {
        let listener = listen(route.at).await?.into_std()?;
        let received = Received::new(connections);
        let counted = received.clone();
        let sink = Background::start(move || receive_all(listener, counted))?;
        let senders = Background::start(move || send_all(route.through, connections))?;
        Self { senders: Some(senders), sink, received }.warm().await
    }

    /// Starts `connections` exchanges with an echo, of which both directions count; they are warm when this returns.
    pub async fn exchange(echo: SocketAddr, connections: usize) -> Result<Self> {
        let received = Received::new(connections);
        let counted = received.clone();
        let sink = Background::start(move || exchange_all(echo, counted))?;
        Self { senders: None, sink, received }.warm().await
    }

    async fn warm(mut self) -> Result<Self> {
        let arrived = self.received.connections.clone();
        let all = u32::try_from(self.received.bytes.len()).context("too many connections")?;
        let all_arrived = self.during(timeout(PATIENCE, arrived.acquire_many(all))).await?;
        all_arrived.context("not every connection delivered data in time")??.forget();
        self.during(sleep(WARM_UP)).await?;
        Ok(self)
    }

    /// Waits for `future` while the transfers go on.
    pub async fn during<T>(&mut self, future: impl Future<Output = T>) -> Result<T> {
        let arriving = self.sink.during(future);
        match &mut self.senders {
            Some(senders) => senders.during(arriving).await?,
            None => arriving.await,
        }
    }

    /// Measures what arrives within `length`, and what `forwarders` need for it.
    pub async fn measure(&mut self, length: Duration, forwarders: &Processes) -> Result<Window> {
        let (started, before, cpu) = (Instant::now(), self.received.all(), forwarders.cpu()?);
        self.during(sleep(length)).await?;
        let (elapsed, after) = (started.elapsed(), self.received.all());
        let bytes = after.iter().zip(before).map(|(after, before)| after - before).collect();
        Ok(Window { bytes, elapsed, cpu: forwarders.cpu()?.saturating_sub(cpu) })
    }
}

impl Received {
    fn new(connections: usize) -> Self {
        let bytes = (0..connections).map(|_| AtomicU64::new(0)).collect();
        Self { bytes, connections: Arc::new(Semaphore::new(0)) }
    }

    fn add(&self, index: usize, len: usize) {
        if self.bytes[index].fetch_add(len as u64, Ordering::Relaxed) == 0 {
            self.connections.add_permits(1);
        }
    }

    fn all(&self) -> Vec<u64> {
        self.bytes.iter().map(|bytes| bytes.load(Ordering::Relaxed)).collect()
    }
}

/// What was measured of some transfers.
#[derive(Debug, Clone)]
pub struct Window {
    /// Received, per connection.
    pub bytes: Vec<u64>,
    /// How long it took.
    pub elapsed: Duration,
    /// Processor time of the forwarders.
    pub cpu: Duration,
}

impl Window {
    /// All connections together, in Gbit/s.
    #[must_use]
    pub fn gigabits_per_second(&self) -> f64 {
        self.gigabytes() * 8.0 / self.elapsed.as_secs_f64()
    }

    /// Fairness among the connections.
    #[must_use]
    pub fn jain(&self) -> f64 {
        jain(&self.bytes)
    }

    /// Processor seconds of the forwarders per 10^9 bytes.
    #[must_use]
    pub fn cpu_seconds_per_gigabyte(&self) -> f64 {
        self.cpu.as_secs_f64() / self.gigabytes()
    }

    fn gigabytes(&self) -> f64 {
        float(self.bytes.iter().sum()) / 1e9
    }
}

async fn receive_all(listener: std::net::TcpListener, received: Received) -> anyhow::Error {
    let accept_all = async {
        let listener = TcpListener::from_std(listener)?;
        let mut transfers = JoinSet::new();
        for index in 0..received.bytes.len() {
            let (stream, _) = listener.accept().await?;
            transfers.spawn(receive(stream, received.clone(), index));
        }
        anyhow::Ok(transfers)
    };
    match accept_all.await {
        Ok(transfers) => first_end(transfers).await.context("the destination's end of a transfer"),
        Err(error) => error,
    }
}

async fn exchange_all(echo: SocketAddr, received: Received) -> anyhow::Error {
    match open_many(echo, received.bytes.len()).await {
        Ok(streams) => {
            let each = |(index, stream)| exchange(stream, received.clone(), index);
            first_end(streams.into_iter().enumerate().map(each).collect()).await.context("an exchange")
        }
        Err(error) => error,
    }
}

async fn exchange(mut stream: TcpStream, received: Received, index: usize) -> anyhow::Error {
    let mut piece = vec![0; EXCHANGED];
    loop {
        let there_and_back = async {
            stream.write_all(&piece).await?;
            stream.read_exact(&mut piece).await
        };
        match there_and_back.await {
            Ok(len) => received.add(index, 2 * len),
            Err(error) => return error.into(),
        }
    }
}

async fn receive(mut stream: TcpStream, received: Received, index: usize) -> anyhow::Error {
    let mut piece = vec![0; PIECE];
    loop {
        match stream.read(&mut piece).await {
            Ok(0) => return anyhow!("it ended"),
            Ok(len) => received.add(index, len),
            Err(error) => return error.into(),
        }
    }
}

async fn send_all(through: SocketAddr, connections: usize) -> anyhow::Error {
    let mut transfers = JoinSet::new();
    for _ in 0..connections {
        match connect(through).await {
            Ok(stream) => transfers.spawn(send(stream)),
            Err(error) => return error,
        };
    }
    first_end(transfers).await.context("the sender's end of a transfer")
}

async fn send(mut stream: TcpStream) -> anyhow::Error {
    let piece = vec![0; PIECE];
    loop {
        if let Err(error) = stream.write_all(&piece).await {
            return error.into();
        }
    }
}

/// Transfers are to go on: the first end is a failure.
async fn first_end(mut transfers: JoinSet<anyhow::Error>) -> anyhow::Error {
    match transfers.join_next().await {
        Some(Ok(error)) => error,
        Some(Err(error)) => error.into(),
        None => anyhow!("there is none"),
    }
}
