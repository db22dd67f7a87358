import type { Tunnel, TunnelStats } from "muxgate";

import { SPAN } from "../chart/chart.ts";
import type { Mark } from "../chart/paint.ts";
import { jain } from "../measure/jain.ts";
import type { Address } from "../tunnel/address.ts";
import { type Direction, Flow } from "./flow.ts";
import { Ping } from "./ping.ts";
import type { Sample } from "./sample.ts";

/** What an experiment consists of. */
export interface Setup {
  direction: Direction;
  /** The source or the sink. */
  destination: Address;
  /** The echo service for the ping; without one there is no ping. */
  echo: Address | undefined;
  count: number;
}

/** A reader that was stopped, and what the others had just before. */
export interface Stall {
  index: number;
  at: number;
  othersBefore: number;
}

/** Parallel transfers and a ping beside them, measured. */
export class Laboratory {
  readonly flows: Flow[] = [];
  readonly samples: Sample[] = [];
  readonly marks: Mark[] = [];
  readonly ping: Ping | undefined;
  readonly #tunnel: Tunnel;
  readonly #first: TunnelStats;
  #last: { at: number; stats: TunnelStats };
  #stall: Stall | undefined;

  constructor(
    tunnel: Tunnel,
    readonly setup: Setup,
  ) {
    this.#tunnel = tunnel;
    this.#first = tunnel.stats();
    this.#last = { at: performance.now(), stats: this.#first };
    this.ping = setup.echo && new Ping(tunnel, setup.echo);
    this.resize(setup.count);
    this.marks.length = 0;
  }

  /** Opens or ends transfers until there are `count`. */
  resize(count: number): void {
    if (count === this.flows.length) return;
    this.#mark(`${this.flows.length} → ${count}`);
    while (this.flows.length < count) {
      this.flows.push(new Flow(this.#tunnel, this.setup.destination, this.setup.direction));
    }
    for (const flow of this.flows.splice(count)) flow.stop();
    if ((this.#stall?.index ?? 0) >= count) this.#stall = undefined;
  }

  /** Stops or resumes the reader of one transfer. */
  stall(index: number, stalled: boolean): void {
    const flow = this.flows[index];
    if (!flow || flow.stalled === stalled) return;
    this.#mark(`${stalled ? "stall" : "resume"} ${index + 1}`);
    // The first one that is stalled is the one to compare with: then nothing was.
    if (stalled && !this.#stall) this.#stall = { index, at: performance.now(), othersBefore: this.#moving(index) };
    flow.stalled = stalled;
    if (!stalled && this.#stall?.index === index) this.#stall = undefined;
  }

  /** What is to be said about the reader that was stopped, and what the others have now, in bits a second. */
  get stalled(): (Stall & { othersNow: number; unread: number }) | undefined {
    const stall = this.#stall;
    const flow = stall && this.flows[stall.index];
    return flow && { ...stall, othersNow: this.#moving(stall.index), unread: flow.stats().unread };
  }

  /** WindowAdjust messages of both sides for each 10^9 bytes since the start. */
  get adjustsPerGigabyte(): number {
    const [now, first] = [this.#last.stats, this.#first];
    const bytes = now.bytesReceived + now.bytesSent - first.bytesReceived - first.bytesSent;
    return ((adjusts(now) - adjusts(first)) * 1e9) / bytes;
  }

  /** Measures, and keeps the sample for as long as the charts show it. */
  sample(at: number): Sample {
    const { flows } = this;
    for (const flow of flows) flow.meter.note(flow.bytes, at);
    const rates = flows.map((flow) => flow.meter.perSecond * 8);
    const sample: Sample = {
      at,
      rates,
      sum: rates.reduce((sum, rate) => sum + rate, 0),
      jain: jain(rates.filter((_, index) => flows[index]?.state === "running")),
      windows: flows.map((flow) => (flow.direction === "down" ? flow.stats().window : flow.stats().sendCredit)),
      pings: this.ping?.take(at, OVERDUE) ?? [],
      adjusts: this.#adjustsSince(at),
    };
    this.samples.push(sample);
    while ((this.samples[1]?.at ?? Infinity) < at - SPAN) this.samples.shift();
    while ((this.marks[0]?.at ?? Infinity) < at - SPAN) this.marks.shift();
    return sample;
  }

  stop(): void {
    this.ping?.stop();
    for (const flow of this.flows) flow.stop();
  }

  #moving(except: number): number {
    return this.flows.reduce((sum, flow, index) => (index === except ? sum : sum + flow.meter.perSecond * 8), 0);
  }

  #mark(label: string): void {
    this.marks.push({ at: performance.now(), label });
  }

  #adjustsSince(at: number): Sample["adjusts"] {
    const [last, stats] = [this.#last, this.#tunnel.stats()];
    this.#last = { at, stats };
    const perSecond = (now: number, before: number): number => ((now - before) * 1000) / (at - last.at);
    return {
      lazy: perSecond(stats.adjustsSent.lazy, last.stats.adjustsSent.lazy),
      urgent: perSecond(stats.adjustsSent.urgent, last.stats.adjustsSent.urgent),
      must: perSecond(stats.adjustsSent.must, last.stats.adjustsSent.must),
      received: perSecond(stats.adjustsReceived, last.stats.adjustsReceived),
    };
  }
}

/** A ping that is out for longer than this, in milliseconds, is news even without its answer. */
const OVERDUE = 250;

function adjusts(stats: TunnelStats): number {
  const { lazy, urgent, must } = stats.adjustsSent;
  return lazy + urgent + must + stats.adjustsReceived;
}
