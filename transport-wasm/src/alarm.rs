//! Wakes a task later: after a time, or in the page's next task.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Waker};

use wasm_bindgen::prelude::*;

use crate::browser::{self, MessageChannel};

/// The longest delay that every `setTimeout` understands, in milliseconds.
const MAX_DELAY: f64 = 2_147_483_647.0;

/// At most one timer or hop at a time. Dropping it takes both back.
#[derive(Debug)]
pub(crate) struct Alarm {
    pending: Rc<RefCell<Pending>>,
    ring: Closure<dyn FnMut()>,
    /// Made for the first hop.
    channel: Option<MessageChannel>,
}

#[derive(Debug, Default)]
struct Pending {
    waker: Option<Waker>,
    set: bool,
    timer: Option<JsValue>,
}

impl Alarm {
    pub(crate) fn new() -> Self {
        let pending = Rc::new(RefCell::new(Pending::default()));
        let shared = pending.clone();
        let ring = Closure::new(move || {
            let waker = shared.take().waker;
            waker.into_iter().for_each(Waker::wake);
        });
        Self { pending, ring, channel: None }
    }

    /// Whether it will ring.
    pub(crate) fn is_set(&self) -> bool {
        self.pending.borrow().set
    }

    /// Has the task of `cx` woken when it rings.
    pub(crate) fn watch(&self, cx: &Context<'_>) {
        self.pending.borrow_mut().waker = Some(cx.waker().clone());
    }

    /// Rings in the page's next task, however throttled its timers are. Must not be set.
    pub(crate) fn hop(&mut self) {
        let channel = self.channel.get_or_insert_with(|| {
            let channel = MessageChannel::new();
            channel.port1().set_on_port_message(Some(self.ring.as_ref().unchecked_ref()));
            channel
        });
        self.pending.borrow_mut().set = true;
        channel.port2().post_message(&JsValue::NULL);
    }

    /// Rings after so many milliseconds, or earlier if that is too long for the browser. Must not be set.
    pub(crate) fn after(&self, milliseconds: f64) {
        let timer = browser::set_timeout(self.ring.as_ref().unchecked_ref(), milliseconds.min(MAX_DELAY));
        let mut pending = self.pending.borrow_mut();
        pending.set = true;
        pending.timer = Some(timer);
    }

    /// Takes a timer back.
    pub(crate) fn stop(&self) {
        let stopped = self.pending.take();
        if let Some(timer) = stopped.timer {
            browser::clear_timeout(&timer);
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.stop();
        if let Some(channel) = &self.channel {
            channel.port1().set_on_port_message(None);
            // An open port would keep Node alive.
            channel.port1().close_port();
        }
    }
}
