import { type Tunnel, type TunnelStats, createTunnel } from "muxgate";

import { InputError } from "./address.ts";

export type GatewayState = "idle" | "connecting" | "open" | "failed";

/** Where the gateway is, and what it wants to see. */
export interface Access {
  url: string;
  token: string;
}

/** The one tunnel of the page. Tells with `change` events how it is. */
export class Gateway extends EventTarget {
  readonly #access: () => Access;
  #tunnel: Tunnel | undefined;
  #begun: Promise<void> | undefined;
  #state: GatewayState = "idle";
  #error: unknown;
  #lost = false;

  /** @param access What the page's fields say now. */
  constructor(access: () => Access) {
    super();
    this.#access = access;
  }

  get state(): GatewayState {
    return this.#state;
  }

  /** Why it failed. */
  get error(): unknown {
    return this.#error;
  }

  /** Whether it failed after it had been open. */
  get lost(): boolean {
    return this.#lost;
  }

  stats(): TunnelStats | undefined {
    return this.#state === "open" ? this.#tunnel?.stats() : undefined;
  }

  /** The tunnel, which is opened if there is none. Why it cannot be says `error`; this only rejects. */
  async tunnel(): Promise<Tunnel> {
    this.#begun ??= this.#begin();
    await this.#begun;
    if (!this.#tunnel) throw new InputError("There is no connection to the gateway.");
    return this.#tunnel;
  }

  /** Ends the tunnel and everything in it. */
  close(): void {
    const tunnel = this.#tunnel;
    this.#enter("idle");
    void tunnel?.close();
  }

  /** Resolves when the tunnel is open, or will not be. */
  async #begin(): Promise<void> {
    try {
      const { url, token } = this.#access();
      if (url === "") throw new InputError("Enter the gateway’s URL, such as wss://gateway.example/jet/jmux.");
      const tunnel = createTunnel({ url, token, reconnect: false });
      this.#tunnel = tunnel;
      const decided = new Promise<void>((resolve) =>
        tunnel.addEventListener("statechange", () => {
          this.#follow(tunnel);
          if (tunnel.state !== "connecting") resolve();
        }),
      );
      start(tunnel);
      await decided;
    } catch (error) {
      this.#enter("failed", error);
    }
  }

  #follow(tunnel: Tunnel): void {
    // One that was closed, perhaps for another, has no say any more.
    if (tunnel !== this.#tunnel) return;
    this.#lost = this.#state === "open";
    if (tunnel.state === "closed") this.#enter("failed", tunnel.error);
    else this.#enter(tunnel.state);
  }

  #enter(state: GatewayState, error?: unknown): void {
    if (state === "idle" || state === "failed") this.#tunnel = this.#begun = undefined;
    this.#state = state;
    this.#error = error;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Opens the tunnel now, where it would wait for its first connection. So it gets one, which is given up as soon as the
 * tunnel is open: the gateway hears nothing of it.
 */
function start(tunnel: Tunnel): void {
  const nobody = new AbortController();
  tunnel.addEventListener("statechange", () => tunnel.state === "open" && nobody.abort());
  tunnel.connect({ hostname: "localhost", port: 1 }, { signal: nobody.signal });
}
