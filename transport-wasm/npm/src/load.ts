import type { TunnelOptions, WasmSource } from "./options.js";

/** The source that the options name, or the default of the entry point. */
export function load(wasm: TunnelOptions["wasm"], fallback: () => WasmSource): WasmSource | Promise<WasmSource> {
  if (typeof wasm === "function") return wasm();
  return wasm ?? fallback();
}
