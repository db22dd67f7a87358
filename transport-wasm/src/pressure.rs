//! When the browser holds enough of what was sent, and how to notice that it has become less.
//!
//! A WebSocket takes everything and says in `bufferedAmount` what has not left; there is no event for the drain. So
//! above a mark we look again: in the page's next task while the amount keeps falling, and after a growing pause while
//! it does not. Whatever arrives from the peer makes us look too.

use std::task::{Context, Poll};

use crate::alarm::Alarm;
use crate::browser;

/// Where the mark begins, in bytes.
const START: f64 = 256.0 * 1024.0;
/// One message: less would leave the browser without work between two looks.
const MIN: f64 = 64.0 * 1024.0;
/// At 1 Gbit/s eight milliseconds.
const MAX: f64 = 1024.0 * 1024.0;
/// In a hidden page timers may be a minute late. There the peer's flow control is the bound: it renews its windows after a
/// quarter of them, and what it sends then makes us look. This is a quarter of the windows of a default session.
const MAX_HIDDEN: f64 = 16.0 * 1024.0 * 1024.0;

/// A keystroke waits behind what the browser holds: a mark that takes longer to fall by half is too high. In milliseconds.
const SLOW: f64 = 20.0;
/// How long we look in every task after the amount has fallen, in milliseconds: a browser reports what it sent several times
/// in that time as long as the network takes it.
const HOPPING: f64 = 0.5;
/// The longest pause, in milliseconds: less than the smallest mark lasts at 20 Mbit/s.
const MAX_PAUSE: f64 = 16.0;

/// The browser's send buffer, kept between two marks: one that we choose, and half of it.
#[derive(Debug)]
pub(crate) struct Pressure {
    alarm: Alarm,
    mark: f64,
    wait: Option<Wait>,
}

#[derive(Debug)]
struct Wait {
    since: f64,
    /// The last amount seen, and when it was first seen.
    amount: f64,
    fell: f64,
}

impl Pressure {
    pub(crate) fn new() -> Self {
        Self { alarm: Alarm::new(), mark: START, wait: None }
    }

    /// Ready when more may be sent, while the browser holds `amount` bytes.
    pub(crate) fn poll_room(&mut self, cx: &Context<'_>, amount: f64) -> Poll<()> {
        let mark = if browser::is_hidden() { MAX_HIDDEN } else { self.mark };
        let now = browser::now();
        let limit = if self.wait.is_some() { mark / 2.0 } else { mark };
        if amount <= limit {
            if let Some(wait) = self.wait.take() {
                self.adapt(amount, now - wait.since);
            }
            return Poll::Ready(());
        }
        let wait = self.wait.get_or_insert(Wait { since: now, amount, fell: now });
        if amount < wait.amount {
            wait.amount = amount;
            wait.fell = now;
        }
        let still = now - wait.fell;
        self.alarm.watch(cx);
        if !self.alarm.is_set() {
            if still < HOPPING {
                self.alarm.hop();
            } else {
                // As long again as nothing has happened: the pauses double.
                self.alarm.after(still.min(MAX_PAUSE));
            }
        }
        Poll::Pending
    }

    /// Learns from a wait that is over: the mark should last for a few milliseconds.
    fn adapt(&mut self, amount: f64, waited: f64) {
        if amount == 0.0 {
            self.mark = (self.mark * 2.0).min(MAX);
        } else if waited > SLOW {
            self.mark = (self.mark / 2.0).max(MIN);
        }
    }
}
