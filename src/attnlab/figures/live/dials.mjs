// Draws figures of dials: sliders, pictures that Python made, a sentence, and a table on request.

import { element, latest, lines, mount, setText, slider } from "./figure.mjs";
import { player, redrawn } from "./motion.mjs";

function draw(body, model) {
  let shape, sliders, titles, pictures, table;
  const send = latest((change) => model.send({ change }));
  const tools = element("div", { class: "tools" });
  const drawings = element("div", { class: "drawings" });
  const words = element("div", { class: "beside" });
  const note = element("p", { class: "hint" });
  const told = element("p", { class: "told unseen", "aria-live": "polite" });
  const found = element("p", { class: "finding", "aria-hidden": "true" });
  body.append(found, tools, element("div", { class: "panels" }, drawings, words));

  const build = ({ kind, dials, pictures: { length }, caption, heads, folded }) => {
    body.className = kind;
    sliders = dials.map(({ name, label, stops, words: names, at }) => slider({
      label, min: 0, max: stops.length - 1, step: 1, value: at,
      says: (stop) => names[stop],
      onInput: (stop) => send({ [name]: stops[stop] }),
    }));
    const plays = dials.flatMap(({ pace }, n) => (pace ? [player(body, sliders[n].next, () => pace)] : []));
    titles = Array.from({ length }, () => element("p", { class: "name" }));
    pictures = titles.map(() => element("div"));
    table = lines(caption, heads);
    tools.replaceChildren(...sliders.map(({ node }) => node), ...plays);
    drawings.replaceChildren(...pictures.map((picture, n) => element("div", {}, titles[n], picture)));
    words.replaceChildren(note, told, element("details", {}, element("summary", {}, folded), table.node));
  };

  return () => {
    const state = model.get("state");
    const wanted = JSON.stringify([state.dials.map(({ words: names }) => names), state.pictures.length, state.heads]);
    if (shape !== wanted) build(state);
    shape = wanted;
    state.dials.forEach(({ at, words: names, value }, n) => sliders[n].set(at, value || names[at]));
    state.pictures.forEach((picture, n) => {
      setText(titles[n], state.titles[n] ?? "");
      titles[n].hidden = !state.titles[n];
      redrawn(pictures[n], picture);
    });
    table.paint(state.table);
    setText(note, state.note);
    note.hidden = !state.note;
    setText(found, state.found);
    setText(told, state.told);
  };
}

export default { render: (context) => mount(context, draw) };
