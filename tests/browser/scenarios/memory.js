// Readers that are slower than what they read.

/** Opens downloads and reads each at so many bytes per second, until `signal` says stop; returns what each one got. */
export async function trickle({ createTunnel, url, port, connections, rate, signal }) {
  const tunnel = createTunnel({ url, signal });
  const one = async () => {
    const socket = tunnel.connect({ hostname: "127.0.0.1", port });
    const reader = socket.readable.getReader({ mode: "byob" });
    let received = 0;
    let buffer = new ArrayBuffer(rate / 10);
    while (!signal.aborted) {
      const { value } = await reader.read(new Uint8Array(buffer)).catch(() => ({}));
      if (!value) break;
      received += value.length;
      buffer = value.buffer;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return received;
  };
  return Promise.all(Array.from({ length: connections }, one));
}
