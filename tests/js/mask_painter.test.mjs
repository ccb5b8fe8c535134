// The pure functions of the mask painter: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { line, sameRow } from "../../src/attnlab/figures/live/mask_painter.mjs";

test("a stroke leaves no cell out, whichever way it goes", () => {
  assert.deepEqual(line({ row: 0, column: 0 }, { row: 0, column: 3 }), [[0, 0], [0, 1], [0, 2], [0, 3]]);
  assert.deepEqual(line({ row: 2, column: 1 }, { row: 0, column: 1 }), [[2, 1], [1, 1], [0, 1]]);
  assert.deepEqual(line({ row: 0, column: 0 }, { row: 2, column: 2 }), [[0, 0], [1, 1], [2, 2]]);
});

test("a stroke that goes nowhere is one cell", () => {
  assert.deepEqual(line({ row: 1, column: 2 }, { row: 1, column: 2 }), [[1, 2]]);
});

test("a flat stroke moves by one cell at a time", () => {
  const cells = line({ row: 0, column: 0 }, { row: 2, column: 7 });
  for (let n = 1; n < cells.length; n += 1) {
    assert.ok(Math.abs(cells[n][0] - cells[n - 1][0]) <= 1);
    assert.equal(cells[n][1] - cells[n - 1][1], 1);
  }
});

test("a row is painted again if its weights or its mask changed", () => {
  const state = { weights: [[0.5, 0.5], [0, 0]], blocked: [[false, false], [true, true]] };
  assert.ok(sameRow(state, structuredClone(state), 0));
  assert.ok(!sameRow(state, { ...state, weights: [[0.4, 0.6], [0, 0]] }, 0));
  assert.ok(!sameRow(state, { ...state, blocked: [[false, true], [true, true]] }, 0));
  assert.ok(sameRow(state, { ...state, weights: [[0.4, 0.6], [0, 0]] }, 1));
});
