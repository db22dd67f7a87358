//! A transport in memory, for tests and for both ends in one process.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};

use crate::sync::{Mutex, MutexGuard};
use crate::transport::Transport;

/// One end of a pair made by [`duplex`]. Dropping it ends both directions.
#[derive(Debug)]
pub struct Duplex {
    incoming: Arc<Mutex<Pipe>>,
    outgoing: Arc<Mutex<Pipe>>,
}

#[derive(Debug)]
struct Pipe {
    pieces: VecDeque<Bytes>,
    len: usize,
    capacity: usize,
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// Two connected transports. Each direction holds `capacity` bytes (at least one) that were written and not yet read.
#[must_use]
pub fn duplex(capacity: usize) -> (Duplex, Duplex) {
    let pipe = || {
        Arc::new(Mutex::new(Pipe {
            pieces: VecDeque::new(),
            len: 0,
            capacity: capacity.max(1),
            closed: false,
            reader: None,
            writer: None,
        }))
    };
    let (one, other) = (pipe(), pipe());
    (Duplex { incoming: one.clone(), outgoing: other.clone() }, Duplex { incoming: other, outgoing: one })
}

impl Transport for Duplex {
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        let mut pipe = lock(&self.incoming);
        if let Some(piece) = pipe.pieces.pop_front() {
            pipe.len -= piece.len();
            let writer = pipe.writer.take();
            drop(pipe);
            wake(writer);
            return Poll::Ready(Ok(Some(piece)));
        }
        if pipe.closed {
            return Poll::Ready(Ok(None));
        }
        pipe.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let mut pipe = lock(&self.outgoing);
        if pipe.closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = pipe.capacity - pipe.len;
        if room == 0 {
            pipe.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let mut piece = BytesMut::new();
        for buf in bufs {
            piece.extend_from_slice(&buf[..buf.len().min(room - piece.len())]);
        }
        let written = piece.len();
        pipe.len += written;
        pipe.pieces.push_back(piece.freeze());
        let reader = pipe.reader.take();
        drop(pipe);
        wake(reader);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        shut(&self.outgoing);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Duplex {
    fn drop(&mut self) {
        shut(&self.outgoing);
        shut(&self.incoming);
    }
}

fn lock(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shut(pipe: &Mutex<Pipe>) {
    let mut pipe = lock(pipe);
    pipe.closed = true;
    let (reader, writer) = (pipe.reader.take(), pipe.writer.take());
    drop(pipe);
    wake(reader);
    wake(writer);
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
