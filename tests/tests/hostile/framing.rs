//! Bytes that are no frames, and frames in odd pieces.

use std::io;

use bytes::Bytes;
use futures::AsyncReadExt;
use muxgate_core::frame::{Frame, FrameError};
use muxgate_core::{Config, ConnectionError, OpenError, ReadError, WriteError};
use muxgate_tests::scripted::{Rig, close, data, destination, encode, eof, open, success};

/// What our side says to bytes that no session survives.
fn fault_of(bytes: &[u8]) -> FrameError {
    let (mut rig, _acceptor) = Rig::server(Config::default());
    rig.send_bytes(bytes);
    match rig.outcome() {
        Some(Err(ConnectionError::Frame(fault))) => fault,
        other => unreachable!("{other:?} after {bytes:?}"),
    }
}

#[test]
fn h1_sizes_below_a_header_end_the_session() {
    for kind in 100..=106 {
        for size in 0..=3 {
            assert_eq!(fault_of(&[kind, 0, size, 0]), FrameError::TooShort { kind, size: size.into() });
        }
    }
}

#[test]
fn h2_a_body_that_is_too_short_ends_the_session() {
    for (kind, fields) in [(100, 14), (101, 18), (102, 12), (103, 12), (104, 8), (105, 8), (106, 8)] {
        let size = fields - 1;
        assert_eq!(fault_of(&[kind, 0, size, 0]), FrameError::TooShort { kind, size: size.into() });
    }
}

/// Decided as deployed peers do.
#[test]
fn h2_bytes_behind_the_fields_are_ignored() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    let mut long = encode([eof(ours)]).to_vec();
    long.extend_from_slice(b"trailing");
    long[2] += 8;
    rig.send_bytes(&long);
    let mut rest = Vec::new();
    rig.run(stream.read_to_end(&mut rest)).expect("a clean end");
    assert!(rest.is_empty() && rig.outcome().is_none());
}

#[test]
fn h3_unknown_types_end_the_session() {
    for kind in [0, 99, 107, 255] {
        assert_eq!(fault_of(&[kind, 0, 8, 0, 0, 0, 0, 0]), FrameError::UnknownType(kind));
    }
}

#[test]
fn h4_flags_are_ignored() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let mut bytes = encode([open(7)]).to_vec();
    bytes[3] = 0xff;
    rig.send_bytes(&bytes);
    assert_eq!(*rig.run(acceptor.accept()).expect("it is an open").destination(), destination());
}

/// A conversation, cut by `cut` into pieces, and what comes of it.
fn conversation(cut: impl Fn(&Bytes) -> Vec<Bytes>) {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    for piece in cut(&encode([open(7)])) {
        rig.send_bytes(&piece);
    }
    let mut stream = rig.run(acceptor.accept()).expect("a channel").accept().expect("the session lives");
    let (_, ours) = rig.accepted();
    for piece in cut(&encode([data(ours, b"hello "), data(ours, b""), data(ours, b"world"), eof(ours)])) {
        rig.send_bytes(&piece);
    }
    let mut received = String::new();
    rig.run(stream.read_to_string(&mut received)).expect("a clean end");
    assert_eq!(received, "hello world");
}

#[test]
fn h5_one_byte_per_read() {
    conversation(|bytes| bytes.chunks(1).map(Bytes::copy_from_slice).collect());
}

#[test]
fn h5_a_cut_at_every_offset() {
    for at in 0..50 {
        conversation(|bytes| {
            let (before, after) = bytes.split_at(at.min(bytes.len()));
            [before, after].into_iter().filter(|piece| !piece.is_empty()).map(Bytes::copy_from_slice).collect()
        });
    }
}

#[test]
fn h6_a_large_message_that_never_ends_is_waited_for() {
    let (mut rig, _acceptor) = Rig::server(Config::default());
    rig.send_bytes(&[100, 0xff, 0xff, 0]);
    assert!(rig.outcome().is_none());
    rig.send_bytes(&vec![b'x'; 65_530]);
    assert!(rig.outcome().is_none() && rig.sent().is_empty());
    rig.send_bytes(b"x");
    assert!(matches!(rig.sent()[..], [Frame::OpenFailure { .. }]), "the text is no destination");
}

#[test]
fn h7_a_cut_inside_a_frame_is_an_unexpected_end_to_every_handle() {
    let (mut rig, (opener, mut acceptor)) = Rig::peer(Config::default());
    let (stream, _) = rig.channel(&mut acceptor, 7);
    let (mut reader, mut writer) = stream.into_split();
    let mut read = rig.start(async move { reader.read_chunk().await });
    let mut accept = rig.start(async move { acceptor.accept().await.is_none() });
    let mut opening = rig.start_open(&opener);
    let mut closed = rig.start(async move { opener.closed().await });
    rig.send_bytes(&[104, 0, 100]);
    rig.hang_up();
    let cut = |error: &ConnectionError| matches!(error, ConnectionError::UnexpectedEof);
    assert!(matches!(read.result(), Some(Err(ReadError::Connection(error))) if cut(&error)));
    assert!(matches!(opening.result(), Some(Err(OpenError::Connection(error))) if cut(&error)));
    assert!(
        matches!(rig.run(writer.write_chunk(Bytes::from_static(b"x"))), Err(WriteError::Connection(error)) if cut(&error))
    );
    assert_eq!(accept.result(), Some(true));
    assert!(closed.result().is_some_and(|error| cut(&error)));
    assert!(matches!(rig.outcome(), Some(Err(error)) if cut(&error)));
}

/// Inside a payload, too: what arrived of it is readable first.
#[test]
fn h7_a_cut_inside_a_payload() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    let whole = encode([data(ours, b"hello")]);
    rig.send_bytes(&whole[..whole.len() - 2]);
    rig.hang_up();
    let mut received = Vec::new();
    let end = rig.run(stream.read_to_end(&mut received)).expect_err("the session was cut");
    assert_eq!((received.as_slice(), end.kind()), (&b"hel"[..], io::ErrorKind::ConnectionAborted));
}

#[test]
fn h8_an_empty_piece_is_not_the_end() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    rig.send_bytes(&[]);
    let (mut stream, ours) = rig.channel(&mut acceptor, 7);
    rig.send_bytes(&[]);
    rig.send([data(ours, b"x"), close(ours)]);
    let mut received = Vec::new();
    rig.run(stream.read_to_end(&mut received)).expect("a clean end");
    assert_eq!(received, b"x");
}

/// Answers of the script that fit no message of ours do not confuse the next.
#[test]
fn frames_straddle_pieces_in_both_directions() {
    let (mut rig, opener) = Rig::client(Config::default());
    let mut opening = rig.start_open(&opener);
    let sent = rig.sent();
    let [Frame::Open { sender, .. }] = sent[..] else { unreachable!("{sent:?}") };
    let bytes = encode([success(sender.0, 9), data(sender.0, b"early")]);
    rig.send_bytes(&bytes[..17]);
    assert!(opening.result().is_none());
    rig.send_bytes(&bytes[17..]);
    let mut stream = opening.result().expect("answered").expect("accepted");
    let mut buffer = [0; 5];
    rig.run(stream.read_exact(&mut buffer)).expect("it is there");
    assert_eq!(&buffer, b"early");
}
