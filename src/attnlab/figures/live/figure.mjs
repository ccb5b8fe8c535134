// What all figures share in the browser: elements, colours, the grid, tables, sliders, the frame.

const SVG = "http://www.w3.org/2000/svg";

// Elements --------------------------------------------------------------------------------------

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export const element = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

export const drawn = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Numbers ---------------------------------------------------------------------------------------

export const FAINT = 0.05; // less weight is seen as a colour, without a number

/** Face and ink for a share between 0 and 1, as ramp.py gives them to the style sheet. */
export const shade = (share) => {
  const step = Math.round(Math.min(Math.max(share, 0), 1) * 20);
  return [`var(--w${step})`, `var(--i${step})`];
};

/** The cell that a key leads to, null if the key moves nothing. Column −1 is the row's label, where it can be reached. */
export function moved({ row, column }, key, rows, columns, withControl = false, first = 0) {
  const to = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [withControl ? 0 : row, 0],
    End: [withControl ? rows - 1 : row, columns - 1],
    PageUp: [0, column],
    PageDown: [rows - 1, column],
  }[key];
  if (!to) return null;
  const within = (value, least, count) => Math.min(Math.max(value, least), count - 1);
  return { row: within(to[0], 0, rows), column: within(to[1], first, columns) };
}

// The grid: arrow keys move, one cell takes part in Tab's order -----------------------------------

const MANY = 5; // columns; more are drawn closer together where there is little room
const PACKED = 10; // columns; of more, numbers give way there to their colours

/** A number as nodes: where there is little room 0.25 is .25, 1.00 is 1, and of many all go. */
const spelled = (text) => {
  const [, zero, rest, point] = text.match(/^(0(?=\.))?(.*?)(\.0+)?$/);
  const [first, last] = zero ? [zero, ""] : ["", point ?? ""];
  return [["spare", first], ["rest", zero ? text.slice(1) : rest], ["spare", last]]
    .filter(([, part]) => part).map(([name, part]) => element("span", { class: name }, part));
};

/**
 * A table whose cells are reached by arrow keys.
 *
 * onMove({row, column}) is called when a cell is reached by key or pointer, onHover(row or null) when
 * the pointer is over a row, onAct({row, column}) on Space, Enter or a click. With onEdit(row, column,
 * text), Enter, F2 or a double click opens a cell for typing; Enter sends, and so does going elsewhere,
 * Escape leaves the cell as it was. With wholeRows, the label of a row is reached too, as its column −1.
 */
export function grid({ label, rows, columns, wholeRows = false, onMove, onHover, onAct, onEdit }) {
  let at = { row: 0, column: 0 };
  const cells = rows.map(() => columns.map(() => element("td", { role: "gridcell", tabindex: -1 })));
  cells.forEach((line, row) =>
    line.forEach((cell, column) => {
      cell.place = { row, column };
    }),
  );
  const heads = rows.map((name) => element("th", { scope: "row" }, name));
  if (wholeRows) {
    heads.forEach((head, row) => {
      head.tabIndex = -1;
      head.place = { row, column: -1 };
    });
  }
  const isDense = columns.length > MANY;
  const lines = cells.map((line, row) => element("tr", {}, heads[row], ...line));
  const top = columns.map((name) => element("th", { scope: "col" }, name));
  const table = element(
    "table",
    { role: "grid", "aria-label": label },
    element("tbody", {}, element("tr", {}, element("td"), ...top), ...lines),
  );
  cells[0][0].tabIndex = 0;

  const node = ({ row, column }) => (column < 0 ? heads[row] : cells[row][column]);
  const moveTo = (place) => {
    node(at).tabIndex = -1;
    at = { ...at, ...place };
    node(at).tabIndex = 0;
  };
  const go = (place) => {
    moveTo(place);
    node(at).focus();
    onMove?.({ ...at });
  };
  const open = ({ row, column }) => {
    if (column < 0) return;
    const cell = cells[row][column];
    const field = element("input", { "aria-label": cell.getAttribute("aria-label"), size: 4 });
    field.value = field.defaultValue = cell.textContent;
    cell.replaceChildren(field);
    field.select();
    let isOpen = true;
    const close = (sends) => {
      if (!isOpen) return;
      isOpen = false; // before the field goes, which may take the focus away once more
      const typed = field.value;
      cell.replaceChildren(field.defaultValue);
      if (sends && typed !== field.defaultValue) onEdit(row, column, typed);
    };
    field.addEventListener("blur", () => close(true));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      close(event.key === "Enter");
      cell.focus();
    });
  };
  const act = () => (onEdit ? open(at) : onAct?.({ ...at }));

  table.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey) return;
    const place = moved(at, event.key, rows.length, columns.length, event.ctrlKey, wholeRows ? -1 : 0);
    if (place) go(place);
    else if (event.key === "Enter" || (event.key === " " && !onEdit)) act();
    else if (event.key === "F2" && onEdit) open(at);
    else return;
    event.preventDefault();
  });
  table.addEventListener("click", ({ target }) => {
    if (!target.place) return;
    go(target.place);
    if (!onEdit) act();
  });
  if (onEdit) table.addEventListener("dblclick", ({ target }) => target.place && open(target.place));
  if (onHover) {
    table.addEventListener("pointerover", ({ target }) => {
      const row = lines.indexOf(target.closest("tr"));
      onHover(row < 0 ? null : row);
    });
    table.addEventListener("pointerleave", () => onHover(null));
  }

  return {
    node: element("div", { class: `scroll ${isDense ? "dense" : ""} ${columns.length > PACKED ? "crowd" : ""}` }, table),
    moveTo,
    reachable(isOn) {
      node(at).tabIndex = isOn ? 0 : -1; // by Tab
    },
    focus: go,
    heads,
    highlight(row) {
      lines.forEach((line, n) => line.classList.toggle("shown", n === row));
    },
    paint(row, column, { text, name, face = "", ink = "", blocked = false }) {
      const cell = cells[row][column];
      const field = onEdit && cell.querySelector("input"); // somebody is typing here
      if (field) field.defaultValue = text;
      else if (cell.textContent !== text) cell.replaceChildren(...(isDense ? spelled(text) : [text]));
      cell.setAttribute("aria-label", name);
      const isNought = Boolean((face || blocked) && text) && Number(text) === 0;
      cell.classList.toggle("blocked", blocked);
      cell.classList.toggle("nought", isNought);
      cell.style.background = blocked ? "" : face;
      cell.style.color = blocked || isNought ? "" : ink;
    },
  };
}

// A table whose rows come from Python --------------------------------------------------------------

/** paint(rows) draws lines of words, the first of which names the line. */
export function lines(caption, heads) {
  const body = element("tbody");
  const top = heads.map((head) => element(head ? "th" : "td", head ? { scope: "col" } : {}, head));
  const node = element("table", { class: "lines" },
    element("caption", {}, caption), element("thead", {}, element("tr", {}, ...top)), body);
  const paint = (rows) => body.replaceChildren(...rows.map(([name, ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell)))));
  return { node, paint };
}

// What the reader has set and Python has not answered yet -----------------------------------------

const ASKED = "attn-asked"; // to sliders: a message to Python has left
const ANSWERED = "attn-answered"; // to sliders: Python has answered the last message
const PATIENCE = 10_000; // ms; for pages that do not tell when Python is done

/**
 * Keeps what the reader set at a slider until Python has answered: when keys come faster than answers,
 * the next step starts from here, and an older answer must not undo it.
 */
export function unanswered(node, onAnswer) {
  let value = null;
  let isSent = false;
  node.addEventListener(ASKED, () => { isSent = true; });
  node.addEventListener(ANSWERED, () => {
    if (!isSent) return; // what was set since then waits for a frame to be sent
    value = null;
    onAnswer?.();
  });
  return {
    get value() { return value; },
    keep(set) {
      value = set;
      isSent = false;
    },
  };
}

/**
 * The model, but calling onAsked when a message leaves, and onAnswered when none is under way.
 *
 * A message says when it left: a kernel has several threads for them, in which one may overtake another.
 */
export function watched(model, onAsked, onAnswered, patience = PATIENCE) {
  let underWay = 0;
  let at = 0;
  const send = (content) => {
    let isDone = false;
    const done = () => {
      if (isDone) return;
      isDone = true;
      clearTimeout(waiting);
      underWay -= 1;
      if (!underWay) onAnswered();
    };
    const waiting = setTimeout(done, patience);
    underWay += 1;
    onAsked();
    const status = ({ content: { execution_state: now } }) => now === "idle" && done();
    at = Math.max(at + 0.001, performance.timeOrigin + performance.now());
    model.send({ ...content, at }, { iopub: { status } });
  };
  return Object.create(model, { send: { value: send } });
}

const SETTLED = 100; // ms

/**
 * Tells Python a value once it rests: a key held down is not worth a message for every step. What Python says meanwhile
 * is newer. tell(value) tells it at once.
 */
export function settling(model, name) {
  let waiting;
  const settle = () => clearTimeout(waiting);
  const tell = (value) => {
    settle();
    model.set(name, value);
    model.save_changes();
  };
  const rest = (value) => {
    settle();
    waiting = setTimeout(tell, SETTLED, value);
  };
  model.on(`change:${name}`, settle);
  return { rest, tell };
}

/** One message a frame at most, with the last of each value that was asked for. */
export function latest(send, frame = requestAnimationFrame) {
  let waiting = null;
  return (change) => {
    if (!waiting) frame(() => { send(waiting); waiting = null; });
    waiting = { ...waiting, ...change };
  };
}

// A slider with its label and its value in words --------------------------------------------------

/**
 * ask(value) does what moving the slider does, value() is where it is: what the reader set, or Python. next() asks for the
 * value after it, at the end for the first, and tells whether there are more.
 */
export function slider({ label, min, max, step, value, says, onInput }) {
  const field = element("input", { type: "range", min, max, step });
  const shown = element("output");
  let good = [value]; // Python's last answer
  const show = (number, words = says(Number(number))) => {
    field.value = number;
    field.setAttribute("aria-valuetext", words);
    setText(shown, words);
  };
  const mine = unanswered(field, () => show(...good));
  const ask = (number) => {
    mine.keep(number);
    show(number);
    onInput(Number(number));
  };
  field.addEventListener("input", () => ask(field.value));
  const set = (...answer) => {
    good = answer;
    if (mine.value === null) show(...good);
  };
  set(value);
  const next = () => {
    const at = Number(field.value);
    ask(at < max ? at + step : min);
    return Number(field.value) < max;
  };
  return { node: element("label", { class: "slider" }, `${label} `, field, shown), set, ask, next, value: () => Number(field.value) };
}

// The frame ---------------------------------------------------------------------------------------

const RESTARTED = "It answers again where its cell is run.";

/** Puts a figure into the page. draw(body, model) returns what is to be done when the state changes. */
export function mount({ model, el }, draw) {
  const body = element("div");
  const problem = element("p", { class: "problem", role: "alert" });
  const restarted = element("p", { class: "restarted", hidden: "" }, RESTARTED);
  const frame = element(
    "div",
    { class: "attn-figure", role: "group", "aria-label": model.get("title") },
    element("p", { class: "title" }, model.get("title")),
    restarted,
    body,
    problem,
  );
  // JupyterLab matches shortcuts against what has the focus before it looks for
  // data-lm-suppress-shortcuts around it: arrows would leave a slider for the next cell, and d d
  // would delete this one. Combinations such as Ctrl+S still pass. Notebook hears a key before the
  // figure does, so there what has the focus says so itself.
  const isCombined = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;
  for (const type of ["focusin", "keydown", "keyup"]) {
    frame.addEventListener(type, (event) => {
      event.target.toggleAttribute("data-lm-suppress-shortcuts", !isCombined(event));
      if (type === "keydown" && !isCombined(event)) event.stopPropagation();
    });
  }
  const tell = (news) => {
    for (const node of body.querySelectorAll("input[type=range], [role=slider]")) node.dispatchEvent(new Event(news));
  };
  const update = draw(body, watched(model, () => tell(ASKED), () => tell(ANSWERED)));
  const say = () => {
    setText(problem, model.get("problem"));
    if (!model.get("problem")) return;
    // What was refused is still shown by the control that was touched.
    tell(ANSWERED);
    update();
  };
  update();
  say();
  model.on("change:state", update);
  model.on("change:problem", say);
  model.on("comm_live_update", () => { // sent where the kernel was restarted
    body.inert = true;
    restarted.hidden = false;
  });
  el.append(frame);
}
