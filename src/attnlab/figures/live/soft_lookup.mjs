// Draws SoftLookup: the plane, shaded by the soft answer, its arrows, the temperature, and both answers.

import { drawn, element, mount, setText, shade, slider, unanswered } from "./figure.mjs";

const LEAP = 5; // steps
const NAMED = 0.2; // a weight whose part of the blend has room for its name
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** On the grid of steps and inside of the plane. */
const settled = (entry, reach, step) => {
  const inside = Math.min(Math.max(entry, -reach), reach);
  return Math.round(inside / step) / Math.round(1 / step);
};

/** Where a key moves the query, null if it does not; Shift leaps. */
export function nudged([x, y], key, reach, step, leap = false) {
  const direction = DIRECTIONS[key];
  if (!direction) return null;
  const by = (leap ? LEAP : 1) * step;
  return [settled(x + by * direction[0], reach, step), settled(y + by * direction[1], reach, step)];
}

/** The query under the pointer; the plane fills the box from -size to size, the edge is at reach. */
export function pointed({ clientX, clientY }, box, size, edge, { reach, step }) {
  const across = ((clientX - box.left) / box.width) * 2 - 1;
  const down = ((clientY - box.top) / box.height) * 2 - 1;
  const scale = (size / edge) * reach;
  return [settled(across * scale, reach, step), settled(-down * scale, reach, step)];
}

/** The stop of the slider that is closest to a temperature, by ratio. */
export function nearest(temperatures, temperature) {
  const distances = temperatures.map((stop) => Math.abs(Math.log(stop / temperature)));
  return distances.indexOf(Math.min(...distances));
}

/** With a minus sign, and never −0. */
export const signed = (number, digits) =>
  number.toFixed(digits).replace(/^-(0\.?0*)$/, "$1").replace("-", "−");

function draw(body, model) {
  body.classList.add("soft-lookup");
  let parts, shape;
  const found = element("p", { class: "finding", "aria-hidden": "true" });
  const told = element("p", { class: "unseen", "aria-live": "polite" });
  const send = (change) => model.send({ change });

  const build = ({ books, colours, axes, entries, temperatures, edge, margin, cells, legend, axis, named, more, folded }) => {
    const size = edge + margin;
    const colour = (m) => `--book: var(--attn-${colours[m]})`;
    const side = (2 * edge) / cells;
    const ground = Array.from({ length: cells * cells }, (_, at) => drawn("rect", {
      x: (at % cells) * side - edge, y: Math.floor(at / cells) * side - edge, width: side, height: side,
    }));
    const keys = books.map((_, m) => drawn("path", { class: "key", style: colour(m) }));
    const labels = books.map((book) => drawn("text", {}, book));
    const query = drawn("path", { class: "query" });
    const slope = drawn("path", { class: "slope" });
    labels.push(drawn("text", { class: "asked" }, named), drawn("text", { class: "more" }, more)); // more is of the slope
    const handle = drawn("circle", { r: 7, class: "handle", role: "slider", tabindex: 0, "aria-label": "query" });
    const plane = drawn(
      "svg",
      { class: "plane", viewBox: `${-size} ${-size} ${2 * size} ${2 * size}` },
      drawn("g", { class: "ground" }, ...ground),
      drawn("path", { class: "axis", d: `M${-edge} 0H${edge} M0 ${-edge}V${edge}` }),
      drawn("text", { class: "axis", x: edge, y: edge + 13, style: "text-anchor: end" }, `${axes[0]} →`),
      drawn("text", { class: "axis", x: 0, y: -edge - 9 }, `↑ ${axes[1]}`),
      ...keys, ...labels, query, slope, handle,
    );

    const mine = unanswered(handle);
    let waiting = null;
    const follow = (event) => {
      if (!waiting) requestAnimationFrame(() => { send({ query: waiting }); waiting = null; });
      waiting = pointed(event, plane.getBoundingClientRect(), size, edge, model.get("state"));
      mine.keep(waiting);
    };
    plane.addEventListener("pointerdown", (event) => {
      plane.setPointerCapture(event.pointerId);
      follow(event);
      handle.focus();
      event.preventDefault();
    });
    plane.addEventListener("pointermove", (event) => {
      if (plane.hasPointerCapture(event.pointerId)) follow(event);
    });
    handle.addEventListener("keydown", (event) => {
      const { query, reach, step } = model.get("state");
      const to = nudged(mine.value ?? query, event.key, reach, step, event.shiftKey);
      if (!to) return;
      event.preventDefault();
      mine.keep(to);
      send({ query: to });
    });

    const heat = slider({
      label: "temperature τ",
      min: 0,
      max: temperatures.length - 1,
      step: 1,
      value: 0,
      says: (stop) => `${temperatures[stop]}`,
      onInput: (stop) => send({ temperature: temperatures[stop] }),
    });

    const line = (name, attributes = {}) => {
      const cells = [element("td"), element("td")];
      return { cells, node: element("tr", {}, element("th", { scope: "row", ...attributes }, name), ...cells) };
    };
    const weights = books.map((book, m) => line(`weight of ${book}`, { class: "book", style: colour(m) }));
    const answers = entries.map((entry) => line(entry));
    const slopes = axes.map((axis) => line(`slope of ${entries[0]} along ${axis}`));
    const table = (lines) => {
      const head = ["", "hard", "soft"].map((name) => element(name ? "th" : "td", name ? { scope: "col" } : {}, name));
      return element("div", { class: "scroll" }, element("table", { class: "answers" },
        element("tbody", {}, element("tr", {}, ...head), ...lines.map(({ node }) => node))));
    };

    const bars = ["hard, one page", "soft, a blend"].map((name) => {
      const fill = element("span", { class: "fill" });
      const number = element("b");
      return { fill, number, node: element("div", { class: "bar", "aria-hidden": "true" }, `${name}: `, number, ` ${entries[0]}`, element("div", {}, fill)) };
    });
    const blend = books.map((_, m) => element("span", { style: colour(m) }));

    body.replaceChildren(
      found,
      element("div", { class: "panels" },
        element("div", { class: "beside map" }, heat.node, plane,
          element("p", { class: "legend" }, `${legend[0]} `,
            element("span", { class: "ends" }, `${legend[1]} `, element("span", { class: "shades" }), ` ${legend[2]}`))),
        element("div", { class: "beside answer" },
          element("p", { class: "hint" }, "Drag the query, or move it by arrow keys; Shift leaps."),
          ...bars.map(({ node }) => node),
          element("div", { class: "ticks", "aria-hidden": "true" }, ...axis.map((end) => element("span", {}, end))),
          element("p", { class: "hint", "aria-hidden": "true" }, "The blend, a share of each page:"),
          element("div", { class: "blend", "aria-hidden": "true" }, ...blend),
          element("details", {}, element("summary", {}, folded), table([...answers, ...weights, ...slopes])))),
      told,
    );
    parts = { ground, keys, labels, query, slope, handle, heat, weights, answers, slopes, blend, bars };
  };

  return () => {
    const state = model.get("state");
    const { arrows, hard, soft, reach, axes } = state;
    const wanted = `${[state.books, axes, state.entries, state.legend, state.axis]}`;
    if (shape !== wanted) build(state);
    shape = wanted;

    parts.ground.forEach((cell, at) => {
      const share = String(state.ground[at]);
      if (cell.getAttribute("opacity") !== share) cell.setAttribute("opacity", share);
    });
    parts.keys.forEach((path, m) => {
      path.setAttribute("d", arrows.keys[m]);
      path.setAttribute("stroke-width", 1.5 + 5 * soft.weights[m]);
      parts.blend[m].style.flexGrow = soft.weights[m];
      setText(parts.blend[m], soft.weights[m] < NAMED ? "" : `${state.books[m]}\n${soft.weights[m].toFixed(2)}`);
    });
    parts.labels.forEach((label, m) => {
      const [x, y] = arrows.labels[m] ?? [];
      label.style.visibility = y === undefined ? "hidden" : "";
      if (y === undefined) return;
      label.setAttribute("x", x);
      label.setAttribute("y", y + 3);
    });
    parts.query.setAttribute("d", `M0 0L${arrows.tip}`); // the knob is its head
    parts.slope.setAttribute("d", arrows.slope);
    const { handle } = parts;
    const [x, y] = state.query;
    const attributes = {
      cx: arrows.tip[0], cy: arrows.tip[1],
      "aria-valuemin": -reach, "aria-valuemax": reach, "aria-valuenow": x,
      "aria-valuetext": `${axes[0]} ${signed(x, 1)}, ${axes[1]} ${signed(y, 1)}`,
    };
    for (const [name, value] of Object.entries(attributes)) handle.setAttribute(name, value);
    parts.heat.set(nearest(state.temperatures, state.temperature), `${state.temperature}`);

    [hard, soft].forEach((lookup, side) => {
      const { fill, number } = parts.bars[side];
      [fill.style.marginLeft, fill.style.width] = lookup.bar.map((share) => `${100 * share}%`);
      setText(number, signed(lookup.answer[0], 1));
      parts.weights.forEach(({ cells }, m) => {
        const [face, ink] = shade(lookup.weights[m]);
        const text = lookup.weights[m].toFixed(2);
        setText(cells[side], text);
        cells[side].classList.toggle("nought", Number(text) === 0);
        cells[side].style.background = face;
        cells[side].style.color = Number(text) ? ink : "";
      });
      parts.answers.forEach(({ cells }, e) => setText(cells[side], signed(lookup.answer[e], 2)));
      parts.slopes.forEach(({ cells }, axis) =>
        setText(cells[side], lookup.slope ? signed(lookup.slope[axis], 2) : "none"));
    });
    setText(found, state.found);
    setText(told, state.told);
  };
}

export default { render: (context) => mount(context, draw) };
