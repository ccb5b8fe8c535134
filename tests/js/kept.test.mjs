import assert from "node:assert/strict";
import { test } from "node:test";

import { kept, mark, notebook } from "../../docs/_static/run/kept.mjs";

/** A browser's storage, as far as it is used. */
function storage(items = {}) {
  return Object.create({
    getItem(name) { return this[name] ?? null; },
    setItem(name, text) { this[name] = text; },
    removeItem(name) { delete this[name]; },
  }, Object.getOwnPropertyDescriptors(items));
}

test("what is kept comes back, for its lesson alone", () => {
  const place = storage();
  const mine = kept(place, "01-soft-lookup");
  const record = { source: "x = 1", from: mark("x = 0") };
  assert.equal(mine.get("softmax"), null);
  assert.ok(mine.set("softmax", record));
  assert.deepEqual(mine.get("softmax"), record);
  assert.deepEqual(mine.names(), ["softmax"]);
  assert.deepEqual(kept(place, "02-pure-python").names(), []);
  assert.equal(mine.name(Object.keys(place)[0]), "softmax");
  mine.drop("softmax");
  assert.deepEqual(mine.names(), []);
});

test("what is spoilt is told from what is not there", () => {
  const place = storage();
  const mine = kept(place, "01-soft-lookup");
  mine.set("a", { source: "x", from: "y" });
  const [name] = Object.keys(place);
  for (const text of ["", "{", "null", "7", "[]", '{"source": 7, "from": ""}', '{"chosen": "A"}']) {
    place[name] = text;
    assert.equal(mine.get("a"), undefined, text);
  }
});

test("without a storage nothing is kept, and nothing breaks", () => {
  const full = storage();
  Object.getPrototypeOf(full).setItem = () => { throw new Error("full"); };
  for (const place of [null, full]) {
    const mine = kept(place, "01-soft-lookup");
    assert.equal(mine.set("a", { source: "x", from: "y" }), false);
    assert.equal(mine.get("a"), null);
    assert.deepEqual(mine.names(), []);
    mine.drop("a");
  }
});

test("a notebook to take home has what was written, and all else as it was handed out", () => {
  const handedOut = {
    cells: [
      { id: "a", cell_type: "code", metadata: { nbgrader: {} }, source: ["x = 0\n", "y = 0"], outputs: [] },
      { id: "b", cell_type: "markdown", metadata: {}, source: ["# b"] },
    ],
    nbformat: 4,
  };
  const written = [
    { id: "a", source: "x = 1\ny = 2\n", after: "" },
    { id: "own-1", source: "x", after: "a" },
    { id: "gone", source: "z", after: "" },
  ];
  const made = JSON.parse(notebook(handedOut, written));
  assert.deepEqual(made.cells[0], { ...handedOut.cells[0], source: ["x = 1\n", "y = 2\n"] });
  const own = { cell_type: "code", execution_count: null, id: "own-1", metadata: {}, outputs: [], source: ["x"] };
  assert.deepEqual(made.cells[1], own);
  assert.deepEqual(made.cells[2], handedOut.cells[1]);
  assert.equal(made.cells.length, 3);
  assert.equal(made.nbformat, 4);
});
