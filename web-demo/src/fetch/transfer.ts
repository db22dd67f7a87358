import type { Tunnel } from "muxgate";

import type { Head } from "../http/head.ts";
import { InputError } from "../tunnel/address.ts";
import type { Request } from "../http/request.ts";
import { ResponseReader } from "../http/response.ts";
import { Digest } from "../measure/digest.ts";
import { RateMeter } from "../measure/rate.ts";

const READ_BYTES = 256 * 1024;
/** Of the body, for a look at it. */
const PREVIEW_BYTES = 4 * 1024;

/** One GET through the tunnel. Its fields say how far it is. */
export class Transfer {
  head: Head | undefined;
  /** Length of the content in bytes, if the server said. */
  length: number | undefined;
  /** Bytes of content so far. */
  received = 0;
  /** The beginning of the content. */
  preview = new Uint8Array();
  /** Milliseconds from the request to the head. */
  firstByte = Number.NaN;
  /** Milliseconds from the request until now, or to the end. */
  elapsed = 0;
  ended = false;
  readonly #meter = new RateMeter(1000);
  readonly #digest = new Digest();
  readonly #started = performance.now();
  readonly #reader = new ResponseReader((content) => this.#take(content));
  readonly #end = new AbortController();

  /** Fetches, and returns the SHA-256 of the content in hexadecimal. */
  async run(tunnel: Tunnel, request: Request): Promise<string> {
    const socket = tunnel.connect(request, { signal: this.#end.signal });
    try {
      const writer = socket.writable.getWriter();
      await writer.write(request.head);
      await this.#read(socket.readable.getReader({ mode: "byob" }));
      return await this.#digest.finish();
    } finally {
      this.tick(performance.now());
      this.ended = true;
      // Whatever comes behind the response, nobody wants it.
      this.#end.abort();
      this.#digest.close();
    }
  }

  cancel(): void {
    this.#end.abort(new InputError("Cancelled."));
  }

  /** Notes where it is, for the rate. */
  tick(now: number): void {
    this.elapsed = now - this.#started;
    this.#meter.note(this.received, now);
  }

  /** In bits a second: of the last moments, or of all when it has ended. */
  get rate(): number {
    return this.ended ? (this.received * 8000) / this.elapsed : this.#meter.perSecond * 8;
  }

  async #read(reader: ReadableStreamBYOBReader): Promise<void> {
    let buffer = new ArrayBuffer(READ_BYTES);
    while (!this.#reader.complete) {
      const { value, done } = await reader.read(new Uint8Array(buffer));
      if (done) {
        this.#reader.end();
        break;
      }
      this.#reader.push(value);
      if (this.#reader.head && !this.head) this.#takeHead();
      await this.#digest.ready();
      buffer = value.buffer;
    }
  }

  #takeHead(): void {
    this.head = this.#reader.head;
    this.length = this.#reader.length;
    this.firstByte = performance.now() - this.#started;
  }

  #take(content: Uint8Array): void {
    this.received += content.length;
    if (this.preview.length < PREVIEW_BYTES) {
      this.preview = Uint8Array.from([...this.preview, ...content.subarray(0, PREVIEW_BYTES - this.preview.length)]);
    }
    this.#digest.update(content);
  }
}
