import { flowColour } from "../chart/palette.ts";
import { explain } from "../tunnel/explain.ts";
import { byId, figures, find } from "../ui/dom.ts";
import { rate, short, size } from "../ui/format.ts";
import type { Flow } from "./flow.ts";
import type { Laboratory } from "./laboratory.ts";
import { mostFlows } from "./sample.ts";

/** One tile for each transfer, with a button that stalls its reader. */
export class Tiles {
  readonly #list = byId("flows", HTMLUListElement);
  readonly #template = byId("flow", HTMLTemplateElement);
  readonly #stall: (index: number, stalled: boolean) => void;

  constructor(stall: (index: number, stalled: boolean) => void) {
    this.#stall = stall;
  }

  /** Shows the transfers as they are now. */
  draw({ flows, samples, setup }: Laboratory): void {
    while (this.#list.children.length > flows.length) this.#list.lastElementChild?.remove();
    while (this.#list.children.length < flows.length) this.#list.append(this.#make(this.#list.children.length));
    const colours = mostFlows(samples);
    const fastest = Math.max(1, ...flows.map((flow) => flow.meter.perSecond));
    flows.forEach((flow, index) => {
      const tile = this.#list.children[index];
      if (!(tile instanceof HTMLElement)) return;
      tile.dataset["state"] = flow.state;
      tile.style.setProperty("--colour", flowColour(index, colours));
      tile.style.setProperty("--share", (flow.meter.perSecond / fastest).toFixed(3));
      const write = figures(tile);
      write("rate", flow.state === "running" ? rate(flow.meter.perSecond * 8) : NAMES[flow.state]);
      write("detail", detail(flow));
      const button = find(tile, "button", HTMLButtonElement);
      button.setAttribute("aria-pressed", String(flow.stalled));
      button.hidden = setup.direction === "up";
      button.disabled = flow.state === "failed" || flow.state === "ended";
    });
  }

  clear(): void {
    this.#list.replaceChildren();
  }

  #make(index: number): Node {
    const tile = document.importNode(this.#template.content, true);
    const button = find(tile, "button", HTMLButtonElement);
    button.setAttribute("aria-label", `Stall the reader of transfer ${index + 1}`);
    button.addEventListener("click", () => this.#stall(index, button.getAttribute("aria-pressed") !== "true"));
    return tile;
  }
}

const NAMES = { opening: "opening", running: "", stalled: "stalled", ended: "ended", failed: "failed" };

function detail(flow: Flow): string {
  if (flow.state === "failed") return explain(flow.error).what;
  const stats = flow.stats();
  if (flow.direction === "up") return `${size(stats.sendCredit)} credit`;
  if (flow.stalled) return `${size(stats.unread)} unread`;
  return `${short(size)(stats.window)} window`;
}
