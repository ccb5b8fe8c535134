// The pure functions of saturation: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { latest } from "../../src/attnlab/figures/live/saturation.mjs";

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
