// Draws Cost: sliders, squares and charts made by Python, a button to measure, and tables on request.

import { element, lines, mount, setText, slider } from "./figure.mjs";
import { redrawn } from "./motion.mjs";

function draw(body, model) {
  let parts;
  body.classList.add("cost");
  const found = element("p", { class: "finding" });
  const told = element("p", { class: "told", "aria-live": "polite" });
  const toldMeasured = element("p", { class: "told-measured", "aria-live": "polite" });
  const send = (change) => model.send({ change });

  const build = ({ sliders, dtypes, charts, numbers, meaning }) => {
    const controls = sliders.map(({ name, label, stops, words, at }) => {
      const control = slider({
        label,
        min: 0,
        max: stops.length - 1,
        step: 1,
        value: at,
        says: (stop) => words[stop],
        onInput: (stop) => send({ [name]: stops[stop] }),
      });
      control.node.style.setProperty("--longest", `${Math.max(...words.map((word) => word.length))}ch`);
      return control;
    });
    const kind = element("select", {}, ...dtypes.map((dtype) => element("option", {}, dtype)));
    kind.addEventListener("change", () => send({ dtype: kind.value }));
    const button = element("button", { type: "button" }, "Measure on this machine");
    button.addEventListener("click", () => {
      setText(toldMeasured, "Measuring, for about two seconds.");
      model.send({ measure: true });
    });
    const counts = lines("counted", ["", "formula", "here"]);
    const fits = lines("do the scores fit?", ["", "here", "at the most"]);
    const measured = lines("measured", ["N", "time", "held at the most"]);
    const drawings = charts.map(() => element("div", { class: "chart" }));
    body.replaceChildren(
      found,
      ...controls.slice(0, 1).map(({ node }) => node),
      element("div", { class: "controls" }, ...controls.slice(1).map(({ node }) => node),
        element("label", { class: "kind" }, "type of number ", kind)),
      element("div", { class: "charts" }, ...drawings),
      told,
      element("div", { class: "measures" }, button, toldMeasured),
      element("details", {},
        element("summary", {}, numbers),
        element("div", { class: "panels" }, counts.node, fits.node, measured.node),
        element("p", { class: "hint" }, meaning)),
    );
    parts = { controls, kind, drawings, counts, fits, measured };
  };

  return () => {
    const state = model.get("state");
    if (!parts) build(state);
    state.sliders.forEach(({ at, value }, n) => parts.controls[n].set(at, value));
    parts.kind.value = state.dtype;
    state.charts.forEach((drawing, n) => redrawn(parts.drawings[n], drawing));
    for (const name of ["counts", "fits", "measured"]) parts[name].paint(state[name]);
    parts.measured.node.hidden = !state.measured.length;
    setText(found, state.found);
    setText(told, state.told);
    setText(toldMeasured, state.told_measured);
  };
}

export default { render: (context) => mount(context, draw) };
