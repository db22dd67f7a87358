// The streams of a socket, as the Streams standard has them.

import { outcome } from "./failures.js";
import { noise, text } from "./transfer.js";

/** Reads into buffers of its own, of all kinds. */
export async function byob({ createTunnel, url, port }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const writer = socket.writable.getWriter();
  const sent = noise(10_000);
  await writer.write(sent);
  await writer.close();
  const reader = socket.readable.getReader({ mode: "byob" });
  const received = [];
  // With an offset, larger than what comes, of another type, and one byte.
  const views = [
    () => new Uint8Array(new ArrayBuffer(200), 100, 50),
    () => new DataView(new ArrayBuffer(30)),
    () => new Uint8Array(1),
    () => new Uint16Array(100),
    () => new Uint8Array(100_000),
  ];
  for (let round = 0; ; round++) {
    const view = views[Math.min(round, views.length - 1)]();
    const { done, value } = await reader.read(view);
    if (done) {
      const emptied = value?.byteLength;
      await socket.closed;
      await tunnel.close();
      return { same: received.length === sent.length && received.every((byte, at) => byte === sent[at]), emptied };
    }
    received.push(...new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }
}

/** Everything that may be written; returns what came back. */
export async function everyKind({ createTunnel, url, port }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const writer = socket.writable.getWriter();
  const letters = new TextEncoder().encode("-abcdefgh-");
  writer.write("é€😀 ");
  writer.write(letters.slice().buffer);
  writer.write(letters.subarray(1, 3));
  writer.write(new DataView(letters.buffer, 3, 2));
  writer.write(new Uint16Array(letters.buffer, 6, 1));
  writer.write(new Uint8ClampedArray(letters.buffer, 8, 1));
  writer.write(new Uint8Array(0));
  writer.write("");
  await writer.close();
  const received = await text(socket.readable);
  await tunnel.close();
  return received;
}

/** What cannot be written ends the socket with a `TypeError`. */
export async function noKind({ createTunnel, url, port }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const name = await socket.writable.getWriter().write(7).catch((error) => error.name);
  const closed = await socket.closed.catch((error) => error.name);
  await tunnel.close();
  return [name, closed];
}

/** Nobody reads: `ready` waits, and what was taken is bounded. */
export async function backPressure({ createTunnel, url, port }) {
  const tunnel = createTunnel({ url });
  const gone = new AbortController();
  const socket = tunnel.connect({ hostname: "127.0.0.1", port }, { highWaterMark: 1000, signal: gone.signal });
  await socket.opened;
  const writer = socket.writable.getWriter();
  const wanted = [writer.desiredSize];
  let taken = 0;
  let last;
  for (;;) {
    last = writer.write(new Uint8Array(50_000)).then(() => true, () => false);
    // Half a second without credit is for ever.
    if (!(await Promise.race([last, pause(500)]))) break;
    taken += 50_000;
  }
  wanted.push(writer.desiredSize);
  const { sendCredit } = socket.stats();
  const ready = outcome(writer.ready);
  gone.abort(Object.assign(new Error(), { code: "gone" }));
  const outcomes = [await ready, await last, await outcome(writer.closed), await outcome(socket.closed)];
  await tunnel.close();
  return { wanted, taken, sendCredit, outcomes };
}

/** Half of a download is enough. */
export async function cancel({ createTunnel, url, port, echo }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const reader = socket.readable.getReader();
  await reader.read();
  await reader.cancel("enough");
  await socket.writable.getWriter().close();
  const closed = await outcome(socket.closed);
  const other = tunnel.connect({ hostname: "127.0.0.1", port: echo });
  const writer = other.writable.getWriter();
  await writer.write("still here");
  await writer.close();
  const alive = await text(other.readable);
  await tunnel.close();
  return { closed, alive };
}

/** `close()` sends what was written, and nothing more can be written or read. */
export async function close({ createTunnel, url, port, bytes }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const writer = socket.writable.getWriter();
  const reader = socket.readable.getReader();
  writer.write(noise(bytes));
  await socket.close();
  const outcomes = await Promise.all([socket.opened, socket.closed, reader.closed, writer.write("x")].map(outcome));
  const twice = await outcome(socket.close());
  await tunnel.close();
  return { outcomes, twice, state: tunnel.state };
}

/** Closed before it was open, with nothing to send. */
export async function closeEarly({ createTunnel, url, port }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const reader = socket.readable.getReader();
  await socket.close();
  const outcomes = await Promise.all([socket.opened, socket.closed, reader.read()].map(outcome));
  await tunnel.close();
  return outcomes;
}

/** Signals of a connection: late, early, and of the tunnel. */
export async function signals({ createTunnel, url, port }) {
  const message = (promise) => promise.then(() => "resolved", (error) => error.message);
  const whole = new AbortController();
  const tunnel = createTunnel({ url, signal: whole.signal });
  const late = new AbortController();
  const socket = tunnel.connect({ hostname: "127.0.0.1", port }, { signal: late.signal });
  await socket.opened;
  const reading = message(socket.readable.getReader().read());
  late.abort(new Error("late"));
  const early = tunnel.connect({ hostname: "127.0.0.1", port }, { signal: AbortSignal.abort(new Error("early")) });
  const last = tunnel.connect({ hostname: "127.0.0.1", port });
  await last.opened;
  const lastReading = message(last.readable.getReader().read());
  whole.abort(new Error("whole"));
  return {
    late: [await reading, await message(socket.closed)],
    early: await Promise.all([early.opened, early.closed, early.readable.getReader().read()].map(message)),
    whole: [await lastReading, ...(await Promise.all([last.closed, tunnel.connect("a.invalid:1").opened].map(message)))],
    state: tunnel.state,
  };
}

/** Nothing is loaded or connected before the first connection, and importing alone does nothing. */
export async function lazy({ createTunnel, url, port }) {
  const states = [];
  const tunnel = createTunnel({ url });
  tunnel.addEventListener("statechange", () => states.push(tunnel.state));
  await pause(50);
  const before = [...states, tunnel.state];
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  // Legal before `opened`: it waits.
  const writer = socket.writable.getWriter();
  writer.write("queued");
  const during = tunnel.state;
  const { value } = await socket.readable.getReader().read();
  await tunnel.close();
  return { before, during, states, answer: new TextDecoder().decode(value) };
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
