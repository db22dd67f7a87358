// For a bundler's alias: `cloudflare:sockets` → `muxgate/cloudflare-sockets`.
export { configure, connect } from "./default-tunnel.js";
export type { Socket, SocketAddress, SocketInfo, SocketOptions } from "./types.js";
