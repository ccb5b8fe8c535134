"""Why is a cell not Python? The line, the place in it, and the cause, in words of `unparsed.md`.

A cause is tried, not read from Python's message, whose words change from version to version: the
cell is mended as that cause asks, and if Python then gets further, that was it. What no mending
shows is told by the kind of error, and by what stands there.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass

from attnlab.checks.words import CHECKS, Words, read
from attnlab.ipynb.python import Stop, stop_in

LONGEST = 20_000  # characters of a cell that is mended, and asked again, some dozens of times
MARK = "▸"
SHOWN = 70  # characters of a line
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_STRINGS = re.compile(r"[A-Za-z]{0,2}('''|\"\"\"|'|\")")
_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?: .*)?$", re.MULTILINE)
_OPENS = re.compile(
    r"\s*(?:async\s+)?(?:def|class|if|elif|else|for|while|with|try|except|finally)\b"
)
# What text programs and web pages write, and what Python has for it.
_TYPED = {
    **dict.fromkeys("“”„‟«»″", '"'),
    **dict.fromkeys("‘’‚‛´′", "'"),
    **dict.fromkeys("−–—‐‑", "-"),
    **{"×": "*", "·": "*", "∙": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "…": "..."},
    **{"（": "(", "）": ")", "，": ",", "：": ":", "；": ";", "＝": "=", "［": "[", "］": "]"},
}
_BLANKS = {
    **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2007\u2008\u2009\u202f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
}
_ELSEWHERE = (  # what other languages write, and Python
    (re.compile(r"\belse\s+if\b"), "elif"),
    (re.compile(r"(?<=\w)(?:\+\+|--)(?=\s*$)"), " += 1"),
    (re.compile(r"&&"), " and "),
    (re.compile(r"\|\|"), " or "),
    (re.compile(r"(?<![\w!])!(?=[\w(])"), "not "),
)
_CALLED = {"++": "x += 1", "--": "x -= 1", "&&": "and", "||": "or", "!": "not"}
_ASKS = re.compile(r"\b(?:if|elif|while|assert|and|or|not)\b")
_LONE = re.compile(r"(?<![=<>!:+\-*/%&|^@])=(?!=)")
_GAP = re.compile(r"(?<=[\w)\]}\"'])\s+(?=[\w(\[{\"'])|(?<=\d)(?=[A-Za-z_])")
_MAGIC = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)
_OUTSIDE = re.compile(r"\s*(return|yield|break|continue|await)\b")


@dataclass(frozen=True, slots=True)
class Unparsed:
    """Why nothing of a cell ran.

    Attributes:
        slug: of its section in `unparsed.md`.
        number: of the line, from 1.
        line: as the learner wrote it, with MARK before the place.
        words: the cause, and one thing to try.
    """

    slug: str
    number: int
    line: str
    words: Words

    def __str__(self) -> str:
        return f"line {self.number}, at {MARK}: `{self.line}`"


@dataclass(frozen=True, slots=True)
class _Found:
    """A cause: its slug, where it stands (line and column from 0), and names for its words."""

    slug: str
    row: int
    column: int
    names: tuple[str, ...] = ()


def unparsed(source: str) -> Unparsed | None:
    """Why a code cell is not what a notebook runs; None if it can be run.

    Args:
        source: of the cell, as its learner wrote it.
    """
    stop = stop_in(source)
    if stop is None:
        return None
    lines = re.split(r"\r\n|\r|\n", source)
    found = next(_causes(source, lines, stop), None) if len(source) <= LONGEST else None
    if found is None:
        found = _Found("not-python", stop.row, stop.column, (stop.message,))
    line = lines[found.row] if found.row < len(lines) else ""
    words = read(CHECKS / "unparsed.md")[found.slug].about(*found.names)
    return Unparsed(found.slug, found.row + 1, _marked(line, found.column), words)


def _marked(line: str, column: int) -> str:
    """A line, or what of a long one stands around the place, with the place marked."""
    before, after = line[:column].lstrip(" \t"), line[column:].rstrip()
    if len(before) + len(after) > SHOWN:
        before = f"…{before[-SHOWN // 2 :]}" if len(before) > SHOWN // 2 else before
        after = f"{after[: SHOWN // 2]}…" if len(after) > SHOWN // 2 else after
    text = f"{before}{MARK}{after}"
    return "".join(each if each.isprintable() else "␣" for each in text.replace("\0", "␀"))


def _causes(source: str, lines: list[str], stop: Stop) -> Iterator[_Found]:
    """Whatever may be the cause, the surest first."""
    row = min(stop.row, len(lines) - 1)
    line = lines[row]
    if "\0" in source:
        at = next(n for n, each in enumerate(lines) if "\0" in each)
        yield _Found("null-character", at, lines[at].index("\0"))
    if "<<<<<<<" in source and (conflict := _CONFLICT.search(source)):
        yield _Found("conflict-markers", source[: conflict.start()].count("\n"), 0)
    if stop.is_read and (outside := _OUTSIDE.match(line)):
        slug = "loop-word-outside" if outside[1] in ("break", "continue") else "return-outside"
        yield _Found(slug, row, outside.start(1), (outside[1],))
    further = _Further(lines, stop)
    yield from _strange(lines, row, further)
    if stop.kind == "TabError" or _mixes(lines, stop):
        yield _Found("tabs-and-blanks", row, _indent(line))
    trouble = _unpaired(_MAGIC.sub("", source))
    if trouble and trouble.slug == "text-not-closed":
        yield trouble
    yield from _slips(row, line, stop, further)
    if trouble:
        yield trouble
    if stop.kind in ("IndentationError", "TabError"):
        yield _indented(lines, row)
    equals = _LONE.search(_without_comment(line))
    if equals and further(row, f"{line[: _indent(line)]}_ {line[equals.start() :]}"):
        yield _Found("no-name-to-assign-to", row, equals.start())


class _Further:
    """Asks whether Python gets further in a cell once a line of it is another one."""

    def __init__(self, lines: list[str], stop: Stop) -> None:
        self._lines, self._stop = lines, stop

    def __call__(self, row: int, line: str) -> bool:
        changed = [*self._lines[:row], line, *self._lines[row + 1 :]]
        then = stop_in("\n".join(changed))
        return then is None or (then.is_read, then.row) > (self._stop.is_read, self._stop.row)


def _strange(lines: list[str], row: int, further: _Further) -> Iterator[_Found]:
    """A character that is not Python's: it looks like another, or like nothing."""
    for known, slug in ((_BLANKS, "strange-blank"), (_TYPED, "strange-character")):
        for at in dict.fromkeys((row, row - 1)):
            line = lines[at] if at >= 0 else ""
            places = [column for column, each in enumerate(line) if each in known]
            mended = "".join(known.get(each, each) for each in line)
            if places and further(at, mended):
                character = line[places[0]]
                said = f"U+{ord(character):04X}"
                yield _Found(slug, at, places[0], (character, said, known[character]))


def _slips(row: int, line: str, stop: Stop, further: _Further) -> Iterator[_Found]:
    """What one line shows: each is mended in turn, and Python is asked again."""
    code = _without_comment(line).rstrip()
    printed = re.match(r"(\s*)print\s+(?=[^\s(=.])(.+)", code)
    if printed and further(row, f"{printed[1]}print({printed[2]})"):
        yield _Found("print-without-brackets", row, len(printed[1]))
    for pattern, right in _ELSEWHERE:
        if (slip := pattern.search(code)) and further(row, pattern.sub(right, code)):
            said = slip[0].strip()
            yield _Found("other-language", row, slip.start(), (said, _CALLED.get(said, right)))
    for equals in _LONE.finditer(code) if _ASKS.search(code) else ():
        if further(row, f"{code[: equals.start()]}=={code[equals.end() :]}"):
            yield _Found("one-equals", row, equals.start())
    if _OPENS.match(code) or code.endswith(")"):  # which may end a def of several lines
        for column in dict.fromkeys((len(code), stop.column)):
            if further(row, f"{code[:column].rstrip()}: {code[column:]}"):
                yield _Found("no-colon", row, column)
    for word in re.finditer(r"(?<![\w.])[A-Za-z]+(?!\w)", code):
        named = f"{code[: word.end()]}_{code[word.end() :]}"
        if word[0] in keyword.kwlist and further(row, named):
            yield _Found("keyword-as-name", row, word.start(), (word[0],))
    for gap in _GAP.finditer(code):
        before = code[: gap.start()]
        inside = sum(map(before.count, "([{")) > sum(map(before.count, ")]}"))
        if (inside or not gap[0]) and further(row, f"{before}, {code[gap.end() :]}"):
            yield _Found("nothing-between", row, gap.start())


def _mixes(lines: list[str], stop: Stop) -> bool:
    """Whether an indent is wrong only as long as there are tabs."""
    if stop.kind != "IndentationError":
        return False
    then = stop_in("\n".join(line.expandtabs(4) for line in lines))
    return any("\t" in line for line in lines) and (then is None or then.row > stop.row)


def _indented(lines: list[str], row: int) -> _Found:
    """How a line is indented, against the code before it."""
    before = next((at for at in range(row - 1, -1, -1) if _without_comment(lines[at]).strip()), -1)
    own, its = _indent(lines[row]), _indent(lines[before]) if before >= 0 else 0
    if before >= 0 and _without_comment(lines[before]).rstrip().endswith(":") and own <= its:
        return _Found("nothing-indented", row, own, (lines[before].strip(),))
    return _Found("indented-too-far" if own > its else "indent-of-no-line", row, own)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without_comment(line: str) -> str:
    """A line up to its comment; a # in a text stays."""
    at = 0
    while at < len(line):
        if line[at] == "#":
            return line[:at]
        opened = _STRINGS.match(line, at)
        at = _end_of(line, opened) if opened else at + 1
        if at < 0:
            return line
    return line


def _end_of(source: str, opened: re.Match[str]) -> int:
    """Where a text ends that begins there; -1 if it does not."""
    quote, at = opened[1], opened.end()
    while at < len(source):
        if source[at] == "\\":
            at += 2
        elif source.startswith(quote, at):
            return at + len(quote)
        elif source[at] == "\n" and len(quote) == 1:
            return -1
        else:
            at += 1
    return -1


def _unpaired(source: str) -> _Found | None:
    """The first text or bracket of a cell that is not closed, or bracket that closes none."""
    open_: list[tuple[str, int]] = []
    at = 0

    def found(slug: str, at: int, *names: str) -> _Found:
        start = source.rfind("\n", 0, at) + 1
        return _Found(slug, source.count("\n", 0, at), at - start, names)

    while at < len(source):
        character = source[at]
        opened = _STRINGS.match(source, at)
        if character == "#":
            at = source.find("\n", at)
            if at < 0:
                break
        elif opened:
            end = _end_of(source, opened)
            if end < 0:
                return found("text-not-closed", opened.start(1), opened[1])
            at = end
        else:
            if character in _PAIRS:
                open_.append((character, at))
            elif character in _PAIRS.values():
                if not open_:
                    return found("bracket-not-opened", at, character)
                last, _ = open_.pop()
                if _PAIRS[last] != character:
                    return found("bracket-closed-by-another", at, last, _PAIRS[last], character)
            at += 1
    return found("bracket-not-closed", open_[-1][1], open_[-1][0]) if open_ else None
