//! Credit that does not come back, comes in crumbs, or comes unearned; and tasks that are not woken.

use std::rc::Rc;

use bytes::Bytes;
use futures::AsyncReadExt;
use futures::future::poll_fn;
use muxgate_core::frame::Frame;
use muxgate_core::{Config, OpenError, ReadError, WriteError};
use muxgate_tests::scripted::{MAX_PACKET, Rig, WINDOW, adjust, close, data, destination, eof, open_with};

/// What the adjusts among these frames grant.
fn credit(sent: &[Frame]) -> u64 {
    sent.iter().map(|frame| if let Frame::WindowAdjust { credit, .. } = frame { u64::from(*credit) } else { 0 }).sum()
}

/// dartssh2 210, sunset 40: the reader pauses until the window is used up, resumes, and the peer never hears of it.
#[test]
fn a_reader_that_resumes_gives_the_window_back() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    let (mut reader, _writer) = stream.into_split();
    let window = reader.stats().receive_credit;
    for _ in 0..3 {
        let mut missing = usize::try_from(reader.stats().receive_credit).expect("windows fit");
        while missing > 0 {
            let len = missing.min(60_000);
            rig.send([data(ours, &vec![1; len])]);
            missing -= len;
        }
        assert_eq!((reader.stats().receive_credit, credit(&rig.sent())), (0, 0));
        while reader.stats().unread > 0 {
            rig.run(reader.read_chunk()).expect("it lives");
        }
        let granted = credit(&rig.sent());
        assert_eq!(reader.stats().receive_credit, granted);
        assert!(granted > window * 3 / 4, "less than a quarter is not worth an adjust");
    }
}

/// rust-yamux 100: credit comes only when the window is empty, and the sender stalls for a round trip.
#[test]
fn credit_comes_before_half_the_window_is_used_up() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    let (mut reader, _writer) = stream.into_split();
    let window = reader.stats().receive_credit;
    rig.detach(async move { while reader.read_chunk().await.expect("it lives").is_some() {} });
    let mut sent = 0;
    let mut granted = window;
    for _ in 0..100 {
        rig.send([data(ours, &[1; 10_000])]);
        sent += 10_000;
        granted += credit(&rig.sent());
        assert!(granted - sent >= window / 2, "{} bytes left", granted - sent);
    }
}

/// h2 39; `http-2` 105 sent 101,912 updates for 10 MB where 66 do.
#[test]
fn small_messages_are_acknowledged_in_few_adjusts() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    let (mut reader, _writer) = stream.into_split();
    rig.detach(async move { while reader.read_chunk().await.expect("it lives").is_some() {} });
    let message = data(ours, &[1; 100]);
    let mut adjusts = 0;
    for _ in 0..1000 {
        rig.send(std::iter::repeat_n(message.clone(), 100));
        adjusts += rig.sent().len();
    }
    assert!(adjusts <= 150, "{adjusts} adjusts for 10 MB in 100,000 messages");
}

/// mina-sshd 292: the window is set back to its maximum although nothing was read.
#[test]
fn what_is_not_read_is_not_granted_again() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    let window = stream.stats().receive_credit;
    rig.send([data(ours, &vec![1; 60_000]), data(ours, &vec![1; 60_000])]);
    assert_eq!((rig.sent(), stream.stats().receive_credit), (vec![], window - 120_000));
}

/// rust-yamux 189: the end of the stream comes in a control message, and the reader sleeps on.
#[test]
fn the_end_wakes_the_reader() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    let (mut reader, _writer) = stream.into_split();
    let mut reading = rig.start(async move { reader.read_chunk().await });
    assert!(reading.result().is_none());
    rig.send([eof(ours)]);
    assert!(matches!(reading.result(), Some(Ok(None))));
}

/// hashicorp/yamux 127 and 133: the session dies and those who wait are never told.
#[test]
fn the_end_of_the_session_wakes_everybody() {
    let (mut rig, (opener, mut acceptor)) = Rig::peer(Config::default());
    let (stream, _) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let (mut reader, mut writer) = stream.into_split();
    let (_, mut stopped) = rig.channel(&mut acceptor, 8).0.into_split();
    let mut opening = rig.start_open(&opener);
    let mut reading = rig.start(async move { reader.read_chunk().await });
    let mut writing = rig.start(async move { writer.write_chunk(Bytes::from(vec![0; 1_000_000])).await });
    let mut stopping = rig.start(async move { poll_fn(|cx| stopped.poll_stopped(cx)).await });
    let mut accepting = rig.start(async move { acceptor.accept().await.is_none() });
    let mourner = opener.clone();
    let mut mourning = rig.start(async move { mourner.closed().await });
    assert!(reading.result().is_none() && writing.result().is_none() && stopping.result().is_none());
    rig.sent();
    rig.hang_up();
    assert!(matches!(reading.result(), Some(Err(ReadError::Connection(_)))));
    assert!(matches!(writing.result(), Some(Err(WriteError::Connection(_)))));
    assert!(matches!(opening.result(), Some(Err(OpenError::Connection(_)))));
    assert_eq!((stopping.result(), accepting.result()), (Some(()), Some(true)));
    assert!(mourning.result().is_some());
    assert!(rig.run(opener.open(&destination())).is_err(), "and nothing new begins");
    assert!(matches!(rig.outcome(), Some(Ok(()))), "the peer ended in good order");
}

/// A peer that closes its channel wakes those who write to it.
#[test]
fn the_close_of_a_channel_wakes_its_writer() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    let mut writing = rig.start(async move { writer.write_chunk(Bytes::from(vec![0; 1_000_000])).await });
    assert!(writing.result().is_none());
    rig.send([close(ours)]);
    assert!(matches!(writing.result(), Some(Err(WriteError::Stopped))));
}

/// sshj 44: a window smaller than a packet is not used at all.
#[test]
fn a_window_smaller_than_a_packet_is_used_up() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 10, MAX_PACKET, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    rig.run(writer.write_chunk(Bytes::from(vec![1; 100]))).expect("there is room");
    assert_eq!(rig.sent(), [data(7, &[1; 10])]);
    rig.send([adjust(ours, 3)]);
    assert_eq!(rig.sent(), [data(7, &[1; 3])]);
}

/// h2 334: a reader is dropped with unread data, and the session's window never gets it back.
#[test]
fn the_budget_gets_back_what_a_dropped_reader_held() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let before = acceptor.stats().promised;
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send([data(ours, &vec![1; 60_000])]);
    assert_eq!(acceptor.stats().unread, 60_000);
    let (reader, _writer) = stream.into_split();
    drop(reader);
    rig.send([data(ours, &vec![1; 60_000])]);
    let stats = acceptor.stats();
    assert_eq!((stats.unread, stats.promised), (0, before + u64::from(Config::default().min_window)));
}

/// russh 101, rust-yamux 228: during a long upload the sum of the credit overflows.
#[test]
fn many_adjusts_during_a_long_upload() {
    const CHUNK: u32 = 100_000;
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, u32::MAX, u16::MAX, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    let chunk = Bytes::from(vec![1; CHUNK as usize]);
    for _ in 0..1000 {
        rig.run(writer.write_chunk(chunk.clone())).expect("there is room");
        assert_eq!(rig.sent_payload().0.len(), chunk.len());
        rig.send([adjust(ours, CHUNK)]);
    }
    assert_eq!((rig.outcome().is_none(), acceptor.stats().glitches), (true, 0));
}

/// A write that fits into no window yet is no reason to drop bytes: `try_send` whose failure is ignored.
#[test]
fn everything_that_was_written_arrives_however_the_credit_comes() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    let content: Rc<Vec<u8>> = Rc::new((0..WINDOW).map(|at| at.to_le_bytes()[1]).collect());
    let written = Bytes::copy_from_slice(&content);
    let mut writing = rig.start(async move { writer.write_chunk(written).await });
    let mut received = Vec::new();
    for credit in (1..).take_while(|credit| credit * credit < WINDOW) {
        rig.send([adjust(ours, credit)]);
        received.extend_from_slice(&rig.sent_payload().0);
    }
    rig.send([adjust(ours, WINDOW)]);
    for frame in rig.sent() {
        match frame {
            Frame::Data { payload, .. } => received.extend_from_slice(&payload),
            other => assert_eq!(other, eof(7)),
        }
    }
    assert_eq!((received, writing.result().is_some()), (content.to_vec(), true));
}

/// A read of some bytes consumes those alone.
#[test]
fn a_partial_read_grants_what_it_took() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send([data(ours, b"hello world")]);
    rig.run(stream.read_exact(&mut [0; 5])).expect("it is there");
    assert_eq!(stream.stats().unread, 6);
}
