// A page, and a worker that the bundler has to find.

import { createTunnel } from "muxgate";
import { echo } from "./echo.js";

globalThis.inPage = (url, port) => echo(createTunnel, { url }, port);

globalThis.inWorker = (url, port) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage([url, port]);
  });

globalThis.ready = true;
