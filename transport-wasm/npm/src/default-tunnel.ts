import { createTunnel } from "./create.js";
import { SocketError } from "./error.js";
import type { TunnelOptions } from "./options.js";
import type { Socket, SocketAddress, SocketOptions, Tunnel } from "./types.js";

let tunnel: Tunnel | undefined;

/** Sets the gateway of the default tunnel, which `connect` uses; an earlier one is closed. */
export function configure(options: TunnelOptions): Tunnel {
  const earlier = tunnel;
  tunnel = createTunnel(options);
  earlier?.close();
  return tunnel;
}

/** Connects through the default tunnel. The same as `connect` of `cloudflare:sockets`. */
export function connect(address: string | SocketAddress, options?: SocketOptions): Socket {
  if (!tunnel) {
    throw new SocketError(
      "INVALID_OPTION",
      'there is no gateway yet: import { configure } from "muxgate" and call configure({ url: "wss://..." }) first',
    );
  }
  return tunnel.connect(address, options);
}
