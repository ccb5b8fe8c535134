"""Lesson 02 opens with one query that meets each key, until its row of Z is full."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, Part, arc, box, word
from attnlab.figures.palette import BLUE, ORANGE, PURPLE, Colour

# The lesson's: what "cat" asks, and what each word promises and passes on.
TOKENS = ("the", "cat", "sat")
QUERY = (1, 2, 0)
KEYS = ((1, 0, 1), (0, 1, 0), (2, 2, 1))
VALUES = ((1, 0), (0, 2), (3, 1))
ASKS = 1  # the word that does

HIGH = 256
COLOURS = (PURPLE, ORANGE, BLUE)
MIDDLES = (84, 240, 396)
WORDS = 104  # the line that they stand on
KEY, ASKED = 116, 150  # tops of the cells
PRODUCTS, SCORE, SHARE = 204, 238, 136  # lines of numbers
CELL, TALL = 36, 28
UNIT, BAR = 40, 20  # px for an entry of 1; how tall its bar is
VALUE, OUT = 154, 178  # tops of the first bars, of values and of Z
LEFT = 200  # of Z's


def opening() -> Film:
    """The film."""
    scores = [sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS]
    asked = [_asked(m, scores) for m in range(len(TOKENS))]
    frames = [_begins(), *asked, *_shares(scores), *_fills(scores)]
    return Film("One query meets each key", frames, HIGH)


def weights(scores: Sequence[float]) -> list[float]:
    """(3,), softmax of the scores divided by √3."""
    powers = [math.exp(score / math.sqrt(len(QUERY))) for score in scores]
    return [power / sum(powers) for power in powers]


def _begins() -> Frame:
    parts = [*_words(), *_keys(), *_query(MIDDLES[ASKS])]
    return Frame(
        parts, f"Each word shows a key, three numbers. “cat” asks with its query, {QUERY}."
    )


def _asked(m: int, scores: Sequence[int]) -> Frame:
    products = [f"{q} · {k}" for q, k in zip(QUERY, KEYS[m], strict=True)]
    parts = [*_words(), *_arcs([score / 8 for score in scores[: m + 1]])]
    parts += [*_keys(), *_query(MIDDLES[m]), *_numbers([f"{s}" for s in scores[: m + 1]], SCORE)]
    parts += [
        word(f"product {c}", _left(m, c) + CELL / 2, PRODUCTS, f"{q * k}", COLOURS[ASKS])
        for c, (q, k) in enumerate(zip(QUERY, KEYS[m], strict=True))
    ]
    whose = "its own key" if m == ASKS else f"the key of “{TOKENS[m]}”"
    return Frame(parts, f"Beside {whose}: {' + '.join(products)} = {scores[m]}.")


def _shares(scores: Sequence[int]) -> list[Frame]:
    """The scores, scaled; and what softmax makes of them."""
    scaled = [score / math.sqrt(len(QUERY)) for score in scores]
    shares = weights(scores)
    best = max(range(len(TOKENS)), key=lambda m: shares[m])
    return [
        Frame(
            [*_words(), *_arcs([s / 8 for s in scaled]), *_numbers([f"{s:.1f}" for s in scaled])],
            "Each score is divided by √3, the root of the keys' width.",
        ),
        Frame(
            [*_words(), *_arcs(shares), *_numbers([f"{share:.2f}" for share in shares])],
            f"Softmax makes shares of them, which add up to 1: “{TOKENS[best]}” gets "
            f"{shares[best]:.2f}.",
        ),
    ]


def _fills(scores: Sequence[int]) -> list[Frame]:
    """The values, as much of them as is read, and their sum."""
    shares = weights(scores)
    over = [*_words(), *_arcs(shares), *_numbers([f"{share:.2f}" for share in shares])]
    given, read, poured = [*over], [*over], [*over]
    right: list[float] = [LEFT, LEFT]
    for m, (share, value) in enumerate(zip(shares, VALUES, strict=True)):
        for e, number in enumerate(value):
            left, top = MIDDLES[m] - 60, VALUE + e * (BAR + 6)
            given.append(_bar(m, e, number, left, top))
            given.append(_at_end(f"value {m} {e}", left, number, top, f"{number}"))
            read.append(_bar(m, e, share * number, left, top))
            poured.append(_bar(m, e, share * number, right[e], OUT + e * (BAR + 6)))
            right[e] += UNIT * share * number
    full = [*poured, word("z", LEFT - 16, OUT + 30, "its row of Z", COLOURS[ASKS], anchor="end")]
    for e in range(2):
        total = sum(share * value[e] for share, value in zip(shares, VALUES, strict=True))
        full.append(_at_end(f"z {e}", LEFT, total, OUT + e * (BAR + 6), f"{total:.2f}"))
    return [
        Frame(given, "Each word passes on a value: here two numbers, drawn as bars."),
        Frame(read, "A share says how much of the value is read."),
        Frame(poured, "These parts are added up, entry by entry."),
        Frame(full, "That is one row of Z: what “cat” has heard, mostly of “sat”."),
    ]


def _words() -> list[Part]:
    return [
        word(f"word {m}", MIDDLES[m], WORDS, token, COLOURS[m], size=24, weight=600)
        for m, token in enumerate(TOKENS)
    ]


def _arcs(shares: Sequence[float]) -> list[Part]:
    """From the word that asks, as thick as these say."""
    return [
        arc(f"arc {m}", MIDDLES[ASKS], MIDDLES[m], WORDS - 24, share, COLOURS[m])
        for m, share in enumerate(shares)
    ]


def _keys() -> list[Part]:
    parts = []
    for m, key in enumerate(KEYS):
        parts += _cells(f"key {m}", MIDDLES[m], KEY, key, COLOURS[m], 0.12)
    return parts


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
            word(f"{key} {c}", left + CELL / 2, top + 21, f"{number}"),
        ]
    return parts


def _left(m: int, c: int) -> float:
    """Of a word's cell c."""
    return MIDDLES[m] + CELL * (c - len(QUERY) / 2)


def _numbers(texts: Sequence[str], below: float = SHARE) -> list[Part]:
    return [word(f"number {m}", MIDDLES[m], below, each, size=24) for m, each in enumerate(texts)]


def _bar(m: int, e: int, number: float, left: float, top: float) -> Part:
    return box(f"bar {m} {e}", (left, top), (UNIT * number, BAR), COLOURS[m])


def _at_end(key: str, left: float, number: float, top: float, text: str) -> Part:
    return word(key, left + UNIT * number + 8, top + 16, text, anchor="start", size=SMALL)
