// The pure functions of the soft lookup: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { nearest, nudged, pointed, signed } from "../../src/attnlab/figures/live/soft_lookup.mjs";

test("arrow keys move the query by a tenth, Shift by a half", () => {
  assert.deepEqual(nudged([1, 2], "ArrowRight", 3, 0.1), [1.1, 2]);
  assert.deepEqual(nudged([1, 2], "ArrowUp", 3, 0.1), [1, 2.1]);
  assert.deepEqual(nudged([1, 2], "ArrowLeft", 3, 0.1, true), [0.5, 2]);
  assert.equal(nudged([1, 2], "Tab", 3, 0.1), null);
});

test("steps do not add up rounding errors", () => {
  let query = [0, 0];
  for (let step = 0; step < 7; step += 1) query = nudged(query, "ArrowDown", 3, 0.1);
  assert.deepEqual(query, [0, -0.7]);
});

test("the query stays inside of the plane", () => {
  assert.deepEqual(nudged([3, 0], "ArrowRight", 3, 0.1), [3, 0]);
  assert.deepEqual(nudged([0, -2.8], "ArrowDown", 3, 0.1, true), [0, -3]);
});

test("the pointer's place becomes a query, y upwards", () => {
  const box = { left: 10, top: 20, width: 220, height: 220 };
  assert.deepEqual(pointed({ clientX: 120, clientY: 130 }, box, 110, 100, { reach: 3, step: 0.1 }), [0, -0]);
  assert.deepEqual(pointed({ clientX: 170, clientY: 80 }, box, 110, 100, { reach: 3, step: 0.1 }), [1.5, 1.5]);
  assert.deepEqual(pointed({ clientX: 999, clientY: 999 }, box, 110, 100, { reach: 3, step: 0.1 }), [3, -3]);
});

test("a temperature between two stops takes the closer one by ratio", () => {
  assert.equal(nearest([0.1, 1, 10], 2), 1);
  assert.equal(nearest([0.1, 1, 10], 4), 2);
});

test("numbers have a minus sign and there is no minus 0", () => {
  assert.equal(signed(-1.25, 1), "−1.3");
  assert.equal(signed(-0.001, 2), "0.00");
});
