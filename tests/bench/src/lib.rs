//! What `cargo xtask bench` measures with: destinations, loads, the baseline relay, commands for each connection, and a look into /proc.
//!
//! Nothing in here knows Muxgate. A load enters a forwarder at an address and arrives at a destination; without a
//! forwarder both are the same address. Everything that waits has a time limit, and a load that fails says so: a
//! figure is never made of a transfer that broke off.
#![forbid(unsafe_code)]

pub mod background;
pub mod destination;
pub mod each;
pub mod load;
pub mod process;
pub mod relay;
pub mod statistics;
