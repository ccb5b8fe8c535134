// The pure functions of films: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { between, inOrder, lookOf } from "../../src/attnlab/figures/live/film.mjs";

const part = (key, look, text = "") => ["text", key, look, text];

test("numbers move, wherever they stand in an attribute, and names change half way", () => {
  assert.equal(between(0, 10, 0.25), "2.5");
  assert.equal(between("M0 0L10 -2", "M4 0L10 2", 0.5), "M2 0L10 0");
  assert.equal(between("var(--attn-blue,#0072b2)", "var(--attn-orange,#c44e00)", 0.49), "var(--attn-blue,#0072b2)");
  assert.equal(between("M0 0", "M0 0L1 1", 0.5), "M0 0L1 1", "a path of more points");
});

test("a new part stands behind what it follows in its own frame", () => {
  const frames = [{ parts: [part("a", {}), part("c", {})] }, { parts: [part("a", {}), part("b", {}), part("c", {})] }];
  assert.deepEqual(inOrder(frames), ["a", "b", "c"]);
});

test("what leaves fades away at the beginning of a move, what comes appears at its end", () => {
  const here = part("a", { x: 4, opacity: 0.8 }, "old");
  assert.deepEqual(lookOf(here, undefined, 0.2), { look: { x: 4, opacity: 0.4 }, text: "old" });
  assert.deepEqual(lookOf(undefined, here, 0.8).look.opacity.toFixed(9), "0.400000000");
  assert.deepEqual(lookOf(undefined, here, 1), { look: { x: 4, opacity: 0.8 }, text: "old" });
  for (const [before, after] of [[here], [undefined, here], []]) assert.equal(lookOf(before, after, 0.5), null);
  assert.equal(lookOf(undefined, undefined, 0.5), null);
});

test("a word that becomes another grows faint before it does, and never goes away", () => {
  const [old, next] = [part("a", { opacity: 1 }, "old"), part("a", { opacity: 1 }, "new")];
  assert.equal(lookOf(old, next, 0.25).text, "old");
  assert.equal(lookOf(old, next, 0.25).look.opacity, 0.7);
  assert.equal(lookOf(old, next, 0.75).text, "new");
  assert.equal(lookOf(old, next, 0.5).look.opacity, 0.4);
});
