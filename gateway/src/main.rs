//! Carries many TCP connections over one.

fn main() {}
