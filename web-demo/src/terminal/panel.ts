import { parseAddress } from "../tunnel/address.ts";
import type { Gateway } from "../tunnel/gateway.ts";
import { byId, control, onChoice, setText } from "../ui/dom.ts";
import { size } from "../ui/format.ts";
import { Notice } from "../ui/notice.ts";
import { Conversation } from "./conversation.ts";
import { Transcript } from "./transcript.ts";
import { TranscriptView } from "./view.ts";

const ENDINGS: Record<string, string> = { crlf: "\r\n", lf: "\n", cr: "\r", none: "" };

/** The terminal: one connection at a time, to talk to a destination by hand. */
export class TerminalPanel {
  readonly #gateway: Gateway;
  readonly #form = byId("terminal-form", HTMLFormElement);
  readonly #action = control(this.#form, "action", HTMLButtonElement);
  readonly #destination = control(this.#form, "destination", HTMLInputElement);
  readonly #lineForm = byId("terminal-line", HTMLFormElement);
  readonly #line = control(this.#lineForm, "line", HTMLInputElement);
  readonly #send = control(this.#lineForm, "send", HTMLButtonElement);
  readonly #upload = control(this.#lineForm, "upload", HTMLButtonElement);
  readonly #file = control(this.#lineForm, "file", HTMLInputElement);
  readonly #half = control(this.#lineForm, "half", HTMLButtonElement);
  readonly #notice = new Notice(byId("terminal-notice", HTMLElement));
  readonly #transcript = new Transcript();
  readonly #view = new TranscriptView(this.#transcript);
  #conversation: Conversation | undefined;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    onSubmit(this.#form, () => (this.#conversation ? this.#close() : this.#open()));
    onSubmit(this.#lineForm, () => this.#sendLine());
    this.#upload.addEventListener("click", () => this.#file.click());
    this.#file.addEventListener("change", () => void this.#sendFile());
    this.#half.addEventListener("click", () => void this.#attempt((conversation) => conversation.endSending()));
    byId("terminal-clear", HTMLElement).addEventListener("click", () => {
      this.#transcript.clear();
      this.#view.update();
    });
    onChoice(byId("terminal-view", HTMLElement), (view) => (this.#view.hex = view === "hex"));
  }

  /** Fills in the destination that a demo offers. */
  offer(destination: string): void {
    this.#destination.value ||= destination;
  }

  async #open(): Promise<void> {
    this.#notice.clear();
    this.#action.disabled = true;
    try {
      const address = parseAddress(this.#destination.value);
      const tunnel = await this.#gateway.tunnel();
      this.#conversation = new Conversation(tunnel.connect(address, { allowHalfOpen: true }));
    } catch (error) {
      return this.#notice.fail(error);
    } finally {
      this.#action.disabled = false;
    }
    this.#conversation.addEventListener("change", () => this.#show());
    await this.#follow(this.#conversation);
    this.#conversation = undefined;
    this.#show();
  }

  /** Shows what comes until nothing will. */
  async #follow(conversation: Conversation): Promise<void> {
    this.#notice.say("Opening…");
    this.#show();
    try {
      await conversation.opened();
      this.#notice.say("Open.", "Type a line below, or send a file.", "good");
      this.#transcript.note(`open to ${this.#destination.value}`);
      this.#line.focus();
      await this.#listen(conversation);
      this.#transcript.note("closed");
      this.#notice.say("Closed: both directions have ended.");
    } catch (error) {
      if (conversation.closing) this.#notice.say("Closed.");
      else this.#notice.fail(error);
      if (conversation.wasOpen) this.#transcript.note("broken off");
    }
  }

  /** Resolves when both directions have ended. */
  async #listen(conversation: Conversation): Promise<void> {
    await conversation.read((bytes) => this.#transcript.received(bytes));
    if (!conversation.closing) {
      this.#transcript.note("the destination has ended its direction");
      if (!conversation.sendingEnded)
        this.#notice.say("The destination sends no more.", "You can still send, or close.");
    }
    await conversation.socket.closed;
  }

  async #close(): Promise<void> {
    await this.#attempt((conversation) => conversation.close());
  }

  async #sendLine(): Promise<void> {
    const text = this.#line.value;
    const ending = ENDINGS[control(this.#lineForm, "ending", HTMLSelectElement).value] ?? "";
    this.#line.value = "";
    this.#transcript.sent(text);
    await this.#attempt((conversation) => conversation.send(new TextEncoder().encode(text + ending)));
  }

  async #sendFile(): Promise<void> {
    const file = this.#file.files?.[0];
    if (!file) return;
    this.#transcript.sent(`file ${file.name}, ${size(file.size)}`);
    await this.#attempt((conversation) => conversation.sendFile(file));
    // So that the same file can be chosen again.
    this.#file.value = "";
  }

  async #attempt(action: (conversation: Conversation) => Promise<void>): Promise<void> {
    if (!this.#conversation) return;
    try {
      await action(this.#conversation);
    } catch (error) {
      this.#notice.fail(error);
    }
    this.#show();
  }

  #show(): void {
    const conversation = this.#conversation;
    setText(this.#action, conversation ? "Close" : "Open");
    this.#action.classList.toggle("stop", conversation !== undefined);
    this.#destination.readOnly = conversation !== undefined;
    for (const element of [this.#line, this.#send, this.#upload, this.#half]) element.disabled = !conversation?.sending;
    if (conversation) {
      setText(
        byId("terminal-counts", HTMLElement),
        `${size(conversation.sent)} sent, ${size(conversation.received)} received`,
      );
    }
    this.#view.update();
  }
}

function onSubmit(form: HTMLFormElement, action: () => Promise<void>): void {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void action();
  });
}
