"""Lesson 02 opens with one query that meets each key, until its row of Z is full."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, Place, arc, box, line, word
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
FLOOR, WORDS = 44, 64  # where arcs begin; the words' line
KEY, ASKED, NUMBER = 74, 103, 136  # tops of the cells, and of the places for one number
UNIT, BAR, STEP = 34, 18, 21  # px for an entry of 1; how tall its bar is; from bar to bar
VALUE, OUT = 170, 224  # tops of the first bars, of values and of Z
APART = 2  # between the parts of Z's bars, so that slim ones are seen
GHOST = 0.2  # of what is not read
BESIDE = 14  # how far from the middle of the word that asks its arcs to others begin
TOTAL, TERMS = 226, (286, 358, 430)  # where a sum in numbers ends, and the middles of its parts


def opening() -> Film:
    """The film."""
    scores = [sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS]
    asked = [_asked(m, scores) for m in range(len(TOKENS))]
    frames = [_begins(), *asked, *_weighed(scores), *_fills(weights(scores))]
    return Film("How much does “cat” hear of each word?", frames, HIGH)


def weights(scores: Sequence[float]) -> list[float]:
    """(3,), softmax of the scores divided by √3."""
    powers = [math.exp(score / math.sqrt(len(QUERY))) for score in scores]
    return [power / sum(powers) for power in powers]


def _begins() -> Frame:
    return Frame(
        [*_stage(MIDDLES[ASKS]), *_numbers("score", ["?"] * 3), *_values(), *_room()],
        "“cat” asks each key with its query. Z is what it will hear of the values.",
    )


def _asked(m: int, scores: Sequence[int]) -> Frame:
    products = [f"{q} · {k}" for q, k in zip(QUERY, KEYS[m], strict=True)]
    known = [f"{score}" if at <= m else "?" for at, score in enumerate(scores)]
    parts = [*_stage(MIDDLES[m]), *_numbers("score", known), *_values(), *_room()]
    whose = "its own key" if m == ASKS else f"the key of “{TOKENS[m]}”"
    return Frame(parts, f"Beside {whose}: {' + '.join(products)} = {scores[m]}.")


def _weighed(scores: Sequence[int]) -> list[Frame]:
    """The scores, scaled; and what softmax makes of them."""
    shares, rest = weights(scores), [*_values(), *_room()]
    best = shares.index(max(shares))
    scaled = [f"{score / math.sqrt(len(QUERY)):.1f}" for score in scores]
    return [
        Frame(
            [*_stage(MIDDLES[ASKS]), *_numbers("÷ √3", scaled), *rest],
            "Each score is divided by √3, the root of the keys' width.",
        ),
        Frame(
            [*_shared(shares), *rest],
            f"Softmax makes shares of them, which add up to 1: “{TOKENS[best]}” gets "
            f"{shares[best]:.3f}.",
        ),
    ]


def _shared(shares: Sequence[float]) -> list[Part]:
    """The words, and the share of each."""
    texts = [f"{share:.3f}" for share in shares]
    return [*_stage(MIDDLES[ASKS], shares), *_numbers("share", texts, shares)]


def _fills(shares: Sequence[float]) -> list[Frame]:
    """As much of the values as is read, and the sum."""
    best = shares.index(max(shares))
    most = " and ".join(f"{shares[best] * value:.2f}" for value in VALUES[best])
    read = [*_shared(shares), *_values(shares)]
    return [
        Frame(
            [*read, *_room(), *_copies(shares)],
            f"A share says how much of a value is read: of “{TOKENS[best]}” {most}.",
        ),
        Frame(
            [*read, *_room(""), *_sum(shares)],
            "What is read of each word is added up, entry by entry.",
        ),
        Frame(
            [*read, *_room(""), *_sum(shares), *_total(shares)],
            "That is a row of Z: what “cat” has heard of each word, mostly of “sat”.",
        ),
    ]


def _stage(asks: float, shares: Sequence[float] = ()) -> list[Part]:
    """The words, their arcs and keys, the query where it asks, and what each row is called."""
    parts = [
        word(f"word {m}", MIDDLES[m], WORDS, token, COLOURS[m], size=24, weight=600)
        for m, token in enumerate(TOKENS)
    ]
    for m, key in enumerate(KEYS):
        parts += _cells(f"key {m}", MIDDLES[m], KEY, key, COLOURS[m], 0.12)
    parts += _cells("query", asks, ASKED, QUERY, COLOURS[ASKS], 0.3)
    names = [_name("key", KEY + 19.5), _name("query", ASKED + 19.5)]
    return [*_arcs(shares), *parts, *names]


def _name(name: str, below: float, key: str = "") -> Part:
    """Of a row, at its left."""
    return word(f"name of {key or name}", NAMES, below, name, GREY, "end", SMALL)


def _arcs(shares: Sequence[float]) -> list[Part]:
    """From the word that asks, as thick as its shares; thin and grey as long as there are none."""
    return [
        arc(
            f"arc {m}",
            MIDDLES[ASKS] + BESIDE * (m - ASKS),
            MIDDLES[m],
            FLOOR,
            share,
            COLOURS[m] if shares else GREY,
            1 / (0.5 + 0.5 * share),
            900,
            thickest=11,
        )
        for m, share in enumerate(shares or [0.1] * len(TOKENS))
    ]


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


def _numbers(name: str, texts: Sequence[str], shares: Sequence[float] = ()) -> list[Part]:
    """One number of each word, in a place that is filled as far as its share; and what it is."""
    parts = [_name(name, NUMBER + 19, "numbers")]
    wide = CELL * len(QUERY)
    for m, text in enumerate(texts):
        share = shares[m] if shares else 0
        parts += [
            box(f"filled {m}", (_left(m), NUMBER), (wide * share, TALL), COLOURS[m], 0.35),
            box(f"place {m}", (_left(m), NUMBER), (wide, TALL), COLOURS[m], 0, 1.5),
            word(f"number {m}", MIDDLES[m], NUMBER + 20, text, weight=700),
        ]
    return parts


def _values(shares: Sequence[float] = ()) -> list[Part]:
    """Two numbers of each word as bars, and how much of them is read: at first all."""
    parts = [_name("read" if shares else "value", VALUE + 26, "values")]
    for m, e, number in _entries():
        place, read = (_left(m), VALUE + e * STEP), number * (shares[m] if shares else 1)
        text = f"{read:.2f}" if shares and number else f"{number}"
        parts += [
            _bar(f"all {m} {e}", m, number, place, GHOST),
            _bar(f"part {m} {e}", m, read, place),
            _at_end(f"value {m} {e}", place[0], read, place[1], text),
        ]
    return [*parts, *(_zero(f"zero {m}", m, _left(m), VALUE) for m in range(len(TOKENS)))]


def _entries() -> list[tuple[int, int, int]]:
    """Of the values: the word's place, the entry's, and the number."""
    return [(m, e, number) for m, value in enumerate(VALUES) for e, number in enumerate(value)]


def _zero(key: str, m: int, left: float, top: float) -> Part:
    """Where bars begin."""
    return line(key, [(left, top - 2), (left, top + STEP + BAR + 2)], COLOURS[m], 1.5)


def _copies(shares: Sequence[float]) -> list[Part]:
    """What is read, once more where it is read."""
    return [
        _bar(f"sum {m} {e}", m, shares[m] * number, (_left(m), VALUE + e * STEP))
        for m, e, number in _entries()
    ]


def _sum(shares: Sequence[float]) -> list[Part]:
    """The row of Z: what is read of each word, one after the other."""
    bars, right = [], [_left(0)] * 2
    for m, e, number in _entries():
        read = shares[m] * number
        bars.append(_bar(f"sum {m} {e}", m, read, (right[e], OUT + e * STEP)))
        right[e] += UNIT * read + (APART if read else 0)
    return bars


def _total(shares: Sequence[float]) -> list[Part]:
    """The same in numbers."""
    parts = []
    for e in range(2):
        read = [share * value[e] for share, value in zip(shares, VALUES, strict=True)]
        y = OUT + e * STEP + 15.5
        parts.append(word(f"z {e}", TOTAL, y, f"{sum(read):.2f}", INK, "end", SMALL, 700))
        for m, (x, part, value) in enumerate(zip(TERMS, read, VALUES, strict=True)):
            text = f"{part:.2f}" if value[e] else "0"
            parts += [
                word(f"sign {m} {e}", x - 36, y, "+" if m else "=", size=SMALL),
                word(f"term {m} {e}", x, y, text, COLOURS[m], size=SMALL),
            ]
    return parts


def _room(text: str = "?") -> list[Part]:
    """For a row of Z, which is empty at first."""
    left, middle = _left(0), OUT + 28
    return [
        word("name of z", NAMES - 6, middle, "Z", COLOURS[ASKS], "end", 24, 700),
        box("room", (left - 6, OUT - 5), (WIDE - left + 2, 49), COLOURS[ASKS], 0.08, 1.5),
        word("empty", MIDDLES[ASKS], middle, text, COLOURS[ASKS], size=24, weight=700),
    ]


def _bar(key: str, m: int, number: float, place: Place, opacity: float = 1) -> Part:
    return box(key, place, (UNIT * number, BAR), COLOURS[m], opacity=opacity)


def _at_end(key: str, left: float, number: float, top: float, text: str) -> Part:
    return word(key, left + UNIT * number + 6, top + 15.5, text, INK, "start", SMALL)
