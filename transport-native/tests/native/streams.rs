//! Ends and limits of the plain byte streams.

use std::future::poll_fn;
use std::io::{IoSlice, Result};
use std::task::Poll;

use bytes::Bytes;
use muxgate_core::Transport;
use muxgate_transport_native::{StreamTransport, TcpTransport, WebSocketTransport};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{close, read, read_exact, tcp_pair, write};
use crate::tls::tls_pair;

#[tokio::test]
async fn one_direction_ends_before_the_other() -> Result<()> {
    let (near, far) = tcp_pair().await?;
    let (mut near, mut far) = (TcpTransport::new(near), TcpTransport::new(far));
    close(&mut near).await?;
    assert_eq!(read(&mut far).await?, None);
    write(&mut far, b"still here").await?;
    assert_eq!(read_exact(&mut near, 10).await?, b"still here");
    Ok(())
}

#[tokio::test]
async fn a_truncated_tls_stream_is_an_error() -> Result<()> {
    let (near, far) = tls_pair().await?;
    let mut far = StreamTransport::new(far);
    let (mut tcp, _session) = match near {
        tokio_rustls::TlsStream::Client(stream) => stream.into_inner(),
        tokio_rustls::TlsStream::Server(_) => unreachable!("the near end is the client"),
    };
    tcp.shutdown().await?;
    let error = read(&mut far).await.expect_err("no close_notify came");
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    Ok(())
}

/// Writes as much as is taken while nobody reads.
async fn fill<T: Transport>(transport: &mut T) -> Result<usize> {
    let bytes = vec![7; 64 * 1024];
    let mut taken = 0;
    poll_fn(|cx| {
        while let Poll::Ready(n) = transport.poll_write(cx, &[IoSlice::new(&bytes); 4])? {
            taken += n;
            let _ = transport.poll_flush(cx)?;
        }
        Poll::Ready(Ok(taken))
    })
    .await
}

#[tokio::test]
async fn a_reader_that_stops_bounds_the_memory() -> Result<()> {
    const KERNEL: usize = 1024 * 1024;
    const OWN: usize = 256 * 1024;
    for _ in 0..2 {
        let (near, _far) = tokio::io::duplex(KERNEL);
        assert!(fill(&mut StreamTransport::new(near)).await? <= KERNEL);
        let (near, _far) = tokio::io::duplex(KERNEL);
        assert!(fill(&mut WebSocketTransport::server(near, Bytes::new())).await? <= KERNEL);
        let (near, _far) = tokio::io::duplex(KERNEL);
        let taken = fill(&mut WebSocketTransport::client(near, Bytes::new())).await?;
        assert!(taken <= KERNEL + OWN, "the client holds no more than what it masked: {taken}");
    }
    Ok(())
}

#[tokio::test]
async fn small_pieces_do_not_share_memory_with_large_ones() -> Result<()> {
    let (near, mut far) = tcp_pair().await?;
    let mut near = TcpTransport::new(near);
    far.write_all(b"small").await?;
    let piece = read(&mut near).await?.unwrap_or_default();
    assert_eq!(&piece[..], b"small");
    assert!(piece.try_into_mut().is_ok_and(|piece| piece.capacity() < 4096), "the only handle to a small buffer");
    drop(near);
    assert_eq!(far.read(&mut [0]).await?, 0);
    Ok(())
}
