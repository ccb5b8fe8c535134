"""Lesson 02 opens with one query that meets each key, until its row of Z is full."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, arc, box, word
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
CELL, TALL = 34, 24
NAMES = 58  # where the rows' names end
FLOOR, WORDS = 36, 57  # where arcs begin; the words' line
KEY, ASKED, NUMBER = 65, 92, 138  # tops of the cells; the first line of numbers
DOWN = 22  # from line to line
UNIT, BAR, STEP = 28, 14, 17  # px for an entry of 1; how tall its bar is; from bar to bar
VALUE, OUT = 190, 232  # tops of the first bars, of values and of Z
APART = 2  # between the parts of Z's bars, so that slim ones are seen


def opening() -> Film:
    """The film."""
    scores = [sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS]
    asked = [_asked(m, scores) for m in range(len(TOKENS))]
    frames = [_begins(), *asked, *_shares(scores), *_fills(scores)]
    return Film("How much does “cat” hear of each word?", frames, HIGH)


def weights(scores: Sequence[float]) -> list[float]:
    """(3,), softmax of the scores divided by √3."""
    powers = [math.exp(score / math.sqrt(len(QUERY))) for score in scores]
    return [power / sum(powers) for power in powers]


def _begins() -> Frame:
    parts = [*_stage(), *_arcs(), *_row("score", ["?"] * 3)]
    parts += [*_query(MIDDLES[ASKS]), *_values(), *_room()]
    return Frame(parts, "“cat” asks each key with its query. Z is what it will hear of the values.")


def _asked(m: int, scores: Sequence[int]) -> Frame:
    products = [f"{q} · {k}" for q, k in zip(QUERY, KEYS[m], strict=True)]
    known = [f"{score}" if at <= m else "?" for at, score in enumerate(scores)]
    parts = [*_stage(), *_arcs(), *_row("score", known)]
    parts += [*_query(MIDDLES[m]), *_values(), *_room()]
    whose = "its own key" if m == ASKS else f"the key of “{TOKENS[m]}”"
    return Frame(parts, f"Beside {whose}: {' + '.join(products)} = {scores[m]}.")


def _shares(scores: Sequence[int]) -> list[Frame]:
    """The scores, scaled; and what softmax makes of them."""
    shares = weights(scores)
    best = max(range(len(TOKENS)), key=lambda m: shares[m])
    rest = [*_stage(), *_query(MIDDLES[ASKS]), *_values(), *_room()]
    return [
        Frame(
            [*rest, *_arcs(), *_known(scores, "÷ √3")],
            "Each score is divided by √3, the root of the keys' width.",
        ),
        Frame(
            [*rest, *_arcs(shares), *_known(scores, "share")],
            f"Softmax makes shares of them, which add up to 1: “{TOKENS[best]}” gets "
            f"{shares[best]:.3f}.",
        ),
    ]


def _known(scores: Sequence[int], until: str) -> list[Part]:
    """The lines of numbers up to one."""
    scaled = [f"{score / math.sqrt(len(QUERY)):.1f}" for score in scores]
    parts = [*_row("score", [f"{score}" for score in scores]), *_row("÷ √3", scaled)]
    if until == "÷ √3":
        return parts
    return [*parts, *_row("share", [f"{share:.3f}" for share in weights(scores)])]


def _fills(scores: Sequence[int]) -> list[Frame]:
    """As much of the values as is read, and the sum."""
    shares = weights(scores)
    best = max(range(len(TOKENS)), key=lambda m: shares[m])
    most = " and ".join(f"{shares[best] * value:.2f}" for value in VALUES[best])
    over = [*_stage(), *_query(MIDDLES[ASKS]), *_arcs(shares), *_known(scores, "share")]
    read = [*over, *_parts(shares), *_read(shares)]
    poured = [*read, *_room(""), *_sum(shares)]
    z = []
    for e in range(2):
        total = sum(share * value[e] for share, value in zip(shares, VALUES, strict=True))
        left = _left(ASKS) + APART * (len(TOKENS) - 1)
        z.append(_at_end(f"z {e}", left, total, OUT + e * STEP, f"{total:.2f}", 700))
    return [
        Frame(
            [*over, *_wholes(0.2), *_parts(shares), _called("value"), *_room()],
            "A share says how much of the value is read.",
        ),
        Frame(
            [*read, *_room(), *_sum([0] * len(TOKENS))],
            f"Of “{TOKENS[best]}” {most} are read, of the others next to nothing.",
        ),
        Frame(poured, "What is read is added up, entry by entry."),
        Frame(
            [*poured, *z], "That is a row of Z: what “cat” has heard of each word, mostly of “sat”."
        ),
    ]


def _stage() -> list[Part]:
    """The words, their keys, and what each row is called."""
    parts = [
        word(f"word {m}", MIDDLES[m], WORDS, token, COLOURS[m], size=24, weight=600)
        for m, token in enumerate(TOKENS)
    ]
    for m, key in enumerate(KEYS):
        parts += _cells(f"key {m}", MIDDLES[m], KEY, key, COLOURS[m], 0.12)
    return [*parts, _name("key", KEY + 18), _name("query", ASKED + 18)]


def _name(name: str, below: float, key: str = "") -> Part:
    """Of a row, at its left."""
    return word(f"name of {key or name}", NAMES, below, name, GREY, "end", SMALL)


def _arcs(shares: Sequence[float] = ()) -> list[Part]:
    """From the word that asks, as thick as its shares; thin and grey as long as there are none."""
    return [
        arc(
            f"arc {m}",
            MIDDLES[ASKS],
            MIDDLES[m],
            FLOOR,
            share,
            COLOURS[m] if shares else GREY,
            1 / (0.5 + 0.5 * share),
            1200,
        )
        for m, share in enumerate(shares or [0.1] * len(TOKENS))
    ]


def _query(middle: float) -> list[Part]:
    return _cells("query", middle, ASKED, QUERY, COLOURS[ASKS], 0.3)


def _cells(
    key: str, middle: float, top: float, numbers: Sequence[int], colour: Colour, filled: float
) -> list[Part]:
    parts = []
    for c, number in enumerate(numbers):
        left = middle + CELL * (c - len(numbers) / 2)
        parts += [
            box(f"{key} box {c}", (left, top), (CELL, TALL), colour, filled, 1.5),
            word(f"{key} {c}", left + CELL / 2, top + 18.5, f"{number}"),
        ]
    return parts


def _left(m: int) -> float:
    """Of a word's column."""
    return MIDDLES[m] - CELL * len(QUERY) / 2


def _row(name: str, texts: Sequence[str]) -> list[Part]:
    """A line of numbers, and what they are."""
    y = NUMBER + DOWN * ("score", "÷ √3", "share").index(name)
    weight = 700 if name == "share" else 500
    numbers = [
        word(f"{name} {m}", MIDDLES[m], y, each, weight=weight) for m, each in enumerate(texts)
    ]
    return [_name(name, y), *numbers]


def _values() -> list[Part]:
    """Two numbers of each word, drawn as bars."""
    texts = [
        _at_end(f"value {m} {e}", _left(m), number, VALUE + e * STEP, f"{number}")
        for m, e, number in _entries()
    ]
    return [*_wholes(), *_parts([1] * len(TOKENS)), *texts, _called("value")]


def _entries() -> list[tuple[int, int, int]]:
    """Of the values: the word's place, the entry's, and the number."""
    return [(m, e, number) for m, value in enumerate(VALUES) for e, number in enumerate(value)]


def _called(name: str) -> Part:
    return _name(name, VALUE + 22, "values")


def _wholes(opacity: float = 1) -> list[Part]:
    """The values' bars."""
    return [
        _bar(f"all {m} {e}", m, number, (_left(m), VALUE + e * STEP), opacity)
        for m, e, number in _entries()
    ]


def _parts(shares: Sequence[float]) -> list[Part]:
    """What is read of these."""
    return [
        _bar(f"part {m} {e}", m, shares[m] * number, (_left(m), VALUE + e * STEP))
        for m, e, number in _entries()
    ]


def _read(shares: Sequence[float]) -> list[Part]:
    """How much that is."""
    texts = []
    for m, e, number in _entries():
        read = shares[m] * number
        text = f"{read:.2f}" if number else "0"
        texts.append(_at_end(f"read {m} {e}", _left(m), read, VALUE + e * STEP, text))
    return [*texts, _called("read")]


def _sum(shares: Sequence[float]) -> list[Part]:
    """The row of Z: what is read of each word, one after the other."""
    bars, right = [], [_left(ASKS)] * 2
    for m, e, number in _entries():
        read = shares[m] * number
        bars.append(_bar(f"sum {m} {e}", m, read, (right[e], OUT + e * STEP)))
        right[e] += UNIT * read + (APART if read else 0)
    return bars


def _room(text: str = "?") -> list[Part]:
    """For a row of Z, which is empty at first."""
    left, middle = _left(ASKS), OUT + 23
    return [
        word("name of z", NAMES, middle, "Z", COLOURS[ASKS], "end", 24, 700),
        box("room", (left - 5, OUT - 3), (146, 37), COLOURS[ASKS], 0.08, 1.5),
        word("empty", left + 68, middle, text, COLOURS[ASKS], size=24, weight=700),
    ]


def _bar(key: str, m: int, number: float, place: Place, opacity: float = 1) -> Part:
    return box(key, place, (UNIT * number, BAR), COLOURS[m], opacity=opacity)


def _at_end(
    key: str, left: float, number: float, top: float, text: str, weight: float = 400
) -> Part:
    return word(key, left + UNIT * number + 6, top + 13.5, text, INK, "start", SMALL, weight)
