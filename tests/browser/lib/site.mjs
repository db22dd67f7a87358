// A web server for the built package, the scenarios and the pages that run them.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import http from "node:http";
import { extname } from "node:path";

const HERE = new URL("..", import.meta.url);
const FOLDERS = {
  "/muxgate/": new URL("../../transport-wasm/npm/dist/", HERE),
  "/scenarios/": new URL("scenarios/", HERE),
  "/generated/": new URL("generated/", HERE),
  "/": new URL("pages/", HERE),
};
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** Serves on a free port of loopback; returns the origin. */
export async function startSite() {
  const server = http.createServer(async (request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    const folder = Object.keys(FOLDERS).find((prefix) => path.startsWith(prefix));
    const file = new URL(path.slice(folder.length) || "index.html", FOLDERS[folder]);
    try {
      const content = await readFile(file);
      response.writeHead(200, { "content-type": TYPES[extname(file.pathname)] ?? "application/octet-stream" }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}
