// `muxgate demo`: the page as people use it, and who else may ask for it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startBrowser } from "../lib/chromium.mjs";
import { demo, request, watch } from "../lib/demo.mjs";
import { sourceDigest } from "../lib/destinations.mjs";

const MEGABYTES = 64;
const TRANSFERS = 4;
/** Longest time for anything on the page, in milliseconds: far beyond what it takes, so that a failure says where. */
const PATIENCE = 60_000;

let running, browser, page, faults;

before(async () => {
  running = await demo();
  browser = await startBrowser();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(PATIENCE);
  faults = await watch(page);
  await page.goto(running.origin);
});

after(async () => {
  await browser?.close();
  await running?.process.kill();
});

/** Presses Tab until the element that matches has the focus, as people without a mouse do. */
async function tabTo(selector) {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((selector) => document.activeElement?.matches(selector), selector)) return;
  }
  assert.fail(`the keyboard does not reach ${selector}`);
}

const text = (selector) => page.locator(selector).innerText();
const shows = (selector, pattern) =>
  page.waitForFunction(
    ([selector, pattern]) => new RegExp(pattern).test(document.querySelector(selector)?.textContent ?? ""),
    [selector, pattern.source],
  );

/** A click without a mouse: while a page moves bulk data, it may take the browser's driver many seconds to move one there. */
const press = (selector) => page.evaluate((selector) => document.querySelector(selector).click(), selector);

/** Bits a second of a rate as the page writes it. */
function bits(rate) {
  const [, number, unit] = /([\d.]+) ([kMGT]?)bit\/s/.exec(rate);
  return Number(number) * 1000 ** " kMGT".indexOf(unit || " ");
}

test("connects and talks to the echo service, by keyboard alone", async () => {
  await tabTo("#connect [name=action]");
  await page.keyboard.press("Enter");
  await shows("#state", /^Connected$/);

  await tabTo("#tab-lab");
  await page.keyboard.press("ArrowRight");
  await tabTo("#terminal-form [name=action]");
  await page.keyboard.press("Enter");
  // The page moves the focus there.
  await page.waitForFunction(() => document.activeElement?.matches("#terminal-line [name=line]:enabled"));
  await page.keyboard.type("there and back ✓");
  await page.keyboard.press("Enter");
  await shows("#transcript .received", /^there and back ✓/);
  await shows("#terminal-counts", /^20 B sent, 20 B received$/);

  await tabTo("#terminal-line [name=half]");
  await page.keyboard.press("Enter");
  await shows("#terminal-notice", /^Closed: both directions have ended/);
});

test("fetches a file through the tunnel, byte for byte", async () => {
  await page.click("#tab-fetch");
  await page.click("#fetch-form [name=action]");
  await shows("#fetch-body", /This page came through Muxgate/);

  await page.fill("#fetch-form [name=url]", `${running.destinations.http}${MEGABYTES}MiB`);
  await page.click("#fetch-form [name=action]");
  await shows("#fetch-digest", new RegExp(sourceDigest(MEGABYTES << 20)));
  assert.equal(await text("#fetch-result [data-figure=length]"), `of ${(MEGABYTES << 20).toLocaleString("en")} bytes`);
  assert.ok(bits(await text("#fetch-result [data-figure=rate]")) > 1e6);
});

test("the laboratory shares one WebSocket, and a stalled reader holds up nobody", async () => {
  await page.click("#tab-lab");
  await page.fill("#lab-form [name=count]", String(TRANSFERS));
  await press("#lab-form [name=action]");
  // Four transfers that move, a fair share for each, and a ping that comes back.
  await shows("#lab-figures [data-figure=average]", new RegExp(` each, ${TRANSFERS} moving`));
  await shows("#lab-figures [data-figure=jain]", /^(0\.9|1)/);
  await shows("#lab-figures [data-figure=ping]", /^[\d.]+ m?s$/);
  await shows("#lab-figures [data-figure=adjusts]", /^[1-9][\d,]*\/s$/);
  await shows("#lab-figures [data-figure=per-gigabyte]", /^[1-9][\d,]* for each GB$/);
  const sum = bits(await text("#lab-figures [data-figure=sum]"));
  assert.ok(sum > 1e6 && sum < 1e12, `${sum}`);
  assert.equal(await page.locator("#flows .flow").count(), TRANSFERS);

  await press("#lab-form [name=stall]");
  await shows("#flows .flow:nth-child(1) [data-figure=rate]", /^stalled$/);
  await shows("#lab-stalled", /Reader 1 has been stalled for \d+ s and holds [\d.]+ [KM]iB\.\s+The others go on: [\d.]+ [MG]bit\/s/);
  await shows("#lab-figures [data-figure=average]", new RegExp(` each, ${TRANSFERS - 1} moving`));
  await press("#lab-form [name=stall]");
  await shows("#lab-figures [data-figure=average]", new RegExp(` each, ${TRANSFERS} moving`));
});

test("the laboratory sends, too", async () => {
  await press("#lab-form [name=direction][value=up]");
  await shows("#flows .flow:nth-child(1) [data-figure=detail]", /credit$/);
  await shows("#lab-figures [data-figure=average]", new RegExp(` each, ${TRANSFERS} moving`));
  await press("#lab-form [name=action]");
  await shows("#lab-form [name=action]", /^Start$/);
});

test("on a phone nothing scrolls sideways, with everything that was shown", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const tab of ["terminal", "fetch", "lab"]) {
    await page.click(`#tab-${tab}`);
    const { wide, seen } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth,
      seen: document.documentElement.clientWidth,
    }));
    assert.equal(wide, seen, tab);
  }
});

test("a destination that is not the demo's is refused in words", async () => {
  await page.click("#tab-terminal");
  await page.fill("#terminal-form [name=destination]", "127.0.0.1:1");
  await page.click("#terminal-form [name=action]");
  await shows("#terminal-notice", /does not allow this destination/);
});

test("nothing went wrong in the page meanwhile", () => {
  assert.deepEqual(faults, []);
});

test("the page may be kept, and its files have their types", async () => {
  const index = await request(running.origin, {});
  assert.deepEqual([index.status, index.headers["cache-control"]], [200, "no-cache"]);
  assert.equal(index.headers["x-content-type-options"], "nosniff");
  const again = await request(running.origin, { headers: { "if-none-match": index.headers.etag } });
  assert.deepEqual([again.status, again.body.length], [304, 0]);
  const head = await request(running.origin, { method: "HEAD" });
  assert.deepEqual([head.status, Number(head.headers["content-length"]), head.body.length], [200, index.body.length, 0]);

  const script = /src="\.(\/assets\/[^"]+\.js)"/.exec(index.body)[1];
  const asset = await request(running.origin, { path: script });
  assert.match(asset.headers["cache-control"], /immutable/);
  assert.equal(asset.headers["content-type"], "text/javascript; charset=utf-8");
  const wasm = /muxgate-[\w-]+\.wasm/.exec(asset.body)[0];
  const code = await request(running.origin, { method: "HEAD", path: `/assets/${wasm}` });
  assert.deepEqual([code.status, code.headers["content-type"]], [200, "application/wasm"]);

  for (const path of ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/assets/../../Cargo.toml", "/etc/passwd", "//"]) {
    assert.equal((await request(running.origin, { path })).status, 404, path);
  }
});

test("pages of its own origin may connect, and no others", async () => {
  const { host } = new URL(running.origin);
  const upgrade = async (host, origin) => {
    const headers = {
      host, origin, connection: "upgrade", upgrade: "websocket",
      "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    return (await request(running.origin, { path: "/jet/jmux", headers })).status;
  };
  const local = host.replace("127.0.0.1", "localhost");
  assert.equal(await upgrade(host, `http://${host}`), 101);
  assert.equal(await upgrade(local, `http://${local}`), 101);
  // Another page on this machine, and a foreign name that was pointed here.
  assert.equal(await upgrade(host, "http://127.0.0.1:1"), 403);
  const foreign = host.replace("127.0.0.1", "evil.example");
  assert.equal(await upgrade(foreign, `http://${foreign}`), 403);
  assert.equal((await request(running.origin, { headers: { host: foreign } })).status, 421);
  assert.equal((await request(running.origin, { path: "/demo.json", headers: { host: foreign } })).status, 421);
});

test("Ctrl-C ends it quietly", async () => {
  const { code, last } = await running.process.interrupt();
  assert.deepEqual([code, last], [0, `muxgate: the page is at ${running.origin}/`]);
});
