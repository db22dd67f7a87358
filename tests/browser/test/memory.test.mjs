import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { pageMemory } from "../lib/chromium.mjs";
import { listen, source } from "../lib/destinations.mjs";
import { stage } from "../lib/stage.mjs";

const MIB = 1024 * 1024;
const LIMIT = 32 * MIB;
/** Long enough for a gigabyte, if nothing held it back. */
const WATCHED = 5_000;
const scene = stage();

for (const connections of [1, 20]) {
  test(`${connections} slow readers of fast sources`, async () => {
    const sources = [];
    const port = await listen((socket) => {
      source(1e9)(socket);
      sources.push(socket);
    });
    // Loads the module and opens a session: that is no growth.
    await scene.page.evaluate(async ([url, port]) => {
      const { createTunnel } = await import("/muxgate/index.js");
      const { trickle } = await import("/scenarios/memory.js");
      globalThis.start = (connections, signal) => trickle({ createTunnel, url, port, connections, rate: 10_000, signal });
      await start(1, AbortSignal.timeout(300));
    }, [scene.gateway.url, port]);

    const before = { page: await pageMemory(scene.browser), gateway: scene.gateway.memory };
    await scene.page.evaluate((connections) => {
      globalThis.stop = new AbortController();
      globalThis.reading = start(connections, stop.signal);
    }, connections);
    await pause(WATCHED);
    const page = (await pageMemory(scene.browser)) - before.page;
    const gateway = scene.gateway.memory - before.gateway;
    const sent = Math.max(...sources.map((socket) => socket.bytesWritten));
    const received = await scene.page.evaluate(async () => {
      stop.abort();
      return Math.min(...(await reading));
    });
    // Per connection, what is on its way beyond our memory: two sockets of loopback, and the gateway's share.
    console.log(`page +${(page / MIB).toFixed(1)} MiB, gateway +${(gateway / MIB).toFixed(1)} MiB, source sent ${(sent / MIB).toFixed(1)} MiB`);
    assert.ok(received > 10_000, `a reader got ${received} bytes`);
    assert.ok(page < LIMIT, `the page grew by ${page} bytes`);
    assert.ok(gateway < LIMIT, `the gateway grew by ${gateway} bytes`);
    assert.ok(sent < 64 * MIB, `a source could send ${sent} bytes`);
  });
}
