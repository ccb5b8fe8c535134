"""Lesson 02 opens with one query that meets each key, until its row of Z is full."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, arc, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

# The lesson's: what "cat" asks, and what each word promises and passes on.
TOKENS = ("the", "cat", "sat")
QUERY = (1, 2, 0)
KEYS = ((1, 0, 1), (0, 1, 0), (2, 2, 1))
VALUES = ((1, 0), (0, 2), (3, 1))
ASKS = 1  # the word that does

HIGH = 268
COLOURS = (PURPLE, ORANGE, BLUE)
MIDDLES = (126, 262, 398)
CELL, TALL = 40, 30
NAMES = 58  # where the rows' names end
FLOOR, WORDS = 42, 64  # where arcs begin; the words' line
PULL, LOOP = 50, 42  # of arcs to others, and to itself
BESIDE = 14  # how far from the middle of the word that asks its arcs to others begin
KEY, ASKED = 84, 120  # tops of cells, while it asks
ADDS, FOUND = 182, 232  # lines of products and of scores
SCORE, SCALED, SHARE = 118, 170, 208  # lines of scores and the top of shares, when they are weighed
READ, VALUE, OUT = 82, 134, 206  # tops of shares, values and Z, when they are read
UNIT, BAR, STEP, LEAD = 36, 16, 20, 28  # px for 1; a bar, and from one to the next, also in Z
APART = 2  # between the parts of Z's bars, so that slim ones are seen
GHOST = 0.2  # of what is not read
SAYS, ROOM, INSET = 184, 184, 8  # where Z's numbers begin; its place, and how far in bars are
TERMS, SIGN = (300, 372, 444), 36  # of a sum: its parts, and a sign before each
BIG = 24  # scores, and what is found


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
        [*_words(), *_asking(ASKS)],
        "“cat” puts its query beside each key. Where they fit, the score is high.",
    )


def _asked(m: int, scores: Sequence[int]) -> Frame:
    products = [f"{q} · {k}" for q, k in zip(QUERY, KEYS[m], strict=True)]
    whose = "its own key" if m == ASKS else f"the key of “{TOKENS[m]}”"
    return Frame(
        [*_words(asked=m), *_asking(m), *_added(m), *_row("score", scores[: m + 1], FOUND)],
        f"Beside {whose}: {' + '.join(products)} = {scores[m]}.",
    )


def _weighed(scores: Sequence[int]) -> list[Frame]:
    """The scores, scaled; and what softmax makes of them."""
    shares, scaled = weights(scores), [score / math.sqrt(len(QUERY)) for score in scores]
    texts = [f"{each:.1f}" for each in scaled]
    second, best = sorted(range(len(TOKENS)), key=lambda m: shares[m])[-2:]
    above = f"{scaled[best] - scaled[second]:.1f}"
    return [
        Frame(
            [*_words(), *_row("score", scores, SCORE), *_row("÷ √3", texts, SCALED)],
            "Longer keys, larger scores: divide by √3, as these keys have 3 numbers.",
        ),
        Frame(
            [
                *_words(shares),
                *_row("score", scores, SCORE, is_past=True),
                *_row("÷ √3", texts, SCALED),
                *_shares(shares, SHARE),
            ],
            f"{texts[best]} is {above} above {texts[second]}: softmax gives it "
            f"e^{above} = {shares[best] / shares[second]:.0f} times the share.",
        ),
    ]


def _fills(shares: Sequence[float]) -> list[Frame]:
    """The values, as much of them as is read, and the sum."""
    best = shares.index(max(shares))
    most = max(VALUES[best])
    known = [*_words(shares), *_shares(shares, READ)]
    read = [*known, *_values(shares)]
    return [
        Frame(
            [*known, *_values(), *_room()],
            "Each word has a value to pass on, here two numbers.",
        ),
        Frame(
            [*read, *_room(), *_copies(shares)],
            f"Of each value its share is read: {shares[best]:.3f} of {most} "
            f"is {shares[best] * most:.2f}.",
        ),
        Frame(
            [*read, *_room(), *_sum(shares)],
            "Added up, that is a row of Z: what “cat” hears, mostly of “sat”.",
        ),
    ]


def _words(shares: Sequence[float] = (), asked: int | None = None) -> list[Part]:
    """The words and their arcs: as thick as shares, or grey but for one who is asked."""
    arcs = [
        arc(
            f"arc {m}",
            MIDDLES[ASKS] + BESIDE * (m - ASKS),
            MIDDLES[m],
            FLOOR,
            share,
            COLOURS[m] if shares or m == asked else GREY,
            3.6 if m == asked else 1 / (0.5 + 0.5 * share),
            thickest=11,
            pull=LOOP if m == ASKS else PULL,
        )
        for m, share in enumerate(shares or [0] * len(TOKENS))
    ]
    return arcs + [
        word(f"word {m}", MIDDLES[m], WORDS, token, COLOURS[m], size=BIG, weight=600)
        for m, token in enumerate(TOKENS)
    ]


def _asking(m: int) -> list[Part]:
    """Each word's key, and the query beside one."""
    parts = [_name("key", KEY + 22), _name("query", ASKED + 22)]
    for n, key in enumerate(KEYS):
        parts += _cells(f"key {n}", MIDDLES[n], KEY, key, COLOURS[n], 0.12)
    return [*parts, *_cells("query", MIDDLES[m], ASKED, QUERY, COLOURS[ASKS], 0.3)]


def _added(m: int) -> list[Part]:
    """Products of the query's numbers and a key's, under each pair, and signs between them."""
    parts = []
    for c, (q, k) in enumerate(zip(QUERY, KEYS[m], strict=True)):
        x = MIDDLES[m] + CELL * (c - 1)
        parts.append(word(f"product {c}", x, ADDS, f"{q * k}"))
        if c:
            parts.append(word(f"plus {c}", x - CELL / 2, ADDS, "+", GREY))
    return parts


def _name(name: str, line: float) -> Part:
    """Of a row, at its left."""
    return word(f"name of {name}", NAMES, line, name, GREY, "end", SMALL)


def _cells(
    key: str, middle: float, top: float, numbers: Sequence[int], colour: Colour, filled: float
) -> list[Part]:
    parts = []
    for c, number in enumerate(numbers):
        left = middle + CELL * (c - len(numbers) / 2)
        parts += [
            box(f"{key} box {c}", (left, top), (CELL, TALL), colour, filled, 1.5),
            word(f"{key} {c}", left + CELL / 2, top + 22, f"{number}"),
        ]
    return parts


def _left(m: int) -> float:
    """Of a word's column."""
    return MIDDLES[m] - CELL * len(QUERY) / 2


def _row(name: str, numbers: Sequence[int | str], line: float, is_past: bool = False) -> list[Part]:
    """A number of each word; grey when it was used."""
    colour, weight = (GREY, 400) if is_past else (INK, 700)
    return [
        _name(name, line - 2),
        *(
            word(f"{name} {m}", MIDDLES[m], line, f"{number}", colour, size=BIG, weight=weight)
            for m, number in enumerate(numbers)
        ),
    ]


def _shares(shares: Sequence[float], top: float) -> list[Part]:
    """Each word's share, in a place that is filled as far."""
    parts, wide = [_name("share", top + 21)], CELL * len(QUERY)
    for m, share in enumerate(shares):
        parts += [
            box(f"filled {m}", (_left(m), top), (wide * share, TALL), COLOURS[m], 0.35),
            box(f"place {m}", (_left(m), top), (wide, TALL), COLOURS[m], 0, 1.5),
            word(f"share {m}", MIDDLES[m], top + 22, f"{share:.3f}", weight=700),
        ]
    return parts


def _values(shares: Sequence[float] = ()) -> list[Part]:
    """Two numbers of each word as bars, and how much of them is read: at first all."""
    parts = [_name("value", VALUE + 24)]
    for m, e, number in _entries():
        place, read = (_left(m), VALUE + e * STEP), number * (shares[m] if shares else 1)
        at = (place[0] + UNIT * number + 6, place[1] + 15)
        parts += [
            _bar(f"all {m} {e}", m, number, place, GHOST),
            _bar(f"part {m} {e}", m, read, place),
            word(f"value {m} {e}", *at, f"{number}", INK, "start", SMALL),
        ]
    return [*parts, *(_zero(m) for m in range(len(TOKENS)))]


def _entries() -> list[tuple[int, int, int]]:
    """Of the values: the word's place, the entry's, and the number."""
    return [(m, e, number) for m, value in enumerate(VALUES) for e, number in enumerate(value)]


def _zero(m: int) -> Part:
    """Where a word's bars begin."""
    ends = [(_left(m), VALUE - 2), (_left(m), VALUE + STEP + BAR + 2)]
    return line(f"zero {m}", ends, COLOURS[m], 1.5)


def _copies(shares: Sequence[float]) -> list[Part]:
    """What is read, once more where it is read."""
    return [
        _bar(f"sum {m} {e}", m, shares[m] * number, (_left(m), VALUE + e * STEP))
        for m, e, number in _entries()
    ]


def _sum(shares: Sequence[float]) -> list[Part]:
    """The row of Z: what is read of each word, one after the other, and in numbers."""
    parts, right = [], [_left(0) + INSET] * 2
    for m, e, number in _entries():
        read, line = shares[m] * number, _line(e)
        parts += [
            _bar(f"sum {m} {e}", m, read, (right[e], OUT + e * LEAD)),
            word(f"term {m} {e}", TERMS[m], line, f"{read:.2f}", COLOURS[m], size=SMALL),
            word(f"sign {m} {e}", TERMS[m] - SIGN, line, "+" if m else "=", size=SMALL),
        ]
        right[e] += UNIT * read + (APART if read else 0)
    for e in range(len(right)):
        total = sum(share * value[e] for share, value in zip(shares, VALUES, strict=True))
        parts.append(word(f"z {e}", SAYS, _line(e), f"{total:.2f}", INK, "start", BIG, 700))
    return parts


def _line(e: int) -> float:
    """Of words beside a bar of Z."""
    return OUT + e * LEAD + 16


def _room() -> list[Part]:
    """For a row of Z."""
    corner, size = (_left(0), OUT - INSET), (ROOM, LEAD + BAR + 2 * INSET)
    return [
        word("name of z", NAMES, OUT + 30, "Z", COLOURS[ASKS], "end", BIG, 700),
        box("room", corner, size, COLOURS[ASKS], 0.08, 1.5),
    ]


def _bar(key: str, m: int, number: float, place: Place, opacity: float = 1) -> Part:
    return box(key, place, (UNIT * number, BAR), COLOURS[m], opacity=opacity)
