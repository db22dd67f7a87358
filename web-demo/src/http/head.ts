import { HttpError } from "./error.ts";
import { LineReader } from "./lines.ts";

const LINE_LIMIT = 16 * 1024;
const HEADER_LIMIT = 200;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([^\0]*))?$/;
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0]*?)[ \t]*$/;

/** Status line and header fields of a response. */
export class Head {
  readonly headers: { name: string; value: string }[] = [];

  constructor(
    readonly minorVersion: number,
    readonly status: number,
    readonly reason: string,
  ) {}

  /** All values of a field in one, as a list with commas; undefined without any. */
  get(name: string): string | undefined {
    const values = this.headers.filter((header) => header.name.toLowerCase() === name).map((header) => header.value);
    return values.length > 0 ? values.join(", ") : undefined;
  }

  get statusLine(): string {
    return `HTTP/1.${this.minorVersion} ${this.status} ${this.reason}`.trimEnd();
  }
}

/** Collects the lines of a head. */
export class HeadReader {
  readonly #lines = new LineReader(LINE_LIMIT);
  #head: Head | undefined;

  /** The head if this piece completes it, and where the body begins. */
  next(bytes: Uint8Array, from: number): { head: Head; next: number } | undefined {
    for (let at = from; ;) {
      const cut = this.#lines.next(bytes, at);
      if (!cut) return undefined;
      at = cut.next;
      if (!this.#head) this.#head = parseStatusLine(cut.line);
      else if (cut.line === "") return { head: this.#head, next: at };
      else parseHeader(cut.line, this.#head);
    }
  }

  /** Whether anything has come. */
  get begun(): boolean {
    return this.#head !== undefined || this.#lines.pending;
  }
}

function parseStatusLine(line: string): Head {
  const match = STATUS_LINE.exec(line);
  if (!match) {
    throw new HttpError(`The server does not speak HTTP/1.1: its answer begins with “${line.slice(0, 60)}”.`);
  }
  return new Head(Number(match[1]), Number(match[2]), match[3] ?? "");
}

function parseHeader(line: string, head: Head): void {
  const last = head.headers.at(-1);
  // Folded lines are obsolete, and allowed in responses: they go on with the value before.
  if (last && /^[ \t]/.test(line)) {
    last.value = `${last.value} ${line.trim()}`.trim();
    return;
  }
  const match = HEADER_LINE.exec(line);
  if (!match) throw new HttpError(`The server sent a header field that is none: “${line.slice(0, 60)}”.`);
  if (head.headers.length >= HEADER_LIMIT)
    throw new HttpError(`The server sent more than ${HEADER_LIMIT} header fields.`);
  head.headers.push({ name: match[1] ?? "", value: match[2] ?? "" });
}
