/** What all samples of a chart have. */
export interface Timed {
  /** In milliseconds, on the clock of `performance.now()`. */
  at: number;
}

/** One line, band, or part of a bar. NaN means that there was nothing. */
export interface Series<T> {
  colour: string;
  value: (sample: T) => number;
}

/** Something that happened, as a line across the chart. */
export interface Mark extends Timed {
  label: string;
}

export type Kind = "stack" | "lines" | "bars";

/** A canvas with axes. */
export interface Plot {
  context: CanvasRenderingContext2D;
  x: (at: number) => number;
  y: (value: number) => number;
  left: number;
  right: number;
  base: number;
  /** The time between left and right, in milliseconds. */
  span: number;
  colours: Record<"ink" | "muted" | "grid" | "card", string>;
}

type Painter = <T extends Timed>(plot: Plot, samples: readonly T[], series: Series<T>[]) => void;

/** How each kind of chart is painted. */
export const paint: Record<Kind, Painter> = {
  stack(plot, samples, series) {
    const { context, colours } = plot;
    // A thin gap makes slices of one size seen as such; many slices would be all gaps.
    context.lineWidth = series.length <= 16 ? 1 : 0.5;
    context.strokeStyle = colours.card;
    let below = samples.map(() => 0);
    for (const { colour, value } of series) {
      const above = samples.map((sample, index) => (below[index] ?? 0) + (value(sample) || 0));
      context.beginPath();
      samples.forEach((sample, index) => context.lineTo(plot.x(sample.at), plot.y(above[index] ?? 0)));
      for (let index = samples.length - 1; index >= 0; index -= 1) {
        context.lineTo(plot.x(samples[index]?.at ?? 0), plot.y(below[index] ?? 0));
      }
      context.fillStyle = colour;
      context.fill();
      context.stroke();
      below = above;
    }
    // The outline is the sum.
    context.beginPath();
    samples.forEach((sample, index) => context.lineTo(plot.x(sample.at), plot.y(below[index] ?? 0)));
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    context.stroke();
  },

  lines(plot, samples, series) {
    const { context } = plot;
    context.lineWidth = 1.75;
    context.lineJoin = "round";
    for (const { colour, value } of series) {
      context.beginPath();
      let gap = true;
      for (const sample of samples) {
        const [x, y] = [plot.x(sample.at), plot.y(value(sample))];
        if (!Number.isNaN(y)) context[gap ? "moveTo" : "lineTo"](x, y);
        gap = Number.isNaN(y);
      }
      context.strokeStyle = colour;
      context.stroke();
    }
  },

  bars(plot, samples, series) {
    samples.forEach((sample, index) => {
      const from = plot.x(samples[index - 1]?.at ?? sample.at);
      const width = Math.max(plot.x(sample.at) - from - 1, 1);
      let below = 0;
      for (const { colour, value } of series) {
        const above = below + (value(sample) || 0);
        plot.context.fillStyle = colour;
        plot.context.fillRect(from, plot.y(above), width, plot.y(below) - plot.y(above));
        below = above;
      }
    });
  },
};

/** A straight line in the stroke that is set. */
export function line(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}
