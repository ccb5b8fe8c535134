"""Lesson 12 opens with four tests of full attention and three shortcuts: what each finds and keeps.

Its readers were trained as the lesson trains them; `python -m tests.claims.shortcuts` does that
again, and records in `opening.json` what they look at in one text, and how often they are right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, arc, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

RECORDED = Path(__file__).with_suffix(".json")
WAYS = {
    "full": ("full", "attention"),
    "window": ("window", "of 8"),
    "sum": ("running", "sum"),
    "shared": ("shared", "keys"),
}


class Asked(NamedTuple):
    """What a test asks for, its short name, and what is said before it is answered and then."""

    name: str
    short: str
    told: str
    found: str


TESTS = {
    "near": Asked(
        "Find the token 4 back",
        "4 back",
        "The last token looks for the blue one. See which of four ways of attention find it.",
        "All four find it.",
    ),
    "far": Asked(
        "Find the token 16 back",
        "16 back",
        "Now it is 16 back, further than a window of 8 reaches.",
        "The window cannot see it, and guesses.",
    ),
    "of 32": Asked(
        "Find one token of 32",
        "1 of 32",
        "Now it is one of 32, and asked for by its name.",
        "The window sees seven of them. The running sum spreads over many, and blurs.",
    ),
    "4 at once": Asked(
        "Find four tokens of 8",
        "4 of 8",
        "Now the last token asks for four at once.",
        "The window misses one, the sum blurs, and heads that share keys mix the four up.",
    ),
}
FOUND = 0.95  # right so often, it finds
WINDOW = 8
TOKENS, HEADS, WIDTH = 4096, 4, 8  # of which a way keeps; heads, and numbers in a head's key

HIGH, HEAD, FEET = 268, 22, 264  # of the sheet; of the lines over the rows and under them
TOP, TALL, FLOOR = 30, 54, 41  # of the first row; from row to row; of tokens, in a row
FIRST, LAST, RIGHT = 122, 392, 412  # of tokens, the last of which asks; of the number that is right
THICKEST = 15  # a token
COLUMNS, KEEPS = (98, 176, 265, 346), 414  # of the table: lefts of the tests, and of the last one
ENDS = 476  # the right of what is said over the numbers
CELL = (58, 12)  # of a bar in it
LEAST = 0.03  # a weight that is drawn
FLAT = 4000  # how far words would reach for arcs as low as these
Cells = dict[str, dict[str, Any]]  # a way's, by test


def kept() -> dict[str, int]:
    """How many numbers each way keeps of so many tokens, as the lesson counts them."""
    full = 2 * HEADS * WIDTH * TOKENS  # keys and values
    return {
        "full": full,
        "window": full * WINDOW // TOKENS,
        "sum": HEADS * (WIDTH * WIDTH + WIDTH),
        "shared": full // HEADS,
    }


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    rows: list[Cells] = [known[way] for way in WAYS]
    frames: list[Frame] = []
    for test, asked in TESTS.items():
        stage = [_head("head", 4, asked.name, 22), *_names(), _asks()]
        stage += [part for row, cells in enumerate(rows) for part in _text(row, cells[test])]
        frames.append(Frame(stage, asked.told))
        answers = [part for row, cells in enumerate(rows) for part in _answer(row, cells[test])]
        frames.append(Frame([*stage, *answers, _share_right()], asked.found))
    numbers, table = kept(), _table(rows)
    memory, stage = _memory(numbers), [*_names(), *_heads(), *_bare()]
    told = "See how often each is right, and what it keeps of the text."
    frames.append(Frame(stage, told))
    told = "Full attention passes all four tests. Each shortcut fails one or more."
    frames.append(Frame([*stage, *table], told))
    told = (
        f"Of {TOKENS:,} tokens full attention keeps {numbers['full']:,} numbers, the running sum "
    )
    frames.append(Frame([*stage, *table, *memory], f"{told}{numbers['sum']}."))
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
    pitch = (LAST - FIRST) / last
    thick = min(THICKEST, 0.6 * pitch)
    seen = pitch * (min(WINDOW - 1, last) if [*WAYS][row] == "window" else last)
    edge, end = thick / 2 + 4, 0.3  # a dot at a line's very end is not drawn
    dots = f"0 {pitch:.3f}"
    return [
        line(f"all {row}", [(LAST, floor), (FIRST - end, floor)], GREY, thick, 0.5, dots),
        box(f"reach {row}", (LAST - seen - edge, floor - 10), (seen + 2 * edge, 20), INK, 0.1),
        line(f"seen {row}", [(LAST, floor), (LAST - seen - end, floor)], INK, thick, 1, dots),
        dot(f"asks {row}", LAST, floor, 8),
        *(
            dot(f"asked {row} {n}", _at(token, cell), floor, 8, BLUE)
            for n, token in enumerate(cell["asked"])
        ),
    ]


def _answer(row: int, cell: dict[str, Any]) -> list[Part]:
    """What the last token looks at, and how often it is right."""
    last, floor = len(cell["weights"]) - 1, _top(row) + FLOOR - 10
    right = f"{cell['right']:.2f}"
    return [
        word(f"is {row}", RIGHT, floor + 17, right, _colour(cell), "start", 24, 700),
        *(
            arc(
                f"look {row} {last - m}",
                LAST,
                _at(m, cell),
                floor,
                weight,
                BLUE if m in cell["asked"] else ORANGE,
                wide=FLAT,
                thickest=7,
            )
            for m, weight in enumerate(cell["weights"])
            if weight >= LEAST and m != last
        ),
    ]


def _table(rows: list[Cells]) -> list[Part]:
    """How often each way is right in each test."""
    parts = []
    for n, (test, left) in enumerate(zip(TESTS, COLUMNS, strict=True)):
        for row, cells in enumerate(rows):
            right, colour = cells[test]["right"], _colour(cells[test])
            parts += _cell(f"{row} {n}", row, left, right, f"{right:.2f}", colour)
    return parts


def _memory(numbers: dict[str, int]) -> list[Part]:
    """What each way keeps, as a share of what full attention does."""
    parts = []
    for row, many in enumerate(numbers.values()):
        share = many / numbers["full"]
        says = "all" if share == 1 else f"1/{1 / share:.0f}"
        parts += _cell(f"{row} keeps", row, KEEPS, share, says, PURPLE)
    return parts


def _heads() -> list[Part]:
    """The table's columns are named from its start."""
    names = [*(asked.short for asked in TESTS.values()), "keeps"]
    lefts = zip((*COLUMNS, KEEPS), names, strict=True)
    return [_head(f"column {n}", left, name) for n, (left, name) in enumerate(lefts)]


def _bare() -> list[Part]:
    """The table's bars, before they are full, which they are as their numbers come."""
    return [
        box(f"bare {row} {n}", (left, _top(row) + 30), CELL, INK, 0.12)
        for row in range(len(WAYS))
        for n, left in enumerate((*COLUMNS, KEEPS))
    ]


def _cell(key: str, row: int, left: float, share: float, says: str, colour: Colour) -> list[Part]:
    """A bar that is as full as a share, under what is said of it."""
    (wide, tall), top = CELL, _top(row)
    return [
        box(f"share {key}", (left, top + 30), (wide * share, tall), colour),
        word(f"says {key}", left, top + 25, says, colour, "start", SIZE, 700),
    ]


def _asks() -> Part:
    return word("asks", LAST, FEET, "asks", size=SMALL)


def _share_right() -> Part:
    """What the numbers are."""
    return word("right", ENDS, HEAD, "share right", anchor="end", size=SMALL)


def _head(key: str, x: float, text: str, size: float = SMALL) -> Part:
    return word(key, x, HEAD, text, anchor="start", size=size, weight=600 if size > SMALL else 400)


def _at(token: int, cell: dict[str, Any]) -> float:
    last = len(cell["weights"]) - 1
    return LAST - (last - token) * (LAST - FIRST) / last
