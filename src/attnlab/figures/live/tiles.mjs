// Draws Tiles: a slider and buttons from tile to tile, the memories that Python drew, words, and tables on request.

import { element, latest, lines, mount, setText, slider } from "./figure.mjs";
import { arrive, player, redrawn } from "./motion.mjs";

const PACE = 2000; // ms a tile while the tiles play
const TABLES = ["queries", "held"];
const TURNS = { ArrowLeft: -1, ArrowRight: 1 };

function draw(body, model) {
  let steps, place;
  body.classList.add("tiles");
  const send = latest((change) => model.send({ change }));
  const go = (by) => {
    const { steps: last } = model.get("state");
    const to = Math.min(Math.max(place.value() + by, 1), last);
    if (to !== place.value()) place.ask(to);
  };

  const turner = (label, key) => {
    const button = element("button", { type: "button", "aria-keyshortcuts": key }, label);
    button.addEventListener("click", () => go(TURNS[key]));
    return button;
  };
  const buttons = { back: turner("← Back", "ArrowLeft"), on: turner("Next →", "ArrowRight") };
  const tools = element("div", { class: "tools" });
  const block = element("select");
  block.addEventListener("change", () => send({ block: Number(block.value) }));
  const causal = element("input", { type: "checkbox" });
  causal.addEventListener("change", () => send({ causal: causal.checked }));
  const play = player(body, () => place.next(), () => PACE);
  tools.append(...Object.values(buttons), play, element("label", {}, "block ", block), element("label", {}, causal, " causal"));
  tools.addEventListener("keydown", (event) => {
    const by = TURNS[event.key];
    if (!by || !Object.values(buttons).includes(event.target)) return;
    event.preventDefault();
    go(by);
  });

  const bar = element("div");
  const { heads, captions, request, short, meaning, pictures } = model.get("state");
  const drawings = pictures.map((_, n) => element("div", { class: n ? "memory narrow" : "memory wide" }));
  const found = element("p", { class: "finding" });
  const told = element("p", { class: "told", "aria-live": "polite" });
  const compared = element("p", { class: "compared" });
  const parts = Object.fromEntries(TABLES.map((name) => [name, lines(captions[name], heads[name])]));
  body.append(
    found,
    element("div", { class: "tools" }, bar, tools),
    ...drawings,
    told,
    element("details", {},
      element("summary", {}, request),
      element("p", { class: "hint" }, short),
      element("div", { class: "panels" }, ...TABLES.map((name) => parts[name].node)),
      compared,
      element("p", { class: "hint" }, meaning)),
  );

  // What was not there before comes from where it lay: rows into fast memory, output back into slow memory.
  const find = (selector) => drawings.filter((drawing) => drawing.offsetParent).flatMap(
    (drawing) => [...drawing.querySelectorAll(selector)]);
  const paint = (markups) => {
    const before = new Set(find("[data-from]"));
    markups.forEach((markup, n) => redrawn(drawings[n], markup));
    if (!before.size || !body.isConnected) return;
    for (const node of find("[data-from]").filter((each) => !before.has(each))) {
      const [from] = find(`[data-key="${node.dataset.from}"]`); // not there where tiles were left out
      if (from) arrive(node, from.getBoundingClientRect());
    }
  };

  const build = (state) => {
    steps = state.steps;
    place = slider({
      label: "tile", min: 1, max: steps, step: 1, value: state.step,
      says: (step) => `${step} of ${steps}`,
      onInput: (step) => send({ step }),
    });
    bar.replaceChildren(place.node);
    block.replaceChildren(...state.blocks.map((size) => element("option", { value: size }, `${size} × ${size}`)));
  };

  return () => {
    const state = model.get("state");
    if (steps !== state.steps) build(state);
    place.set(state.step);
    block.value = state.block;
    causal.checked = state.causal;
    buttons.back.setAttribute("aria-disabled", state.step === 1);
    buttons.on.setAttribute("aria-disabled", state.step === steps);
    paint(state.pictures);
    for (const name of Object.keys(parts)) parts[name].paint(state[name]);
    setText(found, state.found);
    setText(told, state.told);
    setText(compared, state.compared);
  };
}

export default { render: (context) => mount(context, draw) };
