//! What the driver and the handles share: the session, and the wakers of those who wait for it.
//!
//! The lock is held briefly: never across an await, never while waking.

use std::sync::{Arc, PoisonError};
use std::task::{Context, Waker};

use crate::error::ConnectionError;
use crate::frame::ChannelId;
use crate::session::{Event, Session};
use crate::sync::Mutex;

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) session: Session,
    /// Openers and acceptors that exist.
    pub(crate) handles: usize,
    driver: Option<Waker>,
    acceptor: Option<Waker>,
    /// Those who wait for the end of the session.
    mourners: Vec<Waker>,
    /// By channel number.
    channels: Vec<ChannelWakers>,
}

/// A reader and a writer of one channel never share a waker: they may belong to different tasks.
#[derive(Debug, Default)]
struct ChannelWakers {
    reader: Option<Waker>,
    writer: Option<Waker>,
    stopped: Option<Waker>,
}

/// What a task waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    Request,
    End,
    /// Or for the answer to an open: that comes before there is anything to read.
    Read(ChannelId),
    Write(ChannelId),
    Stopped(ChannelId),
}

impl Shared {
    pub(crate) fn new(session: Session, handles: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                session,
                handles,
                driver: None,
                acceptor: None,
                mourners: Vec::new(),
                channels: Vec::new(),
            }),
        })
    }

    /// For handles: changes the state and wakes whoever that concerns, the driver included.
    pub(crate) fn with<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        self.change(true, change)
    }

    /// For the driver, which need not be told of work that it is about to look for anyway.
    pub(crate) fn drive<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        self.change(false, change)
    }

    fn change<R>(&self, wake_driver: bool, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut state);
        let (wakers, driver) = state.settle(wake_driver);
        drop(state);
        wakers.into_iter().chain(driver).for_each(Waker::wake);
        result
    }
}

impl State {
    /// What a change came to: the tasks to be woken, the driver apart. Not generic, because every method of every handle
    /// ends with it: in a browser that is five kilobytes.
    fn settle(&mut self, wake_driver: bool) -> (Vec<Waker>, Option<Waker>) {
        let mut wakers = Vec::new();
        while let Some(event) = self.session.poll_event() {
            self.collect(event, &mut wakers);
        }
        let driver = if wake_driver && self.session.take_work() { self.driver.take() } else { None };
        (wakers, driver)
    }

    /// Has the task woken when it is worth looking again.
    pub(crate) fn wait(&mut self, cx: &Context<'_>, wait: Wait) {
        let waker = cx.waker();
        match wait {
            Wait::Request => set(&mut self.acceptor, waker),
            Wait::End => {
                if !self.mourners.iter().any(|known| known.will_wake(waker)) {
                    self.mourners.push(waker.clone());
                }
            }
            Wait::Read(id) => set(&mut self.wakers(id).reader, waker),
            Wait::Write(id) => set(&mut self.wakers(id).writer, waker),
            Wait::Stopped(id) => set(&mut self.wakers(id).stopped, waker),
        }
    }

    pub(crate) fn set_driver(&mut self, cx: &Context<'_>) {
        set(&mut self.driver, cx.waker());
    }

    /// A handle to the session is gone; the driver may have to end the session.
    pub(crate) fn drop_handle(&mut self) {
        self.handles -= 1;
        if self.handles == 0 {
            self.session.close();
        }
    }

    pub(crate) fn end(&mut self, reason: ConnectionError) {
        self.session.end(reason);
    }

    fn wakers(&mut self, id: ChannelId) -> &mut ChannelWakers {
        let index = id.0 as usize;
        if index >= self.channels.len() {
            self.channels.resize_with(index + 1, ChannelWakers::default);
        }
        &mut self.channels[index]
    }

    fn collect(&mut self, event: Event, out: &mut Vec<Waker>) {
        match event {
            Event::Answered(id) | Event::Readable(id) => out.extend(self.wakers(id).reader.take()),
            Event::Writable(id) => out.extend(self.wakers(id).writer.take()),
            Event::Stopped(id) => out.extend(self.wakers(id).stopped.take()),
            Event::Requested => out.extend(self.acceptor.take()),
            Event::Ended => {
                out.append(&mut self.mourners);
                out.extend(self.acceptor.take());
                out.extend(self.driver.take());
                for wakers in std::mem::take(&mut self.channels) {
                    out.extend([wakers.reader, wakers.writer, wakers.stopped].into_iter().flatten());
                }
            }
        }
    }
}

fn set(slot: &mut Option<Waker>, waker: &Waker) {
    match slot {
        Some(known) => known.clone_from(waker),
        None => *slot = Some(waker.clone()),
    }
}
