/** The rate of a growing total over the last moments. */
export class RateMeter {
  readonly #window: number;
  #points: { at: number; total: number }[] = [];

  /** @param window How far back the rate looks, in milliseconds. */
  constructor(window: number) {
    this.#window = window;
  }

  /** Notes the total at a time in milliseconds. */
  note(total: number, at: number): void {
    this.#points.push({ at, total });
    // One point at or before the window's beginning stays, so that the rate covers all of the window.
    while ((this.#points[1]?.at ?? Infinity) <= at - this.#window) this.#points.shift();
  }

  /** Per second, over at most the window; 0 before there are two points. */
  get perSecond(): number {
    const first = this.#points[0];
    const last = this.#points.at(-1);
    if (!first || !last || last.at <= first.at) return 0;
    return ((last.total - first.total) * 1000) / (last.at - first.at);
  }
}
