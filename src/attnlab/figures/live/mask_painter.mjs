// Draws MaskPainter: what the mask does to a text, the weights, whose cells are painted, what comes next under their last row, and on request the mask in both conventions.

import { FAINT, element, grid, mount, moved, setText, settling, shade, slider } from "./figure.mjs";

/** The cells from one to another in a straight line, both included: a fast pointer leaves cells out. */
export function line(from, to) {
  const down = to.row - from.row;
  const across = to.column - from.column;
  const steps = Math.max(Math.abs(down), Math.abs(across));
  const at = (step, start, way) => start + (steps ? Math.round((step / steps) * way) : 0);
  return Array.from({ length: steps + 1 }, (_, step) => [
    at(step, from.row, down),
    at(step, from.column, across),
  ]);
}

/** Whether a row of the mask and its weights are the same in two states. */
export function sameRow(one, other, row) {
  const equal = (a, b) => a.length === b.length && a.every((value, m) => value === b[m]);
  return equal(one.weights[row], other.weights[row]) && equal(one.blocked[row], other.blocked[row]);
}

function draw(body, model) {
  let table, shown, parts;
  let grids = []; // the weights, and the mask in both conventions: a cell of one is that of the others
  // The row is kept here until it is sent: Python's echo of the last one would undo it.
  let chosen = model.get("row");
  const { rest } = settling(model, "row");
  body.classList.add("painter");
  const told = element("p", { class: "told" });
  const said = element("p", { class: "unseen", "aria-live": "polite" });
  const counted = element("p", { class: "counted" });
  const whose = element("summary");
  const numbers = element("details", {}, whose, told, counted);
  const effect = element("p", { class: "effect finding", "aria-live": "polite" });
  const outcome = element("div", { class: "outcome", "aria-live": "polite" });
  const change = (input) => model.send({ change: input });

  const choose = (row) => {
    chosen = row;
    for (const each of grids) {
      each.moveTo({ row }); // where Tab leads
      each.highlight(row);
    }
    const { told: sentences, named, weights } = model.get("state");
    const most = Math.max(...weights[row]);
    table.node.querySelectorAll('th[scope="col"]').forEach((head, m) =>
      head.classList.toggle("read", most > 0 && weights[row][m] === most));
    setText(whose, `“${named[row]}” in numbers`);
    for (const each of [told, said]) setText(each, sentences[row]);
  };
  const select = (row) => {
    choose(row);
    rest(chosen);
  };

  const mark = (place) => {
    for (const cell of body.querySelectorAll(".linked")) cell.classList.remove("linked");
    if (!place) return;
    for (const { node } of grids) {
      const line = node.querySelectorAll("tr")[place.row + 1];
      line.querySelectorAll("[role=gridcell]")[place.column].classList.add("linked");
    }
  };
  const follow = ({ target }) => target.place && mark(target.place);
  body.addEventListener("pointerover", follow);
  body.addEventListener("focusin", follow);
  body.addEventListener("pointerleave", () => mark(document.activeElement?.place));
  body.addEventListener("focusout", () => mark(null));

  const painted = (tokens) => {
    let spreading = null; // where Shift is held: cells on the way become what this one is
    let from = null; // of the stroke that the pointer paints
    let over = null;
    let pressed = false;
    table = grid({
      label: "weights, to be blocked and opened",
      rows: tokens,
      columns: tokens,
      onMove(place) {
        if (spreading) model.send({ spread: line(spreading, place) });
        spreading = null;
        select(place.row);
      },
      onAct: ({ row, column }) => model.send({ toggle: [row, column] }),
    });
    const { node } = table;
    // The grid alone knows where it is: Python moves it too.
    const here = () => node.querySelector("[role=gridcell][tabindex='0']").place;
    node.addEventListener("keydown", ({ key, shiftKey, altKey, metaKey }) => {
      const spreads = shiftKey && !altKey && !metaKey && moved(here(), key, 1, 1);
      spreading = spreads ? here() : null;
    }, true);
    node.addEventListener("pointerdown", (event) => {
      const { place } = event.target;
      if (!place || event.button) return;
      event.preventDefault();
      pressed = true;
      from = over = place;
      table.focus(place);
      model.send({ toggle: [place.row, place.column] });
    });
    node.addEventListener("pointermove", (event) => {
      if (!from) return;
      if (!(event.buttons & 1)) {
        from = null;
        return;
      }
      // A finger's events go to the cell where it came down.
      const place = document.elementFromPoint(event.clientX, event.clientY)?.place;
      if (!place || !node.contains(event.target) || place === over) return;
      model.send({ spread: [[from.row, from.column], ...line(over, place)] });
      over = place;
      table.focus(place);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      node.addEventListener(end, () => { from = null; });
    }
    // The press has painted already; only a click without one, as a screen reader's, comes through.
    node.addEventListener("click", (event) => {
      if (pressed) event.stopPropagation();
      pressed = false;
    }, true);
    return node;
  };

  const build = ({ tokens, presets, conventions }) => {
    const buttons = presets.map((preset) => {
      const button = element("button", { type: "button" }, preset);
      button.addEventListener("click", () => change({ preset }));
      return button;
    });
    const number = (label, input, says) =>
      slider({ label, min: 1, max: tokens.length, step: 1, value: 1, says, onInput: (value) => change({ [input]: value }) });
    const length = number("real tokens", "length", (value) => `${value} of ${tokens.length}`);
    const reach = number("window", "window", (value) => `${value}, itself included`);
    const letters = conventions.map(({ name, means, call }) => {
      const letters = grid({
        label: `${name}, ${means}`, rows: tokens, columns: tokens,
        onMove: ({ row }) => select(row),
        onAct: ({ row, column }) => model.send({ toggle: [row, column] }),
      });
      const node = element("div", { class: "convention" }, letters.node,
        element("p", {}, element("strong", {}, name), `: ${means}`), element("code", {}, call.replace(/\((?=q)/, "(\n  ")));
      return { node, letters, name };
    });
    body.style.setProperty("--tokens", tokens.length);
    body.replaceChildren(
      effect,
      element("div", { class: "presets" },
        element("div", { class: "presets", role: "group", "aria-label": "preset" }, ...buttons),
        element("div", { class: "numbers" }, length.node, reach.node)),
      element("div", { class: "panels" }, painted(tokens), outcome),
      element("details", {}, element("summary", {}, "The mask in PyTorch’s two functions"),
        element("p", { class: "hint" }, "Filled: True."),
        element("div", { class: "conventions" }, ...letters.map(({ node }) => node))),
      numbers, said,
      element("p", { class: "hint" },
        "Click or drag to block and open cells. Arrow keys move, Space blocks or opens, Shift + arrow paints on."),
    );
    grids = [table, ...letters.map((each) => each.letters)];
    parts = { buttons, length, reach, letters };
    shown = null;
  };

  const update = () => {
    const state = model.get("state");
    const { tokens, named, weights, blocked, preset } = state;
    if (JSON.stringify(shown?.tokens) !== JSON.stringify(tokens)) build(state);
    weights.forEach((row, n) => {
      if (shown && sameRow(shown, state, n)) return;
      row.forEach((weight, m) => {
        const number = blocked[n][m] ? "0" : weight.toFixed(2);
        const name = `${named[n]} to ${named[m]}: ${blocked[n][m] ? "blocked" : "open"}, ${number}`;
        const text = weight >= FAINT || blocked[n].every(Boolean) ? number : "";
        const [face, ink] = shade(weight);
        table.paint(n, m, { text, name, blocked: blocked[n][m], face, ink });
        parts.letters.forEach(({ letters, name: convention }, which) => {
          const isTrue = state.conventions[which].letters[n][m] === "T";
          const name = `${convention}, ${named[n]} to ${named[m]}: ${isTrue}`;
          letters.paint(n, m, { text: "", name, face: isTrue ? "var(--attn-grey)" : "" });
        });
      });
    });
    shown = state;
    parts.buttons.forEach((button, n) => button.setAttribute("aria-pressed", state.presets[n] === preset));
    parts.length.node.hidden = !preset.includes("padding");
    parts.reach.node.hidden = preset !== "window";
    parts.length.set(state.length);
    parts.reach.set(state.window);
    setText(counted, state.counted);
    setText(effect, state.effect);
    effect.hidden = !state.effect;
    body.querySelector(".missed")?.classList.remove("missed");
    if (state.missed) {
      const [row, column] = state.missed;
      table.node.querySelectorAll("tr")[row + 1].querySelectorAll("td")[column].classList.add("missed");
    }
    outcome.hidden = !state.following.length;
    outcome.replaceChildren(...state.following.map(({ by, said, right }) =>
      element("p", { class: right ? "right" : "wrong" }, `${by} `, element("strong", {}, `→ ${said} ${right ? "✓" : "✗"}`))));
    choose(Math.min(chosen, tokens.length - 1));
  };

  model.on("change:row", () => choose(model.get("row")));
  return update;
}

export default { render: (context) => mount(context, draw) };
