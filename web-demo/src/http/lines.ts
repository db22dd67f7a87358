import { HttpError } from "./error.ts";

const LF = 0x0a;

/** Cuts lines out of pieces of bytes, wherever the pieces were cut. */
export class LineReader {
  #partial = "";

  /** @param limit Longest line, so that a server that never ends one cannot fill the memory. */
  constructor(readonly limit: number) {}

  /** The line that begins or goes on at `from`, and where the next one begins; undefined if this piece does not end it. */
  next(bytes: Uint8Array, from: number): { line: string; next: number } | undefined {
    const end = bytes.indexOf(LF, from);
    const stop = end < 0 ? bytes.length : end;
    if (this.#partial.length + stop - from > this.limit) {
      throw new HttpError(`The server sent a line of more than ${this.limit} bytes where HTTP has short ones.`);
    }
    this.#partial += latin1(bytes.subarray(from, stop));
    if (end < 0) return undefined;
    const line = this.#partial.endsWith("\r") ? this.#partial.slice(0, -1) : this.#partial;
    this.#partial = "";
    if (line.includes("\r")) throw new HttpError("The server sent a line with a carriage return in its middle.");
    return { line, next: end + 1 };
  }

  /** Whether a line has begun. */
  get pending(): boolean {
    return this.#partial !== "";
  }
}

/** One character for each byte. `TextDecoder` has windows-1252 under the name of latin1, which loses some. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
