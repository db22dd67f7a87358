// A wasm module that the bundler delivers in its own way.

import wasm from "muxgate/muxgate.wasm";
import { createTunnel } from "muxgate/slim";
import { echo } from "./echo.js";

globalThis.inPage = (url, port) => echo(createTunnel, { url, wasm }, port);
globalThis.ready = true;
