"""Lesson 12 opens with three shortcuts: what each keeps of a text, and what it misses.

Full attention and each shortcut are seen to look for one book of 32, and for four at once; then
they stand in a plane: what is kept across, and up how often they are right where they are worst.
Its readers were trained as the lesson trains them; `python -m tests.claims.shortcuts` does that
again, and records in `opening.json` what they look at in one text, and how often they are right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, Place, arc, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, OCHRE, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
TESTS = "of 32", "4 at once"  # one book that no window reaches; four facts
FOUND = 0.95  # right so often, it finds
WINDOW, LETTERS = 8, 8  # what a window keeps; letters that may be in a book
TOKENS, HEADS, WIDTH = 4096, 4, 8  # of which a way keeps; heads, and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, HEAD, FEET = 268, 24, 256  # of the sheet; of the lines over the text, and under the plane
FLOOR, MIDDLE = 156, 166  # of arcs, and of tokens
FIRST, LAST = 58, 462  # middles of the tokens, the last of which asks
UNDER = 192  # of the words under them
SHELF, BEAD, GAP = 208, 10, 2  # what is kept: its top; of one token in a head; between heads
LEAST = 0.03  # a weight that is drawn
THICKEST, FLAT = 16, 560  # an arc of weight 1; how far words would reach for arcs as low as these

LEFT, RIGHT = 98, 464  # of the plane: what keeps one of a thousand, and all
TOP, BASE = 54, 231  # always right, and never
FEWEST = 1000


class Way(NamedTuple):
    """A way of attention.

    Attributes:
        name: of it.
        anchor: of its words in the plane, where they stand from its point.
        misses: what it does instead of finding, or that it finds all.
    """

    name: str
    anchor: str
    misses: str


WAYS = {
    "full": Way("full attention", "end", "finds all"),
    "window": Way("window", "start", "guesses what is far"),
    "sum": Way("running sum", "start", "blurs one of 32"),
    "shared": Way("shared keys", "end", "mix up four at once"),
}
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


def worst(cells: Cells) -> float:
    """How often a way is right in the test in which it is worst."""
    return min(float(cells[test]["right"]) for test in TESTS)


def opening() -> Film:
    """The film."""
    known: dict[str, Cells] = json.loads(RECORDED.read_text(encoding="utf-8"))
    told = {
        "full": "Full attention keeps all, looks at each, and finds it.",
        "window": f"A window keeps the last {WINDOW}. What is further off, it guesses: "
        f"one of {LETTERS} letters.",
        "sum": "A running sum keeps one small table. All books are in it, and they blur.",
        "shared": "Heads that share keys and values keep a quarter, and still find the book.",
    }
    says = f"32 books, one of {LETTERS} letters in each. The last dot asks what is in one."
    frames = [Frame([*_scene("full", known["full"]["of 32"]), _question(known, 2)], says)]
    for way, says in told.items():
        cell = known[way]["of 32"]
        parts = [*_scene(way, cell), *_answer(way, cell)]
        frames.append(Frame([_question(known, 0), *parts] if way == "full" else parts, says))
    for way, says in (
        ("full", "Of 8 books, four are asked for at once. Full attention finds them all."),
        ("shared", "Shared keys mix them up: one short key has to answer all four."),
    ):
        cell = known[way]["4 at once"]
        frames.append(Frame([*_scene(way, cell), *_answer(way, cell)], says))
    gathered = [
        dot(f"back {back}", *_point(known, "shared"), 8, BLUE if token in cell["asked"] else INK)
        for token, back in enumerate(reversed(range(len(cell["weights"]))))
    ]
    says = f"Across: what is kept of {TOKENS:,} tokens. Up: how often right, in the worse test."
    frames.append(Frame([*gathered, *_plane(known, ("full", "shared"))], says))
    says = "The other two keep far less, and each loses another kind of finding."
    frames.append(Frame([*gathered, *_plane(known, (*WAYS,))], says))
    says = "Each cheap way loses some kind of finding. None keeps little and finds all."
    frames.append(Frame([*_corner(), *gathered, *_plane(known, (*WAYS,))], says))
    return Film("What each shortcut saves, and what it misses", frames, HIGH)


# A text -------------------------------------------------------------------------------------------


def _at(token: int, tokens: int) -> float:
    return LAST - (tokens - 1 - token) * (LAST - FIRST) / (tokens - 1)


def _scene(way: str, cell: dict[str, Any]) -> list[Part]:
    """A text, and what a way keeps of it."""
    name = WAYS[way].name + (f" of {WINDOW}" if way == "window" else "")
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
    middle = max(_at(asked[0], tokens), FIRST + 24)
    parts.append(word("asked", middle, UNDER, "asked for", BLUE, size=SMALL))
    parts.append(word("asks", LAST + 12, UNDER, "asks", anchor="end", size=SMALL))
    return parts


def _memory(way: str, tokens: int) -> list[Part]:
    """What is kept: a row for each head, a bead for each token; the sum's melt into its table."""
    pitch = (LAST - FIRST) / (tokens - 1)
    held = {"window": WINDOW, "sum": TABLE}.get(way, tokens)
    right: float = LAST
    if way == "sum":
        right -= (LAST - FIRST - (held - 1) * pitch) / 2
    step = pitch * (held - 1) / (tokens - 1) if way == "sum" else pitch
    left = right - (held - 1) * pitch - 0.3  # a bead at a line's very end is not drawn
    parts = [word("kept", 4, SHELF + 29, "kept", PURPLE, "start", SMALL)]
    for head in range(HEADS):
        y = SHELF + BEAD / 2 + (1.5 if way == "shared" else head) * (BEAD + GAP)
        ends = [(right, y), (left, y)]
        parts.append(line(f"head {head}", ends, PURPLE, BEAD, 1, f"0 {step:.3f}"))
    return parts


def _answer(way: str, cell: dict[str, Any]) -> list[Part]:
    """What the last token looks at, and how often it is right."""
    weights, asked = cell["weights"], cell["asked"]
    last = len(weights) - 1
    finds = cell["right"] >= FOUND
    says = f"right {_of_100(cell['right'])} times of 100"
    colour = BLUE if finds else ORANGE
    out = [word("out", (FIRST + LAST) / 2 - 60, FLOOR - 24, "out of reach", GREY, size=24)]
    return [
        *(out if way == "window" else []),
        word("right", 476, HEAD, says, colour, "end", SIZE, 600),
        *(
            arc(
                f"look {last - m}",
                _at(last, last + 1),
                _at(m, last + 1),
                FLOOR,
                weight,
                BLUE if m in asked else ORANGE,
                1.4,
                FLAT,
                thickest=THICKEST,
            )
            for m, weight in enumerate(weights)
            if weight >= LEAST and m != last
        ),
    ]


def _of_100(share: float) -> str:
    return f"{100 * share:.0f}"


# The plane ----------------------------------------------------------------------------------------


def _across(share: float) -> float:
    """Where a share of what full attention keeps stands, ten times less as far left each time."""
    return RIGHT + (RIGHT - LEFT) * math.log(share) / math.log(FEWEST)


def _up(right: float) -> float:
    return BASE + (TOP - BASE) * right


def _point(known: dict[str, Cells], way: str) -> Place:
    numbers = kept()
    return _across(numbers[way] / numbers["full"]), _up(worst(known[way]))


def _plane(known: dict[str, Cells], ways: Sequence[str]) -> list[Part]:
    """Both axes, of which what is kept becomes the lower one, and ways at their places."""
    left, right = LEFT - 14, RIGHT + 10
    parts = [
        word("up says", 4, HEAD - 2, "right of 100", anchor="start", size=SMALL, weight=600),
        *(
            word(f"of 100 {n}", left - 10, _up(n / 100) + 6, f"{n}", anchor="end", size=SMALL)
            for n in (50, 100)
        ),
        *(
            line(f"level {n}", [(left - 5, _up(n / 100)), (left, _up(n / 100))], INK, 2)
            for n in (50, 100)
        ),
        line("up", [(left, BASE), (left, TOP - 12)], INK, 2),
        *(
            line(f"head {n}", [(right, BASE), (left, BASE)], PURPLE, 3, 1, "9 0")
            for n in range(HEADS)
        ),
        word("kept", 4, FEET - 2, "kept", PURPLE, "start", SMALL),
        *(
            word(
                f"keeps {n}",
                _across(1 / n) - 3,
                FEET - 2,
                "all" if n == 1 else f"1/{n}",
                PURPLE,
                size=SMALL,
            )
            for n in (1, 10, 100, FEWEST)
        ),
        *(
            line(f"tick {n}", [(_across(1 / n), BASE), (_across(1 / n), BASE + 7)], PURPLE, 2)
            for n in (1, 10, 100, FEWEST)
        ),
    ]
    for way in ways:
        (x, y), (name, anchor, misses) = _point(known, way), WAYS[way]
        colour = BLUE if way == "full" else ORANGE
        aside = x + (17 if anchor == "start" else -17)
        says = f"{_of_100(worst(known[way]))}: {misses}"
        parts += [
            dot(f"point {way}", x, y, 10, colour),
            word(f"name {way}", aside, y - 5, name, colour, anchor, SIZE, 600),
            word(f"misses {way}", aside, y + 14, says, INK, anchor, SMALL),
        ]
    return parts


def _corner() -> list[Part]:
    """Where a way would stand that keeps little and finds all."""
    left, top, wide, high = LEFT - 12, TOP - 12, 128, 60
    return [
        box("wanted", (left, top), (wide, high), OCHRE, 0.3, 2),
        word("none", left + wide / 2, top + high / 2 + 7, "nothing here", size=SMALL, weight=600),
    ]
