// Draws Heads: what comes next; the words, one of which is the query; a map for each head, with that query's row framed; on request, its numbers.

import { element, grid, mount, setText, settling, shade } from "./figure.mjs";

const TURNS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, Home: -Infinity, End: Infinity };

const [LINE, WORDED, FEW] = [4, 12, 10]; // maps side by side, and rows of one, that have room for words; where there is little

/** The word that a key leads to, null if the key moves nothing. */
export function turned(row, key, count) {
  if (!Object.hasOwn(TURNS, key)) return null;
  return Math.min(Math.max(row + TURNS[key], 0), count - 1);
}

/** The row of a map under the pointer. */
export function rowUnder({ clientY }, box, count) {
  const share = (clientY - box.top) / box.height;
  return Math.min(Math.max(Math.floor(share * count), 0), count - 1);
}

/** Words, of which one is chosen by arrow key or click; names tell apart those that are the same. */
function words({ label, shown, names, onChoose }) {
  const options = shown.map((word, n) =>
    element("li", { role: "option", tabindex: -1, "aria-label": names[n] }, word));
  const list = element("ul", { class: "words", role: "listbox", "aria-label": label }, ...options);
  const mark = (row) =>
    options.forEach((option, n) => {
      option.tabIndex = n === row ? 0 : -1;
      option.setAttribute("aria-selected", n === row);
    });
  const choose = (row) => {
    mark(row);
    options[row].focus();
    onChoose(row);
  };
  list.addEventListener("keydown", (event) => {
    const row = turned(options.indexOf(event.target), event.key, options.length);
    if (row === null || event.altKey || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    choose(row);
  });
  list.addEventListener("click", ({ target }) => options.includes(target) && choose(options.indexOf(target)));
  return { node: list, mark, choose };
}

function draw(body, model) {
  body.classList.add("several-heads");
  let list, maps, drawings, looks, frames, table, shares, next, size;
  let framed = 0;
  // The row is kept here until it is sent: Python's echo of the last one would undo it.
  let chosen = model.get("row");
  const { rest } = settling(model, "row");
  const told = element("p", { class: "told", "aria-hidden": "true" });
  const found = element("p", { class: "finding", "aria-hidden": "true" });
  const said = element("p", { class: "unseen", "aria-live": "polite" });

  const show = (row) => {
    const { named: { queries }, weights, most, claims, told: sentences } = model.get("state");
    frames.forEach((each) => {
      each[framed]?.setAttribute("display", "none");
      each[row].removeAttribute("display");
    });
    framed = row;
    setText(table.caption, `“${queries[row]}” in numbers`);
    setText(told, sentences[row]);
    setText(found, claims[row].said);
    looks.forEach((look, h) => setText(look, most[h][row]));
    drawings.forEach((drawing, h) => {
      drawing.classList.toggle("claimed", claims[row].heads.includes(h));
      const best = Math.max(...weights[h][row]);
      [...drawing.querySelector(".keys").children].forEach((key, m) =>
        key.classList.toggle("best", best > 0 && weights[h][row][m] === best));
    });
    if (shares.open) write();
  };

  const write = () => {
    const { heads, named: { queries, keys }, weights } = model.get("state");
    keys.forEach((key, m) =>
      heads.forEach((head, h) => {
        const share = weights[h][framed][m];
        const [face, ink] = shade(share);
        const text = share.toFixed(2);
        table.paint(m, h, { text, name: `${head}: ${queries[framed]} to ${key}: ${text}`, face, ink });
      }),
    );
  };

  // What is seen follows the pointer. Only the chosen row is read out: a live region must not chatter.
  const choose = (row) => {
    chosen = row;
    list.mark(row);
    show(row);
    setText(said, model.get("state").told[row]);
  };
  const preview = (row) => {
    const shown = row ?? chosen;
    if (shown !== framed) show(shown);
  };

  // What comes next, with all heads or without one: only where Python can find out.
  const following = () => {
    const [before, word] = [element("span"), element("strong")];
    const said = element("p", { "aria-live": "polite" });
    const node = element("div", { class: "following" }, element("p", { class: "next" }, before, " ", word), said);
    return { node, before, word, said };
  };
  const named = (head, h) => {
    if (!next) return element("span", { class: "name" }, head);
    const button = element("button", { type: "button", class: "name" }, head);
    button.addEventListener("click", () =>
      model.send({ change: { off: model.get("state").off === h ? null : h } }));
    return button;
  };

  const build = (state) => {
    const { heads, queries, keys, named: names, meaning } = state;
    next = state.next ? following() : null;
    list = words({
      label: "query",
      shown: queries,
      names: names.queries,
      onChoose(row) {
        choose(row);
        rest(chosen);
      },
    });
    maps = heads.map(() => element("div", { class: "map" }));
    maps.forEach((map) => {
      const row = (event) => rowUnder(event, map.querySelector("rect").getBoundingClientRect(), queries.length);
      map.addEventListener("pointermove", (event) => preview(row(event)));
      map.addEventListener("pointerleave", () => preview(null));
      map.addEventListener("click", (event) => list.choose(row(event)));
    });
    looks = heads.map(() => element("span", { class: "most" }));
    const side = (name, words) => element("div", { class: name, "aria-hidden": "true" },
      ...words.map((word) => element("span", {}, word)));
    drawings = maps.map((map, h) => element("div", { class: "head" }, named(heads[h], h), side("keys", keys),
      element("div", { class: "plot" }, ...(h % 2 ? [] : [side("queries", queries)]), map), looks[h]));
    const longest = heads.length <= LINE ? Math.max(queries.length, keys.length) : Infinity;
    const caption = element("summary");
    table = { ...grid({ label: "weights of the query", rows: names.keys, columns: heads }), caption };
    shares = element("details", { class: "shares" }, caption, told, table.node);
    shares.addEventListener("toggle", () => shares.open && write()); // numbers that nobody sees are not written
    body.replaceChildren(
      found,
      ...(next ? [next.node] : []),
      list.node,
      element("div", { class: `maps ${heads.length > 7 ? "small" : ""} ${longest <= WORDED ? "worded" : ""} ${longest <= FEW ? "few" : ""}` }, ...drawings),
      element("p", { class: "hint" }, `${meaning} Choose a query on a map${next ? ", and press a head's name to switch it off." : "."}`),
      shares, said,
    );
  };

  const update = () => {
    const state = model.get("state");
    const wanted = JSON.stringify([state.heads, state.queries, state.keys, Boolean(state.next)]);
    if (size !== wanted) build(state);
    size = wanted;
    maps.forEach((map, h) => { map.innerHTML = state.maps[h]; });
    drawings.forEach((drawing, h) => drawing.classList.toggle("off", state.off === h));
    if (next) {
      drawings.forEach((drawing, h) => drawing.firstChild.setAttribute("aria-pressed", state.off === h));
      setText(next.before, state.next.said);
      setText(next.word, state.next.word);
      next.node.classList.toggle("flipped", state.next.flipped);
      setText(next.said, state.next.told);
    }
    frames = [...body.querySelectorAll(".here")].map((group) => group.children);
    choose(Math.min(chosen, state.queries.length - 1));
  };

  model.on("change:row", () => choose(model.get("row")));
  return update;
}

export default { render: (context) => mount(context, draw) };
