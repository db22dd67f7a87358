import { type Explanation, explain } from "../tunnel/explain.ts";

export type Tone = "good" | "bad" | "warn" | "plain";

/** A sentence beside a form, and what to do next. Screen readers say it when it changes. */
export class Notice {
  constructor(readonly element: HTMLElement) {}

  say(what: string, next = "", tone: Tone = "plain"): void {
    const sentence = document.createElement("b");
    const advice = document.createElement("span");
    sentence.textContent = what;
    advice.textContent = next === "" ? "" : ` ${next}`;
    this.element.dataset["tone"] = tone;
    this.element.replaceChildren(sentence, advice);
  }

  tell({ what, next }: Explanation): void {
    this.say(what, next, "bad");
  }

  fail(error: unknown): void {
    this.tell(explain(error));
  }

  clear(): void {
    this.element.replaceChildren();
  }
}
