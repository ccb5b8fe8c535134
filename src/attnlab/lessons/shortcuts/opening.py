"""Lesson 12 opens with four tests of full attention and of three shortcuts: what each still finds.

Its readers were trained as the lesson trains them; `python -m tests.claims.shortcuts` does that
again, and records in `opening.json` what they look at in one text, and how often they are right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE

RECORDED = Path(__file__).with_suffix(".json")
WAYS = ("full", "window", "sum", "shared")
TESTS = {
    "near": (
        "Full attention, a window of 8, a running sum, shared keys. A mark is 4 tokens back.",
        "All four find it.",
    ),
    "far": ("The mark stands 16 tokens back.", "A window of 8 does not reach it, and guesses."),
    "of 32": ("One book of 32 is asked for.", "The running sum spreads over all, and blurs."),
    "4 at once": (
        "Four books are asked for at once.",
        "The sum still blurs; shared keys are too narrow for four.",
    ),
}
FOUND = 0.95  # right so often, it finds
WINDOW = 8

HIGH = 262
LEFT, WIDE, TALL = 76, 101, 57  # of the table: its left, from column to column, from row to row
HEAD = 20  # the line of the columns' names
LEAST = 0.03  # a weight that is drawn
FLAT = 4000  # how far words would reach for arcs as low as these


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    frames: list[Frame] = []
    done: list[Part] = []
    for column, (test, (asked, told)) in enumerate(TESTS.items()):
        cells = [known[way][test] for way in WAYS]
        head = word(f"test {test}", _left(column) + 46, HEAD, test, size=SMALL)
        shelves = [part for n in range(len(WAYS)) for part in _shelf(n, column, cells[n])]
        frames.append(Frame([*_table(), *done, head, *shelves], asked))
        looks = [part for n in range(len(WAYS)) for part in _looks(n, column, cells[n])]
        done += [head, *shelves, *looks]
        frames.append(Frame([*_table(), *done], told + _shares(cells)))
    return Film("What each shortcut still finds", frames, HIGH)


def _shares(cells: list[dict[str, Any]]) -> str:
    """The share of those that do not find."""
    missed = [f"{way} {c['right']:.2f}" for way, c in zip(WAYS, cells, strict=True) if _lost(c)]
    return f" Right: {', '.join(missed)}." if missed else ""


def _lost(cell: dict[str, Any]) -> bool:
    return bool(cell["right"] < FOUND)


def _left(column: int) -> float:
    return LEFT + column * WIDE


def _top(row: int) -> float:
    return HEAD + 10 + row * TALL


def _table() -> list[Part]:
    return [
        word(f"way {way}", 4, _top(n) + 34, way, anchor="start", size=SMALL)
        for n, way in enumerate(WAYS)
    ]


def _shelf(row: int, column: int, cell: dict[str, Any]) -> list[Part]:
    """The tokens as a line, those that are asked for as dots; a reach is thick."""
    floor = _top(row) + 46
    name = f"{row} {column}"
    reach = WINDOW if WAYS[row] == "window" else len(cell["weights"])
    first = max(len(cell["weights"]) - reach, 0)
    start, end = _at(column, 0, cell), _at(column, len(cell["weights"]) - 1, cell)
    return [
        box(f"cell {name}", (_left(column), _top(row)), (WIDE - 7, TALL - 6), INK, 0.05),
        line(f"all {name}", [(start, floor), (end, floor)], GREY, 1.5),
        line(f"reach {name}", [(_at(column, first, cell), floor), (end, floor)], INK, 4),
        *(
            dot(f"asked {name} {n}", _at(column, m, cell), floor, 4.5, ORANGE)
            for n, m in enumerate(cell["asked"])
        ),
    ]


def _looks(row: int, column: int, cell: dict[str, Any]) -> list[Part]:
    """What the last token looks at, and how often it is right."""
    floor, asks = _top(row) + 43, len(cell["weights"]) - 1
    name = f"{row} {column}"
    colour = ORANGE if _lost(cell) else BLUE
    share = word(
        f"right {name}",
        _left(column) + 4,
        _top(row) + 18,
        f"{cell['right']:.2f}",
        colour,
        anchor="start",
        size=SMALL,
        weight=600,
    )
    place = _at(column, asks, cell)
    return [
        share,
        *(
            arc(f"look {name} {m}", place, _at(column, m, cell), floor, weight, BLUE, wide=FLAT)
            for m, weight in enumerate(cell["weights"])
            if weight >= LEAST and m != asks
        ),
    ]


def _at(column: int, token: int, cell: dict[str, Any]) -> float:
    return _left(column) + 8 + token * (WIDE - 23) / (len(cell["weights"]) - 1)
