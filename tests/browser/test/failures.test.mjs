import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";

import { deaf, echo, listen, reset, source } from "../lib/destinations.mjs";
import { startGateway } from "../lib/gateway.mjs";
import { stage } from "../lib/stage.mjs";

const scene = stage();

/** A port of loopback where nobody listens. */
async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

for (const [engine, run] of Object.entries(scene.engines)) {
  for (const [what, address, code] of [
    ["refused", () => freePort().then((port) => `127.0.0.1:${port}`), "CONNECTION_REFUSED"],
    ["denied", () => "127.0.0.2:80", "NOT_ALLOWED"],
    ["unresolvable", () => "nobody.invalid:80", "HOST_UNREACHABLE"],
  ]) {
    test(`a destination that is ${what}, ${engine}`, async () => {
      const outcome = await run("failures/refused", { url: scene.gateway.url, address: await address() });
      assert.deepEqual(outcome.outcomes, [code]);
      assert.match(outcome.message, /^SocketError: refused: /);
      assert.ok(outcome.isTypeError);
    });
  }

  test(`a destination that resets, ${engine}`, async () => {
    const port = await listen(reset);
    const outcomes = await run("failures/reset", { url: scene.gateway.url, port });
    assert.deepEqual(outcomes, ["resolved", "CONNECTION_RESET", "CONNECTION_RESET", "CONNECTION_RESET"]);
  });

  test(`the gateway is killed in mid-transfer, ${engine}`, async () => {
    const gateway = await startGateway({ origin: scene.origin });
    let underWay;
    const flowing = new Promise((resolve) => (underWay = resolve));
    const down = await listen((socket) => {
      source(2 ** 40)(socket);
      socket.on("drain", () => socket.bytesWritten > 20_000_000 && underWay());
    });
    const result = run("failures/gatewayGone", { url: gateway.url, source: down, deaf: await listen(deaf) });
    await Promise.race([flowing, result]);
    await gateway.kill();
    const { outcomes, again, closeCode, message, state } = await result;
    assert.deepEqual([...new Set(outcomes)], ["TUNNEL_FAILED"]);
    assert.deepEqual({ again, closeCode, state }, { again: "TUNNEL_FAILED", closeCode: 1006, state: "idle" });
    assert.match(message, /code 1006/);
  });

  test(`no gateway, ${engine}`, async () => {
    const url = `ws://127.0.0.1:${await freePort()}`;
    const { message, ...rest } = await run("failures/noGateway", { url });
    const expected = { outcomes: ["TUNNEL_FAILED", "TUNNEL_FAILED"], closeCode: 1006, states: ["connecting", "idle"], same: true };
    assert.deepEqual(rest, expected);
    assert.match(message, /Is the gateway running/);
  });

  test(`misuse, ${engine}`, async () => {
    assert.deepEqual(await run("failures/misuse", { url: scene.gateway.url }), {
      noPort: "INVALID_ADDRESS",
      bareIpv6: "INVALID_ADDRESS",
      zero: "INVALID_ADDRESS",
      noHost: "INVALID_ADDRESS",
      badName: "INVALID_ADDRESS",
      noUrl: "INVALID_OPTION",
      badUrl: "INVALID_OPTION",
      smallWindow: "INVALID_OPTION",
      tls: ["TLS_UNAVAILABLE", "TLS_UNAVAILABLE"],
      startTls: "TLS_UNAVAILABLE",
      startTlsOff: "TypeError",
      closed: "TUNNEL_CLOSED",
    });
  });
}

test("a page of another origin is refused", async () => {
  const gateway = await startGateway({ origin: "https://app.example" });
  const { outcomes } = await scene.engines.page("failures/noGateway", { url: gateway.url });
  assert.deepEqual(outcomes, ["TUNNEL_FAILED", "TUNNEL_FAILED"]);
  await gateway.kill();
});

test("the next connection after a restart of the gateway begins a new session", async () => {
  const port = await listen(echo);
  const gateway = await startGateway({ origin: scene.origin });
  await scene.page.evaluate(async (url) => {
    const { createTunnel } = await import("/muxgate/index.js");
    globalThis.tunnel = createTunnel({ url });
  }, gateway.url);
  const firstWord = () =>
    scene.page.evaluate(async (port) => (await import("/scenarios/failures.js")).firstWord({ tunnel, port }), port);
  assert.equal(await firstWord(), "again");
  await gateway.kill();
  await scene.page.evaluate(() => new Promise((resolve) => {
    if (tunnel.state === "idle") resolve();
    tunnel.addEventListener("statechange", () => resolve(), { once: true });
  }));
  const reborn = await startGateway({ origin: scene.origin, port: gateway.port });
  assert.equal(await firstWord(), "again");
  await reborn.kill();
});
