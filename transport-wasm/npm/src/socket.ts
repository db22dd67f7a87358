import { Deferred, within } from "./deferred.js";
import { connectionReset, SocketError, toSocketError } from "./error.js";
import type { Channel } from "./generated/muxgate.js";
import { ReadSide } from "./read-side.js";
import { noSocketStats, socketStats } from "./stats.js";
import type { SecureTransport, Socket, SocketAddress, SocketInfo, SocketOptions, SocketStats } from "./types.js";
import { WriteSide } from "./write-side.js";

/** Opens the channel of a socket, unless the signal says that nobody wants it any more. */
export type OpenChannel = (address: SocketAddress, signal: AbortSignal) => Promise<Channel>;

/** How long `close()` tries to send what was accepted, in milliseconds. */
const CLOSE_DEADLINE = 10_000;

/** A socket through a tunnel. */
export class TunnelSocket implements Socket {
  readonly upgraded = false;
  readonly secureTransport: SecureTransport;
  readonly #address: SocketAddress;
  readonly #allowHalfOpen: boolean;
  readonly #opened = new Deferred<SocketInfo>();
  readonly #closed = new Deferred<void>();
  readonly #abandon = new AbortController();
  readonly #reads: ReadSide;
  readonly #writes: WriteSide;
  /** While it is open and not everything was read. */
  #channel: Channel | undefined;
  /** Resolves when nothing that is written can arrive any more. */
  #stopped: Promise<void> | undefined;
  #lastStats = noSocketStats();
  #closing: Promise<void> | undefined;
  #settled = false;

  constructor(open: OpenChannel, address: SocketAddress, options: SocketOptions = {}) {
    this.#address = address;
    this.secureTransport = options.secureTransport ?? "off";
    this.#allowHalfOpen = options.allowHalfOpen ?? false;
    const opening = this.#open(open, options.signal);
    this.#reads = new ReadSide(opening, {
      ended: () => this.#remoteEnded(),
      cancelled: () => this.#settleIfDone(),
      failed: (error) => this.breakOff(error),
    });
    this.#writes = new WriteSide(opening, options.highWaterMark, {
      ended: () => this.#settleIfDone(),
      aborted: (reason) => this.abort(reason),
    });
    opening.then((channel) => this.#started(channel), (error) => this.abort(error));
  }

  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#reads.stream;
  }

  get writable(): WritableStream<BufferSource | string> {
    return this.#writes.stream;
  }

  get opened(): Promise<SocketInfo> {
    return this.#opened.promise;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  close(_reason?: unknown): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  startTls(): Socket {
    if (this.secureTransport !== "starttls") {
      throw new TypeError('startTls needs a socket that was made with secureTransport: "starttls"');
    }
    return new TunnelSocket(() => Promise.reject(noTls()), this.#address);
  }

  stats(): SocketStats {
    return this.#channel ? socketStats(this.#channel) : this.#lastStats;
  }

  /** Ends everything at once. */
  abort(reason: unknown): void {
    this.#abandon.abort(reason);
    this.#channel?.reset();
    this.#reads.fail(reason);
    this.#writes.fail(reason);
    this.#settle(reason);
  }

  /** Nothing more will arrive or be written; what has arrived stays readable. */
  breakOff(reason: unknown): void {
    if (!this.#channel) return this.abort(reason);
    this.#writes.fail(reason);
    this.#settle(reason);
  }

  async #open(open: OpenChannel, signal: AbortSignal | undefined): Promise<Channel> {
    signal?.throwIfAborted();
    if (signal) {
      const abort = () => this.abort(signal.reason);
      signal.addEventListener("abort", abort);
      this.closed.catch(() => {}).then(() => signal.removeEventListener("abort", abort));
    }
    if (this.secureTransport === "on") throw noTls();
    return open(this.#address, this.#abandon.signal).catch((error) => {
      throw toSocketError(error);
    });
  }

  #started(channel: Channel): void {
    if (this.#settled) return channel.free();
    this.#channel = channel;
    const { hostname, port } = this.#address;
    this.#opened.resolve({ remoteAddress: `${hostname}:${port}`, localAddress: null, alpn: null });
    this.#reads.watch(channel);
    this.#stopped = channel.stopped() as Promise<void>;
    this.#stopped.then(() => this.#whyStopped(channel));
  }

  #remoteEnded(): void {
    if (!this.#allowHalfOpen) this.#writes.finish();
    this.#settleIfDone();
  }

  #settleIfDone(): void {
    if (this.#reads.done && this.#writes.done) this.#settle();
  }

  /** The channel was closed by the other side, or behind both ends of ours, or the session is over. */
  #whyStopped(channel: Channel): void {
    if (this.#settled) return;
    if (channel.wasReset) return this.breakOff(connectionReset());
    try {
      channel.room();
    } catch (error) {
      const reason = toSocketError(error) as SocketError;
      if (reason.code !== "CONNECTION_CLOSED") return this.breakOff(reason);
      this.#writes.fail(reason);
    }
    this.#settle();
  }

  /** Decides `closed`, and `opened` if it is not. */
  #settle(failure?: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#opened.reject(failure ?? closedHere());
    if (failure === undefined) this.#closed.resolve();
    else this.#closed.reject(failure);
    this.#reads.finished.then(() => this.#release());
  }

  /** Gives the channel back: nothing more is read or written. */
  #release(): void {
    if (!this.#channel) return;
    this.#lastStats = socketStats(this.#channel);
    this.#channel.free();
    this.#channel = undefined;
  }

  async #close(): Promise<void> {
    if (!this.#channel && this.#writes.idle) return this.#giveUp();
    const sent = await within(CLOSE_DEADLINE, this.#flush());
    if (sent === false) this.abort(new SocketError("CLOSED", "not all that was written could be sent before closing"));
    this.#settle();
  }

  #giveUp(): void {
    this.#abandon.abort(closedHere());
    this.#reads.close();
    this.#writes.fail(closedHere());
    this.#settle();
  }

  /** Ends both directions and waits until what was accepted is sent. */
  async #flush(): Promise<void> {
    // Before it is open, writes wait in the stream: they were promised too.
    await this.opened.catch(() => {});
    await this.#writes.finish();
    this.#reads.close();
    await this.#stopped;
  }
}

function closedHere(): SocketError {
  return new SocketError("CLOSED", "close() was called");
}

function noTls(): SocketError {
  return new SocketError(
    "TLS_UNAVAILABLE",
    "there is no TLS in the page: speak a protocol that encrypts by itself, or let the destination do without",
  );
}
