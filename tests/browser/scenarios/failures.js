// What goes wrong, and what the page learns of it.

/** How a promise ended: "resolved", or the code of its error. */
export async function outcome(promise) {
  return promise.then(() => "resolved", (error) => error?.code ?? String(error));
}

/** All there is to know about a connection that failed. */
export async function refused({ createTunnel, url, address }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect(address);
  const reader = socket.readable.getReader();
  const writer = socket.writable.getWriter();
  const outcomes = await Promise.all(
    [socket.opened, socket.closed, reader.read(), reader.closed, writer.write("x"), writer.closed].map(outcome),
  );
  const message = await socket.opened.catch((error) => error.message);
  const isTypeError = await socket.opened.catch((error) => error instanceof TypeError);
  await tunnel.close();
  return { outcomes: [...new Set(outcomes)], message, isTypeError };
}

/** The destination breaks the connection off. */
export async function reset({ createTunnel, url, port }) {
  const tunnel = createTunnel({ url });
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const reader = socket.readable.getReader();
  await socket.writable.getWriter().write("x");
  const outcomes = await Promise.all([socket.opened, socket.closed, reader.read(), reader.closed].map(outcome));
  await tunnel.close();
  return outcomes;
}

/** Transfers in both directions until the gateway is gone. */
export async function gatewayGone({ createTunnel, url, source, deaf }) {
  const tunnel = createTunnel({ url });
  const down = tunnel.connect({ hostname: "127.0.0.1", port: source });
  const up = tunnel.connect({ hostname: "127.0.0.1", port: deaf });
  await Promise.all([down.opened, up.opened]);
  const reading = (async () => {
    for await (const _ of down.readable);
  })();
  const writer = up.writable.getWriter();
  const writing = (async () => {
    for (;;) await writer.write(new Uint8Array(100_000));
  })();
  const reader = up.readable.getReader();
  const promises = [reading, writing, reader.read(), writer.closed, down.closed, up.closed];
  const outcomes = await Promise.all(promises.map(outcome));
  const error = await up.closed.catch((error) => error);
  // Another connection makes another attempt, and nobody is there.
  const again = await outcome(tunnel.connect({ hostname: "127.0.0.1", port: source }).opened);
  return { outcomes, again, closeCode: error.closeCode, message: error.message, state: tunnel.state };
}

/** No gateway at all. */
export async function noGateway({ createTunnel, url }) {
  const tunnel = createTunnel({ url });
  const states = [];
  tunnel.addEventListener("statechange", () => states.push(tunnel.state));
  const socket = tunnel.connect("127.0.0.1:1");
  const outcomes = await Promise.all([socket.opened, socket.closed].map(outcome));
  const error = await socket.opened.catch((error) => error);
  return { outcomes, closeCode: error.closeCode, message: error.message, states, same: tunnel.error === error };
}

/** One tunnel before and after the gateway was started again. */
export async function firstWord({ tunnel, port }) {
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const writer = socket.writable.getWriter();
  writer.write("again");
  const { value } = await socket.readable.getReader().read();
  socket.close();
  return new TextDecoder().decode(value);
}

/** What is no address, and what is not supported. */
export async function misuse({ createTunnel, url }) {
  const thrown = (call) => {
    try {
      call();
    } catch (error) {
      return error.code ?? error.name;
    }
  };
  const tunnel = createTunnel({ url });
  const connect = (address) => () => tunnel.connect(address);
  const tls = tunnel.connect("a.invalid:1", { secureTransport: "on" });
  const start = tunnel.connect("a.invalid:1", { secureTransport: "starttls" });
  const codes = {
    noPort: thrown(connect("localhost")),
    bareIpv6: thrown(connect("::1:80")),
    zero: thrown(connect({ hostname: "a", port: 0 })),
    noHost: thrown(connect(":80")),
    badName: await outcome(tunnel.connect({ hostname: "a b", port: 1 }).opened),
    noUrl: thrown(() => createTunnel({})),
    badUrl: thrown(() => createTunnel({ url: "ftp://a" })),
    smallWindow: thrown(() => createTunnel({ url, window: 4096 })),
    tls: [await outcome(tls.opened), await outcome(tls.closed)],
    startTls: await outcome(start.startTls().opened),
    startTlsOff: thrown(() => tunnel.connect("a.invalid:1").startTls()),
  };
  await tunnel.close();
  codes.closed = await outcome(tunnel.connect("a.invalid:1").opened);
  return codes;
}
