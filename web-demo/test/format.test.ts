import assert from "node:assert/strict";
import { test } from "node:test";

import { duration, rate, short, size } from "../src/ui/format.ts";

test("rates and sizes carry the unit that keeps them short", () => {
  assert.equal(rate(0), "0 bit/s");
  assert.equal(rate(950), "950 bit/s");
  assert.equal(rate(999.6), "1.00 kbit/s");
  assert.equal(rate(12_345_678), "12.3 Mbit/s");
  assert.equal(rate(6.5e9), "6.50 Gbit/s");
  assert.equal(rate(Number.NaN), "–");
  assert.equal(size(1023), "1023 B");
  assert.equal(size(1024), "1.00 KiB");
  assert.equal(size(64 * 1024 * 1024), "64.0 MiB");
});

test("times go from parts of a millisecond to minutes", () => {
  assert.equal(duration(0.41234), "0.41 ms");
  assert.equal(duration(23.456), "23.5 ms");
  assert.equal(duration(1500), "1.5 s");
  assert.equal(duration(61_000), "1 min 1 s");
});

test("an axis has no zeros at the end", () => {
  const inShort = short((value) => `${value.toFixed(2)} Gbit/s`);
  assert.equal(inShort(2), "2 Gbit/s");
  assert.equal(inShort(2.5), "2.5 Gbit/s");
  assert.equal(inShort(2.25), "2.25 Gbit/s");
  assert.equal(inShort(100), "100 Gbit/s");
  assert.equal(short(String)(100), "100");
});
