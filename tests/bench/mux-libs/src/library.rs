//! What every multiplexer is asked to do.

use std::io::Result;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};

/// The connection below.
pub trait Io: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Io for T {}

/// The sending direction of a stream.
pub trait Sender: 'static {
    /// Completes once the library has taken the bytes.
    async fn send(&mut self, bytes: Bytes) -> Result<()>;

    /// Ends the direction in good order.
    async fn finish(&mut self) -> Result<()>;
}

/// The receiving direction of a stream.
pub trait Receiver: 'static {
    /// Takes what has arrived and says how many bytes that were; `None` is the end.
    async fn receive(&mut self) -> Result<Option<usize>>;
}

/// A multiplexer, set up as well as its options allow. Both functions leave a task behind that drives the session.
pub trait Library: 'static {
    type Sender: Sender;
    type Receiver: Receiver;

    /// Opens streams. Some libraries tell the peer only with the first byte.
    async fn open(io: impl Io, streams: usize) -> Result<Vec<(Self::Sender, Self::Receiver)>>;

    /// Accepts as many, in the order in which the peer learnt of them.
    async fn accept(io: impl Io, streams: usize) -> Result<Vec<(Self::Sender, Self::Receiver)>>;
}
