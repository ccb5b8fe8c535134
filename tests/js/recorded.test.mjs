// What plays a recording: node --test tests/js/

import assert from "node:assert/strict";
import { test } from "node:test";

import { closest, played } from "../../src/attnlab/figures/live/recorded.mjs";

const INPUTS = [{ n: 1, causal: false }, { n: 2, causal: false }, { n: 1, causal: true }, { n: 2, causal: true }];

test("what is asked moves one control, and the others stay where that was recorded", () => {
  assert.equal(closest(INPUTS, 2, { n: 2 }), 3);
  assert.equal(closest(INPUTS.slice(0, 3), 2, { n: 2 }), 1);
  assert.equal(closest(INPUTS, 0, { n: 5 }), -1);
  assert.equal(closest(INPUTS, 0, { width: 2 }), -1);
});

test("a message moves the state, and Python's part is told as done", () => {
  const shown = [{ row: 0, state: { n: 1, told: "one", edge: 9 } }, { state: { n: 2, told: "two" } }];
  const model = played({ inputs: [{ n: 1 }, { n: 2 }], shown });
  const heard = [];
  model.on("change:state", () => heard.push(model.get("state").told));
  const done = { iopub: { status: ({ content }) => heard.push(content.execution_state) } };
  model.send({ change: { n: 2 } }, done);
  assert.deepEqual(model.get("state"), { n: 2, told: "two", edge: 9 });
  model.send({ change: { n: 3 } }, done);
  assert.match(model.get("problem"), /not recorded/);
  model.send({ edit: ["X", 0, 0, "1"] }, done);
  model.send({ change: { n: 1 } }, done);
  assert.equal(model.get("problem"), "");
  assert.deepEqual(heard, ["two", "idle", "idle", "idle", "one", "idle"]);
});

test("what the page sets itself is heard once", () => {
  const model = played({ inputs: [{}], shown: [{ row: 0, state: {} }] });
  let heard = 0;
  model.on("change:row", () => { heard += 1; });
  model.set("row", 1);
  model.set("row", 1);
  assert.equal(heard, 1);
});
