//! The room of credit: all window arithmetic of the crate is here.
//!
//! A receiver promises memory: it *grants* the peer an offset up to which it may send. The promise is renewed as
//! the application *consumes* bytes, never when they merely arrive, so that a reader which stops holds at most
//! one window. All quantities are 64-bit byte offsets from the beginning of the channel; they only grow.
//!
//! ```text
//!          consumed        received              granted
//!  ───────────┼───────────────┼─────────────────────┼────────▶ offset
//!             │    backlog    │       credit        │
//!             │◀──────────── window W ──────────────────▶│
//!                                                   │owed│
//! ```
//!
//! For example, with W = 100: the peer sent 80 bytes, the application took 50 of them. Then the credit is
//! 100 - 80 = 20 and the debt is 50 + 100 - 100 = 50: the next adjust grants 50 bytes, up to offset 150.
//!
//! When an adjust is sent is the idea that this project was founded on: *lazily*, when the session has nothing
//! better to do, and at half a window at the latest, so that no sender stalls because the session never rested.

use std::time::Duration;

use crate::config::{Config, CreditPolicy};
use crate::transport::Timestamp;

/// A peer may overrun its credit by this much, or a tenth of the window, without losing the channel: deployed peers
/// do not count the bytes that came with a proxy handshake.
const GRACE: u64 = 64 * 1024;

/// A shorter gap before the first byte beyond an old limit is the noise of scheduling, not a wait for credit: on a busy
/// machine windows would grow into queues that keystrokes have to wait behind.
const HELD_BACK: Duration = Duration::from_millis(2);

/// Up to here a window also grows because it is much used, so that bulk data costs few adjusts: four per window are
/// 4,000 per gigabyte.
const BULK_WINDOW: u32 = 1024 * 1024;

/// How many windows a channel moves before it counts as much used.
const MUCH_USED: u64 = 4;

/// How pressing an adjust is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// A quarter of the window is owed: sent when the session is idle, or in the spare room of a batch.
    Lazy,
    /// The peer has half a window left or less: sent ahead of data.
    Urgent,
    /// The peer has no credit and there is nothing left to read: sent however small it is.
    Must,
}

/// The peer sent more than it was allowed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overrun;

/// The peer granted more than a window can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overflow;

/// What we may send on one channel.
#[derive(Debug)]
pub(crate) struct SendWindow {
    credit: u32,
}

impl SendWindow {
    pub(crate) fn new(initial: u32) -> Self {
        Self { credit: initial }
    }

    /// Bytes of payload that may be sent now.
    pub(crate) fn credit(&self) -> u32 {
        self.credit
    }

    /// Counts payload that is about to be sent.
    pub(crate) fn spend(&mut self, len: usize) {
        debug_assert!(len <= self.credit as usize, "{len} bytes spent of {}", self.credit);
        self.credit = self.credit.saturating_sub(u32::try_from(len).unwrap_or(u32::MAX));
    }

    /// Adds what the peer granted.
    pub(crate) fn add(&mut self, credit: u32) -> Result<(), Overflow> {
        self.credit = self.credit.checked_add(credit).ok_or(Overflow)?;
        Ok(())
    }
}

/// What the peer may send on one channel.
#[derive(Debug)]
pub(crate) struct RecvWindow {
    received: u64,
    consumed: u64,
    granted: u64,
    /// W: how far ahead of `consumed` the grants go.
    window: u32,
    /// The smallest W that this channel shrinks to.
    base: u32,
    /// The largest payload of one message, as announced.
    frame: u32,
    /// What the budget holds for this channel above the floor.
    reserved: u64,
    policy: CreditPolicy,
    /// Messages that ended since the last grant; for [`CreditPolicy::PerMessage`].
    messages: u32,
    /// Nothing more will be granted: the peer ended its direction.
    ended: bool,
    /// What arrives is dropped: a grant promises no memory.
    discards: bool,
    growth: Growth,
}

/// What speaks for a larger window, or against it.
#[derive(Debug)]
struct Growth {
    /// The limit that the last observed grant lifted.
    lifted: Option<Limit>,
    /// When the credit was last used up.
    exhausted_at: Timestamp,
    /// `received` at the last decision.
    since: u64,
    /// The smallest backlog that the reader left since the last decision: a prompt one empties it again and again.
    least_backlog: u64,
}

/// An offset that the peer could not pass before it learnt of the next grant.
#[derive(Debug, Clone, Copy)]
struct Limit {
    offset: u64,
    /// When we granted more.
    lifted_at: Timestamp,
    /// When everything up to the limit had arrived.
    reached_at: Option<Timestamp>,
}

impl Limit {
    /// Whether a peer of which the first byte beyond arrives now waited for the grant, and for the path rather than for
    /// our reader.
    fn held_back(self, now: Timestamp) -> bool {
        let Some(reached_at) = self.reached_at else { return false };
        let reader = self.lifted_at.saturating_sub(reached_at);
        let path = now.saturating_sub(self.lifted_at.max(reached_at));
        path >= HELD_BACK && path > reader
    }
}

impl RecvWindow {
    /// A window for a new channel, taken from the budget. `frame` is the largest payload that was announced.
    pub(crate) fn new(config: &Config, budget: &mut Budget, frame: u32) -> Self {
        let window = budget.admit();
        let reserved = u64::from(window - budget.floor);
        Self {
            received: 0,
            consumed: 0,
            granted: window.into(),
            window,
            base: window,
            frame,
            reserved,
            policy: config.credit,
            messages: 0,
            ended: false,
            discards: false,
            growth: Growth { lifted: None, exhausted_at: Timestamp::ZERO, since: 0, least_backlog: u64::MAX },
        }
    }

    /// W, the target that grants aim at, in bytes.
    pub(crate) fn window(&self) -> u32 {
        self.window
    }

    /// Bytes received that the application has not taken.
    pub(crate) fn backlog(&self) -> u64 {
        self.received - self.consumed
    }

    /// Bytes that the peer may still send.
    pub(crate) fn credit(&self) -> u64 {
        self.granted.saturating_sub(self.received)
    }

    /// Bytes that the next grant brings.
    pub(crate) fn owed(&self) -> u64 {
        if self.ended { 0 } else { (self.consumed + u64::from(self.window)).saturating_sub(self.granted) }
    }

    /// Most bytes that the peer can make us hold for this channel.
    pub(crate) fn promised(&self) -> u64 {
        if self.ended || self.discards {
            return self.received - self.consumed;
        }
        (self.granted.max(self.received) - self.consumed).max(self.window.into())
    }

    /// Counts payload that arrived, and returns how many bytes of it were beyond the credit, within the grace.
    pub(crate) fn receive(
        &mut self,
        now: Timestamp,
        len: usize,
        ends_message: bool,
        budget: &mut Budget,
    ) -> Result<u64, Overrun> {
        let after = self.received + len as u64;
        if after > self.granted + GRACE.max(u64::from(self.window) / 10) {
            return Err(Overrun);
        }
        let overrun = after.saturating_sub(self.granted.max(self.received));
        let waited_for = self.was_held_back(now, after).then(|| self.backlog());
        self.received = after;
        if after >= self.granted {
            self.growth.exhausted_at = now;
        }
        self.messages = self.messages.saturating_add(ends_message.into());
        self.adapt(waited_for, budget);
        self.settle(budget);
        Ok(overrun)
    }

    /// Counts bytes that the application took.
    pub(crate) fn consume(&mut self, len: usize, budget: &mut Budget) {
        debug_assert!(len as u64 <= self.backlog(), "{len} bytes consumed of {}", self.backlog());
        self.consumed = (self.consumed + len as u64).min(self.received);
        // In its first moments every window is empty, however slow the reader.
        if self.received - self.growth.since >= self.window.into() {
            self.growth.least_backlog = self.growth.least_backlog.min(self.backlog());
        }
        self.settle(budget);
    }

    /// Whether an adjust should be sent, and how soon. See flow control in ARCHITECTURE.md for the table.
    pub(crate) fn due(&self) -> Option<Urgency> {
        let (owed, credit, window) = (self.owed(), self.credit(), u64::from(self.window));
        if owed == 0 {
            return None;
        }
        if credit == 0 && self.backlog() == 0 {
            return Some(Urgency::Must);
        }
        if self.policy == CreditPolicy::PerMessage {
            return (self.messages > 0).then_some(Urgency::Urgent);
        }
        let frame = u64::from(self.frame).min(window / 2);
        if credit <= window / 2 && owed >= frame.max(window / 4) {
            return Some(Urgency::Urgent);
        }
        (owed >= window / 4).then_some(Urgency::Lazy)
    }

    /// Grants what is owed and returns it, to be sent: bytes for each of the adjusts (more than one only
    /// under [`CreditPolicy::PerMessage`]).
    #[must_use = "credit that is granted must be sent"]
    pub(crate) fn grant(&mut self, now: Timestamp, budget: &mut Budget) -> Grant {
        self.yield_to(budget);
        if self.due().is_none() {
            // The window has just become smaller: what is left to grant is not worth a message.
            self.settle(budget);
            return Grant { total: 0, parts: 1 };
        }
        let total = self.owed();
        if self.growth.lifted.is_none() {
            let reached_at = (self.received >= self.granted).then_some(self.growth.exhausted_at);
            self.growth.lifted = Some(Limit { offset: self.granted, lifted_at: now, reached_at });
        }
        self.granted += total;
        self.settle(budget);
        let messages = std::mem::take(&mut self.messages).max(1);
        let parts = if self.policy == CreditPolicy::PerMessage { u64::from(messages).min(total) } else { 1 };
        Grant { total, parts }
    }

    /// The peer sends no more: nothing is promised from here on.
    pub(crate) fn end(&mut self, budget: &mut Budget) {
        self.ended = true;
        self.settle(budget);
    }

    /// Nobody reads any more: what has arrived is dropped, and so is what will arrive.
    pub(crate) fn discard(&mut self, budget: &mut Budget) {
        self.discards = true;
        self.consumed = self.received;
        self.settle(budget);
    }

    /// Gives everything back to the budget; the channel is gone.
    pub(crate) fn release(&mut self, budget: &mut Budget) {
        self.ended = true;
        self.consumed = self.received;
        self.settle(budget);
        budget.dismiss();
    }

    /// Notes how the bytes up to `after` pass the limit that was lifted; true if the peer had to stop there.
    fn was_held_back(&mut self, now: Timestamp, after: u64) -> bool {
        let Some(limit) = &mut self.growth.lifted else { return false };
        if after <= limit.offset {
            if after == limit.offset {
                limit.reached_at = Some(now);
            }
            return false;
        }
        let stopped_there = self.received == limit.offset;
        let held_back = stopped_there && limit.held_back(now);
        self.growth.lifted = None;
        held_back
    }

    /// Doubles the window of a channel that is worth it, halves that of a reader that falls behind. `held_back` is the
    /// reader's backlog when the first byte arrived for which the peer had to wait.
    fn adapt(&mut self, held_back: Option<u64>, budget: &mut Budget) {
        let window = u64::from(self.window);
        let much_used = self.received - self.growth.since >= MUCH_USED * window;
        if held_back.is_none() && !much_used {
            return;
        }
        let least_backlog = std::mem::replace(&mut self.growth.least_backlog, u64::MAX);
        let backlog = held_back.unwrap_or(least_backlog);
        self.growth.since = self.received;
        if backlog >= window / 2 {
            self.window = (self.window / 2).max(self.base);
        } else if backlog < window / 4 && (held_back.is_some() || self.window < BULK_WINDOW) {
            self.window = budget.grown(self.window);
        }
    }

    /// Under pressure a window above its share goes back to others, by withholding grants.
    fn yield_to(&mut self, budget: &Budget) {
        if budget.is_pressed() && u64::from(self.window) > budget.share() {
            self.window = (self.window / 2).max(self.base);
        }
    }

    /// Tells the budget what this channel may cost now.
    fn settle(&mut self, budget: &mut Budget) {
        let needed = self.promised().saturating_sub(budget.floor.into());
        if needed != self.reserved {
            budget.exchange(self.reserved, needed);
            self.reserved = needed;
        }
        debug_assert!(self.consumed <= self.received);
        debug_assert!(self.ended || self.discards || self.granted - self.consumed.min(self.granted) <= self.promised());
    }
}

/// Credit on its way to the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    total: u64,
    parts: u64,
}

impl Grant {
    /// The adjusts to send, in bytes each.
    pub(crate) fn adjusts(self) -> impl Iterator<Item = u32> {
        let each = self.total.checked_div(self.parts).unwrap_or(0);
        let first = self.total - each * self.parts.saturating_sub(1);
        (0..self.parts)
            .map(move |index| if index == 0 { first } else { each })
            .map(|credit| u32::try_from(credit).unwrap_or(u32::MAX))
            .filter(|credit| *credit > 0)
    }
}

/// Bounds what a session promises over all of its channels.
///
/// Every channel owns a floor, [`Config::min_window`]; what windows have above their floors comes from the budget.
/// So the sum of all promises stays below `budget + channels * min_window` at every moment. (A bound of the
/// larger of the two could not be kept: a promise cannot be taken back when more channels arrive.)
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    /// Promised above the floors.
    promised: u64,
    channels: u64,
    floor: u32,
    base: u32,
    max: u32,
}

impl Budget {
    pub(crate) fn new(config: &Config) -> Self {
        let floor = config.min_window.max(1);
        let base = config.base_window.max(floor);
        Self {
            limit: config.budget,
            promised: 0,
            channels: 0,
            floor,
            base,
            // The sum of credit outstanding stays below 2^31 with every peer.
            max: config.max_window.clamp(base, 1 << 30),
        }
    }

    /// Bytes promised over all channels.
    pub(crate) fn promised(&self) -> u64 {
        self.promised + self.channels * u64::from(self.floor)
    }

    /// Takes a channel in and returns its first window: half of an equal share of the budget, between the floor
    /// and the base, and at most half of what is left.
    fn admit(&mut self) -> u32 {
        self.channels += 1;
        let excess =
            (self.limit / (2 * self.channels)).min(self.available() / 2).min(u64::from(self.base - self.floor));
        self.promised += excess;
        self.floor + u32::try_from(excess).unwrap_or(0)
    }

    fn dismiss(&mut self) {
        self.channels -= 1;
    }

    /// Twice the window, if that takes at most half of what is left: so there always is something left for others.
    fn grown(&self, window: u32) -> u32 {
        let doubled = window.saturating_mul(2).min(self.max);
        if u64::from(doubled - window.min(doubled)) <= self.available() / 2 { doubled } else { window }
    }

    fn available(&self) -> u64 {
        self.limit.saturating_sub(self.promised)
    }

    /// Less than an eighth is left.
    fn is_pressed(&self) -> bool {
        self.available() < self.limit / 8
    }

    /// An equal share of the budget, in bytes.
    fn share(&self) -> u64 {
        u64::from(self.floor) + self.limit / self.channels.max(1)
    }

    fn exchange(&mut self, before: u64, after: u64) {
        debug_assert!(before <= self.promised, "{before} of {} given back", self.promised);
        self.promised = (self.promised + after).saturating_sub(before);
    }
}

#[cfg(test)]
mod tests;
