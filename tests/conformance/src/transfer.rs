//! Content in both directions.

use std::pin::pin;

use bytes::Bytes;
use futures::future::{Either, join, join_all, select};
use futures::{AsyncReadExt, AsyncWriteExt, FutureExt};

use crate::Engine;
use crate::content::{content, read_all};
use crate::peer::{FLOOD, Session, until};

/// Sends `len` bytes to an echo while it reads what comes back.
pub(crate) async fn exchange(session: &Session, seed: usize, len: usize) {
    let (mut reader, mut writer) = session.open("echo").await.into_split();
    let sent = content(seed, len);
    let chunk = Bytes::from(sent.clone());
    let write = async {
        writer.write_chunk(chunk).await.expect("the other side reads");
        writer.finish();
    };
    let (received, ()) = join(read_all(&mut reader), write).await;
    assert_eq!(received.len(), len);
    assert!(received == sent, "other bytes came back");
}

pub(crate) async fn a_megabyte_comes_back<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    exchange(&session, 0, 1 << 20).await;
    session.end().await;
}

pub(crate) async fn twenty_channels_at_a_time<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    join_all((0..20).map(|seed| exchange(&session, seed, 100_000))).await;
    assert_eq!(session.opener.stats().channels_opened, 20);
    session.end().await;
}

/// One channel is full of what nobody reads, others go on in both directions.
pub(crate) async fn both_directions_are_independent<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    fill_and_exchange(&session).await;
    // What is queued for a deaf destination would keep the session for ever.
    session.near.abort();
    session.served.await.expect("the far side learns it");
}

async fn fill_and_exchange(session: &Session) {
    let flooded = session.open("flood").await;
    let (_reader, mut deaf) = session.open("deaf").await.into_split();
    let full = pin!(deaf.write_chunk(content(0, FLOOD).into()));
    let others = pin!(async {
        until(|| flooded.stats().receive_credit == 0 && session.opener.stats().stalls > 0).await;
        join_all((0..3).map(|seed| exchange(session, seed, 300_000))).await;
    });
    assert!(matches!(select(full, others).await, Either::Right(_)), "a deaf destination took everything");
}

/// What is dropped in the middle, or before it is open, leaves nothing behind, and the session goes on.
pub(crate) async fn a_dropped_stream_disturbs_nobody<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    for _ in 0..10 {
        let mut stream = session.open("echo").await;
        stream.write_all(&content(0, 100_000)).await.expect("there is room");
        stream.read_exact(&mut [0; 1000]).await.expect("it comes back");
        drop(stream);
        // Asks, and is gone before the answer arrives, at least where all tasks share a thread.
        drop(session.try_open("echo").now_or_never());
    }
    exchange(&session, 0, 1000).await;
    session.end().await;
}
