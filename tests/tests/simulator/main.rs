//! Flow control under virtual time: what every run must keep to, and what it achieves on paths that are known.

mod grants;
mod memory;
mod seeds;
mod sharing;
mod throughput;
