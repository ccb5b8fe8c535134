"""Lesson 12 opens with three shortcuts: what each keeps of a text, and what it misses.

Full attention and each shortcut are seen to look for one book of 32, and for four at once; then
they stand in a plane: what is kept across, and up how often they are right where they are worst.
Its readers were trained as the lesson trains them; `python -m tests.claims.shortcuts` does that
again, and records in `opening.json` what they look at in one text, and how often they are right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, Place, arc, curve, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
TESTS = "of 32", "4 at once"  # one book that no window reaches; four facts
FOUND = 0.95  # right so often, it finds
WINDOW, LETTERS = 8, 8  # what a window keeps; letters that may be in a book
TOKENS, HEADS, WIDTH = 4096, 4, 8  # of which a way keeps; heads, and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, HEAD, FEET = 268, 24, 256  # of the sheet; of the lines over the text, and under the plane
FLOOR, MIDDLE = 156, 166  # of arcs, and of tokens
FIRST, LAST = 86, 462  # middles of the tokens, the last of which asks
UNDER = 192  # of the words under them
LIFTED, OVER = 76, 58  # of tokens that go into a table, and of the words over them
SHELF, BEAD, GAP = 208, 10, 2  # what is kept: its top; of one token in a head; between heads
LEAST = 0.03  # a weight that is drawn
THICKEST, READS = 16, 9  # an arc of weight 1; what is read from a table
FLAT, NEAR = 560, 300  # how far words would reach for arcs as low as these; as a window's

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
        "sum": "All books are added into one small table a head, and they blur there.",
        "shared": "Heads that share keys and values keep a quarter, and still find the book.",
    }
    says = f"32 books, one of {LETTERS} letters in each. The last dot asks what is in one."
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
    scene = [*_scene("shared", cell), *_answer("shared", cell)]
    gathered = _gathered(known)
    points = {way: _dot(way, *_point(known, way)) for way in WAYS}
    there = {part.key for part in scene}
    axes = _unseen(part for part in _axes() if part.key not in there)
    says = "Shared keys mix them up: one short key has to answer all four."
    frames.append(Frame([*axes, *scene, *_unseen([points["full"], points["shared"]])], says))
    low = _unseen(_dot(way, _point(known, way)[0], BASE) for way in ("window", "sum"))
    says = f"Up: right in its harder test (32 or 8 books). Across: kept, if there were {TOKENS:,}."
    parts = [*_axes(), *gathered, points["full"], points["shared"], *low]
    frames.append(Frame([*parts, *_names(known, ("full", "shared"))], says))
    parts = [*_axes(), *gathered, *points.values(), *_names(known, (*WAYS,))]
    says = "The other two keep far less, and each loses another kind of finding."
    frames.append(Frame(parts, says))
    says = "Of these three, none keeps little and finds all."
    frames.append(Frame([*_corner(), *parts], says))
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
    lifted = way == "sum"
    middle, words = (LIFTED, OVER) if lifted else (MIDDLE, UNDER)
    thick, thin = (10, 7) if tokens < 2 * WINDOW else (8, 4.5)
    parts = []
    for back in range(tokens):
        token = tokens - 1 - back
        big = token in asked or not back
        pale = 0.25 if way == "window" and back >= WINDOW else 1
        colour = BLUE if token in asked else INK
        parts.append(
            dot(f"back {back}", _at(token, tokens), middle, thick if big else thin, colour, pale)
        )
    where = " over" if lifted else ""  # they do not cross the tokens
    at = _at(asked[0], tokens)
    parts.append(word(f"asked{where}", at, words, "asked for", BLUE, size=SMALL))
    parts.append(word(f"asks{where}", LAST + 12, words, "asks", anchor="end", size=SMALL))
    return parts


def _memory(way: str, tokens: int) -> list[Part]:
    """What is kept: a row for each head, a bead for each token; the sum's melt into its table."""
    left, right = _shelf(way, tokens)
    held = {"window": WINDOW, "sum": TABLE}.get(way, tokens)
    step = (right - left) / (tokens - 1 if way == "sum" else held - 1)
    aside = left - 90 if way == "sum" else 4
    parts = [
        word("kept", aside, SHELF + 18, "kept", PURPLE, "start", SMALL),
        word("heads", aside, SHELF + 40, f"{HEADS} heads", PURPLE, "start", SMALL),
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
    top = (LIFTED if summed else MIDDLE) + 9
    parts = []
    for m in range(tokens - 1):
        into = left + (right - left) * m / (tokens - 1)
        colour, thick, pale = (BLUE, 3, 0.9) if m in asked else (PURPLE, 1.5, 0.5)
        ends = (_at(m, tokens), top), (into, SHELF - 2)
        parts.append(curve(f"stem {m}", *ends, colour, thick, pale, True))
    return parts


def _read(tokens: int) -> Part:
    """From the sum's table up to the last token, which reads the table alone."""
    x, low, top = _shelf("sum", tokens)[1] + BEAD, SHELF + 2 * BEAD + 1.5 * GAP, LIFTED + 13
    turns = [math.pi / 2 * n / 24 for n in range(25)]
    bow = [(x + (LAST - x) * math.sin(t), top + (low - top) * math.cos(t)) for t in turns]
    return line("reads", bow, ORANGE, READS, 0.85)


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


def _unseen(parts: Iterable[Part]) -> list[Part]:
    """Parts that come, or go, all along a move, and not in its last or first part only."""
    return [part._replace(look={**part.look, "opacity": 0}) for part in parts]


def _gathered(known: dict[str, Cells]) -> list[Part]:
    """The last text's tokens and arcs, all in the point of its way."""
    (x, y), cell = _point(known, "shared"), known["shared"]["4 at once"]
    last = len(cell["weights"]) - 1
    return [
        *(
            part._replace(look={**arc(part.key, x, x, y, 0).look, "opacity": 0})
            for part in _answer("shared", cell)
            if part.key.startswith("look")
        ),
        *(
            dot(f"back {last - m}", x, y, 8, BLUE if m in cell["asked"] else INK)
            for m in range(last + 1)
        ),
    ]


def _axes() -> list[Part]:
    """Both axes, of which what is kept becomes the lower one, and a way's name the upper one's."""
    left, right = LEFT - 14, RIGHT + 10
    return [
        word("way", 4, HEAD - 2, "right of 100", anchor="start", size=SMALL, weight=600),
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


def _dot(way: str, x: float, y: float, r: float = 10) -> Part:
    return dot(f"point {way}", x, y, r, BLUE if way == "full" else ORANGE)


def _names(known: dict[str, Cells], ways: Sequence[str]) -> list[Part]:
    """What is said of ways beside their points."""
    parts = []
    for way in ways:
        (x, y), (name, anchor, misses) = _point(known, way), WAYS[way]
        colour = BLUE if way == "full" else ORANGE
        aside = x + (17 if anchor == "start" else -17)
        says = f"{_of_100(worst(known[way]))}: {misses}"
        parts += [
            word(f"name {way}", aside, y - 5, name, colour, anchor, SIZE, 600),
            word(f"misses {way}", aside, y + 14, says, INK, anchor, SMALL),
        ]
    return parts


def _corner() -> list[Part]:
    """Where a way would stand that keeps little and finds all."""
    left, top, wide, high = LEFT - 6, TOP - 8, 148, 52
    right, low = left + wide, top + high
    corners = [(left, top), (right, top), (right, low), (left, low), (left, top)]
    says = "none of these"
    return [
        line("wanted", corners, GREY, 2, dashes="6 6"),
        word("none", left + wide / 2, top + high / 2 + 6, says, GREY, size=SMALL, weight=600),
    ]
