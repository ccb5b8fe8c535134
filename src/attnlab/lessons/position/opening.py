"""Lesson 09 opens with a clock at each place: two words that move together stay as far apart."""

from __future__ import annotations

import math

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, Colour

PLACES = 10
HOUR = 30  # degrees: by as much the lesson turns an arrow at each place
ASKS, ASKED = "bites", "dog"  # the longer hand and the shorter: a query (2, 0) and a key (1, 0)
LONG, SHORT = 2, 1
HIGH, MIDDLE, UNIT = 250, (128, 74), 32  # of the large clock; px for a length of 1
ROW, SMALL_R, FIRST, STEP = 190, 19, 28, 46.5  # of the small clocks
Place = tuple[float, float]


def opening() -> Film:
    """The film."""
    alone = [(1, asks) for asks in (3, 4, 5, 3)]
    both = [(asked, asked + 2) for asked in range(2, PLACES - 2)]
    frames = [
        Frame(_clocks(), "Each place in a text gets a clock: at place 3 it is 3 o’clock."),
        *(_frame(asked, asks, _alone(asked, asks)) for asked, asks in alone[:3]),
        _frame(1, 3, "Back again: two hours apart. Now both words move together."),
        *(_frame(asked, asks, _both(asked, asks)) for asked, asks in both),
    ]
    return Film("A clock for each place", frames, HIGH)


def hand(hours: float, length: float) -> Place:
    """Where a hand ends that began as (0, length), at 12 o'clock: to the right, and up."""
    turned = math.radians(HOUR * hours)
    return length * math.sin(turned), length * math.cos(turned)


def score(asked: int, asks: int) -> float:
    """Of the word that asks with the one that is asked: the dot product of their hands."""
    (a, b), (c, d) = hand(asked, SHORT), hand(asks, LONG)
    return a * c + b * d


def _alone(asked: int, asks: int) -> str:
    if asks == asked + 2:
        return f"“{ASKED}” stands at {asked}, “{ASKS}” at {asks}: their hands are two hours apart."
    return (
        f"“{ASKS}” moves on alone: {asks - asked} hours apart, and the score falls to "
        f"{_whole(score(asked, asks))}."
    )


def _both(asked: int, asks: int) -> str:
    return (
        f"At {asked} and {asks} both hands have turned, and the score is "
        f"{_whole(score(asked, asks))}, as before."
    )


def _whole(number: float) -> str:
    return f"{round(number)}".replace("-", "−")


def _frame(asked: int, asks: int, told: str) -> Frame:
    apart = asks - asked
    parts = [
        *_clocks({asked: BLUE, asks: ORANGE}),
        word("asked", _across(asked), ROW - 27, ASKED, BLUE, weight=600),
        word("asks", _across(asks), ROW - 27, ASKS, ORANGE, weight=600),
        dot("face", *MIDDLE, 2 * UNIT + 6, GREY, 0.15),
        line("angle", [_seen(hand(asked + apart * n / 12, 0.8)) for n in range(13)], GREEN, 9),
        line("short", [MIDDLE, _seen(hand(asked, SHORT))], BLUE, 7),
        line("long", [MIDDLE, _seen(hand(asks, LONG))], ORANGE, 4),
        dot("middle", *MIDDLE, 6),
        word("apart", 236, 66, f"{apart} hours apart", GREEN, "start", 26, 600),
        word("score", 236, 104, f"score {_whole(score(asked, asks))}", INK, "start", 26),
    ]
    return Frame(parts, told)


def _clocks(hands: dict[int, Colour] | None = None) -> list[Part]:
    """A clock at each place, and in colour those where a word stands."""
    parts = []
    for place in range(PLACES):
        x, colour = _across(place), (hands or {}).get(place, GREY)
        right, up = hand(place, SMALL_R - 5)
        parts += [
            dot(f"clock {place}", x, ROW, SMALL_R, GREY, 0.18),
            line(f"hand {place}", [(x, ROW), (x + right, ROW - up)], colour, 3),
            word(f"place {place}", x, ROW + 42, str(place), size=SMALL),
        ]
    return parts


def _across(place: int) -> float:
    return FIRST + STEP * place


def _seen(end: Place) -> Place:
    return MIDDLE[0] + UNIT * end[0], MIDDLE[1] - UNIT * end[1]
