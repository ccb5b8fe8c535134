"""Lesson 02 opens with one query that meets each key, until its row of Z is full."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SIZE, SMALL, Part, Place, arc, box, line, ring, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

# The lesson's: what "cat" asks, and what each word promises and passes on.
TOKENS = ("the", "cat", "sat")
QUERY = (1, 2, 0)
KEYS = ((1, 0, 1), (0, 1, 0), (2, 2, 1))
VALUES = ((1, 0), (0, 2), (3, 1))
ASKS = 1  # the word that does

HIGH = 268
COLOURS = (PURPLE, ORANGE, BLUE)
MIDDLES = (124, 268, 412)
CELL, TALL = 40, 30
NAMES = 56  # where the rows' names end
FLOOR, WORDS = 36, 66  # where arcs begin; the words' line
PULL, LOOP = 40, 10  # of arcs to others; how large the ring is to itself
BESIDE = 21  # how far from the middle of the word that asks its arcs to others begin
KEY, ASKED, ADDS, FOUND = 86, 124, 184, 214  # tops of cells and scores, and the products' line
SCORE, SCALED, SHARE = 82, 148, 216  # tops of rows while scores are weighed
WHY, WEIGHT, VALUE, HEARD, OUT = 86, 92, 123, 170, 219  # while values are heard
SLIM = 26  # how tall shares are then
PLACE = CELL * len(QUERY)  # how wide a word's column is
HALF, INSET, BAR = PLACE / 2, 5, 15  # how wide cells of values and of Z are; bars in them
HIGHER, HIGHEST, SAYS = 43, 47, 20  # cells of values; those of Z; lines of numbers in them
UNIT = (HALF - 2 * INSET) / 3  # px for 1: the largest value fills its cell
FILLED, GHOST = 0.4, 0.25  # a share; a bar of which a share was heard
BIG = 24  # scores, and what is found


def opening() -> Film:
    """The film."""
    scores = [sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS]
    asked = [_asked(m, scores) for m in range(len(TOKENS))]
    frames = [_begins(), *asked, *_weighed(scores), *_fills(scores)]
    return Film("How much does “cat” hear of each word?", frames, HIGH)


def weights(scores: Sequence[float]) -> list[float]:
    """(3,), softmax of the scores divided by √3."""
    powers = [math.exp(score / math.sqrt(len(QUERY))) for score in scores]
    return [power / sum(powers) for power in powers]


def _begins() -> Frame:
    return Frame(
        [*_words(), *_asking(ASKS), *_row("score", [""] * len(TOKENS), FOUND)],
        "“cat” asks each key: large numbers in the same place score high.",
    )


def _asked(m: int, scores: Sequence[int]) -> Frame:
    products = [f"{q} · {k}" for q, k in zip(QUERY, KEYS[m], strict=True)]
    whose = "its own key" if m == ASKS else f"the key of “{TOKENS[m]}”"
    found = [str(score) if n <= m else "" for n, score in enumerate(scores)]
    return Frame(
        [*_words(asked=m), *_asking(m), *_added(m), *_row("score", found, FOUND)],
        f"Beside {whose}: {' + '.join(products)} = {scores[m]}.",
    )


def _weighed(scores: Sequence[int]) -> list[Frame]:
    """The scores, scaled; and what softmax makes of them."""
    shares, root = weights(scores), math.sqrt(len(QUERY))
    second, best = sorted(range(len(TOKENS)), key=lambda m: shares[m])[-2:]
    lead = f"{(scores[best] - scores[second]) / root:.1f}"
    times = f"{shares[best] / shares[second]:.0f}"
    rows = [
        *_row("score", [f"{score}" for score in scores], SCORE),
        *_row("÷ √3", [f"{score / root:.1f}" for score in scores], SCALED),
    ]
    return [
        Frame(
            [*_words(), *rows, *_row("share", [""] * len(TOKENS), SHARE)],
            "More numbers per key, larger scores: ÷ √3 evens that out (lesson 04).",
        ),
        Frame(
            [
                *_words(shares),
                *rows,
                *_shares(shares, SHARE),
                *_compared("lead", second, best, SCALED, f"+ {lead}"),
                *_compared("times", second, best, SHARE, f"× {times}"),
            ],
            f"“{TOKENS[best]}” leads “{TOKENS[second]}” by {lead}: softmax gives it "
            f"exp({lead}) ≈ {times} times the share.",
        ),
    ]


def _fills(scores: Sequence[int]) -> list[Frame]:
    """The values, what is heard of each, and the sum."""
    shares = weights(scores)
    best = shares.index(max(shares))
    most = max(VALUES[best])
    heard = [share * value[0] for share, value in zip(shares, VALUES, strict=True)]
    known = [*_words(shares), *_why(scores), *_shares(shares, WEIGHT, SIZE, SLIM), *_values()]
    return [
        Frame(
            [*known, *_flows([1] * len(TOKENS), VALUE), *_heard(), *_row_of_z()],
            "Each word has a value to pass on, here two numbers.",
        ),
        Frame(
            [*known, *_heard(shares), *_flows(shares, HEARD), *_row_of_z()],
            f"Of each value “cat” hears its share: {shares[best]:.3f} of {most} "
            f"is {shares[best] * most:.2f}.",
        ),
        Frame(
            [*known, *_heard(shares, GHOST), *_pluses(), *_added_up(shares), *_row_of_z(shares)],
            f"{' + '.join(map(_term, heard))} = {_term(sum(heard))}: Z is close to the value of "
            f"“{TOKENS[best]}”, {' and '.join(map(str, VALUES[best]))}.",
        ),
    ]


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
    parts = [_name("key", KEY + 22), _name("query", ASKED + 22)]
    for n, key in enumerate(KEYS):
        parts += _cells(f"key {n}", MIDDLES[n], KEY, key, COLOURS[n], 0.12)
    return [*parts, *_cells("query", MIDDLES[m], ASKED, QUERY, COLOURS[ASKS], 0.3)]


def _added(m: int) -> list[Part]:
    """Products of the query's numbers and a key's, under each pair, and signs between them.

    Each key has its own, so that they come when the query is there.
    """
    parts = []
    for c, (q, k) in enumerate(zip(QUERY, KEYS[m], strict=True)):
        x = MIDDLES[m] + CELL * (c - 1)
        parts.append(word(f"product {m} {c}", x, ADDS, f"{q * k}"))
        if c:
            parts.append(word(f"plus {m} {c}", x - CELL / 2, ADDS, "+", GREY))
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
    return MIDDLES[m] - PLACE / 2


def _row(
    name: str, texts: Sequence[str], top: float, size: float = BIG, tall: float = TALL
) -> list[Part]:
    """A place for a number of each word, and the number where it is known."""
    parts = [_name(name, top + tall / 2 + 6)]
    for m, text in enumerate(texts):
        parts.append(box(f"{name} place {m}", (_left(m), top), (PLACE, tall), COLOURS[m], 0, 1.5))
        if text:
            place = (MIDDLES[m], top + tall / 2 + 0.35 * size)
            parts.append(word(f"{name} {m}", *place, text, size=size, weight=700))
    return parts


def _compared(key: str, second: int, best: int, top: float, says: str) -> list[Part]:
    """A bracket over a row, from one word's number to the largest, and how they differ."""
    left, right, low, high = MIDDLES[second], MIDDLES[best], top - 4, top - 11
    bracket = [(left, low), (left, high), (right, high), (right, low)]
    return [
        line(f"{key} bracket", bracket, COLOURS[best], 2.5),
        word(key, (left + right) / 2, high - 6, says, COLOURS[best], size=SIZE, weight=700),
    ]


def _why(scores: Sequence[int]) -> list[Part]:
    """The scores, small: where the shares come from."""
    small = [
        word(f"score {m}", MIDDLES[m], WHY, f"{score}", size=SMALL)
        for m, score in enumerate(scores)
    ]
    return [_name("score", WHY), *small]


def _shares(
    shares: Sequence[float], top: float, size: float = BIG, tall: float = TALL
) -> list[Part]:
    """Each word's share, in a place that is filled as far."""
    filled = [
        box(f"filled {m}", (_left(m), top), (PLACE * share, tall), COLOURS[m], FILLED)
        for m, share in enumerate(shares)
    ]
    return [*filled, *_row("share", [f"{share:.3f}" for share in shares], top, size, tall)]


def _entries() -> list[tuple[int, int, int]]:
    """Of the values: the word's place, the entry's, and the number."""
    return [(m, e, number) for m, value in enumerate(VALUES) for e, number in enumerate(value)]


def _values() -> list[Part]:
    """Two numbers of each word, and a bar as long."""
    parts = [_name("value", VALUE + SAYS)]
    for m, e, number in _entries():
        parts += _cell("value", m, e, VALUE, f"{number}")
        parts.append(_bar(f"all {m} {e}", m, number, (_cell_left(m, e), VALUE), opacity=GHOST))
    return parts


def _heard(shares: Sequence[float] = (), opacity: float = 1) -> list[Part]:
    """Places for what is heard of each value; with shares, that too."""
    parts = [_name("heard", HEARD + SAYS)]
    for m, e, number in _entries():
        text = _term(shares[m] * number) if shares else ""
        parts += _cell("term", m, e, HEARD, text, size=SMALL)
        if shares:
            corner = (_cell_left(m, e), HEARD)
            bar = _bar(f"heard {m} {e}", m, shares[m] * number, corner, opacity=opacity)
            parts.append(bar)
    return parts


def _term(number: float) -> str:
    return f"{number:.2f}" if number else "0"


def _flows(shares: Sequence[float], top: float) -> list[Part]:
    """What goes from a value into Z, in the row where it is."""
    return [
        _bar(f"sum {m} {e}", m, shares[m] * number, (_cell_left(m, e), top))
        for m, e, number in _entries()
    ]


def _added_up(shares: Sequence[float]) -> list[Part]:
    """The same in Z, one after the other."""
    parts, right = [], [_cell_left(ASKS, e) for e in range(len(VALUES[0]))]
    for m, e, number in _entries():
        parts.append(_bar(f"sum {m} {e}", m, shares[m] * number, (right[e], OUT), HIGHEST))
        right[e] += UNIT * shares[m] * number
    return parts


def _pluses() -> list[Part]:
    """Between what is heard of one word and of the next."""
    return [
        word(f"plus {m} of z", (_left(m) + _left(m - 1) + PLACE) / 2, HEARD + SAYS + 7, "+", GREY)
        for m in range(1, len(TOKENS))
    ]


def _row_of_z(shares: Sequence[float] = ()) -> list[Part]:
    """Its cells, under the word that asks; with shares, what is in them."""
    name = word("name of z", NAMES, OUT + SAYS + 2, "Z", ORANGE, "end", SIZE, 700)
    totals = [
        f"{sum(share * value[e] for share, value in zip(shares, VALUES, strict=True)):.2f}"
        if shares
        else ""
        for e in range(len(VALUES[0]))
    ]
    cells = [_cell("z", ASKS, e, OUT, text, HIGHEST, SIZE, 700) for e, text in enumerate(totals)]
    return [name, *(part for cell in cells for part in cell)]


def _cell(
    name: str,
    m: int,
    e: int,
    top: float,
    text: str,
    tall: float = HIGHER,
    size: float = SIZE,
    weight: float = 400,
) -> list[Part]:
    """One of two in a word's column, and the number in it, if it is known."""
    left, is_bold = _cell_left(m, e), weight > 400
    place = box(f"{name} place {m} {e}", (left, top), (HALF, tall), COLOURS[m], 0, 1.5 + is_bold)
    middle = (left + HALF / 2, top + SAYS + 2 * is_bold)
    said = word(f"{name} {m} {e}", *middle, text, size=size, weight=weight)
    return [place, said] if text else [place]


def _cell_left(m: int, e: int) -> float:
    return _left(m) + HALF * e


def _bar(
    key: str, m: int, number: float, cell: Place, tall: float = HIGHER, opacity: float = 1
) -> Part:
    """As long as a number, at the foot of a cell."""
    corner = (cell[0] + INSET, cell[1] + tall - INSET - BAR)
    return box(key, corner, (UNIT * number, BAR), COLOURS[m], opacity=opacity)
