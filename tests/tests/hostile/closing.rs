//! Ends that come twice, late, never, or before what they should end.

use bytes::Bytes;
use futures::AsyncReadExt;
use muxgate_core::frame::Frame;
use muxgate_core::{Config, ConnectionError, ReadError};
use muxgate_tests::scripted::{Rig, close, data, eof, open};

#[test]
fn h28_data_after_the_end_ends_the_channel() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send([data(ours, b"before"), eof(ours), data(ours, b"after")]);
    assert_eq!(rig.sent(), [close(7)]);
    let (mut reader, _writer) = stream.into_split();
    assert_eq!(rig.run(reader.read_chunk()).expect("it came before").as_deref(), Some(&b"before"[..]));
    assert!(matches!(rig.run(reader.read_chunk()), Err(ReadError::Protocol(_))));
    assert!(rig.outcome().is_none());
}

#[test]
fn h29_a_second_end_is_ignored() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send([data(ours, b"x"), eof(ours), eof(ours)]);
    let mut received = Vec::new();
    rig.run(stream.read_to_end(&mut received)).expect("a clean end");
    assert_eq!((received.as_slice(), rig.sent()), (&b"x"[..], vec![]));
    assert_eq!(acceptor.stats().glitches, 1);
}

#[test]
fn h29_closes_are_answered_once() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send([close(ours), close(ours)]);
    assert_eq!(rig.sent(), [close(7)], "no ping-pong");
    drop(stream);
    rig.send([close(ours), close(999), eof(999)]);
    assert_eq!(rig.sent(), []);
    assert_eq!(acceptor.stats().glitches, 4);
    assert!(rig.outcome().is_none());
}

#[test]
fn h30_what_came_before_close_stays_readable() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send([data(ours, &vec![1; 50_000]), close(ours)]);
    assert_eq!(rig.sent(), [close(7)]);
    let mut received = Vec::new();
    rig.run(stream.read_to_end(&mut received)).expect("a clean end");
    assert_eq!(received.len(), 50_000);
    drop(stream);
    rig.settle();
    assert_eq!((acceptor.stats().channels, acceptor.stats().unread), (0, 0));
}

/// Scaled down by the configuration: what lingers is bounded by the maximum of channels, and so is the patience with opens
/// beyond it.
#[test]
fn h31_closes_that_are_never_answered_linger_within_bounds() {
    let config = Config { max_channels: 100, glitch_burst: 1000, ..Config::default() };
    let (mut rig, mut acceptor) = Rig::server(config);
    for number in 0..100 {
        let (stream, _) = rig.channel(&mut acceptor, number);
        drop(stream);
        assert_eq!(rig.sent(), [eof(number), close(number)]);
    }
    for number in 100..1100 {
        rig.send([open(number)]);
        assert!(matches!(rig.sent()[..], [Frame::OpenFailure { .. }]));
    }
    assert_eq!((acceptor.stats().channels, acceptor.stats().unread), (100, 0));
    rig.send([open(1100)]);
    assert!(matches!(rig.outcome(), Some(Err(ConnectionError::Protocol(_)))));
}

/// A deployed peer that finishes second closes instead of ending its direction.
#[test]
fn a_close_after_our_end_is_a_clean_end() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    let (mut reader, mut writer) = stream.into_split();
    writer.finish();
    rig.settle();
    assert_eq!(rig.sent(), [eof(7)]);
    rig.send([data(ours, b"late reply"), close(ours)]);
    assert_eq!(rig.run(reader.read_chunk()).expect("it lives").as_deref(), Some(&b"late reply"[..]));
    assert_eq!(rig.run(reader.read_chunk()).expect("a clean end"), None);
    assert!(!reader.was_reset());
    assert_eq!(rig.sent(), [close(7)]);
}

#[test]
fn a_close_in_the_middle_is_told_from_an_end() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    let (mut reader, mut writer) = stream.into_split();
    rig.run(writer.write_chunk(Bytes::from_static(b"x"))).expect("there is room");
    rig.send([data(ours, b"half an answ"), close(ours)]);
    assert!(rig.run(reader.read_chunk()).expect("it came before").is_some());
    assert_eq!(rig.run(reader.read_chunk()).expect("then the end"), None);
    assert!(reader.was_reset());
}

/// What a peer still sends while our close is on its way is dropped, and is no fault.
#[test]
fn data_that_crosses_our_close_is_dropped() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    drop(stream);
    assert_eq!(rig.sent(), [eof(7), close(7)]);
    rig.send([data(ours, &[1; 1000]), eof(ours), close(ours)]);
    let stats = acceptor.stats();
    assert_eq!((stats.channels, stats.unread, stats.glitches), (0, 0, 0));
}
