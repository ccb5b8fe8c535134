// Python for a page: its parts, the Worker that runs it, and how it is ended and begun again.

const STARTS_WITHIN = 60_000; // ms, for Python, on a slow telephone

/** From the first run on the page may load nothing, and so may the Worker, which is made from a blob. */
const POLICY = [
  "default-src 'none'",
  "script-src blob: 'wasm-unsafe-eval'", // Python's own modules; and Python, which is WebAssembly
  "worker-src blob:",
  "style-src 'self' 'unsafe-inline'", // cards, figures and the editor set the style of single elements
  "img-src 'self' data:",
  "font-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
].join("; ");

/** Something that a visitor can be told: a sentence. */
export class Trouble extends Error {}

/** The code was ended, from outside. */
export class Ended extends Error {}

/**
 * Python, which starts when it is first asked.
 *
 * parts: {name: {bytes, hash}}, lesson: its slug, base: what names are relative to, seconds: that a cell may run.
 * before() loads what the page itself still needs.
 */
export class Python {
  #about;
  #had = {}; // by name, a part, once it is there
  #worker;
  #waiting = new Map(); // by number, who waits for an answer
  #number = 0;

  constructor(about) {
    this.#about = about;
  }

  get isThere() {
    return Boolean(this.#worker);
  }

  /** Start, if it is not there. tell(text) says how far it is. Throws Trouble. */
  async start(tell) {
    if (this.#worker) return;
    if (typeof WebAssembly === "undefined" || typeof Worker === "undefined") {
      throw new Trouble("Python cannot run here: this browser has no WebAssembly, or it is switched off. Download the "
        + "lesson, or open this page in another browser.");
    }
    const files = await this.#load(tell);
    if (!isLocked) await this.#about.before();
    tell("Starting Python …");
    lock();
    const address = URL.createObjectURL(new Blob([files["worker.mjs"]], { type: "text/javascript" }));
    this.#worker = new Worker(address, { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#answered(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.end(event.message || "Python did not start");
    };
    try {
      await this.#ask("start", { files, lesson: this.#about.lesson }, STARTS_WITHIN);
    } catch (why) {
      this.end("");
      throw new Trouble(`Python did not start in this browser: ${why.message}. Reload this page, or open it in another `
        + "browser.");
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  /** What a cell gave. Throws Ended. */
  run = (cell, source) => this.#ask("run", { cell, source });

  choose = (quiz, question, choice) => this.#ask("choose", { quiz, question, choice });

  /** End all that runs, with what it has defined. */
  end(why) {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Ended(why));
    this.#waiting.clear();
  }

  #ask(ask, told, limit = 1000 * this.#about.seconds) {
    const number = (this.#number += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.end("limit"), limit);
      const settled = (how) => (value) => { clearTimeout(timer); how(value); };
      this.#waiting.set(number, { resolve: settled(resolve), reject: settled(reject) });
      this.#worker.postMessage({ number, ask, ...told });
    });
  }

  #answered({ number, answer, broken }) {
    const { resolve } = this.#waiting.get(number) ?? {};
    if (!resolve) return; // visitors' code may post what it likes
    if (broken !== undefined) return this.end(broken);
    this.#waiting.delete(number);
    resolve(answer);
  }

  async #load(tell) {
    const names = Object.entries(this.#about.parts);
    const whole = names.reduce((sum, [, { bytes }]) => sum + bytes, 0);
    let had = names.reduce((sum, [name, { bytes }]) => sum + (this.#had[name] ? bytes : 0), 0);
    const say = () => tell(`Loading Python: ${megabytes(had)} of ${megabytes(whole)} MB …`);
    say();
    const came = await Promise.allSettled(names.map(async ([name, { bytes }]) => {
      if (this.#had[name]) return;
      await this.part(name);
      had += bytes;
      say();
    }));
    const lost = came.find(({ status }) => status === "rejected");
    if (lost) throw lost.reason;
    return this.#had;
  }

  /** One of the parts, loaded once. Throws Trouble. */
  async part(name) {
    return (this.#had[name] ??= await loaded(new URL(name, this.#about.base), this.#about.parts[name].hash));
  }
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** A file, if it is the one that this page was built with. */
async function loaded(address, hash) {
  const asked = (cache) => fetch(address, { integrity: hash, cache });
  try {
    const answer = await asked("default").catch(() => asked("reload")); // it may be kept from an older page
    if (answer.ok) return await answer.blob();
  } catch {
    const there = await fetch(address, { cache: "no-store" }).then((answer) => answer.ok, () => false);
    if (there) throw new Trouble("The site has a newer version than this page: reload the page.");
  }
  throw new Trouble("Python could not be loaded: the network seems to be gone, or the site does not answer. What has come "
    + "is kept; press Run to go on.");
}

let isLocked = false;
function lock() {
  if (isLocked) return;
  isLocked = true;
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = POLICY;
  document.head.append(meta);
}
