// How the types are used. `satisfies` and assignments fail to compile if they change.

import { connect as connectDefault, createTunnel, SocketError, type Socket, type TunnelStats } from "muxgate";
import { connect } from "muxgate/cloudflare-sockets";
import { createTunnel as createInline } from "muxgate/inline";
import { createTunnel as createSlim } from "muxgate/slim";
import { SocketWebSocket } from "muxgate/websocket";

const tunnel = createTunnel({ url: "wss://gateway.example/jet/jmux", token: async () => "secret", budget: 1e6 });
const socket: Socket = tunnel.connect("db.internal:5432", { allowHalfOpen: true, signal: AbortSignal.timeout(1000) });
const same: Socket = connect({ hostname: "db.internal", port: 5432 });
void [same, connectDefault, createInline({ url: "wss://a" }), createSlim({ url: "wss://a", wasm: new Uint8Array(1) })];
// @ts-expect-error a slim tunnel needs a module
createSlim({ url: "wss://a" });
// @ts-expect-error the URL is missing
createTunnel({});

export async function use(): Promise<number> {
  const writer = socket.writable.getWriter();
  await writer.write("text");
  await writer.write(new Uint16Array(1));
  // @ts-expect-error a number is no BufferSource
  await writer.write(7);
  const reader = socket.readable.getReader({ mode: "byob" });
  const { value } = await reader.read(new Uint8Array(10));
  const { adjustsSent }: TunnelStats = tunnel.stats();
  tunnel.addEventListener("statechange", () => tunnel.state satisfies "idle" | "connecting" | "open" | "closed");
  try {
    await socket.opened;
  } catch (error) {
    if (error instanceof SocketError && error.code === "NOT_ALLOWED") return error.closeCode ?? 0;
  }
  new SocketWebSocket(socket).binaryType = "arraybuffer";
  return (value?.byteLength ?? 0) + adjustsSent.lazy;
}
