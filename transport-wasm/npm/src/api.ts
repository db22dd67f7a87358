// What all entry points export beside `createTunnel`.
export { SocketError, type SocketErrorCode } from "./error.js";
export type { TunnelOptions, WasmSource, WebSocketConstructor, WebSocketLike } from "./options.js";
export type * from "./types.js";
