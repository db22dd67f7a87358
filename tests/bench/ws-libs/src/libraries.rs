//! One sender and one receiver for each library, as a transport would use it.
//!
//! A sender gets each message as two slices, a short header and a payload, and has to gather them where the library
//! wants one buffer. A receiver must end up with `Bytes` that it may keep.

use std::collections::VecDeque;
use std::io::Result;

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;

/// What one run moves, and in which direction.
#[derive(Clone, Copy)]
pub struct Load {
    pub message: usize,
    pub count: usize,
    /// The client sends, so every payload is masked.
    pub from_client: bool,
}

/// Bytes that a batch of messages may hold before it is flushed, as in a session.
const BATCH: usize = 256 * 1024;

impl Load {
    fn flush_every(self) -> usize {
        BATCH / self.message
    }
}

/// The payloads come from memory that was read lately, as in a relay.
pub struct Source {
    payloads: Bytes,
    header: [u8; 8],
}

impl Source {
    pub fn new() -> Self {
        Self { payloads: vec![0xa5; BATCH].into(), header: [0x5a; 8] }
    }

    fn message(&self, load: Load, index: usize) -> [&[u8]; 2] {
        let slot = index % load.flush_every() * load.message;
        [&self.header, &self.payloads[slot..slot + load.message - self.header.len()]]
    }
}

/// Keeps the latest pieces alive, as the queues of channels do.
#[derive(Default)]
pub struct Sink {
    pieces: VecDeque<Bytes>,
    held: usize,
    pub total: usize,
}

impl Sink {
    fn take(&mut self, piece: Bytes) {
        self.held += piece.len();
        self.total += piece.len();
        self.pieces.push_back(piece);
        while self.held > BATCH {
            self.held -= self.pieces.pop_front().map_or(0, |oldest| oldest.len());
        }
    }
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> std::io::Error {
    std::io::Error::other(error)
}

pub mod tokio_websockets {
    use super::*;
    use ::tokio_websockets::{ClientBuilder, Config, Message, ServerBuilder, WebSocketStream};

    fn open(io: TcpStream, client: bool) -> WebSocketStream<TcpStream> {
        let config = Config::default().frame_size(1 << 20).flush_threshold(BATCH);
        if client {
            ClientBuilder::new().config(config).take_over(io)
        } else {
            ServerBuilder::new().config(config).serve(io)
        }
    }

    pub async fn send(io: TcpStream, load: Load, source: &Source) -> Result<()> {
        let mut socket = open(io, load.from_client);
        let mut buffer = BytesMut::new();
        for index in 0..load.count {
            buffer.reserve(load.message);
            for slice in source.message(load, index) {
                buffer.extend_from_slice(slice);
            }
            socket.feed(Message::binary(buffer.split())).await.map_err(other)?;
            if (index + 1) % load.flush_every() == 0 {
                socket.flush().await.map_err(other)?;
            }
        }
        socket.flush().await.map_err(other)
    }

    pub async fn receive(io: TcpStream, load: Load, sink: &mut Sink) -> Result<()> {
        let mut socket = open(io, !load.from_client);
        while sink.total < load.message * load.count {
            let Some(message) = socket.next().await else { break };
            sink.take(Bytes::from(message.map_err(other)?.into_payload()));
        }
        Ok(())
    }
}

pub mod fastwebsockets {
    use super::*;
    use ::fastwebsockets::{Frame, Payload, Role, WebSocket};

    fn open(io: TcpStream, client: bool) -> WebSocket<TcpStream> {
        WebSocket::after_handshake(io, if client { Role::Client } else { Role::Server })
    }

    pub async fn send(io: TcpStream, load: Load, source: &Source) -> Result<()> {
        let mut socket = open(io, load.from_client);
        for index in 0..load.count {
            let mut buffer = Vec::with_capacity(load.message);
            for slice in source.message(load, index) {
                buffer.extend_from_slice(slice);
            }
            socket.write_frame(Frame::binary(Payload::Owned(buffer))).await.map_err(other)?;
        }
        Ok(())
    }

    pub async fn receive(io: TcpStream, load: Load, sink: &mut Sink) -> Result<()> {
        let mut socket = open(io, !load.from_client);
        while sink.total < load.message * load.count {
            match socket.read_frame().await.map_err(other)?.payload {
                Payload::Bytes(payload) => sink.take(payload.freeze()),
                payload => sink.take(Bytes::copy_from_slice(&payload)),
            }
        }
        Ok(())
    }
}

pub mod tungstenite {
    use super::*;
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};

    async fn open(io: TcpStream, client: bool) -> WebSocketStream<TcpStream> {
        let role = if client { Role::Client } else { Role::Server };
        let config = WebSocketConfig::default().read_buffer_size(BATCH).write_buffer_size(BATCH / 2);
        WebSocketStream::from_raw_socket(io, role, Some(config)).await
    }

    pub async fn send(io: TcpStream, load: Load, source: &Source) -> Result<()> {
        let mut socket = open(io, load.from_client).await;
        let mut buffer = BytesMut::new();
        for index in 0..load.count {
            buffer.reserve(load.message);
            for slice in source.message(load, index) {
                buffer.extend_from_slice(slice);
            }
            socket.feed(Message::Binary(buffer.split().freeze())).await.map_err(other)?;
            if (index + 1) % load.flush_every() == 0 {
                socket.flush().await.map_err(other)?;
            }
        }
        socket.flush().await.map_err(other)
    }

    pub async fn receive(io: TcpStream, load: Load, sink: &mut Sink) -> Result<()> {
        let mut socket = open(io, !load.from_client).await;
        while sink.total < load.message * load.count {
            let Some(message) = socket.next().await else { break };
            sink.take(message.map_err(other)?.into_data());
        }
        Ok(())
    }
}

pub mod muxgate {
    use super::*;
    use std::future::poll_fn;
    use std::io::IoSlice;

    use muxgate_core::Transport;
    use muxgate_transport_native::WebSocketTransport;

    fn open(io: TcpStream, client: bool) -> WebSocketTransport<TcpStream> {
        if client {
            WebSocketTransport::client(io, Bytes::new())
        } else {
            WebSocketTransport::server(io, Bytes::new())
        }
    }

    pub async fn send(io: TcpStream, load: Load, source: &Source) -> Result<()> {
        let mut socket = open(io, load.from_client);
        for batch in 0..load.count / load.flush_every() {
            let indices = batch * load.flush_every()..(batch + 1) * load.flush_every();
            let mut slices: Vec<_> =
                indices.flat_map(|index| source.message(load, index)).map(IoSlice::new).collect();
            let mut rest = slices.as_mut_slice();
            while !rest.is_empty() {
                let n = poll_fn(|cx| socket.poll_write(cx, rest)).await?;
                IoSlice::advance_slices(&mut rest, n);
            }
            poll_fn(|cx| socket.poll_flush(cx)).await?;
        }
        Ok(())
    }

    pub async fn receive(io: TcpStream, load: Load, sink: &mut Sink) -> Result<()> {
        let mut socket = open(io, !load.from_client);
        while sink.total < load.message * load.count {
            let Some(piece) = poll_fn(|cx| socket.poll_read(cx)).await? else { break };
            sink.take(piece);
        }
        Ok(())
    }
}
