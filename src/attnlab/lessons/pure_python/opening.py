"""Lesson 02 opens with one query that meets each key, until its row of Z is full."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, WIDE, Part, Place, arc, box, line, word
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
CELL, TALL = 40, 24
NAMES = 58  # where the rows' names end
FLOOR, WORDS = 38, 58  # where arcs begin; the words' line
KEY, ASKED, SCORE, NUMBER = 65, 91, 134, 141  # tops of cells; the scores' line; top of shares
UNIT, BAR, STEP = 24, 17, 20  # px for an entry of 1; how tall its bar is; from bar to bar
VALUE, OUT = 172, 220  # tops of the first bars, of values and of Z
TIMES = 2  # how much longer than values Z is drawn
APART = 2  # between the parts of Z's bars, so that slim ones are seen
GHOST = 0.2  # of what is not read
BESIDE = 14  # how far from the middle of the word that asks its arcs to others begin
TERMS, ADDED = (100, 160, 220), 266  # middles of the parts of a sum, and where Z's bars begin


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
        [*_stage(MIDDLES[ASKS]), *_scored([]), *_unknown(), *_values(), *_room()],
        "“cat” asks each key with its query. Z is what it will hear of the values.",
    )


def _asked(m: int, scores: Sequence[int]) -> Frame:
    products = [f"{q} · {k}" for q, k in zip(QUERY, KEYS[m], strict=True)]
    known = _scored(scores[: m + 1])
    parts = [*_stage(MIDDLES[m]), *known, *_unknown(), *_values(), *_room()]
    whose = "its own key" if m == ASKS else f"the key of “{TOKENS[m]}”"
    return Frame(parts, f"Beside {whose}: {' + '.join(products)} = {scores[m]}.")


def _weighed(scores: Sequence[int]) -> list[Frame]:
    """The scores, scaled; and what softmax makes of them."""
    shares, rest = weights(scores), [*_values(), *_room()]
    second, best = sorted(range(len(TOKENS)), key=lambda m: shares[m])[-2:]
    scaled = [f"{score / math.sqrt(len(QUERY)):.1f}" for score in scores]
    return [
        Frame(
            [
                *_stage(MIDDLES[ASKS]),
                *_scored(scores, is_past=True),
                *_numbers("÷ √3", scaled),
                *rest,
            ],
            "Longer keys, larger scores: divide by √3, as these keys have 3 numbers.",
        ),
        Frame(
            [*_shared(scores), *rest],
            f"Score {scores[best]} is {scores[best] / scores[second]:g} times {scores[second]}, "
            f"yet softmax gives it {shares[best] / shares[second]:.0f} times the share.",
        ),
    ]


def _shared(scores: Sequence[int]) -> list[Part]:
    """The words, and the score and share of each."""
    shares = weights(scores)
    texts = [f"{share:.3f}" for share in shares]
    return [
        *_stage(MIDDLES[ASKS], shares),
        *_scored(scores, is_past=True),
        *_numbers("share", texts, shares),
    ]


def _fills(scores: Sequence[int]) -> list[Frame]:
    """As much of the values as is read, and the sum."""
    shares = weights(scores)
    best = shares.index(max(shares))
    most = " and ".join(f"{shares[best] * value:.2f}" for value in VALUES[best])
    read = [*_shared(scores), *_values(shares)]
    return [
        Frame(
            [*read, *_room(), *_copies(shares)],
            f"Shares add up to 1. Each says how much is read: of “{TOKENS[best]}” {most}.",
        ),
        Frame(
            [*read, *_room(""), *_sum(shares)],
            "What is read is added up, entry by entry, and drawn twice as long.",
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
    names = [_name("key", KEY + 18.5), _name("query", ASKED + 18.5)]
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
            800,
            thickest=11,
        )
        for m, share in enumerate(shares or [0] * len(TOKENS))
    ]


def _cells(
    key: str, middle: float, top: float, numbers: Sequence[int], colour: Colour, filled: float
) -> list[Part]:
    parts = []
    for c, number in enumerate(numbers):
        left = middle + CELL * (c - len(numbers) / 2)
        parts += [
            box(f"{key} box {c}", (left, top), (CELL, TALL), colour, filled, 1.5),
            word(f"{key} {c}", left + CELL / 2, top + 19, f"{number}"),
        ]
    return parts


def _left(m: int) -> float:
    """Of a word's column."""
    return MIDDLES[m] - CELL * len(QUERY) / 2


def _scored(scores: Sequence[int], is_past: bool = False) -> list[Part]:
    """The scores that are known, grey when they were used."""
    colour, weight = (GREY, 400) if is_past else (INK, 700)
    return [
        _name("score", SCORE),
        *(
            word(f"score {m}", MIDDLES[m], SCORE, f"{score}", colour, weight=weight)
            for m, score in enumerate(scores)
        ),
    ]


def _unknown() -> list[Part]:
    return _numbers("share", ["?"] * len(TOKENS))


def _numbers(name: str, texts: Sequence[str], shares: Sequence[float] = ()) -> list[Part]:
    """One number of each word, in a place that is filled as far as its share; and what it is."""
    parts = [_name(name, NUMBER + 18, "numbers")]
    wide = CELL * len(QUERY)
    for m, text in enumerate(texts):
        share = shares[m] if shares else 0
        parts += [
            box(f"filled {m}", (_left(m), NUMBER), (wide * share, TALL), COLOURS[m], 0.35),
            box(f"place {m}", (_left(m), NUMBER), (wide, TALL), COLOURS[m], 0, 1.5),
            word(f"number {m}", MIDDLES[m], NUMBER + 19, text, weight=700),
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
            _at_end(f"value {m} {e}", place[0], number, place[1], text),
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
    """The row of Z: what is read of each word, one after the other, and how much that is."""
    bars, right = [], [float(ADDED)] * 2
    for m, e, number in _entries():
        read = TIMES * shares[m] * number
        bars.append(_bar(f"sum {m} {e}", m, read, (right[e], OUT + e * STEP)))
        right[e] += UNIT * read + (APART if read else 0)
    for e, x in enumerate(right):
        total = sum(share * value[e] for share, value in zip(shares, VALUES, strict=True))
        y = _line(e)
        bars.append(word(f"z {e}", x + 8, y, f"{total:.2f}", INK, "start", SIZE, 700))
    return bars


def _total(shares: Sequence[float]) -> list[Part]:
    """What is added up, in numbers."""
    parts = []
    for m, e, number in _entries():
        x, y = TERMS[m], _line(e)
        text = f"{shares[m] * number:.2f}" if number else "0"
        parts += [
            word(f"term {m} {e}", x, y, text, COLOURS[m], size=SMALL),
            word(f"sign {m} {e}", x + 30, y, "=" if m == len(TOKENS) - 1 else "+", size=SMALL),
        ]
    return parts


def _line(e: int) -> float:
    """Of words beside a bar of Z."""
    return OUT + e * STEP + 15


def _room(text: str = "?") -> list[Part]:
    """For a row of Z, which is empty at first."""
    left, middle = _left(0), OUT + 26
    return [
        word("name of z", NAMES - 6, middle, "Z", COLOURS[ASKS], "end", 24, 700),
        box("room", (left - 2, OUT - 6), (WIDE - left - 12, 49), COLOURS[ASKS], 0.08, 1.5),
        word("empty", MIDDLES[ASKS], middle, text, COLOURS[ASKS], size=24, weight=700),
    ]


def _bar(key: str, m: int, number: float, place: Place, opacity: float = 1) -> Part:
    return box(key, place, (UNIT * number, BAR), COLOURS[m], opacity=opacity)


def _at_end(key: str, left: float, number: float, top: float, text: str) -> Part:
    return word(key, left + UNIT * number + 6, top + 15, text, INK, "start", SMALL)
