import { InputError } from "../tunnel/address.ts";
import { type Explanation, explain } from "../tunnel/explain.ts";

export type Tone = "good" | "bad" | "warn" | "plain";

/** A sentence beside a form, and what to do next. Screen readers say it when it changes. */
export class Notice {
  constructor(readonly element: HTMLElement) {}

  say(what: string, next = "", tone: Tone = "plain"): void {
    const text = `${what} ${next}`.trim();
    // The same again would be read out again.
    if (this.element.textContent === text) return;
    const sentence = document.createElement("b");
    const advice = document.createElement("span");
    sentence.textContent = what;
    advice.textContent = next === "" ? "" : ` ${next}`;
    this.element.dataset["tone"] = tone;
    this.element.replaceChildren(sentence, advice);
  }

  fail(error: unknown, explained: Explanation = explain(error)): void {
    this.say(explained.what, explained.next, error instanceof InputError ? "warn" : "bad");
  }

  clear(): void {
    this.element.replaceChildren();
  }
}
