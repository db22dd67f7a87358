import assert from "node:assert/strict";
import { test } from "node:test";

import { createTunnel, SocketError } from "muxgate";

import { FakeWebSocket, tasks } from "./fake.mjs";

/** The WebSocket that a tunnel with these options opens. */
async function dialled(options) {
  const stop = new AbortController();
  const tunnel = createTunnel({ url: "ws://gateway.example", WebSocket: FakeWebSocket, signal: stop.signal, ...options });
  await tunnel.connect("a:1").opened;
  const fake = FakeWebSocket.last;
  stop.abort(new Error("stop"));
  return fake;
}

test("a gateway's URL", async () => {
  const urls = {
    "ws://gateway.example": "ws://gateway.example/jet/jmux",
    "https://gateway.example/": "wss://gateway.example/jet/jmux",
    "wss://gateway.example:8443/other?a=b#c": "wss://gateway.example:8443/other?a=b",
  };
  for (const [url, expected] of Object.entries(urls)) assert.equal((await dialled({ url })).url, expected);
});

test("no token, no subprotocol: deployed gateways answer none", async () => {
  assert.equal((await dialled({})).protocols, undefined);
});

test("a token is a subprotocol, in base64url", async () => {
  const { url, protocols } = await dialled({ token: "ÿ>?~" });
  assert.deepEqual(protocols, ["muxgate.jmux", "muxgate.token.w78-P34"]);
  assert.equal(url, "ws://gateway.example/jet/jmux");
});

test("a token in the URL, and other subprotocols", async () => {
  const { url, protocols } = await dialled({ token: async () => "a b&c", tokenIn: "query", protocols: "v1" });
  assert.equal(url, "ws://gateway.example/jet/jmux?token=a+b%26c");
  assert.deepEqual(protocols, ["v1"]);
});

test("a token that cannot be had", async () => {
  const token = () => {
    throw new Error("no token today");
  };
  await assert.rejects(dialled({ token }), { message: "no token today" });
});

test("a WebSocket that the browser refuses to make", async () => {
  class Refusing {
    constructor() {
      throw new DOMException("An insecure WebSocket connection may not be initiated.", "SecurityError");
    }
  }
  await assert.rejects(dialled({ WebSocket: Refusing }), (error) => {
    assert.ok(error instanceof SocketError && error instanceof TypeError);
    assert.equal(error.code, "TUNNEL_FAILED");
    assert.match(error.message, /^SocketError: the browser refuses .*insecure WebSocket/);
    return true;
  });
});

test("no WebSocket at all", async () => {
  const tunnel = createTunnel({ url: "ws://gateway.example", WebSocket: globalThis.WebSocket ? class {} : undefined });
  if (!globalThis.WebSocket) await assert.rejects(tunnel.connect("a:1").opened, { code: "INVALID_OPTION" });
});

test("codes and reasons reach everybody, and handlers are gone", async () => {
  const tunnel = createTunnel({ url: "ws://gateway.example", WebSocket: FakeWebSocket });
  const socket = tunnel.connect("a:1");
  await socket.opened;
  const fake = FakeWebSocket.last;
  fake.onclose({ code: 4001, reason: "maintenance" });
  await assert.rejects(socket.closed, { code: "TUNNEL_FAILED", closeCode: 4001, closeReason: "maintenance" });
  await tasks();
  assert.ok(!fake.onmessage && !fake.onclose);
  assert.equal(tunnel.state, "idle");
  assert.equal(tunnel.error.closeReason, "maintenance");
});

test("a gateway that sends text, or no JMUX", async () => {
  for (const [data, code] of [["text", "TUNNEL_FAILED"], [new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer, "PROTOCOL_ERROR"]]) {
    const tunnel = createTunnel({ url: "ws://gateway.example", WebSocket: FakeWebSocket });
    const socket = tunnel.connect("a:1");
    await socket.opened;
    FakeWebSocket.last.onmessage({ data });
    await assert.rejects(socket.closed, { code });
    await tasks();
    assert.deepEqual(FakeWebSocket.last.closed, [4000]);
  }
});

test("a tunnel that is closed while it connects", async () => {
  class Slow extends FakeWebSocket {
    opens() {}
  }
  const tunnel = createTunnel({ url: "ws://gateway.example", WebSocket: Slow });
  const socket = tunnel.connect("a:1");
  await tasks();
  await tunnel.close();
  await assert.rejects(socket.opened, { code: "CLOSED" });
  await tasks();
  assert.equal(Slow.last.closed.length, 1);
});

test("a tunnel that shall not reconnect", async () => {
  const tunnel = createTunnel({ url: "ws://gateway.example", WebSocket: FakeWebSocket, reconnect: false });
  await tunnel.connect("a:1").opened;
  FakeWebSocket.last.onclose({ code: 1006, reason: "" });
  await tasks();
  assert.equal(tunnel.state, "closed");
  await assert.rejects(tunnel.connect("a:1").opened, { code: "TUNNEL_FAILED" });
});

test("a wasm file that cannot be loaded says what to do, and can be tried again", async () => {
  const { default: child } = await import("node:child_process");
  const script = `
    import { createTunnel } from "muxgate/slim";
    import { FakeWebSocket } from "./test/fake.mjs";
    import { readFileSync } from "node:fs";
    let wasm = "data:text/html,not found";
    const tunnel = createTunnel({ url: "ws://a", WebSocket: FakeWebSocket, wasm: () => wasm });
    const first = await tunnel.connect("a:1").opened.catch((error) => error.code + " " + /muxgate.inline/.test(error.message));
    wasm = readFileSync("dist/muxgate.wasm");
    await tunnel.connect("a:1").opened;
    console.log(first);
    process.exit();
  `;
  const output = child.execFileSync("node", ["--input-type=module", "--eval", script], { encoding: "utf8" });
  assert.equal(output, "WASM_FAILED true\n");
});
