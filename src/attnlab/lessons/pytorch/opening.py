"""Lesson 05 opens with three scores, raised alike: each book pulls the answer to its value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, box, curve, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE, Colour

# The lesson's: scores of three books, and the number on the page of each.
BOOKS, SCORES, VALUES = ("A", "B", "C"), (0.0, 0.0, math.log(2)), (8.0, 4.0, 2.0)
COLOURS = (GREEN, BLUE, PURPLE)
STEP = 0.1  # how far a score is raised

HIGH, BOTTOM, UNIT, HEADS = 270, 302, 31, 15  # of the sheet; y of 0; px for 1; columns' names
SCORE, SPINE, PAGE = 27, (56, 26), (82, 34)  # middle of scores; left and width of a book's parts
BOOK, CHIP, THICK = 44, (122, 48), 88  # how high a book is; its share's column; px for a share of 1
LEFT, RIGHT, BAND, WIDE = 170, 213, 10, 80  # ends of ribbons; widths of their ends and the answer
SCALE, SWING, MARK = 314, 64, 356  # the answer's scale, a step on it, and books' arrows beside it
SLOPE, THIN = 479, 4  # end of results; a bar's width at first
BARS, SHARE, ASIDE = (100.0, 186.0, 272.0), 8 * UNIT, 56  # bars' left; px for 1; books' way
PRODUCT, RESULT = 146, 56  # how long they are
CUTS = (UNIT, 2 * UNIT, 3 * UNIT)  # of bars, from their edges, into squares
Numbers = Sequence[float]


def opening() -> Film:
    """The film."""
    z = answer(SCORES)
    far, pulls, shares = [value - z for value in VALUES], slopes(SCORES), weights(SCORES)
    a, b, c = range(len(BOOKS))
    rest = _stage(SCORES)
    frames = [
        Frame(
            [*rest, *_zoomed(z)],
            f"A value counts by its book's share. Raise each score by {STEP:g}, one at a time.",
        ),
        Frame(
            [*_raised(a), *_marks([a])],
            f"Raise A's score by {STEP:g}: {_grows(a)}. It pulls up, to {answer(raised(a)):.2f}.",
        ),
        Frame(
            [*_raised(c), *_marks([a, c])],
            f"Raise C's instead: {_grows(c)}. It pulls down, to {answer(raised(c)):.2f}.",
        ),
        Frame(
            [*_raised(b), *_marks([a, c, b])],
            f"Raise B's instead: {_grows(b)}. The answer stays at {answer(raised(b)):.2f}.",
        ),
        Frame(
            [*rest, *_zoomed(z), *_marks([a, b, c], pulls)],
            "Movement ÷ step is nearly a slope. All three together: the gradient.",
        ),
        Frame(
            _bars(),
            f"Why these slopes? A's value is {far[a]:g} above the answer, B's level with it, "
            f"C's {-far[c]:g} below.",
        ),
        Frame(
            _bars([a]),
            f"Make A's bar as wide as its share: its area, {far[a]:g} × {shares[a]:.2f}, is A's "
            f"slope, {pulls[a]:g}.",
        ),
        Frame(
            _bars([a, b, c]),
            "C's bar is half as long, twice as wide: it pulls down as hard. "
            "B's has no length: no pull.",
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


def _grows(book: int) -> str:
    return f"its share grows to {weights(raised(book))[book]:.2f}"


def _y(value: float) -> float:
    return BOTTOM - UNIT * value


def _raised(book: int) -> list[Part]:
    """The stage and the scale when its score has gone up."""
    scores = raised(book)
    return [*_stage(scores, book), *_zoomed(answer(scores))]


def _stage(scores: Numbers, lifted: int | None = None) -> list[Part]:
    """Books, ribbons as thick as their shares, and the answer; a book's score may be raised."""
    shares, middle = weights(scores), _y(answer(SCORES))
    chip, words = CHIP[0] + CHIP[1] / 2, RIGHT + (BAND + WIDE) / 2
    parts = [
        box("ground", (RIGHT, middle - THICK / 2), (WIDE, THICK), GROUND),
        word("scores", SCORE, HEADS, "score", GREY, size=SMALL),
        word("values", PAGE[0] + PAGE[1] / 2 - 10, HEADS, "value", GREY, size=SMALL),
        word("shares", chip, HEADS, "share", GREY, size=SMALL),
        word("its name", words, middle - 8, "answer", size=SMALL),
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
            word(f"score {name}", SCORE, y + 7, f"{scores[n]:.2f}", **look),
            box(f"chip {name}", (CHIP[0], y - thick / 2), (CHIP[1], thick), colour),
            word(f"share {name}", chip, y + 6.5, f"{share:.2f}", GROUND, size=SMALL, weight=600),
        ]
        top += thick
    return [
        *parts,
        box("mix", (RIGHT, middle - THICK / 2), (WIDE, THICK), INK, 0, 2),
        word("answer", words, middle + 21, f"{answer(scores):.2f}", size=24, weight=700),
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
        word("zoomed", SCALE, middle - SWING - 38, "answer, zoomed", GREY, size=SMALL),
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


def _marks(books: Sequence[int], pulls: Numbers = ()) -> list[Part]:
    """How far raising these has moved the answer, on its scale, or what slopes that makes."""
    z = answer(SCORES)
    parts = [word("slopes", SLOPE, HEADS, "slope" if pulls else "moved", GREY, "end", size=SMALL)]
    for n in books:
        name, colour, moved = BOOKS[n], COLOURS[n], answer(raised(n)) - z
        far = -SWING * moved / STEP
        y, says = _y(z) + far / 2, _signed(moved, 2)
        if VALUES[n] == z:
            parts.append(dot(f"moved {name}", MARK, y, 5, colour))
        else:
            parts.append(_arrow(f"moved {name}", MARK, _y(z), far, colour, 3))
        parts.append(word(f"whose {name}", MARK + 17, y + 8, name, colour, size=22, weight=700))
        key, result = ("slope", _signed(pulls[n])) if pulls else ("by", says)
        parts.append(word(f"{key} {name}", SLOPE, y + 10, result, colour, "end", 26, 700))
        if pulls and n == books[0]:
            divided = f"{says} ÷ {STEP:g}"
            parts.append(word("division", SLOPE, y - 18, divided, colour, "end", SMALL))
            parts.append(word("nearly", SLOPE - 44, y + 9, "≈", colour, "end", 22))
    return parts


def _arrow(key: str, x: float, start: float, by: float, colour: Colour, thick: float) -> Part:
    """Up where it is below 0: its shaft, and its head, which is no longer than it is."""
    head, end = 4 + thick, start + by
    back = -math.copysign(min(head, abs(by)), by)
    points = [(x, start), (x, end), (x - head, end + back), (x, end), (x + head, end + back)]
    return line(key, points, colour, thick)


def _bars(worked: Sequence[int] = ()) -> list[Part]:
    """From the answer's height to values'; of these books as wide as shares, in squares."""
    y, end = _y(z := answer(SCORES)), SLOPE
    parts = [
        word("values", PAGE[0] - ASIDE, HEADS, "value", GREY, size=SMALL),
        line("level", [(BARS[0] - 40, y), (end, y)], INK, 1.5),
        word("level is", end, y - 36, "answer", anchor="end", size=SMALL),
        word("answer", end, y - 10, f"{z:.2f}", anchor="end", size=26, weight=700),
    ]
    return [*parts, *(part for n in range(len(BOOKS)) for part in _bar(n, n in worked))]


def _bar(n: int, grown: bool) -> list[Part]:
    """A book, its value's level, how far that is from the answer, and its slope."""
    name, colour, left, away = BOOKS[n], COLOURS[n], BARS[n], VALUES[n] - answer(SCORES)
    y, share, high = _y(VALUES[n]), weights(SCORES)[n], max(UNIT * abs(away), THIN)
    full, slope = SHARE * share, _signed(slopes(SCORES)[n])
    top = min(y, y + UNIT * away) - (0 if away else THIN / 2)
    middle, right, half = left + full / 2, left + full, top + high / 2
    across = full if grown or not away else THIN
    parts = [
        *_book(name, y, f"{VALUES[n]:g}", colour, ASIDE),
        box(f"pull {name}", (left, top), (across, high), colour, 0.5 if away else 1),
    ]
    if not away:
        return [*parts, word(f"of {name}", middle, y - 10, slope, size=34, weight=700)]
    rises, where = away > 0, "above" if away > 0 else "below"
    outer, inner = (left - 10, left + across + 12) if rises else (left + across + 10, left - 12)
    ahead, beside = ("start", "end") if rises else ("end", "start")
    parts += [
        line(f"level {name}", [(BARS[0] - 40, y), (right, y)], GREY, 1.5, 1, "2 5"),
        word(f"far {name}", outer, half + 6, f"{abs(away):g} {where}", colour, beside, SMALL),
    ]
    if grown:
        cuts = [[(left + at, top), (left + at, top + high)] for at in CUTS if at < full - 1]
        cuts += [[(left, top + at), (right, top + at)] for at in CUTS if at < high - 1]
        parts += [line(f"cut {name} {k}", ends, GROUND, 1) for k, ends in enumerate(cuts)]
        wide, aside = f"{share:.2f} wide", -9 if rises else high + 21
        parts.append(word(f"wide {name}", middle, top + aside, wide, colour, size=SMALL))
        product, inner = f"{_signed(away)} × {share:.2f} =", inner + PRODUCT * rises
        end = inner - (10 if rises else RESULT)
        parts.append(word(f"area {name}", end, half + 10, product, INK, "end"))
    if rises:
        parts.append(word("slope", inner, half - 22, "slope", GREY, "start", SMALL))
    return [*parts, word(f"of {name}", inner, half + 12, slope, INK, ahead, 34, 700)]


def _signed(number: float, places: int = 0) -> str:
    return f"{number:+.{places}f}".replace("-", "−") if round(number, places) else "0"
