import { createTunnel } from "muxgate";
import { echo } from "./echo.js";

globalThis.onmessage = async ({ data: [url, port] }) => {
  globalThis.postMessage(await echo(createTunnel, { url }, port).catch(String));
};
