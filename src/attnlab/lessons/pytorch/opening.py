"""Lesson 05 opens with three scores, raised alike: each book pulls the answer to its value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, box, curve, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE, Colour

# The lesson's: scores of three books, and the number on the page of each.
BOOKS, SCORES, VALUES = ("A", "B", "C"), (0.0, 0.0, math.log(2)), (8.0, 4.0, 2.0)
COLOURS = (GREEN, BLUE, PURPLE)
STEP = 0.1  # how far a score is raised

HIGH, BOTTOM, UNIT, HEADS = 270, 301, 31, 17  # of the sheet; y of 0; px for 1; columns' names
SPINE, PAGE = (60, 26), (86, 34)  # left and width of a book's parts
BOOK, CHIP, THICK = 44, (131, 48), 88  # how high a book is; its share's column; px for a share of 1
LEFT, RIGHT, BAND, WIDE = 179, 213, 8, 80  # ends of ribbons; widths of their ends and the answer
SCALE, SWING, MARK = 315, 2 * UNIT, 341  # the answer's scale, a step on it, books' arrows beside it
ENDS, TITLE, RESULT, SLOPE = 480, 75, 30, 32  # of results; their name; their sizes
BAR, THIN, SHARE, ASIDE = 140.0, 4, 680, 59  # bars' left; at first; px for 1; books' way
LEAVES = sum(SPINE) + PAGE[1] - ASIDE + 4  # beside books, then
Numbers = Sequence[float]


def opening() -> Film:
    """The film."""
    z = answer(SCORES)
    far, shares = [value - z for value in VALUES], weights(SCORES)
    a, b, c = range(len(BOOKS))
    says = f"≈ {_by(a):.2f} ÷ {STEP:g}"
    division = word("division", ENDS, _row(a) + 34, says, COLOURS[a], "end", SMALL)
    rest = _stage(SCORES)
    frames = [
        Frame(
            [*rest, *_zoomed(z)],
            f"Each value counts by its share. Raise each score by {STEP:g}, one at a time.",
        ),
        Frame(
            [*_raised(a), *_moved([a])],
            f"Raise A's score: its share grows, and the answer rises: {answer(raised(a)):.2f}.",
        ),
        Frame(
            [*_raised(c), *_moved([a, c])],
            f"Raise C's instead: its share grows, and the answer falls: {answer(raised(c)):.2f}.",
        ),
        Frame(
            [*_raised(b), *_moved([a, c, b])],
            f"Raise B's: its share grows, but the answer stays: {answer(raised(b)):.2f}.",
        ),
        Frame(
            [
                *rest,
                *_zoomed(z),
                *_moves([a, c, b]),
                *_results("slope", dict(enumerate(slopes(SCORES)))),
                division,
            ],
            "Movement ÷ step is nearly a slope. All three together: the gradient.",
        ),
        Frame(
            _bars([a]),
            f"Each slope is an area. A's is {far[a]:g} high, from the answer to its value, "
            f"and as wide as its share, {shares[a]:.2f}.",
        ),
        Frame(
            _bars([a, b, c]),
            "C's area is half as high, twice as wide: it pulls down as hard. "
            "B's has no height: no pull.",
        ),
    ]
    return Film("Raise one score: how far does the answer move?", frames, HIGH)


def weights(scores: Numbers) -> list[float]:
    """(3,), softmax."""
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def answer(scores: Numbers) -> float:
    """What the weights of these scores make of the pages."""
    return sum(share * value for share, value in zip(weights(scores), VALUES, strict=True))


def slopes(scores: Numbers) -> list[float]:
    """(3,), of the answer in each score: a (v − z)."""
    z = answer(scores)
    pairs = zip(weights(scores), VALUES, strict=True)
    return [share * (value - z) for share, value in pairs]


def raised(book: int) -> list[float]:
    """(3,), the scores when one of them has gone up by a step."""
    return [score + STEP * (n == book) for n, score in enumerate(SCORES)]


def _y(value: float) -> float:
    return BOTTOM - UNIT * value


def _raised(book: int) -> list[Part]:
    """The stage and the scale when its score has gone up."""
    scores = raised(book)
    return [*_stage(scores, book), *_zoomed(answer(scores))]


def _stage(scores: Numbers, lifted: int | None = None) -> list[Part]:
    """Books, ribbons as thick as their shares, and the answer; a book's score may be raised."""
    shares, middle = weights(scores), _y(answer(SCORES))
    chip = CHIP[0] + CHIP[1] / 2
    parts = [
        box("ground", (RIGHT, middle - THICK / 2), (WIDE, THICK), GROUND),
        word("scores", 0, HEADS, "score", GREY, "start", SMALL),
        word("values", PAGE[0], HEADS, "value", GREY, size=SMALL),
        word("shares", chip, HEADS, "share", GREY, size=SMALL),
    ]
    top = middle - THICK / 2
    for n, (name, share, value, colour) in enumerate(
        zip(BOOKS, shares, VALUES, COLOURS, strict=True)
    ):
        thick, y = THICK * share, _y(value)
        end = top + thick / 2
        ribbons = [
            curve(f"under {name}", (LEFT, y), (RIGHT, end), GROUND, thick),
            curve(f"ribbon {name}", (LEFT, y), (RIGHT, end), colour, thick, 0.4),
        ]
        look: dict[str, Any] = {"colour": INK}
        if n == lifted:
            look = {"colour": ORANGE, "size": 20, "weight": 700}
        parts += [
            *(each._replace(look={**each.look, "stroke-linecap": "butt"}) for each in ribbons),
            box(f"part {name}", (RIGHT, top), (BAND, thick), colour, 0.4),
            *_book(name, y, f"{value:g}", colour),
            word(f"score {name}", 0, y + 7, f"{scores[n]:.2f}", anchor="start", **look),
            box(f"chip {name}", (CHIP[0], y - thick / 2), (CHIP[1], thick), colour),
            word(f"share {name}", chip, y + 6.5, f"{share:.2f}", GROUND, size=SMALL, weight=600),
        ]
        top += thick
    mix = box("mix", (RIGHT, middle - THICK / 2), (WIDE, THICK), INK, 0, 2)
    return [*parts, mix, *_answer(RIGHT + (BAND + WIDE) / 2, answer(scores), middle + 19)]


def _answer(x: float, z: float, y: float) -> list[Part]:
    return [
        word("its name", x, y - 25, "answer", size=SMALL),
        word("answer", x, y, f"{z:.2f}", size=24, weight=700),
    ]


def _book(name: str, y: float, says: str, colour: Colour, aside: float = 0) -> list[Part]:
    (left, spine), (at, page) = ((start - aside, wide) for start, wide in (SPINE, PAGE))
    top = y - BOOK / 2
    return [
        box(f"spine {name}", (left, top), (spine + page, BOOK), colour, 0.12, 2),
        box(f"back {name}", (left, top), (spine, BOOK), colour, 0.3),
        word(f"book {name}", left + spine / 2, y + 7, name, colour, weight=700),
        word(f"says {name}", at + page / 2, y + 9, says, size=26, weight=700),
    ]


def _zoomed(z: float) -> list[Part]:
    """The answer on a scale on which a step is seen."""
    middle = _y(first := answer(SCORES))
    parts = [
        word("zoomed", SCALE, middle - SWING - 38, "zoomed in", GREY, size=SMALL),
        line("scale", [(SCALE, middle - SWING), (SCALE, middle + SWING)], GREY, 3),
    ]
    for n, away in ((1, -14), (0, 0), (-1, 27)):
        at = middle - SWING * n
        parts.append(line(f"tick {n}", [(SCALE - 9, at), (SCALE + 9, at)], GREY, 2))
        if n:
            says, seen = f"{first + STEP * n:.1f}", (RIGHT + WIDE, middle - UNIT * STEP * n)
            parts.append(word(f"at {n}", SCALE, at + away, says, GREY, size=SMALL))
            parts.append(line(f"zoom {n}", [seen, (SCALE - 9, at)], GREY, 1))
    return [*parts, dot("tip", SCALE, middle - SWING * (z - first) / STEP, 7)]


def _row(n: int) -> float:
    """Where a book's result stands: about where its arrow ends."""
    return _y(answer(SCORES)) - SWING * slopes(SCORES)[n]


def _results(title: str, numbers: Mapping[int, float], places: int = 0) -> list[Part]:
    """A column of numbers of books."""
    name = word("results", ENDS, TITLE, title, GREY, "end", SMALL)
    return [name] + [
        word(f"{title} {BOOKS[n]}", ENDS, _row(n) + 10, says, COLOURS[n], "end", RESULT, 700)
        for n, says in ((n, _signed(each, places)) for n, each in numbers.items())
    ]


def _by(n: int) -> float:
    """How far raising its score moves the answer."""
    return answer(raised(n)) - answer(SCORES)


def _moved(books: Sequence[int]) -> list[Part]:
    return [*_moves(books), *_results("moved", {n: _by(n) for n in books}, 2)]


def _moves(books: Sequence[int]) -> list[Part]:
    """How far raising these has moved the answer, on its scale."""
    parts, y = [], _y(answer(SCORES))
    for n in books:
        name, colour, end = BOOKS[n], COLOURS[n], y - SWING * _by(n) / STEP
        key, back = f"move {name}", end + math.copysign(7, y - end)
        head = [(MARK, y), (MARK, end), (MARK - 7, back), (MARK, end), (MARK + 7, back)]
        still = VALUES[n] == answer(SCORES)
        parts.append(dot(key, MARK, y, 5, colour) if still else line(key, head, colour, 3))
        at = MARK + 19, _row(n) + 8
        parts.append(word(f"whose {name}", *at, name, colour, size=22, weight=700))
    return parts


def _bars(worked: Sequence[int]) -> list[Part]:
    """From the answer's height to values', B's over C's, as wide as shares, of these books."""
    y = _y(z := answer(SCORES))
    parts = [part for n in (0, 2, 1) for part in _bar(n, n in worked)]
    parts += _answer((LEAVES + BAR) / 2 - 2, z, y - 7)
    if len(worked) < len(BOOKS):
        return parts + _results("slope", dict(enumerate(slopes(SCORES))))
    return [*parts, word("headline", 0, HEADS, "area = slope", INK, "start", 24, 700)]


def _bar(n: int, grown: bool) -> list[Part]:
    """A book, its value's level, how far that is from the answer, and its area."""
    name, colour, away = BOOKS[n], COLOURS[n], VALUES[n] - answer(SCORES)
    y, share, slope = _y(VALUES[n]), weights(SCORES)[n], _signed(slopes(SCORES)[n])
    after, full, says = BAR + SHARE * weights(SCORES)[0], SHARE * share, _signed(away)
    left, top, high, filled = BAR, min(y, y + UNIT * away), UNIT * abs(away), 0.5
    if not away:  # after A's
        left, top, high, filled = after, y - THIN / 2, THIN, 1
    ends, ink = [(LEAVES, y), (left + full * grown, y)], GREY if away else INK
    level = line(f"level {name}", ends, ink, 1.5, 1, "2 5" if away else "", "butt")
    parts = [
        *_book(name, y, f"{VALUES[n]:g}", colour, ASIDE),
        *([level] if grown or not away else []),
        box(f"pull {name}", (left, top), (full * grown, high), colour, filled),
    ]
    if away and grown:
        parts.append(word(f"far {name}", BAR - 8, top + 44, says, colour, "end", 24, 700))
    if not grown:
        return parts
    middle, row = left + full / 2, 1 + top + high / 2 - 35 * (not away)
    aside = high + 20 if away < 0 else -9 if away else -72
    says = f"{says.lstrip('+')} × {share:.2f}"
    return [
        *parts,
        word(f"area {name}", middle, row, slope, INK, size=SLOPE, weight=700),
        word(f"product {name}", middle, row + 21, says, INK, size=SMALL),
        word(f"wide {name}", middle, top + aside, f"share {share:.2f}", colour, size=SMALL),
    ]


def _signed(number: float, places: int = 0) -> str:
    return f"{number:+.{places}f}".replace("-", "−") if round(number, places) else "0"
