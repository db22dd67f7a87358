//! When to ping a silent peer, and when to give it up.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// Pings without an answer after which a peer counts as gone: a laptop that slept for a minute is none.
const UNANSWERED: u32 = 4;

/// One timer that looks once in a period whether the peer was heard; traffic costs no more than a flag.
#[derive(Debug)]
pub(super) struct Keepalive {
    period: Duration,
    sleep: Pin<Box<Sleep>>,
    /// Since the timer last went off.
    heard: bool,
    /// Pings sent since anything came.
    unanswered: u32,
}

impl Keepalive {
    pub(super) fn new(period: Duration) -> Self {
        Self { period, sleep: Box::pin(sleep(period)), heard: true, unanswered: 0 }
    }

    /// Something came from the peer.
    pub(super) fn heard(&mut self) {
        self.heard = true;
        self.unanswered = 0;
    }

    /// Ready when a ping is due; an error when several in a row were not answered.
    pub(super) fn poll_due(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.sleep.as_mut().poll(cx));
            self.sleep.as_mut().reset(Instant::now() + self.period);
            if std::mem::take(&mut self.heard) {
                continue;
            }
            if self.unanswered >= UNANSWERED {
                let text = "the peer does not answer pings any more";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, text)));
            }
            return Poll::Ready(Ok(()));
        }
    }

    /// A ping was sent.
    pub(super) fn asked(&mut self) {
        self.unanswered += 1;
    }
}
