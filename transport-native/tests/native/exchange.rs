//! The same 100 MB through every transport, there and back.

use std::io::Result;

use bytes::Bytes;
use muxgate_core::Transport;
use muxgate_transport_native::{StreamTransport, WebSocketTransport};

use crate::support::{close, echo, exchange, read, tcp_pair};
use crate::tls::tls_pair;

const TOTAL: usize = 100_000_000;

/// Sends everything there and back, then ends in good order.
async fn there_and_back<A, B>(mut near: A, far: B, total: usize) -> Result<()>
where
    A: Transport,
    B: Transport,
{
    let work = async {
        exchange(&mut near, total).await?;
        close(&mut near).await?;
        assert_eq!(read(&mut near).await?, None, "the echo ends in good order too");
        Ok(())
    };
    tokio::try_join!(work, echo(far))?;
    Ok(())
}

#[tokio::test]
async fn tcp() -> Result<()> {
    let (near, far) = tcp_pair().await?;
    there_and_back(StreamTransport::new(near), StreamTransport::new(far), TOTAL).await
}

#[cfg(unix)]
#[tokio::test]
async fn unix_socket() -> Result<()> {
    let (near, far) = tokio::net::UnixStream::pair()?;
    there_and_back(StreamTransport::new(near), StreamTransport::new(far), TOTAL).await
}

#[tokio::test]
async fn tls() -> Result<()> {
    let (near, far) = tls_pair().await?;
    there_and_back(StreamTransport::new(near), StreamTransport::new(far), TOTAL).await
}

#[tokio::test]
async fn websocket() -> Result<()> {
    let (near, far) = tcp_pair().await?;
    let near = WebSocketTransport::client(near, Bytes::new());
    there_and_back(near, WebSocketTransport::server(far, Bytes::new()), TOTAL).await
}

#[tokio::test]
async fn websocket_on_tls() -> Result<()> {
    let (near, far) = tls_pair().await?;
    let near = WebSocketTransport::client(near, Bytes::new());
    there_and_back(near, WebSocketTransport::server(far, Bytes::new()), TOTAL).await
}

/// A pipe of a few bytes cuts every header, mask and payload at every place.
#[tokio::test]
async fn websocket_on_a_narrow_pipe() -> Result<()> {
    for capacity in [1, 2, 3, 5, 13, 1_000, 65_539, 300_000] {
        let (near, far) = tokio::io::duplex(capacity);
        let near = WebSocketTransport::client(near, Bytes::new());
        let far = WebSocketTransport::server(far, Bytes::new());
        there_and_back(near, far, 20_000 + 1_000 * capacity.min(1_000)).await?;
    }
    Ok(())
}
