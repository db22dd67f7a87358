//! A runtime-agnostic JMUX multiplexer.

pub mod transport;
pub use transport::{Clock, Dial, StoppedClock, Timestamp, Transport};
