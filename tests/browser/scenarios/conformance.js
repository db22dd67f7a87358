// The scenarios of muxgate-conformance, which native executors run as well: the same Rust, as wasm.

import init, { names, run as start } from "../generated/conformance.js";

const file = new URL("../generated/conformance_bg.wasm", import.meta.url);
// Node does not fetch files.
const module = file.protocol === "file:" ? (await import("node:fs/promises")).readFile(file) : fetch(file);
await init({ module_or_path: await module });

export { names };

/** Runs one; what panics in any of its tasks is thrown. */
export function run({ name }) {
  return new Promise((resolve, reject) => {
    start(name, (panic) => reject(new Error(panic))).then(resolve, reject);
  });
}
