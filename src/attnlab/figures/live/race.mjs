// Draws Race: a slider for the distance, the moment whose slopes are drawn, and a row for each racer.

import { element, latest, mount, setText, slider } from "./figure.mjs";

function draw(body, model) {
  const { distances, moments, racers } = model.get("state");
  const send = latest((change) => model.send({ change }));
  const distance = slider({
    label: "distance", min: distances[0], max: distances.at(-1), step: 1, value: distances[0],
    says: (value) => `${value}`,
    onInput: (value) => send({ distance: value }),
  });
  // Two figures in one page must not share their radio buttons.
  const group = `moment-${Math.random()}`;
  const radios = moments.map((when) => {
    const radio = element("input", { type: "radio", name: group });
    radio.addEventListener("change", () => send({ when }));
    return radio;
  });
  const moment = element("div", { class: "tools", role: "radiogroup", "aria-label": "slopes" },
    "slopes", ...moments.map((when, n) => element("label", {}, radios[n], ` ${when} training`)));
  const rows = racers.map(({ name }) => {
    const strip = element("div", { class: "way" });
    const bar = element("div", { class: "share" });
    const node = element("div", { class: "racer" }, element("b", {}, name), strip, bar);
    return { node, strip, bar };
  });
  const told = element("p", { class: "told", "aria-live": "polite" });
  const meaning = "The end is asked which letter is marked. An arrow is a step thicker for each ten times the slope. Orange: the way of the marked letter, and what arrives of it. A bar: the share of right answers after training.";
  body.append(element("p", { class: "hint" }, meaning), element("div", { class: "race tools" }, distance.node, moment), ...rows.map(({ node }) => node), told);

  return () => {
    const state = model.get("state");
    distance.set(state.distance);
    radios.forEach((radio, n) => { radio.checked = moments[n] === state.when; });
    state.racers.forEach(({ strip, bar }, n) => {
      rows[n].strip.innerHTML = strip;
      rows[n].bar.innerHTML = bar;
    });
    setText(told, state.told);
  };
}

export default { render: (context) => mount(context, draw) };
