//! A peer that is a script: it writes frames, broken ones too, and looks at what comes back.
//!
//! Our side is the real [`Connection`] over an in-memory transport. Everything runs on the test's own thread, so that
//! after each step all that follows from it has happened.
//!
//! ```
//! use muxgate_core::Config;
//! use muxgate_tests::scripted::{Rig, data, open, success};
//!
//! let (mut rig, mut acceptor) = Rig::server(Config::default());
//! rig.send([open(7)]);
//! let mut stream = rig.run(acceptor.accept()).unwrap().accept().unwrap();
//! let (_, ours) = rig.accepted();
//! rig.send([data(ours, b"hello")]);
//! let (mut reader, _writer) = stream.split();
//! assert_eq!(rig.run(reader.read_chunk()).unwrap().unwrap(), "hello");
//! ```

use std::future::Future;
use std::io::IoSlice;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use muxgate_core::codec::Decoder;
use muxgate_core::frame::{ChannelId, Frame};
use muxgate_core::{
    Acceptor, ChannelStream, Config, Connection, ConnectionError, Destination, Duplex, Opener, ReasonCode, Transport,
    client, duplex, peer, server,
};

use crate::clock::VirtualClock;
use crate::executor::{Executor, Task};

/// The script's windows and packets unless it says otherwise.
pub const WINDOW: u32 = 64 * 1024;
/// See [`WINDOW`]. What deployed peers announce.
pub const MAX_PACKET: u16 = 4096;

/// Bytes that either side may be ahead of the other.
const WIRE: usize = 16 * 1024 * 1024;

/// Our side at work, and the far end of its transport.
#[derive(Debug)]
pub struct Rig {
    executor: Executor,
    clock: VirtualClock,
    wire: Duplex,
    decoder: Decoder,
    connection: Task<Result<(), ConnectionError>>,
}

impl Rig {
    /// Our side answers opens.
    #[must_use]
    pub fn server(config: Config) -> (Self, Acceptor) {
        Self::new(WIRE, |transport, clock| server(transport, clock, config))
    }

    /// Our side opens.
    #[must_use]
    pub fn client(config: Config) -> (Self, Opener) {
        Self::new(WIRE, |transport, clock| client(transport, clock, config))
    }

    /// Our side does both.
    #[must_use]
    pub fn peer(config: Config) -> (Self, (Opener, Acceptor)) {
        Self::new(WIRE, |transport, clock| {
            let (opener, acceptor, connection) = peer(transport, clock, config);
            ((opener, acceptor), connection)
        })
    }

    /// Our side as the test makes it, over a wire that holds so many bytes in each direction.
    pub fn new<H>(
        wire: usize,
        connect: impl FnOnce(Duplex, VirtualClock) -> (H, Connection<Duplex, VirtualClock>),
    ) -> (Self, H) {
        let (near, far) = duplex(wire);
        let clock = VirtualClock::default();
        let mut executor = Executor::default();
        let (handle, connection) = connect(near, clock.clone());
        let connection = executor.start(connection);
        (Self { executor, clock, wire: far, decoder: Decoder::default(), connection }, handle)
    }

    /// Runs a future of ours; it must not need anything else from the script.
    pub fn run<F: Future>(&mut self, future: F) -> F::Output {
        let output = self.executor.run(future);
        self.executor.settle();
        output
    }

    /// Starts a task of ours.
    pub fn start<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) -> Task<T> {
        self.executor.start(future)
    }

    /// Starts a task of ours of which nothing is awaited.
    pub fn detach<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) {
        self.executor.detach(future);
    }

    /// Runs our side until it waits.
    pub fn settle(&mut self) {
        self.executor.settle();
    }

    /// Lets time pass.
    pub fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
        self.settle();
    }

    /// Lets time pass that our side learns of only when it does something else.
    pub fn sleep(&mut self, by: Duration) {
        self.clock.sleep(by);
    }

    /// The peer sends these frames, in one piece.
    pub fn send(&mut self, frames: impl IntoIterator<Item = Frame>) {
        self.send_bytes(&encode(frames));
    }

    /// The peer sends these bytes, in one piece as far as there is room. No bytes are an empty piece.
    ///
    /// # Panics
    ///
    /// If our side does not read.
    pub fn send_bytes(&mut self, mut bytes: &[u8]) {
        loop {
            match self.wire.poll_write(&mut Context::from_waker(Waker::noop()), &[IoSlice::new(bytes)]) {
                Poll::Ready(Ok(written)) => bytes = &bytes[written..],
                // Our side has ended the transport: nobody hears the rest.
                Poll::Ready(Err(_)) => break,
                Poll::Pending => unreachable!("our side does not read"),
            }
            self.settle();
            if bytes.is_empty() {
                break;
            }
        }
    }

    /// The peer ends its direction of the transport.
    pub fn hang_up(&mut self) {
        let _ = self.wire.poll_close(&mut Context::from_waker(Waker::noop()));
        self.settle();
    }

    /// What our side has sent since the last time; every DATA message as one.
    pub fn sent(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut payload = BytesMut::new();
        loop {
            self.settle();
            let read = self.wire.poll_read(&mut Context::from_waker(Waker::noop()));
            let Poll::Ready(Ok(Some(mut piece))) = read else { break };
            while let Some(frame) = self.decoder.decode(&mut piece).expect("our side speaks JMUX") {
                frames.extend(join(&mut payload, frame));
            }
        }
        assert!(self.decoder.is_between_frames(), "our side stopped in the middle of a message");
        frames
    }

    /// The payload that our side has sent since the last time, and how many messages it came in. Nothing else may have
    /// been sent.
    pub fn sent_payload(&mut self) -> (Bytes, usize) {
        let frames = self.sent();
        let messages = frames.len();
        let mut joined = BytesMut::new();
        for frame in frames {
            let Frame::Data { payload, .. } = &frame else { unreachable!("{frame:?} is no data") };
            joined.extend_from_slice(payload);
        }
        (joined.freeze(), messages)
    }

    /// The two numbers of the next `OPEN_SUCCESS` of our side, which must be all that it has sent: the peer's and ours.
    pub fn accepted(&mut self) -> (u32, u32) {
        let sent = self.sent();
        let [Frame::OpenSuccess { recipient, sender, .. }] = sent[..] else { unreachable!("{sent:?} is no success") };
        (recipient.0, sender.0)
    }

    /// A channel that the peer opened with this number of its own, accepted by us; and our number.
    pub fn channel(&mut self, acceptor: &mut Acceptor, number: u32) -> (ChannelStream, u32) {
        self.channel_with(acceptor, open(number))
    }

    /// Like [`channel`](Self::channel), with any OPEN.
    pub fn channel_with(&mut self, acceptor: &mut Acceptor, open: Frame) -> (ChannelStream, u32) {
        self.send([open]);
        let incoming = self.run(acceptor.accept()).expect("the session lives");
        let stream = incoming.accept().expect("the session lives");
        let (_, ours) = self.accepted();
        (stream, ours)
    }

    /// A channel that we opened and that the peer accepted with this number; and our number.
    pub fn opened(&mut self, opener: &Opener, number: u32) -> (ChannelStream, u32) {
        let mut task = self.start_open(opener);
        let sent = self.sent();
        let [Frame::Open { sender, .. }] = sent[..] else { unreachable!("{sent:?} is no open") };
        self.send([success(sender.0, number)]);
        (task.result().expect("it is answered").expect("it is accepted"), sender.0)
    }

    /// An open of ours on its way.
    pub fn start_open(&mut self, opener: &Opener) -> Task<Result<ChannelStream, muxgate_core::OpenError>> {
        let opener = opener.clone();
        self.start(async move { opener.open(&destination()).await })
    }

    /// How our session ended, if it did; to be asked until it says so.
    pub fn outcome(&mut self) -> Option<Result<(), ConnectionError>> {
        self.connection.result()
    }
}

/// Joins the pieces of a DATA message.
fn join(payload: &mut BytesMut, frame: Frame) -> Option<Frame> {
    match frame {
        Frame::Data { recipient, payload: piece, rest } => {
            payload.extend_from_slice(&piece);
            (rest == 0).then(|| Frame::Data { recipient, payload: payload.split().freeze(), rest })
        }
        other => Some(other),
    }
}

/// The bytes of these frames.
#[must_use]
pub fn encode(frames: impl IntoIterator<Item = Frame>) -> Bytes {
    let mut bytes = BytesMut::new();
    frames.into_iter().for_each(|frame| frame.encode(&mut bytes));
    bytes.freeze()
}

/// Where every channel of a script leads, unless it says otherwise.
///
/// # Panics
///
/// Never: it is valid.
#[must_use]
pub fn destination() -> Destination {
    Destination::tcp("a", 1).expect("valid")
}

/// OPEN under this number of the sender.
#[must_use]
pub fn open(sender: u32) -> Frame {
    open_with(sender, WINDOW, MAX_PACKET, b"tcp://a:1")
}

/// OPEN with everything said.
#[must_use]
pub fn open_with(sender: u32, window: u32, max_packet: u16, destination: &[u8]) -> Frame {
    let destination = Bytes::copy_from_slice(destination);
    Frame::Open { sender: ChannelId(sender), window, max_packet, destination }
}

/// `OPEN_SUCCESS` to a channel of the recipient, under this number of the sender.
#[must_use]
pub fn success(recipient: u32, sender: u32) -> Frame {
    success_with(recipient, sender, WINDOW, MAX_PACKET)
}

/// `OPEN_SUCCESS` with everything said.
#[must_use]
pub fn success_with(recipient: u32, sender: u32, window: u32, max_packet: u16) -> Frame {
    Frame::OpenSuccess { recipient: ChannelId(recipient), sender: ChannelId(sender), window, max_packet }
}

/// `OPEN_FAILURE`.
#[must_use]
pub fn failure(recipient: u32, reason: ReasonCode, description: &str) -> Frame {
    let description = Bytes::copy_from_slice(description.as_bytes());
    Frame::OpenFailure { recipient: ChannelId(recipient), reason, description }
}

/// `WINDOW_ADJUST`.
#[must_use]
pub fn adjust(recipient: u32, credit: u32) -> Frame {
    Frame::WindowAdjust { recipient: ChannelId(recipient), credit }
}

/// DATA.
#[must_use]
pub fn data(recipient: u32, payload: &[u8]) -> Frame {
    Frame::Data { recipient: ChannelId(recipient), payload: Bytes::copy_from_slice(payload), rest: 0 }
}

/// EOF.
#[must_use]
pub fn eof(recipient: u32) -> Frame {
    Frame::Eof { recipient: ChannelId(recipient) }
}

/// CLOSE.
#[must_use]
pub fn close(recipient: u32) -> Frame {
    Frame::Close { recipient: ChannelId(recipient) }
}
