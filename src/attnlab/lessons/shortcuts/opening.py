"""Lesson 12 opens with three shortcuts: what each keeps of a text, and what it still finds in it.

Full attention and each shortcut are seen to look for one book of 32; then they stand in a plane:
what is kept across, what is found up. Its readers were trained as the lesson trains them;
`python -m tests.claims.shortcuts` does that again, and records in `opening.json` what they look at
in one text, and how often they are right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, arc, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
TESTS = {"near": "one near", "far": "one far", "of 32": "one of 32", "4 at once": "four at once"}
FOUND = 0.95  # right so often, it finds
WINDOW = 8
TOKENS, HEADS, WIDTH = 4096, 4, 8  # of which a way keeps; heads, and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, HEAD, FEET = 266, 24, 262  # of the sheet; of the lines over the text and under it
FLOOR, MIDDLE = 158, 168  # of arcs, and of tokens
FIRST, LAST = 58, 462  # middles of the tokens, the last of which asks
SHELF, BEAD, GAP = 188, 10, 2  # what is kept: its top; of one token in a head; between heads
LEAST = 0.03  # a weight that is drawn
THICKEST, FLAT = 16, 560  # an arc of weight 1; how far words would reach for arcs as low as these

LEFT, RIGHT = 142, 464  # of the plane: what keeps one of a thousand, and all
TOP, TEST = 50, 50  # of four at once, and from a test to the next
BASE = TOP + TEST * len(TESTS) - 22  # its floor
FEWEST = 1000


class Way(NamedTuple):
    """A way of attention: its name, and of its name in the plane where it stands from its point."""

    name: str
    anchor: str


WAYS = {
    "full": Way("full attention", "end"),
    "window": Way("window", "start"),
    "sum": Way("running sum", "start"),
    "shared": Way("shared keys", "end"),
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


def passed(cells: Cells) -> int:
    """How many tests a way passes, up to the first that it does not."""
    right = [cells[test]["right"] >= FOUND for test in TESTS]
    return [*right, False].index(False)


def opening() -> Film:
    """The film."""
    known: dict[str, Cells] = json.loads(RECORDED.read_text(encoding="utf-8"))
    told = {
        "full": "It looks at each of them, and finds the one.",
        "window": f"A window keeps the last {WINDOW}. The book is out of reach, so it guesses.",
        "sum": "A running sum keeps one small table. All books are in it, and they blur.",
        "shared": "Heads that share keys and values keep a quarter, and still find the book.",
    }
    says = "The last token asks for one book of 32. Full attention keeps them all."
    frames = [Frame([*_scene("full", known["full"]["of 32"]), _question(known, 2)], says)]
    for way, says in told.items():
        cell = known[way]["of 32"]
        parts = [*_scene(way, cell), *_answer(way, cell)]
        frames.append(Frame([_question(known, 0), *parts] if way == "full" else parts, says))
    cell = known["shared"]["4 at once"]
    says = "Asked for four at once, they mix them up. Full attention finds all four."
    frames.append(Frame([*_scene("shared", cell), *_answer("shared", cell)], says))
    says = f"Up: what a way still finds. Across: what it keeps of {TOKENS:,} tokens."
    gathered = [
        dot(f"back {back}", _across(1), _up(len(TESTS)), 6, BLUE if token in cell["asked"] else INK)
        for token, back in enumerate(reversed(range(1, len(cell["weights"]))))
    ]
    frames.append(Frame([*gathered, *_plane(known, ())], says))
    landed: tuple[str, ...] = ()
    for way, says in (
        ("shared", "Shared keys keep a quarter, and miss four at once."),
        ("sum", "The running sum keeps far less, and misses one of 32 as well."),
        ("window", "The window finds only what is near."),
    ):
        landed = (*landed, way)
        frames.append(Frame(_plane(known, landed), says))
    says = "Each shortcut saves and misses something. The best corner is empty."
    frames.append(Frame([*_plane(known, landed), *_corner()], says))
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
    middle = sum(_at(token, tokens) for token in asked[:2]) / len(asked[:2])
    parts.append(word("asked", middle, FEET, "asked for", BLUE, size=SMALL))
    parts.append(word("asks", LAST + 12, FEET, "asks", anchor="end", size=SMALL))
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
    parts = [word("kept", 4, SHELF + 26, "kept", PURPLE, "start", SMALL)]
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
    says = f"right {100 * cell['right']:.0f} times of 100"
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


# The plane ----------------------------------------------------------------------------------------


def _across(share: float) -> float:
    """Where a share of what full attention keeps stands, ten times less as far left each time."""
    return RIGHT + (RIGHT - LEFT) * math.log(share) / math.log(FEWEST)


def _up(tests: int) -> float:
    return TOP + (len(TESTS) - tests) * TEST


def _plane(known: dict[str, Cells], landed: Sequence[str]) -> list[Part]:
    """Both axes, and the ways at their places, or still at that of full attention."""
    parts = [
        word("finds", 4, HEAD, "still finds", anchor="start", size=SMALL, weight=600),
        *(
            word(f"test {test}", LEFT - 22, _up(n + 1) + 6, name, anchor="end", size=SMALL)
            for n, (test, name) in enumerate(TESTS.items())
        ),
        *(
            line(f"level {n}", [(LEFT - 12, _up(n)), (RIGHT + 8, _up(n))], GREY, 1, 0.4)
            for n in range(1, len(TESTS) + 1)
        ),
        line("across", [(LEFT - 12, BASE), (RIGHT + 8, BASE)], INK, 2),
        line("up", [(LEFT - 12, BASE), (LEFT - 12, TOP - 20)], INK, 2),
        word("keeps", 4, FEET - 8, "keeps", anchor="start", size=SMALL, weight=600),
        *(
            word(
                f"keeps {n}",
                _across(1 / n) - 3,
                FEET - 8,
                "all" if n == 1 else f"1/{n}",
                size=SMALL,
            )
            for n in (1, 10, 100, FEWEST)
        ),
        *(
            line(f"tick {n}", [(_across(1 / n), BASE), (_across(1 / n), BASE + 6)], INK, 2)
            for n in (1, 10, 100, FEWEST)
        ),
    ]
    numbers = kept()
    for way, (name, anchor) in reversed([*WAYS.items()]):
        there = way == "full" or way in landed
        share = numbers[way] / numbers["full"] if there else 1
        x, y = _across(share), _up(passed(known[way]) if there else len(TESTS))
        colour = BLUE if way == "full" else ORANGE
        parts.append(line(f"stem {way}", [(x, BASE), (x, y)], colour, 4, 0.4 * there))
        point = "back 0" if way == "full" else f"point {way}"  # the token that asks
        parts.append(dot(point, x, y, 10, colour, float(there)))
        if there:
            aside = 18 if anchor == "start" else -18
            says = name if way == "full" else f"{name} 1/{1 / share:.0f}"
            parts.append(word(f"name {way}", x + aside, y - 8, says, colour, anchor, SIZE, 600))
    return parts


def _corner() -> list[Part]:
    """Where a way would stand that keeps little and finds all."""
    x, y = _across(1 / FEWEST) + 6, _up(len(TESTS))
    turns = [2 * math.pi * n / 24 for n in range(25)]
    ring = [(x + 13 * math.cos(turn), y + 13 * math.sin(turn)) for turn in turns]
    return [
        line("wanted", ring, GREY, 2.5, 1, "2 6"),
        word("none", x + 22, y - 8, "none here", GREY, "start", SIZE, 600),
    ]
