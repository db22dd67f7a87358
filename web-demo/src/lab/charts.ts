import { Chart } from "../chart/chart.ts";
import type { Kind, Mark, Series } from "../chart/paint.ts";
import { flowColour, forgetColours, themeColour } from "../chart/palette.ts";
import { binaryScale } from "../chart/scale.ts";
import { quantile } from "../measure/quantile.ts";
import { byId } from "../ui/dom.ts";
import { digits, duration, rate, short, size } from "../ui/format.ts";
import { type Sample, mostFlows } from "./sample.ts";

/** The four charts of the laboratory. */
export class LabCharts {
  readonly #rates = makeRates();
  readonly #all = [this.#rates, makeLatency(), makeAdjusts(), makeWindows()];

  draw(samples: readonly Sample[], marks: readonly Mark[]): void {
    for (const chart of this.#all) chart.draw(samples, marks);
  }

  /** Draws again in the colours of another theme. */
  redraw(): void {
    forgetColours();
    for (const chart of this.#all) chart.redraw();
  }

  /** Shows rates stacked, where slices are compared, or as lines. */
  set kind(kind: Kind) {
    this.#rates.options.kind = kind;
    this.#rates.redraw();
  }
}

function makeRates(): Chart<Sample> {
  return new Chart(byId("chart-rates", HTMLCanvasElement), {
    kind: "stack",
    series: (samples) => ofFlows(samples, (sample) => sample.rates),
    format: short(rate),
    least: 1e6,
  });
}

function makeWindows(): Chart<Sample> {
  return new Chart(byId("chart-windows", HTMLCanvasElement), {
    kind: "stack",
    series: (samples) => ofFlows(samples, (sample) => sample.windows),
    format: short(size),
    least: 256 * 1024,
    scale: binaryScale,
  });
}

function makeLatency(): Chart<Sample> {
  return new Chart(byId("chart-latency", HTMLCanvasElement), {
    kind: "lines",
    series: () => [
      { colour: themeColour("--slowest"), value: ({ pings }) => quantile(pings, 1) },
      { colour: themeColour("--median"), value: ({ pings }) => quantile(pings, 0.5) },
    ],
    format: short(duration),
    least: 4,
  });
}

function makeAdjusts(): Chart<Sample> {
  return new Chart(byId("chart-adjusts", HTMLCanvasElement), {
    kind: "bars",
    series: () =>
      (["lazy", "urgent", "must", "received"] as const).map((name) => ({
        colour: themeColour(`--${name}`),
        value: ({ adjusts }) => adjusts[name],
      })),
    format: short((value) => `${digits(value)}/s`),
    least: 20,
  });
}

/** A series for each transfer that was there within the time shown. */
function ofFlows(samples: readonly Sample[], values: (sample: Sample) => number[]): Series<Sample>[] {
  const count = mostFlows(samples);
  return Array.from({ length: count }, (_, index) => ({
    colour: flowColour(index, count),
    value: (sample: Sample) => values(sample)[index] ?? Number.NaN,
  }));
}
