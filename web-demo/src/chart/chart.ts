import { type Kind, type Mark, type Plot, type Series, type Timed, line, paint } from "./paint.ts";
import { themeColour } from "./palette.ts";
import { type Scale, decimalScale } from "./scale.ts";

export interface Options<T> {
  kind: Kind;
  /** The series that the samples have, from the bottom up. */
  series: (samples: readonly T[]) => Series<T>[];
  /** A value as the axis shows it. */
  format: (value: number) => string;
  /** The axis never ends below, so that noise near zero does not fill the chart. */
  least: number;
  scale?: (max: number) => Scale;
}

/** How much time a chart shows, in milliseconds: as much as there is, between these two. */
export const SPAN = 60_000;
const SHORTEST_SPAN = 15_000;

/** Space below the axis for the times, and above the top line for half a label. */
const FOOT = 20;
const HEAD = 8;
const FONT = "11px system-ui, sans-serif";

/** Draws samples of the last minute on a canvas, whenever it is told to. */
export class Chart<T extends Timed> {
  #samples: readonly T[] = [];
  #marks: readonly Mark[] = [];
  /** As observed: to ask for it would lay out the page in between. */
  #width = 0;
  #height = 0;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly options: Options<T>,
  ) {
    new ResizeObserver(([entry]) => {
      ({ width: this.#width, height: this.#height } = entry?.contentRect ?? canvas);
      this.redraw();
    }).observe(canvas);
  }

  /** Shows these samples, oldest first; the newest is at the right edge. */
  draw(samples: readonly T[], marks: readonly Mark[] = []): void {
    this.#samples = samples;
    this.#marks = marks;
    this.redraw();
  }

  /** Draws again, because the size, the theme or an option has changed. */
  redraw(): void {
    const [width, height] = [this.#width, this.#height];
    const context = this.canvas.getContext("2d");
    // A chart on a hidden panel has no size; it is drawn when it gets one.
    if (!context || width === 0) return;
    this.canvas.width = Math.round(width * devicePixelRatio);
    this.canvas.height = Math.round(height * devicePixelRatio);
    context.scale(devicePixelRatio, devicePixelRatio);
    context.font = FONT;

    const { options } = this;
    const series = options.series(this.#samples);
    const scale = (options.scale ?? decimalScale)(Math.max(options.least, this.#max(series)));
    const plot = this.#plot(context, width, height, scale);
    this.#grid(plot, scale);
    context.save();
    context.beginPath();
    context.rect(plot.left, 0, plot.right - plot.left, height);
    context.clip();
    paint[options.kind](plot, this.#samples, series);
    context.restore();
    this.#drawMarks(plot);
  }

  #max(series: Series<T>[]): number {
    const values = (sample: T): number[] => series.map((one) => one.value(sample) || 0);
    const high = (all: number[]): number =>
      this.options.kind === "lines" ? Math.max(0, ...all) : all.reduce((sum, value) => sum + value, 0);
    return Math.max(0, ...this.#samples.map((sample) => high(values(sample))));
  }

  #plot(context: CanvasRenderingContext2D, width: number, height: number, scale: Scale): Plot {
    const labels = linesOf(scale).map((value) => context.measureText(this.options.format(value)).width);
    const [left, right, base] = [Math.max(...labels) + 10, width - 1, height - FOOT];
    const now = this.#samples.at(-1)?.at ?? 0;
    const span = Math.min(Math.max(now - (this.#samples[0]?.at ?? 0), SHORTEST_SPAN), SPAN);
    return {
      context,
      left,
      right,
      base,
      span,
      x: (at) => right - ((now - at) / span) * (right - left),
      y: (value) => base - (value / scale.top) * (base - HEAD),
      colours: {
        ink: themeColour("--ink"),
        muted: themeColour("--muted"),
        grid: themeColour("--grid"),
        card: themeColour("--card"),
      },
    };
  }

  #grid({ context, left, right, base, span, y, colours }: Plot, scale: Scale): void {
    context.lineWidth = 1;
    context.strokeStyle = colours.grid;
    context.fillStyle = colours.muted;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const value of linesOf(scale)) {
      const at = Math.round(y(value)) + 0.5;
      line(context, left, at, right, at);
      context.fillText(this.options.format(value), left - 8, at);
    }
    context.textBaseline = "alphabetic";
    context.fillText("now", right, base + FOOT - 4);
    context.textAlign = "left";
    context.fillText(`${Math.round(span / 1000)} s ago`, left, base + FOOT - 4);
  }

  #drawMarks({ context, left, right, base, x, colours }: Plot): void {
    context.strokeStyle = colours.ink;
    for (const mark of this.#marks) {
      const at = Math.round(x(mark.at)) + 0.5;
      if (at < left) continue;
      context.lineWidth = 1;
      context.setLineDash([3, 3]);
      line(context, at, HEAD, at, base);
      context.setLineDash([]);
      const toTheLeft = at + context.measureText(mark.label).width + 6 > right;
      context.textAlign = toTheLeft ? "right" : "left";
      haloed(context, mark.label, toTheLeft ? at - 5 : at + 5, HEAD + 11, colours);
    }
  }
}

function linesOf({ top, step }: Scale): number[] {
  return Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
}

/** Text that can be read on whatever is below it. */
function haloed(context: CanvasRenderingContext2D, text: string, x: number, y: number, colours: Plot["colours"]): void {
  context.save();
  context.strokeStyle = colours.card;
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeText(text, x, y);
  context.fillStyle = colours.ink;
  context.fillText(text, x, y);
  context.restore();
}
