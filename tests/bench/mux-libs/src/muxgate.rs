//! `muxgate-core` over the transport for byte streams.

use std::io::{Error, Result};

use bytes::Bytes;
use muxgate_core::{ChannelReader, ChannelStream, ChannelWriter, Config, Destination, client, server};
use muxgate_transport_native::{StreamTransport, TokioClock};
use tokio::task::spawn_local;

use crate::library::{Io, Library, Receiver, Sender};

pub struct Muxgate;

impl Library for Muxgate {
    type Sender = ChannelWriter;
    type Receiver = ChannelReader;

    async fn open(io: impl Io, streams: usize) -> Result<Vec<(ChannelWriter, ChannelReader)>> {
        let (opener, connection) = client(StreamTransport::new(io), TokioClock::new(), Config::default());
        spawn_local(connection);
        let destination = Destination::tcp("bench", 1).map_err(Error::other)?;
        let mut opened = Vec::new();
        for _ in 0..streams {
            opened.push(halves(opener.open(&destination).await.map_err(Error::other)?));
        }
        Ok(opened)
    }

    async fn accept(io: impl Io, streams: usize) -> Result<Vec<(ChannelWriter, ChannelReader)>> {
        let (mut acceptor, connection) = server(StreamTransport::new(io), TokioClock::new(), Config::default());
        spawn_local(connection);
        let mut accepted = Vec::new();
        while accepted.len() < streams {
            let incoming = acceptor.accept().await.ok_or(Error::other("the session ended"))?;
            accepted.push(halves(incoming.accept().map_err(Error::other)?));
        }
        Ok(accepted)
    }
}

fn halves(stream: ChannelStream) -> (ChannelWriter, ChannelReader) {
    let (reader, writer) = stream.into_split();
    (writer, reader)
}

impl Sender for ChannelWriter {
    async fn send(&mut self, bytes: Bytes) -> Result<()> {
        self.write_chunk(bytes).await.map_err(Error::other)
    }

    async fn finish(&mut self) -> Result<()> {
        ChannelWriter::finish(self);
        Ok(())
    }
}

impl Receiver for ChannelReader {
    async fn receive(&mut self) -> Result<Option<usize>> {
        Ok(self.read_chunk().await.map_err(Error::other)?.map(|chunk| chunk.len()))
    }
}
