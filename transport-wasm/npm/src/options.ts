import { SocketError } from "./error.js";

/** Anything with the constructor of `WebSocket`, such as the class of the package `ws`. */
export type WebSocketConstructor = new (url: string, protocols?: string[]) => WebSocketLike;

/** What is used of a WebSocket. */
export interface WebSocketLike {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  onopen: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  send(data: any): void;
  close(code?: number, reason?: string): void;
}

/** Where the wasm module comes from: bytes, a compiled module, a response, or a URL to fetch. */
export type WasmSource = BufferSource | WebAssembly.Module | Response | URL | string;

/** How to reach a gateway. */
export interface TunnelOptions {
  /** `wss://gateway.example/jet/jmux`; the path is `/jet/jmux` where there is none. May be relative to the page. */
  url: string | URL;
  /** Sent when the WebSocket is opened; a function is asked each time. */
  token?: string | (() => string | Promise<string>) | undefined;
  /** Deployed gateways know only `?token=` ("query"), which appears in logs. The default is "subprotocol". */
  tokenIn?: "subprotocol" | "query" | undefined;
  /** More WebSocket subprotocols to offer, for a proxy on the way that wants one. */
  protocols?: string | readonly string[] | undefined;
  /**
   * The most that one connection may have on its way or unread, in bytes: what arrives waits behind it. By default it follows
   * from how long the WebSocket takes to open, from 384 KiB for a near gateway to 8 MiB for one that is 250 ms away.
   */
  window?: number | undefined;
  /** The most that all connections may have unread, in bytes; 16 MiB. The page needs little more memory. */
  budget?: number | undefined;
  /** How long the gateway may take to connect a destination, in milliseconds; 30,000. */
  openTimeout?: number | undefined;
  /** Whether a connection after the end of a session begins a new one; true. */
  reconnect?: boolean | undefined;
  /** Where the wasm module comes from, instead of beside this package. */
  wasm?: WasmSource | (() => WasmSource | Promise<WasmSource>) | undefined;
  /** The class to use where there is no global `WebSocket`: that of `ws` in Node 20. */
  WebSocket?: WebSocketConstructor | undefined;
  /** Ends the tunnel and all its sockets at once. */
  signal?: AbortSignal | undefined;
}

/** Options with every default filled in. */
export interface Settings extends TunnelOptions {
  url: URL;
  window: number | undefined;
  budget: number;
  openTimeout: number;
  reconnect: boolean;
}

const MIB = 1024 * 1024;

export function settings(options: TunnelOptions): Settings {
  return {
    ...options,
    url: gatewayUrl(options?.url),
    window: options.window === undefined ? undefined : bytes("window", options.window),
    budget: bytes("budget", options.budget ?? 16 * MIB),
    openTimeout: options.openTimeout ?? 30_000,
    reconnect: options.reconnect ?? true,
  };
}

function gatewayUrl(text: string | URL | undefined): URL {
  if (!text) throw new SocketError("INVALID_OPTION", "the option url is missing: wss://gateway.example/jet/jmux");
  let url: URL;
  try {
    url = new URL(text, globalThis.location?.href);
  } catch (cause) {
    throw new SocketError("INVALID_OPTION", `"${text}" is no URL of a gateway`, { cause });
  }
  url.protocol = url.protocol.replace(/^http/, "ws");
  if (!/^wss?:$/.test(url.protocol)) {
    throw new SocketError("INVALID_OPTION", `a gateway is reached by ws: or wss:, not by ${url.protocol}`);
  }
  if (url.pathname === "/") url.pathname = "/jet/jmux";
  url.hash = "";
  return url;
}

/** The window for a gateway whose WebSocket took so many milliseconds to open, which are two round trips and more. */
export function windowFor(milliseconds: number): number {
  // 16 KiB in a millisecond, or 32 in a round trip's: 260 Mbit/s. Less than 384 KiB slows a near gateway down; more than
  // 8 MiB would be half of the budget.
  return Math.round(Math.min(Math.max(milliseconds * 16 * 1024, 384 * 1024), 8 * MIB));
}

function bytes(name: string, number: number): number {
  // Less than 16 KiB stalls with deployed gateways; more than 1 GiB is no page's memory.
  if (number >= 16 * 1024 && number <= 1024 * MIB) return Math.floor(number);
  throw new SocketError("INVALID_OPTION", `the option ${name} is not between 16 KiB and 1 GiB`);
}
