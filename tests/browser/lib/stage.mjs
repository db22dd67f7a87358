// What most tests need: a browser with a page, and a gateway.

import { after, before } from "node:test";

import { startBrowser } from "./chromium.mjs";
import { engines } from "./engines.mjs";
import { startGateway } from "./gateway.mjs";
import { startSite } from "./site.mjs";

/** Set up before the tests of a file and taken down after them. */
export function stage() {
  const stage = {};
  before(async () => {
    stage.origin = await startSite();
    stage.browser = await startBrowser();
    stage.page = await stage.browser.newPage();
    await stage.page.goto(stage.origin);
    await stage.page.waitForFunction(() => "runHere" in globalThis);
    stage.gateway = await startGateway({ origin: stage.origin });
  });
  after(async () => {
    await stage.gateway?.kill();
    await stage.browser?.close();
  });
  stage.engines = engines(() => stage.page);
  return stage;
}
