import assert from "node:assert/strict";
import { test } from "node:test";

import { jain } from "../src/measure/jain.ts";
import { quantile } from "../src/measure/quantile.ts";
import { RateMeter } from "../src/measure/rate.ts";

test("Jain's index is one for equals, and the share of those who have something", () => {
  assert.equal(jain([3, 3, 3, 3]), 1);
  assert.equal(jain([8, 0, 0, 0]), 0.25);
  assert.equal(jain([1, 1, 0, 0]), 0.5);
  assert.ok(Number.isNaN(jain([0, 0])));
  assert.ok(Number.isNaN(jain([])));
});

test("a rate covers the window, and nothing before it", () => {
  const meter = new RateMeter(1000);
  assert.equal(meter.perSecond, 0);
  meter.note(0, 0);
  assert.equal(meter.perSecond, 0);
  meter.note(500, 500);
  assert.equal(meter.perSecond, 1000);
  for (let at = 1000; at <= 3000; at += 500) meter.note(500, at);
  assert.equal(meter.perSecond, 0);
});

test("a rate counts time without news", () => {
  const meter = new RateMeter(1000);
  meter.note(0, 0);
  meter.note(1000, 1000);
  meter.note(1000, 3000);
  assert.equal(meter.perSecond, 0);
});

test("quantiles are values that were there", () => {
  assert.equal(quantile([5, 1, 3], 0.5), 3);
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2);
  assert.equal(quantile([1, 2, 3, 4], 0.99), 4);
  assert.equal(quantile([7], 0), 7);
  assert.ok(Number.isNaN(quantile([], 0.5)));
});
