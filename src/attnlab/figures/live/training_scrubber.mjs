// Draws TrainingScrubber: a slider over the recorded steps, the curve that Python drew, and the rows.

import { element, latest, mount, setText, shade, slider } from "./figure.mjs";

function draw(body, model) {
  let shape, bar, cells;
  const palette = model.get("palette");
  const send = latest((change) => model.send({ change }));
  const sliding = element("div");
  const picture = element("div");
  const weights = element("div", { class: "scroll" });
  const told = element("p", { class: "told", "aria-live": "polite" });
  body.append(
    sliding,
    element("div", { class: "panels" }, element("div", { class: "beside" }, picture, told), weights),
  );

  const build = ({ stops, rows, words }) => {
    bar = slider({
      label: "step", min: 0, max: stops.length - 1, step: 1, value: 0,
      says: (stop) => `${stops[stop]}`,
      onInput: (stop) => send({ step: stops[stop] }),
    });
    sliding.replaceChildren(bar.node);
    cells = words.map(() => rows.map(() => element("td")));
    const head = rows.map((row) => element("th", { scope: "col" }, row));
    const lines = words.map((word, n) =>
      element("tr", {}, element("th", { scope: "row" }, word), ...cells[n]));
    weights.replaceChildren(element("table", { class: "at-step" },
      element("caption", {}, "weights at this step"),
      element("tbody", {}, element("tr", {}, element("td"), ...head), ...lines)));
  };

  return () => {
    const state = model.get("state");
    const wanted = JSON.stringify([state.stops, state.rows, state.words]);
    if (shape !== wanted) build(state);
    shape = wanted;
    bar.set(state.stops.indexOf(state.step));
    picture.innerHTML = state.picture;
    state.weights.forEach((shares, n) =>
      shares.forEach((share, m) => {
        const [face, ink] = shade(palette, share);
        setText(cells[n][m], share.toFixed(2));
        cells[n][m].style.background = face;
        cells[n][m].style.color = ink;
      }));
    setText(told, state.told);
  };
}

export default { render: (context) => mount(context, draw) };
