"""Lesson 02 opens with one query that meets each key, until its row of Z is full."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, Place, arc, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

# The lesson's: what "cat" asks, and what each word promises and passes on.
TOKENS = ("the", "cat", "sat")
QUERY = (1, 2, 0)
KEYS = ((1, 0, 1), (0, 1, 0), (2, 2, 1))
VALUES = ((1, 0), (0, 2), (3, 1))
ASKS = 1  # the word that does

HIGH = 270
COLOURS = (PURPLE, ORANGE, BLUE)
MIDDLES = (126, 262, 398)
CELL, TALL = 40, 22
NAMES = 58  # where the rows' names end
FLOOR, WORDS = 37, 57  # where arcs begin; the words' line
PULL, LOOP = 42, 36  # of arcs to others, and to itself
KEY, ASKED, SCORE, NUMBER = 64, 88, 133, 142  # tops of cells; the scores' line; top of shares
UNIT, BAR = 34, 15  # px for an entry of 1; how tall its bar is
STEP, LEAD = 18, 20  # from bar to bar, of values and of Z
VALUE, OUT = 174, 224  # tops of the first bars, of values and of Z
APART = 2  # between the parts of Z's bars, so that slim ones are seen
ROOM = 164  # how wide the place of Z is
GHOST = 0.2  # of what is not read
BESIDE = 14  # how far from the middle of the word that asks its arcs to others begin
TERMS, SIGN = (282, 350, 418), 34  # middles of the parts of a sum; how far before it its sign is


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
    low, high = (f"{scores[m] / math.sqrt(len(QUERY)):.1f}" for m in (second, best))
    return [
        Frame(
            [*_stage(MIDDLES[ASKS]), *_scored(scores, scaled=True), *_unknown(), *rest],
            "Longer keys, larger scores: divide by √3, as these keys have 3 numbers.",
        ),
        Frame(
            [*_shared(scores), *rest],
            f"{high} is about {scores[best] / scores[second]:g} times {low}, "
            f"yet softmax gives it {shares[best] / shares[second]:.0f} times the share.",
        ),
    ]


def _shared(scores: Sequence[int]) -> list[Part]:
    """The words, and the score and share of each."""
    shares = weights(scores)
    texts = [f"{share:.3f}" for share in shares]
    return [
        *_stage(MIDDLES[ASKS], shares),
        *_scored(scores, scaled=True, is_past=True),
        *_numbers(texts, shares),
    ]


def _fills(scores: Sequence[int]) -> list[Frame]:
    """As much of the values as is read, and the sum."""
    shares = weights(scores)
    best = shares.index(max(shares))
    most = max(VALUES[best])
    read = [*_shared(scores), *_values(shares)]
    return [
        Frame(
            [*read, *_room(), *_copies(shares)],
            "Shares add up to 1. Of each value its share is read: "
            f"{shares[best]:.3f} of {most} is {shares[best] * most:.2f}.",
        ),
        Frame([*read, *_room(""), *_sum(shares)], "What is read is added up, entry by entry."),
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
    names = [_name("key", KEY + 17.5), _name("query", ASKED + 17.5)]
    return [*_arcs(shares), *parts, *names]


def _name(name: str, below: float) -> Part:
    """Of a row, at its left."""
    return word(f"name of {name}", NAMES, below, name, GREY, "end", SMALL)


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
            thickest=11,
            pull=LOOP if m == ASKS else PULL,
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
            word(f"{key} {c}", left + CELL / 2, top + 18, f"{number}"),
        ]
    return parts


def _left(m: int) -> float:
    """Of a word's column."""
    return MIDDLES[m] - CELL * len(QUERY) / 2


def _scored(scores: Sequence[int], scaled: bool = False, is_past: bool = False) -> list[Part]:
    """The scores that are known, and what they are divided by √3; grey when they were used."""
    colour, weight = (GREY, 400) if is_past else (INK, 700)
    texts = [
        f"{score} → {score / math.sqrt(len(QUERY)):.1f}" if scaled else f"{score}"
        for score in scores
    ]
    return [
        _name("score", SCORE),
        *(
            word(f"score {m}", MIDDLES[m], SCORE, text, colour, weight=weight)
            for m, text in enumerate(texts)
        ),
    ]


def _unknown() -> list[Part]:
    return _numbers(["?"] * len(TOKENS))


def _numbers(texts: Sequence[str], shares: Sequence[float] = ()) -> list[Part]:
    """Each word's share, in a place that is filled as far."""
    parts = [_name("share", NUMBER + 17)]
    wide = CELL * len(QUERY)
    for m, text in enumerate(texts):
        share = shares[m] if shares else 0
        parts += [
            box(f"filled {m}", (_left(m), NUMBER), (wide * share, TALL), COLOURS[m], 0.35),
            box(f"place {m}", (_left(m), NUMBER), (wide, TALL), COLOURS[m], 0, 1.5),
            word(f"number {m}", MIDDLES[m], NUMBER + 18, text, weight=700),
        ]
    return parts


def _values(shares: Sequence[float] = ()) -> list[Part]:
    """Two numbers of each word as bars, and how much of them is read: at first all."""
    parts = [_name("value", VALUE + 22)]
    for m, e, number in _entries():
        place, read = (_left(m), VALUE + e * STEP), number * (shares[m] if shares else 1)
        parts += [
            _bar(f"all {m} {e}", m, number, place, GHOST),
            _bar(f"part {m} {e}", m, read, place),
            _at_end(f"value {m} {e}", place[0], number, place[1]),
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
    bars, right = [], [_left(0) + 6] * 2
    for m, e, number in _entries():
        read = shares[m] * number
        bars.append(_bar(f"sum {m} {e}", m, read, (right[e], OUT + e * LEAD)))
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
            word(f"sign {m} {e}", x - SIGN, y, "+" if m else "=", size=SMALL),
        ]
    return parts


def _line(e: int) -> float:
    """Of words beside a bar of Z."""
    return OUT + e * LEAD + 14.5


def _room(text: str = "?") -> list[Part]:
    """For a row of Z, which is empty at first."""
    left, middle = _left(0), OUT + 26
    return [
        word("name of z", NAMES - 6, middle, "Z", COLOURS[ASKS], "end", 24, 700),
        box("room", (left, OUT - 6), (ROOM, LEAD + BAR + 12), COLOURS[ASKS], 0.08, 1.5),
        word("empty", left + ROOM / 2, middle, text, COLOURS[ASKS], size=24, weight=700),
    ]


def _bar(key: str, m: int, number: float, place: Place, opacity: float = 1) -> Part:
    return box(key, place, (UNIT * number, BAR), COLOURS[m], opacity=opacity)


def _at_end(key: str, left: float, number: float, top: float) -> Part:
    return word(key, left + UNIT * number + 6, top + 14, f"{number}", INK, "start", SMALL)
