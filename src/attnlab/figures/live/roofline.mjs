// Draws Roofline: a slider for the batch, the chart made by Python, and what limits each work.

import { element, lines, mount, setText, slider } from "./figure.mjs";

function draw(body, model) {
  body.classList.add("roofline");
  const { slider: { stops, at }, caption, heads } = model.get("state");
  const chart = element("div", { class: "beside" });
  const table = lines(caption, heads);
  const told = element("p", { class: "told", "aria-live": "polite" });
  const batch = slider({
    label: "batch",
    min: 0,
    max: stops.length - 1,
    step: 1,
    value: at,
    says: (stop) => `${stops[stop]}`,
    onInput: (stop) => model.send({ change: { batch: stops[stop] } }),
  });
  body.append(batch.node, element("div", { class: "panels" }, chart, element("div", { class: "beside" }, table.node, told)));

  return () => {
    const state = model.get("state");
    batch.set(state.slider.at, state.slider.value);
    chart.innerHTML = state.chart;
    table.paint(state.table);
    setText(told, state.told);
  };
}

export default { render: (context) => mount(context, draw) };
