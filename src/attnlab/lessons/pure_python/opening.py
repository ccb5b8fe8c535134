"""Lesson 02 opens with one query that meets each key, until its row of Z is full."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SIZE, SMALL, Part, arc, box, line, ring, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

# The lesson's: what "cat" asks, and what each word promises and passes on.
TOKENS = ("the", "cat", "sat")
QUERY = (1, 2, 0)
KEYS = ((1, 0, 1), (0, 1, 0), (2, 2, 1))
VALUES = ((1, 0), (0, 2), (3, 1))
ASKS, BEST = 1, 2  # the word that does; the one that scores most

HIGH = 268
COLOURS = (PURPLE, ORANGE, BLUE)
MIDDLES, PLACE = (115, 268, 421), 90  # of the words; how wide a column is
NAMES = 54  # where the rows' names end
FLOOR, WORDS = 34, 62  # where arcs begin; the words' line
PULL, LOOP = 40, 10  # of arcs to others; how large the ring is to itself
BESIDE = 21  # how far from the middle of the word that asks its arcs to others begin
TALL = 32  # how tall rows are
KEY, ASKED, ADDS, FOUND = 84, 126, 186, 212  # tops of rows and the line of products, while it asks
SCORE, SCALED, SHARE = 84, 148, 212  # while scores are weighed
KNOWN, WEIGHT, VALUE, OUT = 92, 103, 152, (202, 234)  # while values are heard
UNIT, BAR = 108, 28  # px for 1 in Z; how tall its bars are
FILLED = 0.4  # of a share
NUMBER, BIG = 22, 24  # sizes of what is found in a row; of words and what is found at the end


def opening() -> Film:
    """The film."""
    scores = [sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS]
    asked = [_asked(m, scores) for m in range(len(TOKENS))]
    frames = [*asked, *_weighed(scores), *_fills(scores)]
    return Film("Three times the score: three times the share?", frames, HIGH)


def weights(scores: Sequence[float]) -> list[float]:
    """(3,), softmax of the scores divided by √3."""
    powers = [math.exp(score / math.sqrt(len(QUERY))) for score in scores]
    return [power / sum(powers) for power in powers]


def _asked(m: int, scores: Sequence[int]) -> Frame:
    products = [f"{q} · {k}" for q, k in zip(QUERY, KEYS[m], strict=True)]
    begins = "To" if m else "“cat” holds its query to"
    whose = "its own key" if m == ASKS else f"the key of “{TOKENS[m]}”"
    found = [str(score) if n <= m else "" for n, score in enumerate(scores)]
    return Frame(
        [*_words(asked=m), *_asking(m), *_added(m), *_row("score", found, FOUND)],
        f"{begins} {whose}: {' + '.join(products)} = {scores[m]}.",
    )


def _weighed(scores: Sequence[int]) -> list[Frame]:
    """The scores, scaled; and what softmax makes of them."""
    shares, (lead, times) = weights(scores), _compared(scores)
    rows = [
        *_row("score", map(str, scores), SCORE),
        _ahead("times score", SCORE + 24, _more(scores), GREY),
        *_scaled(scores, SCALED),
    ]
    empty = _row("share", [""] * len(TOKENS), SHARE)
    return [
        Frame(
            [*_words(), *rows, *empty],
            f"{scores[BEST]} is {_more(scores)[1:]} times {scores[ASKS]}. ÷ √3, as a "
            f"key has 3 numbers, “{TOKENS[BEST]}” leads “{TOKENS[ASKS]}” by {lead}.",
        ),
        Frame(
            [*_words(shares), *rows, *_shares(scores, SHARE)],
            f"No: softmax turns a lead of {lead} into exp({lead}) ≈ {times} times the share.",
        ),
    ]


def _fills(scores: Sequence[int]) -> list[Frame]:
    """The values, how much of each is heard, and the sum."""
    shares = weights(scores)
    known = [*_words(shares), *_scored(scores), *_shares(scores, WEIGHT), *_values()]
    best = TOKENS[BEST]
    return [
        Frame(
            [*known, *_in_values(shares), *_z()],
            f"Of each word's value, “cat” hears its share: {shares[BEST]:.3f} of “{best}”.",
        ),
        Frame(
            [*known, *_in_z(shares), *_z(shares)],
            "A lead of {} makes {} times the share: “{}” fills most of Z.".format(
                *_compared(scores), best
            ),
        ),
    ]


def _compared(scores: Sequence[int]) -> tuple[str, str]:
    """By how much the best score leads the second, scaled, and how many times its share that is."""
    shares = weights(scores)
    lead = (scores[BEST] - scores[ASKS]) / math.sqrt(len(QUERY))
    return f"{lead:.1f}", f"{shares[BEST] / shares[ASKS]:.0f}"


def _words(shares: Sequence[float] = (), asked: int | None = None) -> list[Part]:
    """The words and their arcs: as thick as shares, or grey but for one who is asked."""
    arcs = []
    for m, share in enumerate(shares or [0] * len(TOKENS)):
        colour = COLOURS[m] if shares or m == asked else GREY
        opacity = 3.6 if m == asked else 1 / (0.5 + 0.5 * share)
        begins, ends, key = MIDDLES[ASKS] + BESIDE * (m - ASKS), MIDDLES[m], f"arc {m}"
        if m == ASKS:
            arcs.append(ring(key, ends, FLOOR + 4, share, colour, opacity, LOOP, 10))
        else:
            arcs.append(
                arc(key, begins, ends, FLOOR, share, colour, opacity, thickest=10, pull=PULL)
            )
    return arcs + [
        word(f"word {m}", MIDDLES[m], WORDS, token, COLOURS[m], size=BIG, weight=600)
        for m, token in enumerate(TOKENS)
    ]


def _asking(m: int) -> list[Part]:
    """Each word's key, and the query beside one."""
    parts = [_name("key", KEY + 23), _name("query", ASKED + 23)]
    for n, key in enumerate(KEYS):
        parts += _cells(f"key {n}", n, KEY, key, COLOURS[n], 0.12)
    return [*parts, *_cells("query", m, ASKED, QUERY, COLOURS[ASKS], 0.3)]


def _added(m: int) -> list[Part]:
    """Products of the query's numbers and a key's, under each pair, and signs between them.

    Each key has its own, so that they come when the query is there.
    """
    parts = []
    for c, (q, k) in enumerate(zip(QUERY, KEYS[m], strict=True)):
        x = MIDDLES[m] + PLACE / len(QUERY) * (c - 1)
        parts.append(word(f"product {m} {c}", x, ADDS, f"{q * k}"))
        if c:
            parts.append(word(f"plus {m} {c}", x - PLACE / len(QUERY) / 2, ADDS, "+", GREY))
    return parts


def _name(name: str, line: float) -> Part:
    """Of a row, at its left."""
    return word(f"name of {name}", NAMES, line, name, GREY, "end", SMALL)


def _cells(
    key: str, m: int, top: float, numbers: Sequence[int], colour: Colour, filled: float
) -> list[Part]:
    """Numbers, which share a word's column."""
    parts, wide = [], PLACE / len(numbers)
    for c, number in enumerate(numbers):
        left = _left(m) + wide * c
        parts += [
            box(f"{key} box {c}", (left, top), (wide, TALL), colour, filled, 1.5),
            word(f"{key} {c}", left + wide / 2, top + 23, f"{number}"),
        ]
    return parts


def _left(m: int) -> float:
    """Of a word's column."""
    return MIDDLES[m] - PLACE / 2


def _row(name: str, texts: Iterable[str], top: float) -> list[Part]:
    """A place for a number of each word, and the number where it is known."""
    parts = [_name(name, top + 23)]
    for m, text in enumerate(texts):
        parts.append(box(f"{name} place {m}", (_left(m), top), (PLACE, TALL), COLOURS[m], 0, 1.5))
        if text:
            parts.append(word(f"{name} {m}", MIDDLES[m], top + 24, text, size=NUMBER, weight=700))
    return parts


def _ahead(
    key: str, y: float, says: str, colour: Colour = COLOURS[BEST], size: float = SIZE
) -> Part:
    """How far the best is ahead of the second, between them."""
    x = (MIDDLES[ASKS] + MIDDLES[BEST]) / 2
    return word(key, x, y, says, colour, size=size, weight=700)


def _more(scores: Sequence[int]) -> str:
    """How many times the second score the best is."""
    return f"×{scores[BEST] / scores[ASKS]:.0f}"


def _scored(scores: Sequence[int]) -> list[Part]:
    """The scores again, small."""
    return [
        _name("score", KNOWN),
        *(
            word(f"score {m}", MIDDLES[m], KNOWN, f"{n}", GREY, size=SMALL)
            for m, n in enumerate(scores)
        ),
        _ahead("times score", KNOWN, _more(scores), GREY, SMALL),
    ]


def _scaled(scores: Sequence[int], top: float) -> list[Part]:
    row = _row("÷ √3", (f"{score / math.sqrt(len(QUERY)):.1f}" for score in scores), top)
    return [*row, _ahead("lead", top + 24, f"+{_compared(scores)[0]}")]


def _shares(scores: Sequence[int], top: float) -> list[Part]:
    """Each word's share, in a place that is filled as far; and the best's beside the second."""
    filled = [
        box(f"filled {m}", (_left(m), top), (PLACE * share, TALL), COLOURS[m], FILLED)
        for m, share in enumerate(weights(scores))
    ]
    row = _row("share", (f"{share:.3f}" for share in weights(scores)), top)
    return [*filled, *row, _ahead("times", top + 24, f"×{_compared(scores)[1]}", size=BIG)]


def _values() -> list[Part]:
    rows = [_cells(f"value {m}", m, VALUE, value, COLOURS[m], 0) for m, value in enumerate(VALUES)]
    return [_name("value", VALUE + 23), *(part for row in rows for part in row)]


def _entries() -> list[tuple[int, int, int]]:
    """Of the values: the word's place, the entry's, and the number; where it is not 0."""
    return [(m, e, n) for m, value in enumerate(VALUES) for e, n in enumerate(value) if n]


def _in_values(shares: Sequence[float]) -> list[Part]:
    """Of each number of a value, the share that is heard."""
    wide = PLACE / len(VALUES[0])
    return [
        box(
            f"heard {m} {e}",
            (_left(m) + wide * e, VALUE),
            (wide * shares[m], TALL),
            COLOURS[m],
            FILLED,
        )
        for m, e, _ in _entries()
    ]


def _in_z(shares: Sequence[float]) -> list[Part]:
    """The same in Z, one after the other: share times number long."""
    parts, right = [], [_left(0)] * len(OUT)
    for m, e, number in _entries():
        size = (UNIT * shares[m] * number, BAR)
        parts.append(box(f"heard {m} {e}", (right[e], OUT[e]), size, COLOURS[m], 0.85))
        right[e] += size[0]
    return parts


def _z(shares: Sequence[float] = ()) -> list[Part]:
    """Where Z begins; with shares, what its numbers are."""
    left = _left(0)
    parts = [
        *(_name(name, top + 20) for name, top in zip(("Z, 1st", "2nd"), OUT, strict=True)),
        line("z", [(left - 2, OUT[0] - 4), (left - 2, OUT[1] + BAR + 4)], ORANGE, 3),
    ]
    for e, top in enumerate(OUT if shares else ()):
        total = sum(share * value[e] for share, value in zip(shares, VALUES, strict=True))
        x = left + UNIT * total + 8
        parts.append(word(f"z {e}", x, top + 23, f"{total:.2f}", ORANGE, "start", BIG, 700))
    return parts
