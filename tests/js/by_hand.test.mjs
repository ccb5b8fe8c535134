// The pure functions of the figure by hand: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { enters, nearest } from "../../src/attnlab/figures/live/by_hand.mjs";

test("a projected entry takes a token's row and its own column of the matrix", () => {
  assert.deepEqual(enters("Q", 1, 2), { X: { row: 1 }, W_q: { column: 2 } });
  assert.deepEqual(enters("K", 0, 1), { X: { row: 0 }, W_k: { column: 1 } });
  assert.deepEqual(enters("V", 2, 0), { X: { row: 2 }, W_v: { column: 0 } });
});

test("a score takes a row of queries and the row of keys that is asked", () => {
  assert.deepEqual(enters("S", 1, 2), { Q: { row: 1 }, K: { row: 2 } });
});

test("a whole row of scores takes the query and every key", () => {
  assert.deepEqual(enters("S", 1, null), { Q: { row: 1 }, K: { row: undefined } });
});

test("scaling and masking take one cell, softmax a whole row", () => {
  assert.deepEqual(enters("scaled", 1, 2), { S: { row: 1, column: 2 } });
  assert.deepEqual(enters("masked", 1, 2), { scaled: { row: 1, column: 2 } });
  assert.deepEqual(enters("A", 1, 2), { masked: { row: 1 } });
});

test("an output takes a row of weights and a column of values", () => {
  assert.deepEqual(enters("Z", 1, 0), { A: { row: 1 }, V: { column: 0 } });
});

test("nothing enters what is typed", () => {
  for (const name of ["X", "W_q", "W_k", "W_v"]) assert.deepEqual(enters(name, 0, 0), {});
});

test("turning to a narrower matrix stays in its last column", () => {
  const matrix = { rows: ["the", "cat", "sat"], columns: ["1", "2"] };
  assert.deepEqual(nearest(matrix, 1, 1), [1, 1]);
  assert.deepEqual(nearest(matrix, 5, 3), [2, 1]);
  assert.deepEqual(nearest(matrix, 5, null), [2, null]);
});
