// Bulk data as fast as it goes, for measurements: through the package, and through a bare WebSocket to the same gateway.

/** Counts what a source sends; returns bytes per second. */
export async function receive({ createTunnel, url, port }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  await socket.opened;
  const begin = performance.now();
  let received = 0;
  const reader = socket.readable.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(256 * 1024);
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done) break;
    received += value.length;
    buffer = value.buffer;
  }
  const rate = (received * 1000) / (performance.now() - begin);
  await tunnel.close();
  return rate;
}

/** Sends to a destination that answers when it has everything; returns bytes per second. */
export async function send({ createTunnel, url, port, bytes }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  await socket.opened;
  const piece = new Uint8Array(256 * 1024);
  const begin = performance.now();
  const writer = socket.writable.getWriter();
  for (let sent = 0; sent < bytes; sent += piece.length) await writer.write(piece);
  writer.close();
  await socket.readable.getReader().read();
  const rate = (bytes * 1000) / (performance.now() - begin);
  await tunnel.close();
  return rate;
}

const OPEN = 100, SUCCESS = 101, ADJUST = 103, DATA = 104, EOF = 105;
const WINDOW = 0x7fff_ffff;
const FRAME = 65_528;

/** Just enough of JMUX for one channel without flow control in our direction. */
async function bareChannel(url, port) {
  const socket = new WebSocket(new URL("/jet/jmux", url));
  socket.binaryType = "arraybuffer";
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onclose = reject;
  });
  socket.send(open(port));
  const answer = await new Promise((resolve) => (socket.onmessage = resolve));
  const view = new DataView(answer.data);
  if (view.getUint8(0) !== SUCCESS) throw new Error("the gateway refuses the destination");
  return { socket, remote: view.getUint32(8), credit: view.getUint32(12) };
}

function open(port) {
  const destination = new TextEncoder().encode(`tcp://127.0.0.1:${port}`);
  const frame = new Uint8Array(14 + destination.length);
  const view = new DataView(frame.buffer);
  header(view, OPEN, frame.length);
  view.setUint32(4, 0);
  view.setUint32(8, WINDOW);
  view.setUint16(12, FRAME);
  frame.set(destination, 14);
  return frame;
}

function header(view, type, size) {
  view.setUint8(0, type);
  view.setUint16(1, size);
}

/** What a WebSocket delivers when nobody looks at it; returns bytes per second. */
export async function bareReceive({ url, port, bytes }) {
  const { socket } = await bareChannel(url, port);
  const begin = performance.now();
  await new Promise((resolve) => {
    let received = 0;
    socket.onmessage = ({ data }) => {
      received += data.byteLength;
      if (received >= bytes) resolve();
    };
  });
  socket.close();
  return (bytes * 1000) / (performance.now() - begin);
}

/** What a WebSocket takes, held back by the gateway's credit and by bufferedAmount only; returns bytes per second. */
export async function bareSend({ url, port, bytes }) {
  const { socket, remote, credit } = await bareChannel(url, port);
  const frame = new Uint8Array(FRAME);
  const view = new DataView(frame.buffer);
  header(view, DATA, FRAME);
  view.setUint32(4, remote);
  const eof = new Uint8Array(8);
  header(new DataView(eof.buffer), EOF, 8);
  new DataView(eof.buffer).setUint32(4, remote);

  const begin = performance.now();
  const hop = new MessageChannel();
  let left = bytes;
  let room = credit;
  const more = () => {
    while (left > 0 && room >= FRAME - 8 && socket.bufferedAmount < 1024 * 1024) {
      socket.send(frame);
      left -= FRAME - 8;
      room -= FRAME - 8;
      if (left <= 0) socket.send(eof);
    }
    if (left > 0 && room >= FRAME - 8) hop.port2.postMessage(null);
  };
  hop.port1.onmessage = more;
  await new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      const view = new DataView(data);
      for (let at = 0; at < data.byteLength; at += view.getUint16(at + 1)) {
        if (view.getUint8(at) === ADJUST) room += view.getUint32(at + 8);
        if (view.getUint8(at) === DATA) resolve();
      }
      more();
    };
    more();
  });
  hop.port1.close();
  socket.close();
  return (bytes * 1000) / (performance.now() - begin);
}

/** One byte there and back, so many times, beside a download or beside nothing; returns milliseconds, sorted. */
export async function latency({ createTunnel, url, port, times, bulkPort }) {
  const tunnel = createTunnel({ url });
  let busy = true;
  const download = async () => {
    const reader = tunnel.connect({ hostname: "127.0.0.1", port: bulkPort }).readable.getReader();
    while (busy && !(await reader.read()).done);
    await reader.cancel();
  };
  const bulk = bulkPort ? download() : undefined;
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const writer = socket.writable.getWriter();
  const reader = socket.readable.getReader();
  const taken = [];
  for (let i = 0; i < times; i++) {
    const begin = performance.now();
    writer.write(new Uint8Array(1));
    await reader.read();
    taken.push(performance.now() - begin);
  }
  busy = false;
  await bulk;
  await tunnel.close();
  return taken.sort((a, b) => a - b);
}
