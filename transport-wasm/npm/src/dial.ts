import { SocketError } from "./error.js";
import type { Settings, WebSocketLike } from "./options.js";

/** The subprotocol of JMUX, and the beginning of the one that carries the token. */
const PROTOCOL = "muxgate.jmux";
const TOKEN_PREFIX = "muxgate.token.";

/** The token for a new session. */
export async function currentToken({ token }: Settings): Promise<string | undefined> {
  return typeof token === "function" ? token() : token;
}

/** Opens the WebSocket. The caller must take it over at once, before the browser's next event. */
export async function dial(
  settings: Settings,
  token: string | undefined,
  signal: AbortSignal,
): Promise<WebSocketLike> {
  signal.throwIfAborted();
  const { url, protocols } = request(settings, token);
  const WebSocketClass = settings.WebSocket ?? globalThis.WebSocket;
  if (!WebSocketClass) {
    throw new SocketError("INVALID_OPTION", 'there is no global WebSocket here: pass that of "ws" as option WebSocket');
  }
  let socket: WebSocketLike;
  try {
    socket = protocols.length > 0 ? new WebSocketClass(url.href, protocols) : new WebSocketClass(url.href);
  } catch (cause) {
    // Such as ws: from a page that came by https:.
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SocketError("TUNNEL_FAILED", `the browser refuses to connect to ${settings.url.origin}: ${why}`, { cause });
  }
  await opened(socket, settings.url, signal);
  return socket;
}

/** Where to connect, and which subprotocols to offer. */
export function request(settings: Settings, token: string | undefined): { url: URL; protocols: string[] } {
  const url = new URL(settings.url);
  const protocols = [settings.protocols ?? []].flat() as string[];
  if (token && settings.tokenIn === "query") {
    url.searchParams.set("token", token);
  } else if (token) {
    protocols.unshift(PROTOCOL, TOKEN_PREFIX + base64url(token));
  }
  return { url, protocols };
}

function base64url(text: string): string {
  const binary = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function opened(socket: WebSocketLike, url: URL, signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const settle = (outcome: () => void) => {
      socket.onopen = socket.onclose = null;
      signal.removeEventListener("abort", abort);
      outcome();
    };
    const abort = () => {
      settle(() => reject(signal.reason));
      socket.close();
    };
    socket.onopen = () => settle(resolve);
    socket.onclose = (event) => settle(() => reject(notOpened(url, event)));
    // The event `close` follows and says more. It stays for good: with `ws`, an error without a handler ends Node.
    socket.onerror = () => {};
    signal.addEventListener("abort", abort);
  });
}

function notOpened(url: URL, event: { code: number; reason: string }): SocketError {
  const { code, reason } = event;
  const said = reason === "" ? `code ${code}` : `code ${code}: ${reason}`;
  return new SocketError(
    "TUNNEL_FAILED",
    `no WebSocket to ${url.origin} (${said}). Is the gateway running and reachable, does it allow this page's ` +
      "origin, and is the token valid? A browser does not say more",
    { closeCode: code, closeReason: reason },
  );
}
