//! The one lock of this crate. Model tests put Shuttle's in its place, which tries out who may get it when.

#[cfg(muxgate_shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(muxgate_shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard};
