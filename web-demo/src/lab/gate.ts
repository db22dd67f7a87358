/** Something to pass, unless it is shut. */
export class Gate {
  #passage = Promise.resolve();
  #let: (() => void) | undefined;

  get shut(): boolean {
    return this.#let !== undefined;
  }

  set shut(shut: boolean) {
    if (shut && !this.#let) this.#passage = new Promise((resolve) => (this.#let = resolve));
    if (!shut && this.#let) {
      this.#let();
      this.#let = undefined;
    }
  }

  /** Resolves at once while the gate is open, else when it opens. */
  pass(): Promise<void> {
    return this.#passage;
  }
}
