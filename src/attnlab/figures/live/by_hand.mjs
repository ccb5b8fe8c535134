// Draws ByHand: seven stages, one at a time, and the sum behind the selected cell.

import { element, grid, mount, setText, shade } from "./figure.mjs";

const TURNS = { n: 1, p: -1 };

/** Where the numbers of a cell come from: for each matrix the row or column, or both, that enter. */
export function enters(name, row, column) {
  const projection = { Q: "W_q", K: "W_k", V: "W_v" }[name];
  if (projection) return { X: { row }, [projection]: { column } };
  return {
    S: { Q: { row }, K: { row: column } },
    scaled: { S: { row, column } },
    masked: { scaled: { row, column } },
    A: { masked: { row } },
    Z: { A: { row }, V: { column } },
  }[name] ?? {};
}

/** The cell of a matrix that is nearest to one of another matrix. */
export function nearest({ rows, columns }, row, column) {
  return [Math.min(row, rows.length - 1), Math.min(column, columns.length - 1)];
}

const within = (place, row, column) =>
  (place.row ?? row) === row && (place.column ?? column) === column;

function draw(body, model) {
  let grids, size, turned;
  const palette = model.get("palette");
  const said = element("p", { class: "unseen", "aria-live": "polite" });
  const about = element("p");
  const what = element("p", { "aria-hidden": "true" });
  const sum = element("p", { class: "sum", "aria-hidden": "true" });
  const panels = element("div", { class: "matrices" });
  const dots = element("p", {}, "• changed by the last edit");

  const select = (cell) => {
    model.set("cell", cell);
    model.save_changes();
  };
  const turn = (stage) => {
    const { stages, matrices } = model.get("state");
    if (!stages[stage - 1]) return false;
    const [made] = stages[stage - 1].makes;
    const [, row, column] = model.get("cell");
    model.set("stage", stage);
    model.set("cell", [made, ...nearest(matrices[made], row, column)]);
    model.save_changes();
    return true;
  };

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
    stages,
    element("div", { class: "tools" }, ...Object.values(buttons), element("label", {}, causal, " causal mask")),
    about, panels, what, sum, said, dots,
  );

  body.addEventListener("keydown", (event) => {
    const by = TURNS[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const inside = panels.contains(event.target);
    if (turn(model.get("stage") + by) && inside) {
      const [name, row, column] = model.get("cell");
      grids[name].focus({ row, column });
    }
  });

  const one = (name, { caption, rows, columns, yours }) => {
    const onEdit = (...edit) => model.send({ edit: [name, ...edit] });
    const onMove = ({ row, column }) => select([name, row, column]);
    const made = grid({ label: caption, rows, columns, onMove, ...(yours ? { onEdit } : {}) });
    const table = made.node.querySelector("table");
    if (!yours) table.setAttribute("aria-readonly", "true");
    const node = element("div", { class: yours ? "matrix yours" : "matrix" }, element("p", {}, caption), made.node);
    const cells = [...table.querySelectorAll("[role=gridcell]")];
    return { ...made, node, cells };
  };

  const paint = () => {
    const { matrices } = model.get("state");
    const changed = model.get("changed");
    for (const [name, { text, rows, columns, numbers, blocked }] of Object.entries(matrices)) {
      text.forEach((line, r) =>
        line.forEach((words, c) => {
          const [face, ink] = name === "A" ? shade(palette, numbers[r][c]) : ["", ""];
          const other = Boolean(changed[name]?.[r][c]);
          const label = [`${name} ${rows[r]}, ${columns[c]}:`, blocked[r][c] ? "blocked," : "", words, other ? "changed" : ""];
          grids[name].paint(r, c, {
            text: words, name: label.filter(Boolean).join(" "), blocked: blocked[r][c], face, ink,
          });
          grids[name].cells[r * columns.length + c].classList.toggle("changed", other);
        }),
      );
    }
  };

  const show = () => {
    const { stages: all, matrices } = model.get("state");
    const number = model.get("stage");
    const stage = all[number - 1];
    const [chosen] = model.get("cell");
    const [row, column] = nearest(matrices[chosen], ...model.get("cell").slice(1));
    let news = "";
    if (turned !== `${number} ${size}`) {
      panels.replaceChildren(...stage.groups.map((names) =>
        element("div", { class: "together" }, ...names.map((name) => grids[name].node))));
      news = `Stage ${number} of ${all.length}, ${stage.name}. ${stage.about} `;
      turned = `${number} ${size}`;
    }
    radios.forEach((radio, n) => { radio.checked = n === number - 1; });
    buttons.p.setAttribute("aria-disabled", number === 1);
    buttons.n.setAttribute("aria-disabled", number === all.length);
    setText(about, stage.about);
    const changed = model.get("changed");
    dots.hidden = !stage.groups.flat().some((name) => changed[name]?.flat().includes(true));

    const from = enters(chosen, row, column);
    for (const [name, { cells, moveTo }] of Object.entries(grids)) {
      if (name === chosen) moveTo({ row, column });
      for (const node of cells) {
        const { place } = node;
        const here = name === chosen && within({ row, column }, place.row, place.column);
        node.classList.toggle("chosen", here);
        node.setAttribute("aria-selected", here);
        node.classList.toggle("enters", Boolean(from[name]) && within(from[name], place.row, place.column));
      }
    }
    const told = matrices[chosen].told[row][column];
    setText(what, told.what);
    setText(sum, told.sum);
    setText(said, news + told.said);
  };

  const update = () => {
    const { matrices, causal: on } = model.get("state");
    const wanted = Object.values(matrices).map(({ rows, columns }) => `${rows} × ${columns}`).join();
    if (size !== wanted) {
      size = wanted;
      grids = Object.fromEntries(Object.entries(matrices).map(([name, matrix]) => [name, one(name, matrix)]));
    }
    causal.checked = on;
    paint();
    show();
  };
  model.on("change:changed", () => {
    paint();
    show();
  });
  model.on("change:stage", show);
  model.on("change:cell", show);
  return update;
}

export default { render: (context) => mount(context, draw) };
