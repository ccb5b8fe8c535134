// The editor, from npm; it comes with the first Run, or when somebody goes into a cell.

import { createEditor } from "./editor/index.js";
import { defaultCommands } from "./editor/extensions/commands/index.js";
import "./editor/languages/python.js";
import "./editor/prism/languages/python.js";

const sheet = document.createElement("link");
sheet.rel = "stylesheet";
sheet.href = new URL("./editor/layout.css", import.meta.url);
document.head.append(sheet);
await new Promise((done) => { sheet.onload = sheet.onerror = done; });

/** Put an editor in the place of a plain field, with what is written there, and where one is in it. Returns its field. */
export function editorFor(field, onKey) {
  const place = document.createElement("div");
  const had = document.activeElement === field ? [field.selectionStart, field.selectionEnd] : null;
  const editor = createEditor(place, {
    language: "python", value: field.value, lineNumbers: false, tabSize: 4,
  }, defaultCommands());
  const { textarea } = editor;
  for (const name of ["aria-label", "aria-describedby"]) textarea.setAttribute(name, field.getAttribute(name));
  textarea.addEventListener("keydown", onKey, { capture: true });
  field.closest(".run-code").replaceChildren(place);
  if (had) {
    textarea.focus({ preventScroll: true });
    textarea.setSelectionRange(...had);
  }
  return {
    textarea,
    get value() { return editor.value; },
    set value(text) { editor.setOptions({ value: text }); },
    onUpdate: (then) => editor.on("update", then),
  };
}
