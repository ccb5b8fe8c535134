// Draws Saturation: two sliders, two pictures that Python made, and a table of measures.

import { element, latest, mount, setText, slider } from "./figure.mjs";
import { redrawn } from "./motion.mjs";

function draw(body, model) {
  const { widths, readers, ways, table } = model.get("state");
  const send = latest((change) => model.send({ change }));
  const width = slider({
    label: "width d_k", min: 0, max: widths.length - 1, step: 1, value: 0,
    says: (stop) => `${widths[stop]}`,
    onInput: (stop) => send({ d_k: widths[stop] }),
  });
  const reader = slider({
    label: "reader", min: 1, max: readers, step: 1, value: 1,
    says: (value) => `${value} of ${readers}`,
    onInput: (value) => send({ reader: value }),
  });
  const pictures = ways.map(() => element("div"));
  const panels = ways.map((way, n) =>
    element("div", { class: "halves" }, element("p", { class: "way" }, way), pictures[n]));
  const cells = table.map(() => ways.map(() => element("td")));
  const lines = table.map(([label], n) =>
    element("tr", {}, element("th", { scope: "row" }, label), ...cells[n]));
  const head = ways.map((way) => element("th", { scope: "col" }, way));
  const told = element("p", { class: "told", "aria-live": "polite" });
  body.append(
    element("div", { class: "tools" }, width.node, reader.node),
    element("div", { class: "panels" }, ...panels,
      element("div", { class: "beside" },
        element("table", { class: "measures" },
          element("tbody", {}, element("tr", {}, element("td"), ...head), ...lines)),
        told)),
  );

  return () => {
    const state = model.get("state");
    width.set(widths.indexOf(state.d_k));
    reader.set(state.reader);
    pictures.forEach((picture, n) => redrawn(picture, state.pictures[n]));
    state.table.forEach(([, ...numbers], n) =>
      numbers.forEach((shown, side) => setText(cells[n][side], shown)));
    setText(told, state.told);
  };
}

export default { render: (context) => mount(context, draw) };
