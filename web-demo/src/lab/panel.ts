import type { Demo } from "../demo.ts";
import { quantile } from "../measure/quantile.ts";
import { type Address, InputError, parseAddress } from "../tunnel/address.ts";
import { explain } from "../tunnel/explain.ts";
import type { Gateway } from "../tunnel/gateway.ts";
import { byId, control, figures, onChoice, setText } from "../ui/dom.ts";
import { count, digits, duration, rate, size } from "../ui/format.ts";
import { Notice } from "../ui/notice.ts";
import { LabCharts } from "./charts.ts";
import { Laboratory, type Setup } from "./laboratory.ts";
import type { Sample } from "./sample.ts";
import { Tiles } from "./tiles.ts";

/** Between two samples, in milliseconds. */
const INTERVAL = 250;
/** Pings of this many samples make the figures: ten seconds. */
const PING_SAMPLES = 40;

/** The flow laboratory: its form, figures, charts and tiles. */
export class LabPanel {
  readonly #gateway: Gateway;
  readonly #form = byId("lab-form", HTMLFormElement);
  readonly #action = control(this.#form, "action", HTMLButtonElement);
  readonly #count = control(this.#form, "count", HTMLInputElement);
  readonly #shown = control(this.#form, "shown", HTMLOutputElement);
  readonly #stall = control(this.#form, "stall", HTMLInputElement);
  readonly #notice = new Notice(byId("lab-notice", HTMLElement));
  /** Not read out: its numbers change all the time. */
  readonly #stalled = new Notice(byId("lab-stalled", HTMLElement));
  readonly #write = figures(byId("lab-figures", HTMLElement));
  readonly #charts = new LabCharts();
  readonly #tiles = new Tiles((index, stalled) => this.#setStalled(index, stalled));
  #laboratory: Laboratory | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#toggle();
    });
    this.#count.addEventListener("input", () => this.#resize());
    this.#stall.addEventListener("change", () => {
      if (this.#stall.checked) this.#setStalled(0, true);
      else this.#laboratory?.flows.forEach((_, index) => this.#setStalled(index, false));
    });
    onChoice(byId("lab-kind", HTMLElement), (kind) => (this.#charts.kind = kind === "lines" ? "lines" : "stack"));
    this.#form.addEventListener("change", ({ target }) => {
      if (target instanceof HTMLInputElement && target.name === "direction") void this.#turn();
    });
    gateway.addEventListener("change", () => gateway.state !== "open" && this.#stop());
    this.#showDirection();
  }

  /** Draws again in the colours of another theme. */
  redraw(): void {
    this.#charts.redraw();
  }

  /** Fills in destinations that a demo offers. */
  offer(demo: Demo): void {
    for (const name of ["source", "sink", "echo"] as const)
      control(this.#form, name, HTMLInputElement).value ||= demo[name];
    byId("lab-destinations", HTMLDetailsElement).open = demo.source === "";
  }

  async #toggle(): Promise<void> {
    if (this.#laboratory) {
      this.#stop();
      this.#notice.clear();
    } else {
      await this.#start();
    }
  }

  async #start(): Promise<void> {
    this.#action.disabled = true;
    this.#notice.clear();
    try {
      const setup = this.#setup();
      this.#laboratory = new Laboratory(await this.#gateway.tunnel(), setup);
    } catch (error) {
      this.#notice.fail(error);
      return;
    } finally {
      this.#action.disabled = false;
    }
    this.#tiles.clear();
    byId("lab-empty", HTMLElement).hidden = true;
    this.#timer = setInterval(() => this.#sample(), INTERVAL);
    this.#showAction();
    this.#showDirection();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#laboratory?.stop();
    this.#laboratory = undefined;
    this.#showStalled();
    this.#showAction();
    this.#showDirection();
  }

  /** A change of direction during an experiment begins another one. */
  async #turn(): Promise<void> {
    const running = this.#laboratory !== undefined;
    if (running) this.#stop();
    this.#showDirection();
    if (running) await this.#start();
  }

  #setup(): Setup {
    const value = (name: string): string => control(this.#form, name, HTMLInputElement).value;
    const service = this.#direction === "down" ? "source" : "sink";
    const echo = value("echo").trim();
    return {
      direction: this.#direction,
      destination: destination(value(service), service),
      echo: echo === "" ? undefined : parseAddress(echo),
      count: this.#count.valueAsNumber,
    };
  }

  get #direction(): "down" | "up" {
    return new FormData(this.#form).get("direction") === "up" ? "up" : "down";
  }

  #resize(): void {
    setText(this.#shown, this.#count.value);
    this.#laboratory?.resize(this.#count.valueAsNumber);
  }

  #setStalled(index: number, stalled: boolean): void {
    this.#laboratory?.stall(index, stalled);
    this.#showStalled();
  }

  #sample(): void {
    const laboratory = this.#laboratory;
    if (!laboratory) return;
    const sample = laboratory.sample(performance.now());
    this.#showFigures(laboratory, sample);
    this.#tiles.draw(laboratory);
    this.#charts.draw(laboratory.samples, laboratory.marks);
    this.#showStalled();
    const failed = laboratory.flows.find((flow) => flow.state === "failed");
    if (failed) this.#notice.fail(failed.error);
  }

  #showFigures(laboratory: Laboratory, sample: Sample): void {
    const running = sample.rates.filter((one) => one > 0).length;
    this.#write("sum", rate(sample.sum));
    this.#write("average", running > 0 ? `${rate(sample.sum / running)} each, ${running} moving` : "");
    this.#write("jain", Number.isNaN(sample.jain) ? "–" : sample.jain.toFixed(4));
    const pings = laboratory.samples.slice(-PING_SAMPLES).flatMap(({ pings }) => pings);
    this.#write("ping", duration(quantile(pings, 0.5)));
    this.#write("tail", pingNote(laboratory, pings));
    const { lazy, urgent, must, received } = sample.adjusts;
    this.#write("adjusts", `${count(lazy + urgent + must + received)}/s`);
    this.#write("per-gigabyte", `${count(laboratory.adjustsPerGigabyte || 0)} for each GB`);
  }

  #showStalled(): void {
    const laboratory = this.#laboratory;
    this.#stall.checked = laboratory?.flows.some((flow) => flow.stalled) ?? false;
    const stalled = laboratory?.stalled;
    if (!stalled) return this.#stalled.clear();
    const seconds = Math.round((performance.now() - stalled.at) / 1000);
    this.#stalled.say(
      `Reader ${stalled.index + 1} has been stalled for ${seconds} s and holds ${size(stalled.unread)}.`,
      `The others go on: ${rate(stalled.othersNow)} together, before it was ${rate(stalled.othersBefore)}` +
        ` (${digits((stalled.othersNow / stalled.othersBefore) * 100)} %).`,
      "warn",
    );
  }

  #showAction(): void {
    const running = this.#laboratory !== undefined;
    setText(this.#action, running ? "Stop" : "Start");
    this.#action.classList.toggle("stop", running);
  }

  #showDirection(): void {
    const down = this.#direction === "down";
    // Upwards the readers are at the other end.
    this.#stall.disabled = !down || !this.#laboratory;
    setText(byId("windows-title", HTMLElement), down ? "Windows: memory promised" : "Credit: what each may send");
  }
}

function destination(text: string, name: string): Address {
  if (text.trim() === "") throw new InputError(`Enter a ${name} under “Destinations”, as host:port.`);
  return parseAddress(text);
}

function pingNote({ ping, setup }: Laboratory, pings: readonly number[]): string {
  if (!setup.echo) return "no echo service was entered";
  if (ping?.error) return explain(ping.error).what;
  return pings.length > 0 ? `99 of 100 below ${duration(quantile(pings, 0.99))}` : "";
}
