"""Lesson 08 opens with two sentences face to face: each English word looks at the German ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, Part, across, centred, curve, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

ASKS = ("I", "read", "a", "book", "yesterday")
ASKED = ("ich", "habe", "gestern", "ein", "Buch", "gelesen")
# What a word is about, as the lesson sets it by hand: who, doing, thing, time.
QUERIES = ((1, 0, 0, 0), (0, 1, 0, 0), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 0, 0, 1))
KEYS = ((1, 0, 0, 0), (0, 0.7, 0, 0), (0, 0, 0, 1), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 1, 0, 0))
LOUDER = 8  # times as large are the queries
REORDERED = (0, 1, 5, 3, 4, 2)  # the German words, as English has them
HIGH, TOP, LOW = 250, 28, 232  # of the sheet; of the lines of words
TO = centred(ASKS, gap=44)
THICK, THIN = 15, 1.5  # a line of weight 1, and the thinnest
TOLD = 0.1  # a weight that is told
CROSSING = (1, 4)  # of those that ask: read and yesterday


def opening() -> Film:
    """The film."""
    shares = weights()
    told = "Five English words are to come. Each may look at all six above."
    frames = [Frame([*_to_come(0), *_words(0)], told)]
    for n, asks in enumerate(ASKS):
        around = [part for m in range(n) for part in _lines(m, shares[m], BLUE, 0.4)]
        heard = [m for m, share in enumerate(shares[n]) if share >= TOLD]
        looks = [*_lines(n, shares[n], ORANGE, all_six=True), *_words(n + 1, [n], heard)]
        frames.append(Frame([*around, *_to_come(n + 1), *looks], _told(asks, shares[n])))
    one, other = (f"“{ASKS[n]}”" for n in CROSSING)
    ends = (
        (range(len(ASKED)), f"The lines of {one} and {other} cross: German has another order."),
        (REORDERED, "In English order: each line goes with its word, as thick as before."),
        (
            range(len(ASKED)),
            "And back: a word looks for a meaning, not for a place.",
        ),
    )
    heard = [shares[n].index(max(shares[n])) for n in CROSSING]
    for order, told in ends:
        every = []
        for n in sorted(range(len(ASKS)), key=CROSSING.__contains__):  # these lie in front
            colour, opacity = (ORANGE, 1) if n in CROSSING else (BLUE, 0.6)
            every += _lines(n, shares[n], colour, opacity, order=order)
        frames.append(Frame([*every, *_words(len(ASKS), CROSSING, heard, order)], told))
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
    heard = [f"“{ASKED[m]}” ({row[m]:.2f})" for m in most if row[m] >= TOLD]
    return f"“{asks}” looks at {' and '.join(heard)}."


def _from(order: Sequence[int]) -> list[float]:
    """Where each German word is, when they stand in an order."""
    places = dict(zip(order, centred([ASKED[m] for m in order]), strict=True))
    return [places[m] for m in range(len(ASKED))]


def _words(
    written: int,
    asking: Sequence[int] = (),
    heard: Sequence[int] = (),
    order: Sequence[int] = range(len(ASKED)),
) -> list[Part]:
    """The original, and so many words of its translation; in focus those that ask or are heard.

    A German word has the key of its place, so that two that change places do not meet.
    """
    places = _from(order)
    rows = (
        [(f"asked {at}", places[m], TOP, ASKED[m], m in heard) for at, m in enumerate(order)],
        [(f"asks {n}", TO[n], LOW, ASKS[n], n in asking) for n in range(written)],
    )
    return [
        word(key, x, y, text, ORANGE if focus else INK, weight=600 if focus else 400)
        for key, x, y, text, focus in chain(*rows)
    ]


def _to_come(written: int) -> list[Part]:
    """Where the other words of the translation are to be."""
    parts = []
    for n in range(written, len(ASKS)):
        half = across(ASKS[n : n + 1]) / 2
        blank = [(TO[n] - half, LOW + 4), (TO[n] + half, LOW + 4)]
        parts.append(line(f"blank {n}", blank, GREY, 2))
    return parts


def _lines(
    n: int,
    row: Sequence[float],
    colour: Colour,
    opacity: float = 1,
    all_six: bool = False,
    order: Sequence[int] = range(len(ASKED)),
) -> list[Part]:
    """From a word up to those that it looks at, side by side, together as thick as a weight of 1.

    Those of weights that are not told are left out, or with `all_six` as thin as can be.
    """
    places, parts = _from(order), []
    left = TO[n] - THICK / 2
    for m in sorted(range(len(row)), key=lambda m: places[m]):
        thick = THICK * row[m]
        if row[m] >= TOLD or all_six:
            told = (colour, opacity) if row[m] >= TOLD else (GREY, 0.7)
            ends = (left + thick / 2, LOW - 34), (places[m], TOP + 18)
            parts.append(curve(f"{n} to {m}", *ends, told[0], max(thick, THIN), told[1], True))
        left += thick
    return sorted(parts, key=lambda part: float(part.look["stroke-width"]))
