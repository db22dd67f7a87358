//! Credit that is too much, too little, or not there.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::IoSlice;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures::AsyncReadExt;
use muxgate_core::frame::Frame;
use muxgate_core::session::Session;
use muxgate_core::{ChannelStream, Config, ConnectionError, ReadError, Timestamp, WriteError, server};
use muxgate_tests::scripted::{MAX_PACKET, Rig, WINDOW, adjust, close, data, eof, open, open_with};

/// The largest payload of the frames that this script sends.
const PAYLOAD: usize = 65_000;

/// The peer sends so many bytes on our channel.
fn send_bytes(rig: &mut Rig, ours: u32, len: usize) {
    let payload = vec![7; PAYLOAD];
    for start in (0..len).step_by(PAYLOAD) {
        rig.send([data(ours, &payload[..PAYLOAD.min(len - start)])]);
    }
}

/// Reads until the end or an error, and says how much there was.
fn drain(rig: &mut Rig, stream: &mut ChannelStream) -> (usize, Option<ReadError>) {
    let (reader, _) = stream.split();
    let mut len = 0;
    loop {
        match rig.run(reader.read_chunk()) {
            Ok(Some(piece)) => len += piece.len(),
            Ok(None) => return (len, None),
            Err(error) => return (len, Some(error)),
        }
    }
}

#[test]
fn h18_credit_up_to_the_largest_number_is_fine_and_one_more_is_not() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 1, MAX_PACKET, b"tcp://a:1"));
    rig.send([adjust(ours, u32::MAX - 1)]);
    assert_eq!(stream.stats().send_credit, u32::MAX);
    assert_eq!(rig.sent(), []);
    rig.send([adjust(ours, 1)]);
    assert_eq!(rig.sent(), [close(7)], "the channel is over");
    assert!(matches!(drain(&mut rig, &mut stream), (0, Some(ReadError::Protocol(_)))));
    assert!(rig.outcome().is_none(), "the session is not");
}

#[test]
fn h19_adjusts_of_nothing_and_for_nothing_are_glitches_until_patience_ends() {
    let config = Config { glitch_burst: 100, glitch_rate: 10, ..Config::default() };
    let (mut rig, mut acceptor) = Rig::server(config);
    let (_stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send((0..50).flat_map(|_| [adjust(ours, 0), adjust(999, 1)]));
    assert_eq!(acceptor.stats().glitches, 100);
    rig.advance(Duration::from_secs(2));
    rig.send((0..20).map(|_| adjust(999, 1)));
    assert!(rig.outcome().is_none(), "ten a second are forgiven");
    rig.send([adjust(999, 1)]);
    assert!(matches!(rig.outcome(), Some(Err(ConnectionError::Protocol(_)))));
}

/// A writer that waits for room is not woken by credit of nothing.
#[test]
fn h19_adjusts_of_nothing_wake_nobody() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    let polls = Rc::new(Cell::new(0));
    let counter = polls.clone();
    let mut writing = rig.start(async move {
        writer.write_chunk(Bytes::from(vec![0; 256 * 1024])).await?;
        poll_fn(|cx| {
            counter.set(counter.get() + 1);
            writer.poll_room(cx)
        })
        .await
    });
    assert_eq!(polls.get(), 1);
    rig.send((0..5000).map(|_| adjust(ours, 0)));
    assert_eq!(polls.get(), 1);
    assert!(writing.result().is_none());
}

#[test]
fn h20_data_up_to_the_window_is_fine() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    let window = stream.stats().receive_credit;
    send_bytes(&mut rig, ours, usize::try_from(window).expect("windows fit"));
    rig.send([eof(ours)]);
    assert_eq!(acceptor.stats().glitches, 0);
    assert!(matches!(drain(&mut rig, &mut stream), (len, None) if len as u64 == window));
}

/// Deployed peers do not count the bytes that came with a proxy's handshake.
#[test]
fn h20_a_bounded_overrun_is_taken_and_counted() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    let window = usize::try_from(stream.stats().receive_credit).expect("windows fit");
    send_bytes(&mut rig, ours, window);
    send_bytes(&mut rig, ours, 64 * 1024);
    rig.send([eof(ours)]);
    assert!(acceptor.stats().glitches > 0);
    assert!(matches!(drain(&mut rig, &mut stream), (len, None) if len == window + 64 * 1024));
}

#[test]
fn h20_a_larger_overrun_ends_the_channel() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    let window = usize::try_from(stream.stats().receive_credit).expect("windows fit");
    send_bytes(&mut rig, ours, window + 64 * 1024);
    rig.send([data(ours, b"x")]);
    assert_eq!(rig.sent(), [close(7)]);
    assert!(matches!(drain(&mut rig, &mut stream), (_, Some(ReadError::Protocol(_)))));
    assert!(rig.outcome().is_none());
}

#[test]
fn h20_overruns_again_and_again_end_the_session() {
    let (mut rig, mut acceptor) = Rig::server(Config { base_window: 16 * 1024, ..Config::default() });
    let mut channels = 0;
    while rig.outcome().is_none() {
        let (_stream, ours) = rig.channel(&mut acceptor, channels);
        send_bytes(&mut rig, ours, 2 * PAYLOAD);
        rig.send([close(ours)]);
        rig.sent();
        channels += 1;
        assert!(channels < 200, "the session should have ended");
    }
}

#[test]
fn h21_a_message_above_the_announced_maximum_is_taken_as_far_as_credit_goes() {
    let (mut rig, mut acceptor) = Rig::server(Config { max_frame: 4096, ..Config::default() });
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send([data(ours, &vec![1; 60_000]), eof(ours)]);
    assert!(matches!(drain(&mut rig, &mut stream), (60_000, None)));
    assert_eq!(acceptor.stats().glitches, 0);
}

#[test]
fn h22_single_bytes_on_an_unread_channel_cost_what_they_are() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    for _ in 0..100 {
        rig.send((0..1000).map(|_| data(ours, b"x")));
    }
    assert_eq!(acceptor.stats().unread, 100_000);
    let (mut reader, _writer) = stream.into_split();
    assert!(rig.run(poll_fn(|cx| reader.poll_fill(cx))).expect("it is there"));
    let pieces = reader.slices(&mut [IoSlice::new(&[]); 1000]);
    assert!(pieces <= 20, "{pieces} pieces in memory");
}

/// A few bytes of each large buffer that was read would keep all of them in memory.
#[test]
fn h22_much_unread_data_does_not_keep_the_buffers_it_came_in() {
    const PIECE: usize = 8192;
    let mut session = Session::new(Config::default(), true, tracing::Span::none());
    let buffer = Bytes::from(vec![0; 256 * 1024]);
    let mut fed = Vec::new();
    for number in 0..20 {
        session.handle_frame(Timestamp::ZERO, open(number)).expect("it is sound");
        let (id, _) = session.next_request().expect("it was asked for");
        session.accept(id).expect("the session lives");
        for _ in 0..20 {
            let frame = Frame::Data { recipient: id, payload: buffer.slice(..PIECE), rest: 0 };
            session.handle_frame(Timestamp::ZERO, frame).expect("it is sound");
        }
        fed.push(id);
    }
    let mut shared = 0;
    for id in fed {
        let mut pieces = VecDeque::new();
        session.read(id, &mut pieces).expect("the session lives");
        let of_buffer = pieces.iter().filter(|piece| buffer.as_ptr_range().contains(&piece.as_ptr()));
        shared += of_buffer.map(Bytes::len).sum::<usize>();
    }
    assert!(shared > 0, "a little is passed on without copying");
    assert!(shared <= 2 * 1024 * 1024 + PIECE, "{shared} bytes");
}

#[test]
fn h22_empty_data_is_a_glitch() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (_stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send((0..10_000).map(|_| data(ours, b"")));
    assert_eq!((acceptor.stats().glitches, acceptor.stats().unread), (10_000, 0));
    assert!(rig.outcome().is_none());
    rig.send([data(ours, b"")]);
    assert!(rig.outcome().is_some());
}

#[test]
fn h23_data_before_the_channel_exists_is_not_kept() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    rig.send([data(0, b"too early")]);
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    assert_eq!(ours, 0);
    rig.send([data(ours, b"now"), eof(ours)]);
    let mut received = String::new();
    rig.run(stream.read_to_string(&mut received)).expect("a clean end");
    assert_eq!((received.as_str(), acceptor.stats().glitches), ("now", 1));
}

/// The same between OPEN and its answer.
#[test]
fn h23_data_before_the_answer_is_not_kept() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    rig.send([open(7), data(0, b"too early")]);
    let mut stream = rig.run(acceptor.accept()).expect("a request").accept().expect("the session lives");
    rig.send([eof(0)]);
    let mut received = Vec::new();
    rig.run(stream.read_to_end(&mut received)).expect("a clean end");
    assert_eq!((received.len(), acceptor.stats().glitches), (0, 1));
}

/// Whatever the peer grants, what it does not read stays with the application, not in our memory.
#[test]
fn h24_a_transport_that_is_never_read_takes_a_bounded_amount() {
    const WIRE: usize = 1000;
    let config = Config { send_buffer: 256 * 1024, ..Config::default() };
    let (mut rig, mut acceptor) = Rig::new(WIRE, |transport, clock| server(transport, clock, config));
    let (stream, _) = rig.channel_with(&mut acceptor, open_with(7, u32::MAX, u16::MAX, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    let taken = Rc::new(Cell::new(0));
    let counter = taken.clone();
    let mut writing = rig.start(async move {
        while writer.write_chunk(Bytes::from(vec![0; 10_000])).await.is_ok() {
            counter.set(counter.get() + 10_000);
        }
    });
    assert!(writing.result().is_none());
    // The send buffer, and a batch that is on its way.
    assert!(taken.get() <= 256 * 1024 + 256 * 1024 + PAYLOAD + WIRE, "{} bytes", taken.get());
}

/// One frame for each adjust is what the peer asked for; others go on.
#[test]
fn h25_credit_in_single_bytes() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let (_reader, mut trickled) = stream.into_split();
    rig.run(trickled.write_chunk(Bytes::from_static(b"hello"))).expect("there is room");
    let (other, _) = rig.channel(&mut acceptor, 8);
    let (_other_reader, mut other) = other.into_split();
    for byte in b"hello" {
        rig.send([adjust(ours, 1)]);
        assert_eq!(rig.sent(), [data(7, &[*byte])]);
        rig.run(other.write_chunk(Bytes::from_static(b"others"))).expect("there is room");
        assert_eq!(rig.sent(), [data(8, b"others")]);
    }
}

/// Together, such adjusts make one frame.
#[test]
fn h25_credit_in_single_bytes_that_come_together_makes_one_frame() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let (_reader, mut writer) = stream.into_split();
    rig.run(writer.write_chunk(Bytes::from(vec![1; 1000]))).expect("there is room");
    rig.send((0..1000).map(|_| adjust(ours, 1)));
    assert_eq!(rig.sent_payload().1, 1);
}

#[test]
fn h27_a_channel_without_credit_for_hours_disturbs_nobody() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(7, 0, MAX_PACKET, b"tcp://a:1"));
    let (_reader, mut starved) = stream.into_split();
    rig.run(starved.write_chunk(Bytes::from_static(b"late"))).expect("there is room");
    let (other, other_ours) = rig.channel(&mut acceptor, 8);
    let (mut other_reader, mut other_writer) = other.into_split();
    for _ in 0..10 {
        rig.advance(Duration::from_secs(3600));
        rig.run(other_writer.write_chunk(Bytes::from_static(b"ping"))).expect("there is room");
        assert_eq!(rig.sent(), [data(8, b"ping")]);
        rig.send([data(other_ours, b"pong")]);
        assert_eq!(rig.run(other_reader.read_chunk()).expect("it lives").as_deref(), Some(&b"pong"[..]));
    }
    rig.send([adjust(ours, WINDOW)]);
    assert_eq!(rig.sent(), [data(7, b"late")]);
}

#[test]
fn h32_an_adjust_after_close_is_ignored() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send([close(ours), adjust(ours, 100), adjust(ours, u32::MAX)]);
    assert_eq!(rig.sent(), [close(7)]);
    let (_reader, mut writer) = stream.into_split();
    assert!(matches!(rig.run(writer.write_chunk(Bytes::from_static(b"x"))), Err(WriteError::Stopped)));
    assert!(rig.outcome().is_none());
}
