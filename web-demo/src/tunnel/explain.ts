import { HttpError } from "../http/error.ts";
import { InputError } from "./address.ts";

/** An error for people: what happened, and what to do next. */
export interface Explanation {
  what: string;
  next: string;
}

/** What the codes of the package's `SocketError` mean here. */
const EXPLANATIONS: Record<string, Explanation> = {
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
  TUNNEL_CLOSED: { what: "The tunnel was closed.", next: "Connect to the gateway again to go on." },
  TUNNEL_FAILED: {
    what: "The connection to the gateway failed.",
    next:
      "Browsers do not tell pages why. Check that the gateway runs at this URL, that its --allow-origin names " +
      "this page’s origin, and the token.",
  },
  PROTOCOL_ERROR: {
    what: "What the gateway sent cannot be understood.",
    next: "Check that the URL is that of a JMUX gateway, and that both are of the same version.",
  },
};

/** Puts any error into words. */
export function explain(error: unknown): Explanation {
  if (error instanceof HttpError) return { what: error.message, next: "" };
  if (error instanceof InputError) return { what: error.message, next: "" };
  const code = codeOf(error);
  const known = EXPLANATIONS[code];
  const message = error instanceof Error ? error.message : String(error);
  if (!known) return { what: "Something failed.", next: message };
  return known;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
