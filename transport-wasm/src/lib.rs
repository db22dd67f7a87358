//! JMUX in the browser.
//!
//! This crate is where `muxgate-core` meets a page: the browser's WebSocket as a `Transport`, and the small interface
//! from which the npm package builds its sockets. All `JsValue`s of the project are here. What people see is
//! written in TypeScript, in `npm/`.
//!
//! One wake-up of the page moves one message: the handler copies it into wasm memory and wakes the connection, which
//! runs, and wakes the readers, before the page's next task. No timer is in the way of any byte, except while the browser
//! holds more than enough of them already (see `pressure.rs`).
#![forbid(unsafe_code)]

mod alarm;
mod browser;
mod channel;
mod clock;
mod failure;
mod pressure;
mod promise;
mod session;
mod socket;

pub use channel::Channel;
pub use clock::BrowserClock;
pub use session::{Opening, Session};
pub use socket::{BrowserSocket, SocketError};
