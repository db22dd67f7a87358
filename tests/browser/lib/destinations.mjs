// TCP servers that the gateway connects to.

import { createHash } from "node:crypto";
import { once } from "node:events";
import net from "node:net";

/** Listens on a free port of loopback. `handle` gets each connection. */
export async function listen(handle) {
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // A client that goes away is no failure of a destination.
    socket.on("error", () => {});
    handle(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return server.address().port;
}

/** Sends everything back, and ends after the client did. */
export function echo(socket) {
  socket.pipe(socket);
}

/** Sends so many bytes of `pattern`, and ends. */
export function source(bytes) {
  return (socket) => {
    let left = bytes;
    const more = () => {
      while (left > 0) {
        const piece = pattern.subarray(0, Math.min(left, pattern.length));
        left -= piece.length;
        if (!socket.write(piece)) return;
      }
      socket.end();
    };
    socket.on("drain", more);
    socket.resume();
    more();
  };
}

/** Takes everything, and answers with its SHA-256 when the client has ended. */
export function digest(socket) {
  const hash = createHash("sha256");
  socket.on("data", (data) => hash.update(data));
  socket.on("end", () => socket.end(hash.digest("hex")));
}

/** Ends its own direction at once with a word, and reports what arrives after that. */
export function farewell(report) {
  return (socket) => {
    socket.end("farewell");
    let received = "";
    socket.on("data", (data) => (received += data));
    socket.on("end", () => report(received));
  };
}

/** Answers the first data with a reset. */
export function reset(socket) {
  socket.once("data", () => socket.resetAndDestroy());
}

/** Reads nothing. */
export function deaf(socket) {
  socket.pause();
}

/** Bytes that show what is lost, doubled or out of order: no short piece of them repeats. */
export const pattern = Buffer.alloc(1 << 20);
for (let i = 0, x = 1; i < pattern.length; i += 4) {
  x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
  pattern.writeUInt32LE(x, i);
}

/** The SHA-256 of so many bytes of the source. */
export function sourceDigest(bytes) {
  const hash = createHash("sha256");
  for (let left = bytes; left > 0; left -= pattern.length) hash.update(pattern.subarray(0, Math.min(left, pattern.length)));
  return hash.digest("hex");
}
