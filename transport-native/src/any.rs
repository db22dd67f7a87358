//! One type for all transports that an endpoint can mean.

use std::io::{self, IoSlice};
use std::task::{Context, Poll};

use bytes::Bytes;
use muxgate_core::Transport;
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

use crate::tcp::TcpTransport;
use crate::tls::TlsTransport;
#[cfg(unix)]
use crate::unix::UnixTransport;
use crate::websocket::WebSocketTransport;

/// A transport whose kind is known at run time only.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one lives for each session; boxing it would cost every read a pointer")]
pub enum AnyTransport {
    /// `tcp://`
    Tcp(TcpTransport),
    /// `tls://`
    Tls(TlsTransport),
    /// `unix:`
    #[cfg(unix)]
    Unix(UnixTransport),
    /// `ws://`
    WebSocket(WebSocketTransport<TcpStream>),
    /// `wss://`
    SecureWebSocket(WebSocketTransport<TlsStream<TcpStream>>),
}

macro_rules! delegate {
    ($self:ident, $transport:ident => $call:expr) => {
        match $self {
            AnyTransport::Tcp($transport) => $call,
            AnyTransport::Tls($transport) => $call,
            #[cfg(unix)]
            AnyTransport::Unix($transport) => $call,
            AnyTransport::WebSocket($transport) => $call,
            AnyTransport::SecureWebSocket($transport) => $call,
        }
    };
}

impl Transport for AnyTransport {
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        delegate!(self, transport => transport.poll_read(cx))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        delegate!(self, transport => transport.poll_write(cx, bufs))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, transport => transport.poll_flush(cx))
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, transport => transport.poll_close(cx))
    }
}
