// A code cell in its page: its editor, its buttons, and what it gave.

const NOT_HERE = "script, meta, base, link, iframe, object, embed, form";

export const element = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};

export class Cell {
  #field; // a plain field, or the editor in its place
  #code;
  #editing; // whether the editor is on its way
  #output;
  #stored; // what the page showed before anything was run
  #said = element("span", { class: "run-said", role: "status" });
  #note = element("p", { class: "run-note", hidden: "" });
  #run = element("button", { type: "button", class: "run-button" }, "Run");
  #back = element("button", { type: "button", class: "run-less", hidden: "" }, "As handed out");
  #state = "";
  #mine = ""; // what was written before it was put back

  /** node: the page's cell. after: id of the cell that one of a visitor's own stands below. */
  constructor(node, { id, title, after = "" }, does) {
    Object.assign(this, { node, id, title, after, does });
    node.classList.add("run-cell");
    const pre = node.querySelector("pre");
    const input = pre.closest(".cell > *");
    this.handedOut = pre.textContent.replace(/\n$/, "");
    const code = element("div", { class: "run-code" });
    const field = element("textarea", {
      class: "run-plain", "aria-label": `${title}, Python code`, "aria-describedby": "run-keys", spellcheck: "false",
      autocapitalize: "off", autocomplete: "off", autocorrect: "off", wrap: "off",
    });
    field.value = this.handedOut;
    field.addEventListener("keydown", this.#onKey, { capture: true });
    field.addEventListener("input", () => this.#changed());
    field.addEventListener("focus", () => this.edit());
    field.addEventListener("scroll", () => { pre.scrollLeft = field.scrollLeft; });
    this.#field = { textarea: field, get value() { return field.value; }, set value(text) { field.value = text; } };
    code.append(pre.closest(".highlight"), field);
    this.#code = code;
    this.#run.setAttribute("aria-label", `Run ${title}`);
    this.#run.addEventListener("click", () => (this.#state === "running" ? does.stop() : does.run(this)));
    this.#back.addEventListener("click", () => this.#swap());
    const tools = element("div", { class: "run-tools" }, this.#run);
    const less = (text, act) => {
      const button = element("button", { type: "button", class: "run-less", "aria-label": `${text}, ${title}` }, text);
      button.addEventListener("click", () => act(this));
      tools.append(button);
    };
    if (does.above) less("Run all above", does.above);
    if (/^check\(/m.test(this.handedOut)) less("New cell", does.add);
    tools.append(this.#back, this.#said);
    input.replaceChildren(element("div", {}, code, tools, this.#note)); // MyST-NB styles what stands right in it
    this.#output = node.querySelector(".cell_output") ?? element("div", { class: "cell_output docutils container" });
    node.append(this.#output);
    this.#stored = [...this.#output.childNodes];
  }
  get source() { return this.#field.value; }

  set source(text) {
    this.#field.value = text;
    this.#fit();
  }

  focus() { this.#field.textarea.focus(); }

  get isWritten() { return this.source !== this.handedOut; }

  /** Put the editor in the place of the plain field, once. */
  async edit() {
    if (this.#editing) return;
    this.#editing = true;
    try {
      const { editorFor } = await this.does.editor();
      this.#field = editorFor(this.#field.textarea, this.#onKey);
      this.#field.onUpdate(() => this.#changed());
    } catch {
      this.#code.classList.add("plain"); // it can be written in all the same
      this.#editing = false;
    }
  }

  #onKey = (event) => {
    if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.does.run(this);
  };

  #changed() {
    if (this.isWritten) this.#mine = "";
    this.#fit();
    this.does.changed(this);
  }

  #fit() {
    const { textarea } = this.#field;
    this.#code.classList.toggle("written", this.isWritten || document.activeElement === textarea);
    if (textarea.classList.contains("run-plain")) textarea.rows = this.source.split("\n").length;
    this.#back.hidden = !this.isWritten && !this.#mine;
    this.#back.textContent = this.isWritten ? "As handed out" : "As I wrote it";
  }

  #swap() {
    const mine = this.isWritten ? this.source : "";
    this.source = this.isWritten ? this.handedOut : this.#mine;
    this.#changed();
    this.#mine = mine;
    this.#fit();
  }

  /** As if nobody had been here. */
  reset() {
    this.source = this.handedOut;
    this.#mine = "";
    this.#fit();
    this.note("");
    this.say("");
    this.#output.replaceChildren(...this.#stored);
  }

  say(text) { this.#said.textContent = text; }

  note(text) {
    this.#note.textContent = text;
    this.#note.hidden = !text;
  }

  /** '' at rest, 'waiting' for its turn or for Python, 'running'. */
  set state(state) {
    this.#state = state;
    const does = state === "running" ? "Stop" : "Run";
    this.#run.textContent = does;
    this.#run.setAttribute("aria-label", `${does} ${this.title}`);
    this.#run.setAttribute("aria-disabled", state === "waiting");
    this.node.setAttribute("aria-busy", Boolean(state));
  }

  get state() { return this.#state; }

  /** Show what it gave. picturesOf(cell): of a figure; quiz(output): a node; read: the page where headings are. */
  show(outputs, page = {}) {
    this.#output.replaceChildren(...outputs.flatMap((output) => shown(output, page)));
  }

  /** The pictures that the page was built with. */
  get pictures() {
    const drawn = "figure, svg, img, .attn-figure";
    return this.#stored.filter((node) => node.nodeType === Node.ELEMENT_NODE && node.querySelector(drawn));
  }
}

/** Nodes for an output, see src/attnlab/browser. */
function shown(output, { picturesOf, quiz, read = "" }) {
  const { kind } = output;
  if (kind === "stream") return [printed(output.text, "stream")];
  if (kind === "text") return [printed(output.text, "text_plain")];
  if (kind === "html") return [safe(output.html, read)];
  if (kind === "quiz") return [quiz(output)];
  if (kind === "error") return [failed(output)];
  const pictures = picturesOf(output.cell);
  const note = output.note || (pictures.length ? "" : "This figure is drawn in the notebook.");
  return [...pictures, ...(note ? [element("p", { class: "run-note" }, note)] : [])];
}

const printed = (text, kind) => element("div", { class: `output ${kind} highlight` }, element("pre", { tabindex: 0 }, text));

/** HTML that Python made, maybe a visitor's: the page's policy lets nothing in it run, and nothing here leads away by itself. */
function safe(html, read = "") {
  const node = element("div", { class: "output text_html" });
  const template = element("template");
  template.innerHTML = html;
  for (const each of template.content.querySelectorAll(NOT_HERE)) each.remove();
  for (const link of template.content.querySelectorAll("a[href^='#']")) {
    link.setAttribute("href", read + link.getAttribute("href"));
  }
  node.append(template.content);
  return node;
}

/** An error as Python tells it, or one that the page tells itself, in the same form. */
function failed({ html, title, why, try: attempt }) {
  if (html) return safe(html);
  const paragraphs = [["Likely cause. ", why], ["Try. ", attempt]].filter(([, text]) => text)
    .map(([label, text]) => element("p", {}, element("strong", {}, label), text));
  return element("section", { class: "output run-error", "aria-label": "Error" },
    element("p", { class: "run-title" }, title), ...paragraphs);
}
