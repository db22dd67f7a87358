//! What a session needs from its surroundings: a byte stream and a clock.
//!
//! JMUX runs on a byte stream. A transport hands over bytes in whatever pieces they arrive and knows
//! nothing of frames; a WebSocket transport treats its binary messages as pieces of that stream.

use std::io::{self, IoSlice};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;

/// An ordered, reliable byte stream in both directions.
///
/// The methods follow the rules of `futures::AsyncRead` and `AsyncWrite`: `Pending` means that the waker of
/// `cx` is called when the operation is worth trying again. Reading and writing keep separate wakers, although
/// both are called by one task. There is no `Send` bound: a connection is `Send` exactly when its transport is.
pub trait Transport {
    /// The next piece of the incoming stream.
    ///
    /// `None` is the end of the stream, in good order. An empty piece is ignored. The piece should be a slice of
    /// the buffer that was read into: the multiplexer passes parts of it on without copying.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>>;

    /// Writes the beginning of `bufs`, in order, and says how many bytes were taken (at least one).
    ///
    /// A message transport makes one message of what it takes.
    fn poll_write(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>>;

    /// Pushes everything written so far towards the peer.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ends the outgoing direction in good order, after flushing.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// Makes a transport: what a client needs to connect, and to connect again.
#[cfg_attr(target_family = "wasm", async_trait::async_trait(?Send))]
#[cfg_attr(not(target_family = "wasm"), async_trait::async_trait)]
pub trait Dial {
    /// What a successful dial yields.
    type Transport: Transport;

    /// Connects. Dropping the future gives the attempt up.
    async fn dial(&self) -> io::Result<Self::Transport>;
}

/// Monotonic time since any fixed moment.
pub type Timestamp = Duration;

/// The time source of a connection.
///
/// Core reads no clock of its own, so that it runs in a browser and under virtual time. Time is used for
/// limits (an open that is never answered) and to see that a peer waited for credit; no data ever waits for it.
pub trait Clock {
    /// The present moment. Never goes back.
    fn now(&self) -> Timestamp;

    /// Ready once `deadline` has passed. Only the latest deadline asked for needs to wake the task.
    fn poll_deadline(&mut self, cx: &mut Context<'_>, deadline: Timestamp) -> Poll<()>;
}

/// A clock that stands still: no time limits, no window growth.
///
/// For tests, and for surroundings without timers that put limits around the futures themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp::ZERO
    }

    fn poll_deadline(&mut self, _cx: &mut Context<'_>, _deadline: Timestamp) -> Poll<()> {
        Poll::Pending
    }
}
