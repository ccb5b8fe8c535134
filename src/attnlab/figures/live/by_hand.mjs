// Draws ByHand: all matrices, those of one of seven stages large, and the sum behind the selected cell.
// Where there is little room the others are away, as by_hand.css says.

import { element, grid, mount, setText, settling, shade } from "./figure.mjs";
import { arrive, player, steady } from "./motion.mjs";

const TURNS = { n: 1, p: -1 };
const PACE = 3000; // ms that a stage is shown while the stages play
const MOST = 3; // matrices that have room for large type
const LONGEST = 5; // of what may be told; one of them takes the most room
const LONGER = " + 100.000 · (−100.000)"; // room for what an edit may add to a sum, and to what is said of it
const TAKEN = " The row's largest score, 100.000, is taken away first.";

/** Where the numbers of a cell come from: for each matrix the row or column, or both, that enter. Column null is the whole row. */
export function enters(name, row, column) {
  const projection = { Q: "W_q", K: "W_k", V: "W_v" }[name];
  if (projection) return { X: { row }, [projection]: { column } };
  return {
    S: { Q: { row }, K: { row: column ?? undefined } },
    scaled: { S: { row, column } },
    masked: { scaled: { row, column } },
    A: { masked: { row } },
    Z: { A: { row }, V: { column } },
  }[name] ?? {};
}

/** The cell of a matrix that is nearest to one of another matrix; a whole row stays whole. */
export function nearest({ rows, columns }, row, column) {
  return [Math.min(row, rows.length - 1), column === null ? null : Math.min(column, columns.length - 1)];
}

// As the matrices lie: from the tokens to what they ask, answer and give; from the scores to the output.
const PLACES = [
  [["X"], ["W_q", "Q"], ["W_k", "K"], ["W_v", "V"]],
  [["S"], ["scaled"], ["masked"], ["A"], ["Z"]],
];

const sizes = (matrices) =>
  Object.values(matrices).map(({ rows, columns }) => `${rows} × ${columns}`).join();

const within = (place, row, column) =>
  (place.row ?? row) === row && (place.column ?? column) === column;

/** Words as nodes, W_q with a subscript. */
const written = (words) => words.split(/_(\w)/).map((part, n) => (n % 2 ? element("sub", {}, part) : part));

/** What a cell is, the sums behind it, and what becomes of its query where it stands for a whole row. */
const tellings = ({ what, sums }, trail, now) => [
  element("p", { "aria-hidden": "true" }, ...written(what)),
  element("p", { class: "sum", "aria-hidden": "true" }, ...sums.map((line) => element("span", {}, line))),
  ...(trail.length ? [element("ol", { class: "trail" }, ...trail.map(({ stage, text }) =>
    element("li", stage === now ? { "aria-current": "step" } : {}, text)))] : []),
];

function draw(body, model) {
  let grids, size, turned;
  let marked = [];
  let unfocused = false; // whether a cell had the focus, and the chosen one has not got it yet
  // The selection is kept here until it is sent: Python's echo of the last one would undo it.
  let selected = model.get("cell");
  const said = element("p", { class: "unseen", "aria-live": "polite" });
  const about = element("p", { class: "finding about" });
  const panels = element("div", { class: "matrices" });
  const dots = element("span", {}, "• changed by the last edit");
  const told = element("div", { class: "told" });
  const shown = element("div", { class: "by-hand" }, panels, told);

  const { rest, tell } = settling(model, "cell");
  const isIn = ({ groups }, name) => groups.flat().includes(name);
  const select = (cell) => {
    selected = cell;
    const { stages } = model.get("state");
    if (isIn(stages[model.get("stage") - 1], cell[0])) {
      show();
      rest(selected);
      return;
    }
    model.set("stage", stages.findIndex((stage) => isIn(stage, cell[0])) + 1);
    tell(selected);
  };
  const turn = (stage) => {
    const { stages, matrices } = model.get("state");
    if (!stages[stage - 1]) return false;
    const [made] = stages[stage - 1].makes;
    selected = [made, ...nearest(matrices[made], ...selected.slice(1))];
    model.set("stage", stage);
    tell(selected);
    return true;
  };

  // The stages one after the other, with one query.
  const play = player(body, () => {
    const { stages, matrices } = model.get("state");
    const [name, row] = selected;
    selected = matrices[name].whole.length ? [name, row, null] : ["X", 0, null];
    turn((model.get("stage") % stages.length) + 1);
    return model.get("stage") < stages.length;
  }, () => PACE);

  // Two figures in one page must not share their radio buttons.
  const group = `stage-${Math.random()}`;
  const radios = model.get("state").stages.map((_, n) => {
    const radio = element("input", { type: "radio", name: group });
    radio.addEventListener("change", () => turn(n + 1));
    return radio;
  });
  const stages = element("div", { class: "stages", role: "radiogroup", "aria-label": "stage" },
    ...model.get("state").stages.map(({ name }, n) => element("label", {}, radios[n], ` ${n + 1} ${name}`)));
  const turner = (label, key) => {
    const button = element("button", { type: "button", "aria-keyshortcuts": key }, `${label} (${key})`);
    button.addEventListener("click", () => turn(model.get("stage") + TURNS[key]));
    return button;
  };
  const buttons = { p: turner("Previous", "p"), n: turner("Next", "n") };
  const causal = element("input", { type: "checkbox", role: "switch" });
  causal.addEventListener("change", () => model.send({ change: { causal: causal.checked } }));
  body.append(
    about,
    stages,
    element("div", { class: "tools" }, ...Object.values(buttons), play,
      element("label", {}, causal, " causal mask"), dots),
    shown, said,
  );

  body.addEventListener("keydown", (event) => {
    const by = TURNS[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    turn(model.get("stage") + by);
  });

  const one = (name, { caption, rows, columns, yours, whole }) => {
    const onEdit = (...edit) => model.send({ edit: [name, ...edit] });
    const onMove = ({ row, column }) => select([name, row, column < 0 ? null : column]);
    const wholeRows = whole.length > 0;
    const made = grid({ label: caption, rows, columns, wholeRows, onMove, ...(yours ? { onEdit } : {}) });
    const table = made.node.querySelector("table");
    // Tab from grid to grid moves the focus alone: the sum has to follow it.
    table.addEventListener("focusin", ({ target: { place } }) => {
      const [chosen, row, column] = selected;
      if (place && `${[name, place.row, place.column]}` !== `${[chosen, row, column ?? -1]}`) onMove(place);
    });
    if (!yours) table.setAttribute("aria-readonly", "true");
    const node = element("div", { class: yours ? "matrix yours" : "matrix", "data-name": name }, element("p", {}, ...written(caption)), made.node);
    const cells = [...table.querySelectorAll("[role=gridcell]")];
    for (const cell of cells) cell.name = name;
    return { ...made, node, cells };
  };

  const frame = (stage) => {
    for (const node of panels.querySelectorAll(".matrix")) node.classList.toggle("now", isIn(stage, node.dataset.name));
    panels.classList.toggle("many", stage.groups.flat().length > MOST);
    for (const node of panels.querySelectorAll(".together")) node.classList.toggle("away", !node.querySelector(".now"));
    fit();
    return panels;
  };

  // As much room as the tallest stage takes with the longest that is told of a cell or of a row.
  const steadied = [
    steady(about, () => model.get("state").stages.map(({ about: line }) => [line])),
    steady(shown, (isNew) => {
      const { stages, matrices, trails } = model.get("state");
      const roomy = ({ what, sums }, trail) => (isNew
        ? tellings({ what: what + TAKEN, sums: sums.map((line) => line + LONGER) }, [...trail, ...trail.slice(-3)])
        : tellings({ what, sums }, trail));
      const cases = Object.values(matrices).flatMap(({ told: cells, whole }) =>
        [...cells.flat().map((cell) => roomy(cell, [])), ...whole.map((cell, row) => roomy(cell, trails[row]))]);
      const length = (parts) => parts.map(({ textContent }) => textContent).join("").length;
      const longest = cases.sort((one, other) => length(other) - length(one)).slice(0, LONGEST);
      const heights = stages.map((stage) => frame(stage).offsetHeight);
      const tallest = frame(stages[heights.indexOf(Math.max(...heights))]).cloneNode(true);
      frame(stages[model.get("stage") - 1]);
      return longest.map((parts) => [tallest, ...parts]);
    }),
  ];

  const paint = () => {
    const { matrices } = model.get("state");
    const changed = model.get("changed");
    for (const [name, { text, rows, columns, numbers, blocked }] of Object.entries(matrices)) {
      text.forEach((line, r) =>
        line.forEach((words, c) => {
          const [face, ink] = name === "A" ? shade(numbers[r][c]) : ["", ""];
          const other = Boolean(changed[name]?.[r]?.[c]);
          const label = [`${name} ${rows[r]}, ${columns[c]}:`, blocked[r][c] ? "blocked," : "", words, other ? "changed" : ""];
          grids[name].paint(r, c, {
            text: words, name: label.filter(Boolean).join(" "), blocked: blocked[r][c], face, ink,
          });
          grids[name].cells[r * columns.length + c].classList.toggle("changed", other);
        }),
      );
    }
  };

  // A cell that was chosen comes from what enters last: its key, or the value that it mixes in.
  const comeIn = (cell) => {
    const { name, place: { row, column } } = cell;
    const [last] = Object.entries(enters(name, row, column)).slice(-1);
    const from = last && grids[last[0]].cells.find(({ place }) => within(last[1], place.row, place.column));
    if (from?.offsetParent) arrive(cell, from.getBoundingClientRect());
  };

  const show = () => {
    const { stages, matrices, trails } = model.get("state");
    if (size !== sizes(matrices)) return; // one message, several news: that of the state comes yet
    const number = model.get("stage");
    const stage = stages[number - 1];
    const [chosen] = selected;
    const [row, column] = nearest(matrices[chosen], ...selected.slice(1));
    let news = "";
    if (turned !== `${number} ${size}`) {
      unfocused ||= panels.contains(panels.getRootNode().activeElement); // it follows the stage
      const seen = () => new Map(Object.values(grids).filter(({ node }) => node.offsetParent)
        .map(({ node }) => [node, node.getBoundingClientRect()]));
      const before = seen();
      frame(stage);
      for (const [name, { reachable }] of Object.entries(grids)) reachable(isIn(stage, name));
      for (const [node, { x, y }] of seen()) {
        const was = before.get(node);
        if (was && (was.x !== x || was.y !== y)) arrive(node, was);
      }
      news = `Stage ${number} of ${stages.length}, ${stage.name}. ${stage.about} `;
      turned = `${number} ${size}`;
    }
    radios.forEach((radio, n) => { radio.checked = n === number - 1; });
    buttons.p.setAttribute("aria-disabled", number === 1);
    buttons.n.setAttribute("aria-disabled", number === stages.length);
    about.replaceChildren(...written(stage.about));
    panels.dataset.chosen = chosen;
    const changed = model.get("changed");
    dots.style.visibility = Object.values(changed).some((cells) => cells.flat().includes(true)) ? "" : "hidden";

    for (const node of marked) {
      node.classList.remove("chosen", "enters");
      node.removeAttribute("aria-selected");
    }
    const from = enters(chosen, row, column);
    const entering = Object.entries(from).flatMap(([name, place]) =>
      grids[name].cells.filter(({ place: at }) => within(place, at.row, at.column)));
    for (const node of entering) node.classList.add("enters");
    const { columns, told: all, whole } = matrices[chosen];
    const isWhole = column === null;
    const node = isWhole ? grids[chosen].heads[row] : grids[chosen].cells[row * columns.length + column];
    node.classList.add("chosen");
    node.setAttribute("aria-selected", "true");
    marked = [...entering, node];
    for (const [name, { highlight }] of Object.entries(grids)) highlight(isWhole && name === chosen ? row : null);
    grids[chosen].moveTo({ row, column: column ?? -1 });
    if (unfocused && isIn(stage, chosen)) { // else Python's news of the cell is under way
      unfocused = false;
      const { activeElement } = panels.getRootNode();
      if (!activeElement || activeElement === document.body || panels.contains(activeElement)) grids[chosen].focus({ row, column: column ?? -1 });
    }

    const telling = isWhole ? whole[row] : all[row][column];
    told.replaceChildren(...tellings(telling, isWhole ? trails[row] : [], number));
    setText(said, news + telling.said);
    if (news) grids[chosen].cells.filter(({ place: at }) => within({ row, column: column ?? undefined }, at.row, at.column)).forEach(comeIn);
  };

  // A line is set closer, and closer still, before it is broken.
  const fit = () => {
    for (const line of panels.children) {
      line.classList.remove("close", "tight");
      const [first, ...others] = line.children;
      for (const name of ["close", "tight"]) {
        if (others.some(({ offsetTop }) => offsetTop > first.offsetTop)) line.classList.add(name);
      }
    }
  };

  const update = () => {
    const { matrices, causal: on } = model.get("state");
    if (size !== sizes(matrices)) {
      size = sizes(matrices);
      grids = Object.fromEntries(Object.entries(matrices).map(([name, matrix]) => [name, one(name, matrix)]));
      panels.replaceChildren(...PLACES.map((line) => element("div", { class: "line" }, ...line.map((names) =>
        element("div", { class: "together" }, ...names.map((name) => grids[name].node))))));
    }
    causal.checked = on;
    paint();
    show();
    for (const measure of steadied) measure();
  };
  model.on("change:changed", update);
  model.on("change:stage", show);
  model.on("change:cell", () => {
    if (`${model.get("cell")}` === `${selected}`) return; // it is shown, and what the stage is has been said
    selected = model.get("cell");
    show();
  });
  return update;
}

export default { render: (context) => mount(context, draw) };
