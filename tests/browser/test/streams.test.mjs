import assert from "node:assert/strict";
import { test } from "node:test";

import { deaf, echo, listen, source } from "../lib/destinations.mjs";
import { stage } from "../lib/stage.mjs";

const scene = stage();

for (const [engine, run] of Object.entries(scene.engines)) {
  const context = (more) => ({ url: scene.gateway.url, ...more });

  test(`readers that bring their buffers, ${engine}`, async () => {
    const outcome = await run("streams/byob", context({ port: await listen(echo) }));
    assert.deepEqual(outcome, { same: true, emptied: 0 });
  });

  test(`strings and every BufferSource, ${engine}`, async () => {
    const received = await run("streams/everyKind", context({ port: await listen(echo) }));
    assert.equal(received, "é€😀 -abcdefgh-abcdfgh");
  });

  test(`what is no BufferSource, ${engine}`, async () => {
    assert.deepEqual(await run("streams/noKind", context({ port: await listen(echo) })), ["TypeError", "TypeError"]);
  });

  test(`nobody reads what is written, ${engine}`, async () => {
    const outcome = await run("streams/backPressure", context({ port: await listen(deaf) }));
    assert.deepEqual(outcome.wanted, [1000, -49_000]);
    assert.equal(outcome.sendCredit, 0);
    assert.ok(outcome.taken < 32_000_000, `${outcome.taken} bytes were taken`);
    assert.deepEqual(outcome.outcomes, ["gone", false, "gone", "gone"]);
  });

  test(`half of a download, ${engine}`, async () => {
    const ports = { port: await listen(source(1e9)), echo: await listen(echo) };
    assert.deepEqual(await run("streams/cancel", context(ports)), { closed: "resolved", alive: "still here" });
  });

  test(`close() sends what was written, ${engine}`, async () => {
    let received = 0;
    let report;
    const reported = new Promise((resolve) => (report = resolve));
    const port = await listen((socket) => {
      socket.on("data", (data) => (received += data.length));
      socket.on("end", () => {
        socket.end();
        report(received);
      });
    });
    const outcome = await run("streams/close", context({ port, bytes: 3_000_000 }));
    const outcomes = ["resolved", "resolved", "resolved", "WRITE_AFTER_END"];
    assert.deepEqual(outcome, { outcomes, twice: "resolved", state: "closed" });
    assert.equal(await reported, 3_000_000);
  });

  test(`close() before it is open, ${engine}`, async () => {
    const outcomes = await run("streams/closeEarly", context({ port: await listen(echo) }));
    assert.deepEqual(outcomes, ["CLOSED", "resolved", "resolved"]);
  });

  test(`signals, ${engine}`, async () => {
    assert.deepEqual(await run("streams/signals", context({ port: await listen(echo) })), {
      late: ["late", "late"],
      early: ["early", "early", "early"],
      whole: ["whole", "whole", "whole"],
      state: "closed",
    });
  });

  test(`nothing happens before the first connection, ${engine}`, async () => {
    assert.deepEqual(await run("streams/lazy", context({ port: await listen(echo) })), {
      before: ["idle"],
      during: "connecting",
      states: ["connecting", "open", "closed"],
      answer: "queued",
    });
  });
}
