// The worker's half of run.js: dedicated, or shared.

import "/run.js";

const serve = async (port, { name, context }) => {
  try {
    port.postMessage({ result: await runHere(name, context) });
  } catch (error) {
    port.postMessage({ error: String(error?.stack ?? error) });
  }
};

globalThis.onmessage = ({ data }) => serve(globalThis, data);
globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => serve(port, data);
};
