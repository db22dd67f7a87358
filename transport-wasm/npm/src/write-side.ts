import { sizeOf, toBytes } from "./bytes.js";
import { Deferred } from "./deferred.js";
import { SocketError, toSocketError } from "./error.js";
import type { Channel } from "./generated/muxgate.js";

/** What the socket wants to know of its sending direction. */
export interface WriteEvents {
  /** The page has ended it, or `finish` has. */
  ended(): void;
  /** The page gave it up, or wrote what cannot be written. */
  aborted(reason: unknown): void;
}

/** Bytes that wait before `ready` says no: one message. */
const HIGH_WATER_MARK = 64 * 1024;

/** The sending direction of a socket. A write is done when the tunnel has taken its bytes. */
export class WriteSide {
  readonly stream: WritableStream<BufferSource | string>;
  /** Nothing more will be written. */
  done = false;
  readonly #opening: Promise<Channel>;
  readonly #events: WriteEvents;
  readonly #ended = new Deferred<void>();
  #controller!: WritableStreamDefaultController;
  /** Chunks that were written and not taken. */
  #pending = 0;
  #finishing = false;

  constructor(opening: Promise<Channel>, highWaterMark = HIGH_WATER_MARK, events: WriteEvents) {
    this.#opening = opening;
    this.#events = events;
    this.stream = new WritableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        write: (chunk) => this.#write(chunk),
        close: () => this.#end(),
        abort: (reason) => events.aborted(reason),
      },
      {
        highWaterMark,
        // Called for each write at once, while the sink sees it only when the ones before are done.
        size: (chunk) => {
          this.#pending++;
          return sizeOf(chunk);
        },
      },
    );
  }

  /** Nothing that was written waits. */
  get idle(): boolean {
    return this.#pending === 0;
  }

  /** Ends the direction behind everything that was written. Never rejects. */
  async finish(): Promise<void> {
    if (this.done) return;
    if (this.stream.locked) {
      // Only its writer may close the stream; the direction can end all the same.
      this.#finishing = true;
      this.#endIfIdle();
    } else {
      // Fails if it is being closed already.
      this.stream.close().catch(() => {});
    }
    await this.#ended.promise;
  }

  fail(reason: unknown): void {
    if (this.done) return;
    this.#finish();
    this.#controller.error(reason);
  }

  async #write(chunk: unknown): Promise<void> {
    try {
      let bytes = toBytes(chunk);
      const channel = await this.#opening;
      while (bytes.byteLength > 0) {
        if (this.done) throw new SocketError("WRITE_AFTER_END", "this direction of the socket has ended");
        const room = channel.room();
        if (room === 0) {
          await channel.writable();
        } else {
          channel.push(bytes.subarray(0, room));
          bytes = bytes.subarray(room);
        }
      }
    } catch (error) {
      const reason = toSocketError(error);
      if (reason instanceof TypeError && !(reason instanceof SocketError)) this.#events.aborted(reason);
      throw reason;
    } finally {
      this.#pending--;
      this.#endIfIdle();
    }
  }

  #endIfIdle(): void {
    // Fails if the socket could not be opened, which ends this side too.
    if (this.#finishing && this.idle) this.#end().catch(() => {});
  }

  async #end(): Promise<void> {
    const channel = await this.#opening;
    if (this.done) return;
    channel.finish();
    this.#finish();
    this.#events.ended();
  }

  #finish(): void {
    this.done = true;
    this.#ended.resolve();
  }
}
