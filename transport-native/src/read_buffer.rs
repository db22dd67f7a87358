//! Reading without copying: large shared buffers from which `Bytes` are cut.
//!
//! A busy reader wants a large buffer, so that one system call fetches much; an idle one should hold none. A
//! reader therefore gives its buffer back whenever there is nothing to read, and the readers of one thread take
//! turns with a few large ones. That bounds the memory by threads instead of connections, and the bytes are
//! read into memory that the processor's cache still knows.

use std::cell::RefCell;
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::AsyncRead;
use tokio_util::io::poll_read_buf;

/// Enough for a reader that gets requests and keystrokes; cheap to allocate.
const SMALL: usize = 16 * 1024;

/// What one system call fetches at most. Measured with a queue of 256 KiB behind the reader, larger buffers are up to
/// a tenth slower: together they do not fit a second-level cache of 512 KiB.
const LARGE: usize = 64 * 1024;

/// A piece below this is copied out: cheaper than to let it pin the buffer it was read into.
const COPY_BELOW: usize = 4 * 1024;

/// Large buffers kept by a thread. Some of them wait for their last slice to be dropped.
const SPARE_BUFFERS: usize = 16;

thread_local! {
    static SPARE: RefCell<Vec<BytesMut>> = const { RefCell::new(Vec::new()) };
}

/// Reads from an I/O object into shared buffers.
///
/// The pieces are slices of a buffer of up to 64 KiB, which is used again once all of them are dropped. Pieces
/// under 4 KiB are copied out. A reader that has nothing to read holds no memory.
#[derive(Debug)]
pub struct ReadBuffer {
    /// Always empty; its capacity is the room for the next read.
    current: BytesMut,
    /// The size of the whole buffer that `current` is the rest of.
    size: usize,
    /// The size of the next buffer.
    wanted: usize,
    /// Bytes read since there was last nothing to read.
    burst: usize,
}

impl Default for ReadBuffer {
    fn default() -> Self {
        Self { current: BytesMut::new(), size: 0, wanted: SMALL, burst: 0 }
    }
}

impl ReadBuffer {
    /// A reader that starts small.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads what is there, at most `limit` bytes (more than zero). An empty piece is the end of the stream.
    pub fn poll_read<R>(&mut self, cx: &mut Context<'_>, io: Pin<&mut R>, limit: usize) -> Poll<io::Result<Bytes>>
    where
        R: AsyncRead + ?Sized,
    {
        self.poll_read_mut(cx, io, limit).map_ok(BytesMut::freeze)
    }

    /// As `poll_read`, for a protocol that changes the bytes in place.
    pub(crate) fn poll_read_mut<R>(
        &mut self,
        cx: &mut Context<'_>,
        io: Pin<&mut R>,
        limit: usize,
    ) -> Poll<io::Result<BytesMut>>
    where
        R: AsyncRead + ?Sized,
    {
        debug_assert!(limit > 0, "an empty piece means the end");
        self.make_room();
        let result = poll_read_buf(io, cx, &mut (&mut self.current).limit(limit));
        match result {
            Poll::Ready(Ok(1..)) => Poll::Ready(Ok(self.cut())),
            Poll::Ready(Ok(0)) => {
                self.release();
                Poll::Ready(Ok(BytesMut::new()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.settle();
                Poll::Pending
            }
        }
    }

    /// Sees to it that `current` has room for a read that is worth its system call.
    fn make_room(&mut self) {
        // If nobody holds a slice any more, the whole buffer is there again: the warmest memory there is.
        if self.size >= self.wanted && self.current.try_reclaim(self.size) {
            return;
        }
        if self.current.capacity() < self.wanted / 4 {
            self.release();
            self.size = self.wanted;
            self.current = if self.wanted == LARGE { take_spare() } else { BytesMut::with_capacity(SMALL) };
        }
    }

    /// Takes what was read out of `current`.
    fn cut(&mut self) -> BytesMut {
        let len = self.current.len();
        self.burst += len;
        if len == self.current.capacity() {
            self.wanted = LARGE;
        }
        if len < COPY_BELOW {
            let piece = BytesMut::from(&self.current[..]);
            self.current.clear();
            piece
        } else {
            self.current.split()
        }
    }

    /// Nothing to read: gives the buffer back, and judges by the burst that just ended how large the next should be.
    fn settle(&mut self) {
        if self.burst < SMALL {
            self.wanted = SMALL;
        }
        self.burst = 0;
        self.release();
    }

    fn release(&mut self) {
        let buffer = mem::take(&mut self.current);
        if mem::take(&mut self.size) == LARGE {
            give_spare(buffer);
        }
    }
}

/// The latest spare buffer with room, or a new one.
fn take_spare() -> BytesMut {
    SPARE.with_borrow_mut(|spare| {
        let usable = |buffer: &mut BytesMut| buffer.try_reclaim(LARGE) || buffer.capacity() >= LARGE / 4;
        let found = spare.iter_mut().rposition(usable);
        found.map_or_else(|| BytesMut::with_capacity(LARGE), |index| spare.remove(index))
    })
}

/// Keeps `buffer` for the next reader. The oldest makes room: its slices are likely held by somebody slow.
fn give_spare(buffer: BytesMut) {
    SPARE.with_borrow_mut(|spare| {
        if spare.len() == SPARE_BUFFERS {
            spare.remove(0);
        }
        spare.push(buffer);
    });
}

#[cfg(test)]
mod tests;
