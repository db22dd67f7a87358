// What the package moves, beside a bare WebSocket of the same browser to the same gateway: `node bench/bulk.mjs [rounds [MiB]]`.

import { startBrowser } from "../lib/chromium.mjs";
import { echo, listen, source } from "../lib/destinations.mjs";
import { startGateway } from "../lib/gateway.mjs";
import { startSite } from "../lib/site.mjs";

const BYTES = Number(process.argv[3] ?? 256) * 1024 * 1024;
const ROUNDS = Number(process.argv[2] ?? 5);

const origin = await startSite();
const browser = await startBrowser();
const gateway = await startGateway({ origin });
const [down, up, back, endless] = await Promise.all([
  listen(source(BYTES)), listen(answerAtEnd), listen(echo), listen(source(2 ** 40)),
]);
const run = async (name, context) => {
  const page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction(() => "runHere" in globalThis);
  const result = await page.evaluate(([name, context]) => runHere(name, context), [name, { url: gateway.url, ...context }]);
  await page.close();
  return result;
};

for (const [what, ours, bare, port] of [
  ["down", "bulk/receive", "bulk/bareReceive", down],
  ["up", "bulk/send", "bulk/bareSend", up],
]) {
  const rates = { ours: [], bare: [] };
  for (let round = 0; round < ROUNDS; round++) {
    rates.bare.push(await run(bare, { port, bytes: BYTES }));
    rates.ours.push(await run(ours, { port, bytes: BYTES }));
  }
  const [a, b] = [median(rates.ours), median(rates.bare)];
  console.log(`${what}: ${shown(a)} MB/s, bare WebSocket ${shown(b)} MB/s, ratio ${(a / b).toFixed(2)}`);
}
for (const [what, bulkPort] of [["nothing", undefined], ["a download", endless]]) {
  const taken = await run("bulk/latency", { port: back, times: 500, bulkPort });
  const at = (share) => taken[Math.floor(taken.length * share)].toFixed(2);
  console.log(`one byte there and back beside ${what}: median ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}
await browser.close();
await gateway.kill();

function answerAtEnd(socket) {
  socket.on("data", () => {});
  socket.on("end", () => socket.end("."));
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

function shown(bytes) {
  return (bytes / 1e6).toFixed(0);
}
