//! Windows: how much a peer may make us hold, and when it may send more.

use futures::future::join_all;
use muxgate_core::{ChannelStream, Config};

use crate::Engine;
use crate::content::{content, read_all};
use crate::peer::{FLOOD, Session, until};

/// A window much smaller than what is sent.
const SMALL: u32 = 32 * 1024;

async fn read_flood(mut stream: ChannelStream) {
    let received = read_all(stream.split().0).await;
    assert!(received == content(0, FLOOD), "other bytes arrived");
}

pub(crate) async fn a_sender_stops_at_the_end_of_the_window<E: Engine>(engine: E) {
    let session = Session::with(&engine, Config { base_window: SMALL, ..Config::default() });
    let stream = session.open("flood").await;
    until(|| stream.stats().receive_credit == 0).await;
    // A sender that does not care has many turns to show it.
    for _ in 0..100 {
        let mut turns = 0..2;
        until(|| turns.next().is_none()).await;
        assert_eq!(stream.stats().unread, u64::from(SMALL));
    }
    read_flood(stream).await;
    assert!(session.opener.stats().adjusts_sent.total() > 0, "a megabyte came through a small window");
    session.end().await;
}

pub(crate) async fn all_windows_share_the_budget<E: Engine>(engine: E) {
    const CHANNELS: u32 = 20;
    let config = Config { budget: SMALL.into(), ..Config::default() };
    let bound = config.budget + u64::from(CHANNELS * config.min_window);
    let session = Session::with(&engine, config);
    let streams = join_all((0..CHANNELS).map(|_| session.open("flood"))).await;
    until(|| streams.iter().all(|stream| stream.stats().receive_credit == 0)).await;
    let stats = session.opener.stats();
    assert!(stats.unread <= stats.promised && stats.promised <= bound, "{stats:?} is beyond {bound}");
    join_all(streams.into_iter().map(read_flood)).await;
    session.end().await;
}

pub(crate) async fn the_window_of_a_busy_channel_grows<E: Engine>(engine: E) {
    let session = Session::with(&engine, Config { base_window: SMALL, ..Config::default() });
    let (mut reader, writer) = session.open("flood").await.into_split();
    assert_eq!(reader.stats().window, SMALL);
    let mut largest = 0;
    while reader.read_chunk().await.expect("the session lives").is_some() {
        largest = largest.max(reader.stats().window);
    }
    assert_eq!(reader.stats().bytes_received, FLOOD as u64);
    drop((reader, writer));
    session.end().await;
    assert!(largest > SMALL, "the window stayed at {largest}");
}
