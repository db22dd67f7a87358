import { HttpError } from "./error.ts";
import type { Head } from "./head.ts";
import { LineReader } from "./lines.ts";

/** Takes the decoded bytes of a body. */
export type Sink = (bytes: Uint8Array) => void;

/** Where a body ends, and what of the bytes is content. */
export interface Body {
  /** Takes one piece; what comes after the end is ignored. */
  push(bytes: Uint8Array, sink: Sink): void;
  /** The connection has ended: throws if the body has not. */
  end(): void;
  readonly complete: boolean;
  /** Length of the content in bytes where the head told it. */
  readonly length: number | undefined;
}

/** The body that a head announces (RFC 9112, section 6.3). */
export function bodyAfter(head: Head): Body {
  if (head.status === 204 || head.status === 304) return new FixedBody(0);
  const coding = head.get("transfer-encoding");
  if (coding !== undefined) {
    if (coding.toLowerCase() === "chunked") return new ChunkedBody();
    throw new HttpError(`The server used the transfer coding “${coding}”, which nobody asked for.`);
  }
  const length = contentLength(head);
  return length === undefined ? new UnboundedBody() : new FixedBody(length);
}

function contentLength(head: Head): number | undefined {
  const field = head.get("content-length");
  if (field === undefined) return undefined;
  // A proxy may have joined several fields; they have to agree.
  const [first = "", ...others] = field.split(",").map((value) => value.trim());
  if (!/^\d{1,15}$/.test(first) || others.some((value) => value !== first)) {
    throw new HttpError(`The server said two lengths, or none that makes sense: “${field.slice(0, 60)}”.`);
  }
  return Number(first);
}

class FixedBody implements Body {
  #left: number;

  constructor(readonly length: number) {
    this.#left = length;
  }

  push(bytes: Uint8Array, sink: Sink): void {
    const content = bytes.subarray(0, this.#left);
    this.#left -= content.length;
    if (content.length > 0) sink(content);
  }

  end(): void {
    if (!this.complete) throw new HttpError(`The connection ended ${this.#left} bytes too early.`);
  }

  get complete(): boolean {
    return this.#left === 0;
  }
}

/** Ends with the connection. */
class UnboundedBody implements Body {
  complete = false;
  readonly length = undefined;

  push(bytes: Uint8Array, sink: Sink): void {
    if (bytes.length > 0) sink(bytes);
  }

  end(): void {
    this.complete = true;
  }
}

/** Longest line between chunks: sizes, their extensions, and trailers. */
const CHUNK_LINE_LIMIT = 8 * 1024;
const TRAILER_LIMIT = 100;

class ChunkedBody implements Body {
  readonly length = undefined;
  readonly #lines = new LineReader(CHUNK_LINE_LIMIT);
  #expect: "size" | "data" | "after data" | "trailer" | "nothing" = "size";
  #left = 0;
  #trailers = 0;

  push(bytes: Uint8Array, sink: Sink): void {
    for (let at = 0; at < bytes.length && !this.complete;) {
      if (this.#expect === "data") {
        const content = bytes.subarray(at, at + this.#left);
        this.#left -= content.length;
        at += content.length;
        if (this.#left === 0) this.#expect = "after data";
        sink(content);
      } else {
        const cut = this.#lines.next(bytes, at);
        if (!cut) return;
        at = cut.next;
        this.#line(cut.line);
      }
    }
  }

  end(): void {
    if (!this.complete) throw new HttpError("The connection ended in the middle of a chunked body.");
  }

  get complete(): boolean {
    return this.#expect === "nothing";
  }

  #line(line: string): void {
    if (this.#expect === "size") {
      this.#left = chunkSize(line);
      this.#expect = this.#left === 0 ? "trailer" : "data";
    } else if (this.#expect === "after data") {
      if (line !== "") throw new HttpError("A chunk of the body is longer than the server said.");
      this.#expect = "size";
    } else if (line === "") {
      this.#expect = "nothing";
    } else if (++this.#trailers > TRAILER_LIMIT) {
      throw new HttpError(`The server sent more than ${TRAILER_LIMIT} trailer fields.`);
    }
  }
}

function chunkSize(line: string): number {
  // Twelve hexadecimal digits are 256 TB, and exact as a number.
  const digits = /^([0-9a-fA-F]{1,12})[ \t]*(?:;.*)?$/.exec(line)?.[1];
  if (digits === undefined) throw new HttpError(`The server sent a chunk without a size: “${line.slice(0, 60)}”.`);
  return Number.parseInt(digits, 16);
}
