// Draws WhoListens: the heatmap, and beside it one row as bars and in words.

import { bars, element, grid, mount, percent, setText, shade } from "./figure.mjs";

const SETTLED = 100; // ms; a key held down is not worth a message for every row

function draw(body, model) {
  let table, chart, choice, size, sending;
  // The row is kept here until it is sent: Python's echo of the last one would undo it.
  let chosen = model.get("row");
  const palette = model.get("palette");
  const told = element("p", { class: "told", "aria-hidden": "true" });
  const said = element("p", { class: "unseen", "aria-live": "polite" });
  const facts = element("p", { class: "facts" });

  const show = (row) => {
    const { weights, named, blocked, largest, entropy, told: sentences } = model.get("state");
    table.highlight(row);
    chart.paint(`weights of ${named.queries[row]}`, weights[row], blocked[row]);
    setText(facts, `largest weight ${percent(largest[row])} · entropy ${entropy[row].toFixed(2)} nats`);
    setText(told, sentences[row]);
  };

  // What is seen follows the pointer. Only the chosen row is read out: a live region must not chatter.
  const choose = (row) => {
    chosen = row;
    table.moveTo({ row }); // where Tab leads
    show(row);
    setText(said, model.get("state").told[row]);
  };

  // Which head: a native list, moved by arrow keys; there is none for a single map.
  const heads = (choices) => {
    const options = choices.map((name, at) => element("option", { value: at }, name));
    choice = element("select", {}, ...options);
    choice.addEventListener("change", () => model.send({ change: { shown: Number(choice.value) } }));
    return element("label", { class: "tools" }, "layer and head", choice);
  };

  const build = ({ queries, keys, named, choices }) => {
    size = JSON.stringify([queries, keys, choices]);
    chart = bars({ names: named.keys });
    table = grid({
      label: model.get("title"),
      rows: queries,
      columns: keys,
      onMove({ row }) {
        choose(row);
        clearTimeout(sending);
        sending = setTimeout(() => {
          model.set("row", chosen);
          model.save_changes();
        }, SETTLED);
      },
      onHover: (row) => show(row ?? chosen),
    });
    const beside = element("div", { class: "beside" }, chart.node, facts, told, said);
    const above = choices.length > 1 ? [heads(choices)] : [];
    body.replaceChildren(...above, element("div", { class: "panels" }, table.node, beside));
  };

  const update = () => {
    const state = model.get("state");
    if (size !== JSON.stringify([state.queries, state.keys, state.choices])) build(state);
    if (choice) choice.value = state.shown;
    const { named } = state;
    state.weights.forEach((row, n) =>
      row.forEach((weight, m) => {
        const blocked = state.blocked[n][m];
        const text = blocked && weight === 0 ? "0" : weight.toFixed(2);
        const name = `${named.queries[n]} to ${named.keys[m]}: ${blocked ? "blocked, " : ""}${text}`;
        const [face, ink] = shade(palette, weight);
        table.paint(n, m, { text, name, blocked, face, ink });
      }),
    );
    choose(Math.min(chosen, state.queries.length - 1));
  };

  model.on("change:row", () => choose(model.get("row")));
  return update;
}

export default { render: (context) => mount(context, draw) };
