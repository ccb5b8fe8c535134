// Draws TrainingScrubber: a slider over the recorded steps, the curves that Python drew, and each row's words.

import { element, latest, mount, setText, slider } from "./figure.mjs";
import { player, redrawn } from "./motion.mjs";

const PACE = 400; // ms a step while the steps play

function draw(body, model) {
  let shape, bar, marks;
  const send = latest((change) => model.send({ change }));
  const play = player(body, () => bar.next(), () => PACE);
  const tools = element("div", { class: "tools" });
  const picture = element("div");
  const weights = element("div", { class: "beside rows-of-words moves" });
  const found = element("p", { class: "finding" });
  const told = element("p", { class: "told unseen", "aria-live": "polite" });
  body.append(
    found, tools,
    element("div", { class: "panels" }, element("div", { class: "curve" }, picture, told), weights),
  );

  // A row is a sentence: every word has a bar as high as the weight that it has at this step.
  const build = ({ stops, rows, words, colours }) => {
    bar = slider({
      label: "step", min: 0, max: stops.length - 1, step: 1, value: 0,
      says: (stop) => `${stops[stop]}`,
      onInput: (stop) => send({ step: stops[stop] }),
    });
    tools.replaceChildren(play, bar.node);
    marks = rows.map(() => words.map((word) => ({
      item: element("li"),
      fill: element("span", { class: "fill" }),
      word: element("span", { class: "word" }, word),
      number: element("span", { class: "number" }),
    })));
    weights.replaceChildren(...rows.map((row, n) => element("div", { style: `--row:${colours[n]}` },
      element("p", {}, element("b", {}, row), " puts its weight on"),
      element("ol", { class: words.length > 12 ? "sentence long" : "sentence", "aria-label": `weights of ${row}` }, ...marks[n].map(({ item, fill, word, number }) => {
        item.append(element("span", { class: "track", "aria-hidden": "true" }, fill), word, " ", number);
        return item;
      })),
    )));
  };

  return () => {
    const state = model.get("state");
    const wanted = JSON.stringify([state.stops, state.rows, state.words]);
    if (shape !== wanted) build(state);
    shape = wanted;
    bar.set(state.stops.indexOf(state.step));
    redrawn(picture, state.picture);
    state.weights.forEach((shares, m) =>
      shares.forEach((share, n) => {
        const { item, fill, number } = marks[n][m];
        item.classList.toggle("most", share === Math.max(...state.weights.map((each) => each[n])));
        fill.style.setProperty("--long", share / state.most);
        item.classList.toggle("none", share < 0.005);
        setText(number, share < 0.005 ? "" : share.toFixed(2));
      }));
    setText(found, state.claim);
    setText(told, state.told);
  };
}

export default { render: (context) => mount(context, draw) };
