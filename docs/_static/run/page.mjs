// A page whose code cells run: a lesson, or the exercise on the front page. What it is told, docs/runs.py, is in #run-about.

import { Cell, element } from "./cell.mjs";
import { kept, mark, notebook } from "./kept.mjs";
import { Ended, Python, Trouble } from "./python.mjs";

const base = new URL("./", import.meta.url);
const about = JSON.parse(document.getElementById("run-about").textContent);
const bar = document.querySelector("[data-run]");
const store = kept(storage(), about.page);
let editor; // its module, once somebody asked for it
let quizzes; // likewise
const ran = new Map(); // cells that have run since Python started, by id, with what they were
const chosen = new Map(); // by quiz, [question, choice] in their order
let turn = Promise.resolve(); // of the cell that runs

const python = new Python({ ...about, base, before });

/** What the page itself needs for a run: from then on it can load nothing. */
async function before() {
  const sheet = element("link", { rel: "stylesheet", href: new URL("quiz.css", base) });
  const styled = new Promise((done) => { sheet.onload = sheet.onerror = done; });
  document.head.append(sheet);
  const drawn = URL.createObjectURL(new Blob([await python.part("quiz.mjs")], { type: "text/javascript" }));
  [quizzes] = await Promise.all([import(drawn), editors().catch(() => null), styled]);
}

const editors = () => (editor ??= import("./editor.mjs").catch((why) => { editor = undefined; throw why; }));

// Cells ------------------------------------------------------------------------------------------

const nodes = [...document.querySelectorAll("div.cell")].filter((node) => node.querySelector("pre"));
const does = { run, stop, changed, editor: editors, add: (cell) => added(cell).focus() };
const cells = about.cells.map(({ id, name }, at) => (
  new Cell(nodes[at], { id, title: `Cell ${at + 1}: ${name}` }, at ? { ...does, above } : does)
));
const byId = new Map(cells.map((cell) => [cell.id, cell]));

/** A cell of a visitor's own below one of the lesson's. */
function added(below, id = `own-${Math.random().toString(36).slice(2, 10)}`) {
  const input = element("div", { class: "cell_input docutils container" }, element("div", { class: "highlight" }, element("pre")));
  const node = element("div", { class: "cell docutils container" }, input);
  below.node.after(node);
  const cell = new Cell(node, { id, title: `Your own cell, below ${below.title}`, after: below.id }, { ...does, above });
  cells.splice(cells.indexOf(below) + 1, 0, cell);
  byId.set(id, cell);
  return cell;
}

/** Run a cell when its turn comes; whether it went well. */
function run(cell) {
  if (cell.state) return turn;
  cell.state = "waiting";
  cell.say("Waiting …");
  turn = turn.then(() => runNow(cell)).catch((why) => { cell.say(`${why}`); return false; });
  return turn;
}

async function above(cell) {
  for (const each of cells.slice(0, cells.indexOf(cell))) if (!(await run(each))) return;
}

function stop() {
  python.end("asked");
}

async function runNow(cell) {
  try {
    if (!python.isThere) await begin(cell);
    cell.state = "running";
    cell.say("Running …");
    const { outputs, seconds, ok } = await execute(cell.id, cell.source);
    cell.show(outputs, { picturesOf: (id) => byId.get(id)?.pictures ?? [], quiz, read: about.read });
    cell.say(told(outputs, seconds));
    next(cell, outputs);
    return ok;
  } catch (why) {
    if (why instanceof Trouble) cell.say(why.message);
    else if (why instanceof Ended) {
      const card = ended(why.message);
      cell.show([card]);
      cell.say(`${card.title}.`);
    } else throw why;
    return false;
  } finally {
    cell.state = "";
  }
}

/** Python, with the names that the cells above had made when it was ended. */
async function begin(cell) {
  await python.start((text) => cell.say(text));
  const again = cells.slice(0, cells.indexOf(cell)).filter((each) => ran.has(each.id));
  const sources = new Map(ran);
  ran.clear();
  for (const each of again) {
    cell.say(`Running the cells above again. ${each.title} …`);
    await execute(each.id, sources.get(each.id));
  }
}

/** Run a cell; a quiz in it has the answers that were chosen before. */
async function execute(id, source) {
  const done = await python.run(id, source);
  ran.set(id, source);
  for (const output of done.outputs) {
    for (const choice of chosen.get(output.quiz) ?? []) {
      const answer = await python.choose(output.quiz, ...choice);
      if (answer) output.values = answer.values;
    }
  }
  return done;
}

const ended = (why) => ({
  kind: "error",
  title: { limit: `Ended: it ran for ${about.seconds} seconds`, asked: "Ended, as you asked" }[why]
    ?? "Ended: Python itself stopped",
  why: { limit: "A loop whose condition stays true, or whose numbers grow without an end.", asked: "" }[why] ?? why,
  try: "Change the cell and run it. The cells above it run again first, by themselves.",
});

/** What a cell gave, in a line that is read out. */
function told(outputs, seconds) {
  const last = outputs.findLast(({ kind, card }) => kind === "error" || card);
  if (last?.card) return { PASS: "Right. " }[last.card.status] ?? "Not right yet. See the card below.";
  if (last) return last.title;
  return `Done in ${seconds < 1 ? seconds.toFixed(2) : seconds.toFixed(1)} s.`;
}

/** On the front page: what to do after the card. */
function next(cell, outputs) {
  const card = outputs.findLast((each) => each.card)?.card;
  const place = document.querySelector("[data-run-next]");
  if (!place || !card) return;
  for (const node of place.children) node.hidden = node.dataset.after !== (card.status === "PASS" ? "right" : "wrong");
}

// Quizzes ----------------------------------------------------------------------------------------

function quiz({ quiz: name, values }) {
  const place = element("div", { class: "output text_html" });
  const listeners = {};
  let now = values;
  const set = (news) => {
    const before = now;
    now = { ...now, ...news };
    for (const each of Object.keys(news).filter((each) => now[each] !== before[each])) {
      for (const tell of listeners[`change:${each}`] ?? []) tell();
    }
  };
  const send = async ({ choose: [question, choice] }, callbacks) => {
    turn = turn.then(async () => {
      const answer = python.isThere && (await python.choose(name, question, choice));
      if (!answer) return set({ problem: "Run the cell once more, then choose." });
      chosen.set(name, [...(chosen.get(name) ?? []), [question, choice]]);
      if (!store.set(`quiz ${name}`, { chosen: chosen.get(name) })) keptNothing();
      set(answer.values);
    }).catch((why) => set({ problem: why.message }));
    await turn;
    callbacks?.iopub?.status({ content: { execution_state: "idle" } });
  };
  const model = {
    get: (each) => now[each], set: (each, value) => set({ [each]: value }), save_changes() {}, send,
    on: (event, listener) => (listeners[event] ??= []).push(listener),
  };
  quizzes.default.render({ model, el: place });
  return place;
}

// What is kept -----------------------------------------------------------------------------------

function storage() {
  try { return localStorage; } catch { return null; }
}

const status = element("span", { role: "status" });

function changed(cell) {
  if (!cell.isWritten) return store.drop(cell.id);
  const { source, handedOut, after } = cell;
  if (!store.set(cell.id, { source, from: mark(handedOut), after })) keptNothing();
}

function keptNothing() {
  status.textContent = "This browser keeps nothing for this page; its storage is off, or full. "
    + "Take your lesson home before you leave.";
}

function restore() {
  const spoilt = [];
  const gone = [];
  for (const name of store.names()) {
    const record = store.get(name);
    const below = byId.get(record?.after);
    const cell = byId.get(name) ?? (below && added(below, name));
    if (record === undefined) spoilt.push(name);
    else if (record.chosen) chosen.set(name.replace(/^quiz /, ""), record.chosen);
    else if (!cell) gone.push(record.source);
    else {
      cell.source = record.source;
      if (record.from !== mark(cell.handedOut)) {
        cell.note("The lesson has changed since you wrote this. Yours is kept; “As handed out” shows what the lesson "
          + "has here now.");
      }
    }
  }
  if (spoilt.length) status.append("Something that was kept here cannot be read any more, and is left out. ");
  if (gone.length) {
    bar.append(element("details", {}, element("summary", {}, "What you wrote in cells that this lesson no longer has"),
      ...gone.map((text) => element("pre", { tabindex: 0 }, text))));
  }
}

addEventListener("storage", ({ key, newValue }) => {
  const cell = byId.get(store.name(key));
  if (!cell || newValue === null) return;
  if (store.get(cell.id)?.source !== cell.source) {
    cell.note("You have changed this cell in another tab, and what is kept is what stands there. To go on with that, "
      + "reload this page.");
  }
});

async function takeHome() {
  let handedOut;
  try {
    handedOut = JSON.parse(await (await python.part(about.notebook)).text());
  } catch (why) {
    status.textContent = why.message;
    return;
  }
  const written = cells.filter((cell) => cell.isWritten);
  const blob = new Blob([notebook(handedOut, written)], { type: "application/x-ipynb+json" });
  const link = element("a", { href: URL.createObjectURL(blob), download: `${about.lesson}.ipynb` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  status.textContent = "Put the file in your course’s folder, or in an empty one: there, attnlab lab goes on with it.";
}

function clear() {
  if (!confirm("Delete all that you wrote on this page? What was taken home stays where it is.")) return;
  for (const name of store.names()) store.drop(name);
  chosen.clear();
  ran.clear();
  python.end("asked");
  for (const cell of [...cells]) {
    cell.reset();
    if (!cell.after) continue;
    cell.node.remove();
    cells.splice(cells.indexOf(cell), 1);
  }
  status.textContent = "What you wrote is deleted.";
}

const button = (text, does) => {
  const node = element("button", { type: "button", class: "run-less" }, text);
  node.addEventListener("click", does);
  return node;
};

bar.replaceChildren(
  element("span", { id: "run-keys" }, about.says), " ",
  ...(about.notebook ? [button("Take it home", takeHome), " "] : []),
  button("Clear what I wrote", clear), " ", status,
);
restore();
document.documentElement.dataset.runs = "ready";
