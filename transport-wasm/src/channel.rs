//! A channel as JavaScript holds it.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::IoSlice;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::{Object, Promise};
use muxgate_core::{ChannelReader, ChannelStats, ChannelStream, ChannelWriter};
use wasm_bindgen::prelude::*;

use crate::failure;
use crate::promise::promise;
use crate::session::numbers;

/// Pieces handed over in one read.
const MAX_SLICES: usize = 64;

#[wasm_bindgen]
extern "C" {
    /// Where bytes are read to, with a `set` that takes them from wasm memory without an object in between.
    #[wasm_bindgen(js_name = Uint8Array)]
    #[derive(Debug)]
    pub type View;

    #[wasm_bindgen(method, getter)]
    fn length(this: &View) -> u32;
    #[wasm_bindgen(method)]
    fn set(this: &View, bytes: &[u8], offset: u32);
}

/// An open connection to a destination.
///
/// Each wait may have one waiter at a time. Dropping it is like [`finish`](Self::finish) and
/// [`cancel`](Self::cancel).
#[wasm_bindgen]
#[derive(Debug, Clone)]
pub struct Channel {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    /// None after it was cancelled.
    reader: Option<ChannelReader>,
    /// Waits for something to read, and must hear of a cancellation.
    waiting: Option<Waker>,
    /// The numbers at the cancellation.
    last: ChannelStats,
    writer: ChannelWriter,
}

impl Channel {
    pub(crate) fn new(stream: ChannelStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self {
            state: Rc::new(RefCell::new(State {
                reader: Some(reader),
                waiting: None,
                last: ChannelStats::default(),
                writer,
            })),
        }
    }
}

#[wasm_bindgen]
impl Channel {
    /// Resolves with `true` when there is something to read, with `false` at the end, and rejects with why neither will come.
    pub fn readable(&self) -> Promise {
        let state = self.state.clone();
        promise(poll_fn(move |cx| state.borrow_mut().poll_readable(cx)))
    }

    /// Bytes that can be read without waiting.
    #[must_use]
    pub fn available(&self) -> usize {
        let mut state = self.state.borrow_mut();
        let Some(reader) = &mut state.reader else { return 0 };
        if !matches!(reader.poll_fill(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(true))) {
            return 0;
        }
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let count = reader.slices(&mut slices);
        slices[..count].iter().map(|slice| slice.len()).sum()
    }

    /// Fills the beginning of `view` with what is there and says how much it was: zero before
    /// [`readable`](Self::readable), and at the end. The gateway may send as much again.
    #[must_use]
    pub fn read(&self, view: &View) -> u32 {
        let mut state = self.state.borrow_mut();
        let Some(reader) = &mut state.reader else { return 0 };
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let count = reader.slices(&mut slices);
        let (mut filled, length) = (0_u32, view.length());
        for slice in &slices[..count] {
            let len = slice.len().min((length - filled) as usize);
            view.set(&slice[..len], filled);
            #[expect(clippy::cast_possible_truncation, reason = "at most what is left of the view")]
            let len = len as u32;
            filled += len;
        }
        reader.consume(filled as usize);
        filled
    }

    /// Reads no more: what is there is dropped, and so is what will come.
    pub fn cancel(&self) {
        let mut state = self.state.borrow_mut();
        state.last = state.stats();
        state.reader = None;
        state.waiting.take().into_iter().for_each(Waker::wake);
    }

    /// Bytes that [`push`](Self::push) takes now. Throws if it never will again.
    pub fn room(&self) -> Result<usize, JsValue> {
        let mut state = self.state.borrow_mut();
        match state.writer.poll_room(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(room) => room.map_err(|error| failure::to_js(&error)),
            Poll::Pending => Ok(0),
        }
    }

    /// Resolves when there is [room](Self::room).
    pub fn writable(&self) -> Promise {
        let state = self.state.clone();
        promise(poll_fn(move |cx| {
            state.borrow_mut().writer.poll_room(cx).map(|room| match room {
                Ok(_) => Ok(JsValue::UNDEFINED),
                Err(error) => Err(failure::to_js(&error)),
            })
        }))
    }

    /// Takes bytes to be sent: no more than there is room for.
    pub fn push(&self, bytes: Vec<u8>) -> Result<(), JsValue> {
        self.state.borrow_mut().writer.push(bytes.into()).map_err(|error| failure::to_js(&error))
    }

    /// Ends our direction after what was pushed.
    pub fn finish(&self) {
        self.state.borrow_mut().writer.finish();
    }

    /// Closes both directions at once; what was pushed and not sent is dropped.
    pub fn reset(&self) {
        self.state.borrow_mut().writer.reset();
        self.cancel();
    }

    /// Resolves when nothing that is pushed can reach the destination any more: both directions have ended, the
    /// gateway closed the channel, or the session is over.
    pub fn stopped(&self) -> Promise {
        let state = self.state.clone();
        promise(poll_fn(move |cx| state.borrow_mut().writer.poll_stopped(cx).map(|()| Ok(JsValue::UNDEFINED))))
    }

    /// After the end of reading: whether the destination broke the connection off instead of ending it.
    #[wasm_bindgen(getter, js_name = wasReset)]
    #[must_use]
    pub fn was_reset(&self) -> bool {
        self.state.borrow().reader.as_ref().is_some_and(ChannelReader::was_reset)
    }

    /// The channel's numbers so far, or at its [cancellation](Self::cancel), as a plain object.
    #[must_use]
    pub fn stats(&self) -> Object {
        let stats = self.state.borrow().stats();
        numbers(&[
            ("bytesSent", stats.bytes_sent),
            ("bytesReceived", stats.bytes_received),
            ("lazyAdjustsSent", stats.adjusts_sent.lazy),
            ("urgentAdjustsSent", stats.adjusts_sent.urgent),
            ("mustAdjustsSent", stats.adjusts_sent.must),
            ("adjustsReceived", stats.adjusts_received),
            ("stalls", stats.stalls),
            ("window", stats.window.into()),
            ("receiveCredit", stats.receive_credit),
            ("sendCredit", stats.send_credit.into()),
            ("unread", stats.unread),
            ("unsent", stats.unsent as u64),
        ])
    }
}

impl State {
    fn stats(&self) -> ChannelStats {
        self.reader.as_ref().map_or(self.last, ChannelReader::stats)
    }

    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<Result<JsValue, JsValue>> {
        let Some(reader) = &mut self.reader else { return Poll::Ready(Ok(JsValue::FALSE)) };
        let filled = reader.poll_fill(cx).map(|filled| match filled {
            Ok(data) => Ok(JsValue::from_bool(data)),
            Err(error) => Err(failure::to_js(&error)),
        });
        self.waiting = filled.is_pending().then(|| cx.waker().clone());
        filled
    }
}
