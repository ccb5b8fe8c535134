"""Lesson 08 opens with two sentences face to face: each English word asks all German ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, Part, centred, curve, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

ASKS = ("I", "read", "a", "book", "yesterday")
ASKED = ("ich", "habe", "gestern", "ein", "Buch", "gelesen")
# What a word is about, as the lesson sets it by hand: who, doing, thing, time.
QUERIES = ((1, 0, 0, 0), (0, 1, 0, 0), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 0, 0, 1))
KEYS = ((1, 0, 0, 0), (0, 0.7, 0, 0), (0, 0, 0, 1), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 1, 0, 0))
LOUDER = 8  # times as large are the queries
HIGH, TOP, LOW = 250, 34, 226  # of the sheet; of the lines of words
FROM, TO = centred(ASKED), centred(ASKS, gap=44)
THICK, THIN = 18, 1.5  # a line of weight 1, and one that only asks
TOLD = 0.1  # a weight that is told


def opening() -> Film:
    """The film."""
    shares = weights()
    frames = [Frame(_words(0), "An original of six words, all there from the start.")]
    for n, asks in enumerate(ASKS):
        earlier = [part for other in range(n) for part in _lines(other, shares[other], BLUE, 0.35)]
        asking = [*earlier, *_lines(n, [0.0] * len(ASKED), GREY, 0.9)]
        answered = [*earlier, *_lines(n, shares[n], ORANGE, 0.9)]
        frames.append(Frame([*asking, *_words(n + 1)], f"“{asks}” asks all six."))
        frames.append(Frame([*answered, *_words(n + 1, shares[n])], _told(asks, shares[n])))
    every = [part for n in range(len(ASKS)) for part in _lines(n, shares[n], BLUE, 0.75)]
    end = "Five words asked, six could answer. The lines cross: German has another order."
    frames.append(Frame([*every, *_words(len(ASKS), focused=False)], end))
    return Film("Two sentences face to face", frames, HIGH)


def weights() -> list[list[float]]:
    """(5, 6): softmax of scaled products, rows are English words."""
    width = len(KEYS[0])
    rows = []
    for query in QUERIES:
        products = [sum(q * k for q, k in zip(query, key, strict=True)) for key in KEYS]
        powers = [math.exp(LOUDER * product / math.sqrt(width)) for product in products]
        rows.append([power / sum(powers) for power in powers])
    return rows


def _told(asks: str, row: Sequence[float]) -> str:
    most = sorted(range(len(row)), key=lambda m: -row[m])
    heard = [f"“{ASKED[m]}” {row[m]:.2f}" for m in most if row[m] >= TOLD]
    more = ", wherever it stands" if len(heard) == 1 else ""
    return f"“{asks}” reads {' and '.join(heard)}{more}."


def _words(written: int, row: Sequence[float] = (), focused: bool = True) -> list[Part]:
    """The original, and so many words of its translation; in focus the last, and what it reads."""
    parts = []
    for m, x in enumerate(FROM):
        colour, weight = (ORANGE, 600) if row and row[m] >= TOLD else (INK, 400)
        parts.append(word(f"asked {m}", x, TOP, ASKED[m], colour, weight=weight))
    for n, x in enumerate(TO[:written]):
        colour, weight = (ORANGE, 600) if focused and n == written - 1 else (INK, 400)
        parts.append(word(f"asks {n}", x, LOW, ASKS[n], colour, weight=weight))
    return parts


def _lines(n: int, row: Sequence[float], colour: Colour, opacity: float) -> list[Part]:
    """From a word up to all that it asks, as thick as its weights."""
    return [
        curve(
            f"{n} to {m}",
            (TO[n], LOW - 22),
            (x, TOP + 10),
            colour,
            THIN + (THICK - THIN) * share,
            opacity * (0.3 + 0.7 * share),
            upright=True,
        )
        for m, (x, share) in enumerate(zip(FROM, row, strict=True))
    ]
