//! The two directions of a channel, for the application.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures::{AsyncBufRead, AsyncRead, AsyncWrite};

use crate::error::{ReadError, WriteError};
use crate::frame::ChannelId;
use crate::session::Readiness;
use crate::shared::{Shared, Wait};
use crate::stats::ChannelStats;

/// An open channel: `futures::AsyncRead` and `AsyncWrite`.
///
/// Closing the writing side ends one direction; reading goes on. Dropping the stream at any moment is fine: what was
/// written still arrives, followed by the end, and what was not read is dropped.
#[derive(Debug)]
pub struct ChannelStream {
    reader: ChannelReader,
    writer: ChannelWriter,
}

impl ChannelStream {
    pub(crate) fn new(shared: Arc<Shared>, id: ChannelId) -> Self {
        Self {
            reader: ChannelReader { shared: shared.clone(), id, pieces: VecDeque::new() },
            writer: ChannelWriter { shared, id },
        }
    }

    /// Both directions, independent of each other: they may live in different tasks, and may be dropped at
    /// different times.
    #[must_use]
    pub fn into_split(self) -> (ChannelReader, ChannelWriter) {
        (self.reader, self.writer)
    }

    /// Both directions, borrowed.
    pub fn split(&mut self) -> (&mut ChannelReader, &mut ChannelWriter) {
        (&mut self.reader, &mut self.writer)
    }

    /// The channel's numbers so far.
    #[must_use]
    pub fn stats(&self) -> ChannelStats {
        self.reader.stats()
    }
}

/// The receiving direction of a channel.
///
/// Only what is *consumed* gives the peer new credit, so a reader that stops stops the peer, within one window. Dropping
/// the reader tells the peer, as soon as the writer has finished too, that nobody reads any more.
#[derive(Debug)]
pub struct ChannelReader {
    shared: Arc<Shared>,
    id: ChannelId,
    /// Fetched and not consumed.
    pieces: VecDeque<Bytes>,
}

impl ChannelReader {
    /// Waits until bytes are there (`true`) or the direction has ended (`false`). See [`slices`](Self::slices).
    ///
    /// What arrived before the session failed is readable before the error.
    pub fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, ReadError>> {
        if !self.pieces.is_empty() {
            return Poll::Ready(Ok(true));
        }
        let Self { shared, id, pieces } = self;
        shared.with(|state| {
            Poll::Ready(match state.session.read(*id, pieces)? {
                Readiness::Data => Ok(true),
                Readiness::Eof => Ok(false),
                Readiness::Blocked => {
                    state.wait(cx, Wait::Read(*id));
                    return Poll::Pending;
                }
            })
        })
    }

    /// Fills `out` with the bytes that are there, for a vectored write, and says how many slices there are. They stay there until
    /// they are [consumed](Self::consume).
    pub fn slices<'a>(&'a self, out: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slot, piece) in out.iter_mut().zip(&self.pieces) {
            *slot = IoSlice::new(piece);
            count += 1;
        }
        count
    }

    /// Takes the first `len` bytes away: the peer may send as many more.
    ///
    /// # Panics
    ///
    /// If fewer are there.
    pub fn consume(&mut self, len: usize) {
        let mut left = len;
        while left > 0 {
            let first = self.pieces.front_mut().expect("no more is consumed than was there");
            if first.len() > left {
                first.advance(left);
                break;
            }
            left -= first.len();
            self.pieces.pop_front();
        }
        self.shared.with(|state| state.session.consume(self.id, len));
    }

    /// The next bytes, in a piece as it arrived, and consumes them. `None` is the end. Cancel safe.
    pub async fn read_chunk(&mut self) -> Result<Option<Bytes>, ReadError> {
        if !poll_fn(|cx| self.poll_fill(cx)).await? {
            return Ok(None);
        }
        let piece = self.pieces.pop_front().unwrap_or_default();
        self.shared.with(|state| state.session.consume(self.id, piece.len()));
        Ok(Some(piece))
    }

    /// After the end: whether the peer closed the channel although neither direction had ended. Something may be missing
    /// then, as after a TCP reset.
    #[must_use]
    pub fn was_reset(&self) -> bool {
        self.shared.with(|state| state.session.was_cut_off(self.id))
    }

    /// The channel's numbers so far.
    #[must_use]
    pub fn stats(&self) -> ChannelStats {
        self.shared.with(|state| state.session.channel_stats(self.id))
    }
}

impl Drop for ChannelReader {
    fn drop(&mut self) {
        self.shared.with(|state| state.session.release_reader(self.id));
    }
}

impl AsyncBufRead for ChannelReader {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        ready!(this.poll_fill(cx))?;
        Poll::Ready(Ok(this.pieces.front().map_or(&[], |piece| piece)))
    }

    fn consume(self: Pin<&mut Self>, len: usize) {
        self.get_mut().consume(len);
    }
}

impl AsyncRead for ChannelReader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if buf.is_empty() || !ready!(this.poll_fill(cx))? {
            return Poll::Ready(Ok(0));
        }
        let mut filled = 0;
        for piece in &this.pieces {
            let len = piece.len().min(buf.len() - filled);
            buf[filled..filled + len].copy_from_slice(&piece[..len]);
            filled += len;
        }
        this.consume(filled);
        Poll::Ready(Ok(filled))
    }
}

/// The sending direction of a channel. Dropping it ends the direction, after what was written.
#[derive(Debug)]
pub struct ChannelWriter {
    shared: Arc<Shared>,
    id: ChannelId,
}

impl ChannelWriter {
    /// Waits until bytes can be [pushed](Self::push) and says how many.
    pub fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, WriteError>> {
        self.shared.with(|state| match state.session.room(self.id) {
            Ok(0) => {
                state.wait(cx, Wait::Write(self.id));
                Poll::Pending
            }
            result => Poll::Ready(result),
        })
    }

    /// Queues bytes without waiting and without copying: at most as many as [`poll_room`](Self::poll_room) has said.
    pub fn push(&mut self, chunk: Bytes) -> Result<(), WriteError> {
        self.shared.with(|state| state.session.write(self.id, chunk))
    }

    /// Queues the whole chunk, waiting for room where there is none.
    ///
    /// Not cancel safe: if the future is dropped, a part of the chunk may be queued.
    pub async fn write_chunk(&mut self, mut chunk: Bytes) -> Result<(), WriteError> {
        while !chunk.is_empty() {
            let room = poll_fn(|cx| self.poll_room(cx)).await?;
            self.push(chunk.split_to(chunk.len().min(room)))?;
        }
        Ok(())
    }

    /// Ends the direction: EOF follows what is queued. Idempotent.
    pub fn finish(&mut self) {
        self.shared.with(|state| state.session.finish(self.id));
    }

    /// Closes the channel at once in both directions, without EOF: the peer sees that something failed. What is queued
    /// is dropped; what has arrived stays readable.
    pub fn reset(&mut self) {
        self.shared.with(|state| state.session.reset(self.id));
    }

    /// Ready when nothing that is written can reach the peer any more: it closed the channel, or the session ended.
    pub fn poll_stopped(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.shared.with(|state| {
            if state.session.is_stopped(self.id) {
                return Poll::Ready(());
            }
            state.wait(cx, Wait::Stopped(self.id));
            Poll::Pending
        })
    }
}

impl Drop for ChannelWriter {
    fn drop(&mut self) {
        self.shared.with(|state| state.session.release_writer(self.id));
    }
}

impl AsyncWrite for ChannelWriter {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let len = buf.len().min(ready!(this.poll_room(cx))?);
        this.shared.with(|state| state.session.write_copy(this.id, &buf[..len]))?;
        Poll::Ready(Ok(len))
    }

    /// Always ready: what is queued is sent without delay, as far as the peer's credit goes.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Always ready: see [`finish`](ChannelWriter::finish).
    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().finish();
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for ChannelStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().reader).poll_read(cx, buf)
    }
}

impl AsyncBufRead for ChannelStream {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Pin::new(&mut self.get_mut().reader).poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, len: usize) {
        self.get_mut().reader.consume(len);
    }
}

impl AsyncWrite for ChannelStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().writer).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().writer).poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().writer).poll_close(cx)
    }
}
