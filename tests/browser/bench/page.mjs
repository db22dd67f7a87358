// What the package does in a page, beside a bare WebSocket of the same browser to the same gateway: `node bench/page.mjs ROUNDS SECONDS`.
//
// `cargo xtask bench browser` runs this and makes tables of the lines "figure LOAD WAY NAME VALUE".

import { setTimeout as pause } from "node:timers/promises";

import { pageMemory, startBrowser } from "../lib/chromium.mjs";
import { echo, listen, source } from "../lib/destinations.mjs";
import { startGateway } from "../lib/gateway.mjs";
import { startSite } from "../lib/site.mjs";

const [rounds, seconds] = process.argv.slice(2).map(Number);
const MIB = 1024 * 1024;
/** The file of each way's scenarios. */
const WAYS = { bare: "bare", page: "measure" };
/** What a slow reader takes in a second, in bytes, and how much more it could have. */
const SLOW = 10_000, GIGABYTE = 1e9;

const origin = await startSite();
const browser = await startBrowser();
const gateway = await startGateway({ origin });
const [endless, gigabyte, counting, back] = await Promise.all(
  [source(2 ** 40), source(GIGABYTE), answerAtEnd, echo].map(listen),
);
const LOADS = {
  down: { scenario: "receive", port: endless, figures: rate },
  up: { scenario: "send", port: counting, figures: rate },
  idle: { scenario: "roundTrips", port: back, figures: quantiles },
  beside: { scenario: "roundTrips", port: back, bulkPort: endless, figures: quantiles },
};

for (let round = 0; round < rounds; round++) {
  for (const [load, { scenario, figures, ...ports }] of Object.entries(LOADS)) {
    for (const [way, file] of Object.entries(WAYS)) {
      const context = { url: gateway.url, seconds, ...ports };
      report(load, way, figures(await inPage((page) => page.evaluate(runs, [`${file}/${scenario}`, context]))));
    }
  }
  report("memory", "page", await inPage(memory));
}
await browser.close();
await gateway.kill();

/** Memory that page and gateway take more while they hold back a gigabyte from a slow reader. */
async function memory(page) {
  // Of its own: what the other loads left behind could be used again.
  const gateway = await startGateway({ origin });
  const context = { url: gateway.url, port: gigabyte, connections: 1, rate: SLOW };
  // Loads the module and opens a session: that is no growth.
  await page.evaluate(trickles, [context, 0.3]);
  const before = [await pageMemory(browser), gateway.memory];
  const reading = page.evaluate(trickles, [context, seconds + 1]);
  await pause(seconds * 1000);
  const [more, moreOfGateway] = [(await pageMemory(browser)) - before[0], gateway.memory - before[1]];
  const [received] = await reading;
  await gateway.kill();
  if (received < SLOW) throw new Error(`the slow reader got ${received} bytes`);
  return { mib: more / MIB, gateway_mib: moreOfGateway / MIB };
}

/** Runs `measure` with a page of its own. */
async function inPage(measure) {
  const page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction(() => "runHere" in globalThis);
  const result = await measure(page);
  await page.close();
  return result;
}

// These two are sent to the page.

function runs([name, context]) {
  return runHere(name, context);
}

function trickles([context, seconds]) {
  return runHere("memory/trickle", { ...context, signal: AbortSignal.timeout(seconds * 1000) });
}

function rate(bytesPerSecond) {
  return { gbit_per_s: (bytesPerSecond * 8) / 1e9 };
}

function quantiles(milliseconds) {
  const at = (share) => milliseconds[Math.floor(milliseconds.length * share)];
  return { p50_ms: at(0.5), p99_ms: at(0.99) };
}

function report(load, way, figures) {
  for (const [name, value] of Object.entries(figures)) console.log(`figure ${load} ${way} ${name} ${value}`);
}

function answerAtEnd(socket) {
  socket.on("data", () => {});
  socket.on("end", () => socket.end("."));
}
