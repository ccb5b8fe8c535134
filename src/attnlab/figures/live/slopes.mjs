// Draws Slopes: the output as a grid to choose from, and beside it the slopes to each input.

import { element, grid, mount, setText, settling } from "./figure.mjs";


function draw(body, model) {
  let out, parts, size;
  // The choice is kept here until it is sent: Python's echo of the last one would undo it.
  let chosen = model.get("entry");
  const { rest } = settling(model, "entry");
  const told = element("p", { class: "told finding", "aria-live": "polite" });
  const panels = element("div", { class: "slopes" });
  body.append(told, element("p", { class: "hint" }, "Choose a number of the output. A nudge to each of the others moves it: orange up, blue down, grey not at all."), panels);

  const place = () => {
    const [sentence, token, column] = chosen;
    return { row: sentence * model.get("state").sentences[0].length + token, column };
  };

  const show = () => {
    const { slopes, shades, names, told: sentences, sentences: { 0: { length } } } = model.get("state");
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
    for (const [name, { cells, heads, ends }] of Object.entries(parts)) {
      const has = (r, c) => Boolean(shades[slopes[key][name][r]?.[c]?.[1]]);
      slopes[key][name].forEach((line, r) => line.forEach(([text, shade], c) => {
        const [face, ink] = shades[shade] ?? ["", ""];
        const cell = cells[r][c];
        setText(cell, face ? text : "");
        cell.ariaLabel = face ? null : text;
        cell.style.background = face;
        cell.style.color = ink;
        cell.classList.toggle("nothing", !face);
      }));
      heads.forEach((head, r) => head.classList.toggle("reached", cells[r].some((_, c) => has(r, c))));
      ends.forEach((end, n) => {
        const rows = heads.slice(n * length, (n + 1) * length);
        const isTouched = rows.some((head) => head.classList.contains("reached"));
        for (const head of rows) head.parentElement.classList.toggle("untouched", !isTouched);
        setText(end, isTouched ? names[n] : `${names[n]}: all 0`);
      });
    }
    setText(told, sentences[key]);
  };

  const choose = ({ row, column }) => {
    const length = model.get("state").sentences[0].length;
    chosen = [Math.floor(row / length), row % length, column];
    show();
    rest(chosen);
  };

  /** A table under its name, with a line over each sentence. */
  const headed = (caption, node) => {
    const { names, sentences: [{ length }] } = model.get("state");
    const rows = [...node.querySelectorAll("tr")].slice(1);
    const ends = names.map((name) => element("th", { scope: "rowgroup", colspan: rows[0].children.length }, name));
    ends.forEach((end, n) => rows[n * length].before(element("tr", { class: "begins" }, end)));
    return { ends, node: element("div", {}, element("p", { class: "name" }, caption), node) };
  };

  const build = ({ rows, out: numbers, parts: given }) => {
    out = grid({ label: "output, choose a number", rows, columns: numbers[0].map((_, c) => String(c)), onMove: choose });
    parts = {};
    const tables = given.map(({ name, columns }) => {
      const cells = rows.map(() => columns.map(() => element("td")));
      const heads = rows.map((token) => element("th", { scope: "row" }, token));
      const top = columns.map((column) => element("th", { scope: "col" }, column));
      const lines = rows.map((_, r) => element("tr", {}, heads[r], ...cells[r]));
      const table = element("table", {}, element("tbody", {}, element("tr", {}, element("td"), ...top), ...lines));
      const { ends, node } = headed(`slopes to ${name}`, table);
      parts[name] = { cells, heads, ends };
      return node;
    });
    panels.classList.toggle("abreast", numbers[0].length + given.flatMap(({ columns }) => columns).length <= 14);
    panels.replaceChildren(headed("output", out.node).node, ...tables);
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
