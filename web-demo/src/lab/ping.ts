import type { Socket } from "muxgate";

/** Between an answer and the next question, in milliseconds: often enough for a chart, too rare to be a load. */
const PAUSE = 50;

/** One byte there and back through an echo service, over and over. */
export class Ping {
  #done: number[] = [];
  #asked: number | undefined;
  #error: unknown;
  #stopped = false;

  constructor(readonly socket: Socket) {
    this.#run().catch((error: unknown) => (this.#error = error));
  }

  /** Why there are no more pings. */
  get error(): unknown {
    return this.#stopped ? undefined : this.#error;
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
    this.#stopped = true;
    this.socket.close().catch(() => undefined);
  }

  async #run(): Promise<void> {
    await this.socket.opened;
    const reader = this.socket.readable.getReader();
    const writer = this.socket.writable.getWriter();
    while (!this.#stopped) {
      this.#asked = performance.now();
      await writer.write(Uint8Array.of(0x2e));
      const { done } = await reader.read();
      if (done) throw new Error("the echo service ended the connection");
      this.#done.push(performance.now() - this.#asked);
      this.#asked = undefined;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}
