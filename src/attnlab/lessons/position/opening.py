"""Lesson 09 opens with an arrow at each place: two words that move together stay as far apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, Colour

PLACES = 10
STEP = 30  # degrees: by as much the lesson turns an arrow at each place, counter-clockwise
ASKS, ASKED = "bites", "dog"  # the longer arrow and the shorter: a query (2, 0) and a key (1, 0)
LONG, SHORT = 2, 1
HIGH, MIDDLE, UNIT = 268, (112, 85), 38  # of the large circle; px for a length of 1
ROW, SMALL_R, FIRST, ACROSS = 219, 19, 30, 46.5  # of the small circles
RULER, ONE = (357, 130), 50  # where its 0 is, and px for a score of 1
TICKS = range(-2, 3)
Place = tuple[float, float]


def opening() -> Film:
    """The film."""
    frames = [
        _frame(1, 3, "Each place turns a word’s arrow by 30° more: two places apart are 60°.", 0),
        _frame(1, 3, "The score is the shadow of “bites” on “dog”, whose arrow is 1 long."),
        *(_frame(1, asks, _alone(1, asks)) for asks in (4, 5)),
        _frame(1, 3, "Back again, two places apart. Now both words move on together."),
        *(
            _frame(asked, asked + 2, _both(asked, asked + 2), before=range(1, asked, 2))
            for asked in (3, 5, 7)
        ),
    ]
    return Film("What stays when two words move together?", frames, HIGH)


def arrow(place: float, length: float) -> Place:
    """Where an arrow ends that began as (length, 0): to the right, and up."""
    turned = math.radians(STEP * place)
    return length * math.cos(turned), length * math.sin(turned)


def score(asked: int, asks: int) -> float:
    """Of the word that asks with the one that is asked: the dot product of their arrows."""
    (a, b), (c, d) = arrow(asked, SHORT), arrow(asks, LONG)
    return a * c + b * d


def _alone(asked: int, asks: int) -> str:
    return (
        f"“{ASKS}” moves on alone: {STEP * (asks - asked)}° apart, and the score falls to "
        f"{_whole(score(asked, asks))}."
    )


def _both(asked: int, asks: int) -> str:
    return (
        f"At {asked} and {asks} both arrows have turned, and the score is "
        f"{_whole(score(asked, asks))}, as before."
    )


def _whole(number: float) -> str:
    return f"{round(number)}".replace("-", "−")


def _tenths(number: float) -> str:
    """With one digit after the point, so that it counts with the bar while it moves."""
    return f"{round(number, 1) + 0:.1f}".replace("-", "−")


def _frame(
    asked: int, asks: int, told: str, thrown: float = 1, before: Sequence[int] = ()
) -> Frame:
    """Two words at their places, and the shadow: thrown, or 0 where it is not yet.

    Of the same words at places before, as far apart, the arrows are left, paler.
    """
    apart, made = asks - asked, score(asked, asks) * thrown
    foot = arrow(asked, made)  # the shorter arrow is 1 long, so its shadow is the score
    tip = arrow(asks, LONG)
    x, y = RULER
    axis = [_seen(arrow(asked, each)) for each in (-LONG, LONG)]
    parts = [
        *_circles({asked: BLUE, asks: ORANGE}),
        word("asked", _across(asked), ROW - 27, ASKED, BLUE, weight=600),
        word("asks", _across(asks), ROW - 27, ASKS, ORANGE, weight=600),
        dot("face", *MIDDLE, LONG * UNIT + 5, GREY, 0.15),
        *(part for place in before for part in _left_over(place, apart)),
        line("axis", axis, GREY, 1.5, 0.8),
        line("angle", [_seen(arrow(asked + apart * n / 12, 0.45)) for n in range(13)], INK, 2),
        line("falls", [_seen(tip), _seen(foot)], GREEN, 2, thrown, "2 5"),
        line("shadow", [MIDDLE, _seen(foot)], GREEN, 11, 0.6 * thrown),
        *_large("short", asked, SHORT, BLUE),
        *_large("long", asks, LONG, ORANGE),
        dot("middle", *MIDDLE, 5),
        word("apart", 240, 40, f"{STEP * apart}° apart", INK, "start", 24, 400),
        word(
            "score", 240, 80, f"score {_tenths(made) if thrown else '?'}", GREEN, "start", 28, 700
        ),
        line("ruler", [(x - 2 * ONE, y), (x + 2 * ONE, y)], GREY, 2),
        *(line(f"tick {n}", [(x + n * ONE, y - 5), (x + n * ONE, y + 5)], GREY, 2) for n in TICKS),
        *(word(f"number {n}", x + n * ONE, y + 26, _whole(n), GREY, size=SMALL) for n in TICKS),
        line("so much", [(x, y), (x + made * ONE, y)], GREEN, 9, thrown),
    ]
    if not before:
        parts.append(word("one", *_beside(asked), "1", BLUE, size=SMALL, weight=600))
    return Frame(parts, told)


def _left_over(place: int, apart: int) -> list[Part]:
    """Both arrows as they were at a place, and what fell from the longer one."""
    short, long = _seen(arrow(place, SHORT)), _seen(arrow(place + apart, LONG))
    return [
        line(f"fell {place}", [long, short], GREEN, 1.5, 0.5, "2 5"),
        line(f"short {place}", [MIDDLE, short], BLUE, 4, 0.35),
        line(f"long {place}", [MIDDLE, long], ORANGE, 4, 0.35),
    ]


def _beside(place: int) -> Place:
    """Where the length of the shorter arrow stands, on the side that the longer one is not."""
    (x, y), (right, up) = _seen(arrow(place, SHORT / 2)), arrow(place - 90 / STEP, 17)
    return x + right, y - up + 6


def _large(key: str, place: int, length: float, colour: Colour) -> list[Part]:
    x, y = arrow(place, length)
    back = (arrow(place + turned, 0.28) for turned in (5, 7))  # its head, 30° to both sides
    (a, b), (c, d) = ((x + right, y + up) for right, up in back)
    return [
        line(key, [MIDDLE, _seen((x, y))], colour, 5),
        line(f"{key} head", [_seen((a, b)), _seen((x, y)), _seen((c, d))], colour, 5),
    ]


def _circles(arrows: dict[int, Colour]) -> list[Part]:
    """A circle with its arrow at each place, and in colour those where a word stands."""
    parts = []
    for place in range(PLACES):
        x, colour = _across(place), arrows.get(place, GREY)
        right, up = arrow(place, SMALL_R - 5)
        parts += [
            dot(f"circle {place}", x, ROW, SMALL_R, GREY, 0.18),
            line(f"arrow {place}", [(x, ROW), (x + right, ROW - up)], colour, 3),
            word(f"place {place}", x, ROW + 42, str(place), size=SMALL),
        ]
    return parts


def _across(place: int) -> float:
    return FIRST + ACROSS * place


def _seen(end: Place) -> Place:
    return MIDDLE[0] + UNIT * end[0], MIDDLE[1] - UNIT * end[1]
