import type { Socket } from "muxgate";

/** A connection that a person talks over, with what is counted about it. */
export class Conversation extends EventTarget {
  sent = 0;
  received = 0;
  /** Whether our direction has ended. */
  sendingEnded = false;
  /** Whether the person closes it. */
  closing = false;
  wasOpen = false;
  readonly #writer: WritableStreamDefaultWriter<BufferSource | string>;

  constructor(readonly socket: Socket) {
    super();
    this.#writer = socket.writable.getWriter();
  }

  /** Whether something can be sent now. */
  get sending(): boolean {
    return this.wasOpen && !this.sendingEnded && !this.closing;
  }

  /** Resolves when it is open, rejects with why it will not be. */
  async opened(): Promise<void> {
    await this.socket.opened;
    this.wasOpen = true;
    this.#changed();
  }

  /** Hands every piece to `take` until the destination has ended its direction. */
  async read(take: (bytes: Uint8Array) => void): Promise<void> {
    const reader = this.socket.readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      this.received += value.byteLength;
      take(value);
      this.#changed();
    }
    this.#changed();
  }

  /** Resolves when the tunnel has taken the bytes. */
  async send(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#writer.ready;
    await this.#writer.write(bytes);
    this.sent += bytes.byteLength;
    this.#changed();
  }

  /** Sends a file piece by piece: at no time more of it is in memory than the tunnel takes. */
  async sendFile(file: File): Promise<void> {
    const reader = file.stream().getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      await this.send(value);
    }
  }

  /** Ends our direction after what was sent; the other one stays open. */
  async endSending(): Promise<void> {
    this.sendingEnded = true;
    this.#changed();
    await this.#writer.close();
  }

  async close(): Promise<void> {
    this.closing = true;
    this.#changed();
    await this.socket.close();
  }

  #changed(): void {
    this.dispatchEvent(new Event("change"));
  }
}
