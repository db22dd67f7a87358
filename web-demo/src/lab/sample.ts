import type { AdjustCounts } from "muxgate";

import type { Timed } from "../chart/paint.ts";

/** What the laboratory saw at one moment. */
export interface Sample extends Timed {
  /** Of each transfer, in bits a second. */
  rates: number[];
  /** All transfers together, in bits a second. */
  sum: number;
  /** Of the transfers that are not stalled. */
  jain: number;
  /** Down: the receive window of each transfer. Up: what the gateway lets each send. In bytes. */
  windows: number[];
  /** Times of the pings since the sample before, in milliseconds. */
  pings: number[];
  /** WindowAdjust messages a second. */
  adjusts: AdjustCounts & { received: number };
}

/** The most transfers at any time shown: what colours are dealt out among. */
export function mostFlows(samples: readonly Sample[]): number {
  return Math.max(0, ...samples.map((sample) => sample.rates.length));
}
