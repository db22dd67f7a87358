//! WebSockets of any peer.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};

use arbitrary::Unstructured;
use bytes::Bytes;
use futures::FutureExt;
use futures::task::noop_waker_ref;
use http::HeaderMap;
use muxgate_core::Transport;
use muxgate_transport_native::WebSocketTransport;
use muxgate_transport_native::websocket::accept_key;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The stream of a peer does not depend on how its bytes were cut, in either role; what is sent back is bounded by what
/// came; and an answer to our handshake is taken or refused.
pub(crate) fn run(input: &[u8]) {
    let mut choices = Unstructured::new(input);
    let Ok((cut, role)) = choices.arbitrary::<(u16, u8)>() else { return };
    let stream = choices.take_rest();
    let cut = usize::from(cut).max(1);
    match role % 3 {
        0 => assert_eq!(
            read(stream, cut, WebSocketTransport::server),
            read(stream, usize::MAX, WebSocketTransport::server)
        ),
        1 => assert_eq!(
            read(stream, cut, WebSocketTransport::client),
            read(stream, usize::MAX, WebSocketTransport::client)
        ),
        _ => assert_eq!(upgrade(stream, cut), upgrade(stream, usize::MAX)),
    }
}

/// What a stream came to: its bytes, and how it ended.
fn read<'a>(
    stream: &'a [u8],
    cut: usize,
    open: fn(Peer<'a>, Bytes) -> WebSocketTransport<Peer<'a>>,
) -> (Vec<u8>, Result<(), ErrorKind>) {
    let mut transport = open(Peer::new(stream, cut), Bytes::new());
    drain(&mut transport)
}

fn drain(transport: &mut impl Transport) -> (Vec<u8>, Result<(), ErrorKind>) {
    let mut received = Vec::new();
    loop {
        match transport.poll_read(&mut Context::from_waker(noop_waker_ref())) {
            Poll::Ready(Ok(Some(piece))) => {
                assert!(!piece.is_empty(), "nothing is not news");
                received.extend_from_slice(&piece);
            }
            Poll::Ready(Ok(None)) => return (received, Ok(())),
            Poll::Ready(Err(error)) => return (received, Err(error.kind())),
            Poll::Pending => unreachable!("the peer always has an answer"),
        }
    }
}

/// The bytes are the peer's answer to our handshake, and what follows it.
fn upgrade(answer: &[u8], cut: usize) -> Result<(Vec<u8>, Result<(), ErrorKind>), ErrorKind> {
    let headers = HeaderMap::new();
    let connecting = WebSocketTransport::connect(Peer::new(answer, cut), "gateway", "/jet/jmux", &headers);
    let connected = connecting.now_or_never().expect("the peer always has an answer");
    connected.map(|mut transport| drain(&mut transport)).map_err(|error| error.kind())
}

/// What stands in an answer for the right `Sec-WebSocket-Accept`: no input could guess it.
const ACCEPT: &[u8] = b"ACCEPT";
const KEY: &[u8] = b"sec-websocket-key: ";

/// Says what it has to say, in pieces, and then ends.
struct Peer<'a> {
    says: &'a [u8],
    /// Goes before the rest of what it says.
    accept: Vec<u8>,
    cut: usize,
    /// Bytes that it was sent, and that it has sent.
    heard: usize,
    said: usize,
    key: Option<Vec<u8>>,
}

impl<'a> Peer<'a> {
    fn new(says: &'a [u8], cut: usize) -> Self {
        Self { says, accept: Vec::new(), cut, heard: 0, said: 0, key: None }
    }
}

impl AsyncRead for Peer<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.accept.is_empty() && this.says.starts_with(ACCEPT) && this.key.is_some() {
            this.says = &this.says[ACCEPT.len()..];
            this.accept = accept_key(&this.key.take().unwrap_or_default()).into_bytes();
        }
        if !this.accept.is_empty() {
            let len = this.accept.len().min(this.cut).min(buf.remaining());
            buf.put_slice(&this.accept[..len]);
            this.accept.drain(..len);
            return Poll::Ready(Ok(()));
        }
        // No further than to the next place where the answer goes.
        let places = this.says.windows(ACCEPT.len()).skip(1).position(|word| word == ACCEPT && this.key.is_some());
        let limit = places.map_or(usize::MAX, |at| at + 1);
        let len = this.says.len().min(this.cut).min(buf.remaining()).min(limit);
        buf.put_slice(&this.says[..len]);
        this.says = &this.says[len..];
        this.said += len;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Peer<'_> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(at) = buf.windows(KEY.len()).position(|word| word == KEY) {
            let key = &buf[at + KEY.len()..];
            self.key = key.split(|byte| *byte == b'\r').next().map(<[u8]>::to_vec);
        } else {
            self.heard += buf.len();
            // A pong for a ping, of the same size; and one close frame.
            assert!(self.heard <= 2 * self.said + 150, "{} bytes for {}", self.heard, self.said);
        }
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
