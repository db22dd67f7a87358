//! The gateway and the clients of Muxgate.

pub mod escape;
pub mod exit;
pub mod policy;
pub mod rule;
pub mod special;
pub mod target;
pub mod token;
