import assert from "node:assert/strict";
import { test } from "node:test";

import { stage } from "../lib/stage.mjs";
import { names } from "../scenarios/conformance.js";

const scene = stage();

for (const [engine, runThere] of Object.entries(scene.engines)) {
  for (const name of names()) {
    test(`${name}, ${engine}`, () => runThere("conformance/run", { name }));
  }
}

// The last one: a panic leaves the page's module in whatever state it was.
test("a scenario that fails says why", async () => {
  await assert.rejects(scene.engines.page("conformance/run", { name: "none" }), /it is one of the names/);
});
