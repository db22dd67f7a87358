//! Tools of the integration tests: a peer that is a script, a simulator with virtual time, and scenarios that run on any
//! executor.

pub mod clock;
pub mod executor;
pub mod scripted;
