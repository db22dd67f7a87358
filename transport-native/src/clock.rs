//! Tokio's clock.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use muxgate_core::{Clock, Timestamp};
use tokio::time::{Instant, Sleep, sleep_until};

/// The time of tokio's runtime, which tests can pause.
#[derive(Debug)]
pub struct TokioClock {
    origin: Instant,
    /// Made at the first deadline: a session without limits costs no timer.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl TokioClock {
    /// A clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        Self { origin: Instant::now(), sleep: None }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.origin.elapsed()
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>, deadline: Timestamp) -> Poll<()> {
        let instant = self.origin.checked_add(deadline).unwrap_or_else(|| self.origin + FAR_AWAY);
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(instant)));
        if sleep.deadline() != instant {
            sleep.as_mut().reset(instant);
        }
        sleep.as_mut().poll(cx)
    }
}

/// Later than any session lives, and early enough for every platform's instants.
const FAR_AWAY: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
