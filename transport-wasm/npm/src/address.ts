import { SocketError } from "./error.js";
import type { SocketAddress } from "./types.js";

/** Reads `host:port`, `[::1]:port` or the two as an object. Throws what is no address. */
export function parseAddress(address: string | SocketAddress): SocketAddress {
  const { hostname, port } = typeof address === "string" ? split(address) : address;
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    throw new SocketError("INVALID_ADDRESS", `the port of "${hostname}" is not between 1 and 65535`);
  }
  if (typeof hostname !== "string" || hostname === "") {
    throw new SocketError("INVALID_ADDRESS", "the host name is empty");
  }
  return { hostname: toAscii(hostname), port };
}

function split(address: string): SocketAddress {
  const parts = /^(.*):(\d{1,5})$/.exec(address);
  const hostname = parts?.[1] ?? "";
  if (!parts || (hostname.includes(":") && !/^\[.*\]$/.test(hostname))) {
    throw new SocketError("INVALID_ADDRESS", `"${address}" is not host:port; IPv6 addresses need brackets`);
  }
  return { hostname, port: Number(parts[2]) };
}

/** International names in the form that DNS knows. */
function toAscii(hostname: string): string {
  if (/^[\x00-\x7f]*$/.test(hostname)) return hostname;
  try {
    return new URL(`http://${hostname}`).hostname;
  } catch {
    throw new SocketError("INVALID_ADDRESS", `"${hostname}" is no host name`);
  }
}
