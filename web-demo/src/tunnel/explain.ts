import { SocketError, type SocketErrorCode } from "muxgate";

import { HttpError } from "../http/error.ts";
import { InputError } from "./address.ts";

/** An error for people: what happened, and what to do next. */
export interface Explanation {
  what: string;
  next: string;
}

/** What the codes of the package's errors mean here. */
const EXPLANATIONS: Partial<Record<SocketErrorCode, Explanation>> = {
  NOT_ALLOWED: {
    what: "The gateway does not allow this destination.",
    next: "Start it with --allow HOST:PORT for it; loopback and private addresses have to be named.",
  },
  CONNECTION_REFUSED: {
    what: "Nothing listens at this destination.",
    next: "Check the port, and that the service runs where the gateway looks for it.",
  },
  HOST_UNREACHABLE: {
    what: "The gateway cannot reach or resolve this host.",
    next: "Check the name: it has to mean something on the gateway’s machine, not on yours.",
  },
  NETWORK_UNREACHABLE: {
    what: "The gateway has no way to this network.",
    next: "Check the address, and the network of the gateway’s machine.",
  },
  TTL_EXPIRED: {
    what: "The destination did not answer in time.",
    next: "Check the address, and whether a firewall drops packets on the way.",
  },
  OPEN_TIMED_OUT: {
    what: "The gateway did not say in time whether the connection is open.",
    next: "The destination may be behind a firewall that drops packets. Try again, or try another port.",
  },
  ADDRESS_TYPE_NOT_SUPPORTED: {
    what: "The gateway cannot use this kind of address.",
    next: "Try the host’s name, or its IPv4 address.",
  },
  GENERAL_FAILURE: {
    what: "The gateway could not open this connection, and did not say why.",
    next: "Its log does: start it with -v.",
  },
  INVALID_ADDRESS: { what: "This is not a destination.", next: "It should look like db.internal:5432." },
  TOO_MANY_CONNECTIONS: {
    what: "There are too many connections in this tunnel.",
    next: "Close some of them and try again.",
  },
  CONNECTION_CLOSED: {
    what: "The destination has closed the connection.",
    next: "What was sent last may not have arrived. Open it again to go on.",
  },
  CONNECTION_RESET: { what: "The destination broke the connection off.", next: "Open it again to go on." },
  WRITE_AFTER_END: {
    what: "Our direction of this connection has ended already.",
    next: "Open a new connection to send more.",
  },
  TUNNEL_CLOSED: { what: "The gateway has closed the tunnel.", next: "Connect again to go on." },
  TUNNEL_FAILED: { what: "The connection to the gateway was lost.", next: "Connect again to go on." },
  PROTOCOL_ERROR: {
    what: "What the gateway sent cannot be understood.",
    next: "Check that the URL is that of a JMUX gateway, and that both are of the same version.",
  },
  WASM_FAILED: {
    what: "The browser could not load the tunnel’s code.",
    next: "Reload the page. Where it is served, .wasm files have to be served too.",
  },
};

/** Puts any error into words. */
export function explain(error: unknown): Explanation {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof HttpError || error instanceof InputError) return { what: message, next: "" };
  const known = error instanceof SocketError ? EXPLANATIONS[error.code] : undefined;
  const { what, next } = known ?? { what: "Something failed.", next: message.replace(/^SocketError: /, "") };
  return { what: what + reasonOf(error), next };
}

/** Why there is no tunnel to begin with: browsers keep from pages what exactly went wrong. */
export function explainNoTunnel(error: unknown): Explanation {
  if (!(error instanceof SocketError) || error.code !== "TUNNEL_FAILED") return explain(error);
  return {
    what: `The gateway cannot be reached, or refuses this page.${reasonOf(error)}`,
    next:
      `Check that it runs at this URL, that it was started with --allow-origin ${location.origin}, and the token. ` +
      "Browsers do not tell pages which of them it is.",
  };
}

/** The gateway's own words, if it had any. */
function reasonOf(error: unknown): string {
  const reason = error instanceof SocketError ? error.closeReason : undefined;
  return reason ? ` It says: “${reason}”.` : "";
}
