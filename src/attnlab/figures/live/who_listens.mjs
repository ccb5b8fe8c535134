// Draws WhoListens: the heatmap, with bars over the keys where a mask moved weight, or arcs over the sentence; and one row in words.

import { FAINT, drawn, element, grid, mount, moved, setText, settling, shade } from "./figure.mjs";

const VIEWS = ["table", "arcs"];
const TIGHT = 10; // rows; more are set closer
const CROWD = 17;
const FEW = 7; // are set larger, with every number
const NOUGHT = 0.005; // less reads 0.00
const [LETTER, GAP] = [7.4, 14]; // px, of a word under the arcs
const [LOW, HIGH] = [40, 184]; // px above the words, at least and at most
const LEG = 8; // px that an arc goes straight up, and that it ends above its word, in the arrowhead
const PALE = 0.1; // less has no number, and stands back
const BESIDE = 24; // px from a word's middle to its loop's number
const [MARGIN, WIDE] = [8, 44]; // px left and right of the words, for loops and their numbers
const ABOVE = 16; // px over the arcs, for the largest weight
const MOST = 1.8; // times its size, in a place that is wider

/** Where words stand in a line: the middle of each, and the end of the last. */
export function inLine(words) {
  const ends = words.map((_, n) => words.slice(0, n + 1).reduce((sum, word) => sum + LETTER * word.length + GAP, 0));
  return { middles: ends.map((end, n) => end - (LETTER * words[n].length + GAP) / 2), end: ends.at(-1) };
}

/** How high an arc is, above words at this height. */
const rise = (start, end, base) => Math.min(Math.abs(end - start) / 2, base - LEG) + LEG;

/** The arc from one place down to an arrowhead over another, or the loop from a place to itself, on its right; above words at this height. */
export function arc(start, end, base) {
  if (start === end) return `M${start} ${base}C${start + 20} ${base - 38} ${start + 40} ${base - 6} ${start} ${base}`;
  const [across, high] = [Math.abs(end - start) / 2, rise(start, end, base) - LEG];
  return `M${start} ${base}v${-LEG}A${across} ${high} 0 0 ${end > start ? 1 : 0} ${end} ${base - LEG}`;
}

/** The sentence with arcs above it; a word is chosen by arrow key or click. */
function arches({ words, names, onChoose, onHover }) {
  const { middles, end } = inLine(words);
  const width = MARGIN + end + WIDE;
  const base = Math.min(Math.max((middles.at(-1) - middles[0]) / 2 + LEG, LOW), HIGH);
  const height = base + 24;
  const weights = middles.map(() => []);
  const paths = middles.map(() => drawn("path"));
  const [most, own] = ["most", "own"].map((name) => drawn("text", { class: name }));
  const head = drawn("polygon", { class: "head" }); // where all arcs end
  const nodes = words.map((word, n) => {
    const node = drawn("g", { class: "word", role: "option", tabindex: -1, "aria-label": names[n] },
      drawn("text", { x: middles[n], y: base + 18 }, word));
    node.addEventListener("click", () => choose(n));
    node.addEventListener("pointerenter", () => onHover(n));
    node.addEventListener("pointerleave", () => onHover(null));
    return node;
  });
  const list = drawn("svg", { role: "listbox", "aria-label": "query", "aria-orientation": "horizontal",
    viewBox: `${-MARGIN} ${-ABOVE} ${width} ${height + ABOVE}`, style: `min-width:${width}px;max-width:${MOST * width}px` },
    drawn("g", { "aria-hidden": "true" }, ...paths, head, most, own), ...nodes);
  const choose = (row) => {
    onChoose(row);
    nodes[row].focus();
  };
  list.addEventListener("keydown", (event) => {
    const place = moved({ row: 0, column: nodes.indexOf(event.target) }, event.key, 1, words.length);
    if (!place || event.altKey || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    choose(place.column);
  });
  return {
    node: element("div", { class: "arcs scroll" }, list),
    paint: (row, key, weight) => { weights[row][key] = weight; },
    highlight: (row) => {
      const [x, shares] = [middles[row], weights[row]];
      const weight = Math.max(...shares);
      const key = shares.indexOf(weight);
      paths.forEach((path, m) => {
        path.style.display = shares[m] < NOUGHT ? "none" : "";
        path.setAttribute("stroke-width", 0.5 + 6 * shares[m]);
        path.setAttribute("d", arc(middles[m], x, base));
        path.style.opacity = shares[m] < PALE && m !== key && m !== row ? 0.5 : 1;
      });
      head.setAttribute("points", `${x - 8},${base - 12} ${x + 8},${base - 12} ${x},${base}`);
      head.style.display = shares.every((share, m) => m === row || share < NOUGHT) ? "none" : "";
      const write = (text, x, y, share) => {
        text.setAttribute("x", x);
        text.setAttribute("y", y);
        setText(text, share < FAINT ? "" : share.toFixed(2));
      };
      write(most, (x + middles[key]) / 2, base - rise(middles[key], x, base) - 6, key === row ? 0 : weight);
      write(own, x + BESIDE, base - 12, shares[row]);
    },
    mark: (row) => nodes.forEach((node, n) => {
      node.setAttribute("tabindex", n === row ? 0 : -1);
      node.setAttribute("aria-selected", n === row);
    }),
  };
}

/** The least that is written, of a row of so many. */
const leastOf = (count) => (count > FEW ? FAINT : 0);

/** One row of weights, under its query's name, as bars over their keys' columns, and how much came or went since before. */
function bars(count) {
  const parts = Array.from({ length: count }, () => ["fill", "went", "came", "change"].map((name) => element("span", { class: name })));
  const cells = parts.map((each) => element("td", {}, element("div", {}, ...each)));
  const name = element("td", { class: "whose" });
  return {
    node: element("tr", { class: "bars", "aria-hidden": "true" }, name, ...cells),
    paint: (query, row, before, most) => {
      setText(name, query);
      row.forEach((weight, m) => {
        const [fill, went, came, change] = parts[m];
        const more = weight - before[m];
        const told = weight.toFixed(2) - before[m].toFixed(2); // of the numbers that are read
        const height = (part, share) => { part.style.height = `${80 * Math.max(share, 0) / most}%`; };
        height(fill, Math.min(weight, before[m]));
        height(came, more);
        height(went, -more);
        setText(change, Math.abs(told) < Math.max(leastOf(count), NOUGHT) ? "" : `${told < 0 ? "−" : "+"}${Math.abs(told).toFixed(2)}`);
      });
    },
  };
}

function draw(body, model) {
  let table, chart, sentence, choice, size, views;
  // The row is kept here until it is sent: Python's echo of the last one would undo it.
  let chosen = model.get("row");
  const { rest } = settling(model, "row");
  const found = element("p", { class: "told finding", "aria-hidden": "true" });
  const said = element("p", { class: "unseen", "aria-live": "polite" });
  const above = element("div", { class: "tools" });
  const panels = element("div", { class: "panels" });
  const taken = element("p", { class: "hint", "aria-hidden": "true" }, "Blue: kept from before the mask. Orange: what it took (−), and who has it now (+), rounded.");
  body.append(above, found, panels, taken, said);

  const show = (row) => {
    const { weights, before, queries, found: findings } = model.get("state");
    const most = Math.max(...[...weights, ...(before ?? [])].flat());
    table.highlight(row);
    sentence?.highlight(row);
    if (before) chart.paint(queries[row], weights[row], before[row], most);
    setText(found, findings[row]);
  };

  // What is seen follows the pointer. Only the chosen row is read out: a live region must not chatter.
  const choose = (row) => {
    chosen = row;
    table.moveTo({ row }); // where Tab leads
    sentence?.mark(row);
    show(row);
    setText(said, model.get("state").told[row]);
  };
  const select = (row) => {
    choose(row);
    rest(chosen);
  };
  const preview = (row) => show(row ?? chosen);

  // Which head: a native list, moved by arrow keys; there is none for a single map.
  const heads = (choices) => {
    const options = choices.map((name, at) => element("option", { value: at }, name));
    choice = element("select", { "aria-label": "layer and head" }, ...options);
    choice.addEventListener("change", () => model.send({ change: { shown: Number(choice.value) } }));
    return choice;
  };

  // Table or arcs. Two figures in one page must not share their radio buttons.
  const group = `view-${Math.random()}`;
  const radios = VIEWS.map((view) => {
    const radio = element("input", { type: "radio", name: group });
    radio.addEventListener("change", () => {
      model.set("view", view);
      model.save_changes();
    });
    return radio;
  });
  const turn = element("div", { role: "radiogroup", "aria-label": "view" },
    ...VIEWS.map((view, n) => element("label", {}, radios[n], ` ${view} `)));
  const look = () => VIEWS.forEach((view, n) => {
    const isShown = view === (sentence ? model.get("view") : "table");
    radios[n].checked = isShown;
    views[n]?.classList.toggle("away", !isShown);
  });

  const typed = element("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const own = element("form", { class: "own" }, element("label", {}, "your own sentence "), element("button", {}, "read"));
  own.firstChild.append(typed);
  own.addEventListener("submit", (event) => {
    event.preventDefault();
    model.send({ read: typed.value });
  });

  const build = ({ queries, keys, named, choices, typed: text }) => {
    chart = bars(keys.length);
    table = grid({
      label: model.get("title"), rows: queries, columns: keys,
      onMove: ({ row }) => select(row), onHover: preview,
    });
    const top = table.node.querySelector("tr");
    top.before(chart.node);
    top.firstChild.append(...["keys →", "queries ↓"].map((side) => element("div", { class: "side" }, side)));
    const isOneSentence = JSON.stringify(queries) === JSON.stringify(keys);
    sentence = isOneSentence ? arches({ words: queries, names: named.queries, onChoose: select, onHover: preview }) : null;
    views = [table.node, ...(sentence ? [sentence.node] : [])];
    const canRead = typeof text === "string";
    body.className = `who-listens ${canRead ? "reads" : ""} ${queries.length > TIGHT ? "tight" : ""} ${queries.length > FEW ? "" : "few"} ${queries.length > CROWD ? "long" : ""}`;
    if (choices.length > 1 && choice?.length !== choices.length) above.prepend(heads(choices));
    if (choices.length < 2) choice = choice?.remove();
    // What is there already stays where it is: moving it would take its focus away.
    if (!sentence) turn.remove();
    else if (!turn.parentNode) above.insertBefore(turn, own.parentNode ? own : null);
    if (canRead && !own.parentNode) above.append(own);
    body.style.setProperty("--columns", keys.length);
    panels.replaceChildren(element("div", { class: "views" }, ...views));
  };

  const update = () => {
    const state = model.get("state");
    const wanted = JSON.stringify([state.queries, state.keys, state.choices]);
    if (size !== wanted) build(state);
    if (size !== wanted && state.typed) typed.value = state.typed;
    size = wanted;
    if (choice) choice.value = state.shown;
    const { named } = state;
    taken.hidden = chart.node.hidden = !state.before;
    state.weights.forEach((row, n) =>
      row.forEach((weight, m) => {
        const blocked = state.blocked[n][m];
        const number = blocked && weight === 0 ? "0" : weight.toFixed(2);
        const name = `${named.queries[n]} to ${named.keys[m]}: ${blocked ? "blocked, " : ""}${number}`;
        const [face, ink] = shade(weight);
        table.paint(n, m, { text: blocked || weight < leastOf(row.length) ? "" : number, name, blocked, face, ink });
        sentence?.paint(n, m, weight);
      }),
    );
    look();
    choose(Math.min(chosen, state.queries.length - 1));
  };

  model.on("change:row", () => choose(model.get("row")));
  model.on("change:view", look);
  return update;
}

export default { render: (context) => mount(context, draw) };
