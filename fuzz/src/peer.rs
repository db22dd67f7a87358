//! A side whose peer sends what it likes.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use bytes::Bytes;
use muxgate_core::codec::Decoder;
use muxgate_core::frame::{ChannelId, Frame, ReasonCode};
use muxgate_core::session::Readiness;
use muxgate_core::{Config, ConnectionError, Timestamp};

use crate::side::{End, Side};

/// How far a peer may overrun its credit on one channel: see `core/src/flow.rs`.
const GRACE: u64 = 64 * 1024;

/// Nothing panics; no more is held than was promised; no more is sent than was granted; and when the session is over,
/// everybody can still let go.
pub(crate) fn run(input: &[u8]) {
    let mut choices = Unstructured::new(input);
    let Ok(mut rig) = Rig::new(&mut choices) else { return };
    while !choices.is_empty() && rig.step(&mut choices).is_ok() {
        rig.check();
    }
    rig.let_go();
}

struct Rig {
    config: Config,
    now: Timestamp,
    side: Side,
    /// What the peer granted, by its own number.
    credit: BTreeMap<ChannelId, u64>,
    /// The peer's number, by ours.
    remote: BTreeMap<ChannelId, ChannelId>,
    mirror: Decoder,
    /// The peer sent bytes that were not made of known frames: its grants are not known any more.
    raw: bool,
}

impl Rig {
    fn new(choices: &mut Unstructured<'_>) -> Result<Self> {
        let config = Config {
            budget: choices.int_in_range(0..=100_000)?,
            min_window: 512,
            base_window: 4096,
            max_window: 65_536,
            send_buffer: 10_000,
            max_frame: choices.int_in_range(9..=9000)?,
            max_channels: 8,
            backlog: 4,
            glitch_burst: 300,
            glitch_rate: 10,
            max_replies: 20,
            ..Config::default()
        };
        Ok(Self {
            side: Side::new(&config),
            config,
            now: Timestamp::ZERO,
            credit: BTreeMap::new(),
            remote: BTreeMap::new(),
            mirror: Decoder::default(),
            raw: false,
        })
    }

    fn step(&mut self, choices: &mut Unstructured<'_>) -> Result<()> {
        match choices.arbitrary::<u8>()? % 20 {
            0..=7 => {
                let frame = frame(choices)?;
                self.receive(&frame);
            }
            8 => {
                let bytes = Bytes::copy_from_slice(choices.arbitrary()?);
                self.receive_bytes(bytes);
            }
            9 | 10 => self.answer(choices.arbitrary()?),
            11 => self.open(),
            12 => self.ask(choices.arbitrary()?),
            13 => self.write(choices.arbitrary()?, choices.arbitrary()?),
            14 => self.read(choices.arbitrary()?, choices.arbitrary()?),
            15 => self.end(choices.arbitrary()?, choices.arbitrary()?),
            16 => self.now += Duration::from_millis(choices.arbitrary::<u16>()?.into()),
            17 if self.side.session.ended().is_none() => self.side.session.handle_timeout(self.now),
            _ => {
                self.side.transmit(self.now, choices.arbitrary()?, choices.arbitrary()?);
                self.check_sent();
            }
        }
        while self.side.session.poll_event().is_some() {}
        Ok(())
    }

    fn receive(&mut self, frame: &Frame) {
        if self.side.session.ended().is_some() {
            return;
        }
        let before = self.side.session.stats().glitches;
        let result = self.side.session.handle_frame(self.now, frame.clone());
        if self.side.session.stats().glitches == before {
            self.note(frame);
        }
        self.end_after(result);
    }

    /// What an accepted message granted.
    fn note(&mut self, frame: &Frame) {
        match *frame {
            Frame::Open { sender, window, .. } => drop(self.credit.insert(sender, window.into())),
            Frame::OpenSuccess { recipient, sender, window, .. } => {
                self.credit.insert(sender, window.into());
                self.remote.insert(recipient, sender);
            }
            Frame::WindowAdjust { recipient, credit } => {
                if let Some(total) = self.remote.get(&recipient).and_then(|remote| self.credit.get_mut(remote)) {
                    *total += u64::from(credit);
                }
            }
            _ => {}
        }
    }

    fn receive_bytes(&mut self, mut bytes: Bytes) {
        self.raw = true;
        while self.side.session.ended().is_none() {
            let result = match self.side.decoder.decode(&mut bytes) {
                Ok(Some(frame)) => self.side.session.handle_frame(self.now, frame),
                Ok(None) => return,
                Err(error) => Err(error.into()),
            };
            self.end_after(result);
        }
    }

    fn end_after(&mut self, result: std::result::Result<(), ConnectionError>) {
        if let Err(error) = result {
            self.side.session.end(error);
        }
    }

    /// No more than was granted, and to no channel that is not there.
    fn check_sent(&mut self) {
        let mut sent = self.side.wire.split().freeze();
        while let Some(frame) = self.mirror.decode(&mut sent).expect("our frames are sound") {
            let Frame::Data { recipient, payload, .. } = frame else { continue };
            if !self.raw {
                let credit = self.credit.get_mut(&recipient).expect("a channel of the peer");
                let left = credit.checked_sub(payload.len() as u64);
                *credit = left.expect("no more is sent than was granted");
            }
        }
    }

    fn open(&mut self) {
        let destination = "tcp://a:1".parse().expect("a destination");
        if let Ok(id) = self.side.session.open(destination) {
            self.side.opening.insert(id, (0, false));
        }
    }

    fn ask(&mut self, give_up: bool) {
        let Some((id, _)) = self.side.opening.pop_first() else { return };
        match self.side.session.opening(id) {
            Some(Ok(())) => drop(self.side.ends.insert(id, End::new(0, 0))),
            None if !give_up => drop(self.side.opening.insert(id, (0, false))),
            _ => self.side.session.abandon(id),
        }
    }

    fn answer(&mut self, accept: bool) {
        let Some((id, destination)) = self.side.session.next_request() else { return };
        if accept && self.side.session.accept(id).is_ok() {
            self.side.ends.insert(id, End::new(0, 0));
            // See `frame`.
            let remote = destination.host().strip_prefix('c').and_then(|number| number.parse().ok());
            if let Some(remote) = remote {
                self.remote.insert(id, ChannelId(remote));
            }
        } else {
            self.side.session.refuse(id, ReasonCode::GeneralFailure, "no");
        }
    }

    fn write(&mut self, lot: u8, len: u16) {
        let Some(id) = self.side.pick(lot).filter(|id| self.side.ends[id].writes) else { return };
        if let Ok(room) = self.side.session.room(id) {
            let bytes = vec![0; room.min(len.into())];
            self.side.session.write(id, bytes.into()).expect("there is room");
        }
    }

    fn read(&mut self, lot: u8, len: u16) {
        let Some(id) = self.side.pick(lot).filter(|id| self.side.ends[id].reads) else { return };
        let mut fetched = VecDeque::new();
        let readiness = self.side.session.read(id, &mut fetched);
        assert_eq!(!fetched.is_empty(), matches!(readiness, Ok(Readiness::Data)));
        self.side.ends.get_mut(&id).expect("picked among them").pieces.append(&mut fetched);
        self.side.consume(id, len.into());
    }

    fn end(&mut self, lot: u8, how: u8) {
        let Some(id) = self.side.pick(lot) else { return };
        let End { reads, writes, .. } = self.side.ends[&id];
        match how % 4 {
            0 if writes => self.side.session.finish(id),
            1 if writes => self.side.session.reset(id),
            2 if writes => self.side.drop_writer(id),
            3 if reads => self.side.drop_reader(id),
            _ => {}
        }
    }

    fn check(&self) {
        let (stats, config) = (self.side.session.stats(), &self.config);
        assert!(stats.channels <= config.max_channels, "{stats:?}");
        let per_channel = u64::from(config.min_window) + GRACE.max(u64::from(config.max_window) / 10);
        let bound = config.budget + u64::from(config.max_channels) * per_channel;
        assert!(stats.unread <= bound, "{bound} allowed: {stats:?}");
    }

    fn let_go(&mut self) {
        self.side.session.end(ConnectionError::PeerClosed);
        while !self.side.opening.is_empty() {
            self.ask(true);
        }
        self.side.session.stop_accepting();
        for (id, End { reads, writes, .. }) in self.side.ends.clone() {
            if writes {
                self.side.drop_writer(id);
            }
            if reads {
                self.side.drop_reader(id);
            }
        }
        assert_eq!(self.side.session.stats().unread, 0);
    }
}

/// A message with numbers that often mean something.
fn frame(choices: &mut Unstructured<'_>) -> Result<Frame> {
    let [recipient, sender] = [choices.arbitrary::<u8>()?, choices.arbitrary::<u8>()?];
    let [recipient, sender] = [recipient, sender].map(|number| ChannelId(u32::from(number % 12)));
    Ok(match choices.arbitrary::<u8>()? % 16 {
        0..=3 => {
            let destination = format!("tcp://c{}:1", sender.0).into_bytes().into();
            let (window, max_packet) = (choices.arbitrary()?, choices.arbitrary()?);
            Frame::Open { sender, window, max_packet, destination }
        }
        4 => {
            let destination = Bytes::copy_from_slice(choices.arbitrary()?);
            Frame::Open { sender, window: 1000, max_packet: 1000, destination }
        }
        5 | 6 => {
            let (window, max_packet) = (choices.arbitrary()?, choices.arbitrary()?);
            Frame::OpenSuccess { recipient, sender, window, max_packet }
        }
        7 => {
            let (reason, description) = (choices.arbitrary::<u32>()?, Bytes::copy_from_slice(choices.arbitrary()?));
            Frame::OpenFailure { recipient, reason: reason.into(), description }
        }
        8 | 9 => Frame::WindowAdjust { recipient, credit: choices.arbitrary()? },
        10..=12 => {
            let payload = vec![0; choices.arbitrary::<u16>()?.into()].into();
            let rest = if choices.ratio(1, 4)? { choices.arbitrary()? } else { 0 };
            Frame::Data { recipient, payload, rest }
        }
        13 => Frame::Eof { recipient },
        _ => Frame::Close { recipient },
    })
}
