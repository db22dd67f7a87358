// What a WebSocket of the browser moves by itself, to the same gateway: what measure.js is compared with.

import { repeat } from "./measure.js";

const OPEN = 100, SUCCESS = 101, ADJUST = 103, DATA = 104, EOF = 105;
const WINDOW = 0x7fff_ffff;
const FRAME = 65_528, HEADER = 8, PAYLOAD = FRAME - HEADER;

/** Receives for so many seconds and looks at nothing; returns bytes per second. */
export async function receive({ url, port, seconds }) {
  const { socket } = await connect(url, port);
  const begin = performance.now();
  let received = 0;
  await new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      received += data.byteLength;
      if (performance.now() >= begin + seconds * 1000) resolve();
    };
  });
  const rate = (received * 1000) / (performance.now() - begin);
  socket.close();
  return rate;
}

/** Sends for so many seconds, held back by the gateway's credit and by bufferedAmount only; returns bytes per second. */
export async function send({ url, port, seconds }) {
  const channel = await connect(url, port);
  const { socket } = channel;
  const data = frame(DATA, channel.remote, FRAME);
  const begin = performance.now();
  const hop = new MessageChannel();
  let sent = 0;
  let ended = false;
  const more = () => {
    while (!ended && channel.credit >= PAYLOAD && socket.bufferedAmount < 1024 * 1024) {
      socket.send(data);
      sent += PAYLOAD;
      channel.credit -= PAYLOAD;
      ended = performance.now() >= begin + seconds * 1000;
      if (ended) socket.send(frame(EOF, channel.remote, HEADER));
    }
    if (!ended && channel.credit >= PAYLOAD) hop.port2.postMessage(null);
  };
  hop.port1.onmessage = more;
  await new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      for (const { type, amount } of frames(data)) {
        if (type === ADJUST) channel.credit += amount;
        if (type === DATA) resolve();
      }
      more();
    };
    more();
  });
  hop.port1.close();
  socket.close();
  return (sent * 1000) / (performance.now() - begin);
}

/** One byte there and back for so many seconds, beside a download through another WebSocket or beside nothing. */
export async function roundTrips({ url, port, bulkPort, seconds }) {
  const download = bulkPort && (await connect(url, bulkPort)).socket;
  if (download) await new Promise((resolve) => (download.onmessage = resolve));
  const { socket, remote } = await connect(url, port);
  const byte = frame(DATA, remote, HEADER + 1);
  const taken = await repeat(seconds, () => {
    socket.send(byte);
    return new Promise((resolve) => {
      // The gateway grants credit as well.
      socket.onmessage = ({ data }) => frames(data).some(({ type }) => type === DATA) && resolve();
    });
  });
  download?.close();
  socket.close();
  return taken;
}

/** Just enough of JMUX for one channel without flow control in our direction. */
async function connect(url, port) {
  const socket = new WebSocket(new URL("/jet/jmux", url));
  socket.binaryType = "arraybuffer";
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onclose = reject;
  });
  socket.send(open(port));
  const { data } = await new Promise((resolve) => (socket.onmessage = resolve));
  const view = new DataView(data);
  if (view.getUint8(0) !== SUCCESS) throw new Error("the gateway refuses the destination");
  return { socket, remote: view.getUint32(8), credit: view.getUint32(12) };
}

function open(port) {
  const destination = new TextEncoder().encode(`tcp://127.0.0.1:${port}`);
  const message = frame(OPEN, 0, 14 + destination.length);
  const view = new DataView(message.buffer);
  view.setUint32(8, WINDOW);
  view.setUint16(12, FRAME);
  message.set(destination, 14);
  return message;
}

/** A message with its header, and zeroes. */
function frame(type, channel, size) {
  const message = new Uint8Array(size);
  const view = new DataView(message.buffer);
  view.setUint8(0, type);
  view.setUint16(1, size);
  view.setUint32(4, channel);
  return message;
}

/** The messages of JMUX in one of the WebSocket: all of them whole, as long as they are small. */
function* frames(data) {
  const view = new DataView(data);
  for (let at = 0; at < data.byteLength; at += view.getUint16(at + 1)) {
    const type = view.getUint8(at);
    yield { type, amount: type === ADJUST ? view.getUint32(at + 8) : 0 };
  }
}
