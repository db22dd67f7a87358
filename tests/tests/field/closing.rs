//! Bytes that are lost at the end, ends that take the other direction with them, and channels that leak.

use bytes::Bytes;
use futures::{AsyncReadExt, AsyncWriteExt, FutureExt};
use muxgate_core::frame::Frame;
use muxgate_core::{Acceptor, Config, Opener, ReasonCode};
use muxgate_tests::scripted::{
    MAX_PACKET, Rig, WINDOW, adjust, close, data, destination, eof, failure, open, open_with, success,
};

/// rust-yamux 117 and 110: what was written right before the drop is lost.
#[test]
fn what_was_written_before_the_drop_arrives_then_the_end() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, _) = rig.channel(&mut acceptor, 7);
    rig.run(stream.write_all(b"last words")).expect("there is room");
    drop(stream);
    assert_eq!(rig.sent(), [data(7, b"last words"), eof(7), close(7)]);
}

/// The same when the peer has no credit for it yet: the end waits.
#[test]
fn the_end_waits_for_credit() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 4, MAX_PACKET, b"tcp://a:1"));
    rig.run(stream.write_all(b"last words")).expect("there is room");
    drop(stream);
    assert_eq!(rig.sent(), [data(7, b"last")]);
    rig.send([adjust(ours, WINDOW)]);
    assert_eq!(rig.sent(), [data(7, b" words"), eof(7), close(7)]);
}

/// The same when the whole side goes: handles first, then nothing of value is left, then the transport.
#[test]
fn a_side_that_is_dropped_sends_what_was_written_and_ends_the_transport() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, _) = rig.channel(&mut acceptor, 7);
    rig.run(stream.write_all(&vec![1; 60_000])).expect("there is room");
    drop((stream, acceptor));
    let sent = rig.sent();
    assert_eq!(sent[sent.len() - 2..], [eof(7), close(7)]);
    assert!(rig.outcome().is_none(), "the peer's end is awaited");
    rig.hang_up();
    assert!(matches!(rig.outcome(), Some(Ok(()))));
}

/// russh 213 and 553: EOF overtakes what was queued.
#[test]
fn the_end_does_not_overtake_data() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    rig.run(writer.write_chunk(Bytes::from(vec![1; 10_000]))).expect("there is room");
    writer.finish();
    rig.send([adjust(ours, 10_000)]);
    let sent = rig.sent();
    assert_eq!((sent.len(), &sent[sent.len() - 1]), (4, &eof(7)));
}

/// smux 23: the death of the session discards what was received and not read.
#[test]
fn what_was_received_is_readable_after_the_session_died() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut complete, one) = rig.channel(&mut acceptor, 7);
    let (mut cut, other) = rig.channel(&mut acceptor, 8);
    rig.send([data(one, b"complete"), eof(one), data(other, b"cut")]);
    rig.send_bytes(&[0, 0, 0, 0]);
    assert!(matches!(rig.outcome(), Some(Err(_))));
    let mut received = Vec::new();
    rig.run(complete.read_to_end(&mut received)).expect("its end had arrived");
    assert_eq!(received, b"complete");
    received.clear();
    rig.run(cut.read_to_end(&mut received)).expect_err("its end had not");
    assert_eq!(received, b"cut");
}

/// devolutions-gateway 1318, chisel 535: the end of one direction ends the other.
#[test]
fn a_late_reply_arrives_after_our_end() {
    let (mut rig, opener) = Rig::client(Config::default());
    let (mut stream, ours) = rig.opened(&opener, 9);
    rig.run(stream.write_all(b"request")).expect("there is room");
    rig.run(stream.close()).expect("it is open");
    assert_eq!(rig.sent(), [data(9, b"request"), eof(9)]);
    rig.send([data(ours, b"late "), data(ours, b"reply"), eof(ours)]);
    let mut reply = String::new();
    rig.run(stream.read_to_string(&mut reply)).expect("a clean end");
    assert_eq!((reply.as_str(), rig.sent()), ("late reply", vec![close(9)]));
}

/// The same from the other end: we may write on after the peer's end.
#[test]
fn a_late_reply_of_ours_is_sent_after_the_peers_end() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send([data(ours, b"request"), eof(ours)]);
    let mut request = String::new();
    rig.run(stream.read_to_string(&mut request)).expect("a clean end");
    rig.run(stream.write_all(b"reply")).expect("our direction is open");
    assert_eq!(rig.sent(), [data(7, b"reply")]);
    drop(stream);
    assert_eq!(rig.sent(), [eof(7), close(7)]);
}

/// devolutions-gateway 1511: data right behind the answer is lost because nobody listens yet.
#[test]
fn data_right_behind_the_answer_is_kept() {
    let (mut rig, opener) = Rig::client(Config::default());
    let mut opening = rig.start_open(&opener);
    rig.sent();
    rig.send([success(0, 9), data(0, b"banner"), eof(0), close(0)]);
    let mut stream = opening.result().expect("answered").expect("accepted");
    let mut banner = String::new();
    rig.run(stream.read_to_string(&mut banner)).expect("a clean end");
    assert_eq!((banner.as_str(), rig.sent()), ("banner", vec![close(9)]));
}

/// russh 575, golang 38908: a message for a channel that is gone ends the session.
#[test]
fn messages_for_channels_that_are_gone_do_not_end_the_session() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    drop(stream);
    rig.send([close(ours)]);
    rig.sent();
    rig.send([data(ours, b"x"), adjust(ours, 1), eof(ours), close(ours), success(ours, 3)]);
    rig.send([failure(ours, ReasonCode::GeneralFailure, "")]);
    assert!(rig.outcome().is_none());
    rig.sent();
    rig.channel(&mut acceptor, 7);
}

/// go-yamux 91, rust-yamux 166: a channel that goes in some state between leaks.
#[test]
fn nothing_leaks_whatever_state_a_channel_is_dropped_in() {
    let (mut rig, (opener, mut acceptor)) = Rig::peer(Config::default());
    for round in 0..200 {
        cancel(&mut rig, &opener);
        drop_accepted(&mut rig, &mut acceptor, round % 2 == 0);
        // Asked for, and never answered by us.
        rig.send([open(8)]);
        drop(rig.run(acceptor.accept()));
        // Opened, and reset.
        rig.sent();
        let (stream, ours) = rig.opened(&opener, 9);
        let (reader, mut writer) = stream.into_split();
        writer.reset();
        rig.send([close(ours)]);
        drop((reader, writer));
        assert_eq!(rig.sent(), [close(9)]);
    }
    let stats = opener.stats();
    assert_eq!((stats.channels, stats.promised, stats.unread), (0, 0, 0));
}

/// Found by fuzzing: both sides wrote, and then let go without having read. Neither gave the other credit for bytes that
/// nobody reads, so neither could send its own, and the channel lived as long as the session.
#[test]
fn two_sides_that_do_not_read_do_not_wait_for_each_other() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let window = usize::try_from(stream.stats().receive_credit).expect("windows fit");
    let (reader, mut writer) = stream.into_split();
    drop(reader);
    let payload = vec![0; window / 8];
    rig.send((0..8).map(|_| data(ours, &payload)));
    assert_eq!(rig.sent(), [], "nothing of ours waits: the peer may as well wait for our end");
    rig.run(writer.write_chunk(Bytes::from_static(b"hello"))).expect("there is room");
    drop(writer);
    rig.settle();
    let sent = rig.sent();
    assert!(matches!(sent[..], [Frame::WindowAdjust { credit, .. }] if credit as usize == window), "{sent:?}");
    assert_eq!(acceptor.stats().unread, 0);
    rig.send([adjust(ours, 5)]);
    assert_eq!(rig.sent(), [data(7, b"hello"), eof(7), close(7)]);
}

/// Cancelled before, and after, the peer hears of it.
fn cancel(rig: &mut Rig, opener: &Opener) {
    assert!(opener.open(&destination()).now_or_never().is_none());
    assert_eq!(rig.sent(), []);
    let opening = rig.start_open(opener);
    let sent = rig.sent();
    let [Frame::Open { sender, .. }] = sent[..] else { unreachable!("{sent:?}") };
    drop(opening);
    rig.settle();
    rig.send([failure(sender.0, ReasonCode::GeneralFailure, "")]);
}

/// Accepted, and dropped with unread data while the peer is about to end it one way or the other.
fn drop_accepted(rig: &mut Rig, acceptor: &mut Acceptor, orderly: bool) {
    let (stream, ours) = rig.channel(acceptor, 7);
    rig.send([data(ours, b"unread")]);
    drop(stream);
    rig.settle();
    rig.send(orderly.then_some(eof(ours)).into_iter().chain([close(ours)]));
    assert_eq!(rig.sent(), [eof(7), close(7)]);
}
