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
  #opening: Promise<Tunnel> | undefined;
  #state: GatewayState = "idle";
  #error: unknown;

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

  stats(): TunnelStats | undefined {
    return this.#tunnel?.stats();
  }

  /** The tunnel, which is opened if there is none; rejects with why it cannot be. */
  tunnel(): Promise<Tunnel> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Ends the tunnel and everything in it. */
  close(): void {
    const tunnel = this.#tunnel;
    this.#over("idle");
    void tunnel?.close();
  }

  async #open(): Promise<Tunnel> {
    const { url, token } = this.#access();
    if (url === "") throw new InputError("Enter the gateway's URL.");
    this.#change("connecting");
    this.#tunnel = createTunnel(token === "" ? { url } : { url, token });
    this.#change("open");
    return this.#tunnel;
  }

  #over(state: "idle" | "failed", error?: unknown): void {
    this.#tunnel = this.#opening = undefined;
    this.#error = error;
    this.#change(state);
  }

  #change(state: GatewayState): void {
    this.#state = state;
    this.dispatchEvent(new Event("change"));
  }
}
