// Draws RotaryArrows: three sliders, the arrows that Python turned, a table and a sentence.

import { element, latest, mount, setText, slider } from "./figure.mjs";
import { player, redrawn } from "./motion.mjs";

const PACE = 700; // ms a step while both are moved
const HEADS = ["query turned by", "key turned by", "between them", "dot product"];

function draw(body, model) {
  let count, titles, pictures, cells;
  body.classList.add("rotary");
  const { places, dotted } = model.get("state");
  const send = latest((change) => model.send({ change }));
  const positions = [["query_at", "query at"], ["key_at", "key at"], ["moved", "both moved by"]];
  const sliders = positions.map(([name, label]) => slider({
    label, min: 0, max: places, step: 1, value: model.get("state")[name],
    says: (value) => `${value}`,
    onInput: (value) => send({ [name]: value }),
  }));
  const play = player(body, sliders.at(-1).next, PACE);
  const circles = element("div", { class: "circles" });
  const numbers = element("div");
  const told = element("p", { class: "told", "aria-live": "polite" });
  body.append(
    element("div", { class: "tools" }, ...sliders.map(({ node }) => node), play),
    element("div", { class: "panels" }, circles, element("div", { class: "beside" }, numbers, element("p", { class: "hint" }, dotted), told)),
  );

  const build = ({ table, pictures: drawings }) => {
    count = drawings.length;
    titles = drawings.map(() => element("p", { class: "pair" }));
    pictures = drawings.map(() => element("div"));
    circles.replaceChildren(...drawings.map((_, n) =>
      element("div", { class: "arrows" }, titles[n], pictures[n])));
    cells = table.map(() => HEADS.map(() => element("td")));
    const head = HEADS.map((name) => element("th", { scope: "col" }, name));
    const lines = table.map(([name], n) =>
      element("tr", {}, element("th", { scope: "row" }, name), ...cells[n]));
    numbers.replaceChildren(element("table", { class: "angles" },
      element("tbody", {}, element("tr", {}, element("td"), ...head), ...lines)));
  };

  return () => {
    const state = model.get("state");
    if (count !== state.pictures.length) build(state);
    positions.forEach(([name], n) => sliders[n].set(state[name]));
    state.titles.forEach((title, n) => setText(titles[n], title));
    state.pictures.forEach((picture, n) => redrawn(pictures[n], picture));
    state.table.forEach(([, ...shown], n) => shown.forEach((text, m) => setText(cells[n][m], text)));
    setText(told, state.told);
  };
}

export default { render: (context) => mount(context, draw) };
