// The pure functions of films: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { between, counted, inOrder, lookOf } from "../../src/attnlab/figures/live/film.mjs";

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

test("words that differ in their numbers alone count, with the decimals that they come to", () => {
  assert.equal(counted("share 0.2, of 6", "share 0.50, of 7", 0.5), "share 0.35, of 7");
  assert.equal(counted("−2", "1", 0.25), "−1");
  assert.equal(counted("-0.4", "0.4", 0.5), "0.0");
  assert.equal(counted("6", "six", 0.5), null);
  assert.equal(counted("1,048", "1,024", 0.5), null, "a number of two parts");
  const [one, other] = [part("a", { opacity: 1 }, "07"), part("a", { opacity: 1 }, "9.5")];
  assert.deepEqual(lookOf(one, other, 0), { look: { opacity: 1 }, text: "07" }, "as it is told");
  assert.deepEqual(lookOf(one, other, 1), { look: { opacity: 1 }, text: "9.5" });
});
