"""Lesson 08 opens with two sentences face to face: each English word brings German ones back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, curve, places, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, Colour

ASKS = ("I", "read", "a", "book", "yesterday")
ASKED = ("ich", "habe", "gestern", "ein", "Buch", "gelesen")
MEANS = ("I", "have", "yesterday", "a", "book", "read")  # each of these six
# What a word is about, as the lesson sets it by hand: who, doing, thing, time.
QUERIES = ((1, 0, 0, 0), (0, 1, 0, 0), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 0, 0, 1))
KEYS = ((1, 0, 0, 0), (0, 0.7, 0, 0), (0, 0, 0, 1), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 1, 0, 0))
LOUDER = 8  # times as large are the queries
HIGH, TOP, MEANT, LOW = 269, 42, 64, 237  # of the sheet; of the lines of words
LABELS = {"keys and values (German)": 15, "queries (English)": 264}
ABOVE, BELOW = MEANT + 16, LOW - 30  # where lines arrive, and where they leave
LEFT = 9  # of what the lines of words are
TO = places(ASKS, gap=59, left=1)
RIGHT, WEIGHTS, BIG = 471, (128, 169), 24  # of the lines' weights, and their size
THICK, THIN = 17, 3  # a line of weight 1, and one that has no weight yet
APART, EDGE = 10, 3  # between lines side by side; on both sides of a line that lies over others
QUIET = 0.6  # of lines that are not in focus
TOLD = 0.1  # a weight that is told
AROUND = 4  # how far a value that is brought back reaches beyond its line
READ, YESTERDAY = CROSSING = (ASKS.index("read"), ASKS.index("yesterday"))
OTHERS = [n for n in range(len(ASKS)) if n not in CROSSING]
EVERY = range(len(ASKED))
FIRST = ASKED.index("gestern")  # what German can begin with
BEGUN = (FIRST, 1, 0, *EVERY[3:])  # "gestern habe ich ein Buch gelesen"


def opening() -> Film:
    """The film."""
    shares = weights()
    [fits] = (n for n, (each, means) in enumerate(zip(ASKS, MEANS, strict=False)) if each == means)
    best = [row.index(max(row)) for row in shares]
    read, yesterday = (best[n] for n in CROSSING)
    helps = max({*EVERY} - {read}, key=lambda m: shares[READ][m])
    found = [_looks(n, shares, ORANGE) for n in CROSSING]
    there, back = ([_values(n, shares, ORANGE, way) for n in CROSSING] for way in (0, 1))
    first = ASKED[FIRST]
    anew = [[row[BEGUN.index(m)] for m in EVERY] for row in weights(BEGUN)]
    wrong = [n for n in range(len(ASKS)) if n != fits]

    def all_found(shares: Sequence[Sequence[float]], order: Sequence[int]) -> list[Part]:
        colours = [(n, BLUE, QUIET) for n in OTHERS] + [(n, ORANGE, 1) for n in CROSSING]
        looks = [_looks(n, shares, colour, opacity, order) for n, colour, opacity in colours]
        values = [_values(n, shares, colour, 1, order) for n, colour, _ in colours]
        theirs = [best[n] for n in OTHERS]
        words = _words(CROSSING, [read, helps, yesterday], OTHERS, theirs, order)
        return [*chain(*looks), *words, *chain(*values), *_weights(shares)]

    frames = [
        Frame(
            [*_in_order([fits], BLUE), *_in_order(wrong, GREY), *_words((), (), [fits], [fits])],
            f"By place, only “{ASKS[fits]}” meets its own word.",
        ),
        Frame(
            [*_fan(READ), *_words([READ], EVERY)],
            "So “read” asks: its query is compared with all six keys.",
        ),
        Frame(
            [*found[0], *_words([READ], [read, helps]), *there[0], *_weights(shares[: READ + 1])],
            f"German says it last: “{ASKED[read]}” gets {shares[READ][read]:.2f}, "
            f"and its helper “{ASKED[helps]}” {shares[READ][helps]:.2f}.",
        ),
        Frame(
            [*found[0], *_words([READ], [read, helps]), *back[0], *_weights(shares[: READ + 1])],
            f"“read” brings back mostly “{ASKED[read]}”.",
        ),
        Frame(
            [
                *chain(*found),
                *_words(CROSSING, [read, helps, yesterday]),
                *back[0],
                *there[1],
                *_weights(shares),
            ],
            f"“yesterday” is last in English. It reaches across: “{ASKED[yesterday]}” gets "
            f"{shares[YESTERDAY][yesterday]:.2f}.",
        ),
        Frame(
            all_found(shares, EVERY),
            f"All five find their words, and only “{ASKS[fits]}” in its own place.",
        ),
        Frame(
            [*_left(best), *all_found(anew, BEGUN)],
            f"“{ASKED[0]}” and “{first}” change places; dots show the old ones. "
            f"Computed anew, “yesterday” still gives “{first}” {anew[YESTERDAY][FIRST]:.2f}.",
        ),
    ]
    return Film("Found by meaning, not by place", frames, HIGH)


def weights(order: Sequence[int] = EVERY) -> list[list[float]]:
    """(5, 6): softmax of scaled products, rows are English words; German words in this order."""
    width = len(KEYS[0])
    rows = []
    for query in QUERIES:
        products = [sum(q * k for q, k in zip(query, KEYS[m], strict=True)) for m in order]
        powers = [math.exp(LOUDER * product / math.sqrt(width)) for product in products]
        rows.append([power / sum(powers) for power in powers])
    return rows


def german(order: Sequence[int] = EVERY) -> list[float]:
    """Where each German word is, the first of `ASKED` first, when they stand in this order."""
    widest = [max(ASKED[m], MEANS[m], key=len) for m in order]
    at = places(widest, gap=26, left=6)
    return [at[order.index(m)] for m in EVERY]


def _words(
    asking: Sequence[int],
    heard: Sequence[int],
    others: Sequence[int] = (),
    theirs: Sequence[int] = (),
    order: Sequence[int] = EVERY,
) -> list[Part]:
    """The original, what each of its words means, and its translation, as bright as has asked.

    Words have the colour of their lines: those in focus, and the others that have found theirs.
    """

    def look(n: int, focus: Sequence[int], rest: Sequence[int], colour: str | Colour) -> Any:
        if n in focus:
            return {"colour": ORANGE, "weight": 600}
        return {"colour": BLUE if n in rest else colour}

    parts = [word(name, LEFT, y, name, INK, "start", SMALL, 700) for name, y in LABELS.items()]
    for m, x in enumerate(german(order)):
        again = _again(m, order)
        parts.append(word(f"asked {m}{again}", x, TOP, ASKED[m], **look(m, heard, theirs, INK)))
        means = look(m, heard, theirs, GREY)
        parts.append(word(f"means {m}{again}", x, MEANT, MEANS[m], size=SMALL, **means))
    for n, x in enumerate(TO):
        parts.append(word(f"asks {n}", x, LOW, ASKS[n], **look(n, asking, others, GREY)))
    return parts


def _weights(shares: Sequence[Sequence[float]]) -> list[Part]:
    """What the words in focus give most, as far as it is known, at the right of their lines."""
    return [
        word(f"weight {n}", RIGHT, y, f"{max(shares[n]):.2f}", ORANGE, "end", BIG, 700)
        for n, y in zip(CROSSING, WEIGHTS, strict=True)
        if n < len(shares)
    ]


def _left(best: Sequence[int]) -> list[Part]:
    """Dots to where words were that have left."""
    parts = []
    for n, m in enumerate(best):
        if BEGUN[m] != m:
            path = curve(f"was {n}", (TO[n], BELOW), (german()[m], ABOVE), GREY, THIN, 0.7, True)
            parts.append(path._replace(look={**path.look, "stroke-dasharray": "0 7"}))
    return parts


def _again(m: int, order: Sequence[int]) -> str:
    """In keys of a German word's parts that come again at another place, and don't move there."""
    return "" if order[m] == m else " again"


def _in_order(those: Sequence[int], colour: Colour) -> list[Part]:
    """From each word to the one in its own place."""
    ends = {n: ((TO[n], BELOW), (german()[n], ABOVE)) for n in those}
    return [curve(f"place {n}", *ends[n], colour, THIN, 0.8, True) for n in those]


def _fan(n: int) -> list[Part]:
    """From a word to all, side by side, together as thick as a weight of 1."""
    thick = THICK / len(ASKED)
    left = TO[n] - (thick + APART) * (len(ASKED) - 1) / 2
    return [
        part
        for m in EVERY
        for part in _line(f"{n} to {m}", left + (thick + APART) * m, german()[m], thick, ORANGE)
    ]


def _looks(
    n: int,
    shares: Sequence[Sequence[float]],
    colour: Colour,
    opacity: float = 1,
    order: Sequence[int] = EVERY,
) -> list[Part]:
    """From a word up to those that it looks at, as thick as its weights that are told.

    Lines lie side by side at both ends, so that each has a place of its own.
    """
    return [
        part
        for m, ends, thick in _told(n, shares, order)
        for part in _line(f"{n} to {m}{_again(m, order)}", *ends, thick, colour, opacity)
    ]


def _values(
    n: int,
    shares: Sequence[Sequence[float]],
    colour: Colour,
    way: float,
    order: Sequence[int] = EVERY,
) -> list[Part]:
    """What a word brings back along its lines: 0 of the way, still at its key, or 1, all of it."""
    parts = []
    for m, (leaves, arrives), thick in _told(n, shares, order):
        wide = thick + 2 * AROUND
        for kind, fill, size in (("rim", GROUND, wide + 2 * EDGE), ("value", colour, wide)):
            key = f"{kind} of {m} for {n}{_again(m, order)}"
            path = curve(key, (leaves, BELOW), (arrives, ABOVE), fill, size, 1, True)
            at: dict[str, float | str] = {
                "pathLength": 100,
                "stroke-dasharray": "0 200",
                "stroke-dashoffset": -98 + 98 * way,
            }
            parts.append(path._replace(look={**path.look, **at}))
    return parts


def _told(
    n: int, shares: Sequence[Sequence[float]], order: Sequence[int]
) -> list[tuple[int, tuple[float, float], float]]:
    """Those that a word looks at with a weight that is told; their lines' ends and thickness."""
    at, row = german(order), [shares[n][m] for m in order]
    return [
        (
            m,
            (TO[n] + _aside(row, order.index(m)), at[m] + _aside([row[m] for row in shares], n)),
            THICK * share,
        )
        for m, share in enumerate(shares[n])
        if share >= TOLD
    ]


def _aside(row: Sequence[float], at: int) -> float:
    """How far a line is from the middle of those that are told, when they lie side by side."""
    wide = [THICK * share + APART if share >= TOLD else 0 for share in row]
    return sum(wide[:at]) + wide[at] / 2 - sum(wide) / 2


def _line(
    key: str, leaves: float, arrives: float, thick: float, colour: Colour, opacity: float = 1
) -> list[Part]:
    """With an edge of the ground, so that it passes over those behind it."""
    ends = (leaves, BELOW), (arrives, ABOVE)
    return [
        curve(f"edge of {key}", *ends, GROUND, thick + 2 * EDGE, 1, True),
        curve(key, *ends, colour, thick, opacity, True),
    ]
