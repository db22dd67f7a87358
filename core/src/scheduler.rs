//! Whose turn it is to send.
//!
//! Deficit round robin with an express lane, after the idea of FQ-CoDel: each channel that has something to send
//! may send one quantum per round. A channel that becomes active takes the express lane for as long as
//! something is left of its quantum, so that a keystroke does not wait for a round of bulk transfers, and yet nobody
//! gets more than a quantum per round.

use std::collections::VecDeque;

/// Bytes that a channel may send per round: two of the largest frames, which the relay on the other side then writes at
/// once. Exactly two: a rest of a few bytes would let a third one pass.
const QUANTUM: i64 = 2 * 65_528;

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Bytes left of this round's quantum; below zero is debt.
    deficit: i64,
    /// Has something to send.
    active: bool,
    /// Stands in `express`.
    in_express: bool,
    /// Stands in `round`.
    in_round: bool,
}

/// Channels by number, in the order of service.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    slots: Vec<Slot>,
    /// Channels that just became active and have quantum left.
    express: VecDeque<u32>,
    /// Every channel that was active in this round. One that fell silent stays until its turn comes, so that it does
    /// not get a fresh quantum by pausing.
    round: VecDeque<u32>,
}

impl Scheduler {
    /// The channel has something to send. Idempotent.
    pub(crate) fn activate(&mut self, id: u32) {
        let index = id as usize;
        if index >= self.slots.len() {
            self.slots.resize(index + 1, Slot::default());
        }
        let slot = &mut self.slots[index];
        if std::mem::replace(&mut slot.active, true) {
            return;
        }
        if !slot.in_round {
            slot.in_round = true;
            slot.deficit = QUANTUM;
            self.round.push_back(id);
        }
        if slot.deficit > 0 && !slot.in_express {
            slot.in_express = true;
            self.express.push_back(id);
        }
    }

    /// The channel has nothing to send. Idempotent.
    pub(crate) fn deactivate(&mut self, id: u32) {
        if let Some(slot) = self.slots.get_mut(id as usize) {
            slot.active = false;
        }
    }

    /// The channel whose turn it is, if any is active. It stays its turn until its quantum is used up or it is
    /// deactivated.
    pub(crate) fn next(&mut self) -> Option<u32> {
        while let Some(&id) = self.express.front() {
            let slot = &mut self.slots[id as usize];
            if slot.active && slot.deficit > 0 {
                return Some(id);
            }
            slot.in_express = false;
            self.express.pop_front();
        }
        while let Some(&id) = self.round.front() {
            let slot = &mut self.slots[id as usize];
            if slot.active && slot.deficit > 0 {
                return Some(id);
            }
            self.round.pop_front();
            slot.deficit = (slot.deficit + QUANTUM).min(QUANTUM);
            // Debt is not forgotten by pausing.
            slot.in_round = slot.active || slot.deficit < QUANTUM;
            if slot.in_round {
                self.round.push_back(id);
            }
        }
        None
    }

    /// Counts what the channel sent, in bytes.
    pub(crate) fn charge(&mut self, id: u32, len: usize) {
        self.slots[id as usize].deficit -= i64::try_from(len).unwrap_or(i64::MAX);
    }
}

#[cfg(test)]
mod tests;
