// What a visitor wrote, kept in the browser: a line of JSON for each cell, by lesson and cell.

const FORM = "attnlab 1"; // of what is kept; another form is another name

/** A short name of a text: whether a cell is the one that an answer was written in. */
export function mark(text) {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ letter.codePointAt(0), 0x01000193) >>> 0;
  return hash.toString(36);
}

/**
 * What is kept of a lesson. storage: a browser's, or null; nothing here ever throws.
 *
 * A record is {source, from} for a cell, `from` the mark of what was handed out there, or {chosen} for a quiz.
 */
export function kept(storage, lesson) {
  const key = (name) => `${FORM} ${lesson} ${name}`;
  const attempt = (what) => { try { return what(); } catch { return undefined; } };
  const names = () => attempt(() => Object.keys(storage)) ?? [];
  return {
    name: (full) => (full?.startsWith(key("")) ? full.slice(key("").length) : ""),
    /** A record, null where there is none, undefined where it is spoilt. */
    get(name) {
      const text = attempt(() => storage.getItem(key(name))) ?? null;
      return text === null ? null : read(text);
    },
    /** Whether it is kept. */
    set: (name, record) => attempt(() => { storage.setItem(key(name), JSON.stringify(record)); return true; }) ?? false,
    drop: (name) => attempt(() => storage.removeItem(key(name))),
    names: () => names().filter((name) => name.startsWith(key(""))).map((name) => name.slice(key("").length)),
  };
}

function read(text) {
  try {
    const record = JSON.parse(text);
    const isAnswer = typeof record.source === "string" && typeof record.from === "string";
    return isAnswer || Array.isArray(record.chosen) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The lesson's notebook with what was written in its cells; written: {id of a cell: its source}. */
export function notebook(handedOut, written) {
  const cells = handedOut.cells.map((cell) => (cell.id in written ? { ...cell, source: lines(written[cell.id]) } : cell));
  return `${JSON.stringify({ ...handedOut, cells }, null, 1)}\n`;
}

const lines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
