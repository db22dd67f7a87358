// What people see, apart from the code behind it: no declaration of the wasm module reaches a page's type check.

/** Where a socket leads. */
export interface SocketAddress {
  /** A name, an IPv4 address, or an IPv6 address with or without brackets. The gateway resolves names. */
  hostname: string;
  port: number;
}

/** As the WinterTC Sockets API and `cloudflare:sockets` have it, and a signal. */
export interface SocketOptions {
  /** "on" and "starttls" are for libraries that look: see `startTls`. */
  secureTransport?: SecureTransport;
  /** Whether `writable` stays usable after the other side has ended; false. */
  allowHalfOpen?: boolean;
  /** Bytes that may wait in `writable` before its `ready` says no; 65,536. */
  highWaterMark?: number;
  /** Ends the connection at once. */
  signal?: AbortSignal;
}

export type SecureTransport = "on" | "off" | "starttls";

export interface SocketInfo {
  /** Where the socket leads, as it was asked for: the gateway does not tell the address. */
  remoteAddress: string;
  localAddress: string | null;
  alpn: string | null;
}

/** One TCP connection from the gateway to a destination. */
export interface Socket {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<BufferSource | string>;
  /** Resolves when the gateway has connected the destination. */
  readonly opened: Promise<SocketInfo>;
  /** Resolves when both directions have ended; rejects if they were broken off. */
  readonly closed: Promise<void>;
  /** Whether `startTls` was called. Never yet. */
  readonly upgraded: boolean;
  readonly secureTransport: SecureTransport;
  /** Sends what was accepted, within ten seconds, and closes both directions. */
  close(reason?: unknown): Promise<void>;
  startTls(options?: { expectedServerHostname?: string }): Socket;
  /** The numbers of this connection so far. */
  stats(): SocketStats;
}

/** "idle": there is no session, and the next connection begins one. */
export type TunnelState = "idle" | "connecting" | "open" | "closed";

/** Connections through one gateway, over one WebSocket. Begins lazily, and again after a failure. */
export interface Tunnel {
  /** Returns at once; what is written before the connection is open waits. Throws only for what is no address. */
  connect(address: string | SocketAddress, options?: SocketOptions): Socket;
  /** Closes all sockets, then the session. No connection is made afterwards. */
  close(): Promise<void>;
  stats(): TunnelStats;
  readonly state: TunnelState;
  /** Why the last session ended, or could not begin. */
  readonly error: unknown;
  addEventListener(type: "statechange", listener: (event: Event) => void, options?: AddEventListenerOptions): void;
  removeEventListener(type: "statechange", listener: (event: Event) => void): void;
}

/** WindowAdjust messages by how pressing they were. */
export interface AdjustCounts {
  /** Sent because the session was idle, or in the spare room of a message. */
  lazy: number;
  /** Sent ahead of data because the gateway had half a window left. */
  urgent: number;
  /** Sent because the gateway had no credit left. */
  must: number;
}

/** What both kinds of numbers have. All bytes are payload. */
interface Counters {
  bytesSent: number;
  bytesReceived: number;
  adjustsSent: AdjustCounts;
  adjustsReceived: number;
  /** How often there were bytes to send and no credit. */
  stalls: number;
  /** Bytes received that the page has not read. */
  unread: number;
}

/** One connection since its beginning. */
export interface SocketStats extends Counters {
  /** The receive window now, in bytes. */
  window: number;
  /** Bytes that the gateway may send now. */
  receiveCredit: number;
  /** Bytes that may be sent to the gateway now. */
  sendCredit: number;
  /** Bytes that were accepted and are not sent. */
  unsent: number;
}

/** The present session since its beginning; all zero when there is none. */
export interface TunnelStats extends Counters {
  framesSent: number;
  framesReceived: number;
  /** Connections now, in whatever state. */
  channels: number;
  /** Connections opened so far. */
  channelsOpened: number;
  /** Connections that could not be opened. */
  opensFailed: number;
  /** Memory promised to the gateway over all connections, in bytes. */
  promised: number;
  /** Harmless faults of the gateway. */
  glitches: number;
}
