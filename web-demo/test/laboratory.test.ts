import assert from "node:assert/strict";
import { test } from "node:test";

import type { Socket, SocketStats, Tunnel, TunnelStats } from "muxgate";

import { Laboratory } from "../src/lab/laboratory.ts";

const SECOND = 1000;
const SOURCE = { hostname: "source", port: 1 };

/** A connection whose source sends when the test says so. */
class FakeSocket {
  readonly opened = Promise.resolve();
  readonly #waiting: ((bytes: number) => void)[] = [];
  unread = 0;
  window = 65536;

  constructor(readonly signal: AbortSignal | undefined) {}

  readonly readable = {
    getReader: () => ({
      read: (view: Uint8Array) =>
        new Promise((resolve) => {
          this.#waiting.push((bytes) => resolve({ done: false, value: view.subarray(0, bytes) }));
          this.send(0);
        }),
    }),
  };

  /** Bytes arrive; they are read as soon as somebody reads. */
  send(bytes: number): void {
    this.unread += bytes;
    if (this.unread === 0) return;
    const read = this.#waiting.shift();
    if (!read) return;
    read(this.unread);
    this.unread = 0;
  }

  stats(): SocketStats {
    return { window: this.window, unread: this.unread } as SocketStats;
  }
}

/** A tunnel of such connections, with numbers that the test sets. */
class FakeTunnel {
  readonly sockets: FakeSocket[] = [];
  numbers = { bytesSent: 0, bytesReceived: 0, adjustsSent: { lazy: 0, urgent: 0, must: 0 }, adjustsReceived: 0 };

  connect(_: unknown, { signal }: { signal?: AbortSignal } = {}): Socket {
    const socket = new FakeSocket(signal);
    this.sockets.push(socket);
    return socket as unknown as Socket;
  }

  stats(): TunnelStats {
    return structuredClone(this.numbers) as TunnelStats;
  }
}

/** Lets everything that waits for promises go on. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function laboratory(count: number): Promise<{ lab: Laboratory; tunnel: FakeTunnel; start: number }> {
  const tunnel = new FakeTunnel();
  const setup = { direction: "down", destination: SOURCE, echo: undefined, count } as const;
  const lab = new Laboratory(tunnel as unknown as Tunnel, setup);
  await settle();
  // Whole milliseconds, so that sums are exact.
  const start = Math.ceil(performance.now());
  lab.sample(start);
  return { lab, tunnel, start };
}

/** Every source sends this much, in two pieces. */
async function send(tunnel: FakeTunnel, bytes: number): Promise<void> {
  for (let half = 0; half < 2; half += 1) {
    for (const socket of tunnel.sockets) socket.send(bytes / 2);
    await settle();
  }
}

test("rates are those of the bytes that were read", async () => {
  const { lab, tunnel, start } = await laboratory(4);
  await send(tunnel, 100_000);
  const sample = lab.sample(start + SECOND);
  assert.deepEqual(sample.rates, [800_000, 800_000, 800_000, 800_000]);
  assert.equal(sample.sum, 3_200_000);
  assert.equal(sample.jain, 1);
  assert.deepEqual(sample.windows, [65536, 65536, 65536, 65536]);
});

test("a stalled reader reads no more, does not count as unfair, and is compared with before", async () => {
  const { lab, tunnel, start } = await laboratory(3);
  await send(tunnel, 100_000);
  lab.sample(start + SECOND);
  lab.stall(1, true);
  // The read that had begun still comes to its end.
  await send(tunnel, 2);
  lab.sample(start + SECOND);
  await send(tunnel, 100_000);
  const sample = lab.sample(start + 2 * SECOND);
  assert.equal(sample.rates[1], 0);
  assert.equal(sample.jain, 1);
  assert.equal(lab.stalled?.index, 1);
  assert.equal(lab.stalled?.unread, 100_001);
  assert.equal(lab.stalled?.othersBefore, 1_600_000);
  assert.equal(lab.stalled?.othersNow, 1_600_000);

  lab.stall(1, false);
  await settle();
  await settle();
  assert.equal(lab.flows[1]?.stats().unread, 0);
  assert.equal(lab.stalled, undefined);
  assert.deepEqual(
    lab.marks.map(({ label }) => label),
    ["stall 2", "resume 2"],
  );
});

test("WindowAdjust messages are counted a second, by class, and for each gigabyte", async () => {
  const { lab, tunnel, start } = await laboratory(1);
  tunnel.numbers = {
    bytesSent: 0,
    bytesReceived: 5e8,
    adjustsSent: { lazy: 30, urgent: 20, must: 1 },
    adjustsReceived: 4,
  };
  const { adjusts } = lab.sample(start + SECOND / 2);
  assert.deepEqual(adjusts, { lazy: 60, urgent: 40, must: 2, received: 8 });
  assert.equal(lab.adjustsPerGigabyte, 110);
});

test("fewer transfers end the last ones at once", async () => {
  const { lab, tunnel } = await laboratory(4);
  lab.resize(2);
  assert.deepEqual(
    tunnel.sockets.map(({ signal }) => signal?.aborted),
    [false, false, true, true],
  );
  lab.stop();
  assert.ok(tunnel.sockets.every(({ signal }) => signal?.aborted));
});

test("samples are kept for as long as the charts show them", async () => {
  const { lab, start } = await laboratory(1);
  for (let at = SECOND; at <= 100 * SECOND; at += SECOND) lab.sample(start + at);
  const span = (lab.samples.at(-1)?.at ?? 0) - (lab.samples[0]?.at ?? 0);
  assert.ok(span >= 60 * SECOND && span <= 61 * SECOND, `${span}`);
});
