//! `h2`: each stream is a request whose body and whose answer's body are the two directions.

use std::future::poll_fn;
use std::io::{Error, Result};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{RecvStream, SendStream};
use http::{Request, Response};
use tokio::task::spawn_local;

use crate::library::{Io, Library, Receiver, Sender};

/// What a stream may hold: as much as the others end up with.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 64 * 1024 * 1024;
const FRAME: u32 = 64 * 1024;

pub struct Http2;

/// The answer comes when the peer sends for the first time.
pub enum Answer {
    Awaited(ResponseFuture),
    Body(RecvStream),
}

impl Library for Http2 {
    type Sender = SendStream<Bytes>;
    type Receiver = Answer;

    async fn open(io: impl Io, streams: usize) -> Result<Vec<(SendStream<Bytes>, Answer)>> {
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(STREAM_WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        builder.max_frame_size(FRAME).max_send_buffer_size(STREAM_WINDOW as usize);
        let (client, connection) = builder.handshake::<_, Bytes>(io).await.map_err(Error::other)?;
        spawn_local(connection);
        let mut opened = Vec::new();
        for _ in 0..streams {
            let mut client = client.clone().ready().await.map_err(Error::other)?;
            let request = Request::post("http://bench/").body(()).map_err(Error::other)?;
            let (answer, sender) = client.send_request(request, false).map_err(Error::other)?;
            opened.push((sender, Answer::Awaited(answer)));
        }
        Ok(opened)
    }

    async fn accept(io: impl Io, streams: usize) -> Result<Vec<(SendStream<Bytes>, Answer)>> {
        let mut builder = h2::server::Builder::new();
        builder.initial_window_size(STREAM_WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        builder.max_frame_size(FRAME).max_send_buffer_size(STREAM_WINDOW as usize);
        let mut connection = builder.handshake::<_, Bytes>(io).await.map_err(Error::other)?;
        let mut accepted = Vec::new();
        while accepted.len() < streams {
            let next = connection.accept().await.ok_or(Error::other("the session ended"))?;
            let (request, mut respond) = next.map_err(Error::other)?;
            let sender = respond.send_response(Response::new(()), false).map_err(Error::other)?;
            accepted.push((sender, Answer::Body(request.into_body())));
        }
        spawn_local(async move { while connection.accept().await.is_some() {} });
        Ok(accepted)
    }
}

impl Sender for SendStream<Bytes> {
    async fn send(&mut self, mut bytes: Bytes) -> Result<()> {
        while !bytes.is_empty() {
            self.reserve_capacity(bytes.len());
            let room = poll_fn(|cx| self.poll_capacity(cx)).await;
            let room = room.ok_or(Error::other("the stream ended"))?.map_err(Error::other)?;
            self.send_data(bytes.split_to(room.min(bytes.len())), false).map_err(Error::other)?;
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        self.send_data(Bytes::new(), true).map_err(Error::other)
    }
}

impl Receiver for Answer {
    async fn receive(&mut self) -> Result<Option<usize>> {
        if let Self::Awaited(answer) = self {
            *self = Self::Body(answer.await.map_err(Error::other)?.into_body());
        }
        let Self::Body(body) = self else { unreachable!("it was awaited") };
        let Some(data) = body.data().await else { return Ok(None) };
        let len = data.map_err(Error::other)?.len();
        body.flow_control().release_capacity(len).map_err(Error::other)?;
        Ok(Some(len))
    }
}
