"""Lesson 12 opens with three shortcuts: what each keeps of a text, and what it misses.

Full attention and each shortcut are seen to look for one book of 32, and for four at once; then a
table has a row for each: a bar of what it keeps of 32 books, and how often it is right.
Its readers were trained as the lesson trains them; `python -m tests.claims.shortcuts` does that
again, and records in `opening.json` what they look at in one text, and how often they are right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    SIZE,
    SMALL,
    Part,
    Place,
    arc,
    box,
    curve,
    dot,
    line,
    word,
)
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
TESTS = "of 32", "4 at once"  # one book that no window reaches; four facts
FOUND = 0.95  # right so often, it finds
WINDOW, LETTERS = 8, 8  # what a window keeps; letters that may be in a book
BOOKS, HEADS, WIDTH = 32, 4, 8  # of the first test; heads, and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, HEAD = 268, 24  # of the sheet; of the line over the text
FLOOR, MIDDLE = 136, 146  # of arcs, and of tokens
FIRST, LAST = 86, 462  # middles of the tokens, the last of which asks
UNDER, OVER = 172, 128  # of the words under them, and over those that go into a table
SHELF, BEAD, GAP = 216, 10, 2  # what is kept: its top; of one token in a head; between heads
LEAST = 0.03  # a weight that is drawn
THICKEST, READS = 16, 9  # an arc of weight 1; what is read from a table
FLAT, NEAR = 620, 300  # how far words would reach for arcs as low as these; as a window's

ROW, PITCH = 80, 52  # of the table: middle of its first row; from row to row
LEFT, LONGEST, THICK = 152, 118, 34  # of bars
COLUMNS = {"of 32": (326, "one far", "of 32"), "4 at once": (426, "four at", "once of 8")}

WAYS = {
    "full": "full attention",
    "shared": "shared keys",
    "sum": "running sum",
    "window": "window",
}
Cells = dict[str, dict[str, Any]]  # a way's, by test


def kept(tokens: int = BOOKS + 1) -> dict[str, int]:
    """How many numbers each way keeps of so many tokens, as the lesson counts them."""
    full = 2 * HEADS * WIDTH * tokens  # keys and values
    return {
        "full": full,
        "shared": full // HEADS,
        "sum": HEADS * (WIDTH * WIDTH + WIDTH),
        "window": full * WINDOW // tokens,
    }


def opening() -> Film:
    """The film."""
    known: dict[str, Cells] = json.loads(RECORDED.read_text(encoding="utf-8"))
    told = {
        "full": "Full attention keeps all, looks at each, and finds it.",
        "window": f"A window keeps the last {WINDOW}. What is further off, it guesses: "
        f"one of {LETTERS} letters.",
        "sum": "All books are added into one small table a head, and they blur there.",
        "shared": "Heads that share keys and values keep a quarter, and still find the book.",
    }
    says = f"{BOOKS} dots are books, each with one of {LETTERS} letters. The last asks for one."
    frames = [Frame([*_scene("full", known["full"]["of 32"]), _question(known, 2)], says)]
    for way, says in told.items():
        cell = known[way]["of 32"]
        parts = [*_scene(way, cell), *_answer(way, cell)]
        asks = {"full": [_question(known, 0)], "window": [_question(known, 2)]}.get(way, [])
        stems = _unseen(_stems(cell)) if way in ("window", "shared") else []  # beside the sum
        frames.append(Frame([*asks, *stems, *parts], says))
    cell = known["full"]["4 at once"]
    says = "Of 8 books, four are asked for at once. Full attention finds them all."
    frames.append(Frame([*_scene("full", cell), *_answer("full", cell)], says))
    cell = known["shared"]["4 at once"]
    says = "Shared keys mix them up: one short key has to answer all four."
    rows = [_row(n, way, known[way]) for n, way in enumerate(WAYS)]
    coming = [*_unseen(_columns()), *_below(rows[0])]
    frames.append(Frame([*_scene("shared", cell), *_answer("shared", cell), *coming], says))
    told = {
        "full": "What is kept of 32 books, and how often the answer is right.",
        "shared": "Shared keys keep a quarter: they find one book, and mix up four.",
        "sum": "A running sum keeps least, in which many books blur.",
        "window": "No shortcut keeps little and finds all here. The window sees 7 of 8 books.",
    }
    for n, says in enumerate(told.values()):
        coming = [part for row in rows[n + 1 : n + 2] for part in _below(row)]
        landed = [part for row in rows[: n + 1] for part in row]
        frames.append(Frame([*_columns(), *landed, *coming], says))
    return Film("What each shortcut saves, and what it misses", frames, HIGH)


# A text -------------------------------------------------------------------------------------------


def _at(token: int, tokens: int) -> float:
    return LAST - (tokens - 1 - token) * (LAST - FIRST) / (tokens - 1)


def _scene(way: str, cell: dict[str, Any]) -> list[Part]:
    """A text, and what a way keeps of it."""
    name = WAYS[way] + (f" of {WINDOW}" if way == "window" else "")
    return [
        word("way", 4, HEAD, name, anchor="start", size=24, weight=600),
        *_text(way, cell),
        *_memory(way, len(cell["weights"])),
    ]


def _question(known: dict[str, Cells], opacity: float) -> Part:
    """An arc that asks only, for the book that full attention then finds."""
    cell = known["full"]["of 32"]
    last = len(cell["weights"]) - 1
    [asked] = cell["asked"]
    ends = _at(last, last + 1), _at(asked, last + 1)
    return arc("question", *ends, FLOOR, 0.2, BLUE, opacity, FLAT, dashes="2 9", thickest=THICKEST)


def _text(way: str, cell: dict[str, Any]) -> list[Part]:
    """Tokens, counted from the one that asks; those out of reach are pale."""
    tokens, asked = len(cell["weights"]), cell["asked"]
    words, where = (OVER, " over") if way == "sum" else (UNDER, "")  # no stem crosses them
    thick, thin = (10, 7) if tokens < 2 * WINDOW else (8, 4.5)
    parts = []
    for back in range(tokens):
        token = tokens - 1 - back
        big = token in asked or not back
        pale = 0.25 if way == "window" and back >= WINDOW else 1
        colour = BLUE if token in asked else INK
        parts.append(
            dot(f"back {back}", _at(token, tokens), MIDDLE, thick if big else thin, colour, pale)
        )
    at = _at(asked[0], tokens)
    parts.append(word(f"asked{where}", at, words, "asked for", BLUE, size=SMALL))
    parts.append(word(f"asks{where}", LAST + 12, words, "asks", anchor="end", size=SMALL))
    return parts


def _memory(way: str, tokens: int) -> list[Part]:
    """What is kept: a row for each head, a bead for each token; the sum's melt into its table."""
    left, right = _shelf(way, tokens)
    held = {"window": WINDOW, "sum": TABLE}.get(way, tokens)
    step = (right - left) / (tokens - 1 if way == "sum" else held - 1)
    parts = [
        word("kept", 4, SHELF + 18, "kept", PURPLE, "start", SMALL),
        word("heads", 4, SHELF + 40, f"{HEADS} heads", PURPLE, "start", SMALL),
    ]
    for head in range(HEADS):
        y = SHELF + BEAD / 2 + (1.5 if way == "shared" else head) * (BEAD + GAP)
        ends = [(right, y), (left - 0.3, y)]  # a bead at a line's very end is not drawn
        parts.append(line(f"head {head}", ends, PURPLE, BEAD, 1, f"0 {step:.3f}"))
    return parts


def _shelf(way: str, tokens: int) -> Place:
    """Where the middles of the first and the last bead of a row are."""
    pitch = (LAST - FIRST) / (tokens - 1)
    if way == "sum":
        aside = (TABLE - 1) * pitch / 2
        return (FIRST + LAST) / 2 - aside, (FIRST + LAST) / 2 + aside
    return LAST - ((WINDOW if way == "window" else tokens) - 1) * pitch, LAST


def _answer(way: str, cell: dict[str, Any]) -> list[Part]:
    """What the last token looks at, and how often it is right."""
    weights, asked = cell["weights"], cell["asked"]
    last = len(weights) - 1
    finds = cell["right"] >= FOUND
    says = f"right {_of_100(cell['right'])} times of 100"
    colour = BLUE if finds else ORANGE
    right = word("right", 476, HEAD, says, colour, "end", SIZE, 600)
    if way == "sum":
        return [right, *_stems(cell, True), _read(last + 1)]
    middle = (_at(asked[0], last + 1) + _at(last - WINDOW, last + 1)) / 2
    out = word("out", middle, FLOOR - 16, "out of reach", GREY, size=26, weight=600)
    return [
        *([out] if way == "window" else []),
        right,
        *(
            arc(
                f"look {last - m}",
                _at(last, last + 1),
                _at(m, last + 1),
                FLOOR,
                weight,
                BLUE if m in asked else ORANGE,
                1.4,
                NEAR if way == "window" else FLAT,
                thickest=THICKEST,
            )
            for m, weight in enumerate(weights)
            if weight >= LEAST and m != last
        ),
    ]


def _stems(cell: dict[str, Any], summed: bool = False) -> list[Part]:
    """From each book down to what is kept of it: its own beads, or the sum's one table."""
    tokens, asked = len(cell["weights"]), cell["asked"]
    left, right = _shelf("sum", tokens) if summed else (FIRST, LAST)
    top = MIDDLE + 9
    parts = []
    for m in range(tokens - 1):
        into = left + (right - left) * m / (tokens - 1)
        colour, thick, pale = (BLUE, 3, 0.9) if m in asked else (PURPLE, 1.5, 0.5)
        ends = (_at(m, tokens), top), (into, SHELF - 2)
        parts.append(curve(f"stem {m}", *ends, colour, thick, pale, True))
    return parts


def _read(tokens: int) -> Part:
    """From the sum's table up to the last token, which reads the table alone."""
    x, low, top = _shelf("sum", tokens)[1] + BEAD, SHELF + 2 * BEAD + 1.5 * GAP, MIDDLE + 13
    turns = [math.pi / 2 * n / 24 for n in range(25)]
    bow = [(x + (LAST - x) * math.sin(t), top + (low - top) * math.cos(t)) for t in turns]
    return line("reads", bow, ORANGE, READS, 0.85)


def _of_100(share: float) -> str:
    return f"{100 * share:.0f}"


def _unseen(parts: Sequence[Part]) -> list[Part]:
    """Parts that come, or go, all along a move, and not in its last or first part only."""
    return [part._replace(look={**part.look, "opacity": 0}) for part in parts]


# The table ----------------------------------------------------------------------------------------


def _columns() -> list[Part]:
    """What each column has."""
    heads = {"keeps": (LEFT, "kept", f"of {BOOKS} books"), **COLUMNS}
    return [
        word(
            f"{column} {n}",
            x,
            18 + 21 * n,
            says,
            PURPLE if column == "keeps" else INK,
            "start" if column == "keeps" else "middle",
            SMALL,
            600,
        )
        for column, (x, *lines) in heads.items()
        for n, says in enumerate(lines)
    ]


def _row(n: int, way: str, cells: Cells) -> list[Part]:
    """What a way keeps, as long as that is, beside all; and how often it is right in each test."""
    numbers, y = kept(), ROW + PITCH * n
    corner = LEFT, y - THICK / 2
    parts = [
        word(f"name {way}", 4, y + 7, WAYS[way], anchor="start", size=SMALL, weight=600),
        box(f"all {way}", corner, (LONGEST, THICK), PURPLE, opacity=0.14),
        box(
            f"bar {way}",
            corner,
            (LONGEST * numbers[way] / numbers["full"], THICK),
            PURPLE,
        ),
    ]
    for test, (x, *_) in COLUMNS.items():
        right = cells[test]["right"]
        colour = BLUE if right >= FOUND else ORANGE
        says = f"{_of_100(right)}%"
        parts.append(word(f"{test} {way}", x, y + 12, says, colour, size=30, weight=700))
    return parts


def _below(row: Sequence[Part]) -> list[Part]:
    """A row that is not seen yet, a little lower."""
    return _unseen(
        [part._replace(look={**part.look, "y": float(part.look["y"]) + PITCH / 2}) for part in row]
    )
