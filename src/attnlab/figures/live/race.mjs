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
    const slope = element("span");
    const node = element("div", { class: "racer" }, element("div", { class: "name" }, element("b", {}, name), " ", slope), strip, bar);
    return { node, slope, strip, bar };
  });
  const told = element("p", { class: "told unseen", "aria-live": "polite" });
  const found = element("p", { class: "finding race", "aria-hidden": "true" });
  const way = element("b");
  const heads = element("div", { class: "racer heads" }, element("div", { class: "name" }), element("div", { class: "way" }, way),
    element("div", { class: "share" }, element("b", {}, "After training: share that is right")));
  body.append(found, element("div", { class: "race tools" }, distance.node, moment), heads, ...rows.map(({ node }) => node), told);

  return () => {
    const state = model.get("state");
    distance.set(state.distance);
    radios.forEach((radio, n) => { radio.checked = moments[n] === state.when; });
    state.racers.forEach(({ slope, strip, bar }, n) => {
      setText(rows[n].slope, slope);
      rows[n].strip.innerHTML = strip + state.letters;
      rows[n].bar.innerHTML = bar + state.scale;
    });
    setText(way, `${state.when === "after" ? "After" : "Before"} training: the letter's way to “?”`);
    setText(found, state.found);
    setText(told, state.told);
  };
}

export default { render: (context) => mount(context, draw) };
