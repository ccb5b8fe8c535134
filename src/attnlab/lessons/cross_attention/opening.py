"""Lesson 08 opens with two sentences face to face: each English word brings German ones back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, curve, dot, line, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE, Colour

ASKS = ("I", "read", "a", "book", "yesterday")
ASKED = ("ich", "habe", "gestern", "ein", "Buch", "gelesen")
MEANS = ("I", "have", "yesterday", "a", "book", "read")  # each of these six
# What a word is about, as the lesson sets it by hand: who, doing, thing, time.
QUERIES = ((1, 0, 0, 0), (0, 1, 0, 0), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 0, 0, 1))
KEYS = ((1, 0, 0, 0), (0, 0.7, 0, 0), (0, 0, 0, 1), (0, -0.7, 0.7, 0), (0, 0, 1, 0), (0, 1, 0, 0))
LOUDER = 8  # times as large are the queries
HIGH, TOP, MEANT, LOW = 269, 42, 64, 237  # of the sheet; of the lines of words
LABELS = {"keys and values (German)": 15, "queries (English)": 264}
ABOVE, BELOW = MEANT + 16, LOW - 33  # where lines arrive, and where they leave
LEFT = 9  # of what the lines of words are
PLACES = (51, 131, 211, 279, 355, 433)  # of words, in both lines
TO = PLACES[: len(ASKS)]
THICK, THIN = 16, 3  # a line of weight 1; one that has no weight yet
APART, EDGE = 10, 3  # between lines side by side; on both sides of a line that lies over others
TOLD = 0.1  # a weight that is told
AROUND = 4  # how far a value that is brought back reaches beyond its line
BIG, PALE = 24, 0.25  # weights; what is spoken of no more
READ, YESTERDAY = CROSSING = (ASKS.index("read"), ASKS.index("yesterday"))
OTHERS = [n for n in range(len(ASKS)) if n not in CROSSING]
EVERY = range(len(ASKED))
FIRST = ASKED.index("gestern")  # what German can begin with
BEGUN = (FIRST, 1, 0, *EVERY[3:])  # "gestern habe ich ein Buch gelesen"
Colours = Mapping[int, Colour]  # of words that are spoken of
Told = list[tuple[int, float, float, float]]  # to which words, from where to where, how thick


def opening() -> Film:
    """The film."""
    shares = weights()
    anew = [[row[BEGUN.index(m)] for m in EVERY] for row in weights(BEGUN)]
    told, moved = _told(shares), _told(anew, BEGUN)
    best = [row.index(max(row)) for row in shares]
    [fits] = (n for n, m in enumerate(best) if n == m)
    read, yesterday = (best[n] for n in CROSSING)
    helps = max({*EVERY} - {read}, key=lambda m: shares[READ][m])
    now: Colours = {READ: ORANGE, YESTERDAY: PURPLE}
    theirs: Colours = {read: ORANGE, helps: ORANGE, yesterday: PURPLE}
    found = {n: _lines(n, told[n], now.get(n, BLUE)) for n in (*OTHERS, *now)}
    says = {n: _weights(n, told[n], shares, now[n]) for n in now}
    all_five = dict.fromkeys(range(len(ASKS)), BLUE)
    of_yesterday = f"{shares[YESTERDAY][yesterday]:.2f}"
    stays = [part for n in OTHERS if n != fits for part in _pale(found[n])]
    swapped = _words({fits: BLUE, **now}, {best[fits]: BLUE, **theirs}, BEGUN, GREY)
    asked = [
        dot("query", TO[YESTERDAY], BELOW, THICK / 2 + AROUND, PURPLE),
        word("asks what", TO[YESTERDAY] + 18, BELOW + 10, "?", PURPLE, "start", 36, 700),
    ]
    frames = [
        Frame(
            [*_in_order(fits), *_words({fits: BLUE}, {best[fits]: BLUE})],
            f"By place, only “{ASKS[fits]}” meets its own word.",
        ),
        Frame(
            [
                *_lines(READ, _fan(READ), ORANGE, way=0),
                dot("query", TO[READ], BELOW, THICK / 2 + AROUND, ORANGE),
                *_words({READ: ORANGE}, dict.fromkeys(EVERY, ORANGE)),
            ],
            "So “read” asks: its query is compared with all six keys.",
        ),
        Frame(
            [*found[READ], *says[READ], *_words({READ: ORANGE}, {read: ORANGE, helps: ORANGE})],
            f"It brings back {shares[READ][read]:.2f} of “{ASKED[read]}”, which German says last, "
            f"and {shares[READ][helps]:.2f} of its helper “{ASKED[helps]}”.",
        ),
        Frame(
            [*chain(*(found[n] + says[n] for n in now)), *_words(now, theirs)],
            f"“yesterday” is last in English. It reaches across: “{ASKED[yesterday]}” gets "
            f"{of_yesterday}.",
        ),
        Frame(
            [
                *chain(*found.values(), says[YESTERDAY]),
                *_words({**all_five, **now}, {**dict.fromkeys(best, BLUE), **theirs}),
            ],
            "Each gives most weight to its own word. "
            f"Only “{ASKS[fits]}” finds it in its own place.",
        ),
        Frame(
            [
                *stays,
                *_pale(found[READ]),
                *_lines(YESTERDAY, _fan(YESTERDAY, BEGUN), PURPLE, way=0),
                *asked,
                *swapped,
            ],
            f"“{ASKED[FIRST].capitalize()} habe ich …” is good German, too. "
            "What does “yesterday” bring back now?",
        ),
        Frame(
            [
                *stays,
                *found[READ],
                *_lines(fits, moved[fits], BLUE),
                *_lines(YESTERDAY, moved[YESTERDAY], PURPLE),
                *_weights(YESTERDAY, moved[YESTERDAY], anew, PURPLE),
                word("before", TO[YESTERDAY] + 18, BELOW - 19, "as before", GREY, "start", SMALL),
                *swapped,
            ],
            f"In this model keys know no place: “yesterday” still gives “{ASKED[FIRST]}” "
            f"{anew[YESTERDAY][FIRST]:.2f}.",
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
    return [PLACES[order.index(m)] for m in EVERY]


def _words(
    asking: Colours, heard: Colours, order: Sequence[int] = EVERY, colour: str | Colour = INK
) -> list[Part]:
    """The original, what each of its words means, and its translation.

    Words have the colour of their lines, and are bold in focus: those that are not blue.
    Those that change places come again there: on the way they would lie on others.
    """

    def look(n: int, spoken: Colours, colour: str | Colour) -> Any:
        seen = spoken.get(n, colour)
        return {"colour": seen, "weight": 600 if seen in (ORANGE, PURPLE) else 400}

    parts = [word(name, LEFT, y, name, INK, "start", SMALL, 700) for name, y in LABELS.items()]
    for m, x in enumerate(german(order)):
        again = "" if order[m] == m else " again"
        parts.append(word(f"asked {m}{again}", x, TOP, ASKED[m], **look(m, heard, colour)))
        means = look(m, heard, GREY)
        parts.append(word(f"means {m}{again}", x, MEANT, MEANS[m], size=SMALL, **means))
    for n, x in enumerate(TO):
        parts.append(word(f"asks {n}", x, LOW, ASKS[n], size=SMALL, **look(n, asking, GREY)))
    return parts


def _weights(n: int, told: Told, shares: Sequence[Sequence[float]], colour: Colour) -> list[Part]:
    """Beside values that were brought back: of two, one at the left and one at the right."""
    parts = []
    for m, leaves, _, thick in told:
        side = -1 if (m, leaves) < told[-1][:2] else 1
        x, says = leaves + side * (thick / 2 + AROUND + 6), f"{shares[n][m]:.2f}"
        anchor = "end" if side < 0 else "start"
        parts.append(word(f"weight {n} {m}", x, BELOW + BIG / 3, says, colour, anchor, BIG, 700))
    return parts


def _in_order(fits: int) -> list[Part]:
    """From each word to the one in its own place, in blue from the one whose own word that is."""
    parts = []
    for n, x in enumerate(TO):
        colour = BLUE if n == fits else GREY
        parts.append(line(f"place {n}", [(x, BELOW), (x, ABOVE)], colour, THIN))
        parts += [dot(f"place {n} at {y}", x, y, 5, colour) for y in (BELOW, ABOVE)]
    return parts


def _fan(n: int, order: Sequence[int] = EVERY) -> Told:
    """From a word to all, side by side, together as thick as a weight of 1."""
    thick = THICK / len(ASKED)
    left = TO[n] - thick * (len(ASKED) - 1) / 2
    return [(m, left + thick * at, PLACES[at], thick) for at, m in enumerate(order)]


def _told(shares: Sequence[Sequence[float]], order: Sequence[int] = EVERY) -> list[Told]:
    """Where each word looks most, and "read" with any weight that is told.

    Lines lie side by side at both ends, so that each has a place of its own.
    """
    at = german(order)
    shown = [
        [share * (share >= (TOLD if n == READ else max(row))) for share in row]
        for n, row in enumerate(shares)
    ]
    rows = [[row[m] for m in order] for row in shown]
    columns = [[row[m] for row in shown] for m in EVERY]
    return [
        [
            (
                m,
                TO[n] + _aside(rows[n], order.index(m)),
                at[m] + _aside(columns[m], n),
                THICK * share,
            )
            for m, share in enumerate(row)
            if share
        ]
        for n, row in enumerate(shown)
    ]


def _aside(row: Sequence[float], at: int) -> float:
    """How far a line is from the middle of those that are told, when they lie side by side."""
    wide = [THICK * share + APART if share else 0 for share in row]
    return sum(wide[:at]) + wide[at] / 2 - sum(wide) / 2


def _lines(n: int, told: Told, colour: Colour, way: float = 1) -> list[Part]:
    """A word's, which pass over those behind, and the values that it brings back along them.

    Values are 0 of the way, still at their keys, or 1, all of it.
    """
    along: dict[str, float | str] = {
        "pathLength": 100,
        "stroke-dasharray": "0 200",
        "stroke-dashoffset": -99.9 + 99.9 * way,
    }
    lines, values = [], []
    for m, leaves, arrives, thick in told:
        ends, wide = ((leaves, BELOW), (arrives, ABOVE)), thick + 2 * AROUND
        key = f"{n} to {m}"
        if way:
            edge = curve(f"edge of {key}", *ends, GROUND, thick + 2 * EDGE, upright=True)
            lines.append(edge)
        lines.append(curve(key, *ends, colour, thick, upright=True))
        for kind, fill, size in (("rim", GROUND, wide + 2 * EDGE), ("value", colour, wide)):
            value = curve(f"{kind} of {m} for {n}", *ends, fill, size, upright=True)
            values.append(value._replace(look={**value.look, **along}))
    return lines + values


def _pale(parts: Iterable[Part]) -> list[Part]:
    """Lines that are spoken of no more, and what they brought, without rims."""
    seen = (each for each in parts if not each.key.startswith(("edge", "rim")))
    return [each._replace(look={**each.look, "opacity": PALE}) for each in seen]
