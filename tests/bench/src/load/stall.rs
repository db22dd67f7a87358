//! A connection whose destination does not read.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::connect;
use crate::destination::PIECE;

/// Without progress for so long, the connection is stuck.
const STUCK: Duration = Duration::from_secs(1);
/// Nobody may take more of what is never read. Direct connections take up to ten megabytes.
const LIMIT: u64 = 1 << 30;

/// A stuck connection.
#[derive(Debug)]
pub struct Stalled {
    /// Bytes that were taken before it got stuck, by the forwarders and by the sockets on the way.
    pub taken: u64,
    _stream: TcpStream,
}

impl Stalled {
    /// Sends until nothing more is taken.
    pub async fn start(through: SocketAddr) -> Result<Self> {
        let mut stream = connect(through).await?;
        let piece = vec![0; PIECE];
        let mut taken = 0;
        while let Ok(written) = timeout(STUCK, stream.write(&piece)).await {
            taken += written? as u64;
            if taken > LIMIT {
                bail!("{taken} bytes were taken, and none of them read");
            }
        }
        Ok(Self { taken, _stream: stream })
    }
}
