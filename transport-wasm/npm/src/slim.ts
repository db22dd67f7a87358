import { SocketError } from "./error.js";
import { load } from "./load.js";
import type { TunnelOptions } from "./options.js";
import { GatewayTunnel } from "./tunnel.js";
import type { Tunnel } from "./types.js";

export * from "./api.js";

/** Options that say where the wasm module comes from: `muxgate/muxgate.wasm`, however your tools deliver it. */
export type SlimTunnelOptions = TunnelOptions & { wasm: NonNullable<TunnelOptions["wasm"]> };

/** A tunnel to a gateway, with a wasm module of your own. */
export function createTunnel(options: SlimTunnelOptions): Tunnel {
  return new GatewayTunnel(options, () =>
    load(options.wasm, () => {
      throw new SocketError("INVALID_OPTION", 'the option wasm is missing: "muxgate/slim" brings none of its own');
    }),
  );
}
