//! Loads. Each connects where a forwarder listens and measures what comes of it.

mod bulk;
mod idle;
mod opens;
mod resets;
mod round_trips;
mod stall;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use bulk::{Bulk, Route, Window};
pub use idle::IdleChannels;
pub use opens::opens;
pub use resets::Resets;
pub use round_trips::round_trips;
pub use stall::Stalled;

/// How long a single step may take before the measurement is given up. The slowest forwarder measured so far needs a
/// quarter of a second for a round trip beside bulk data.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opened at the same time: as many as fit into the shortest queue of connections that forwarders listen with.
const BATCH: usize = 100;

/// `count` connections to an echo, each of them proven to work; in batches, because a gateway opens only so many at a time.
async fn open_many(through: SocketAddr, count: usize) -> Result<Vec<TcpStream>> {
    let mut streams = Vec::with_capacity(count);
    while streams.len() < count {
        let mut batch: JoinSet<_> = (streams.len()..count.min(streams.len() + BATCH)).map(|_| open(through)).collect();
        while let Some(opened) = batch.join_next().await {
            streams.push(opened?.with_context(|| format!("{} are open", streams.len()))?);
        }
    }
    Ok(streams)
}

async fn open(through: SocketAddr) -> Result<TcpStream> {
    let mut stream = connect(through).await?;
    round_trip(&mut stream).await?;
    Ok(stream)
}

async fn connect(address: SocketAddr) -> Result<TcpStream> {
    let connected = within(TcpStream::connect(address)).await;
    let stream = connected.with_context(|| format!("cannot connect to {address}"))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends one byte and waits for it to come back.
async fn round_trip(stream: &mut TcpStream) -> Result<()> {
    let there_and_back = async {
        stream.write_all(b"x").await?;
        stream.read_exact(&mut [0]).await
    };
    within(there_and_back).await.context("a byte did not come back")?;
    Ok(())
}

async fn within<T>(step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(PATIENCE, step).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
