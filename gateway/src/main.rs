//! `muxgate`: carries many TCP connections over one.

fn main() {}
