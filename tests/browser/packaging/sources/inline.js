// The wasm module as part of the script: for bundlers that copy nothing, and for classic workers.

import { createTunnel } from "muxgate/inline";
import { echo } from "./echo.js";

if (globalThis.document) {
  globalThis.inPage = (url, port) => echo(createTunnel, { url }, port);
  globalThis.ready = true;
} else {
  globalThis.onmessage = async ({ data: [url, port] }) => {
    globalThis.postMessage(await echo(createTunnel, { url }, port).catch(String));
  };
}
