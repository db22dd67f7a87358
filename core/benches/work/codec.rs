//! Frames from bytes, and frames to bytes.

use std::hint::black_box;
use std::io::IoSlice;

use bytes::{Bytes, BytesMut};
use muxgate_core::codec::{Batch, Decoder};
use muxgate_core::frame::{ChannelId, DATA_HEADER_LEN, Frame};
use muxgate_core::session::Session;
use muxgate_core::{Config, Timestamp};

use super::{FRAMES, Work};

/// Payload of small DATA messages, which other multiplexers send.
const SMALL: usize = 4096;
/// Payload of the DATA messages that our ends use among themselves.
const LARGE: usize = 65_520;

/// Frames arrive and leave in batches of about this size, as a session's do.
const BATCH: usize = 64 * 1024;

pub(super) fn works() -> Vec<Work> {
    vec![
        decode("decode OPEN", &open()),
        decode("decode WindowAdjust", &adjust()),
        decode("decode DATA, 4 KiB", &data(SMALL)),
        decode("decode DATA, 64 KiB", &data(LARGE)),
        encode("encode OPEN", open()),
        encode("encode WindowAdjust", adjust()),
        send("encode DATA, 4 KiB", SMALL),
        send("encode DATA, 64 KiB", LARGE),
    ]
}

fn open() -> Frame {
    let destination = Bytes::from_static(b"tcp://db.internal:5432");
    Frame::Open { sender: ChannelId(7), window: 256 * 1024, max_packet: 65_528, destination }
}

fn adjust() -> Frame {
    Frame::WindowAdjust { recipient: ChannelId(7), credit: 128 * 1024 }
}

fn data(len: usize) -> Frame {
    Frame::Data { recipient: ChannelId(7), payload: vec![1; len].into(), rest: 0 }
}

/// How many frames of `len` bytes make a batch.
fn batch_of(len: usize) -> usize {
    (BATCH / len).clamp(1, FRAMES)
}

fn decode(name: &'static str, frame: &Frame) -> Work {
    let mut input = BytesMut::new();
    frame.encode(&mut input);
    let count = batch_of(input.len());
    let encoded = Bytes::from(input.repeat(count));
    let mut decoder = Decoder::default();
    Work::new(name, move || {
        let mut done = 0;
        while done < FRAMES {
            let mut piece = encoded.clone();
            while done < FRAMES && black_box(decoder.decode(&mut piece)).is_ok_and(|frame| frame.is_some()) {
                done += 1;
            }
        }
    })
}

fn encode(name: &'static str, frame: Frame) -> Work {
    let mut out = BytesMut::new();
    Work::new(name, move || {
        for _ in 0..FRAMES {
            out.clear();
            black_box(&frame).encode(&mut out);
            black_box(&out);
        }
    })
}

/// DATA is never encoded by itself: a session puts payload that was written into a batch, without copying it.
fn send(name: &'static str, len: usize) -> Work {
    let (mut session, id) = opened();
    let payload = Bytes::from(vec![1; len]);
    let mut batch = Batch::default();
    Work::new(name, move || {
        let credit = u32::try_from(FRAMES * len).expect("a window");
        session.handle_frame(Timestamp::ZERO, Frame::WindowAdjust { recipient: id, credit }).expect("it is open");
        let mut left = FRAMES;
        while left > 0 {
            let count = batch_of(DATA_HEADER_LEN + len).min(left);
            for _ in 0..count {
                session.write(id, payload.clone()).expect("there is room");
                session.poll_transmit(Timestamp::ZERO, false, usize::MAX, &mut batch);
            }
            drain(&mut batch);
            left -= count;
        }
    })
}

/// A session with a channel that has no credit yet.
fn opened() -> (Session, ChannelId) {
    let mut session = Session::new(Config::default(), false, tracing::Span::none());
    let id = session.open("tcp://a.example:1".parse().expect("a destination")).expect("the session lives");
    let mut batch = Batch::default();
    session.poll_transmit(Timestamp::ZERO, false, BATCH, &mut batch);
    let success = Frame::OpenSuccess { recipient: id, sender: ChannelId(7), window: 0, max_packet: 65_528 };
    session.handle_frame(Timestamp::ZERO, success).expect("it was asked for");
    (session, id)
}

/// The transport takes everything.
fn drain(batch: &mut Batch) {
    while !batch.is_empty() {
        let mut slices = [IoSlice::new(&[]); 64];
        let count = batch.slices(&mut slices);
        let len = black_box(&slices[..count]).iter().map(|slice| slice.len()).sum();
        batch.advance(len);
    }
}
