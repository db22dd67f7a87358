// Small projects that have the packed package installed, and what serves their output.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("../../../transport-wasm/npm", import.meta.url));
const SOURCES = fileURLToPath(new URL("sources", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

let tarball;
const folders = [];
process.once("exit", () => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** A project in a temporary folder, with our sources and what `npm pack` made. */
export function project() {
  const folder = temporary();
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
  cpSync(SOURCES, join(folder, "src"), { recursive: true });
  npm(folder, "install", "--offline", (tarball ??= pack()));
  return folder;
}

function pack() {
  const folder = temporary();
  const names = npm(PACKAGE, "pack", "--silent", "--pack-destination", folder);
  return join(folder, names.trim().split("\n").at(-1));
}

function temporary() {
  const folder = mkdtempSync(join(tmpdir(), "muxgate-packaging-"));
  folders.push(folder);
  return folder;
}

function npm(cwd, ...args) {
  return execFileSync("npm", ["--no-audit", "--no-fund", ...args], { cwd, encoding: "utf8" });
}

/** Puts a page around a script into `folder`. */
export function writePage(folder, script) {
  mkdirSync(folder, { recursive: true });
  const page = `<!doctype html><link rel="icon" href="data:,"><script type="module" src="${script}"></script>\n`;
  writeFileSync(join(folder, "index.html"), page);
}

/** Serves a folder; returns its address. */
export async function serve(folder) {
  const server = http.createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    try {
      const content = readFileSync(join(folder, path === "/" ? "index.html" : path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/html" }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}
