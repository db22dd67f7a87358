//! One byte there and back, again and again.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::{connect, round_trip};

/// For `length`, sends single bytes to an echo over one connection, each when the last has come back; returns how
/// long each took.
pub async fn round_trips(through: SocketAddr, length: Duration) -> Result<Vec<Duration>> {
    let mut stream = connect(through).await?;
    // The first opens the channel.
    round_trip(&mut stream).await?;
    let end = Instant::now() + length;
    let mut samples = Vec::new();
    let mut started = Instant::now();
    while started < end {
        round_trip(&mut stream).await?;
        let now = Instant::now();
        samples.push(now - started);
        started = now;
    }
    Ok(samples)
}
