// The pure functions of the heads: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { rowUnder, turned } from "../../src/attnlab/figures/live/heads.mjs";

test("all arrows go from word to word and stop at the ends", () => {
  assert.equal(turned(1, "ArrowDown", 4), 2);
  assert.equal(turned(1, "ArrowRight", 4), 2);
  assert.equal(turned(1, "ArrowUp", 4), 0);
  assert.equal(turned(1, "ArrowLeft", 4), 0);
  assert.equal(turned(0, "ArrowLeft", 4), 0);
  assert.equal(turned(3, "ArrowDown", 4), 3);
});

test("Home and End go to the first and to the last word", () => {
  assert.equal(turned(2, "Home", 4), 0);
  assert.equal(turned(2, "End", 4), 3);
});

test("other keys choose nothing, so that Tab leaves the words", () => {
  for (const key of ["Tab", "a", "Enter", "toString"]) assert.equal(turned(1, key, 4), null);
});

test("the pointer's place becomes a row, also at the edges", () => {
  const box = { top: 100, height: 80 };
  assert.equal(rowUnder({ clientY: 100 }, box, 4), 0);
  assert.equal(rowUnder({ clientY: 139 }, box, 4), 1);
  assert.equal(rowUnder({ clientY: 180 }, box, 4), 3);
  assert.equal(rowUnder({ clientY: 95 }, box, 4), 0);
});
