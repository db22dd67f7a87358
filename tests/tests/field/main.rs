//! Bugs that were reported in the field against multiplexers and tunnels, as scenarios.
//!
//! Each test names the reports that it comes from.

mod closing;
mod credit;
mod latency;
mod liveness;
