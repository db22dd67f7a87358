//! The future that drives a session over its transport: the only loop.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tracing::debug_span;

use crate::codec::{Batch, Decoder};
use crate::config::Config;
use crate::error::ConnectionError;
use crate::handles::{Acceptor, Opener};
use crate::session::Session;
use crate::shared::Shared;
use crate::transport::{Clock, Timestamp, Transport};

/// Bytes read in one turn, before others get theirs: the readers of what has arrived above all, while it is still in
/// the processor's cache.
const READ_BUDGET: usize = 256 * 1024;

/// Bytes written in one turn: one large batch. What arrives meanwhile waits that long at each hop; with 1 MiB a keystroke
/// beside ten bulk transfers took three times as long, and they were no faster.
const WRITE_BUDGET: usize = MAX_BATCH;

/// A batch is what a keystroke may have to wait for, so it begins small ...
const MIN_BATCH: usize = 64 * 1024;

/// ... and grows up to this while the transport takes everything at once.
const MAX_BATCH: usize = 128 * 1024;

/// Slices per write.
const MAX_SLICES: usize = 64;

/// The side that opens channels; opens of the peer are refused.
///
/// Nothing happens until the [`Connection`] is polled: spawn it, or join it with what uses the opener.
pub fn client<T: Transport, C: Clock>(transport: T, clock: C, config: Config) -> (Opener, Connection<T, C>) {
    let (shared, connection) = connect(transport, clock, config, false, 1);
    (Opener::new(shared), connection)
}

/// The side that answers opens.
pub fn server<T: Transport, C: Clock>(transport: T, clock: C, config: Config) -> (Acceptor, Connection<T, C>) {
    let (shared, connection) = connect(transport, clock, config, true, 1);
    (Acceptor::new(shared), connection)
}

/// A side that does both.
pub fn peer<T: Transport, C: Clock>(transport: T, clock: C, config: Config) -> (Opener, Acceptor, Connection<T, C>) {
    let (shared, connection) = connect(transport, clock, config, true, 2);
    (Opener::new(shared.clone()), Acceptor::new(shared), connection)
}

fn connect<T, C>(
    transport: T,
    clock: C,
    config: Config,
    accepts: bool,
    handles: usize,
) -> (Arc<Shared>, Connection<T, C>) {
    static SESSIONS: AtomicU64 = AtomicU64::new(1);
    let span = debug_span!("session", id = SESSIONS.fetch_add(1, Ordering::Relaxed));
    let close_timeout = config.close_timeout;
    let shared = Shared::new(Session::new(config, accepts, span.clone()), handles);
    let connection = Connection {
        shared: shared.clone(),
        transport,
        clock,
        decoder: Decoder::default(),
        batch: Batch::default(),
        batch_limit: MIN_BATCH,
        unflushed: false,
        close_timeout,
        stage: Stage::Running,
        span,
    };
    (shared, connection)
}

/// A session at work. It is `Send` exactly when its transport and its clock are.
///
/// Ends with `Ok` when the session ended in good order: the peer ended the transport, or everything on this side was
/// closed or dropped and all that had been written was sent. Dropping it ends the session at once.
#[must_use = "a session makes progress only while its connection is polled"]
#[derive(Debug)]
pub struct Connection<T, C> {
    shared: Arc<Shared>,
    transport: T,
    clock: C,
    decoder: Decoder,
    /// Frames that the transport has not taken yet.
    batch: Batch,
    batch_limit: usize,
    /// Something was written since the last flush.
    unflushed: bool,
    close_timeout: Timestamp,
    stage: Stage,
    span: tracing::Span,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    Running,
    /// We ended; the peer's end is awaited until the deadline. Ending the transport under bytes of the peer that nobody
    /// has read would destroy those that the peer has not read.
    Closing {
        deadline: Timestamp,
    },
    /// The peer ended; our end is still to be sent.
    Answering,
    Done,
}

/// How far one direction came in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// There may be more to do at once.
    More,
    /// The transport must wake us first.
    Blocked,
    /// Nothing is left to send; or nothing more will be received.
    AtEnd,
}

impl<T: Transport + Unpin, C: Clock + Unpin> Future for Connection<T, C> {
    type Output = Result<(), ConnectionError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let _entered = this.span.clone().entered();
        loop {
            let next = match this.stage {
                Stage::Running => match ready!(this.poll_turn(cx)) {
                    Ok(stage) => stage,
                    Err(error) => return Poll::Ready(this.fail(error)),
                },
                Stage::Closing { deadline } => ready!(this.poll_closing(cx, deadline)),
                Stage::Answering => {
                    // The peer has gone already: an error tells nothing new.
                    let _ = ready!(this.transport.poll_close(cx));
                    Stage::Done
                }
                Stage::Done => return Poll::Ready(Ok(())),
            };
            this.stage = next;
        }
    }
}

impl<T: Transport, C: Clock> Connection<T, C> {
    /// One turn: reads what there is, within reason, then writes what there is. Ready when the session is to end.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<Result<Stage, ConnectionError>> {
        let now = self.clock.now();
        self.shared.drive(|state| state.set_driver(cx));
        let received = self.receive(cx, now)?;
        if received == Progress::AtEnd {
            return Poll::Ready(self.peer_closed());
        }
        let sent = self.send(cx, now, received == Progress::Blocked)?;
        if sent == Progress::AtEnd && self.shared.drive(|state| state.session.is_complete()) {
            self.shared.drive(|state| state.end(ConnectionError::Closed));
            return Poll::Ready(Ok(Stage::Closing { deadline: now + self.close_timeout }));
        }
        self.watch_deadlines(cx, now);
        if received == Progress::More || sent == Progress::More {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// After sending, which is what sets deadlines.
    fn watch_deadlines(&mut self, cx: &mut Context<'_>, now: Timestamp) {
        while let Some(deadline) = self.shared.drive(|state| state.session.next_deadline()) {
            if self.clock.poll_deadline(cx, deadline).is_pending() {
                return;
            }
            self.shared.drive(|state| state.session.handle_timeout(now.max(deadline)));
        }
    }

    fn receive(&mut self, cx: &mut Context<'_>, now: Timestamp) -> Result<Progress, ConnectionError> {
        let mut budget = READ_BUDGET;
        while budget > 0 {
            match self.transport.poll_read(cx) {
                Poll::Pending => return Ok(Progress::Blocked),
                Poll::Ready(Ok(None)) => return Ok(Progress::AtEnd),
                Poll::Ready(Ok(Some(piece))) => {
                    budget = budget.saturating_sub(piece.len().max(1));
                    self.take_in(piece, now)?;
                }
                Poll::Ready(Err(error)) => return Err(transport_error(error)),
            }
        }
        Ok(Progress::More)
    }

    fn take_in(&mut self, mut piece: Bytes, now: Timestamp) -> Result<(), ConnectionError> {
        self.shared.drive(|state| {
            while let Some(frame) = self.decoder.decode(&mut piece)? {
                state.session.handle_frame(now, frame)?;
            }
            Ok(())
        })
    }

    /// Writes until nothing is left, and flushes then: there is no timer in front of a flush.
    fn send(&mut self, cx: &mut Context<'_>, now: Timestamp, idle: bool) -> Result<Progress, ConnectionError> {
        let mut budget = WRITE_BUDGET;
        loop {
            if self.batch.is_empty() && !self.fill_batch(now, idle) {
                break;
            }
            if budget == 0 {
                return Ok(Progress::More);
            }
            let Poll::Ready(written) = self.poll_write_batch(cx)? else {
                self.batch_limit = (self.batch_limit / 2).max(MIN_BATCH);
                return Ok(Progress::Blocked);
            };
            self.unflushed = true;
            budget = budget.saturating_sub(written);
        }
        if self.unflushed {
            match self.transport.poll_flush(cx).map_err(transport_error)? {
                Poll::Ready(()) => self.unflushed = false,
                Poll::Pending => return Ok(Progress::Blocked),
            }
        }
        Ok(Progress::AtEnd)
    }

    fn fill_batch(&mut self, now: Timestamp, idle: bool) -> bool {
        let Self { shared, batch, batch_limit, .. } = self;
        shared.drive(|state| {
            let filled = state.session.poll_transmit(now, idle, *batch_limit, batch);
            // Whatever is left is looked for again before the turn ends.
            state.session.take_work();
            filled
        })
    }

    fn poll_write_batch(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, ConnectionError>> {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let count = self.batch.slices(&mut slices);
        let offered = slices[..count].iter().map(|slice| slice.len()).sum();
        let written = ready!(self.transport.poll_write(cx, &slices[..count])).map_err(transport_error)?;
        if written == 0 || written > offered {
            let kind = if written == 0 { io::ErrorKind::WriteZero } else { io::ErrorKind::InvalidData };
            return Poll::Ready(Err(transport_error(kind.into())));
        }
        self.batch.advance(written);
        if self.batch.is_empty() {
            self.batch_limit = (self.batch_limit * 2).min(MAX_BATCH);
        }
        Poll::Ready(Ok(written))
    }

    fn peer_closed(&mut self) -> Result<Stage, ConnectionError> {
        if !self.decoder.is_between_frames() {
            return Err(ConnectionError::UnexpectedEof);
        }
        self.shared.drive(|state| state.end(ConnectionError::PeerClosed));
        Ok(Stage::Answering)
    }

    fn fail(&mut self, error: ConnectionError) -> Result<(), ConnectionError> {
        self.stage = Stage::Done;
        self.shared.drive(|state| state.end(error.clone()));
        Err(error)
    }

    fn poll_closing(&mut self, cx: &mut Context<'_>, deadline: Timestamp) -> Poll<Stage> {
        if self.clock.poll_deadline(cx, deadline).is_ready() {
            return Poll::Ready(Stage::Done);
        }
        if ready!(self.transport.poll_close(cx)).is_err() {
            return Poll::Ready(Stage::Done);
        }
        loop {
            match ready!(self.transport.poll_read(cx)) {
                // Nobody is left to read it.
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return Poll::Ready(Stage::Done),
            }
        }
    }
}

impl<T, C> Drop for Connection<T, C> {
    fn drop(&mut self) {
        self.shared.drive(|state| state.end(ConnectionError::Closed));
    }
}

fn transport_error(error: io::Error) -> ConnectionError {
    ConnectionError::Transport(Arc::new(error))
}
