"""Lesson 05 opens with a slope that runs back along an answer's ribbons: share times height."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, curve, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, ORANGE, PURPLE

BOOKS = ("two", "readers", "want")  # the lesson's, with their scores and their pages
SCORES, VALUES = (0.0, 0.0, math.log(2)), (8.0, 4.0, 2.0)
COLOURS = (GREEN, BLUE, PURPLE)
NUDGE = 0.5  # of a score, to see what its slope says
HIGH, BOTTOM, UNIT = 250, 284, 32  # of the sheet; y of a value of 0; px for 1
LEFT, RIGHT, THICK = 186, 392, 52  # where ribbons begin and end; px for a share of 1
Numbers = Sequence[float]


def opening() -> Film:
    """The film."""
    shares = weights(SCORES)
    z = answer(SCORES)
    all_of = ", ".join(f"{share:g}" for share in shares)
    level = [*_ribbons(SCORES), *_level(z)]
    frames = [
        Frame(_pages(), "The pages of three books hold a number each: 8, 4 and 2."),
        Frame(_ribbons(SCORES), f"Weights of {all_of} mix them into one answer: {z:g}."),
        Frame(
            level, "How much does it move with each number? The slope runs back along the ribbons."
        ),
        *(
            Frame(
                [*level, *_running(1 - n / 3)], f"Each page gets its share of the slope: {all_of}."
            )
            for n in (1, 2, 3)
        ),
        Frame(
            [*level, *_heights(z), *_running(0)],
            "A score's slope is its share times the height of its page above the answer.",
        ),
        Frame([*level, *_heights(z), *_slopes()], "So the slopes of the scores are 1, 0 and −1."),
        *(_nudged(book) for book in range(len(BOOKS))),
        Frame(
            [*level, *_heights(z), *_slopes()],
            "A book pulls the answer towards its page: its share times how far the page is.",
        ),
    ]
    return Film("A slope runs back along the ribbons", frames, HIGH)


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


def _nudged(book: int) -> Frame:
    scores = [score + NUDGE * (n == book) for n, score in enumerate(SCORES)]
    z, before = answer(scores), answer(SCORES)
    does = "stays at" if abs(z - before) < 1e-9 else "rises to" if z > before else "falls to"
    return Frame(
        [*_ribbons(scores), *_level(z), *_slopes(book)],
        f"Raise the score of “{BOOKS[book]}” by a half: the answer {does} {z:.2g}.",
    )


def _y(value: float) -> float:
    return BOTTOM - UNIT * value


def _pages() -> list[Part]:
    pages = zip(BOOKS, VALUES, COLOURS, strict=True)
    return [
        word(f"page {name}", 112, _y(value) + 7, f"{name} {value:g}", colour, "end", weight=600)
        for name, value, colour in pages
    ]


def _ribbons(scores: Numbers) -> list[Part]:
    """From each page to the answer, as thick as its weight."""
    z = answer(scores)
    return [
        *(
            curve(f"ribbon {n}", (LEFT, _y(value)), (RIGHT, _y(z)), colour, THICK * share, 0.5)
            for n, (share, value, colour) in enumerate(
                zip(weights(scores), VALUES, COLOURS, strict=True)
            )
        ),
        *_pages(),
        word("answer", RIGHT + 18, _y(z) + 9, f"{z:.2g}", INK, "start", 28, 600),
        word("its name", RIGHT + 18, _y(z) - 22, "answer", INK, "start", SMALL),
    ]


def _level(z: float) -> list[Part]:
    return [line("level", [(LEFT - 8, _y(z)), (RIGHT + 12, _y(z))], INK, 2, 0.8, "5 5")]


def _heights(z: float) -> list[Part]:
    """How far each page lies from the answer."""
    return [
        line(f"height {n}", [(LEFT, _y(z)), (LEFT, _y(value))], ORANGE, 4)
        for n, value in enumerate(VALUES)
    ]


def _running(way: float) -> list[Part]:
    """The slope on its way back: at the answer where it is 1, at the pages where it is 0."""
    parts = []
    z, t = answer(SCORES), way
    for n, (share, value) in enumerate(zip(weights(SCORES), VALUES, strict=True)):
        bend = (LEFT + RIGHT) / 2
        x = LEFT * (1 - t) ** 3 + 3 * bend * t * (1 - t) + RIGHT * t**3
        late = 3 * (1 - t) * t**2 + t**3
        y = _y(value) * (1 - late) + _y(z) * late
        parts.append(dot(f"runs {n}", x, y, 24 * math.sqrt(share), ORANGE, 0.9))
    return parts


def _slopes(only: int | None = None) -> list[Part]:
    """What has arrived at each score; of one book, or of all."""
    return [
        word(f"slope {n}", LEFT - 20, _y(value) + 9, _signed(slope), ORANGE, "end", 26, 700)
        for n, (slope, value) in enumerate(zip(slopes(SCORES), VALUES, strict=True))
        if only in (None, n)
    ]


def _signed(slope: float) -> str:
    return f"{round(slope):+d}".replace("-", "−") if round(slope) else "0"
