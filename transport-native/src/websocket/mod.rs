//! JMUX over WebSocket, as client and as server.
//!
//! The frames are handled here rather than by a library, because a byte stream allows what a message interface does
//! not: pieces of a message are handed on as they arrive, and a server's payload leaves from where it lies
//! (`tests/bench/ws-libs` has the numbers).

mod frame;
mod gather;
mod handshake;
mod keepalive;
mod random;
mod reader;
mod writer;

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use muxgate_core::Transport;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::read_buffer::ReadBuffer;
pub use handshake::{UpgradeError, accept_key};
use keepalive::Keepalive;
use reader::{CloseReason, Event, Reader};
use writer::Writer;

/// Which end of the connection this is: a client masks what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

/// How often a silent peer is pinged, for [`WebSocketTransport::with_keepalive`]: the first ping comes after 50 s at the latest,
/// because proxies drop connections that are silent for a minute.
pub const KEEPALIVE: Duration = Duration::from_secs(25);

/// The end was meant: nothing is wrong (RFC 6455, section 7.4.1).
const NORMAL: u16 = 1000;
/// The peer goes away: a page that was left, a server that shuts down.
const GOING_AWAY: u16 = 1001;

/// A byte stream in binary WebSocket messages.
///
/// How the messages are cut means nothing. Pings are answered. A close frame with the code 1000 or 1001, or without
/// code, is the end of the stream; another one is an error that names it. Text messages are refused with 1003.
#[derive(Debug)]
pub struct WebSocketTransport<S> {
    io: S,
    buffer: ReadBuffer,
    /// What was read and not yet looked at.
    input: BytesMut,
    reader: Reader,
    writer: Writer,
    keepalive: Option<Keepalive>,
    /// The peer's close frame came.
    ended: bool,
}

impl<S> WebSocketTransport<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    /// The server's end, after the HTTP upgrade. `leftover` is what was already read behind the request.
    pub fn server(io: S, leftover: Bytes) -> Self {
        Self::new(io, leftover, Role::Server)
    }

    /// The client's end, after the HTTP upgrade. `leftover` is what was already read behind the response.
    pub fn client(io: S, leftover: Bytes) -> Self {
        Self::new(io, leftover, Role::Client)
    }

    /// Asks the server behind `io` for the upgrade, with `headers` beside the necessary ones.
    ///
    /// A refusal is an error with an `UpgradeError` inside. Sets no time limit.
    pub async fn connect(mut io: S, host: &str, path: &str, headers: &HeaderMap) -> io::Result<Self> {
        let leftover = handshake::upgrade(&mut io, host, path, headers).await?;
        Ok(Self::client(io, leftover.freeze()))
    }

    /// Pings a peer that was silent for one to two periods, and again each period; gives it up when four pings in a row were
    /// not answered. [`KEEPALIVE`] is a good period.
    ///
    /// Proxies drop connections that are silent for a minute or so; browsers cannot send pings.
    #[must_use]
    pub fn with_keepalive(mut self, period: Duration) -> Self {
        self.keepalive = Some(Keepalive::new(period));
        self
    }

    fn new(io: S, leftover: Bytes, role: Role) -> Self {
        Self {
            io,
            buffer: ReadBuffer::new(),
            input: leftover.into(),
            reader: Reader::new(role),
            writer: Writer::new(role),
            keepalive: None,
            ended: false,
        }
    }

    /// Sends what goes between the messages, as far as the socket takes it at once.
    fn send_control(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.writer.poll_control(cx, Pin::new(&mut self.io)) {
            Poll::Ready(result) => result,
            Poll::Pending => Ok(()),
        }
    }

    /// More bytes from the peer.
    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<BytesMut>> {
        match self.buffer.poll_read_mut(cx, Pin::new(&mut self.io), usize::MAX)? {
            Poll::Ready(input) if input.is_empty() => {
                let text = "the connection ended without a WebSocket close frame";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::UnexpectedEof, text)))
            }
            Poll::Ready(input) => {
                if let Some(keepalive) = &mut self.keepalive {
                    keepalive.heard();
                }
                Poll::Ready(Ok(input))
            }
            Poll::Pending => self.poll_silence(cx),
        }
    }

    /// Nothing to read: pings when it is time.
    fn poll_silence<N>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<N>> {
        while let Some(keepalive) = &mut self.keepalive {
            ready!(keepalive.poll_due(cx))?;
            if self.writer.ping() {
                keepalive.asked();
                self.send_control(cx)?;
            }
        }
        Poll::Pending
    }

    /// Reads no more and sends a close frame. A peer that has gone without waiting for it is no news.
    fn refuse_more(&mut self, cx: &mut Context<'_>, code: Option<u16>, text: &str) {
        self.ended = true;
        self.writer.close(code, text);
        let _ = self.send_control(cx);
    }

    /// The peer closes: returns its close frame, and says whether the end is a good one.
    fn end(&mut self, cx: &mut Context<'_>, reason: Option<&CloseReason>) -> io::Result<()> {
        self.refuse_more(cx, reason.map(|reason| reason.code), "");
        match reason {
            None | Some(CloseReason { code: NORMAL | GOING_AWAY, .. }) => Ok(()),
            Some(CloseReason { code, text }) => Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                format!("the peer closed the WebSocket with code {code}: {}", text.escape_debug()),
            )),
        }
    }
}

impl<S> Transport for WebSocketTransport<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        while !self.ended {
            match self.reader.next(&mut self.input) {
                Ok(Some(Event::Data(piece))) => return Poll::Ready(Ok(Some(piece))),
                Ok(Some(Event::Ping(payload))) => self.writer.pong(payload),
                Ok(Some(Event::Close(reason))) => self.end(cx, reason.as_ref())?,
                Ok(None) => {
                    self.send_control(cx)?;
                    self.input = ready!(self.poll_input(cx))?;
                }
                Err(violation) => {
                    self.refuse_more(cx, Some(violation.code), violation.text);
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, violation.text)));
                }
            }
        }
        Poll::Ready(Ok(None))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.writer.poll_write(cx, Pin::new(&mut self.io), bufs)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.writer.poll_control(cx, Pin::new(&mut self.io)))?;
        Pin::new(&mut self.io).poll_flush(cx)
    }

    /// Sends a close frame. The connection below is ended by whoever has both sent and seen one.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer.close(Some(NORMAL), "");
        ready!(self.poll_flush(cx))?;
        if self.ended || self.writer.is_inside_message() {
            return Pin::new(&mut self.io).poll_shutdown(cx);
        }
        Poll::Ready(Ok(()))
    }
}
