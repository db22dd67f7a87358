/** Bytes on their way to the worker beyond which {@link Digest.ready} waits: enough to keep it busy. */
const MAX_OUTSTANDING = 4 * 1024 * 1024;

/** A SHA-256 of bytes that come piece by piece, in a worker, so that the page stays quick. */
export class Digest {
  readonly #worker = new Worker(new URL("./digest.worker.ts", import.meta.url), { type: "module" });
  readonly #result: Promise<string>;
  #outstanding = 0;
  #ready = (): void => undefined;

  constructor() {
    this.#result = new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }: MessageEvent<number | string>) => {
        if (typeof data === "string") return resolve(data);
        this.#outstanding -= data;
        if (this.#outstanding <= MAX_OUTSTANDING / 2) this.#ready();
      };
      this.#worker.onerror = (event) => reject(new Error(`The digest could not be calculated: ${event.message}`));
    });
    // Whoever gives up before the end does not ask for the result.
    this.#result.catch(() => undefined);
  }

  /** Takes the next bytes, which may be changed at once afterwards. */
  update(bytes: Uint8Array): void {
    const copy = bytes.slice();
    this.#outstanding += copy.byteLength;
    this.#worker.postMessage(copy, [copy.buffer]);
  }

  /** Wait for it between updates: it keeps what is on the way to the worker bounded. One waiter at a time. */
  async ready(): Promise<void> {
    if (this.#outstanding <= MAX_OUTSTANDING) return;
    const ready = new Promise<void>((resolve) => (this.#ready = resolve));
    // The result comes first only if the worker has failed.
    await Promise.race([ready, this.#result]);
  }

  /** The digest in hexadecimal. */
  async finish(): Promise<string> {
    this.#worker.postMessage("finish");
    return this.#result;
  }

  /** Frees the worker. */
  close(): void {
    this.#worker.terminate();
  }
}
