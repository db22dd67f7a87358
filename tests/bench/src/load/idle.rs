//! Connections that do nothing.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use tokio::net::TcpStream;

use super::{open_many, round_trip};

/// Open connections to an echo, each of them proven to work.
#[derive(Debug)]
pub struct IdleChannels(Vec<TcpStream>);

impl IdleChannels {
    /// Opens `count` connections.
    pub async fn open(through: SocketAddr, count: usize) -> Result<Self> {
        open_many(through, count).await.map(Self)
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
