//! Where connections go.

use std::future::pending;
use std::io;
use std::net::SocketAddr;

use anyhow::{Context, Result};
use clap::ValueEnum;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

/// Bytes of one read or write of bulk data, as much as a well-built program moves at once.
pub const PIECE: usize = 256 * 1024;

/// What a destination does with each connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Destination {
    /// Returns what it receives.
    Echo,
    /// Reads and forgets.
    Sink,
    /// Sends as much as is taken.
    Source,
    /// Accepts and never reads.
    Noread,
    /// Resets the connection as soon as it is there.
    Reset,
}

impl Destination {
    /// Answers the connections of `listener` until accepting fails.
    pub async fn serve(self, listener: TcpListener) -> io::Error {
        loop {
            match listener.accept().await {
                // How a connection ends is seen by the load at its other end.
                Ok((stream, _)) => drop(tokio::spawn(self.answer(stream))),
                Err(error) => return error,
            }
        }
    }

    async fn answer(self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        match self {
            Self::Echo => {
                let (mut reader, mut writer) = stream.split();
                copy(&mut reader, &mut writer).await?;
                writer.shutdown().await
            }
            Self::Sink => {
                let mut piece = vec![0; PIECE];
                while stream.read(&mut piece).await? > 0 {}
                Ok(())
            }
            Self::Source => {
                let piece = vec![0; PIECE];
                loop {
                    stream.write_all(&piece).await?;
                }
            }
            Self::Noread => pending().await,
            Self::Reset => stream.set_zero_linger(),
        }
    }
}

/// Listens at `address`.
pub async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))
}
