import init, { Session } from "./generated/muxgate.js";
import { SocketError } from "./error.js";
import type { WasmSource } from "./options.js";

/** Yields a source when it is needed. */
export type WasmLoader = () => WasmSource | Promise<WasmSource>;

let ready: Promise<unknown> | undefined;

/** Loads the module once for each page or worker, whoever asks first; a failure can be tried again. */
export async function loadEngine(loader: WasmLoader): Promise<typeof Session> {
  ready ??= start(loader);
  try {
    await ready;
  } catch (cause) {
    ready = undefined;
    throw cause instanceof SocketError ? cause : wasmFailed(cause);
  }
  return Session;
}

async function start(loader: WasmLoader): Promise<void> {
  let source = await loader();
  if (typeof source === "string" || source instanceof URL) source = await fetchWasm(source);
  await init({ module_or_path: source });
}

/** Reads files too: Node's `fetch` does not. */
async function fetchWasm(location: string | URL): Promise<WasmSource> {
  const url = new URL(location, globalThis.location?.href);
  // Not imported, because bundlers for pages would look for it.
  const fs = globalThis.process?.getBuiltinModule?.("node:fs");
  if (url.protocol === "file:" && fs) return fs.promises.readFile(url);
  const response = await fetch(url);
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || type.startsWith("text/html")) {
    throw wasmFailed(`${url} answers ${response.status} ${type}`);
  }
  return response;
}

function wasmFailed(cause: unknown): SocketError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new SocketError(
    "WASM_FAILED",
    `the wasm file could not be loaded: ${why}. If a bundler did not copy it, import "muxgate/inline", or ` +
      `"muxgate/slim" with the option wasm`,
    { cause },
  );
}

declare global {
  // The little of Node that is used where it exists.
  var process:
    | { getBuiltinModule?(name: "node:fs"): { promises: { readFile(url: URL): Promise<Uint8Array<ArrayBuffer>> } } }
    | undefined;
}
