//! What is shared, what is used again, and what is given back.

use std::collections::{HashSet, VecDeque};
use std::future::poll_fn;
use std::io::Result;

use tokio::io::AsyncReadExt;

use super::*;

/// Gives the sizes of these reads one after another, and then has nothing to read.
struct Script {
    reads: Vec<usize>,
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let Some(len) = self.reads.pop() else {
            return Poll::Pending;
        };
        let n = len.min(buf.remaining());
        buf.put_bytes(7, n);
        if len > n {
            self.reads.push(len - n);
        }
        Poll::Ready(Ok(()))
    }
}

/// Everything that there is to read, in pieces.
async fn burst(buffer: &mut ReadBuffer, reads: &[usize]) -> Vec<Bytes> {
    let mut script = Script { reads: reads.iter().rev().copied().collect() };
    let mut pieces = Vec::new();
    poll_fn(|cx| {
        while let Poll::Ready(piece) = buffer.poll_read(cx, Pin::new(&mut script), usize::MAX) {
            pieces.extend(piece);
        }
        Poll::Ready(())
    })
    .await;
    pieces
}

fn sizes(pieces: &[Bytes]) -> Vec<usize> {
    pieces.iter().map(Bytes::len).collect()
}

#[tokio::test]
async fn the_buffer_grows_when_reads_fill_it() {
    let mut buffer = ReadBuffer::new();
    let pieces = burst(&mut buffer, &[200_000]).await;
    assert_eq!(sizes(&pieces), [SMALL, LARGE, LARGE, 200_000 - SMALL - 2 * LARGE]);
}

#[tokio::test]
async fn a_quiet_reader_goes_back_to_a_small_buffer_and_holds_none() {
    let mut buffer = ReadBuffer::new();
    burst(&mut buffer, &[200_000]).await;
    assert_eq!(buffer.wanted, LARGE);
    burst(&mut buffer, &[5_000]).await;
    assert_eq!((buffer.wanted, buffer.current.capacity()), (SMALL, 0));
}

#[tokio::test]
async fn the_rest_of_a_buffer_serves_the_next_reads() {
    let mut buffer = ReadBuffer { wanted: LARGE, ..ReadBuffer::new() };
    let pieces = burst(&mut buffer, &[20_000, 20_000]).await;
    assert_eq!(pieces[0].as_ptr().wrapping_add(20_000), pieces[1].as_ptr());
}

#[tokio::test]
async fn readers_of_a_thread_share_few_buffers() {
    let mut readers: Vec<_> = (0..100).map(|_| ReadBuffer { wanted: LARGE, ..ReadBuffer::new() }).collect();
    let mut held = VecDeque::new();
    let mut memory = HashSet::new();
    for reader in &mut readers {
        held.push_back(burst(reader, &[LARGE]).await);
        memory.extend(held.iter().flatten().map(|piece| piece.as_ptr()));
        if held.len() > 2 {
            held.pop_front();
        }
    }
    assert!(memory.len() <= 4, "three are held and one is there to read into: {}", memory.len());
}

#[tokio::test]
async fn small_pieces_are_copied_out() {
    let mut buffer = ReadBuffer { wanted: LARGE, ..ReadBuffer::new() };
    let pieces = burst(&mut buffer, &[COPY_BELOW - 1, COPY_BELOW]).await;
    let [small, large] = <[Bytes; 2]>::try_from(pieces).expect("two reads are two pieces");
    let capacity = |piece: Bytes| BytesMut::from(piece).capacity();
    assert_eq!(capacity(small), COPY_BELOW - 1);
    drop(buffer);
    assert!(capacity(large) >= COPY_BELOW);
}

#[tokio::test]
async fn a_thread_keeps_few_buffers() {
    let mut buffer = ReadBuffer { wanted: LARGE, ..ReadBuffer::new() };
    let pieces = burst(&mut buffer, &[3 * SPARE_BUFFERS * LARGE]).await;
    assert_eq!(pieces.len(), 3 * SPARE_BUFFERS);
    assert_eq!(SPARE.with_borrow(Vec::len), SPARE_BUFFERS);
}

#[tokio::test]
async fn the_limit_is_kept_and_the_end_is_empty() -> Result<()> {
    let mut buffer = ReadBuffer::new();
    let mut io = (&[1_u8, 2, 3][..]).chain(tokio::io::empty());
    for expected in [&[1, 2][..], &[3], &[]] {
        let piece = poll_fn(|cx| buffer.poll_read(cx, Pin::new(&mut io), 2)).await?;
        assert_eq!(piece, expected);
    }
    Ok(())
}
