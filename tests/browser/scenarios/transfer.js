// Bytes there and back. Each scenario gets `createTunnel`, the gateway's `url`, and what its test adds.

/** Downloads everything and returns its SHA-256. */
export async function download({ createTunnel, url, port, bytes }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const all = new Uint8Array(bytes);
  let received = 0;
  for await (const chunk of socket.readable) {
    all.set(chunk, received);
    received += chunk.length;
  }
  await socket.closed;
  await tunnel.close();
  return { received, digest: await sha256(all) };
}

/** Uploads, ends its direction, and reads the answer that comes only then. */
export async function upload({ createTunnel, url, port, bytes }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const all = noise(bytes);
  const writer = socket.writable.getWriter();
  for (let sent = 0; sent < bytes; sent += 100_000) await writer.write(all.subarray(sent, sent + 100_000));
  await writer.close();
  const answer = await text(socket.readable);
  await socket.closed;
  await tunnel.close();
  return { answer, digest: await sha256(all) };
}

/** Many echoes at a time, each with bytes of its own; returns how many were right. */
export async function parallel({ createTunnel, url, port, connections, bytes }) {
  const tunnel = createTunnel({ url });
  const one = async (number) => {
    const socket = tunnel.connect({ hostname: "127.0.0.1", port });
    const sent = noise(bytes, number + 1);
    const writing = (async () => {
      const writer = socket.writable.getWriter();
      for (let at = 0; at < bytes; at += 30_000) await writer.write(sent.subarray(at, at + 30_000));
      await writer.close();
    })();
    let received = 0;
    for await (const chunk of socket.readable) {
      for (const [index, byte] of chunk.entries()) if (byte !== sent[received + index]) return false;
      received += chunk.length;
    }
    await writing;
    return received === bytes;
  };
  const right = await Promise.all(Array.from({ length: connections }, (_, number) => one(number)));
  const { channels, channelsOpened } = tunnel.stats();
  await tunnel.close();
  return { right: right.filter(Boolean).length, channels, channelsOpened };
}

/** Writes after the other side has ended. */
export async function halfOpen({ createTunnel, url, port }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port }, { allowHalfOpen: true });
  const received = await text(socket.readable);
  const writer = socket.writable.getWriter();
  await writer.write("late ");
  await writer.write("words");
  await writer.close();
  await socket.closed;
  await tunnel.close();
  return received;
}

/** Does not ask for half-open sockets: the end of the other side ends `writable` too, behind what it took. */
export async function notHalfOpen({ createTunnel, url, port }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const writer = socket.writable.getWriter();
  await writer.write("early words");
  const received = await text(socket.readable);
  await socket.closed;
  const late = await writer.write("late words").then(() => "taken", (error) => error.code);
  await tunnel.close();
  return { received, late };
}

/** One byte there and back, so many times; returns the median in milliseconds. */
export async function pingPong({ createTunnel, url, port, times }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const writer = socket.writable.getWriter();
  const reader = socket.readable.getReader();
  const taken = [];
  for (let i = 0; i < times; i++) {
    const begin = performance.now();
    writer.write(new Uint8Array([i]));
    await reader.read();
    taken.push(performance.now() - begin);
  }
  await tunnel.close();
  return taken.sort((a, b) => a - b)[times >> 1];
}

/** Bytes that nobody can guess from a neighbour. */
export function noise(bytes, seed = 1) {
  const words = new Uint32Array(Math.ceil(bytes / 4));
  let x = seed;
  for (let i = 0; i < words.length; i++) words[i] = x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
  return new Uint8Array(words.buffer, 0, bytes);
}

export async function text(readable) {
  const decoder = new TextDecoder();
  let all = "";
  for await (const chunk of readable) all += decoder.decode(chunk, { stream: true });
  return all + decoder.decode();
}

async function sha256(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
