//! The gateway and the clients of Muxgate: what the binary `muxgate` is made of.

pub mod escape;
pub mod listen;
pub mod policy;
pub mod relay;
pub mod token;
