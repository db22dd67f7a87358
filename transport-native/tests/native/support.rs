//! Both ends of connections, and futures that use a transport's whole interface.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use muxgate_core::Transport;
use tokio::net::{TcpListener, TcpStream};

/// Two ends of a TCP connection over loopback.
pub(crate) async fn tcp_pair() -> Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let (client, server) = tokio::join!(TcpStream::connect(listener.local_addr()?), listener.accept());
    let (client, server) = (client?, server?.0);
    muxgate_transport_native::tune(&client)?;
    muxgate_transport_native::tune(&server)?;
    Ok((client, server))
}

pub(crate) async fn read<T: Transport>(transport: &mut T) -> Result<Option<Bytes>> {
    poll_fn(|cx| transport.poll_read(cx)).await
}

/// Reads exactly `len` bytes, however they are cut.
pub(crate) async fn read_exact<T: Transport>(transport: &mut T, len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let piece = read(transport).await?.ok_or(Error::from(ErrorKind::UnexpectedEof))?;
        bytes.extend_from_slice(&piece);
    }
    assert_eq!(bytes.len(), len, "no byte beyond what was sent");
    Ok(bytes)
}

/// Writes and flushes all of `bytes`.
pub(crate) async fn write<T: Transport>(transport: &mut T, bytes: &[u8]) -> Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let n = poll_fn(|cx| transport.poll_write(cx, &[IoSlice::new(rest)])).await?;
        rest = &rest[n..];
    }
    poll_fn(|cx| transport.poll_flush(cx)).await
}

pub(crate) async fn close<T: Transport>(transport: &mut T) -> Result<()> {
    poll_fn(|cx| transport.poll_close(cx)).await
}

/// What an echo keeps before it stops reading.
const ECHO_LIMIT: usize = 1 << 20;

/// Sends back what comes, and ends when the peer ends.
pub(crate) async fn echo<T: Transport>(mut transport: T) -> Result<()> {
    let mut queue = VecDeque::new();
    let mut ended = false;
    poll_fn(|cx| poll_echo(cx, &mut transport, &mut queue, &mut ended)).await?;
    close(&mut transport).await
}

fn poll_echo<T: Transport>(
    cx: &mut Context<'_>,
    transport: &mut T,
    queue: &mut VecDeque<Bytes>,
    ended: &mut bool,
) -> Poll<Result<()>> {
    loop {
        let held: usize = queue.iter().map(Bytes::len).sum();
        let mut progress = false;
        if !*ended
            && held < ECHO_LIMIT
            && let Poll::Ready(piece) = transport.poll_read(cx)?
        {
            progress = true;
            *ended = piece.is_none();
            queue.extend(piece);
        }
        if !queue.is_empty() {
            let slices: Vec<_> = queue.iter().take(64).map(|piece| IoSlice::new(piece)).collect();
            if let Poll::Ready(n) = transport.poll_write(cx, &slices)? {
                progress = true;
                consume(queue, n);
            }
        }
        if queue.is_empty() && transport.poll_flush(cx)?.is_ready() && *ended {
            return Poll::Ready(Ok(()));
        }
        if !progress {
            return Poll::Pending;
        }
    }
}

fn consume(queue: &mut VecDeque<Bytes>, mut n: usize) {
    while let Some(first) = queue.front_mut()
        && n > 0
    {
        let part = n.min(first.len());
        first.advance(part);
        n -= part;
        if first.is_empty() {
            queue.pop_front();
        }
    }
}

/// Sends `total` bytes and checks that they come back, both at once.
pub(crate) async fn exchange<T: Transport>(transport: &mut T, total: usize) -> Result<()> {
    let pattern = Pattern::new();
    let (mut sent, mut received) = (0, 0);
    poll_fn(|cx| {
        loop {
            let mut progress = false;
            if sent < total
                && let Poll::Ready(n) = transport.poll_write(cx, &pattern.slices(sent, total))?
            {
                assert!(n > 0, "a write that takes nothing waits");
                sent += n;
                progress = true;
            }
            let flushed = transport.poll_flush(cx)?;
            if let Poll::Ready(piece) = transport.poll_read(cx)? {
                let piece = piece.ok_or(Error::from(ErrorKind::UnexpectedEof))?;
                pattern.check(received, &piece);
                received += piece.len();
                progress = true;
            }
            if received == total && flushed.is_ready() {
                return Poll::Ready(Ok(()));
            }
            if !progress {
                return Poll::Pending;
            }
        }
    })
    .await
}

/// Bytes that repeat only after a prime length, so that a byte in a wrong place shows.
struct Pattern {
    bytes: Vec<u8>,
}

impl Pattern {
    const LEN: usize = 65_537;

    fn new() -> Self {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        Self { bytes: (0..Self::LEN).map(|_| next()).collect() }
    }

    fn at(&self, offset: usize) -> &[u8] {
        &self.bytes[offset % Self::LEN..]
    }

    /// What follows `offset`, in up to 64 slices of odd lengths, as headers and payloads are.
    fn slices(&self, mut offset: usize, end: usize) -> Vec<IoSlice<'_>> {
        let mut slices = Vec::new();
        for len in [8, 65_520, 8, 4_088, 1, 0, 8, 30_000].iter().cycle().take(64) {
            let from = self.at(offset);
            let slice = &from[..(*len).min(from.len()).min(end - offset)];
            slices.push(IoSlice::new(slice));
            offset += slice.len();
        }
        slices
    }

    fn check(&self, mut offset: usize, mut piece: &[u8]) {
        assert!(!piece.is_empty(), "an empty piece is none");
        while !piece.is_empty() {
            let expected = self.at(offset);
            let n = expected.len().min(piece.len());
            assert!(piece[..n] == expected[..n], "other bytes than were sent, behind {offset}");
            piece = &piece[n..];
            offset += n;
        }
    }
}
