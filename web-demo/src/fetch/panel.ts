import { requestFor } from "../http/request.ts";
import { hexRows } from "../terminal/hexdump.ts";
import { printable } from "../terminal/printable.ts";
import type { Gateway } from "../tunnel/gateway.ts";
import { byId, control, figures, setText } from "../ui/dom.ts";
import { count, duration, rate, size } from "../ui/format.ts";
import { Notice } from "../ui/notice.ts";
import { Transfer } from "./transfer.ts";

/** Between two looks at the progress, in milliseconds. */
const INTERVAL = 100;

/** Fetches a URL through the tunnel and shows what came. */
export class FetchPanel {
  readonly #gateway: Gateway;
  readonly #form = byId("fetch-form", HTMLFormElement);
  readonly #url = control(this.#form, "url", HTMLInputElement);
  readonly #action = control(this.#form, "action", HTMLButtonElement);
  readonly #notice = new Notice(byId("fetch-notice", HTMLElement));
  readonly #result = byId("fetch-result", HTMLElement);
  readonly #write = figures(this.#result);
  readonly #progress = byId("fetch-progress", HTMLProgressElement);
  readonly #digest = byId("fetch-digest", HTMLElement);
  readonly #copy = byId("fetch-copy", HTMLButtonElement);
  #transfer: Transfer | undefined;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#transfer) this.#transfer.cancel();
      else void this.#fetch();
    });
    this.#copy.addEventListener("click", () => void navigator.clipboard.writeText(this.#digest.textContent ?? ""));
  }

  /** Fills in the URL that a demo offers. */
  offer(url: string): void {
    this.#url.value ||= url;
  }

  async #fetch(): Promise<void> {
    this.#notice.clear();
    let timer: ReturnType<typeof setInterval> | undefined;
    try {
      const request = requestFor(this.#url.value);
      const tunnel = await this.#gateway.tunnel();
      const transfer = (this.#transfer = new Transfer());
      this.#begin();
      timer = setInterval(() => {
        transfer.tick(performance.now());
        this.#show(transfer);
      }, INTERVAL);
      const digest = await transfer.run(tunnel, request);
      this.#finish(transfer, digest);
    } catch (error) {
      this.#notice.fail(error);
    } finally {
      clearInterval(timer);
      if (this.#transfer) this.#show(this.#transfer);
      this.#transfer = undefined;
      this.#showAction();
    }
  }

  #begin(): void {
    this.#result.hidden = false;
    this.#copy.disabled = true;
    setText(this.#digest, "–");
    this.#progress.removeAttribute("value");
    this.#showAction();
  }

  #finish(transfer: Transfer, digest: string): void {
    setText(this.#digest, digest);
    this.#copy.disabled = false;
    this.#progress.value = 1;
    this.#notice.say("Done.", `${size(transfer.received)} in ${duration(transfer.elapsed)}.`, "good");
  }

  #show(transfer: Transfer): void {
    const { head, length, received } = transfer;
    this.#write("received", size(received));
    this.#write("length", length === undefined ? `${count(received)} bytes` : `of ${count(length)} bytes`);
    this.#write("rate", rate(transfer.rate));
    this.#write("left", left(transfer));
    this.#write("status", head ? String(head.status) : "–");
    this.#write("first", head ? `${head.reason} after ${duration(transfer.firstByte)}` : "waiting for the head");
    if (length !== undefined && length > 0) this.#progress.value = received / length;
    if (head) {
      const lines = head.headers.map(({ name, value }) => `${name}: ${value}`);
      setText(byId("fetch-head", HTMLElement), [head.statusLine, ...lines].join("\n"));
    }
    setText(
      byId("fetch-body-title", HTMLElement),
      received > transfer.preview.length ? "Beginning of the body" : "Body",
    );
    setText(byId("fetch-body", HTMLElement), bodyText(transfer));
  }

  #showAction(): void {
    const running = this.#transfer !== undefined;
    setText(this.#action, running ? "Cancel" : "Fetch");
    this.#action.classList.toggle("stop", running);
  }
}

/** How long the rest will take. */
function left({ ended, length, received, rate }: Transfer): string {
  if (ended) return "on average";
  if (length === undefined || rate === 0) return "";
  return `${duration(((length - received) * 8000) / rate)} left`;
}

/** Text as text, anything else as a dump. */
function bodyText({ head, preview }: Transfer): string {
  const type = head?.get("content-type") ?? "text/plain";
  if (/^text\/|json|xml|javascript/.test(type)) return printable(new TextDecoder().decode(preview));
  return hexRows(preview.subarray(0, 512), 0, 16)
    .map(({ offset, hex, ascii }) => `${offset}  ${hex}  ${ascii}`)
    .join("\n");
}
