"""Lesson 05 opens with a slope that runs back to three books: each pulls the answer to its page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, Place, box, curve, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, ORANGE, PURPLE

# The lesson's: scores of three books, and the number on the page of each.
BOOKS, SCORES, VALUES = ("A", "B", "C"), (0.0, 0.0, math.log(2)), (8.0, 4.0, 2.0)
COLOURS = (GREEN, BLUE, PURPLE)
RAISED = {0: math.log(2), 2: math.log(1.5)}  # scores, to see what their slopes say, and by how much
HIGH, BOTTOM, UNIT = 262, 286, 31  # of the sheet; y of a value of 0; px for 1
LEFT, RIGHT, THICK = 140, 304, 48  # where ribbons begin and end; px for a share of 1
PAGE, MIX = (42, 36), (62, 44)  # sizes of a page and of the answer
ASIDE = 16  # from a ribbon's end to these
NEAR, PULLS = LEFT + 10, (406, 434, 461)  # x of arrows at the pages, and of those at the answer
HEAD, LEAST = 8, 1e-9  # of an arrow; a length that is one
Numbers = Sequence[float]


def opening() -> Film:
    """The film."""
    z = answer(SCORES)
    shares = ", ".join(f"{share:g}" for share in weights(SCORES))
    far, pulls = [value - z for value in VALUES], slopes(SCORES)
    signed = ", ".join(map(_signed, pulls))
    rest = [*_ribbons(SCORES), *_level(z)]
    asked = [*rest, *_asked()]
    end = [*rest, *_arrows(pulls, PULLS), *_named(pulls)]
    frames = [
        Frame(
            [*_ribbons(SCORES, "?"), *_asked()],
            "What do 8, 4 and 2 make together? Each of three books gives its page, by its share.",
        ),
        Frame(
            [*_ribbons(SCORES), *_asked()],
            f"Ribbons as thick as their shares, {shares}, mix one answer: {z:g}.",
        ),
        Frame(
            [*asked, *_running(1)],
            "Whose share should grow, to move it? A slope runs back from the answer.",
        ),
        *(
            Frame(
                [*asked, *_running(1 - n / 3)], f"Each page gets its share of the slope: {shares}."
            )
            for n in (1, 2, 3)
        ),
        Frame(
            [*asked, *_arrows(far, [NEAR] * 3), *_beside(far)],
            f"How far from the answer is each page? {far[0]:g} up, nothing, and {-far[2]:g} down.",
        ),
        Frame(
            [*asked, *_arrows(pulls, [NEAR] * 3), *_beside(pulls)],
            f"Share times distance is the slope of the book's score: {signed}.",
        ),
        Frame(end, "That is how hard each book pulls at the answer, as its score is raised."),
        *map(_raised, RAISED),
        Frame(
            end, "A book pulls the answer towards its page, by its share times how far the page is."
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


def _raised(book: int) -> Frame:
    scores = [score + RAISED[book] * (n == book) for n, score in enumerate(SCORES)]
    z, pulls = answer(scores), slopes(SCORES)
    does = "rises to" if z > answer(SCORES) else "falls to"
    return Frame(
        [*_ribbons(scores), *_level(z), *_arrows(pulls, PULLS, book), *_named(pulls, book)],
        f"Raise the score of book {BOOKS[book]}: its share grows to {weights(scores)[book]:.2f}, "
        f"and the answer {does} {z:.2g}.",
    )


def _y(value: float) -> float:
    return BOTTOM - UNIT * value


def _ribbons(scores: Numbers, said: str = "") -> list[Part]:
    """From each page to the answer, as thick as its weight; what the answer says, if not itself."""
    shares, z = weights(scores), answer(scores)
    parts = []
    for name, share, value, colour in zip(BOOKS, shares, VALUES, COLOURS, strict=True):
        thick = THICK * share
        above = _y(value) - thick / 2 - 6 if value >= z else _y(value) + thick / 2 + 18
        left = LEFT - PAGE[0] - ASIDE
        parts += [
            curve(f"ribbon {name}", (LEFT, _y(value)), (RIGHT, _y(z)), colour, thick, 0.5),
            word(
                f"share {name}",
                LEFT + 26,
                above,
                f"share {share:.2f}" if name == "A" else f"{share:.2f}",
                colour,
                "start",
                SMALL,
            ),
            box(f"page {name}", (left, _y(value) - PAGE[1] / 2), PAGE, colour, 0.12, 2),
            word(
                f"says {name}",
                left + PAGE[0] / 2,
                _y(value) + 8,
                f"{value:g}",
                INK,
                size=24,
                weight=600,
            ),
            word(
                f"book {name}", left - 8, _y(value) + 6, f"book {name}", colour, "end", SMALL, 600
            ),
        ]
    wide, high = MIX
    x, y = RIGHT + ASIDE, _y(z)
    return [
        *parts,
        box("mix", (x, y - high / 2), MIX, INK, 0.06, 2),
        word("answer", x + wide / 2, y + 9, said or f"{z:.2g}", INK, size=28, weight=700),
        word("its name", x + wide / 2, y - high / 2 - 8, "answer", INK, size=SMALL),
    ]


def _level(z: float) -> list[Part]:
    """How high the answer is, at the pages and beside it."""
    y = _y(z)
    return [
        line("level", [(LEFT - 2, y), (RIGHT + ASIDE, y)], INK, 2, 0.8, "5 5"),
        line("its end", [(RIGHT + ASIDE + MIX[0], y), (WIDE - 4, y)], INK, 2, 0.8, "5 5"),
    ]


def _running(way: float) -> list[Part]:
    """The slope on its way back: at the answer where it is 1, at the pages where it is 0."""
    parts = []
    z, t = answer(SCORES), way
    for name, share, value in zip(BOOKS, weights(SCORES), VALUES, strict=True):
        bend = (LEFT + RIGHT) / 2
        x = LEFT * (1 - t) ** 3 + 3 * bend * t * (1 - t) + RIGHT * t**3
        late = 3 * (1 - t) * t**2 + t**3
        y = _y(value) * (1 - late) + _y(z) * late
        parts.append(dot(f"runs {name}", x, y, 24 * math.sqrt(share), ORANGE, 0.9))
    return parts


def _asked() -> list[Part]:
    """Where the answer may go."""
    start, x = _y(answer(SCORES)), PULLS[1]
    ways = {"up": -UNIT, "down": UNIT}
    return [
        *(line(f"asks {way}", _arrow(x, start, by), ORANGE, 4, 0.4) for way, by in ways.items()),
        word("asks", x, start - UNIT - 12, "?", ORANGE, size=30, weight=700),
    ]


def _arrow(x: float, start: float, by: float) -> list[Place]:
    """Up where it is below 0: its shaft, and its head."""
    end, back = start + by, -math.copysign(HEAD, by)
    return [(x, start), (x, end), (x - HEAD, end + back), (x, end), (x + HEAD, end + back)]


def _arrows(lengths: Numbers, places: Numbers, only: int | None = None) -> list[Part]:
    """From the answer's height up or down, of one book or of all; a dot where there is no way."""
    start = _y(answer(SCORES))
    parts = []
    for n, (name, length, x) in enumerate(zip(BOOKS, lengths, places, strict=True)):
        if only not in (None, n):
            continue
        if abs(length) < LEAST:
            parts.append(dot(f"pull {name}", x, start, 6, ORANGE))
        else:
            parts.append(line(f"pull {name}", _arrow(x, start, -UNIT * length), ORANGE, 5))
    return parts


def _beside(lengths: Numbers) -> list[Part]:
    """What these say, at the pages."""
    start = _y(answer(SCORES))
    return [
        word(
            f"pulls {name}",
            NEAR + 14,
            (start + _y(value)) / 2 + 3,
            _signed(length),
            ORANGE,
            "start",
            24,
            700,
        )
        for name, value, length in zip(BOOKS, VALUES, lengths, strict=True)
        if abs(length) > LEAST
    ]


def _named(lengths: Numbers, only: int | None = None) -> list[Part]:
    """What these say, beside the answer, and whose they are."""
    start = _y(answer(SCORES))
    parts = []
    for n, (name, length, x) in enumerate(zip(BOOKS, lengths, PULLS, strict=True)):
        end = start - UNIT * length
        says, whose = (end + 24, start - 10) if length < -LEAST else (end - 10, start + 24)
        if only in (None, n):
            parts += [
                word(f"pulls {name}", x, says, _signed(length), ORANGE, size=24, weight=700),
                word(f"whose {name}", x, whose, name, COLOURS[n], size=SMALL, weight=600),
            ]
    return parts


def _signed(slope: float) -> str:
    return f"{round(slope):+d}".replace("-", "−") if round(slope) else "0"
