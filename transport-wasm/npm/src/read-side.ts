import { Deferred } from "./deferred.js";
import { connectionReset, toSocketError } from "./error.js";
import type { Channel } from "./generated/muxgate.js";

/** What the socket wants to know of its receiving direction. */
export interface ReadEvents {
  /** The other side has ended it, and everything was read. */
  ended(): void;
  /** The page reads no more. */
  cancelled(): void;
  /** It was broken off. */
  failed(error: unknown): void;
}

/** The largest chunk for a reader that brings no buffer, in bytes. */
const MAX_CHUNK = 256 * 1024;

/**
 * The receiving direction of a socket as a byte stream.
 *
 * Nothing is read ahead: what the page does not ask for stays in wasm memory, where the window bounds it.
 */
export class ReadSide {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Nothing more will be read. */
  done = false;
  readonly #finished = new Deferred<void>();
  readonly #opening: Promise<Channel>;
  readonly #events: ReadEvents;
  #controller!: ReadableByteStreamController;
  #channel: Channel | undefined;
  /** Whether there is something to read: always asked, so that an end is noticed though nobody reads. */
  #more: Promise<boolean> = Promise.resolve(false);

  constructor(opening: Promise<Channel>, events: ReadEvents) {
    this.#opening = opening;
    this.#events = events;
    this.stream = new ReadableStream(
      {
        type: "bytes",
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => {
          this.#finish();
          this.#events.cancelled();
        },
      },
      { highWaterMark: 0 },
    ) as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  /** Resolves when nothing more will be read. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /** The channel is open. */
  watch(channel: Channel): void {
    if (this.done) return channel.cancel();
    this.#channel = channel;
    this.#ask(channel);
  }

  /** Ends the stream in good order, dropping what was not read. */
  close(): void {
    if (this.done) return;
    this.#finish();
    this.#controller.close();
    // A reader that brought a buffer gets it back.
    this.#controller.byobRequest?.respond(0);
  }

  fail(reason: unknown): void {
    if (this.done) return;
    this.#finish();
    this.#controller.error(reason);
  }

  #ask(channel: Channel): void {
    this.#more = channel.readable() as Promise<boolean>;
    this.#more.then(
      (more) => more || this.#ended(),
      (error) => this.#failed(toSocketError(error)),
    );
  }

  async #pull(): Promise<void> {
    const channel = await this.#opening;
    if (!(await this.#more) || this.done) return;
    const request = this.#controller.byobRequest;
    if (request) {
      request.respond(channel.read(request.view));
    } else {
      const chunk = new Uint8Array(Math.min(channel.available(), MAX_CHUNK));
      channel.read(chunk);
      this.#controller.enqueue(chunk);
    }
    this.#ask(channel);
  }

  #ended(): void {
    if (this.done) return;
    if (this.#channel?.wasReset) return this.#failed(connectionReset());
    this.close();
    this.#events.ended();
  }

  #failed(error: unknown): void {
    if (this.done) return;
    this.fail(error);
    this.#events.failed(error);
  }

  #finish(): void {
    this.done = true;
    this.#channel?.cancel();
    this.#finished.resolve();
  }
}
