"""Lesson 05 opens with three scores, raised alike: each book pulls the answer to its value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, box, curve, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, Colour

# The lesson's: scores of three books, and the number on the page of each.
BOOKS, SCORES, VALUES = ("A", "B", "C"), (0.0, 0.0, math.log(2)), (8.0, 4.0, 2.0)
COLOURS = (GREEN, BLUE, PURPLE)
STEP, LEAST = 0.1, 1e-9  # how far a score is raised; a length that is one

HIGH, BOTTOM, UNIT, HEADS = 270, 262, 26, 15  # of the sheet; y of 0; px for 1; columns' names
SCORE, SPINE, PAGE = 27, (60, 28), (88, 40)  # middle of scores; left and width of a book's parts
BOOK, THICK = 40, 72  # how high a book is; px for a share of 1
LEFT, RIGHT, WIDE = 130, 236, 78  # where ribbons begin and end; the answer's width
SCALE, SWING = 382, 72  # the answer's scale, and how far a step is on it
MARK, WAY = 406, 190  # where arrows of books are, and those to values
Numbers = Sequence[float]


def opening() -> Film:
    """The film."""
    z = answer(SCORES)
    far, pulls, shares = [value - z for value in VALUES], slopes(SCORES), weights(SCORES)
    signed = ", ".join(map(_signed, pulls))
    a, b, c = range(len(BOOKS))
    rest, all_three = _stage(SCORES), _marks([a, b, c], pulls)
    why = [*_stage(SCORES, pale=True), _level()]
    frames = [
        Frame(
            rest,
            f"A value counts by its book's share. Raise each score by {STEP:g}, one at a time.",
        ),
        Frame(
            [*_stage(raised(a), a), *_marks([a])],
            f"Raise A's score by {STEP:g}: {_grows(a)}. It pulls up, to {answer(raised(a)):.2f}.",
        ),
        Frame(
            [*_stage(raised(c), c), *_marks([a, c])],
            f"Raise C's instead: {_grows(c)}. It pulls down, to {answer(raised(c)):.2f}.",
        ),
        Frame(
            [*_stage(raised(b), b), *_marks([a, c, b])],
            f"Raise B's instead: {_grows(b)}. The answer stays at {answer(raised(b)):.2f}.",
        ),
        Frame(
            [*rest, *all_three],
            f"Movement ÷ step is nearly a slope; all three are the gradient: {signed}.",
        ),
        Frame(
            [*why, *all_three, *_ways(far)],
            f"Why? A's value is {far[a]:g} above the answer, B's level with it, "
            f"C's {-far[c]:g} below.",
        ),
        Frame(
            [*why, *all_three, *_ways(far, [pulls[a]])],
            f"A slope is distance × share. A's share is {shares[a]:.2f}: A pulls by "
            f"{_signed(pulls[a])}.",
        ),
        Frame(
            [*why, *all_three, *_ways(far, pulls)],
            "C: half as far, twice the share, as hard a pull. B: no distance, no pull.",
        ),
    ]
    return Film("Which book pulls the answer, and how hard?", frames, HIGH)


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


def _grows(book: int) -> str:
    return f"its share grows to {weights(raised(book))[book]:.2f}"


def _y(value: float) -> float:
    return BOTTOM - UNIT * value


def _stage(scores: Numbers, lifted: int | None = None, pale: bool = False) -> list[Part]:
    """Books, ribbons as thick as their shares, and the answer, as a rule with its needle.

    Args:
        scores: of the books.
        lifted: a book whose score is raised.
        pale: ribbons are, and without a needle, so that something else is seen on them.
    """
    shares, middle = weights(scores), _y(answer(SCORES))
    parts = [
        word("scores", SCORE, HEADS, "score", GREY, size=SMALL),
        word("values", PAGE[0] + PAGE[1] / 2 - 8, HEADS, "value", GREY, size=SMALL),
        word("shares", LEFT + 10, HEADS, "share", GREY, "start", SMALL),
        word("its name", RIGHT + WIDE / 2, middle - 14, "answer", size=SMALL),
    ]
    top, seen = middle - THICK / 2, 0.2 if pale else 0.55
    for n, (name, share, value, colour) in enumerate(
        zip(BOOKS, shares, VALUES, COLOURS, strict=True)
    ):
        thick, y = THICK * share, _y(value)
        end = top + thick / 2
        ribbon = curve(f"ribbon {name}", (LEFT, y), (RIGHT, end), colour, thick, seen)
        below = y + thick / 2 + 18 if value < answer(SCORES) else y - thick / 2 - 6
        look: dict[str, Any] = {"colour": INK}
        if n == lifted:
            look = {"colour": ORANGE, "size": 22, "weight": 700}
        parts += [
            _ends(ribbon, linecap="butt"),
            box(f"part {name}", (RIGHT, top), (WIDE, thick), colour, 0.2),
            *_book(name, y, f"{value:g}", colour),
            word(f"score {name}", SCORE, y + 7, f"{scores[n]:.2f}", **look),
        ]
        says = f"{share:.2f}"
        parts.append(word(f"share {name}", LEFT + 10, below, says, colour, "start", SMALL, 600))
        top += thick
    z = answer(scores)
    parts += [
        box("mix", (RIGHT, middle - THICK / 2), (WIDE, THICK), INK, 0, 2),
        word("answer", RIGHT + WIDE / 2, middle + 16, f"{z:.2f}", size=26, weight=700),
    ]
    return parts if pale else [*parts, *_needle(z)]


def _ends(stroke: Part, **shapes: str) -> Part:
    """A line with other ends or corners."""
    shaped = {f"stroke-{at}": to for at, to in shapes.items()}
    return stroke._replace(look={**stroke.look, **shaped})


def _book(name: str, y: float, says: str, colour: Colour) -> list[Part]:
    (left, spine), (at, page) = SPINE, PAGE
    top = y - BOOK / 2
    return [
        box(f"spine {name}", (left, top), (spine + page, BOOK), colour, 0.12, 2),
        box(f"back {name}", (left, top), (spine, BOOK), colour, 0.3),
        word(f"book {name}", left + spine / 2, y + 7, name, colour, weight=700),
        word(f"says {name}", at + page / 2, y + 9, says, size=26, weight=700),
    ]


def _level() -> Part:
    """How high the answer is, at the pages."""
    y = _y(answer(SCORES))
    return line("level", [(LEFT, y), (RIGHT, y)], INK, 2, 0.8, "5 5")


def _needle(z: float) -> list[Part]:
    """From the answer to a scale on which a step is seen."""
    first, right = answer(SCORES), RIGHT + WIDE
    middle = _y(first)
    y = middle - SWING * (z - first) / STEP
    parts = [
        word("zoomed", SCALE, HEADS, "answer, zoomed in", GREY, size=SMALL),
        line("scale", [(SCALE, middle - SWING), (SCALE, middle + SWING)], GREY, 3),
        line("needle", [(right, middle), (SCALE - 4, y)], INK, 4),
        dot("pivot", right, middle, 6),
        dot("tip", SCALE, y, 7),
    ]
    for n, away in ((1, -14), (0, 0), (-1, 27)):
        at = middle - SWING * n
        parts.append(line(f"tick {n}", [(SCALE - 9, at), (SCALE + 9, at)], GREY, 2))
        if n:
            says = f"{first + STEP * n:.1f}"
            parts.append(word(f"at {n}", SCALE, at + away, says, GREY, size=SMALL))
    return parts


def _marks(books: Sequence[int], pulls: Numbers = ()) -> list[Part]:
    """How far raising these has moved the answer, on its scale, and what slopes that makes."""
    z, parts = answer(SCORES), list[Part]()
    if pulls:
        x = MARK + 50
        parts.append(word("slopes", x, _y(z) - SWING - 14, "slope", GREY, size=SMALL))
    for n in books:
        name, colour = BOOKS[n], COLOURS[n]
        by = (answer(raised(n)) - z) / STEP
        if VALUES[n] == z:
            by, mark = 0, dot(f"moved {name}", MARK, _y(z), 5, colour)
        else:
            mark = _arrow(f"moved {name}", MARK, _y(z), -SWING * by, colour, 3)
        y = _y(z) - 0.6 * SWING * by + 8
        parts += [mark, word(f"whose {name}", MARK + 22, y, name, colour, size=22, weight=700)]
        if pulls:
            said = _signed(pulls[n])
            parts.append(word(f"slope {name}", MARK + 52, y, said, colour, size=24, weight=700))
    return parts


def _arrow(key: str, x: float, start: float, by: float, colour: Colour, thick: float) -> Part:
    """Up where it is below 0: its shaft, and its head, which is no longer than it is."""
    head, end = 4 + thick, start + by
    back = -math.copysign(min(head, abs(by)), by)
    points = [(x, start), (x, end), (x - head, end + back), (x, end), (x + head, end + back)]
    return _ends(line(key, points, colour, thick), linejoin="round")


def _ways(lengths: Numbers, pulls: Numbers = ()) -> list[Part]:
    """From the answer's height to pages, how long that is, and slopes of the first ones."""
    start = _y(answer(SCORES))
    parts = list[Part]()
    for n, (name, length) in enumerate(zip(BOOKS, lengths, strict=True)):
        colour, says = COLOURS[n], _signed(length)
        if n < len(pulls):
            says += f" × {weights(SCORES)[n]:.2f} = {_signed(pulls[n])}"
        y = start - UNIT * length + 16
        way = _arrow(f"way {name}", WAY, start, -UNIT * length, colour, 6)
        if abs(length) < LEAST:
            way, y = dot(f"way {name}", WAY, start, 8, colour), start - THICK / 2 - 8
        parts.append(way)
        if n < len(pulls) or abs(length) > LEAST:
            parts.append(word(f"way long {name}", WAY + 18, y, says, colour, "start", 20, 700))
    return parts


def _signed(slope: float) -> str:
    return f"{round(slope):+d}".replace("-", "−") if round(slope) else "0"
