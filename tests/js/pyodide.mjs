// Runs a Python file in Pyodide's core, under Node, with the course as a page has it.
//
//     node pyodide.mjs PYODIDE COURSE MOUNTED FILE ARGUMENTS...
//
// PYODIDE: the folder of npm's package. COURSE: what `docs.browser` writes, seen as /files, with its
// course.zip unpacked as a page does. MOUNTED: a folder seen as /tests. What Python prints is printed.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { clock } from "../../docs/_static/run/clock.mjs";

const [home, course, mounted, file] = process.argv.slice(2, 6).map((each) => resolve(each));
const given = process.argv.slice(6);
const { loadPyodide } = await import(pathToFileURL(`${home}/pyodide.mjs`));
const begun = performance.now();
const python = await loadPyodide({ indexURL: `${home}/`, args: [] });
const loaded = performance.now();
const zip = new Uint8Array(readFileSync(`${course}/course.zip`));
python.unpackArchive(zip, "zip", { extractDir: "/course" });
for (const [at, folder] of [["/files", course], ["/tests", mounted]]) {
  python.FS.mkdirTree(at);
  python.mountNodeFS(at, folder);
}
// Names of its own: those of __main__ are a learner's.
const names = python.toPy({ ARGUMENTS: given, LOADED: Math.round(loaded - begun), __name__: "told" });
python.runPython("import sys; sys.path.insert(0, '/course')");
const timer = clock();
python.setInterruptBuffer(timer);
python.pyimport("attnlab.browser.engine").keep_time(timer.alarm);
try {
  python.runPython(readFileSync(file, "utf8"), { filename: file, globals: names });
} catch (error) {
  console.error(error.message); // and not the line of Pyodide's that it came through, a megabyte
  process.exit(1);
}
