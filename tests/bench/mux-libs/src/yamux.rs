//! `yamux`, of libp2p, and `tokio-yamux`, of tentacle.

use std::future::poll_fn;
use std::io::{Error, Result};

use bytes::Bytes;
use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::task::spawn_local;
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt, TokioAsyncReadCompatExt};
use yamux::{Config, Connection, Mode};

use crate::library::{Io, Library, Receiver, Sender};

/// What the application reads into.
const PIECE: usize = 64 * 1024;

/// The window of a tokio-yamux stream, which does not grow: four times the default.
const WINDOW: u32 = 1024 * 1024;

pub struct Yamux;
pub struct TokioYamux;

/// Halves of anything that is read and written like a socket.
pub struct Write<S>(WriteHalf<S>);
pub struct Read<S>(ReadHalf<S>, Vec<u8>);

type Halves<S> = (Write<S>, Read<S>);

fn halves<S: Io>(stream: S) -> Halves<S> {
    let (read, write) = split(stream);
    (Write(write), Read(read, vec![0; PIECE]))
}

impl<S: Io> Sender for Write<S> {
    async fn send(&mut self, bytes: Bytes) -> Result<()> {
        self.0.write_all(&bytes).await
    }

    async fn finish(&mut self) -> Result<()> {
        self.0.shutdown().await
    }
}

impl<S: Io> Receiver for Read<S> {
    async fn receive(&mut self) -> Result<Option<usize>> {
        let len = self.0.read(&mut self.1).await?;
        Ok((len > 0).then_some(len))
    }
}

impl Library for Yamux {
    type Sender = Write<Compat<yamux::Stream>>;
    type Receiver = Read<Compat<yamux::Stream>>;

    async fn open(io: impl Io, streams: usize) -> Result<Vec<Halves<Compat<yamux::Stream>>>> {
        let mut connection = Connection::new(io.compat(), config(), Mode::Client);
        let mut opened = Vec::new();
        for _ in 0..streams {
            let stream = poll_fn(|cx| connection.poll_new_outbound(cx)).await.map_err(Error::other)?;
            opened.push(halves(stream.compat()));
        }
        spawn_local(async move { while poll_fn(|cx| connection.poll_next_inbound(cx)).await.is_some() {} });
        Ok(opened)
    }

    async fn accept(io: impl Io, streams: usize) -> Result<Vec<Halves<Compat<yamux::Stream>>>> {
        let mut connection = Connection::new(io.compat(), config(), Mode::Server);
        let mut accepted = Vec::new();
        while accepted.len() < streams {
            let next = poll_fn(|cx| connection.poll_next_inbound(cx)).await;
            let stream = next.ok_or(Error::other("the session ended"))?.map_err(Error::other)?;
            accepted.push(halves(stream.compat()));
        }
        spawn_local(async move { while poll_fn(|cx| connection.poll_next_inbound(cx)).await.is_some() {} });
        Ok(accepted)
    }
}

/// Its windows grow by themselves.
fn config() -> Config {
    let mut config = Config::default();
    config.set_split_send_size(PIECE);
    config
}

impl Library for TokioYamux {
    type Sender = Write<tokio_yamux::StreamHandle>;
    type Receiver = Read<tokio_yamux::StreamHandle>;

    async fn open(io: impl Io, streams: usize) -> Result<Vec<Halves<tokio_yamux::StreamHandle>>> {
        let mut session = tokio_yamux::Session::new_client(io, tokio_config());
        let mut control = session.control();
        spawn_local(async move { while session.next().await.is_some() {} });
        let mut opened = Vec::new();
        for _ in 0..streams {
            opened.push(halves(control.open_stream().await.map_err(Error::other)?));
        }
        Ok(opened)
    }

    async fn accept(io: impl Io, streams: usize) -> Result<Vec<Halves<tokio_yamux::StreamHandle>>> {
        let mut session = tokio_yamux::Session::new_server(io, tokio_config());
        let mut accepted = Vec::new();
        while accepted.len() < streams {
            let next = session.next().await.ok_or(Error::other("the session ended"))?;
            accepted.push(halves(next.map_err(Error::other)?));
        }
        spawn_local(async move { while session.next().await.is_some() {} });
        Ok(accepted)
    }
}

fn tokio_config() -> tokio_yamux::Config {
    tokio_yamux::Config { max_stream_window_size: WINDOW, ..Default::default() }
}
