// The pure functions of the arcs: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { arc, inLine } from "../../src/attnlab/figures/live/who_listens.mjs";

test("words stand side by side, with room for each letter", () => {
  const { middles, end } = inLine(["a", "bcd"]);
  assert.ok(middles[0] < middles[1] && middles[1] < end);
  assert.equal(middles[0] * 2 + (end - middles[1]) * 2, end);
});

test("an arc goes up on either way, and is no higher than there is room", () => {
  assert.equal(arc(10, 50, 130), "M10 130A20 20 0 0 1 50 130");
  assert.equal(arc(50, 10, 130), "M50 130A20 20 0 0 0 10 130");
  assert.equal(arc(0, 600, 130), "M0 130A300 122 0 0 1 600 130");
});

test("what a word reads of itself is a loop", () => {
  assert.match(arc(30, 30, 130), /^M40 130C.* 45 130$/);
});
