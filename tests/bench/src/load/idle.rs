//! Connections that do nothing.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{connect, round_trip};

/// Opened at the same time: as many as fit into the shortest queue of connections that forwarders listen with.
const BATCH: usize = 100;

/// Open connections to an echo, each of them proven to work.
#[derive(Debug)]
pub struct IdleChannels(Vec<TcpStream>);

impl IdleChannels {
    /// Opens `count` connections.
    pub async fn open(through: SocketAddr, count: usize) -> Result<Self> {
        let mut streams = Vec::with_capacity(count);
        while streams.len() < count {
            let mut batch = JoinSet::new();
            for _ in streams.len()..count.min(streams.len() + BATCH) {
                batch.spawn(open(through));
            }
            while let Some(opened) = batch.join_next().await {
                streams.push(opened?.with_context(|| format!("{} are open", streams.len()))?);
            }
        }
        Ok(Self(streams))
    }

    /// One more round trip on the connections that were opened first and last.
    pub async fn still_work(&mut self) -> Result<()> {
        let last = self.0.len().saturating_sub(1);
        for index in [0, last] {
            if let Some(stream) = self.0.get_mut(index) {
                round_trip(stream).await.context("a channel that was idle is broken")?;
            }
        }
        Ok(())
    }
}

async fn open(through: SocketAddr) -> Result<TcpStream> {
    let mut stream = connect(through).await?;
    round_trip(&mut stream).await?;
    Ok(stream)
}
