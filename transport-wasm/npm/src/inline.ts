import { base64 } from "./generated/base64.js";
import { load } from "./load.js";
import type { TunnelOptions } from "./options.js";
import { GatewayTunnel } from "./tunnel.js";
import type { Tunnel } from "./types.js";

export * from "./api.js";

/** A tunnel to a gateway; the wasm module is part of the script. */
export function createTunnel(options: TunnelOptions): Tunnel {
  return new GatewayTunnel(options, () => load(options.wasm, decode));
}

function decode(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
