// The interface of the wasm module as it is, for those who build something else on it.
export { Channel, Opening, Session } from "./generated/muxgate.js";
export { default, initSync } from "./generated/muxgate.js";
