/** Received bytes that are kept: what a person may scroll through, and no more. */
const KEPT = 32 * 1024;
/** Lines sent and notes that are kept. */
const MAX_ENTRIES = 500;

export type Entry = { kind: "received"; bytes: Uint8Array } | { kind: "sent" | "note"; text: string };

/** What was said on a connection, in order, as far as it is worth keeping. */
export class Transcript {
  #entries: Entry[] = [];
  #kept = 0;
  #received = 0;

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Bytes received that are not kept any more. */
  get dropped(): number {
    return this.#received - this.#kept;
  }

  /** Adds received bytes, of which it keeps a copy. */
  received(bytes: Uint8Array): void {
    this.#received += bytes.length;
    const kept = bytes.slice(-KEPT);
    const last = this.#entries.at(-1);
    // Pieces that follow each other are one, or a character that was cut in two would not be shown.
    if (last?.kind === "received") last.bytes = joined(last.bytes, kept);
    else this.#add({ kind: "received", bytes: kept });
    this.#kept += kept.length;
    this.#shorten();
  }

  /** Adds a line that was sent. */
  sent(text: string): void {
    this.#add({ kind: "sent", text });
  }

  /** Adds a line about the connection. */
  note(text: string): void {
    this.#add({ kind: "note", text });
  }

  clear(): void {
    this.#entries = [];
    this.#kept = 0;
  }

  /** Everything received that is kept. */
  bytes(): Uint8Array {
    let all: Uint8Array = new Uint8Array();
    for (const entry of this.#entries) if (entry.kind === "received") all = joined(all, entry.bytes);
    return all;
  }

  #add(entry: Entry): void {
    this.#entries.push(entry);
    if (this.#entries.length > MAX_ENTRIES) this.#forget(this.#entries.shift());
  }

  #forget(entry: Entry | undefined): void {
    if (entry?.kind === "received") this.#kept -= entry.bytes.length;
  }

  #shorten(): void {
    for (const entry of this.#entries) {
      if (this.#kept <= KEPT) break;
      if (entry.kind !== "received") continue;
      const cut = Math.min(this.#kept - KEPT, entry.bytes.length);
      entry.bytes = entry.bytes.subarray(cut);
      this.#kept -= cut;
    }
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
