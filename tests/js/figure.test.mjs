// The pure functions that figures share: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { latest, moved, settling, shade, unanswered, watched } from "../../src/attnlab/figures/live/figure.mjs";

const from = (row, column) => ({ row, column });

test("arrows move by one cell and stop at the edges", () => {
  assert.deepEqual(moved(from(1, 1), "ArrowUp", 3, 4), from(0, 1));
  assert.deepEqual(moved(from(1, 1), "ArrowRight", 3, 4), from(1, 2));
  assert.deepEqual(moved(from(0, 0), "ArrowUp", 3, 4), from(0, 0));
  assert.deepEqual(moved(from(0, 0), "ArrowLeft", 3, 4), from(0, 0));
  assert.deepEqual(moved(from(2, 3), "ArrowDown", 3, 4), from(2, 3));
  assert.deepEqual(moved(from(2, 3), "ArrowRight", 3, 4), from(2, 3));
});

test("Home and End go along the row, with Control to the corners", () => {
  assert.deepEqual(moved(from(1, 2), "Home", 3, 4), from(1, 0));
  assert.deepEqual(moved(from(1, 2), "End", 3, 4), from(1, 3));
  assert.deepEqual(moved(from(1, 2), "Home", 3, 4, true), from(0, 0));
  assert.deepEqual(moved(from(1, 2), "End", 3, 4, true), from(2, 3));
});

test("page keys go along the column", () => {
  assert.deepEqual(moved(from(1, 2), "PageUp", 3, 4), from(0, 2));
  assert.deepEqual(moved(from(1, 2), "PageDown", 3, 4), from(2, 2));
});

test("a row's label is left of its first cell, where it can be reached", () => {
  assert.deepEqual(moved(from(1, 0), "ArrowLeft", 3, 4, false, -1), from(1, -1));
  assert.deepEqual(moved(from(1, -1), "ArrowLeft", 3, 4, false, -1), from(1, -1));
  assert.deepEqual(moved(from(1, -1), "ArrowDown", 3, 4, false, -1), from(2, -1));
  assert.deepEqual(moved(from(1, -1), "ArrowRight", 3, 4, false, -1), from(1, 0));
});

test("other keys move nothing, so that Tab leaves the grid", () => {
  for (const key of ["Tab", "a", "Escape"]) assert.equal(moved(from(1, 1), key, 3, 4), null);
});

test("a share's colour is the nearest step, also outside of 0 and 1", () => {
  assert.deepEqual(shade(0.51), ["var(--w10)", "var(--i10)"]);
  for (const [share, step] of [[0, 0], [1, 20], [-3, 0], [3, 20]]) assert.equal(shade(share)[0], `var(--w${step})`);
});

const told = (node, news) => node.dispatchEvent(new Event(`attn-${news}`));

test("what the reader set is kept until Python has answered it", () => {
  const node = new EventTarget();
  let answers = 0;
  const mine = unanswered(node, () => { answers += 1; });
  mine.keep(5);
  told(node, "answered"); // to an older message: 5 waits to be sent
  assert.equal(mine.value, 5);
  told(node, "asked");
  told(node, "answered");
  assert.equal(mine.value, null);
  assert.equal(answers, 1);
});

/** A model that keeps its messages, and what is done as each of them leaves or all are answered. */
function sending(patience) {
  const messages = [];
  const news = [];
  const model = { get: (name) => name, send: (content, callbacks) => messages.push({ content, callbacks }) };
  const asking = watched(model, () => news.push("asked"), () => news.push("answered"), patience);
  const say = (n, state) => messages[n].callbacks.iopub.status({ content: { execution_state: state } });
  return { asking, messages, news, say };
}

test("Python has answered when it is idle after the last message", () => {
  const { asking, messages, news, say } = sending();
  asking.send({ change: 1 });
  asking.send({ change: 2 });
  assert.deepEqual(messages.map(({ content }) => content.change), [1, 2]);
  assert.ok(messages[0].content.at < messages[1].content.at); // else nobody knew which is the later one
  say(0, "busy");
  say(0, "idle");
  say(0, "idle");
  assert.deepEqual(news, ["asked", "asked"]);
  say(1, "idle");
  assert.deepEqual(news, ["asked", "asked", "answered"]);
  assert.equal(asking.get("state"), "state");
});

test("a page that never tells when Python is done waits no longer than its patience", async () => {
  const { asking, news } = sending(1);
  asking.send({ change: 1 });
  await new Promise((later) => { setTimeout(later, 20); });
  assert.deepEqual(news, ["asked", "answered"]);
});

test("one message a frame, with the last of each value", () => {
  const sent = [];
  const frames = [];
  const send = latest((change) => sent.push(change), (frame) => frames.push(frame));
  send({ d_k: 2 });
  send({ d_k: 4 });
  send({ reader: 7 });
  assert.equal(frames.length, 1);
  frames.pop()();
  assert.deepEqual(sent, [{ d_k: 4, reader: 7 }]);
  send({ d_k: 8 });
  frames.pop()();
  assert.deepEqual(sent[1], { d_k: 8 });
});

test("what rests is told once, and not at all where Python has said something newer", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const told = [];
  const changed = [];
  const model = {
    on: (_, does) => changed.push(does),
    set(_, value) { this.value = value; changed.forEach((does) => does()); },
    save_changes() { told.push(this.value); },
  };
  const { rest, tell } = settling(model, "cell");
  rest(1);
  rest(2);
  context.mock.timers.tick(1000);
  assert.deepEqual(told, [2]);
  rest(3);
  model.set("cell", 4); // by Python
  context.mock.timers.tick(1000);
  assert.deepEqual(told, [2]);
  rest(5);
  tell(6);
  context.mock.timers.tick(1000);
  assert.deepEqual(told, [2, 6]);
});
