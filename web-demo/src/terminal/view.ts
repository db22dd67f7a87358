import { byId } from "../ui/dom.ts";
import { size } from "../ui/format.ts";
import { hexRows } from "./hexdump.ts";
import { printable } from "./printable.ts";
import type { Entry, Transcript } from "./transcript.ts";

/** Between two renderings, in milliseconds: a fast sender must not keep the page busy with showing it. */
const PAUSE = 100;
/** Space that one column of a hexadecimal dump takes, in characters of the font. */
const WIDE = 80;

/** Shows a transcript as text or in hexadecimal. */
export class TranscriptView {
  readonly #element = byId("transcript", HTMLElement);
  readonly #transcript: Transcript;
  #hex = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  set hex(hex: boolean) {
    this.#hex = hex;
    this.#element.classList.toggle("hex", hex);
    this.#render();
  }

  /** Shows what has changed, soon. */
  update(): void {
    this.#timer ??= setTimeout(() => this.#render(), PAUSE);
  }

  #render(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { scrollTop, scrollHeight, clientHeight } = this.#element;
    // Whoever has scrolled up wants to read there.
    const follow = scrollHeight - scrollTop - clientHeight < 40;
    this.#element.replaceChildren(...(this.#hex ? this.#hexLines() : this.#textLines()));
    if (follow) this.#element.scrollTop = this.#element.scrollHeight;
  }

  #textLines(): Node[] {
    const { dropped, entries } = this.#transcript;
    const nodes = entries.map((entry, index) => show(entry, entries[index + 1]));
    return dropped > 0 ? [span("note", `… ${size(dropped)} before this\n`), ...nodes] : nodes;
  }

  #hexLines(): Node[] {
    const columns = charactersIn(this.#element) >= WIDE ? 16 : 8;
    return hexRows(this.#transcript.bytes(), this.#transcript.dropped, columns).flatMap(({ offset, hex, ascii }) => [
      span("offset", `${offset}  `),
      document.createTextNode(hex),
      span("ascii", `  ${ascii}\n`),
    ]);
  }
}

function show(entry: Entry, next: Entry | undefined): Node {
  if (entry.kind !== "received") return span(entry.kind, `${entry.kind === "sent" ? "› " : ""}${entry.text}\n`);
  const text = printable(new TextDecoder().decode(entry.bytes));
  // What is ours begins on a line of its own, though the other side has not ended its line.
  return span("received", next && !text.endsWith("\n") ? `${text}\n` : text);
}

function span(kind: string, text: string): HTMLElement {
  const element = document.createElement("span");
  element.className = kind;
  element.textContent = text;
  return element;
}

/** About how many characters of a fixed font are as wide as the element. */
function charactersIn(element: HTMLElement): number {
  const em = Number.parseFloat(getComputedStyle(element).fontSize);
  return element.clientWidth / (em * 0.6);
}
