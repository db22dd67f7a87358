//! Carries the bytes of one channel from and to a local socket.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use muxgate_core::{ChannelReader, ChannelStream, ChannelWriter, ConnectionError, Destination, ReadError, WriteError};
use muxgate_transport_native::ReadBuffer;
use tokio::io::{AsyncRead, AsyncWrite, Interest};
use tokio::net::{TcpStream, UnixStream};

use crate::escape::Printable;

/// Most pieces in one write. The system takes 1024; more than a few dozen pieces of usual size fill its buffer anyway.
const MAX_SLICES: usize = 64;

/// A local end of a relay.
pub trait Local: AsyncRead + AsyncWrite + Unpin {
    /// Makes the coming close look like a failure to the program on the other side, where the kind of socket can.
    fn abort(&self);

    /// Completes once the program on the other side is known to be gone. One that merely ended its direction may
    /// still wait for an answer, and counts as present. Cancel safe.
    fn gone(&self) -> impl Future<Output = ()>;
}

impl Local for TcpStream {
    fn abort(&self) {
        // Only fails on a socket that is dead already.
        let _ = self.set_zero_linger();
    }

    async fn gone(&self) {
        // Whatever it completes with: the socket is no use any more.
        let _ = self.ready(Interest::ERROR).await;
    }
}

impl Local for UnixStream {
    fn abort(&self) {}

    async fn gone(&self) {
        let _ = self.ready(Interest::ERROR).await;
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Local for tokio::io::Join<R, W> {
    fn abort(&self) {}

    async fn gone(&self) {
        std::future::pending::<()>().await;
    }
}

/// Why a relay ended before both sides were done.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The local socket failed; the channel was reset.
    #[error("its socket failed: {0}")]
    Local(#[from] io::Error),
    /// The other end's socket failed; the local one was reset.
    #[error("the connection was reset at the other end")]
    Reset,
    /// The peer broke a rule on this channel.
    #[error("the peer broke the protocol on this channel: {0}")]
    Protocol(&'static str),
    /// The session is over.
    #[error(transparent)]
    Session(ConnectionError),
}

impl From<ReadError> for RelayError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Protocol(what) => Self::Protocol(what),
            ReadError::Connection(error) => Self::Session(error),
        }
    }
}

/// Relays to the end, and logs how it ended.
pub async fn relay<S: Local>(local: S, channel: ChannelStream, destination: &Destination) {
    match Relay::new(local, channel).await {
        Ok(()) => tracing::debug!("{destination}: closed"),
        Err(error) => tracing::debug!("{destination}: {}", Printable(&error.to_string())),
    }
}

/// A future that relays until both directions have ended. Dropping it before resets both sides.
///
/// Each direction ends by itself: the end of one side's stream is passed on, and the other direction lives. A failure
/// of one side becomes a reset of the other. Reading follows the channel's room, and credit is granted for what the
/// local socket has taken, so a slow reader on either side slows the writer on the other. An idle relay holds no
/// buffer.
#[derive(Debug)]
pub struct Relay<S: Local> {
    local: S,
    buffer: ReadBuffer,
    writer: ChannelWriter,
    reader: ChannelReader,
    up: Up,
    down: Down,
    /// Both directions ended in good order.
    finished: bool,
}

/// From the local socket to the channel.
#[derive(Debug)]
enum Up {
    Open,
    /// The local stream ended, and so did ours.
    Finished,
    /// Nobody reads the channel any more.
    Stopped(WriteError),
}

/// From the channel to the local socket.
#[derive(Debug)]
enum Down {
    Open,
    /// The channel ended; the socket is being told.
    Ending,
    Ended,
}

impl<S: Local> Relay<S> {
    /// A relay between `local` and `channel`.
    pub fn new(local: S, channel: ChannelStream) -> Self {
        let (reader, writer) = channel.into_split();
        Self { local, buffer: ReadBuffer::new(), writer, reader, up: Up::Open, down: Down::Open, finished: false }
    }

    fn poll_both(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), RelayError>> {
        let up = self.poll_up(cx)?;
        let down = self.poll_down(cx)?;
        ready!(up);
        ready!(down);
        match &self.up {
            Up::Stopped(WriteError::Connection(error)) => Poll::Ready(Err(RelayError::Session(error.clone()))),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Moves one piece at a time, then the other relays and the session get their turn: what they have may be a
    /// keystroke.
    fn poll_up(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Up::Open = self.up {
            self.up = match ready!(self.poll_read_local(cx))? {
                Ok(true) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Ok(false) => Up::Finished,
                Err(error) => Up::Stopped(error),
            };
        }
        Poll::Ready(Ok(()))
    }

    /// Moves one piece. `false` is the end of the local stream.
    fn poll_read_local(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Result<bool, WriteError>>> {
        let room = match ready!(self.writer.poll_room(cx)) {
            Ok(room) => room,
            Err(error) => return Poll::Ready(Ok(Err(error))),
        };
        match self.buffer.poll_read(cx, Pin::new(&mut self.local), room) {
            Poll::Ready(Ok(piece)) if piece.is_empty() => {
                self.writer.finish();
                Poll::Ready(Ok(Ok(false)))
            }
            Poll::Ready(Ok(piece)) => Poll::Ready(Ok(self.writer.push(piece).map(|()| true))),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            // A local program that sends nothing must not keep a channel that nobody reads.
            Poll::Pending => self.writer.poll_stopped(cx).map(|()| Ok(Ok(true))),
        }
    }

    fn poll_down(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), RelayError>> {
        loop {
            match self.down {
                Down::Open if ready!(self.reader.poll_fill(cx))? => {
                    let written = ready!(self.poll_write_local(cx))?;
                    self.reader.consume(written);
                }
                Down::Open if self.reader.was_reset() => return Poll::Ready(Err(RelayError::Reset)),
                Down::Open => self.down = Down::Ending,
                Down::Ending => {
                    ready!(Pin::new(&mut self.local).poll_flush(cx))?;
                    // A socket that the other side reset cannot be shut down, nor needs to be.
                    let _ = ready!(Pin::new(&mut self.local).poll_shutdown(cx));
                    self.down = Down::Ended;
                }
                Down::Ended => return Poll::Ready(Ok(())),
            }
        }
    }

    fn poll_write_local(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let count = self.reader.slices(&mut slices);
        match ready!(Pin::new(&mut self.local).poll_write_vectored(cx, &slices[..count]))? {
            0 => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            written => Poll::Ready(Ok(written)),
        }
    }
}

impl<S: Local> Future for Relay<S> {
    type Output = Result<(), RelayError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(self.poll_both(cx));
        self.finished = result.is_ok();
        Poll::Ready(result)
    }
}

impl<S: Local> Drop for Relay<S> {
    /// What was cut off must not look as if it were complete, on either side.
    fn drop(&mut self) {
        if !self.finished {
            self.writer.reset();
            self.local.abort();
        }
    }
}

#[cfg(test)]
mod tests;
