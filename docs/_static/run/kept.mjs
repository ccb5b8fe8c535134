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

/**
 * The lesson's notebook with what was written: {id, source} for its own cells, and for a visitor's {id, source, after},
 * `after` the cell that it stands below.
 */
export function notebook(handedOut, written) {
  const mine = new Map(written.map((each) => [each.id, each]));
  const own = (id) => written.filter(({ after }) => after === id).map((each) => (
    { cell_type: "code", execution_count: null, id: each.id, metadata: {}, outputs: [], source: lines(each.source) }
  ));
  const cells = handedOut.cells.flatMap((cell) => {
    const mended = mine.has(cell.id) ? { ...cell, source: lines(mine.get(cell.id).source) } : cell;
    return [mended, ...own(cell.id)];
  });
  return `${JSON.stringify({ ...handedOut, cells }, null, 1)}\n`;
}

const lines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
