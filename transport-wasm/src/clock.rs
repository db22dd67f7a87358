//! The page's clock and its timers: for limits only, no data waits for them.

use std::task::{Context, Poll};
use std::time::Duration;

use muxgate_core::{Clock, Timestamp};

use crate::alarm::Alarm;
use crate::browser;

/// `performance.now()`, and `setTimeout` for deadlines.
#[derive(Debug)]
pub struct BrowserClock {
    alarm: Alarm,
    /// When the alarm rings, if it is set.
    at: Timestamp,
}

impl BrowserClock {
    /// A clock without a timer.
    #[must_use]
    pub fn new() -> Self {
        Self { alarm: Alarm::new(), at: Timestamp::ZERO }
    }
}

impl Default for BrowserClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for BrowserClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, and never is negative")]
        let microseconds = (browser::now() * 1000.0) as u64;
        Duration::from_micros(microseconds)
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>, deadline: Timestamp) -> Poll<()> {
        let now = self.now();
        if now >= deadline {
            return Poll::Ready(());
        }
        // To ring too early is harmless, as the deadline is asked for again. So the timer is rarely set anew.
        if !self.alarm.is_set() || self.at > deadline {
            self.alarm.stop();
            // Rounded up: a timer that is early by a fraction would be set again and again.
            #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 milliseconds")]
            self.alarm.after(deadline.saturating_sub(now).as_millis() as f64 + 1.0);
            self.at = deadline;
        }
        self.alarm.watch(cx);
        Poll::Pending
    }
}
