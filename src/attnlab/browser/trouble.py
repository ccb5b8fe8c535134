"""What stopped a cell: the line, marked, why, and what to do, as a learner would read it."""

from __future__ import annotations

import html
import linecache
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnlab.calling.call import NOBODY, PRINT_LIMIT, TooMuchOutput
from attnlab.calling.deadline import Overrun
from attnlab.checks.unparsed import Unparsed
from attnlab.unwritten import said_of

Output = dict[str, Any]
MARK = "▸"
AROUND = 2  # lines before and after the one that is marked
FRAMES = 4  # of a learner's functions that are shown
_HTML_MARK = 'style="background:none;color:inherit;font-weight:bold"'
_STYLE = (
    "border-left:6px solid #c8641b;padding:4px 0 6px 12px;margin:4px 0;max-width:46em;"
    "line-height:1.5"
)


@dataclass(frozen=True, slots=True)
class Advice:
    """Why a cell stopped, and one thing to do.

    Attributes:
        cell: id of a cell that has to be run first, '' for none.
    """

    slug: str
    why: str
    remedy: str
    cell: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a cell: in which, and in which function of it, '' for none."""

    cell: str
    line: int
    function: str
    source: Sequence[str]


def of_exception(
    error: BaseException,
    places: Sequence[Place],
    cell: str,
    absent: Callable[[str], Advice | None],
) -> Output:
    """What an exception that came out of a cell is told by.

    Args:
        places: the lines of the learner's that it came through, the outermost first.
        cell: id of the one that was run.
        absent: what is to be said of a name that is not defined, None for nothing.
    """
    if said := said_of(error):
        return _output(said, "", [], cell, Advice("not-written", "", ""))
    name, message = type(error).__name__, _message(error)
    advice = _advice(error, message, absent)
    if isinstance(error, TooMuchOutput):
        name, message = f"It printed more than {PRINT_LIMIT:,} characters, so it was stopped", ""
    if isinstance(error, Overrun):
        name, message = "It was still running when its time was up, so it was stopped", ""
    return _output(name, message, places, cell, advice)


def of_source(found: Unparsed) -> Output:
    """What a cell that is not Python is told by."""
    advice = Advice(found.slug, *found.words)
    title = "Nothing of this cell ran: it is not Python yet"
    shown = f"{found.number:>4} {found.line}"
    return _told(title, [("", [(shown, True)])], found.number, advice)


def magic(line: int) -> Output:
    """What a cell with one of Jupyter's own commands is told by."""
    title = "Nothing of this cell ran: a line that begins with % or ! is Jupyter's own"
    why = "This page has Python, and no Jupyter around it."
    return _told(title, [], line, Advice("magic", why, "Take that line out, and run it again."))


def awaits(line: int) -> Output:
    """What a cell is told by that waits outside of a function, as only Jupyter's may."""
    title = "Nothing of this cell ran: here `await` stands in functions alone"
    why = "In Jupyter a cell may wait, and this page's Python does not."
    return _told(title, [], line, Advice("await", why, "Write it without `await`."))


def _advice(
    error: BaseException, message: str, absent: Callable[[str], Advice | None]
) -> Advice | None:
    """What is known of an exception besides its own message."""
    match error:
        case Overrun():
            why = "A loop that never ends looks like this: what it tests never changes."
            return Advice("still-running", why, "Print what the loop tests, once each time round.")
        case TooMuchOutput():
            why = "A page that shows all of it would stand still."
            return Advice("too-much-output", why, "Print less: the first few, or a sum.")
        case NameError(name=str(name)):
            return absent(name)
        case ModuleNotFoundError(name=str(name)):
            return _no_module(name.partition(".")[0])
        case EOFError() if message == NOBODY:
            why = "Nobody can type into a cell that runs."
            return Advice("no-input", why, "Write the value into the cell: `answer = 3`.")
        case OSError():
            why = "This page has no files of yours: its Python sees nothing of your computer."
            remedy = 'Write what you need into the cell: `text = "…"`.'
            return Advice("no-files", why, remedy)
        case OverflowError() if "index-sized" in message:
            return _advice(MemoryError(), message, absent)
        case MemoryError():
            why = "It asks for more memory than a page gets, some 2 GB."
            remedy = "Look at the marked line: is a list far longer there than you mean?"
            return Advice("out-of-memory", why, remedy)
        case RecursionError():
            why = "A function calls itself, or two call each other, and nothing ends that."
            remedy = "Give it a case in which it returns without another call."
            return Advice("endless-recursion", why, remedy)
    return None


def _no_module(name: str) -> Advice:
    if name in ("numpy", "torch", "matplotlib"):
        why = (
            "This page has Python alone. Lessons 01 and 02 are written with lists of numbers, so "
            "that every index can be seen."
        )
        remedy = "Write it with lists and `math`. At home the whole course runs, NumPy included."
    else:
        why = f"This page has what comes with Python, and `{name}` does not."
        remedy = "Write it without, or take the lesson home."
    return Advice("no-numpy" if name == "numpy" else "no-module", why, remedy)


def _message(error: BaseException) -> str:
    """An exception's own words; of what this Python adds, nothing."""
    try:
        said = str(error)
    except BaseException as broken:  # a learner's __str__ may raise anything
        return f"(its message could not be read: {type(broken).__name__})"
    return said.split("\n", 1)[0] if isinstance(error, ModuleNotFoundError) else said[:2000]


def places_in(error: BaseException, cells: Mapping[str, str]) -> list[Place]:
    """The lines of cells that an exception came through.

    Args:
        cells: their ids by the names of the files that they are to Python.
    """
    frames = traceback.extract_tb(error.__traceback__, limit=-200)
    found = []
    for frame in frames:
        if frame.filename in cells:
            source = [line.rstrip("\n") for line in linecache.getlines(frame.filename)]
            function = "" if frame.name == "<module>" else frame.name
            found.append(Place(cells[frame.filename], frame.lineno or 0, function, source))
    return found


def _output(
    name: str, message: str, places: Sequence[Place], cell: str, advice: Advice | None
) -> Output:
    title = f"{name}: {message}" if message else name
    shown = [*places[: FRAMES - 1], *places[-1:]] if len(places) > FRAMES else places
    parts = [(_where(place, cell), _lines(place)) for place in shown]
    if len(places) > FRAMES:
        parts.insert(-1, (f"… {len(places) - FRAMES} more calls …", []))
    own = [place.line for place in places if place.cell == cell]
    return _told(title, parts, own[-1] if own else 0, advice)


def _where(place: Place, cell: str) -> str:
    where = f"line {place.line}" if place.cell == cell else f"another cell, line {place.line}"
    return f"{where}, in {place.function}" if place.function else where


def _lines(place: Place) -> list[tuple[str, bool]]:
    """The lines around a place, and whether each is the one."""
    first = max(place.line - AROUND, 1)
    lines = place.source[first - 1 : place.line + AROUND]
    numbered = enumerate(lines, start=first)
    return [
        (f"{MARK if at == place.line else ' '}{at:>4} {text}", at == place.line)
        for at, text in numbered
    ]


def _told(
    title: str,
    parts: Sequence[tuple[str, list[tuple[str, bool]]]],
    line: int,
    advice: Advice | None,
) -> Output:
    texts, made = [title], [f'<p style="margin:0;font-weight:bold">{html.escape(title)}</p>']
    for where, lines in parts:
        texts += [f"{where}:"] if where else []
        made += [f'<p style="margin:6px 0 0">{html.escape(where)}</p>'] if where else []
        if lines:
            texts += [text for text, _ in lines]
            made.append(f'<pre style="margin:2px 0;overflow-x:auto">{_marked(lines)}</pre>')
    said = [("Likely cause", advice.why), ("Try", advice.remedy)] if advice else []
    for label, text in said:
        if text:
            texts.append(f"{label}: {text}")
            ticked = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
            made.append(f'<p style="margin:6px 0 0"><strong>{label}.</strong> {ticked}</p>')
    return {
        "kind": "error",
        "title": title,
        "text": "\n".join(texts),
        "html": f'<section aria-label="Error" style="{_STYLE}">{"".join(made)}</section>',
        "line": line,
        "slug": advice.slug if advice else "",
        "why": advice.why if advice else "",
        "try": advice.remedy if advice else "",
        "cell": advice.cell if advice else "",
    }


def _marked(lines: Sequence[tuple[str, bool]]) -> str:
    return "\n".join(
        f"<mark {_HTML_MARK}>{html.escape(text)}</mark>" if is_it else html.escape(text)
        for text, is_it in lines
    )
