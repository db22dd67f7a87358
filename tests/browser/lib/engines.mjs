// Where a scenario runs: one scenario, many engines.

import { createTunnel } from "muxgate";
import WebSocket from "ws";

/** Each runs `scenario` ("file/function") with a context that survives JSON, and returns what the scenario returns. */
export function engines(page) {
  const inPage = (how) => (name, context) =>
    page().evaluate(([how, name, context]) => globalThis[how](name, context), [how, name, context]);
  return {
    page: inPage("runHere"),
    worker: inPage("runInWorker"),
    "shared worker": inPage("runInSharedWorker"),
    node: async (name, context) => {
      const [file, scenario] = name.split("/");
      const scenarios = await import(`../scenarios/${file}.js`);
      return scenarios[scenario]({ ...context, createTunnel: (options) => createTunnel({ ...options, WebSocket }) });
    },
  };
}
