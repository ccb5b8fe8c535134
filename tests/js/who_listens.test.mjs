// The pure functions of the arcs: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { arc, inLine, side } from "../../src/attnlab/figures/live/who_listens.mjs";

test("words stand side by side, with room for each letter", () => {
  const { middles, end } = inLine(["a", "bcd"]);
  assert.ok(middles[0] < middles[1] && middles[1] < end);
  assert.equal(middles[0] * 2 + (end - middles[1]) * 2, end);
});

test("an arc goes up on either way, and is no higher than there is room", () => {
  assert.equal(arc(10, 50, 130), "M10 130v-8A20 20 0 0 1 50 122v8");
  assert.equal(arc(50, 10, 130), "M50 130v-8A20 20 0 0 0 10 122v8");
  assert.equal(arc(0, 600, 130), "M0 130v-8A300 122 0 0 1 600 122v8");
});

test("an arc with a head ends above its word, in the head", () => {
  assert.equal(arc(10, 50, 130, true), "M10 130v-8A20 20 0 0 1 50 122v0");
});

test("what a word reads of itself is a loop, closed and even over its middle", () => {
  const [x, y, ...bends] = arc(30, 30, 130).match(/-?\d+/g).map(Number);
  assert.deepEqual([x, y, ...bends.slice(-2)], [30, 130, 30, 130]);
  assert.equal(bends[0] + bends[2], 60);
  assert.equal(bends[1], bends[3]);
});

test("beside the largest weight's head, arcs from one side do not cross", () => {
  assert.deepEqual([0, 1, 3, 4].map((key) => side(5, key, 2)), [1, 1, -1, -1]);
  assert.deepEqual([0, 2, 4].map((key) => side(1, key, 3)), [-1, 1, -1]);
  assert.deepEqual([0, 2].map((key) => side(1, key, 1)), [-1, 1]);
});
