// Runs scenarios in a page, a dedicated worker or a shared worker.

/** What a scenario throws, with its stack, which `evaluate` of Playwright would lose from workers. */
globalThis.runHere = async (name, context) => {
  const [file, scenario] = name.split("/");
  const scenarios = await import(`/scenarios/${file}.js`);
  const { createTunnel } = await import("/muxgate/index.js");
  return scenarios[scenario]({ ...context, createTunnel });
};

globalThis.runInWorker = (name, context) => {
  const worker = new Worker("/worker.js", { type: "module" });
  return answer(worker, worker, name, context).finally(() => worker.terminate());
};

globalThis.runInSharedWorker = (name, context) => {
  const { port } = new SharedWorker("/worker.js", { type: "module" });
  return answer(port, port, name, context);
};

function answer(target, source, name, context) {
  return new Promise((resolve, reject) => {
    target.onmessage = ({ data }) => ("result" in data ? resolve(data.result) : reject(new Error(data.error)));
    target.onerror = ({ message }) => reject(new Error(message));
    source.postMessage({ name, context });
  });
}
