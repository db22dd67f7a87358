//! From slices of the byte stream to WebSocket messages.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use super::Role;
use super::frame::{Header, Opcode, advance_mask, extend_masked};
use super::gather::{Payload, SliceList};
use super::random::MaskSource;

/// The longest message that is sent. A receiver that assembles messages, as a browser does, sees the first byte
/// of one when it has the last: 64 KiB is 50 ms on a line of 10 Mbit/s. One byte more needs a longer header.
const MAX_MESSAGE: usize = 64 * 1024 - 1;

/// The header of a message of that length from a server.
const FULL_HEADER: [u8; 4] = [0x82, 126, 0xFF, 0xFF];

const FULL_MESSAGE: usize = FULL_HEADER.len() + MAX_MESSAGE;

/// Longest messages that join a write: a system call for 256 KiB instead of 64 is worth a tenth of the throughput.
const MORE_MESSAGES: usize = 3;

/// Bytes that a client masks before it writes: more do not stay in the second-level cache.
const MASKED_BATCH: usize = 2 * MAX_MESSAGE;

/// Turns writes into binary messages, and control frames into bytes between them.
///
/// A server sends the payload from where it is: headers and slices go out in one vectored write. If the socket takes
/// only a part, the rest of the message's length stays promised and the next writes fill it; on a byte stream it
/// does not matter how the bytes were cut. A client has to mask, so it masks into a buffer.
#[derive(Debug)]
pub(super) struct Writer {
    /// The source of masks: a client has one.
    masks: Option<MaskSource>,
    /// Bytes to be sent before anything else: control frames, the rest of a header, or a client's messages.
    out: Vec<u8>,
    /// How many bytes of `out` are sent.
    sent: usize,
    /// Payload that the last header announced and that is not yet sent.
    promised: usize,
    ping: bool,
    pong: Option<Vec<u8>>,
    close: Option<Vec<u8>>,
    /// A close frame was queued: nothing may follow it.
    closed: bool,
}

impl Writer {
    pub(super) fn new(role: Role) -> Self {
        let masks = match role {
            Role::Client => Some(MaskSource::new()),
            Role::Server => None,
        };
        Self { masks, out: Vec::new(), sent: 0, promised: 0, ping: false, pong: None, close: None, closed: false }
    }

    /// A message is partly sent, so no control frame can be, and a close frame will never be if nobody writes the rest.
    pub(super) fn is_inside_message(&self) -> bool {
        self.promised > 0
    }

    /// Asks the peer for a sign of life. Says whether that can be sent now.
    pub(super) fn ping(&mut self) -> bool {
        self.ping = !self.is_inside_message();
        self.ping
    }

    /// Answers a ping. Only the latest is answered if several come at once (RFC 6455, section 5.5.3).
    pub(super) fn pong(&mut self, payload: Vec<u8>) {
        self.pong = Some(payload);
    }

    /// Queues a close frame, if none was sent yet. Without a code it is empty.
    pub(super) fn close(&mut self, code: Option<u16>, text: &str) {
        if !self.closed {
            self.closed = true;
            let code = code.map(u16::to_be_bytes);
            let code = code.as_ref().map_or(&[][..], |code| &code[..]);
            self.close = Some([code, text.as_bytes()].concat());
        }
    }

    /// Sends the beginning of `bufs` in messages, and says how many bytes were taken.
    pub(super) fn poll_write<W>(
        &mut self,
        cx: &mut Context<'_>,
        io: Pin<&mut W>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>>
    where
        W: AsyncWrite + ?Sized,
    {
        if self.closed {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::BrokenPipe, "the WebSocket is closed")));
        }
        if bufs.iter().all(|buf| buf.is_empty()) {
            // Deployed peers take an empty message for the end of the stream.
            return Poll::Ready(Ok(0));
        }
        match self.masks {
            Some(_) => self.poll_write_masked(cx, io, bufs),
            None => self.poll_write_plain(cx, io, bufs),
        }
    }

    /// The way of a server: the payload stays where it is.
    fn poll_write_plain<W>(
        &mut self,
        cx: &mut Context<'_>,
        mut io: Pin<&mut W>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>>
    where
        W: AsyncWrite + ?Sized,
    {
        let total: usize = bufs.iter().map(|buf| buf.len()).sum();
        loop {
            if self.promised == 0 {
                self.queue_control()?;
                self.promised = total.min(MAX_MESSAGE);
                self.queue_header(Opcode::Binary, self.promised)?;
            }
            let first = self.promised.min(total);
            let mut payload = Payload::new(bufs);
            let mut slices = SliceList::new(&self.out[self.sent..]);
            payload.take(first, |slice| slices.push(slice));
            for _ in 0..MORE_MESSAGES.min((total - first) / MAX_MESSAGE) {
                slices.push(&FULL_HEADER);
                payload.take(MAX_MESSAGE, |slice| slices.push(slice));
            }
            let written = ready!(io.as_mut().poll_write_vectored(cx, slices.as_slice()))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let taken = self.advance(written);
            if taken > 0 {
                return Poll::Ready(Ok(taken));
            }
        }
    }

    /// Counts what was written off the queue and the promise; says how much of it was payload.
    fn advance(&mut self, mut written: usize) -> usize {
        let queued = written.min(self.out.len() - self.sent);
        self.sent += queued;
        self.forget_sent();
        written -= queued;
        let first = written.min(self.promised);
        self.promised -= first;
        written -= first;
        // The rest are longest messages, of which the last may be cut in its payload or in its header.
        let (whole, part) = (written / FULL_MESSAGE, written % FULL_MESSAGE);
        let mut taken = first + whole * MAX_MESSAGE;
        if part > 0 {
            let begun = part.saturating_sub(FULL_HEADER.len());
            self.out.extend_from_slice(&FULL_HEADER[part.min(FULL_HEADER.len())..]);
            self.promised = MAX_MESSAGE - begun;
            taken += begun;
        }
        taken
    }

    /// The way of a client: masks messages into the buffer, after the last ones have left it.
    fn poll_write_masked<W>(
        &mut self,
        cx: &mut Context<'_>,
        mut io: Pin<&mut W>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>>
    where
        W: AsyncWrite + ?Sized,
    {
        ready!(self.poll_write_out(cx, io.as_mut()))?;
        self.queue_control()?;
        let total = bufs.iter().map(|buf| buf.len()).sum::<usize>().min(MASKED_BATCH);
        let mut payload = Payload::new(bufs);
        let mut left = total;
        while left > 0 {
            let len = left.min(MAX_MESSAGE);
            let mut mask = self.queue_header(Opcode::Binary, len)?.unwrap_or_default();
            payload.take(len, |slice| {
                extend_masked(mask, slice, &mut self.out);
                mask = advance_mask(mask, slice.len());
            });
            left -= len;
        }
        // What does not go now goes with the next write or flush.
        match self.poll_write_out(cx, io) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(total)),
        }
    }

    /// Sends queued control frames, unless a message is under way. Ready when nothing is queued.
    pub(super) fn poll_control<W>(&mut self, cx: &mut Context<'_>, io: Pin<&mut W>) -> Poll<io::Result<()>>
    where
        W: AsyncWrite + ?Sized,
    {
        if self.is_inside_message() {
            return Poll::Ready(Ok(()));
        }
        self.queue_control()?;
        self.poll_write_out(cx, io)
    }

    fn poll_write_out<W>(&mut self, cx: &mut Context<'_>, mut io: Pin<&mut W>) -> Poll<io::Result<()>>
    where
        W: AsyncWrite + ?Sized,
    {
        while self.sent < self.out.len() {
            match ready!(io.as_mut().poll_write(cx, &self.out[self.sent..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                n => self.sent += n,
            }
        }
        self.forget_sent();
        Poll::Ready(Ok(()))
    }

    fn forget_sent(&mut self) {
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
    }

    fn queue_control(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.ping) {
            self.queue_frame(Opcode::Ping, &[])?;
        }
        if let Some(payload) = self.pong.take() {
            self.queue_frame(Opcode::Pong, &payload)?;
        }
        if let Some(payload) = self.close.take() {
            self.queue_frame(Opcode::Close, &payload)?;
        }
        Ok(())
    }

    fn queue_frame(&mut self, opcode: Opcode, payload: &[u8]) -> io::Result<()> {
        let mask = self.queue_header(opcode, payload.len())?;
        extend_masked(mask.unwrap_or_default(), payload, &mut self.out);
        Ok(())
    }

    fn queue_header(&mut self, opcode: Opcode, len: usize) -> io::Result<Option<[u8; 4]>> {
        let mask = self.masks.as_mut().map(MaskSource::next).transpose()?;
        Header { last: true, opcode, mask, len: len as u64 }.write(&mut self.out);
        Ok(mask)
    }
}
