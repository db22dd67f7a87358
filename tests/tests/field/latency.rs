//! Bytes that wait for a timer, and shares that are not fair.

use bytes::Bytes;
use muxgate_core::Config;
use muxgate_core::frame::Frame;
use muxgate_tests::scripted::{Rig, adjust, data, open_with};

/// The flush timer of deployed peers: a byte on an idle session waits 10 ms, and longer if others follow. Here the clock
/// stands still, and the byte is out.
#[test]
fn a_byte_does_not_wait_for_time_to_pass() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, _) = rig.channel(&mut acceptor, 7);
    let (_reader, mut writer) = stream.into_split();
    for _ in 0..10 {
        rig.run(writer.write_chunk(Bytes::from_static(b"x"))).expect("there is room");
        assert_eq!(rig.sent(), [data(7, b"x")]);
    }
}

/// swift-nio-http2 559, quinn 949: of 32 bulk channels some starve. golang 58804: a priority scheme that starves.
#[test]
fn bulk_channels_get_equal_shares_and_nobody_starves() {
    const EACH: u32 = 1 << 20;
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let mut streams = Vec::new();
    for number in 0..32 {
        let (stream, ours) = rig.channel_with(&mut acceptor, open_with(number, 0, u16::MAX, b"tcp://a:1"));
        let (reader, mut writer) = stream.into_split();
        rig.detach(async move { while writer.write_chunk(Bytes::from_static(&[0; 8192])).await.is_ok() {} });
        streams.push((reader, ours));
    }
    rig.send(streams.iter().map(|(_, ours)| adjust(*ours, EACH)));
    let mut shares = [0; 32];
    for frame in rig.sent() {
        let Frame::Data { recipient, payload, .. } = frame else { continue };
        shares[recipient.0 as usize] += payload.len();
        let (least, most) = (shares.iter().min(), shares.iter().max());
        let spread = most.zip(least).map(|(most, least)| most - least);
        assert!(spread <= Some(256 * 1024), "{shares:?}");
    }
    assert_eq!(shares, [EACH as usize; 32]);
}

/// ocaml-h2 162: an old channel is punished for the bytes that it sent long ago.
#[test]
fn an_old_channel_is_served_like_a_new_one() {
    let (mut rig, mut acceptor) = Rig::server(Config::default());
    let (stream, old_ours) = rig.channel_with(&mut acceptor, open_with(0, 100 << 20, u16::MAX, b"tcp://a:1"));
    let (_reader, mut old) = stream.into_split();
    for _ in 0..400 {
        rig.run(old.write_chunk(Bytes::from(vec![0; 256 * 1024]))).expect("there is room");
        rig.sent();
    }
    let (stream, ours) = rig.channel_with(&mut acceptor, open_with(1, 0, u16::MAX, b"tcp://a:1"));
    let (_other_reader, mut new) = stream.into_split();
    rig.run(new.write_chunk(Bytes::from(vec![0; 250_000]))).expect("there is room");
    rig.run(old.write_chunk(Bytes::from(vec![0; 250_000]))).expect("there is room");
    rig.send([adjust(old_ours, 250_000), adjust(ours, 250_000)]);
    let order: Vec<_> = rig
        .sent()
        .iter()
        .filter_map(|frame| match frame {
            Frame::Data { recipient, .. } => Some(recipient.0),
            _ => None,
        })
        .collect();
    let first_old = order.iter().position(|number| *number == 0);
    assert!(first_old.is_some_and(|position| position <= 2), "{order:?}");
}
