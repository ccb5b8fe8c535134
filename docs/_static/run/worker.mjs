// The Worker in which a visitor's code runs. Its page makes it from a blob, so that it has the page's policy: nothing
// that runs in here can load or send anything. All that it needs comes with the first message.

let engine;

const does = {
  /** Python, and the course in it. files: a Blob for each part. */
  async start({ files, lesson }) {
    const module = async (name) => {
      const address = URL.createObjectURL(new Blob([files[name]], { type: "text/javascript" }));
      return import(address).finally(() => URL.revokeObjectURL(address));
    };
    const real = globalThis.fetch;
    globalThis.fetch = async (address) => {
      const name = `pyodide/${String(address).split("/").pop()}`;
      const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
      return new Response(files[name], { headers: { "content-type": type } });
    };
    const { loadPyodide } = await module("pyodide/pyodide.mjs");
    const { default: createPyodideModule } = await module("pyodide/pyodide.asm.mjs");
    const pyodide = await loadPyodide({
      indexURL: "parts:/", createPyodideModule, lockFileContents: await files["pyodide/pyodide-lock.json"].text(),
    });
    globalThis.fetch = real; // the policy alone has to hold
    pyodide.unpackArchive(await files["course.zip"].arrayBuffer(), "zip", { extractDir: "/course" });
    pyodide.runPython("import sys; sys.path.insert(0, '/course')");
    engine = pyodide.pyimport("attnlab.browser.engine");
    const { clock } = await module("clock.mjs");
    const timer = clock();
    pyodide.setInterruptBuffer(timer);
    engine.keep_time(timer.alarm);
    const begun = JSON.parse(engine.begin(await files[`${lesson}/lesson.json`].text()));
    give = async (name) => engine.give(await files[begun.files[name]].text());
  },
  async run({ cell, source }) {
    for (const name of JSON.parse(engine.needs(source))) await give(name);
    return JSON.parse(engine.run(cell, source));
  },
  choose({ quiz, question, choice }) {
    try {
      return JSON.parse(engine.choose(quiz, question, choice));
    } catch {
      return null; // it is there no more, or what was kept is of another one
    }
  },
};
let give;

addEventListener("message", async ({ data: { number, ask, ...told } }) => {
  try {
    postMessage({ number, answer: (await does[ask](told)) ?? null });
  } catch (why) {
    postMessage({ number, broken: String(why?.message ?? why).slice(0, 1000) });
  }
});
