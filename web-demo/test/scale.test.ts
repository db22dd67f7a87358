import assert from "node:assert/strict";
import { test } from "node:test";

import { binaryScale, decimalScale } from "../src/chart/scale.ts";

test("an axis ends at or above the largest value, with three to five lines above zero", () => {
  for (const scale of [decimalScale, binaryScale]) {
    for (let max = 1e-3; max < 1e12; max *= 1.37) {
      const { top, step } = scale(max);
      assert.ok(top >= max, `${max}`);
      assert.ok(top / step >= 2 && top / step <= 5, `${max}: ${top / step} lines`);
    }
  }
});

test("lines stand at round numbers", () => {
  assert.deepEqual(decimalScale(6.3e9), { top: 8e9, step: 2e9 });
  assert.deepEqual(decimalScale(4), { top: 4, step: 1 });
  assert.deepEqual(binaryScale(5 * 2 ** 20), { top: 6 * 2 ** 20, step: 2 ** 21 });
});
