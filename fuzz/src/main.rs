//! libFuzzer with the target that `MUXGATE_FUZZ_TARGET` names. `cargo xtask fuzz` builds and runs it.

#![no_main]
#![allow(unsafe_code, reason = "the macro defines the function that libFuzzer, which is written in C++, calls")]

use std::env;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use muxgate_fuzz::{Target, target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = env::var("MUXGATE_FUZZ_TARGET").expect("MUXGATE_FUZZ_TARGET should name a target");
    target(&name).expect("there should be a target of this name")
});

fuzz_target!(|input: &[u8]| (TARGET.run)(input));
