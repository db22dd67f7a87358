//! JMUX in the browser.
//!
//! This crate is where `muxgate-core` meets a page: the browser's WebSocket as a
//! `Transport`, the sockets API of the npm package, and the only `JsValue`s of the project. None of that is
//! written yet. Today the crate holds the place in the workspace, so that the wasm32 build of core is checked
//! from the first day, and it exports nothing.
#![forbid(unsafe_code)]
