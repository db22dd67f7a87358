//! Sessions recorded between two deployed peers, played against ours in either role. See `vectors/README.md`.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;

use bytes::{Bytes, BytesMut};
use futures::AsyncReadExt;
use muxgate_core::codec::Decoder;
use muxgate_core::frame::{ChannelId, Frame};
use muxgate_core::{
    Acceptor, ChannelStream, ChannelWriter, Config, Destination, Incoming, OpenError, Opener, ReasonCode,
};
use muxgate_tests::executor::Task;
use muxgate_tests::scripted::{Rig, encode};

const RECORDINGS: [&str; 10] = [
    "echo_small",
    "halfclose_late_reply",
    "destination_eof_first",
    "refused",
    "denied_by_ruleset",
    "unresolvable",
    "bulk_echo_60k",
    "two_channels",
    "socks5_ipv6_literal",
    "http_connect_with_early_bytes",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

/// A frame, or the end of that side's direction.
struct Step {
    from: Role,
    bytes: Option<Bytes>,
}

impl Step {
    fn frame(&self) -> Option<Frame> {
        self.bytes.clone().map(|bytes| decode(bytes).expect("a frame"))
    }
}

fn recording(name: &str) -> Vec<Step> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("vectors/{name}.json"));
    let text = std::fs::read_to_string(path).expect("it is there");
    let steps: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    let step = |value: &serde_json::Value| Step {
        from: if value["from"] == "client" { Role::Client } else { Role::Server },
        bytes: value["hex"].as_str().map(unhex),
    };
    steps.iter().map(step).collect()
}

fn unhex(hex: &str) -> Bytes {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// The one frame that these bytes are.
fn decode(mut bytes: Bytes) -> Option<Frame> {
    let frame = Decoder::default().decode(&mut bytes).expect("JMUX");
    bytes.is_empty().then_some(frame).flatten()
}

#[test]
fn every_frame_is_encoded_to_the_bytes_it_came_from() {
    for name in RECORDINGS {
        for bytes in recording(name).into_iter().filter_map(|step| step.bytes) {
            let frame = decode(bytes.clone()).expect("one frame");
            assert_eq!(encode([frame]), bytes, "{name}");
        }
    }
}

#[test]
fn ours_opens_as_the_recorded_client_did() {
    for name in RECORDINGS {
        Replay::of(name, Role::Client);
    }
}

#[test]
fn ours_answers_as_the_recorded_server_did() {
    for name in RECORDINGS {
        Replay::of(name, Role::Server);
    }
}

/// Payload by the recipient's recorded number.
type Payload = BTreeMap<u32, BytesMut>;

/// Our side in the place of one of the recorded. Channels go by the number that the peer gave them.
struct Replay {
    role: Role,
    rig: Rig,
    opener: Opener,
    acceptor: Acceptor,
    /// Opens of ours that are not answered: our recorded number, our real number, and the task.
    openings: BTreeMap<u32, (u32, Task<Result<ChannelStream, OpenError>>)>,
    /// Opens of the peer that are not answered.
    requests: VecDeque<(u32, Incoming)>,
    writers: BTreeMap<u32, ChannelWriter>,
    readers: BTreeMap<u32, Task<io::Result<Vec<u8>>>>,
    /// Our real number by our recorded one.
    real: BTreeMap<u32, u32>,
    /// By our recorded number: what arrived. By the peer's number: what was sent, and what the recorded side had sent.
    arrived: Payload,
    sent: Payload,
    recorded: Payload,
}

impl Replay {
    fn of(name: &str, role: Role) {
        let (rig, (opener, acceptor)) = Rig::peer(Config::default());
        let mut replay = Self {
            role,
            rig,
            opener,
            acceptor,
            openings: BTreeMap::new(),
            requests: VecDeque::new(),
            writers: BTreeMap::new(),
            readers: BTreeMap::new(),
            real: BTreeMap::new(),
            arrived: Payload::new(),
            sent: Payload::new(),
            recorded: Payload::new(),
        };
        for step in recording(name) {
            match step.frame() {
                Some(frame) if step.from == role => replay.act(frame),
                Some(frame) => replay.feed(frame),
                None => {}
            }
            replay.collect();
        }
        replay.finish(name);
    }

    /// Our application does what made the recorded side send this frame.
    fn act(&mut self, frame: Frame) {
        match frame {
            Frame::Open { sender, destination, .. } => self.open(sender.0, &destination),
            Frame::OpenSuccess { recipient, sender, .. } => self.accept(recipient.0, sender.0),
            Frame::OpenFailure { recipient, reason, description } => self.reject(recipient.0, reason, &description),
            Frame::Data { recipient, payload, .. } => {
                self.recorded.entry(recipient.0).or_default().extend_from_slice(&payload);
                let writer = self.writers.get_mut(&recipient.0).expect("it is open");
                self.rig.run(writer.write_chunk(payload)).expect("it is open");
            }
            // A recorded side that finishes second closes instead of ending; ours does both of its own accord.
            Frame::Eof { recipient } | Frame::Close { recipient } => {
                self.writers.remove(&recipient.0);
                self.rig.settle();
            }
            // Ours grants when it sees fit.
            Frame::WindowAdjust { .. } => {}
        }
    }

    /// The peer sends this frame, to the number that our channel has in reality.
    fn feed(&mut self, frame: Frame) {
        let real = |recorded: ChannelId| ChannelId(self.real[&recorded.0]);
        let frame = match frame {
            Frame::Open { .. } => return self.request(frame),
            Frame::OpenSuccess { .. } | Frame::OpenFailure { .. } => return self.answer(frame),
            Frame::Data { recipient, payload, rest } => {
                self.arrived.entry(recipient.0).or_default().extend_from_slice(&payload);
                Frame::Data { recipient: real(recipient), payload, rest }
            }
            Frame::WindowAdjust { recipient, credit } => Frame::WindowAdjust { recipient: real(recipient), credit },
            Frame::Eof { recipient } => Frame::Eof { recipient: real(recipient) },
            Frame::Close { recipient } => Frame::Close { recipient: real(recipient) },
        };
        self.rig.send([frame]);
    }

    fn open(&mut self, recorded: u32, destination: &[u8]) {
        let text = std::str::from_utf8(destination).expect("UTF-8");
        let (opener, target): (_, Destination) = (self.opener.clone(), text.parse().expect("a destination"));
        let task = self.rig.start(async move { opener.open(&target).await });
        let sent = self.rig.sent();
        let [Frame::Open { sender, destination: ours, .. }] = &sent[..] else { unreachable!("{sent:?}") };
        assert_eq!(ours, destination);
        self.openings.insert(recorded, (sender.0, task));
    }

    fn answer(&mut self, frame: Frame) {
        let (Frame::OpenSuccess { recipient, .. } | Frame::OpenFailure { recipient, .. }) = frame else { return };
        let (real, mut task) = self.openings.remove(&recipient.0).expect("it was opened");
        match frame {
            Frame::OpenSuccess { sender, window, max_packet, .. } => {
                self.rig.send([Frame::OpenSuccess { recipient: ChannelId(real), sender, window, max_packet }]);
                let stream = task.result().expect("it is answered").expect("it is accepted");
                self.begin(recipient.0, real, sender.0, stream);
            }
            Frame::OpenFailure { reason: why, description: text, .. } => {
                let recipient = ChannelId(real);
                self.rig.send([Frame::OpenFailure { recipient, reason: why, description: text.clone() }]);
                match task.result() {
                    Some(Err(OpenError::Refused { reason, description })) => {
                        assert_eq!((reason, description.as_bytes()), (why, &text[..]));
                    }
                    other => unreachable!("{other:?}"),
                }
            }
            _ => {}
        }
    }

    fn request(&mut self, frame: Frame) {
        let Frame::Open { sender, destination, .. } = frame.clone() else { return };
        self.rig.send([frame]);
        let incoming = self.rig.run(self.acceptor.accept()).expect("a request");
        assert_eq!(incoming.destination().to_string().as_bytes(), destination);
        self.requests.push_back((sender.0, incoming));
    }

    fn accept(&mut self, peer: u32, recorded: u32) {
        let (number, incoming) = self.requests.pop_front().expect("it was requested");
        let stream = incoming.accept().expect("the session lives");
        let (answered, real) = self.rig.accepted();
        assert_eq!((number, answered), (peer, peer));
        self.begin(recorded, real, peer, stream);
    }

    fn reject(&mut self, peer: u32, reason: ReasonCode, description: &Bytes) {
        let (number, incoming) = self.requests.pop_front().expect("it was requested");
        incoming.reject(reason, std::str::from_utf8(description).expect("UTF-8"));
        let recipient = ChannelId(peer);
        let expected = Frame::OpenFailure { recipient, reason, description: description.clone() };
        assert_eq!((number, self.rig.sent()), (peer, vec![expected]));
    }

    fn begin(&mut self, recorded: u32, real: u32, peer: u32, stream: ChannelStream) {
        let (mut reader, writer) = stream.into_split();
        self.real.insert(recorded, real);
        self.writers.insert(peer, writer);
        let reading = self.rig.start(async move {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).await.map(|_| bytes)
        });
        self.readers.insert(recorded, reading);
    }

    fn collect(&mut self) {
        for frame in self.rig.sent() {
            if let Frame::Data { recipient, payload, .. } = frame {
                self.sent.entry(recipient.0).or_default().extend_from_slice(&payload);
            }
        }
    }

    fn finish(mut self, name: &str) {
        let role = self.role;
        for (recorded, mut reading) in std::mem::take(&mut self.readers) {
            let read = reading.result().expect("it has ended").expect("in good order");
            let arrived = self.arrived.remove(&recorded).unwrap_or_default();
            assert!(read == arrived, "{name} as {role:?}: {} bytes read, {} came", read.len(), arrived.len());
        }
        assert!(self.sent == self.recorded, "{name} as {role:?}: other bytes were sent");
        self.rig.hang_up();
        let stats = self.opener.stats();
        assert_eq!((stats.channels, stats.unread, stats.glitches), (0, 0, 0), "{name} as {role:?}");
        assert!(matches!(self.rig.outcome(), Some(Ok(()))), "{name} as {role:?}");
    }
}
