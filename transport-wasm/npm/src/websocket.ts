import { sizeOf, toBytes } from "./bytes.js";
import type { Socket } from "./types.js";

type Handler = ((event: any) => void) | null;

/**
 * A socket in the shape of a WebSocket (and of an RTCDataChannel), for libraries that want one: noVNC, xterm.js.
 *
 * The remote's bytes arrive as binary messages, in whatever pieces they come. Like a WebSocket it cannot be paused: a
 * page that has a choice reads `socket.readable`.
 */
export class SocketWebSocket extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSING = 2;
  readonly CLOSED = 3;

  binaryType: "arraybuffer" | "blob" = "arraybuffer";
  readonly extensions = "";
  readonly protocol = "";
  readonly url: string;
  onopen: Handler = null;
  onmessage: Handler = null;
  onerror: Handler = null;
  onclose: Handler = null;
  readonly #socket: Socket;
  readonly #writer: WritableStreamDefaultWriter<BufferSource | string>;
  #readyState: 0 | 1 | 2 | 3 = 0;
  #bufferedAmount = 0;

  /** Takes the socket over. `url` is only for those who ask. */
  constructor(socket: Socket, url = "") {
    super();
    this.#socket = socket;
    this.url = url;
    this.#writer = socket.writable.getWriter();
    this.#run();
  }

  get readyState(): 0 | 1 | 2 | 3 {
    return this.#readyState;
  }

  get bufferedAmount(): number {
    return this.#bufferedAmount;
  }

  send(data: BufferSource | string): void {
    if (this.#readyState === this.CONNECTING) throw new DOMException("the socket is not open yet", "InvalidStateError");
    const size = typeof data === "string" ? toBytes(data).byteLength : sizeOf(data);
    this.#bufferedAmount += size;
    if (this.#readyState !== this.OPEN) return;
    const sent = () => {
      this.#bufferedAmount -= size;
    };
    // A failure ends the socket, and `close` tells.
    this.#writer.write(data).then(sent, sent);
  }

  close(_code?: number, _reason?: string): void {
    if (this.#readyState >= this.CLOSING) return;
    this.#readyState = this.CLOSING;
    this.#socket.close();
  }

  async #run(): Promise<void> {
    try {
      await this.#socket.opened;
      if (this.#readyState === this.CONNECTING) this.#readyState = this.OPEN;
      this.#dispatch(new Event("open"));
      for await (const chunk of this.#socket.readable) {
        if (this.#readyState !== this.OPEN) break;
        this.#dispatch(new MessageEvent("message", { data: this.#message(chunk) }));
      }
      await this.#socket.closed;
      this.#ended(true, 1000, "");
    } catch (error) {
      this.#dispatch(new Event("error"));
      this.#ended(false, 1006, error instanceof Error ? error.message : String(error));
    }
  }

  #message(chunk: Uint8Array<ArrayBuffer>): ArrayBuffer | Blob {
    return this.binaryType === "blob" ? new Blob([chunk]) : chunk.buffer;
  }

  #ended(wasClean: boolean, code: number, reason: string): void {
    this.#readyState = this.CLOSED;
    this.#dispatch(Object.assign(new Event("close"), { wasClean, code, reason }));
  }

  #dispatch(event: Event): void {
    this.dispatchEvent(event);
    const handler = this[`on${event.type}` as "onopen" | "onmessage" | "onerror" | "onclose"];
    handler?.call(this, event);
  }
}
