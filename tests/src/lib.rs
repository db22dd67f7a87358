//! Tools of the integration tests: a peer that is a script, a simulator with virtual time, scenarios that run on any
//! executor, and real processes.

pub mod clock;
pub mod conformance;
pub mod executor;
pub mod process;
pub mod scripted;
pub mod simulator;
