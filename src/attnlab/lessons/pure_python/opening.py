"""Lesson 02 opens with one query that meets each key, until its row of Z is full."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, arc, box, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

# The lesson's: what "cat" asks, and what each word promises and passes on.
TOKENS = ("the", "cat", "sat")
QUERY = (1, 2, 0)
KEYS = ((1, 0, 1), (0, 1, 0), (2, 2, 1))
VALUES = ((1, 0), (0, 2), (3, 1))
ASKS = 1  # the word that does

HIGH = 270
COLOURS = (PURPLE, ORANGE, BLUE)
MIDDLES = (122, 258, 394)
CELL, TALL = 34, 26
NAMES = 58  # where the rows' names end
FLOOR, WORDS = 50, 72  # where arcs begin; the words' line
KEY, ASKED, NUMBER = 82, 112, 166  # tops of the cells; the line of scores and shares
UNIT, BAR, STEP = 28, 16, 19  # px for an entry of 1; how tall its bar is; from bar to bar
VALUE, OUT = 180, 230  # tops of the first bars, of values and of Z


def opening() -> Film:
    """The film."""
    scores = [sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS]
    asked = [_asked(m, scores) for m in range(len(TOKENS))]
    frames = [_begins(), *asked, *_shares(scores), *_fills(scores)]
    return Film("How much does “cat” hear of each word?", frames, HIGH)


def weights(scores: Sequence[float]) -> list[float]:
    """(3,), softmax of the scores divided by √3."""
    powers = [math.exp(score / math.sqrt(len(QUERY))) for score in scores]
    return [power / sum(powers) for power in powers]


def _begins() -> Frame:
    parts = [*_stage(), *_arcs([0.1] * len(TOKENS), GREY), *_numbers(["?"] * 3, "score")]
    parts += [*_query(MIDDLES[ASKS]), *_values(), *_room()]
    return Frame(parts, "Each word has a key and a value. “cat” asks them all with its query.")


def _asked(m: int, scores: Sequence[int]) -> Frame:
    products = [f"{q} · {k}" for q, k in zip(QUERY, KEYS[m], strict=True)]
    parts = [*_stage(), *_arcs([score / 8 for score in scores[: m + 1]])]
    known = [f"{score}" if at <= m else "?" for at, score in enumerate(scores)]
    parts += _numbers(known, "score")
    parts += [*_query(MIDDLES[m]), *_values(), *_room()]
    whose = "its own key" if m == ASKS else f"the key of “{TOKENS[m]}”"
    return Frame(parts, f"Beside {whose}: {' + '.join(products)} = {scores[m]}.")


def _shares(scores: Sequence[int]) -> list[Frame]:
    """The scores, scaled; and what softmax makes of them."""
    scaled = [score / math.sqrt(len(QUERY)) for score in scores]
    shares = weights(scores)
    best = max(range(len(TOKENS)), key=lambda m: shares[m])
    rest = [*_stage(), *_query(MIDDLES[ASKS]), *_values(), *_room()]
    return [
        Frame(
            [
                *rest,
                *_arcs([s / 8 for s in scaled]),
                *_numbers([f"{s:.1f}" for s in scaled], "÷ √3"),
            ],
            "Each score is divided by √3, the root of the keys' width.",
        ),
        Frame(
            [*rest, *_arcs(shares), *_numbers([f"{share:.3f}" for share in shares], "share")],
            f"Softmax makes shares of them, which add up to 1: “{TOKENS[best]}” gets "
            f"{shares[best]:.3f}.",
        ),
    ]


def _fills(scores: Sequence[int]) -> list[Frame]:
    """As much of the values as is read, and the sum."""
    shares = weights(scores)
    over = [*_stage(), *_query(MIDDLES[ASKS]), *_arcs(shares)]
    over += _numbers([f"{share:.3f}" for share in shares], "share")
    read = [*over, *_values(shares), *_room()]
    poured = [*over, *_room(""), *_values(shares, poured=True)]
    for e in range(2):
        total = sum(share * value[e] for share, value in zip(shares, VALUES, strict=True))
        poured.append(_at_end(f"z {e}", _left(ASKS), total, OUT + e * STEP, f"{total:.2f}", 700))
    return [
        Frame(read, "A share says how much of the value is read."),
        Frame(
            poured,
            "Added up, entry by entry, they are a row of Z: what “cat” has heard, mostly of “sat”.",
        ),
    ]


def _stage() -> list[Part]:
    """The words, their keys, and what each row is called."""
    parts = [
        word(f"word {m}", MIDDLES[m], WORDS, token, COLOURS[m], size=24, weight=600)
        for m, token in enumerate(TOKENS)
    ]
    for m, key in enumerate(KEYS):
        parts += _cells(f"key {m}", MIDDLES[m], KEY, key, COLOURS[m], 0.12)
    return [*parts, _name("key", KEY + 19), _name("query", ASKED + 19)]


def _name(name: str, below: float, key: str = "") -> Part:
    """Of a row, at its left."""
    return word(f"name of {key or name}", NAMES, below, name, GREY, "end", SMALL)


def _arcs(shares: Sequence[float], colour: Colour | None = None) -> list[Part]:
    """From the word that asks, as thick as these say."""
    return [
        arc(f"arc {m}", MIDDLES[ASKS], MIDDLES[m], FLOOR, share, colour or COLOURS[m], 1, 720)
        for m, share in enumerate(shares)
    ]


def _query(middle: float) -> list[Part]:
    return _cells("query", middle, ASKED, QUERY, COLOURS[ASKS], 0.3)


def _cells(
    key: str, middle: float, top: float, numbers: Sequence[int], colour: Colour, filled: float
) -> list[Part]:
    parts = []
    for c, number in enumerate(numbers):
        left = middle + CELL * (c - len(numbers) / 2)
        parts += [
            box(f"{key} box {c}", (left, top), (CELL, TALL), colour, filled, 1.5),
            word(f"{key} {c}", left + CELL / 2, top + 20, f"{number}"),
        ]
    return parts


def _left(m: int) -> float:
    """Of a word's column."""
    return MIDDLES[m] - CELL * len(QUERY) / 2


def _numbers(texts: Sequence[str], name: str) -> list[Part]:
    """A row of them, and what they are."""
    return [
        _name(name, NUMBER, "numbers"),
        *(
            word(f"number {m}", MIDDLES[m], NUMBER, each, size=24, weight=600)
            for m, each in enumerate(texts)
        ),
    ]


def _values(shares: Sequence[float] = (1, 1, 1), poured: bool = False) -> list[Part]:
    """Two numbers of each word, drawn as bars; of them a share is read, and poured into Z."""
    parts = [_name("value" if min(shares) == 1 else "read", VALUE + 25, "values")]
    right = [_left(ASKS)] * 2
    for m, (share, value) in enumerate(zip(shares, VALUES, strict=True)):
        for e, number in enumerate(value):
            top = VALUE + e * STEP
            place = (right[e], OUT + e * STEP) if poured else (_left(m), top)
            text = f"{share * number:.2f}" if share < 1 and number else f"{number}"
            parts += [
                _bar(f"all {m} {e}", m, number, (_left(m), top), 1 if share == 1 else 0.25),
                _bar(f"part {m} {e}", m, share * number, place),
                _at_end(f"value {m} {e}", _left(m), number, top, text),
            ]
            right[e] += UNIT * share * number
    return parts


def _room(text: str = "?") -> list[Part]:
    """For a row of Z, which is empty at first."""
    left, middle = _left(ASKS), OUT + 25
    return [
        word("name of z", NAMES, middle, "Z", COLOURS[ASKS], "end", 24, 700),
        box("room", (left - 5, OUT - 3), (134, 40), COLOURS[ASKS], 0.08, 1.5),
        word("empty", left + 62, middle, text, COLOURS[ASKS], size=24, weight=700),
    ]


def _bar(key: str, m: int, number: float, place: Place, opacity: float = 1) -> Part:
    return box(key, place, (UNIT * number, BAR), COLOURS[m], opacity=opacity)


def _at_end(
    key: str, left: float, number: float, top: float, text: str, weight: float = 400
) -> Part:
    return word(key, left + UNIT * number + 6, top + 14.5, text, INK, "start", SMALL, weight)
