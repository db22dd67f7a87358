// A WebSocket that leads nowhere: tests decide what it buffers and says.

const OPEN = 100;
const SUCCESS = 101;
const DATA = 104;

/** Every open of a channel succeeds, with a window that never ends. */
export class FakeWebSocket {
  static last;
  readyState = 0;
  bufferedAmount = 0;
  extensions = "";
  binaryType = "blob";
  onopen = null;
  onclose = null;
  onerror = null;
  onmessage = null;
  /** Payload of DATA messages, in bytes. */
  sent = 0;
  messages = [];
  closed = [];

  constructor(url, protocols) {
    this.url = url;
    this.protocols = protocols;
    FakeWebSocket.last = this;
    queueMicrotask(() => this.opens());
  }

  opens() {
    this.readyState = 1;
    this.onopen?.({});
  }

  send(data) {
    this.messages.push(data);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (bytes[0] === OPEN) this.#succeed(bytes);
    if (bytes[0] === DATA) {
      this.sent += bytes.length;
      this.bufferedAmount += bytes.length;
    }
  }

  close(code) {
    this.closed.push(code);
  }

  /** The browser has sent so much. */
  drain(bytes) {
    this.bufferedAmount -= bytes;
  }

  #succeed(open) {
    const answer = new DataView(new ArrayBuffer(18));
    answer.setUint8(0, SUCCESS);
    answer.setUint16(1, 18);
    // Their number is ours: nothing else is told apart by it.
    answer.setUint32(4, new DataView(open.buffer, open.byteOffset).getUint32(4));
    answer.setUint32(8, 7);
    answer.setUint32(12, 0x7fff_ffff);
    answer.setUint16(16, 65_528);
    queueMicrotask(() => this.onmessage({ data: answer.buffer }));
  }
}

/** The page's next tasks: hops and messages have run by then, timers may not have. */
export async function tasks(count = 20) {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}
