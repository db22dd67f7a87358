import { parseAddress } from "./address.js";
import { within } from "./deferred.js";
import { currentToken, dial } from "./dial.js";
import { loadEngine, type WasmLoader } from "./engine.js";
import { SocketError, toSocketError } from "./error.js";
import type { Channel, Session } from "./generated/muxgate.js";
import { settings, windowFor, type Settings, type TunnelOptions } from "./options.js";
import { TunnelSocket } from "./socket.js";
import { noTunnelStats, tunnelStats } from "./stats.js";
import type { Socket, SocketAddress, SocketOptions, Tunnel, TunnelState, TunnelStats } from "./types.js";

/** How long the gateway may take to end the session with us, in milliseconds. */
const CLOSE_DEADLINE = 5_000;

export class GatewayTunnel extends EventTarget implements Tunnel {
  readonly #settings: Settings;
  readonly #loader: WasmLoader;
  readonly #sockets = new Set<TunnelSocket>();
  readonly #abandon = new AbortController();
  #state: TunnelState = "idle";
  #error: unknown;
  #starting: Promise<Session> | undefined;
  #session: Session | undefined;

  constructor(options: TunnelOptions, loader: WasmLoader) {
    super();
    this.#settings = settings(options);
    this.#loader = loader;
    const { signal } = options;
    if (signal?.aborted) this.#abort(signal.reason);
    signal?.addEventListener("abort", () => this.#abort(signal.reason), { signal: this.#abandon.signal });
  }

  get state(): TunnelState {
    return this.#state;
  }

  get error(): unknown {
    return this.#error;
  }

  connect(address: string | SocketAddress, options?: SocketOptions): Socket {
    const open = (target: SocketAddress, signal: AbortSignal) => this.#open(target, signal);
    const socket = new TunnelSocket(open, parseAddress(address), options);
    this.#sockets.add(socket);
    socket.closed.catch(() => {}).then(() => this.#sockets.delete(socket));
    return socket;
  }

  stats(): TunnelStats {
    return this.#session ? tunnelStats(this.#session) : noTunnelStats();
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#enter("closed", undefined);
    await Promise.all([...this.#sockets].map((socket) => socket.close()));
    this.#abandon.abort(tunnelClosed());
    const session = this.#session;
    if (!session) return;
    session.close();
    if (!(await within(CLOSE_DEADLINE, session.closed()))) session.abort();
  }

  async #open({ hostname, port }: SocketAddress, signal: AbortSignal): Promise<Channel> {
    const session = await this.#begin();
    signal.throwIfAborted();
    const opening = session.open(hostname, port);
    const cancel = () => opening.cancel();
    signal.addEventListener("abort", cancel);
    try {
      return await opening.channel;
    } finally {
      signal.removeEventListener("abort", cancel);
      opening.free();
    }
  }

  /** The session that there is, or a new one. */
  #begin(): Promise<Session> {
    if (this.#state === "closed") return Promise.reject(this.#error ?? tunnelClosed());
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<Session> {
    this.#enter("connecting", undefined);
    const { signal } = this.#abandon;
    try {
      // The module first: a WebSocket has to be taken over as soon as it is open.
      const [SessionClass, token] = await Promise.all([loadEngine(this.#loader), currentToken(this.#settings)]);
      const begin = performance.now();
      const socket = await dial(this.#settings, token, signal);
      const { budget, window = windowFor(performance.now() - begin), openTimeout } = this.#settings;
      const session = new SessionClass(socket, budget, window, openTimeout);
      if (signal.aborted) {
        session.abort();
        throw signal.reason;
      }
      this.#session = session;
      this.#enter("open", undefined);
      session.closed().then((reason) => this.#ended(session, toSocketError(reason)));
      return session;
    } catch (reason) {
      this.#reset(reason);
      throw reason;
    }
  }

  #ended(session: Session, reason: unknown): void {
    if (this.#session !== session) return;
    for (const socket of this.#sockets) socket.breakOff(reason);
    this.#session = undefined;
    session.free();
    this.#reset(reason);
  }

  #reset(reason: unknown): void {
    this.#starting = undefined;
    this.#enter(this.#settings.reconnect ? "idle" : "closed", reason);
  }

  #abort(reason: unknown): void {
    this.#enter("closed", reason);
    this.#abandon.abort(reason);
    for (const socket of this.#sockets) socket.abort(reason);
    this.#session?.abort();
  }

  /** A closed tunnel stays closed. */
  #enter(state: TunnelState, error: unknown): void {
    if (this.#state === "closed" || this.#state === state) return;
    this.#state = state;
    this.#error = error;
    this.dispatchEvent(new Event("statechange"));
  }
}

function tunnelClosed(): SocketError {
  return new SocketError("TUNNEL_CLOSED", "the tunnel was closed by close()");
}
