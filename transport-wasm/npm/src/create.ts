import { load } from "./load.js";
import type { TunnelOptions } from "./options.js";
import { GatewayTunnel } from "./tunnel.js";
import type { Tunnel } from "./types.js";

/** A tunnel to a gateway. Nothing is loaded or connected before the first `connect`. */
export function createTunnel(options: TunnelOptions): Tunnel {
  return new GatewayTunnel(options, () => load(options.wasm, () => new URL("./muxgate.wasm", import.meta.url)));
}
