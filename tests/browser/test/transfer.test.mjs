import assert from "node:assert/strict";
import { test } from "node:test";

import { digest, echo, farewell, listen, source, sourceDigest } from "../lib/destinations.mjs";
import { stage } from "../lib/stage.mjs";

const MB = 1_000_000;
const scene = stage();

for (const [engine, run] of Object.entries(scene.engines)) {
  test(`100 MB down, ${engine}`, async () => {
    const bytes = 100 * MB;
    const port = await listen(source(bytes));
    const { received, digest } = await run("transfer/download", { url: scene.gateway.url, port, bytes });
    assert.equal(received, bytes);
    assert.equal(digest, sourceDigest(bytes));
  });

  test(`100 MB up, and the answer behind the end, ${engine}`, async () => {
    const port = await listen(digest);
    const outcome = await run("transfer/upload", { url: scene.gateway.url, port, bytes: 100 * MB });
    assert.equal(outcome.answer, outcome.digest);
  });

  test(`32 echoes at a time, ${engine}`, async () => {
    const port = await listen(echo);
    const context = { url: scene.gateway.url, port, connections: 32, bytes: MB };
    assert.deepEqual(await run("transfer/parallel", context), { right: 32, channels: 0, channelsOpened: 32 });
  });

  test(`words after the other side's end, ${engine}`, async () => {
    let report;
    const reported = new Promise((resolve) => (report = resolve));
    const port = await listen(farewell(report));
    assert.equal(await run("transfer/halfOpen", { url: scene.gateway.url, port }), "farewell");
    assert.equal(await reported, "late words");
  });

  test(`the other side's end ends both directions, ${engine}`, async () => {
    let report;
    const reported = new Promise((resolve) => (report = resolve));
    const port = await listen(farewell(report));
    const outcome = await run("transfer/notHalfOpen", { url: scene.gateway.url, port });
    assert.deepEqual(outcome, { received: "farewell", late: "WRITE_AFTER_END" });
    assert.equal(await reported, "early words");
  });
}
