//! Opens that are nonsense, floods of them, and answers that nobody asked for.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures::AsyncReadExt;
use muxgate_core::frame::{ChannelId, Frame};
use muxgate_core::{Config, ConnectionError, OpenError, ReasonCode, server};
use muxgate_tests::scripted::{
    MAX_PACKET, Rig, WINDOW, adjust, close, data, eof, failure, open, open_with, success, success_with,
};

/// Whether these frames are one refusal to channel 7, and why.
fn refusal(sent: &[Frame]) -> Option<ReasonCode> {
    match sent {
        [Frame::OpenFailure { recipient: ChannelId(7), reason, .. }] => Some(*reason),
        _ => None,
    }
}

#[test]
fn h9_destinations_that_are_none_are_refused_and_the_session_lives() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let long = [b"tcp://".as_slice(), &vec![b'a'; 65_000], b":80"].concat();
    let bad: [&[u8]; 12] = [
        b"",
        b"tcp://",
        b"tcp://\xff\xfe:80",
        b"tcp://a",
        b"tcp://a:0",
        b"tcp://a:65536",
        b"tcp://a:80/",
        b"udp://a:80",
        b"tcp://user@a:80",
        b"tcp://a\x1b[2J:80",
        b"tcp://[::1:80",
        &long,
    ];
    for destination in bad {
        rig.send([open_with(7, WINDOW, MAX_PACKET, destination)]);
        let sent = rig.sent();
        assert_eq!(refusal(&sent), Some(ReasonCode::AddressTypeNotSupported), "{sent:?}");
    }
    rig.channel(&mut acceptor, 7);
}

#[test]
fn h9_destinations_that_are_odd_are_accepted() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    for (number, destination, host) in [
        (1, "tcp://a:80\0", "a"),
        (2, "tcp://::1:80", "::1"),
        (3, "tcp://[::1]:80", "::1"),
        (4, "tcp://db.internal.:80", "db.internal."),
    ] {
        rig.send([open_with(number, WINDOW, MAX_PACKET, destination.as_bytes())]);
        let incoming = rig.run(acceptor.accept()).expect("the session lives");
        assert_eq!((incoming.destination().host(), incoming.destination().port()), (host, 80));
    }
}

#[test]
fn h10_packets_without_room_for_data_are_refused() {
    let (mut rig, _acceptor) = Rig::server(Config::default());
    for max_packet in 0..=8 {
        rig.send([open_with(7, WINDOW, max_packet, b"tcp://a:1")]);
        assert!(refusal(&rig.sent()).is_some(), "{max_packet}");
    }
}

#[test]
fn h10_packets_with_room_for_one_byte_carry_one_byte_each() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, _) = rig.channel_with(&mut acceptor, open_with(7, WINDOW, 9, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    rig.run(writer.write_chunk(Bytes::from_static(b"hello"))).expect("it is open");
    assert_eq!(rig.sent_payload(), (Bytes::from_static(b"hello"), 5));
}

#[test]
fn h10_an_answer_without_room_for_data_ends_the_channel_alone() {
    let (mut rig, opener) = Rig::client(Config::default());
    let mut opening = rig.start_open(&opener);
    rig.sent();
    rig.send([success_with(0, 9, WINDOW, 8)]);
    let result = opening.result().expect("it is decided");
    assert_eq!(rig.sent(), [close(9)]);
    rig.send([close(0)]);
    if let Ok(mut stream) = result {
        let error = rig.run(stream.read(&mut [0; 1])).expect_err("it failed");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
    rig.opened(&opener, 10);
}

#[test]
fn h11_any_first_window_works() {
    for window in [1, 4096, u32::MAX] {
        let (mut rig, mut acceptor) = Rig::server(Config::default());
        let (stream, _) = rig.channel_with(&mut acceptor, open_with(7, window, MAX_PACKET, b"tcp://a:1"));
        let (_reader, mut writer) = stream.into_split();
        rig.run(writer.write_chunk(Bytes::from(vec![1; 10_000]))).expect("there is room for it");
        assert_eq!(rig.sent_payload().0.len(), 10_000.min(window as usize));
    }
}

#[test]
fn h11_a_window_of_nothing_waits() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, _) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    rig.run(writer.write_chunk(Bytes::from_static(b"hello"))).expect("there is room for it");
    writer.finish();
    assert_eq!(rig.sent(), []);
    rig.send([adjust(0, 5)]);
    assert_eq!(rig.sent(), [data(7, b"hello"), eof(7)]);
}

#[test]
fn h12_opens_that_nobody_accepts_fill_the_backlog_and_then_the_patience() {
    let config = Config { backlog: 100, glitch_burst: 1000, ..Config::default() };
    let (mut rig, acceptor) = Rig::server(config);
    rig.send((0..100).map(open));
    assert_eq!(rig.sent(), []);
    for number in 100..1100 {
        rig.send([open(number)]);
        assert!(matches!(rig.sent()[..], [Frame::OpenFailure { reason: ReasonCode::GeneralFailure, .. }]));
    }
    assert_eq!(acceptor.stats().channels, 100);
    rig.send([open(1100)]);
    assert!(matches!(rig.outcome(), Some(Err(ConnectionError::Protocol(_)))));
}

#[test]
fn h12_the_backlog_is_free_again_for_whatever_was_answered() {
    let (mut rig, mut acceptor) = Rig::server(Config { backlog: 1, ..Config::default() });
    for number in 0..10 {
        rig.send([open(number)]);
        let incoming = rig.run(acceptor.accept()).expect("it is not refused");
        match number % 3 {
            0 => drop(incoming.accept().expect("the session lives")),
            1 => incoming.reject(ReasonCode::ConnectionRefused, ""),
            _ => drop(incoming),
        }
    }
    assert_eq!(acceptor.stats().glitches, 0);
}

/// A peer that provokes answers and does not read them is let go, before they cost much.
#[test]
fn h12_h26_answers_that_are_not_read_end_the_session() {
    let config = Config { backlog: 0, max_replies: 1000, ..Config::default() };
    let (mut rig, _acceptor) = Rig::new(1024, |transport, clock| server(transport, clock, config));
    let mut opens = 0;
    while rig.outcome().is_none() {
        rig.send([open(opens)]);
        opens += 1;
        assert!(opens < 5000, "the session should have ended");
    }
    assert!(opens > 1000);
}

#[test]
fn h12_h26_the_reason_is_told() {
    let config = Config { backlog: 0, max_replies: 10, ..Config::default() };
    let (mut rig, acceptor) = Rig::new(64, |transport, clock| server(transport, clock, config));
    rig.send((0..1000).map(open));
    assert!(matches!(rig.outcome(), Some(Err(ConnectionError::Protocol(_)))));
    assert!(matches!(rig.run(acceptor.closed()), ConnectionError::Protocol(_)));
}

#[test]
fn h13_opening_and_closing_at_full_rate_leaves_nothing_behind() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    for number in 0..20_000 {
        let (stream, ours) = rig.channel(&mut acceptor, number % 3);
        assert!(ours <= 65, "numbers are used again");
        rig.send([close(ours)]);
        drop(stream);
        assert_eq!(rig.sent(), [close(number % 3)]);
    }
    let stats = acceptor.stats();
    assert_eq!((stats.channels, stats.promised, stats.unread), (0, 0, 0));
}

#[test]
fn h14_a_number_that_is_open_cannot_be_opened_again() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (_stream, _) = rig.channel(&mut acceptor, 7);
    rig.send([open(7)]);
    assert!(matches!(rig.outcome(), Some(Err(ConnectionError::Protocol(_)))));
}

#[test]
fn h14_a_number_that_waits_for_its_answer_cannot_be_opened_again() {
    let (mut rig, _acceptor) = Rig::server(Config::default());
    rig.send([open(7), open(7)]);
    assert!(matches!(rig.outcome(), Some(Err(ConnectionError::Protocol(_)))));
}

#[test]
fn h14_after_a_failure_the_number_is_free() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    rig.send([open(7)]);
    rig.run(acceptor.accept()).expect("the session lives").reject(ReasonCode::ConnectionRefused, "nobody listens");
    assert_eq!(rig.sent(), [failure(7, ReasonCode::ConnectionRefused, "nobody listens")]);
    rig.channel(&mut acceptor, 7);
}

/// Deployed peers use the lowest free number, at once. What our application still holds of the old channel must not matter.
#[test]
fn h14_after_close_the_number_is_free_whatever_our_application_holds() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut old, ours) = rig.channel(&mut acceptor, 7);
    rig.send([data(ours, b"unread"), close(ours)]);
    assert_eq!(rig.sent(), [close(7)]);
    let (mut new, newer) = rig.channel(&mut acceptor, 7);
    assert_ne!(ours, newer);
    rig.send([data(newer, b"new"), eof(newer)]);
    let (mut first, mut second) = (String::new(), String::new());
    rig.run(old.read_to_string(&mut first)).expect("it was there before the end");
    drop(old);
    rig.run(new.read_to_string(&mut second)).expect("a channel of its own");
    assert_eq!((first.as_str(), second.as_str()), ("unread", "new"));
    rig.send([open(7)]);
    assert!(matches!(rig.outcome(), Some(Err(ConnectionError::Protocol(_)))), "the new channel still has the number");
}

#[test]
fn h15_an_open_that_is_never_answered_runs_out_of_time() {
    let config = Config { open_timeout: Duration::from_secs(30), ..Config::default() };
    let (mut rig, opener) = Rig::client(config);
    let mut opening = rig.start_open(&opener);
    rig.advance(Duration::from_secs(29));
    assert!(opening.result().is_none());
    rig.advance(Duration::from_secs(1));
    assert!(matches!(opening.result(), Some(Err(OpenError::TimedOut))));
}

#[test]
fn h15_each_open_has_a_time_of_its_own() {
    let (mut rig, opener) = Rig::client(Config { open_timeout: Duration::from_secs(30), ..Config::default() });
    let mut first = rig.start_open(&opener);
    rig.advance(Duration::from_secs(20));
    let mut second = rig.start_open(&opener);
    let mut third = rig.start_open(&opener);
    rig.send([success(1, 9)]);
    assert!(matches!(second.result(), Some(Ok(_))));
    rig.advance(Duration::from_secs(10));
    assert!(matches!(first.result(), Some(Err(OpenError::TimedOut))));
    assert!(third.result().is_none());
    rig.advance(Duration::from_secs(20));
    assert!(matches!(third.result(), Some(Err(OpenError::TimedOut))));
}

#[test]
fn h15_a_late_success_is_answered_with_close() {
    let (mut rig, opener) = Rig::client(Config::default());
    let mut opening = rig.start_open(&opener);
    rig.sent();
    rig.advance(Duration::from_secs(60));
    assert!(matches!(opening.result(), Some(Err(OpenError::TimedOut))));
    assert_eq!(rig.sent(), []);
    rig.send([success(0, 9), data(0, b"early")]);
    assert_eq!(rig.sent(), [close(9)]);
    rig.send([close(0)]);
    assert_eq!((rig.sent(), opener.stats().channels), (vec![], 0));
    let (_stream, ours) = rig.opened(&opener, 9);
    assert_ne!(ours, 0, "the number is never used again: its answer might come even later");
}

/// As after a computer slept: the time is up and the answer there at the same moment.
#[test]
fn h15_an_open_whose_time_is_up_is_not_a_success() {
    let (mut rig, opener) = Rig::client(Config::default());
    let mut opening = rig.start_open(&opener);
    rig.sent();
    rig.sleep(Duration::from_secs(60));
    rig.send([success(0, 9)]);
    match opening.result().expect("it is decided") {
        Err(OpenError::TimedOut) => assert_eq!(rig.sent(), [close(9)]),
        Ok(mut stream) => {
            rig.send([data(0, b"x")]);
            rig.run(stream.read_exact(&mut [0; 1])).expect("a success that is none");
        }
        Err(other) => unreachable!("{other}"),
    }
}

#[test]
fn h15_a_late_failure_frees_the_number() {
    let (mut rig, opener) = Rig::client(Config::default());
    let mut opening = rig.start_open(&opener);
    rig.advance(Duration::from_secs(60));
    assert!(opening.result().is_some());
    rig.send([failure(0, ReasonCode::HostUnreachable, "")]);
    assert_eq!(opener.stats().channels, 0);
}

#[test]
fn h15_an_open_that_was_cancelled_is_closed_when_it_is_answered() {
    let (mut rig, opener) = Rig::client(Config::default());
    let opening = rig.start_open(&opener);
    rig.sent();
    drop(opening);
    rig.settle();
    rig.send([success(0, 9)]);
    assert_eq!(rig.sent(), [close(9)]);
    rig.send([close(0)]);
    assert_eq!(opener.stats().channels, 0);
}

#[test]
fn h16_answers_that_nobody_asked_for_are_glitches() {
    let (mut rig, opener) = Rig::client(Config::default());
    rig.send([success(77, 1), failure(78, ReasonCode::GeneralFailure, "")]);
    assert_eq!(rig.sent(), [close(1)], "so that the peer does not keep it");
    let (_stream, ours) = rig.opened(&opener, 9);
    rig.send([success(ours, 10), failure(ours, ReasonCode::GeneralFailure, "")]);
    assert_eq!(rig.sent(), [close(10)]);
    assert_eq!(opener.stats().glitches, 4);
    assert_eq!((rig.outcome().is_none(), opener.stats().channels), (true, 1));
}

#[test]
fn h16_both_answers_for_one_open() {
    let (mut rig, opener) = Rig::client(Config::default());
    let mut opening = rig.start_open(&opener);
    rig.send([failure(0, ReasonCode::ConnectionRefused, "nobody listens"), success(0, 9)]);
    match opening.result() {
        Some(Err(OpenError::Refused { reason, description })) => {
            assert_eq!((reason, description.as_str()), (ReasonCode::ConnectionRefused, "nobody listens"));
        }
        other => unreachable!("{other:?}"),
    }
    assert_eq!((opener.stats().glitches, opener.stats().channels), (1, 0));
}

#[test]
fn h17_opens_that_fail_leave_nothing_behind() {
    let (mut rig, opener) = Rig::client(Config::default());
    for _ in 0..20_000 {
        let mut opening = rig.start_open(&opener);
        let sent = rig.sent();
        let [Frame::Open { sender, .. }] = sent[..] else { unreachable!("{sent:?}") };
        assert!(sender.0 <= 65, "numbers are used again");
        rig.send([failure(sender.0, ReasonCode::ConnectionRefused, "")]);
        assert!(matches!(opening.result(), Some(Err(OpenError::Refused { .. }))));
    }
    let stats = opener.stats();
    assert_eq!((stats.channels, stats.promised, stats.opens_failed), (0, 0, 20_000));
}

#[test]
fn opens_of_the_peer_are_refused_by_a_side_that_accepts_none() {
    let (mut rig, _opener) = Rig::client(Config::default());
    rig.send([open(7)]);
    assert_eq!(refusal(&rig.sent()), Some(ReasonCode::NotAllowed));
}
