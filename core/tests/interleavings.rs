//! Tasks on several threads that use one session, in many interleavings: at each lock another one may run.
//!
//! Shuttle chooses them at random, half of them with few changes of the running task (PCT), and reports a deadlock if
//! everybody sleeps: so does a lost wakeup show. `cargo xtask test --only interleavings` runs them; without the flag of
//! that step there is nothing here.
#![cfg(muxgate_shuttle)]

use std::future::poll_fn;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::{Either, select};
use muxgate_core::{
    Acceptor, ChannelReader, ChannelWriter, Config, ConnectionError, Destination, Duplex, Opener, StoppedClock, client,
    duplex, server,
};
use shuttle::future::{JoinHandle, block_on, spawn, yield_now};

/// Schedules of each kind for each test.
const SCHEDULES: usize = 5000;
/// Changes of the running task that PCT places; most races need two.
const CHANGES: usize = 3;

fn check(scenario: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(scenario.clone(), SCHEDULES);
    shuttle::check_pct(scenario, SCHEDULES, CHANGES);
}

type Driver = JoinHandle<Result<(), ConnectionError>>;

/// Two sides whose pipe, windows and buffers are so small that everybody waits for everybody.
fn session() -> (Opener, Acceptor, [Driver; 2]) {
    let (near, far) = duplex(48);
    let config = Config {
        budget: 0,
        min_window: 16,
        base_window: 16,
        max_window: 16,
        send_buffer: 16,
        max_frame: 24,
        ..Config::default()
    };
    let (opener, near) = client::<Duplex, _>(near, StoppedClock, config.clone());
    let (acceptor, far) = server::<Duplex, _>(far, StoppedClock, config);
    (opener, acceptor, [spawn(near), spawn(far)])
}

fn destination() -> Destination {
    "tcp://a:1".parse().expect("a destination")
}

/// The bytes that a test sends: three windows, so that credit has to come back.
fn content() -> Vec<u8> {
    (0..48).collect()
}

async fn write(mut writer: ChannelWriter) {
    for piece in content().chunks(20) {
        writer.write_chunk(Bytes::copy_from_slice(piece)).await.expect("the peer reads");
    }
}

async fn read(mut reader: ChannelReader) -> Vec<u8> {
    let mut received = Vec::new();
    while let Some(piece) = reader.read_chunk().await.expect("the peer writes") {
        received.extend_from_slice(&piece);
    }
    received
}

async fn echo(mut acceptor: Acceptor) -> Acceptor {
    let incoming = acceptor.accept().await.expect("the session lives");
    let (mut reader, mut writer) = incoming.accept().expect("the session lives").into_split();
    while let Some(piece) = reader.read_chunk().await.expect("the peer writes") {
        writer.write_chunk(piece).await.expect("the peer reads");
    }
    acceptor
}

/// A reader and a writer in tasks of their own, and the drivers of both sides.
#[test]
fn every_byte_of_an_echo_comes_back() {
    check(|| {
        block_on(async {
            let (opener, acceptor, drivers) = session();
            let echo = spawn(echo(acceptor));
            let (reader, writer) = opener.open(&destination()).await.expect("it is accepted").into_split();
            let (writing, reading) = (spawn(write(writer)), spawn(read(reader)));
            writing.await.expect("no panic");
            assert_eq!(reading.await.expect("no panic"), content());
            let acceptor = echo.await.expect("no panic");
            drop((opener, acceptor));
            for driver in drivers {
                driver.await.expect("no panic").expect("a good end");
            }
        });
    });
}

/// Opens that are given up at any moment, answered or not, leave nothing behind.
#[test]
fn an_open_that_is_dropped_leaves_nothing() {
    check(|| {
        block_on(async {
            let (opener, mut acceptor, drivers) = session();
            let accepting = spawn(async move {
                while let Some(incoming) = acceptor.accept().await {
                    drop(incoming.accept());
                }
            });
            let impatient = async {
                for _ in 0..3 {
                    yield_now().await;
                }
            };
            let destination = destination();
            match select(Box::pin(opener.open(&destination)), Box::pin(impatient)).await {
                Either::Left((answer, _)) => drop(answer.expect("it is accepted")),
                Either::Right(((), opening)) => drop(opening),
            }
            // The answer to this one comes behind whatever follows the other.
            drop(opener.open(&destination).await.expect("it is accepted"));
            drop(opener);
            for driver in drivers {
                driver.await.expect("no panic").expect("a good end");
            }
            accepting.await.expect("no panic");
        });
    });
}

/// Whoever waits for the session learns its end: a reader, a writer, an open, and who asked for the end itself.
#[test]
fn the_end_of_the_session_wakes_everybody() {
    check(|| {
        block_on(async {
            let (opener, mut acceptor, drivers) = session();
            let accepted = spawn(async move {
                let incoming = acceptor.accept().await.expect("the session lives");
                let stream = incoming.accept().expect("the session lives");
                // The second open waits for ever, and so does whoever accepts.
                (stream, acceptor.accept().await.map(drop), acceptor)
            });
            let (mut reader, writer) = opener.open(&destination()).await.expect("it is accepted").into_split();
            let mut blocked = writer;
            let reading = spawn(async move { reader.read_chunk().await.map(drop) });
            let writing = spawn(async move {
                while blocked.write_chunk(Bytes::from_static(&[0; 16])).await.is_ok() {}
                poll_fn(|cx| blocked.poll_stopped(cx)).await;
            });
            let second = opener.clone();
            let opening = spawn(async move { second.open(&destination()).await.map(drop) });
            let [near, far] = drivers;
            spawn(async move { yield_now().await }).await.expect("no panic");
            far.abort();
            near.await.expect("no panic").ok();
            reading.await.expect("no panic").ok();
            opening.await.expect("no panic").ok();
            writing.await.expect("no panic");
            drop(accepted);
            opener.closed().await;
        });
    });
}

/// A writer that waits for room hears that nobody reads any more, whichever comes first.
#[test]
fn a_reset_wakes_the_writer() {
    check(|| {
        block_on(async {
            let (opener, mut acceptor, drivers) = session();
            let resetting = spawn(async move {
                let incoming = acceptor.accept().await.expect("the session lives");
                let (reader, mut writer) = incoming.accept().expect("the session lives").into_split();
                yield_now().await;
                writer.reset();
                drop((reader, writer));
                acceptor
            });
            let stream = opener.open(&destination()).await.expect("it is accepted");
            let (reader, mut writer) = stream.into_split();
            let dropping = spawn(async move { drop(reader) });
            while writer.write_chunk(Bytes::from_static(&[0; 16])).await.is_ok() {}
            assert!(poll_fn(|cx| writer.poll_stopped(cx)).now_or_never().is_some(), "that is why");
            dropping.await.expect("no panic");
            drop((opener, writer, resetting.await.expect("no panic")));
            for driver in drivers {
                driver.await.expect("no panic").expect("a good end");
            }
        });
    });
}
