"""Lesson 08 opens with two sentences face to face: each English word asks all German ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, Part, across, centred, curve, line, word
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
CROSSING = (1, 4)  # of those that ask: read and yesterday


def opening() -> Film:
    """The film."""
    shares = weights()
    nothing = [0.0] * len(ASKED)
    told = "An original of six words. Five are to be written, and each may ask all six."
    frames = [Frame([*_to_come(0), *_words(0)], told)]
    for n, asks in enumerate(ASKS):
        around = [part for other in range(n) for part in _lines(other, shares[other], BLUE, 0.35)]
        around += _to_come(n + 1)
        asking, answered = _lines(n, nothing, GREY, 2.2), _lines(n, shares[n], ORANGE, 0.9)
        frames.append(Frame([*around, *asking, *_words(n + 1, [n])], f"“{asks}” asks all six."))
        heard = [m for m, share in enumerate(shares[n]) if share >= TOLD]
        parts = [*around, *answered, *_words(n + 1, [n], heard)]
        frames.append(Frame(parts, _told(asks, shares[n])))
    every = []
    for n in sorted(range(len(ASKS)), key=CROSSING.__contains__):  # those that cross lie in front
        every += _lines(n, shares[n], ORANGE if n in CROSSING else BLUE, 0.75)
    one, other = CROSSING
    end = f"The lines of “{ASKS[one]}” and “{ASKS[other]}” cross: German has another order."
    heard = [shares[n].index(max(shares[n])) for n in CROSSING]
    frames.append(Frame([*every, *_words(len(ASKS), CROSSING, heard)], end))
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


def _words(written: int, asking: Sequence[int] = (), heard: Sequence[int] = ()) -> list[Part]:
    """The original, and so many words of its translation; in focus those that ask or are heard."""
    return [
        word(
            f"{kind} {n}",
            x,
            y,
            text,
            ORANGE if n in focus else INK,
            weight=400 + 200 * (n in focus),
        )
        for kind, words, places, y, focus in (
            ("asked", ASKED, FROM, TOP, heard),
            ("asks", ASKS[:written], TO, LOW, asking),
        )
        for n, (text, x) in enumerate(zip(words, places, strict=False))
    ]


def _to_come(written: int) -> list[Part]:
    """Where the other words of the translation are to be, and what they may ask."""
    parts = []
    for n in range(written, len(ASKS)):
        half = across(ASKS[n : n + 1]) / 2
        blank = [(TO[n] - half, LOW + 4), (TO[n] + half, LOW + 4)]
        parts += [line(f"blank {n}", blank, GREY, 2), *_lines(n, [0.0] * len(ASKED), GREY, 0.8)]
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
