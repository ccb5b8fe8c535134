"""Lesson 08 opens with two sentences face to face: each English word brings German ones back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, curve, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE

ASKS = ("I", "read", "a", "book", "yesterday")
ASKED = ("ich", "habe", "gestern", "ein", "Buch", "gelesen")
MEANS = ("I", "have", "yesterday", "a", "book", "read")  # each of these six
COLOURS = (BLUE, ORANGE, INK, GREEN, PURPLE)  # of words that ask, and of what they bring back
# What a word is about, as the lesson sets it by hand: who, doing, thing, time.
QUERIES = ((1, 0, 0, 0), (0, 1, 0, 0), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 0, 0, 1))
KEYS = ((1, 0, 0, 0), (0, 0.7, 0, 0), (0, 0, 0, 1), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 1, 0, 0))
LOUDER = 8  # times as large are the queries
HIGH = 270
PLACES = tuple(37 + 81.2 * n for n in range(len(ASKED)))  # of words, in all lines
TO = PLACES[: len(ASKS)]
NEARER = tuple(35.5 + 66.2 * n for n in range(len(ASKED)))  # if names stand beside the lines
THICK, THIN = 13, 3  # a line of weight 1; one that has no weight yet
APART, EDGE = 10, 2.5  # between lines side by side; on both sides of a line that lies over others
BEND = 0.3  # of a line's way, at both ends
AROUND = 4  # how far a value that is brought back reaches beyond its line
BIG = 24  # the weight of a word's own
READ, YESTERDAY = CROSSING = (ASKS.index("read"), ASKS.index("yesterday"))
EVERY = range(len(ASKED))
BACKWARDS = EVERY[::-1]
Found = Mapping[int, Sequence[int]]  # for words that ask: which words answer


class Room(NamedTuple):
    """Where English words are, where lines leave them and arrive, and where German ones are."""

    low: float
    leaves: float
    arrives: float
    top: float = 44
    order: Sequence[int] = EVERY
    name: str = ""
    places: Sequence[float] = NEARER
    to: Sequence[float] = (*NEARER[: len(ASKS) - 1], NEARER[len(ASKS) - 1] + 8)  # a long word


FULL = Room(228, 202, 80, places=PLACES, to=TO)
ABOVE, BELOW = Room(139, 109, 27, 15), Room(139, 160, 242, 264, BACKWARDS, " below")


def opening() -> Film:
    """The film."""
    shares = weights()
    best = [row.index(max(row)) for row in shares]
    [fits] = (n for n, m in enumerate(best) if n == m)
    read, yesterday = (best[n] for n in CROSSING)
    helps = max({*EVERY} - {read}, key=lambda m: shares[READ][m])
    reads = {READ: [helps, read]}
    own = {n: [m] for n, m in enumerate(best)}
    both = reads | {YESTERDAY: own[YESTERDAY]}
    found = own | reads
    crossed = {n: found[n] for n in sorted(found, key=(fits, READ).count)}  # these two in front
    names = ("German", ABOVE.top), ("English", ABOVE.low), ("German", BELOW.top - 21)
    pair = [
        *_lines(found, ABOVE),
        *_words(found, ABOVE),
        *_german(found, BELOW),
        *(
            word(f"name at {y}", WIDE, y, name, GREY, "end", SMALL)
            for name, y in (*names, ("reversed", BELOW.top))
        ),
    ]
    waiting = [
        part
        for part in _lines(crossed, BELOW._replace(arrives=BELOW.arrives - 10), way=0)
        if part.key.startswith(("rim", "value"))
    ]
    frames = [
        (
            [*_in_order(fits), *_words({fits: [fits]}, asks="English: queries")],
            f"By place, only “{ASKS[fits]}” meets its own word.",
        ),
        (
            [
                *_lines({READ: EVERY}, way=0),
                dot("query", TO[READ], FULL.leaves, THICK / 2 + AROUND, ORANGE),
                *_words({READ: EVERY}, asks="English: queries"),
            ],
            "So “read” asks: its query is compared with all six keys.",
        ),
        (
            [*_lines(reads), *_words(reads), *_weights(reads)],
            f"It brings back {shares[READ][read]:.2f} of “{ASKED[read]}”, which German says last, "
            f"and {shares[READ][helps]:.2f} of its helper “{ASKED[helps]}”.",
        ),
        (
            [*_lines(both), *_words(both), *_weights(both)],
            f"“yesterday” is last in English. It reaches across: “{ASKED[yesterday]}” gets "
            f"{shares[YESTERDAY][yesterday]:.2f}.",
        ),
        (
            [*_lines(found), *_words(found), *_weights(own)],
            "Each gives most weight to its own word. "
            f"Only “{ASKS[fits]}” finds it in its own place.",
        ),
        (
            [*pair, *waiting],
            "Now reverse the German. Will each word still find its own?",
        ),
        (
            [*pair, *_lines(crossed, BELOW)],
            "German reversed: each word finds its own, with the same weight. Here keys know no "
            "place.",
        ),
    ]
    return Film("Found by meaning, not by place", [Frame(*each) for each in frames], HIGH)


def weights(order: Sequence[int] = EVERY) -> list[list[float]]:
    """(5, 6): softmax of scaled products, rows are English words; German words in this order."""
    width = len(KEYS[0])
    rows = []
    for query in QUERIES:
        products = [sum(q * k for q, k in zip(query, KEYS[m], strict=True)) for m in order]
        powers = [math.exp(LOUDER * product / math.sqrt(width)) for product in products]
        rows.append([power / sum(powers) for power in powers])
    return rows


def _words(found: Found, room: Room = FULL, asks: str = "English") -> list[Part]:
    """The original, what each of its words means if there is room, and its translation.

    Those that are spoken of have the colour of their lines, and are bold.
    """
    parts = _german(found, room)
    if room is FULL:
        parts += [
            word("English", WIDE, room.low + 26, asks, GREY, "end", SMALL, 600),
            word("German", 0, 18, "German: keys and values", GREY, "start", SMALL, 600),
        ]
    for n, x in enumerate(room.to):
        bold = 700 if room is FULL else 500
        colour, weight = (COLOURS[n], bold) if n in found else (GREY, 400)
        parts.append(word(f"asks {n}", x, room.low, ASKS[n], colour, size=SMALL, weight=weight))
    return parts


def _german(found: Found, room: Room) -> list[Part]:
    lit, parts = {m: COLOURS[n] for n, ms in found.items() for m in ms}, list[Part]()
    for x, m in zip(room.places, room.order, strict=True):
        size = 20 if room is FULL else SMALL
        look = (lit.get(m, GREY), "middle", size, 500 if m in lit else 400)
        parts.append(word(f"asked {m}{room.name}", x, room.top, ASKED[m], *look))
        if room is FULL:
            parts.append(
                word(f"means {m}", x, room.top + 22, MEANS[m], lit.get(m, GREY), size=SMALL)
            )
    return parts


def _weights(found: Found) -> list[Part]:
    """Under a word that asks, of the last that it brings back; of one before it, at its line."""
    shares, parts = weights(), list[Part]()
    for n, ms in found.items():
        for m in ms:
            says, x, y = (f"{shares[n][m]:.2f}", COLOURS[n]), TO[n], FULL.low
            each = word(f"weight {n} {m}", x, y + 26, *says, size=BIG, weight=700)
            if m != ms[-1]:
                each = word(each.key, x - 16, y - 80, *says, "end", SMALL, 600)
            parts.append(each)
    return parts


def _in_order(fits: int) -> list[Part]:
    """From each word to the one in its own place, in colour from the one whose own word that is."""
    parts = []
    for n, x in enumerate(TO):
        colour = COLOURS[n] if n == fits else GREY
        ends = (FULL.leaves, FULL.arrives)
        parts.append(line(f"place {n}", [(x, y) for y in ends], colour, THIN))
        parts += [dot(f"place {n} at {y}", x, y, 5, colour) for y in ends]
    return parts


def _lines(found: Found, room: Room = FULL, way: float = 1) -> list[Part]:
    """From words to those that answer, over the lines behind, and the values brought back.

    A line is as thick as its weight, and values have come all the way, 1. If they have come
    none of it, 0, a word's lines share the thickness of a weight of 1. Thin ones are in front.
    """
    shares = weights(room.order)
    parts, threads, values = list[Part](), list[Part](), list[Part]()
    along: dict[str, float | str] = {
        "pathLength": 100,
        "stroke-dasharray": "0 200",
        "stroke-dashoffset": -99.9 + 99.9 * way,
    }
    for n, ms in found.items():
        gap, ms = APART * way, sorted(ms, key=room.order.index)
        thicks = [THICK * (shares[n][room.order.index(m)] if way else 1 / len(ms)) for m in ms]
        left = room.to[n] - (sum(thicks) + gap * (len(ms) - 1)) / 2
        for m, thick in zip(ms, thicks, strict=True):
            key, to = f"{n} to {m}{room.name}", (room.places[room.order.index(m)], room.arrives)
            is_thin, wide = thick < 2 * EDGE, thick + 2 * AROUND
            strand = partial(
                curve,
                start=(left + thick / 2, room.leaves),
                end=to,
                upright=True,
                bend=0 if is_thin and way else BEND,
            )
            layer = threads if is_thin else parts
            layer += [
                strand(f"edge {key}", colour=GROUND, thick=thick + 2 * EDGE),
                strand(key, colour=COLOURS[n], thick=thick),
            ]
            for value in (
                strand(f"rim {key}", colour=GROUND, thick=wide + 2 * EDGE),
                strand(f"value {key}", colour=COLOURS[n], thick=wide),
            ):
                values.append(value._replace(look={**value.look, **along}))
            left += thick + gap
    return [*parts, *threads, *values]
