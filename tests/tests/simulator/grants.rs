//! When adjusts leave: the idea that the project was founded on, and its two amendments. On the bare session, as only there a
//! turn can be declared busy or idle.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::Bytes;
use muxgate_core::codec::{Batch, Decoder};
use muxgate_core::frame::{ChannelId, Frame};
use muxgate_core::session::Session;
use muxgate_core::{Config, Timestamp};
use muxgate_tests::scripted::{data, open_with};

/// A session with channels that the peer opened under the numbers from 0 on, and the window of the last of them.
struct Fixture {
    session: Session,
    window: usize,
}

impl Fixture {
    fn new(channels: u32) -> Self {
        let session = Session::new(Config::default(), true, tracing::Span::none());
        let mut it = Self { session, window: 0 };
        for number in 0..channels {
            it.take_in(open_with(number, 1 << 20, u16::MAX, b"tcp://a:1"));
            let (id, _) = it.session.next_request().expect("it was asked for");
            it.session.accept(id).expect("the session lives");
            it.window = it.session.channel_stats(id).window as usize;
        }
        assert_eq!(it.turn(false).len(), channels as usize);
        it
    }

    fn take_in(&mut self, frame: Frame) {
        self.session.handle_frame(Timestamp::ZERO, frame).expect("it is sound");
    }

    /// So many bytes arrive on a channel and are read.
    fn consume(&mut self, channel: u32, len: usize) {
        let id = ChannelId(channel);
        for start in (0..len).step_by(60_000) {
            self.take_in(data(channel, &vec![0; 60_000.min(len - start)]));
        }
        self.session.read(id, &mut VecDeque::new()).expect("the session lives");
        self.session.consume(id, len);
    }

    /// What a turn of the driver sends.
    fn turn(&mut self, idle: bool) -> Vec<Frame> {
        let mut batch = Batch::default();
        let mut frames = Vec::new();
        let mut decoder = Decoder::default();
        self.session.poll_transmit(Timestamp::ZERO, idle, usize::MAX, &mut batch);
        let mut slices = [IoSlice::new(&[]); 64];
        let count = batch.slices(&mut slices);
        let mut bytes: Bytes = slices[..count].iter().flat_map(|slice| slice.iter().copied()).collect();
        while let Some(frame) = decoder.decode(&mut bytes).expect("core speaks JMUX") {
            frames.push(frame);
        }
        frames
    }
}

fn is_adjust(frame: &Frame) -> bool {
    matches!(frame, Frame::WindowAdjust { .. })
}

#[test]
fn a_quarter_of_the_window_waits_until_the_session_is_idle() {
    let mut it = Fixture::new(1);
    it.consume(0, it.window / 4);
    assert_eq!(it.turn(false), []);
    assert!(matches!(it.turn(true)[..], [Frame::WindowAdjust { .. }]));
    assert_eq!(it.turn(true), []);
}

#[test]
fn an_idle_session_grants_to_all_channels_in_one_batch() {
    let mut it = Fixture::new(10);
    for channel in 0..10 {
        it.consume(channel, it.window / 4);
    }
    let sent = it.turn(true);
    assert!(sent.len() == 10 && sent.iter().all(is_adjust), "{sent:?}");
}

/// Taken literally, "when idle" starves the peer of a session that never is.
#[test]
fn at_half_the_window_a_busy_session_grants_too() {
    let mut it = Fixture::new(1);
    it.consume(0, it.window / 2);
    assert!(matches!(it.turn(false)[..], [Frame::WindowAdjust { .. }]));
}

#[test]
fn what_cannot_wait_goes_ahead_of_data_and_what_can_goes_behind() {
    let mut it = Fixture::new(2);
    it.consume(0, it.window / 2);
    it.consume(1, it.window / 4);
    it.session.write(ChannelId(0), Bytes::from_static(&[0; 1000])).expect("there is room");
    let sent = it.turn(false);
    let order = sent.iter().map(|frame| match frame {
        Frame::WindowAdjust { recipient, .. } => (true, recipient.0),
        Frame::Data { recipient, .. } => (false, recipient.0),
        other => unreachable!("{other:?}"),
    });
    assert_eq!(order.collect::<Vec<_>>(), [(true, 0), (false, 0), (true, 1)]);
}
