//! Deadlocks, and one channel that holds up others.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;

use bytes::Bytes;
use futures::future::{join, join_all};
use futures::{AsyncReadExt, AsyncWriteExt, FutureExt};
use muxgate_core::{Acceptor, ChannelStream, Config, Opener, StoppedClock, client, duplex, server};
use muxgate_tests::executor::{Executor, Task};
use muxgate_tests::scripted::{Rig, WINDOW, adjust, data, destination, eof, open, success};

/// Two sides over a pipe of so many bytes in each direction.
fn pair(pipe: usize, config: &Config) -> (Executor, Opener, Acceptor) {
    let (near, far) = duplex(pipe);
    let (opener, near) = client(near, StoppedClock, config.clone());
    let (acceptor, far) = server(far, StoppedClock, config.clone());
    let mut executor = Executor::default();
    executor.detach(near);
    executor.detach(far);
    (executor, opener, acceptor)
}

async fn echo(stream: ChannelStream) {
    let (mut reader, mut writer) = stream.into_split();
    while let Ok(Some(piece)) = reader.read_chunk().await {
        writer.write_chunk(piece).await.expect("the other side reads");
    }
}

async fn echo_all(mut acceptor: Acceptor) {
    let mut channels = Vec::new();
    for _ in 0..12 {
        let incoming = acceptor.accept().await.expect("the session lives");
        channels.push(echo(incoming.accept().expect("the session lives")));
    }
    join_all(channels).await;
}

async fn exchange(opener: Opener, len: usize) {
    let stream = opener.open(&destination()).await.expect("it is accepted");
    let (mut reader, mut writer) = stream.into_split();
    let write = async move {
        writer.write_all(&vec![7; len]).await.expect("the other side reads");
        writer.close().await.expect("it is open");
    };
    let read = async move {
        let mut received = Vec::new();
        reader.read_to_end(&mut received).await.expect("a clean end");
        assert_eq!(received, vec![7; len]);
    };
    join(write, read).await;
}

/// rust-yamux 102 and 227: both ends wait to write into a pipe of 1 KiB, and neither reads.
#[test]
fn twelve_echoes_over_a_narrow_pipe() {
    let (mut executor, opener, acceptor) = pair(1024, &Config::default());
    executor.detach(echo_all(acceptor));
    executor.run(join_all((0..12).map(|_| exchange(opener.clone(), 100_000))));
}

/// rust-yamux 232: a reader and a writer in different tasks share one waker, and one of them sleeps for ever.
#[test]
fn a_reader_and_a_writer_in_different_tasks() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    let (mut reader, mut writer) = stream.into_split();
    let mut reading: Task<usize> = rig.start(async move {
        let mut pieces = 0;
        while reader.read_chunk().await.expect("the session lives").is_some() {
            pieces += 1;
        }
        pieces
    });
    let mut writing: Task<()> = rig.start(async move {
        for _ in 0..10 {
            writer.write_chunk(Bytes::from(vec![1; 256 * 1024])).await.expect("the other side reads");
        }
    });
    let mut written = 0;
    for _ in 0..100 {
        rig.send([data(ours, b"x"), adjust(ours, 64 * 1024)]);
        written += rig.sent().len();
    }
    rig.send([eof(ours)]);
    assert!(written > 0);
    assert_eq!(reading.result(), Some(100));
    assert!(writing.result().is_some());
}

/// russh 730, smux 18, hyper 2899: a reader that stops stops everything.
#[test]
fn a_reader_that_stops_stops_its_own_channel_alone() {
    let (mut executor, opener, mut acceptor) = pair(64 * 1024, &Config::default());
    let opening = opener.clone();
    let mut first = executor.start(async move { opening.open(&destination()).await.expect("accepted") });
    let stalled = executor.run(acceptor.accept()).expect("a request").accept().expect("the session lives");
    executor.settle();
    let (_reader, mut writer) = first.result().expect("accepted").into_split();
    let sent = Rc::new(Cell::new(0));
    let counter = sent.clone();
    executor.detach(async move {
        while writer.write_chunk(Bytes::from_static(&[0; 4096])).await.is_ok() {
            counter.set(counter.get() + 4096);
        }
    });
    executor.settle();
    let config = Config::default();
    assert!(sent.get() <= config.base_window as usize + config.send_buffer, "{} bytes", sent.get());
    executor.detach(echo_all(acceptor));
    executor.run(join_all((0..12).map(|_| exchange(opener.clone(), 1_000_000))));
    assert_eq!(stalled.stats().unread, config.base_window.into());
}

/// russh 571, charmed 58: credit stops when the application does not fetch what waits for it.
#[test]
fn credit_flows_while_nobody_accepts() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    let (mut reader, mut writer) = stream.into_split();
    rig.send((100..200).map(open));
    for _ in 0..100 {
        rig.send([data(ours, &vec![1; 40_000])]);
        assert!(rig.run(reader.read_chunk()).expect("it lives").is_some());
        rig.settle();
        assert!(reader.stats().receive_credit >= 128 * 1024);
    }
    rig.sent();
    rig.run(writer.write_chunk(Bytes::from(vec![2; 2 * WINDOW as usize]))).expect("there is room");
    rig.send([adjust(ours, WINDOW)]);
    assert_eq!(rig.sent_payload().0.len(), 2 * WINDOW as usize);
}

/// h2 860: capacity is assigned to channels that are not open yet, and those that are get none.
#[test]
fn channels_that_are_not_answered_hold_up_nobody() {
    let (mut rig, opener) = Rig::client(Config::default());
    let (stream, _) = rig.opened(&opener, 1000);
    let waiting: Vec<_> = (0..500).map(|_| rig.start_open(&opener)).collect();
    assert_eq!(rig.sent().len(), waiting.len());
    let (_reader, mut writer) = stream.into_split();
    rig.run(writer.write_chunk(Bytes::from(vec![1; WINDOW as usize]))).expect("there is room");
    assert_eq!(rig.sent_payload().0.len(), WINDOW as usize);
}

/// The same for an application that wrote before it was accepted: here it cannot, and the order is kept.
#[test]
fn what_is_written_at_once_follows_the_answer() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    rig.send([open(7)]);
    let stream = rig.run(acceptor.accept()).expect("a request").accept().expect("the session lives");
    let (_reader, mut writer) = stream.into_split();
    let written = writer.write_chunk(Bytes::from_static(b"banner")).now_or_never();
    assert!(matches!(written, Some(Ok(()))));
    writer.finish();
    let sent = rig.sent();
    assert!(matches!(sent[0], muxgate_core::frame::Frame::OpenSuccess { .. }));
    assert_eq!(sent[1..], [data(7, b"banner"), eof(7)]);
}

/// A task that is woken for nothing must not lose its turn for something.
#[test]
fn an_answer_wakes_the_opener_whatever_arrives_first() {
    let (mut rig, opener) = Rig::client(Config::default());
    let mut one = rig.start_open(&opener);
    let mut other = rig.start_open(&opener);
    rig.send([success(1, 8), data(1, b"x")]);
    assert!(one.result().is_none());
    let stream = other.result().expect("answered").expect("accepted");
    rig.send([success(0, 9)]);
    assert!(one.result().is_some_and(|opened| opened.is_ok()));
    let (mut reader, _writer) = stream.into_split();
    assert!(matches!(rig.run(poll_fn(|cx| reader.poll_fill(cx))), Ok(true)));
}
