//! A clock that moves when a test says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use muxgate_core::{Clock, Timestamp};

/// Virtual time. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct VirtualClock {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    now: Timestamp,
    waiting: Vec<(Timestamp, Waker)>,
}

impl VirtualClock {
    /// Lets time pass, and wakes nobody: as while a computer sleeps.
    pub fn sleep(&self, by: Duration) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).now += by;
    }

    /// Lets time pass and wakes whoever waited for it.
    pub fn advance(&self, by: Duration) {
        self.sleep(by);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = state.now;
        let due: Vec<_> = state.waiting.extract_if(.., |(deadline, _)| *deadline <= now).collect();
        drop(state);
        for (_, waker) in due {
            waker.wake();
        }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).now
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>, deadline: Timestamp) -> Poll<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if deadline <= state.now {
            return Poll::Ready(());
        }
        // As a real timer does: the latest deadline of a task replaces the one before.
        state.waiting.retain(|(_, waker)| !waker.will_wake(cx.waker()));
        state.waiting.push((deadline, cx.waker().clone()));
        Poll::Pending
    }
}
