//! Short connections, one after another.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::{connect, round_trip};

/// For `length`, connects to an echo, sends one byte, gets it back and closes; returns how long each took.
pub async fn opens(through: SocketAddr, length: Duration) -> Result<Vec<Duration>> {
    let end = Instant::now() + length;
    let mut samples = Vec::new();
    let mut started = Instant::now();
    while started < end {
        let mut stream = connect(through).await?;
        round_trip(&mut stream).await.with_context(|| format!("connection number {}", samples.len() + 1))?;
        drop(stream);
        let now = Instant::now();
        samples.push(now - started);
        started = now;
    }
    Ok(samples)
}
