// A library that was written for `cloudflare:sockets`, in a page that says where the gateway is.

import { connect } from "cloudflare:sockets";
import { configure } from "muxgate";
import { echo } from "./echo.js";

globalThis.inPage = (url, port) => echo((options) => ({ ...configure(options), connect, close() {} }), { url }, port);
globalThis.ready = true;
