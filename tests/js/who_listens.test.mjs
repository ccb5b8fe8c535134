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
  assert.equal(arc(10, 50, 130), "M10 130v-8A20 20 0 0 1 50 122");
  assert.equal(arc(50, 10, 130), "M50 130v-8A20 20 0 0 0 10 122");
  assert.equal(arc(0, 600, 130), "M0 130v-8A300 122 0 0 1 600 122");
});

test("all arcs end at one point, above the middle of their word", () => {
  const ends = [10, 30, 70, 90].map((start) => arc(start, 50, 130).match(/ 50 122$/));
  assert.ok(ends.every(Boolean));
});

test("what a word reads of itself is a loop, closed, on the right of the arrowhead", () => {
  const [x, y, ...bends] = arc(30, 30, 130).match(/-?\d+/g).map(Number);
  assert.deepEqual([x, y, ...bends.slice(-2)], [30, 130, 30, 130]);
  assert.ok(bends[0] > 30 && bends[2] > bends[0]);
});
