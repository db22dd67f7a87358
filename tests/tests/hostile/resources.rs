//! Limits that are reached, and transports that break their promises.

use std::io::{self, IoSlice};
use std::task::{Context, Poll};

use bytes::Bytes;
use muxgate_core::{Config, ConnectionError, OpenError, StoppedClock, Transport, client};
use muxgate_tests::executor::Executor;
use muxgate_tests::scripted::{Rig, close, destination, eof, open};

#[test]
fn h33_the_maximum_of_channels_is_a_clean_error() {
    let (mut rig, (opener, mut acceptor)) = Rig::peer(Config { max_channels: 2, ..Config::default() });
    let (first, ours) = rig.opened(&opener, 1);
    let (_second, _) = rig.channel(&mut acceptor, 2);
    let refused = rig.run(opener.open(&destination()));
    assert!(matches!(refused, Err(OpenError::TooManyChannels)));
    rig.send([open(3)]);
    assert!(matches!(rig.sent()[..], [muxgate_core::frame::Frame::OpenFailure { .. }]));
    drop(first);
    rig.send([eof(ours), close(ours)]);
    rig.sent();
    rig.opened(&opener, 4);
}

/// A transport with one fault.
#[derive(Debug)]
struct Faulty {
    read: fn() -> Poll<io::Result<Option<Bytes>>>,
    write: fn(offered: usize) -> Poll<io::Result<usize>>,
    calls: usize,
}

impl Faulty {
    fn call(&mut self) {
        self.calls += 1;
        assert!(self.calls < 100, "it is asked again and again");
    }
}

impl Transport for Faulty {
    fn poll_read(&mut self, _: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        self.call();
        (self.read)()
    }

    fn poll_write(&mut self, _: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.call();
        (self.write)(bufs.iter().map(|buf| buf.len()).sum())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Opens a channel over such a transport and returns the error that both the opener and the connection must get.
fn error_over(
    read: fn() -> Poll<io::Result<Option<Bytes>>>,
    write: fn(usize) -> Poll<io::Result<usize>>,
) -> io::ErrorKind {
    let (opener, connection) = client(Faulty { read, write, calls: 0 }, StoppedClock, Config::default());
    let mut executor = Executor::default();
    let mut opening = executor.start(async move { opener.open(&destination()).await });
    let ended = executor.run(connection);
    executor.settle();
    let kind = |error: &ConnectionError| match error {
        ConnectionError::Transport(error) => error.kind(),
        other => unreachable!("{other}"),
    };
    let refusal = opening.result().expect("the opener is woken").expect_err("nothing can be opened");
    let OpenError::Connection(told) = refusal else { unreachable!("{refusal}") };
    let ended = kind(&ended.expect_err("the transport failed"));
    assert_eq!(ended, kind(&told), "both learn the same");
    ended
}

#[test]
fn h34_a_write_of_nothing_is_an_error() {
    assert_eq!(error_over(|| Poll::Pending, |_| Poll::Ready(Ok(0))), io::ErrorKind::WriteZero);
}

#[test]
fn h34_a_write_of_more_than_was_offered_is_an_error() {
    let more = |offered| Poll::Ready(Ok(offered + 1));
    assert_eq!(error_over(|| Poll::Pending, more), io::ErrorKind::InvalidData);
}

#[test]
fn h35_the_first_failure_is_the_last() {
    let failed = || Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
    assert_eq!(error_over(failed, |offered| Poll::Ready(Ok(offered))), io::ErrorKind::ConnectionReset);
    assert_eq!(
        error_over(|| Poll::Pending, |_| Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))),
        io::ErrorKind::BrokenPipe
    );
}
