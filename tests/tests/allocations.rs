//! What a session really allocates, whatever its peer does: counted by the allocator, not by the session's own books.
//!
//! One test, so that nothing else allocates meanwhile.

use std::alloc::System;
use std::io::IoSlice;

use bytes::Bytes;
use cap::Cap;
use muxgate_core::codec::Batch;
use muxgate_core::frame::{ChannelId, Frame, ReasonCode};
use muxgate_core::session::Session;
use muxgate_core::{Config, Timestamp};
use muxgate_tests::scripted::{MAX_PACKET, WINDOW, close, data, eof, open, open_with, success};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const KIB: usize = 1024;

struct Rig {
    session: Session,
    before: usize,
}

impl Rig {
    /// A session that accepts channels.
    fn new(config: Config) -> Self {
        let before = ALLOCATOR.allocated();
        Self { session: Session::new(config, true, tracing::Span::none()), before }
    }

    /// What the session holds now, in bytes.
    fn held(&self) -> usize {
        ALLOCATOR.allocated() - self.before
    }

    /// The peer sends this; false if it ended the session.
    fn receive(&mut self, frame: Frame) -> bool {
        let result = self.session.handle_frame(Timestamp::ZERO, frame);
        while self.session.poll_event().is_some() {}
        result.is_ok()
    }

    /// A turn of the driver; the peer reads everything that there is for it.
    fn transmit(&mut self) {
        self.session.next_deadline();
        let mut batch = Batch::default();
        while self.session.poll_transmit(Timestamp::ZERO, true, 64 * KIB, &mut batch) {
            while !batch.is_empty() {
                let mut slices = [IoSlice::new(&[]); 64];
                let count = batch.slices(&mut slices);
                let len = slices[..count].iter().map(|slice| slice.len()).sum();
                batch.advance(len);
            }
        }
    }

    fn accept(&mut self, number: u32) -> ChannelId {
        assert!(self.receive(open(number)));
        let (id, _) = self.session.next_request().expect("it was asked for");
        self.session.accept(id).expect("the session lives");
        self.transmit();
        id
    }

    fn let_go(&mut self, id: ChannelId) {
        self.session.release_reader(id);
        self.session.release_writer(id);
    }
}

/// Runs `round` many times; from the first tenth on nothing more may be held.
fn is_flat(rig: &mut Rig, rounds: u32, mut round: impl FnMut(&mut Rig, u32)) {
    let mut settled = 0;
    for number in 0..rounds {
        round(rig, number);
        if number == rounds / 10 {
            settled = rig.held();
        }
    }
    assert!(rig.held() <= settled + 4 * KIB, "{settled} bytes after a tenth, {} at the end", rig.held());
}

fn idle_channels_are_small() {
    const CHANNELS: u32 = 10_000;
    let mut rig = Rig::new(Config::default());
    for number in 0..CHANNELS {
        rig.accept(number);
    }
    let each = rig.held() / CHANNELS as usize;
    assert!(each < 1024, "{each} bytes for an idle channel");
}

/// H12: nobody accepts, and the peer goes on until the session ends.
fn opens_that_nobody_accepts_fill_the_backlog_and_no_more() {
    let mut rig = Rig::new(Config::default());
    let mut number = 0;
    while rig.receive(open(number)) {
        rig.transmit();
        number += 1;
    }
    assert!(number > 10_000, "the backlog, and as many glitches as are forgiven");
    assert!(rig.held() < 2048 * KIB, "{} bytes", rig.held());
}

/// H26: refusals that the peer does not read.
fn answers_that_are_not_read_are_bounded() {
    let mut rig = Rig::new(Config { glitch_burst: u32::MAX, ..Config::default() });
    let mut number = 0;
    while rig.receive(open_with(number, WINDOW, MAX_PACKET, b"nonsense")) {
        number += 1;
    }
    assert_eq!(number, 16_384);
    assert!(rig.held() < 16_384 * 256, "{} bytes", rig.held());
}

/// H13 and H17, and channels of ours that the peer refuses or closes.
fn what_has_ended_holds_nothing() {
    let mut rig = Rig::new(Config::default());
    is_flat(&mut rig, 100_000, |rig, number| {
        let id = rig.accept(number);
        rig.receive(close(id.0));
        rig.let_go(id);
        rig.transmit();
    });
    is_flat(&mut rig, 100_000, |rig, number| {
        rig.receive(open(number));
        let (id, _) = rig.session.next_request().expect("it was asked for");
        rig.session.refuse(id, ReasonCode::ConnectionRefused, "nobody listens");
        rig.transmit();
    });
    is_flat(&mut rig, 100_000, |rig, number| {
        let id = rig.session.open("tcp://a:1".parse().expect("a destination")).expect("the session lives");
        rig.transmit();
        rig.receive(success(id.0, number));
        assert!(matches!(rig.session.opening(id), Some(Ok(()))));
        rig.let_go(id);
        rig.transmit();
        rig.receive(eof(id.0));
        rig.receive(close(id.0));
    });
    assert_eq!(rig.session.stats().channels, 0);
}

/// H22: single bytes, each from a read buffer of its own, and each the whole of a message.
fn single_bytes_cost_little_more_than_they_are() {
    let mut rig = Rig::new(Config::default());
    let id = rig.accept(7);
    let window = usize::try_from(rig.session.channel_stats(id).receive_credit).expect("windows fit");
    for _ in 0..window {
        assert!(rig.receive(data(id.0, b"x")));
    }
    assert_eq!(rig.session.stats().unread, window as u64);
    assert!(rig.held() < 2 * window, "{} bytes for {window}", rig.held());
}

/// Half of a message of each channel keeps what it is, not the buffers of 256 KiB that it came in.
fn pieces_of_large_buffers_do_not_keep_them() {
    let mut rig = Rig::new(Config::default());
    for number in 0..100 {
        let id = rig.accept(number);
        let buffer = Bytes::from(vec![0; 256 * KIB]);
        for _ in 0..4 {
            let payload = buffer.slice(..3 * KIB);
            assert!(rig.receive(Frame::Data { recipient: id, payload, rest: 10_000 }));
        }
    }
    assert!(rig.held() < 100 * 32 * KIB, "{} bytes for {}", rig.held(), rig.session.stats().unread);
}

#[test]
fn memory_is_what_was_promised() {
    idle_channels_are_small();
    opens_that_nobody_accepts_fill_the_backlog_and_no_more();
    answers_that_are_not_read_are_bounded();
    what_has_ended_holds_nothing();
    single_bytes_cost_little_more_than_they_are();
    pieces_of_large_buffers_do_not_keep_them();
}
