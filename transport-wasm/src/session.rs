//! A session as JavaScript holds it.

use std::time::Duration;

use js_sys::{Object, Promise};
use muxgate_core::{Config, Destination, Opener, client};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::browser::WebSocketLike;
use crate::channel::Channel;
use crate::clock::BrowserClock;
use crate::failure::{self, Aborted, set};
use crate::promise::{Signal, promise};
use crate::socket::BrowserSocket;

/// A JMUX session over one WebSocket.
///
/// It lives until it is [closed](Self::close), [aborted](Self::abort) or ended by the gateway.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Session {
    opener: Opener,
    abort: Signal,
}

#[wasm_bindgen]
impl Session {
    /// Takes over a WebSocket that is open and of which no message was missed.
    ///
    /// `budget` is the memory that all channels together may fill, `window` what one may, both in bytes; `openTimeout` is in
    /// milliseconds.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(
        socket: WebSocketLike,
        budget: u32,
        window: u32,
        #[wasm_bindgen(js_name = openTimeout)] open_timeout: u32,
    ) -> Self {
        let defaults = Config::default();
        let config = Config {
            budget: budget.into(),
            base_window: defaults.base_window.min(window),
            max_window: window.max(defaults.min_window),
            open_timeout: Duration::from_millis(open_timeout.into()),
            ..defaults
        };
        let (opener, connection) = client(BrowserSocket::new(socket), BrowserClock::new(), config);
        let abort = Signal::default();
        let aborted = abort.clone();
        spawn_local(async {
            // Whoever asks learns the outcome from `closed`.
            let _ = aborted.or(connection).await;
        });
        Self { opener, abort }
    }

    /// Opens a channel to a TCP destination. Throws if that is none.
    pub fn open(&self, host: &str, port: u16) -> Result<Opening, JsValue> {
        let destination = Destination::tcp(host, port).map_err(|error| failure::to_js(&error))?;
        let opener = self.opener.clone();
        let cancel = Signal::default();
        let cancelled = cancel.clone();
        let channel = promise(async move {
            match cancelled.or(opener.open(&destination)).await {
                Some(Ok(stream)) => Ok(Channel::new(stream).into()),
                Some(Err(error)) => Err(failure::to_js(&error)),
                None => Err(failure::to_js(&Aborted)),
            }
        });
        Ok(Opening { channel, cancel })
    }

    /// Resolves when the session is over, with the error that says why. Never rejects.
    pub fn closed(&self) -> Promise {
        let opener = self.opener.clone();
        promise(async move { Ok(failure::to_js(&opener.closed().await)) })
    }

    /// Opens no more channels: the session ends in good order when those that exist have ended.
    pub fn close(&self) {
        self.opener.close();
    }

    /// Ends the session and all channels at once.
    pub fn abort(&self) {
        self.abort.raise();
    }

    /// The numbers of the session so far, as a plain object.
    #[must_use]
    pub fn stats(&self) -> Object {
        let stats = self.opener.stats();
        numbers(&[
            ("bytesSent", stats.bytes_sent),
            ("bytesReceived", stats.bytes_received),
            ("framesSent", stats.frames_sent),
            ("framesReceived", stats.frames_received),
            ("lazyAdjustsSent", stats.adjusts_sent.lazy),
            ("urgentAdjustsSent", stats.adjusts_sent.urgent),
            ("mustAdjustsSent", stats.adjusts_sent.must),
            ("adjustsReceived", stats.adjusts_received),
            ("channels", stats.channels.into()),
            ("channelsOpened", stats.channels_opened),
            ("opensFailed", stats.opens_failed),
            ("promised", stats.promised),
            ("unread", stats.unread),
            ("stalls", stats.stalls),
            ("glitches", stats.glitches),
        ])
    }
}

/// A channel that is being opened.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Opening {
    channel: Promise,
    cancel: Signal,
}

#[wasm_bindgen]
impl Opening {
    /// Resolves with the [`Channel`] when the gateway has connected the destination; rejects with why it has not.
    #[wasm_bindgen(getter)]
    pub fn channel(&self) -> Promise {
        self.channel.clone()
    }

    /// Gives the channel up, if it is not open yet.
    pub fn cancel(&self) {
        self.cancel.raise();
    }
}

/// An object with these properties.
pub(crate) fn numbers(of: &[(&str, u64)]) -> Object {
    let object = Object::new();
    for &(name, number) in of {
        #[expect(clippy::cast_precision_loss, reason = "JavaScript counts exactly up to 2^53: 9 PB")]
        set(&object, name, number as f64);
    }
    object
}
