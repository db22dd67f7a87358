import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { createTunnel } from "muxgate";

import { FakeWebSocket, tasks } from "./fake.mjs";

const KIB = 1024;
/** Where the mark begins, and one message more than that. */
const MARK = 256 * KIB;
const MESSAGE = 64 * KIB;
const hidden = { value: false };
Object.defineProperty(globalThis, "document", { value: { get hidden() { return hidden.value; } } });

afterEach(() => {
  hidden.value = false;
});

/** Writes without end. */
async function uploader() {
  const stop = new AbortController();
  const tunnel = createTunnel({ url: "ws://fake", WebSocket: FakeWebSocket, signal: stop.signal });
  const socket = tunnel.connect("a:1");
  await socket.opened;
  const writer = socket.writable.getWriter();
  (async () => {
    for (;;) await writer.write(new Uint8Array(100_000));
  })().catch(() => {});
  await tasks();
  return { fake: FakeWebSocket.last, stop: () => stop.abort(new Error("stop")) };
}

test("stops above the mark, and goes on below half of it", async () => {
  const { fake, stop } = await uploader();
  assert.ok(fake.sent >= MARK && fake.sent <= MARK + MESSAGE, `${fake.sent} bytes were sent`);
  assert.ok(fake.messages.every(({ byteLength }) => byteLength <= MESSAGE));
  const before = fake.sent;
  fake.drain(100 * KIB);
  await tasks();
  assert.equal(fake.sent, before);
  fake.drain(100 * KIB);
  await until(() => fake.sent > before);
  assert.ok(fake.bufferedAmount <= MARK + MESSAGE);
  stop();
});

test("a browser that runs dry gets more at a time, a slow one less", async () => {
  const { fake, stop } = await uploader();
  for (let round = 0; round < 4; round++) {
    const before = fake.sent;
    fake.drain(fake.bufferedAmount);
    await until(() => fake.sent > before);
  }
  assert.ok(fake.bufferedAmount > 3 * MARK, `${fake.bufferedAmount} bytes when it is fast`);
  for (let round = 0; round < 6; round++) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    const before = fake.sent;
    fake.drain(fake.bufferedAmount - 20 * KIB);
    await until(() => fake.sent > before);
  }
  assert.ok(fake.bufferedAmount <= 2 * MESSAGE, `${fake.bufferedAmount} bytes when it is slow`);
  stop();
});

test("whatever arrives makes it look, without a timer", async () => {
  const { fake, stop } = await uploader();
  // Now it waits for a timer; in this test none will fire.
  await new Promise((resolve) => setTimeout(resolve, 30));
  const { setTimeout: real } = globalThis;
  globalThis.setTimeout = () => 0;
  await new Promise((resolve) => real(resolve, 40));
  const before = fake.sent;
  fake.drain(fake.bufferedAmount);
  await tasks();
  assert.equal(fake.sent, before);
  fake.onmessage({ data: new ArrayBuffer(0) });
  await tasks();
  globalThis.setTimeout = real;
  assert.ok(fake.sent > before);
  stop();
});

test("a hidden page goes on until the gateway's windows are the bound", async () => {
  hidden.value = true;
  const { fake, stop } = await uploader();
  await until(() => fake.sent >= 16 * KIB * KIB);
  await tasks();
  assert.ok(fake.sent <= 16 * KIB * KIB + MESSAGE);
  stop();
});

test("what may be compressed later is copied", async () => {
  const { fake, stop } = await uploader();
  const shared = new Set(fake.messages.map(({ buffer }) => buffer));
  assert.equal(shared.size, 1, "all messages are views of wasm memory");
  stop();
  FakeWebSocket.prototype.opens = function () {
    this.extensions = "permessage-deflate";
    this.readyState = 1;
    this.onopen?.({});
  };
  const { fake: compressing, stop: stopCompressing } = await uploader();
  const own = new Set(compressing.messages.map(({ buffer }) => buffer));
  assert.equal(own.size, compressing.messages.length);
  stopCompressing();
});

async function until(condition) {
  for (let i = 0; i < 200 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(condition());
}
