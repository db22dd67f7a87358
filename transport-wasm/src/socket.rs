//! The browser's WebSocket as a transport.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IoSlice};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use js_sys::Uint8Array;
use muxgate_core::Transport;
use wasm_bindgen::prelude::*;

use crate::browser::{CloseEvent, MessageEvent, WebSocketLike};
use crate::pressure::Pressure;

/// The largest message we send, in bytes: room for one DATA message of the largest size.
const MAX_MESSAGE: usize = 64 * 1024;

/// `readyState` of a WebSocket that is open.
const OPEN: u16 = 1;

/// A page may close with 1000 or with a code of its own from 3000 on; any other makes `close` throw.
const CLOSE_NORMAL: u16 = 1000;
/// The session failed on our side, or was given up; 4000 to 4999 are for such private use.
const CLOSE_FAILED: u16 = 4000;
/// What a browser reports when the peer's close frame has no code.
const CLOSE_WITHOUT_CODE: u16 = 1005;

/// An open WebSocket that carries one session.
///
/// It takes the handlers `onmessage` and `onclose` over, and gives them back when it is dropped. Dropping it closes the
/// WebSocket with code 4000, unless it was closed in good order before.
#[derive(Debug)]
pub struct BrowserSocket {
    socket: WebSocketLike,
    inbox: Rc<RefCell<Inbox>>,
    pressure: Pressure,
    /// Where a message is put together; kept, because it is needed all the time.
    message: Vec<u8>,
    closing: bool,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_close: Closure<dyn FnMut(CloseEvent)>,
}

/// Why the WebSocket carries nothing more.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// It was closed, and not in good order (code 1000).
    #[error("the WebSocket was closed with code {code}{}{reason}", if .reason.is_empty() { "" } else { ": " })]
    Closed {
        /// As in the close frame; 1006 if the connection was lost without one.
        code: u16,
        /// The peer's words: text of a stranger.
        reason: String,
    },
    /// The gateway sent a text message.
    #[error("the gateway sent text where JMUX is binary")]
    Text,
    /// The browser threw instead of sending.
    #[error("the browser did not take a message")]
    NotSent,
}

/// Errors have to be `Debug`; the derived one would bring the code that quotes strings into every page.
impl fmt::Debug for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What arrived and was not read.
///
/// A page cannot slow a WebSocket down, so nothing here can bound this queue but the peer's credit: the connection empties
/// it after each message and ends when the peer sends more than it was granted.
#[derive(Debug, Default)]
struct Inbox {
    pieces: VecDeque<Bytes>,
    end: Option<SocketError>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl BrowserSocket {
    /// Takes over a WebSocket that is open and of which no message was missed: call it in the handler of `open`.
    #[must_use]
    pub fn new(socket: WebSocketLike) -> Self {
        let inbox = Rc::new(RefCell::new(Inbox::default()));
        let received = inbox.clone();
        let on_message = Closure::new(move |event: MessageEvent| Inbox::receive(&received, &event.data()));
        let closed = inbox.clone();
        let on_close = Closure::new(move |event: CloseEvent| {
            Inbox::end(&closed, SocketError::Closed { code: event.code(), reason: event.reason() });
        });
        socket.set_binary_type("arraybuffer");
        socket.set_on_message(Some(on_message.as_ref().unchecked_ref()));
        socket.set_on_close(Some(on_close.as_ref().unchecked_ref()));
        Self {
            socket,
            inbox,
            pressure: Pressure::new(),
            message: Vec::new(),
            closing: false,
            _on_message: on_message,
            _on_close: on_close,
        }
    }

    fn send(&self) -> Result<(), JsValue> {
        if self.socket.extensions().is_none_or(|extensions| extensions.is_empty()) {
            self.socket.send(&self.message)
        } else {
            // `ws` compresses later than it returns; it must not see what wasm memory holds then.
            self.socket.send_array(&Uint8Array::from(&self.message[..]))
        }
    }

    fn close(&mut self, code: u16) {
        if !self.closing {
            self.closing = true;
            // It throws only for codes that nobody may use.
            let _ = self.socket.close(code, "");
        }
    }
}

impl Transport for BrowserSocket {
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        let mut inbox = self.inbox.borrow_mut();
        if let Some(piece) = inbox.pieces.pop_front() {
            return Poll::Ready(Ok(Some(piece)));
        }
        match &inbox.end {
            Some(end) if end.is_in_good_order() => Poll::Ready(Ok(None)),
            Some(end) => Poll::Ready(Err(end.clone().into())),
            None => {
                inbox.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// One message of up to 64 KiB, put together in one copy; the browser makes another, which is its own.
    fn poll_write(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if let Some(end) = &self.inbox.borrow().end {
            return Poll::Ready(Err(end.clone().into()));
        }
        // A socket that is closing would swallow what we send; the event that says why comes next.
        let open = self.socket.ready_state() == OPEN;
        if !open || self.pressure.poll_room(cx, self.socket.buffered_amount()).is_pending() {
            self.inbox.borrow_mut().writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.message.clear();
        for buf in bufs {
            let room = MAX_MESSAGE - self.message.len();
            self.message.extend_from_slice(&buf[..buf.len().min(room)]);
        }
        let sent = self.send().map(|()| self.message.len());
        Poll::Ready(sent.map_err(|_| SocketError::NotSent.into()))
    }

    /// Always ready: the browser sends without being asked.
    fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Always ready: the browser sends what it holds, and the close frame after it.
    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.close(CLOSE_NORMAL);
        Poll::Ready(Ok(()))
    }
}

impl Drop for BrowserSocket {
    fn drop(&mut self) {
        // Before the closures behind them go: a call into one of those would throw.
        self.socket.set_on_message(None);
        self.socket.set_on_close(None);
        self.close(CLOSE_FAILED);
    }
}

impl Inbox {
    fn receive(this: &RefCell<Self>, data: &JsValue) {
        if data.is_string() {
            return Self::end(this, SocketError::Text);
        }
        let piece = Bytes::from(Uint8Array::new(data).to_vec());
        let reader = {
            let mut inbox = this.borrow_mut();
            inbox.pieces.push_back(piece);
            inbox.reader.take()
        };
        reader.into_iter().for_each(Waker::wake);
    }

    fn end(this: &RefCell<Self>, end: SocketError) {
        let wakers = {
            let mut inbox = this.borrow_mut();
            inbox.end.get_or_insert(end);
            [inbox.reader.take(), inbox.writer.take()]
        };
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

impl SocketError {
    fn is_in_good_order(&self) -> bool {
        matches!(self, Self::Closed { code: CLOSE_NORMAL | CLOSE_WITHOUT_CODE, .. })
    }
}

impl From<SocketError> for io::Error {
    fn from(error: SocketError) -> Self {
        Self::new(io::ErrorKind::ConnectionAborted, error)
    }
}
