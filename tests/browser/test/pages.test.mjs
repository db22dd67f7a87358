import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { digest, echo, listen } from "../lib/destinations.mjs";
import { startGateway } from "../lib/gateway.mjs";
import { stage } from "../lib/stage.mjs";

const scene = stage();

/** A page of its own, where `prepare` ran before anything else. */
async function page(prepare) {
  const page = await scene.browser.newPage();
  await page.addInitScript(prepare);
  await page.goto(scene.origin);
  await page.waitForFunction(() => "runHere" in globalThis);
  return page;
}

test("a hidden page uploads though its timers are a minute late", async () => {
  const hidden = await page(() => {
    Object.defineProperty(Document.prototype, "hidden", { get: () => true });
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (handler, delay, ...more) => setTimeout(handler, Math.max(delay ?? 0, 60_000), ...more);
  });
  const context = { url: scene.gateway.url, port: await listen(digest), bytes: 100_000_000 };
  const outcome = await hidden.evaluate((context) => runHere("transfer/upload", context), context);
  assert.equal(outcome.answer, outcome.digest);
  await hidden.close();
});

test("a page without timers echoes", async () => {
  const timeless = await page(() => {
    globalThis.setTimeout = () => 0;
  });
  const context = { url: scene.gateway.url, port: await listen(echo), connections: 4, bytes: 1_000_000 };
  const outcome = await timeless.evaluate((context) => runHere("transfer/parallel", context), context);
  assert.equal(outcome.right, 4);
  await timeless.close();
});

test("WebSockets are closed with codes that pages may use, and nothing is thrown", async () => {
  const watched = await page(() => {
    globalThis.codes = [];
    const { close } = WebSocket.prototype;
    WebSocket.prototype.close = function (...args) {
      codes.push(args[0]);
      return close.apply(this, args);
    };
  });
  const errors = [];
  watched.on("pageerror", (error) => errors.push(error.message));
  const context = { url: scene.gateway.url, port: await listen(echo) };
  await watched.evaluate((context) => runHere("streams/lazy", context), context);
  await watched.evaluate((context) => runHere("streams/signals", context), context);
  assert.deepEqual(await watched.evaluate(() => codes), [1000, 4000]);
  assert.deepEqual(errors, []);
  await watched.close();
});

test("a socket in the shape of a WebSocket", async () => {
  const port = await listen(echo);
  const outcome = await scene.page.evaluate(async ([url, port]) => {
    const { createTunnel } = await import("/muxgate/index.js");
    const { SocketWebSocket } = await import("/muxgate/websocket.js");
    const tunnel = createTunnel({ url });
    const socket = new SocketWebSocket(tunnel.connect({ hostname: "127.0.0.1", port }));
    const states = [socket.readyState];
    await new Promise((resolve) => (socket.onopen = resolve));
    states.push(socket.readyState);
    socket.send("text ");
    socket.send(new Uint8Array([98, 121, 116, 101, 115]).subarray(1));
    let received = "";
    await new Promise((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        received += new TextDecoder().decode(data);
        if (received.length === 9) resolve();
      });
    });
    const sent = socket.bufferedAmount;
    const closed = new Promise((resolve) => (socket.onclose = resolve));
    socket.close();
    states.push(socket.readyState);
    const { code, wasClean } = await closed;
    states.push(socket.readyState);
    const refused = new SocketWebSocket(tunnel.connect("127.0.0.2:1"));
    const failed = await new Promise((resolve) => (refused.onclose = resolve));
    await tunnel.close();
    return { states, received, sent, code, wasClean, failed: [failed.code, failed.reason.slice(0, 20)] };
  }, [scene.gateway.url, port]);
  assert.deepEqual(outcome, {
    states: [0, 1, 2, 3], received: "text ytes", sent: 0, code: 1000, wasClean: true, failed: [1006, "SocketError: refused"],
  });
});

test("the default tunnel, and the alias of cloudflare:sockets", async () => {
  const port = await listen(echo);
  const outcome = await scene.page.evaluate(async ([url, port]) => {
    const { configure } = await import("/muxgate/index.js");
    const { connect } = await import("/muxgate/cloudflare-sockets.js");
    let unconfigured;
    try {
      connect("a:1");
    } catch (error) {
      unconfigured = error.code;
    }
    const tunnel = configure({ url });
    const socket = connect(`127.0.0.1:${port}`);
    const { remoteAddress } = await socket.opened;
    const again = configure({ url });
    await tunnel.close();
    const closed = [tunnel.state, await socket.closed.then(() => "resolved")];
    await again.close();
    return { unconfigured, remoteAddress, closed };
  }, [scene.gateway.url, port]);
  const remoteAddress = `127.0.0.1:${port}`;
  assert.deepEqual(outcome, { unconfigured: "INVALID_OPTION", remoteAddress, closed: ["closed", "resolved"] });
});

test("a token as subprotocol and in the URL, right and wrong", async () => {
  const folder = mkdtempSync(join(tmpdir(), "muxgate-token-"));
  const file = join(folder, "token");
  writeFileSync(file, "the-secret+of/test=long~enough\n", { mode: 0o600 });
  const gateway = await startGateway({ origin: scene.origin, args: ["--token-file", file] });
  const port = await listen(echo);
  const outcomes = await scene.page.evaluate(async ([url, port]) => {
    const { createTunnel } = await import("/muxgate/index.js");
    const outcome = async (token, tokenIn) => {
      const tunnel = createTunnel({ url, token: async () => token, tokenIn });
      const opened = await tunnel.connect({ hostname: "127.0.0.1", port }).opened.then(() => "opened", ({ code }) => code);
      await tunnel.close();
      return opened;
    };
    const outcomes = {};
    for (const place of [undefined, "subprotocol", "query"]) {
      const tokens = ["the-secret+of/test=long~enough", "another", undefined];
      outcomes[place ?? "default"] = await Promise.all(tokens.map((token) => outcome(token, place)));
    }
    return outcomes;
  }, [gateway.url, port]);
  const expected = ["opened", "TUNNEL_FAILED", "TUNNEL_FAILED"];
  assert.deepEqual(outcomes, { default: expected, subprotocol: expected, query: expected });
  await gateway.kill();
  rmSync(folder, { recursive: true });
});
