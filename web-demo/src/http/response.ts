import { type Body, type Sink, bodyAfter } from "./body.ts";
import { HttpError } from "./error.ts";
import { type Head, HeadReader } from "./head.ts";

/** Reads one response to a GET from pieces of bytes. */
export class ResponseReader {
  readonly #sink: Sink;
  #heads = new HeadReader();
  #head: Head | undefined;
  #body: Body | undefined;

  /** @param sink Takes the decoded content. */
  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Takes the next piece; throws an {@link HttpError} if it cannot be. */
  push(bytes: Uint8Array): void {
    let at = 0;
    while (!this.#body) {
      const cut = this.#heads.next(bytes, at);
      if (!cut) return;
      at = cut.next;
      this.#take(cut.head);
    }
    this.#body.push(bytes.subarray(at), this.#sink);
  }

  /** The connection has ended; throws if the response has not. */
  end(): void {
    if (this.#body) this.#body.end();
    else if (this.#heads.begun) throw new HttpError("The connection ended in the middle of the response's head.");
    else throw new HttpError("The server ended the connection without an answer.");
  }

  /** The final head, once it is there. */
  get head(): Head | undefined {
    return this.#head;
  }

  /** Length of the content in bytes, if the head told it. */
  get length(): number | undefined {
    return this.#body?.length;
  }

  get complete(): boolean {
    return this.#body?.complete ?? false;
  }

  #take(head: Head): void {
    if (head.status === 101) throw new HttpError("The server switched to another protocol, which nobody asked for.");
    if (head.status < 200) {
      // Something like “103 Early Hints”: the response proper follows.
      this.#heads = new HeadReader();
      return;
    }
    this.#head = head;
    this.#body = bodyAfter(head);
  }
}
