import type { Socket, SocketStats, Tunnel } from "muxgate";

import type { Address } from "../tunnel/address.ts";

import { RateMeter } from "../measure/rate.ts";
import { Gate } from "./gate.ts";

export type Direction = "down" | "up";
export type FlowState = "opening" | "running" | "stalled" | "ended" | "failed";

/** One read: as much as a busy channel has ready. */
const READ_BYTES = 256 * 1024;
/** One write. Larger ones would only be cut in pieces. */
const WRITE_BYTES = 64 * 1024;
/** Rates are shown over the last second, so that a number can be read before it changes. */
const RATE_WINDOW = 1000;

/** One bulk transfer of the laboratory. */
export class Flow {
  readonly meter = new RateMeter(RATE_WINDOW);
  readonly #socket: Socket;
  readonly #end = new AbortController();
  readonly #gate = new Gate();
  #state: Exclude<FlowState, "stalled"> = "opening";
  #error: unknown;
  #read = 0;

  constructor(
    tunnel: Tunnel,
    destination: Address,
    readonly direction: Direction,
  ) {
    this.#socket = tunnel.connect(destination, { signal: this.#end.signal });
    this.#run().then(
      () => (this.#state = "ended"),
      (error: unknown) => {
        this.#state = "failed";
        this.#error = error;
      },
    );
  }

  get state(): FlowState {
    return this.#state === "running" && this.#gate.shut ? "stalled" : this.#state;
  }

  /** Why it failed. */
  get error(): unknown {
    return this.#error;
  }

  /** Whether this page does not read at the moment. */
  get stalled(): boolean {
    return this.#gate.shut;
  }

  set stalled(stalled: boolean) {
    this.#gate.shut = stalled;
  }

  /** Bytes that this page has read, or that the tunnel has sent. */
  get bytes(): number {
    return this.direction === "down" ? this.#read : this.stats().bytesSent;
  }

  stats(): SocketStats {
    return this.#socket.stats();
  }

  /** Ends the transfer in mid-air. */
  stop(): void {
    this.stalled = false;
    this.#end.abort();
  }

  async #run(): Promise<void> {
    await this.#socket.opened;
    this.#state = "running";
    await (this.direction === "down" ? this.#pull() : this.#push());
  }

  async #pull(): Promise<void> {
    const reader = this.#socket.readable.getReader({ mode: "byob" });
    let buffer = new ArrayBuffer(READ_BYTES);
    for (;;) {
      await this.#gate.pass();
      const { value, done } = await reader.read(new Uint8Array(buffer));
      if (done) return;
      this.#read += value.byteLength;
      buffer = value.buffer;
    }
  }

  async #push(): Promise<void> {
    const writer = this.#socket.writable.getWriter();
    const piece = new Uint8Array(WRITE_BYTES);
    for (;;) {
      await writer.ready;
      await writer.write(piece);
    }
  }
}
