// Draws Slopes: the output as a grid to choose from, and beside it the slopes to each input.

import { element, grid, mount, setText, settling } from "./figure.mjs";


function draw(body, model) {
  let out, parts, size;
  // The choice is kept here until it is sent: Python's echo of the last one would undo it.
  let chosen = model.get("entry");
  const { rest } = settling(model, "entry");
  const told = element("p", { class: "told", "aria-live": "polite" });
  const panels = element("div", { class: "slopes" });
  body.append(element("p", { class: "hint" }, "Choose a number of the output. The others show how much a nudge to each of them moves it: red up, blue down, a bare 0 not at all."), panels, told);

  const place = () => {
    const [sentence, token, column] = chosen;
    return { row: sentence * model.get("state").sentences[0].length + token, column };
  };

  const show = () => {
    const { slopes, shades, told: sentences } = model.get("state");
    const { row, column } = place();
    for (const node of panels.querySelectorAll(".chosen")) {
      node.classList.remove("chosen");
      node.removeAttribute("aria-selected");
    }
    out.moveTo({ row, column });
    const node = out.node.querySelectorAll("[role=gridcell]")[row * model.get("state").out[0].length + column];
    node.classList.add("chosen");
    node.setAttribute("aria-selected", "true");
    const key = chosen.join(" ");
    for (const [name, cells] of Object.entries(parts)) {
      slopes[key][name].forEach((line, r) => line.forEach(([text, shade], c) => {
        const [face, ink] = shades[shade] ?? ["", ""];
        setText(cells[r][c], text);
        cells[r][c].style.background = face;
        cells[r][c].style.color = ink;
        cells[r][c].classList.toggle("nothing", !face);
      }));
    }
    setText(told, sentences[key]);
  };

  const choose = ({ row, column }) => {
    const length = model.get("state").sentences[0].length;
    chosen = [Math.floor(row / length), row % length, column];
    show();
    rest(chosen);
  };

  const headed = (caption, node) => {
    const length = model.get("state").sentences[0].length;
    [...node.querySelectorAll("tr")].forEach((line, n) => line.classList.toggle("begins", n > 1 && (n - 1) % length === 0));
    return element("div", {}, element("p", { class: "name" }, caption), node);
  };

  const build = ({ rows, out: numbers, parts: given }) => {
    out = grid({ label: "output, choose a number", rows, columns: numbers[0].map((_, c) => String(c)), onMove: choose });
    parts = {};
    const tables = given.map(({ name, columns }) => {
      const cells = rows.map(() => columns.map(() => element("td")));
      parts[name] = cells;
      const top = columns.map((column) => element("th", { scope: "col" }, column));
      const lines = rows.map((token, r) => element("tr", {}, element("th", { scope: "row" }, token), ...cells[r]));
      return headed(`slopes to ${name}`, element("table", {}, element("tbody", {}, element("tr", {}, element("td"), ...top), ...lines)));
    });
    panels.replaceChildren(headed("output", out.node), ...tables);
  };

  const update = () => {
    const state = model.get("state");
    const now = JSON.stringify([state.sentences, state.parts]);
    if (size !== now) build(state);
    size = now;
    state.out.forEach((line, r) => line.forEach((text, c) =>
      out.paint(r, c, { text, name: `output ${state.rows[r]}, ${c}: ${text}` })));
    if (!state.told[chosen.join(" ")]) chosen = [0, 0, 0];
    show();
  };
  model.on("change:entry", () => {
    chosen = model.get("entry");
    if (model.get("state").told[chosen.join(" ")]) show();
  });
  return update;
}

export default { render: (context) => mount(context, draw) };
