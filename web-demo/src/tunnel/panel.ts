import { byId, control, figures, find, setText } from "../ui/dom.ts";
import { count, size } from "../ui/format.ts";
import { Notice } from "../ui/notice.ts";
import { explain, explainNoTunnel } from "./explain.ts";
import { type Access, Gateway, type GatewayState } from "./gateway.ts";

const PATH = "/jet/jmux";
/** Between two looks at the session's numbers, in milliseconds. */
const INTERVAL = 500;

const NAMES: Record<GatewayState, string> = {
  idle: "Not connected",
  connecting: "Connecting…",
  open: "Connected",
  failed: "Not connected",
};

/** The form that connects the gateway, the state in the page's head, and the session's numbers. */
export class ConnectPanel {
  readonly gateway = new Gateway(() => this.#access());
  readonly #form = byId("connect", HTMLFormElement);
  readonly #url = control(this.#form, "url", HTMLInputElement);
  readonly #token = control(this.#form, "token", HTMLInputElement);
  readonly #action = control(this.#form, "action", HTMLButtonElement);
  readonly #notice = new Notice(byId("connect-notice", HTMLElement));
  readonly #state = byId("state", HTMLElement);
  readonly #session = byId("session", HTMLElement);
  readonly #write = figures(this.#session);

  constructor() {
    this.#url.value = defaultUrl(location);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const { state } = this.gateway;
      // What fails is shown by the change of state.
      if (state === "idle" || state === "failed") this.gateway.tunnel().catch(() => undefined);
      else this.gateway.close();
    });
    this.gateway.addEventListener("change", () => this.#show());
    setInterval(() => this.#showSession(), INTERVAL);
  }

  #access(): Access {
    return { url: this.#url.value.trim(), token: this.#token.value.trim() };
  }

  #show(): void {
    const { state, error, lost } = this.gateway;
    const busy = state === "open" || state === "connecting";
    this.#state.dataset["state"] = state;
    setText(find(this.#state, "span", HTMLElement), NAMES[state]);
    setText(this.#action, state === "open" ? "Disconnect" : state === "connecting" ? "Cancel" : "Connect");
    this.#action.classList.toggle("stop", busy);
    this.#form.toggleAttribute("data-busy", busy);
    this.#url.readOnly = this.#token.readOnly = busy;
    if (state === "failed") this.#notice.fail(error, lost ? explain(error) : explainNoTunnel(error));
    else this.#notice.clear();
    this.#showSession();
  }

  #showSession(): void {
    const stats = this.gateway.stats();
    this.#session.hidden = stats === undefined;
    if (!stats) return;
    const { lazy, urgent, must } = stats.adjustsSent;
    this.#write("received", size(stats.bytesReceived));
    this.#write("sent", size(stats.bytesSent));
    this.#write("channels", count(stats.channels));
    this.#write("promised", size(stats.promised));
    this.#write("unread", size(stats.unread));
    this.#write("adjusts", `${count(lazy + urgent + must)} / ${count(stats.adjustsReceived)}`);
    this.#write("stalls", count(stats.stalls));
  }
}

/** The gateway that served this page, if one did. */
function defaultUrl({ protocol, host }: Location): string {
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}${PATH}`;
}
