import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

import * as esbuild from "esbuild";
import * as vite from "vite";
import webpack from "webpack";

import { startBrowser } from "../lib/chromium.mjs";
import { echo, listen } from "../lib/destinations.mjs";
import { startGateway } from "../lib/gateway.mjs";
import { project, serve, writePage } from "./projects.mjs";

const run = promisify(execFile);
const WS = JSON.stringify(pathToFileURL(fileURLToPath(new URL("../node_modules/ws/wrapper.mjs", import.meta.url))).href);
let browser;
let port;

before(async () => {
  browser = await startBrowser();
  port = await listen(echo);
});

after(() => browser?.close());

/** Opens a project's page and has it echo, in the page and perhaps in a worker. */
async function check(origin, places = ["inPage"]) {
  const gateway = await startGateway({ origin });
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("requestfailed", (request) => problems.push(request.url()));
  await page.goto(origin);
  await page.waitForFunction(() => globalThis.ready, undefined, { timeout: 10_000 }).catch((error) => {
    throw new Error(`${error.message}\n${problems.join("\n")}`);
  });
  for (const place of places) {
    const answer = await page.evaluate(([place, url, port]) => globalThis[place](url, port), [place, gateway.url, port]);
    assert.equal(answer, "a word", place);
  }
  await page.close();
  await gateway.kill();
}

test("Vite, built", async () => {
  const root = project();
  writePage(root, "/src/page.js");
  await vite.build({ root, logLevel: "error", worker: { format: "es" } });
  await check(await serve(join(root, "dist")), ["inPage", "inWorker"]);
});

test("Vite, with a library that was written for cloudflare:sockets", async () => {
  const root = project();
  writePage(root, "/src/alias.js");
  const resolve = { alias: { "cloudflare:sockets": "muxgate/cloudflare-sockets" } };
  await vite.build({ root, logLevel: "error", resolve });
  await check(await serve(join(root, "dist")));
});

test("Vite, in development", async () => {
  const root = project();
  writePage(root, "/src/page.js");
  const server = await vite.createServer({ root, logLevel: "error", server: { port: 0, host: "127.0.0.1" } });
  await server.listen();
  const origin = `http://127.0.0.1:${server.httpServer.address().port}`;
  await check(origin, ["inPage", "inWorker"]).finally(() => server.close());
});

test("webpack", async () => {
  const context = project();
  const path = join(context, "dist");
  const stats = await new Promise((resolve, reject) => {
    const entry = { page: "./src/page.js", alias: "./src/alias.js" };
    // webpack asks no alias for what looks like a URL.
    const plugins = [new webpack.NormalModuleReplacementPlugin(/^cloudflare:sockets$/, "muxgate/cloudflare-sockets")];
    const options = { context, mode: "production", entry, output: { path, filename: "[name].js" }, plugins };
    webpack(options, (error, stats) => (error ? reject(error) : resolve(stats)));
  });
  assert.equal(stats.toString({ all: false, errors: true, warnings: true }), "");
  writePage(path, "/page.js");
  await check(await serve(path), ["inPage", "inWorker"]);
  writePage(path, "/alias.js");
  await check(await serve(path));
});

test("esbuild, with the module inline, in a page and in a classic worker", async () => {
  const folder = project();
  const outdir = join(folder, "dist");
  const options = { bundle: true, minify: true, outdir, logLevel: "error" };
  await esbuild.build({ ...options, entryPoints: [join(folder, "src/inline.js")], format: "iife" });
  writePage(outdir, "/inline.js");
  await check(await serve(outdir));

  const origin = await serve(outdir);
  const gateway = await startGateway({ origin });
  const page = await browser.newPage();
  await page.goto(origin);
  const answer = await page.evaluate(
    ([url, port]) =>
      new Promise((resolve) => {
        const worker = new Worker("/inline.js");
        worker.onmessage = ({ data }) => resolve(data);
        worker.postMessage([url, port]);
      }),
    [gateway.url, port],
  );
  assert.equal(answer, "a word");
  await gateway.kill();
});

test("esbuild, with the module as a file of its own", async () => {
  const folder = project();
  const outdir = join(folder, "dist");
  const shared = { bundle: true, format: "esm", outdir, logLevel: "error" };
  await esbuild.build({ ...shared, entryPoints: [join(folder, "src/slim.js")], loader: { ".wasm": "file" } });
  writePage(outdir, "/slim.js");
  await check(await serve(outdir));
});

test("no tools at all: the installed files, served as they are", async () => {
  const folder = project();
  writeFileSync(join(folder, "index.html"), `<!doctype html><link rel="icon" href="data:,">
    <script type="importmap">{ "imports": { "muxgate": "/node_modules/muxgate/dist/index.js" } }</script>
    <script type="module" src="/src/page.js"></script>`);
  await check(await serve(folder));
});

test("only what is used gets into a page, and nothing that Node needs", async () => {
  const folder = project();
  const bundle = async (contents) => {
    const stdin = { contents, resolveDir: folder };
    const result = await esbuild.build({ stdin, bundle: true, minify: true, format: "esm", write: false, logLevel: "error" });
    return result.outputFiles[0].text;
  };
  assert.equal(await bundle('import "muxgate";'), "");
  assert.equal(await bundle('import { createTunnel } from "muxgate/inline";'), "");
  const whole = await bundle('import { createTunnel } from "muxgate"; createTunnel({ url: "ws://a" });');
  assert.ok(whole.length < 40_000, `${whole.length} bytes of JavaScript`);
});

test("Node, with ws, in the main thread and in a worker thread", async () => {
  const folder = project();
  const gateway = await startGateway({});
  writeFileSync(join(folder, "echo.js"), `
    import { createTunnel } from "muxgate";
    import WebSocket from ${WS};
    import { echo } from "./src/echo.js";
    console.log(await echo(createTunnel, { url: "${gateway.url}", WebSocket }, ${port}));
  `);
  writeFileSync(join(folder, "thread.js"), `
    import { Worker } from "node:worker_threads";
    new Worker("./echo.js");
  `);
  // They end by themselves: a closed tunnel keeps nothing open.
  assert.equal(await node(folder, "echo.js"), "a word\n");
  assert.equal(await node(folder, "thread.js"), "a word\n");
  await gateway.kill();
});

test("importing on a server touches nothing of a page", async () => {
  const folder = project();
  const { exports } = JSON.parse(readFileSync(join(folder, "node_modules/muxgate/package.json"), "utf8"));
  const modules = Object.keys(exports).filter((name) => !/\.(json|wasm)$/.test(name));
  writeFileSync(join(folder, "import.js"), `
    for (const name of ["window", "document", "self", "location", "WebSocket", "fetch", "WebAssembly"]) {
      Object.defineProperty(globalThis, name, { get() { throw new Error(name + " was touched"); } });
    }
    for (const module of ${JSON.stringify(modules)}) await import(module.replace(".", "muxgate"));
    console.log("imported");
  `);
  assert.equal(modules.length, 6);
  assert.equal(await node(folder, "import.js"), "imported\n");
});

for (const [module, moduleResolution] of [["NodeNext", "NodeNext"], ["ESNext", "Bundler"]]) {
  test(`types, ${moduleResolution}`, async () => {
    const folder = project();
    const compilerOptions = {
      module, moduleResolution, target: "ES2022", lib: ["ES2022", "DOM"], types: [], strict: true, skipLibCheck: false, noEmit: true,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["src/types.ts"] }));
    const tsc = fileURLToPath(new URL("node_modules/.bin/tsc", import.meta.url));
    await run(tsc, ["-p", folder]);
  });
}

async function node(cwd, script) {
  const { stdout } = await run("node", [script], { cwd, timeout: 20_000 });
  return stdout;
}
