// What the package moves, and how fast it answers: for measurements. `bare.js` does the same without it.

/** Reads a source without an end for so many seconds; returns bytes per second. */
export async function receive({ createTunnel, url, port, seconds }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  await socket.opened;
  const begin = performance.now();
  let received = 0;
  const reader = socket.readable.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(256 * 1024);
  while (performance.now() < begin + seconds * 1000) {
    const { value } = await reader.read(new Uint8Array(buffer));
    received += value.length;
    buffer = value.buffer;
  }
  const rate = (received * 1000) / (performance.now() - begin);
  await reader.cancel();
  await tunnel.close();
  return rate;
}

/** Sends for so many seconds to a destination that answers when it has everything; returns bytes per second. */
export async function send({ createTunnel, url, port, seconds }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  await socket.opened;
  const piece = new Uint8Array(256 * 1024);
  const begin = performance.now();
  const writer = socket.writable.getWriter();
  let sent = 0;
  for (; performance.now() < begin + seconds * 1000; sent += piece.length) await writer.write(piece);
  writer.close();
  await socket.readable.getReader().read();
  const rate = (sent * 1000) / (performance.now() - begin);
  await tunnel.close();
  return rate;
}

/** One byte there and back for so many seconds, beside a download or beside nothing; returns milliseconds, sorted. */
export async function roundTrips({ createTunnel, url, port, bulkPort, seconds }) {
  const tunnel = createTunnel({ url });
  const connect = (port) => tunnel.connect({ hostname: "127.0.0.1", port });
  let busy = true;
  const download = async (reader) => {
    while (busy) await reader.read();
    await reader.cancel();
  };
  let downloading;
  if (bulkPort) {
    const reader = connect(bulkPort).readable.getReader();
    await reader.read();
    downloading = download(reader);
  }
  const { readable, writable } = connect(port);
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const taken = await repeat(seconds, async () => {
    writer.write(new Uint8Array(1));
    await reader.read();
  });
  busy = false;
  await downloading;
  await tunnel.close();
  return taken;
}

/** Does it again and again for so many seconds; returns the times it took, sorted, in milliseconds. */
export async function repeat(seconds, once) {
  const taken = [];
  const end = performance.now() + seconds * 1000;
  for (let begin = performance.now(); begin < end; ) {
    await once();
    const now = performance.now();
    taken.push(now - begin);
    begin = now;
  }
  return taken.sort((a, b) => a - b);
}
