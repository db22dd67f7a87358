export * from "./api.js";
export { createTunnel } from "./create.js";
export { configure, connect } from "./default-tunnel.js";
