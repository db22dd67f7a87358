//! Set-up, demo, tests and benches.

fn main() {}
