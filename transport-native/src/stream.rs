//! A transport over anything that reads and writes bytes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use muxgate_core::Transport;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::read_buffer::ReadBuffer;

/// JMUX directly on a byte stream: TCP, TLS, a Unix socket, stdin and stdout.
#[derive(Debug)]
pub struct StreamTransport<S> {
    io: S,
    buffer: ReadBuffer,
}

impl<S> StreamTransport<S> {
    /// Makes a transport of a connected stream.
    pub fn new(io: S) -> Self {
        Self { io, buffer: ReadBuffer::new() }
    }

    /// The stream below, for its addresses.
    pub fn get_ref(&self) -> &S {
        &self.io
    }
}

impl<S> Transport for StreamTransport<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        let piece = ready!(self.buffer.poll_read(cx, Pin::new(&mut self.io), usize::MAX))?;
        Poll::Ready(Ok(if piece.is_empty() { None } else { Some(piece) }))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
