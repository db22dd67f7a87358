//! Connections whose destination resets them.

use std::io;
use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::within;

/// How connections ended whose destination reset them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resets {
    /// With a reset: the program learns that the connection failed.
    pub passed_on: u64,
    /// As if the destination had said all it had to say.
    pub disguised: u64,
}

impl Resets {
    /// One more connection, from the connect to its end.
    pub async fn add(&mut self, through: SocketAddr) -> Result<()> {
        let connect_and_read = async { TcpStream::connect(through).await?.read(&mut [0]).await };
        match within(connect_and_read).await {
            Ok(0) => self.disguised += 1,
            Ok(_) => bail!("a destination that resets sent data"),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => self.passed_on += 1,
            Err(error) => return Err(error).context("a reset did not arrive"),
        }
        Ok(())
    }
}
