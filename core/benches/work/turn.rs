//! Turns of both drivers of a session, with channels that are all busy.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::join_all;
use muxgate_core::{
    Acceptor, ChannelReader, ChannelStream, Config, Connection, Duplex, Opener, StoppedClock, client, duplex, server,
};

use super::{FRAMES, Work};

/// Payload of each message.
const LEN: usize = 4096;

/// More than is ever on the way.
const WIRE: usize = 16 * 1024 * 1024;

pub(super) fn works() -> Vec<Work> {
    vec![
        turns("turn of 1 channel", 1),
        turns("turn of 10 channels", 10),
        turns("turn of 100 channels", 100),
        turns("turn of 1,000 channels", 1000),
    ]
}

/// One message of each channel, then turns until all of them are read; again until there were [`FRAMES`].
fn turns(name: &'static str, channels: usize) -> Work {
    let mut session = Session::new();
    let (mut writers, mut readers) = session.open(channels);
    let chunk = Bytes::from(vec![1; LEN]);
    Work::new(name, move || {
        for _ in 0..FRAMES / channels {
            for writer in &mut writers {
                writer.split().1.push(chunk.clone()).expect("there is room");
            }
            for reader in &mut readers {
                session.receive(reader.split().0);
            }
        }
    })
}

type Driver = Connection<Duplex, StoppedClock>;

/// Both ends. Nothing is woken: whoever could go on is polled.
struct Session {
    opener: Opener,
    acceptor: Acceptor,
    near: Driver,
    far: Driver,
}

impl Session {
    fn new() -> Self {
        let (near, far) = duplex(WIRE);
        let (opener, near) = client(near, StoppedClock, Config::default());
        let (acceptor, far) = server(far, StoppedClock, Config::default());
        Self { opener, acceptor, near, far }
    }

    /// Opens channels, of which the near end is written and the far end is read.
    fn open(&mut self, count: usize) -> (Vec<ChannelStream>, Vec<ChannelStream>) {
        let Self { opener, acceptor, near, far } = self;
        let destination = "tcp://a.example:1".parse().expect("a destination");
        let opening = join_all((0..count).map(|_| opener.open(&destination)));
        let accepting = async {
            let mut accepted = Vec::new();
            while accepted.len() < count {
                let incoming = acceptor.accept().await.expect("the session lives");
                accepted.push(incoming.accept().expect("the session lives"));
            }
            accepted
        };
        let both = async { futures::join!(opening, accepting) };
        let (opened, accepted) = drive(near, far, both);
        (opened.into_iter().map(|stream| stream.expect("it was accepted")).collect(), accepted)
    }

    fn receive(&mut self, reader: &mut ChannelReader) {
        let mut missing = LEN;
        while missing > 0 {
            let read = drive(&mut self.near, &mut self.far, reader.read_chunk());
            missing -= read.expect("the session lives").expect("the channel goes on").len();
        }
    }
}

/// Polls the future and the drivers in turn until the future is ready.
fn drive<F: Future>(near: &mut Driver, far: &mut Driver, future: F) -> F::Output {
    let mut future = pin!(future);
    let cx = &mut Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return output;
        }
        for driver in [&mut *near, &mut *far] {
            assert!(driver.poll_unpin(cx).is_pending(), "the session ended");
        }
    }
}
