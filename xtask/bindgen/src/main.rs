//! `muxgate-bindgen FILE.wasm FOLDER NAME`: writes `NAME_bg.wasm`, `NAME.js` and their types into the folder.
#![forbid(unsafe_code)]

use std::env;

use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [input, folder, name] = &arguments[..] else { bail!("usage: muxgate-bindgen FILE.wasm FOLDER NAME") };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name(name).typescript(true).web(true)?;
    // Who loads the package decides where the wasm file comes from; a default would make every bundler copy it.
    bindgen.omit_default_module_path(true).remove_producers_section(true);
    bindgen.generate(folder)
}
