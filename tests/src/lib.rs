//! Tools of the integration tests: a peer that is a script, a simulator with virtual time, and real processes.

pub mod clock;
pub mod executor;
pub mod process;
pub mod scripted;
pub mod simulator;
