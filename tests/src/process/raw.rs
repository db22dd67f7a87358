//! Clients that write their own bytes.

use bytes::{Bytes, BytesMut};
use muxgate_core::codec::Decoder;
use muxgate_core::frame::Frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::scripted::encode;

/// One side of a JMUX session on TCP, whose frames are those of the test.
#[derive(Debug)]
pub struct RawSession {
    /// The connection.
    pub stream: TcpStream,
    input: Bytes,
    decoder: Decoder,
}

impl RawSession {
    /// Connects to the gateway at `authority`.
    pub async fn connect(authority: &str) -> Self {
        Self::new(TcpStream::connect(authority).await.expect("the gateway listens"))
    }

    /// A session on a connection that is there: the test may be the gateway, too.
    #[must_use]
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, input: Bytes::new(), decoder: Decoder::default() }
    }

    /// Sends `frames` in one piece.
    pub async fn send(&mut self, frames: impl IntoIterator<Item = Frame>) {
        self.stream.write_all(&encode(frames)).await.expect("the other side reads");
    }

    /// The next frame of the other side. `None`: it ended the session.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.decoder.decode(&mut self.input).expect("the other side's frames are valid") {
                return Some(frame);
            }
            let mut piece = BytesMut::with_capacity(16 * 1024);
            match self.stream.read_buf(&mut piece).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => self.input = piece.freeze(),
            }
        }
    }
}

/// A request that asks for an upgrade to WebSocket, with more header lines (each with its line end).
#[must_use]
pub fn request(headers: &str) -> String {
    format!(
        "GET /jet/jmux HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    )
}

/// Sends `request` to the gateway at `authority`, and returns the head of the answer with the connection.
pub async fn upgrade(authority: &str, request: &str) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(authority).await.expect("the gateway listens");
    // It may answer before it has read all of it.
    let _ = stream.write_all(request.as_bytes()).await;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        // A byte at a time: what follows the head is not ours to read.
        head.push(stream.read_u8().await.expect("the answer has a head"));
    }
    (String::from_utf8(head).expect("a head is text"), stream)
}

/// The status that the gateway at `authority` answers `request` with.
pub async fn status(authority: &str, request: &str) -> u16 {
    let (head, _) = upgrade(authority, request).await;
    head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("an answer has a status")
}
