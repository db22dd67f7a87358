//! What must hold for any input.
//!
//! Each target is a function that takes arbitrary bytes and panics if something does not hold. `cargo xtask fuzz` has
//! libFuzzer look for such bytes, guided by the code that they reach; `cargo test` runs every target over its corpus
//! (`fuzz/corpus/TARGET`) and over random bytes. Bytes that failed once are kept in the corpus.

#![forbid(unsafe_code)]

mod admission;
mod content;
mod decoder;
mod peer;
mod session;
mod side;
mod text;
mod websocket;

/// A property of arbitrary bytes.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its corpus.
    pub name: &'static str,
    /// Panics if the property does not hold.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 6] = [
    Target { name: "admission", run: admission::run },
    Target { name: "decoder", run: decoder::run },
    Target { name: "peer", run: peer::run },
    Target { name: "session", run: session::run },
    Target { name: "text", run: text::run },
    Target { name: "websocket", run: websocket::run },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
