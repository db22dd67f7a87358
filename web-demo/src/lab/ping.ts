import type { Socket, Tunnel } from "muxgate";

import { type Address, InputError } from "../tunnel/address.ts";

/** Between an answer and the next question, in milliseconds: often enough for a chart, too rare to be a load. */
const PAUSE = 50;

/** One byte there and back through an echo service, over and over. */
export class Ping {
  #done: number[] = [];
  #asked: number | undefined;
  #error: unknown;
  readonly #socket: Socket;
  readonly #end = new AbortController();

  constructor(tunnel: Tunnel, echo: Address) {
    this.#socket = tunnel.connect(echo, { signal: this.#end.signal });
    this.#run().catch((error: unknown) => (this.#error = error));
  }

  /** Why there are no more pings. */
  get error(): unknown {
    return this.#error;
  }

  /**
   * Times of the pings since the last call, in milliseconds. One that has been on its way for long counts with its
   * age: without it, the worst moments would be those that are not seen.
   */
  take(now: number, overdue: number): number[] {
    const times = this.#done;
    this.#done = [];
    const age = this.#asked === undefined ? 0 : now - this.#asked;
    return age > overdue ? [...times, age] : times;
  }

  stop(): void {
    this.#end.abort();
  }

  async #run(): Promise<void> {
    await this.#socket.opened;
    const reader = this.#socket.readable.getReader();
    const writer = this.#socket.writable.getWriter();
    for (;;) {
      this.#asked = performance.now();
      await writer.write(Uint8Array.of(0x2e));
      const { done } = await reader.read();
      if (done) throw new InputError("The echo service ended its connection.");
      this.#done.push(performance.now() - this.#asked);
      this.#asked = undefined;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}
