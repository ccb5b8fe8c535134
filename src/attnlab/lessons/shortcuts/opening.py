"""Lesson 12 opens with four tests of full attention and of three shortcuts: what each still finds.

Its readers were trained as the lesson trains them; `python -m tests.claims.shortcuts` does that
again, and records in `opening.json` what they look at in one text, and how often they are right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, arc, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

RECORDED = Path(__file__).with_suffix(".json")
WAYS = {
    "full": ("full", "attention"),
    "window": ("window", "of 8"),
    "sum": ("running", "sum"),
    "shared": ("shared", "keys"),
}


class Asked(NamedTuple):
    """What a test asks for, what is said of it, and what is said when it is answered."""

    name: str
    told: str
    found: str


TESTS = {
    "near": Asked(
        "a mark 4 tokens back",
        "The last token looks for a mark. See which of four ways of attention find it.",
        "All four find it.",
    ),
    "far": Asked(
        "a mark 16 tokens back",
        "Now the mark is further back than a window of 8 reaches.",
        "The window cannot see it, and guesses.",
    ),
    "of 32": Asked(
        "one book of 32",
        "The last token names a book, one of 32.",
        "The window sees seven of them. The sum spreads over many, and blurs.",
    ),
    "4 at once": Asked(
        "four books of 8 at once",
        "The last token names four books of eight.",
        "The window misses one, the sum blurs, and shared keys are too narrow for four.",
    ),
}
FOUND = 0.95  # right so often, it finds
WINDOW = 8

HIGH, HEAD, FEET = 268, 22, 262  # of the sheet; the lines over the rows and under them
TOP, TALL, FLOOR = 32, 53, 43  # of the first row; from row to row; of tokens, in a row
LAST, PITCH = 380, 8.7  # the last token, which asks; from token to token, in every test
SQUARE, BESIDE = 15, 19  # of a test's square at a row's end; from square to square
COLUMN, ACROSS = 104, 94  # of the table: its left, and from column to column
LEAST = 0.03  # a weight that is drawn
FLAT = 1700  # how far words would reach for arcs as low as these
Cells = dict[str, dict[str, Any]]  # a way's, by test


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    rows: list[Cells] = [known[way] for way in WAYS]
    frames: list[Frame] = []
    for n, (test, asked) in enumerate(TESTS.items()):
        head = word("head", 4, HEAD, f"Find {asked.name}", BLUE, "start", 22, 600)
        feet = [_foot(2, LAST - 38, "asks"), _foot(3, _left(0), "right")]
        stage = [head, *feet, *_names()]
        stage += [part for row, cells in enumerate(rows) for part in _text(row, cells[test])]
        frames.append(Frame([*stage, *_squares(rows, n)], asked.told))
        stage += _squares(rows, n + 1)
        stage += [
            part for row, cells in enumerate(rows) for part in _answer(row, test, cells[test])
        ]
        frames.append(Frame(stage, asked.found))
    stage = [word("head", 4, HEAD, "How often each is right", INK, "start", 22, 600), *_names()]
    frames.append(Frame([*stage, *_table(rows, SQUARE)], "Four tests, and what each found."))
    told = "Full attention passes all four tests. Each shortcut fails some: it depends on the task."
    frames.append(Frame([*stage, *_table(rows, ACROSS - 10)], told))
    return Film("What each shortcut still finds", frames, HIGH)


def _top(row: int) -> float:
    return TOP + row * TALL


def _colour(cell: dict[str, Any]) -> Colour:
    return BLUE if cell["right"] >= FOUND else ORANGE


def _names() -> list[Part]:
    return [
        word(f"name {row} {n}", 4, _top(row) + 22 + 20 * n, name, INK, "start", SMALL, weight)
        for row, names in enumerate(WAYS.values())
        for n, (name, weight) in enumerate(zip(names, (600, 400), strict=True))
    ]


def _text(row: int, cell: dict[str, Any]) -> list[Part]:
    """Tokens as dots up to the one that asks; those out of reach are pale."""
    last, floor = len(cell["weights"]) - 1, _top(row) + FLOOR
    reach = PITCH * (min(WINDOW - 1, last) if [*WAYS][row] == "window" else last)
    dots = f"0 {PITCH}"
    return [
        line(f"all {row}", [(LAST, floor), (_at(0, cell), floor)], GREY, 5, 0.5, dots),
        box(f"reach {row}", (LAST - reach - 6, floor - 8), (reach + 12, 16), INK, 0.1),
        line(f"seen {row}", [(LAST, floor), (LAST - reach, floor)], INK, 5, 1, dots),
        dot(f"asks {row}", LAST, floor, 5.5),
        *(
            dot(f"asked {row} {n}", _at(token, cell), floor, 5.5, BLUE)
            for n, token in enumerate(cell["asked"])
        ),
    ]


def _answer(row: int, test: str, cell: dict[str, Any]) -> list[Part]:
    """What the last token looks at, and how often it is right."""
    last, floor = len(cell["weights"]) - 1, _top(row) + FLOOR - 6
    return [
        _right(row, len(TESTS) - 1, cell, (_left(0), _top(row) + 22)),
        *(
            arc(
                f"look {row} {test} {m}",
                LAST,
                _at(m, cell),
                floor,
                weight,
                BLUE if m in cell["asked"] else ORANGE,
                wide=FLAT,
            )
            for m, weight in enumerate(cell["weights"])
            if weight >= LEAST and m != last
        ),
    ]


def _squares(rows: list[Cells], done: int) -> list[Part]:
    """All tests at each row's end; so many are done, and as full as the share that is right."""
    size, high = (SQUARE, SQUARE), FLOOR - 9
    return [
        part
        for row, cells in enumerate(rows)
        for n, test in enumerate(TESTS)
        for part in _share(row, n, cells[test], (_left(n), _top(row) + high), size, n < done)
    ]


def _table(rows: list[Cells], wide: float) -> list[Part]:
    """The squares in columns, as wide as this, with their numbers."""
    size = (wide, SQUARE)
    parts = []
    for n, test in enumerate(TESTS):
        left = COLUMN + n * ACROSS
        parts.append(_foot(n, left, test))
        for row, cells in enumerate(rows):
            top = _top(row)
            parts += _share(row, n, cells[test], (left, top + FLOOR - 15), size, True)
            parts.append(_right(row, n, cells[test], (left, top + 22)))
    return parts


def _share(
    row: int,
    column: int,
    cell: dict[str, Any],
    corner: tuple[float, float],
    size: tuple[float, float],
    done: bool,
) -> list[Part]:
    wide, tall = size
    full = wide * cell["right"] if done else 0
    return [
        box(f"test {row} {column}", corner, size, INK, 0.12),
        box(f"share {row} {column}", corner, (full, tall), _colour(cell)),
    ]


def _right(row: int, column: int, cell: dict[str, Any], at: tuple[float, float]) -> Part:
    right = f"{cell['right']:.2f}"
    return word(f"right {row} {column}", *at, right, _colour(cell), "start", 22, 700)


def _foot(n: int, x: float, text: str) -> Part:
    return word(f"foot {n}", x, FEET, text, anchor="start", size=SMALL)


def _left(test: int) -> float:
    """Of a test's square at a row's end."""
    return WIDE - 4 - SQUARE - (len(TESTS) - 1 - test) * BESIDE


def _at(token: int, cell: dict[str, Any]) -> float:
    return LAST - (len(cell["weights"]) - 1 - token) * PITCH
