"""Lesson 09 opens with an arrow at each place: two words that move together stay as far apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, area, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, Colour

STEP = 30  # degrees: by as much the lesson turns an arrow at each place, counter-clockwise
ASKS, ASKED = "bites", "dog"  # the longer arrow and the shorter: a query (2, 0) and a key (1, 0)
LONG, SHORT = 2, 1
APART = 2  # places
ROUND = range(0, 360 // STEP, APART)  # where the shorter arrow is, once around
PLACES = ROUND[-1] + APART + 1
HIGH, MIDDLE, UNIT = 268, (112, 97), 44  # of the large circle; px for a length of 1
ROW, SMALL_R, FIRST, ACROSS = 228, 15, 20, 35.5  # of the small circles
RIGHT = 246  # where the words beside the large circle begin
Place = tuple[float, float]


def opening() -> Film:
    """The film."""
    frames = [
        _frame(0, 2, f"Each place turns a word’s arrow by {STEP}° more: two places are 60°.", 0),
        _frame(0, 2, "The score is the shadow of “bites” on “dog”, whose arrow is 1 long."),
        *(_frame(0, asks, _alone(0, asks)) for asks in (3, 4)),
        _frame(0, 2, "Back again, two places apart. Now both words move on together.", so_far=[0]),
        _together(2, "Both arrows turn by 60°, and their triangle with them. The score stays."),
        _together(4, "Other places, other arrows, and the same triangle between them."),
        *(
            _together(n, f"At {n} and {n + APART}: the same triangle, the same score.")
            for n in (6, 8)
        ),
        _together(10, "Once around: six equal triangles. Only the distance counts."),
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


def _together(asked: int, told: str) -> Frame:
    return _frame(asked, asked + APART, told, so_far=[n for n in ROUND if n <= asked])


def _whole(number: float) -> str:
    return f"{round(number)}".replace("-", "−")


def _tenths(number: float) -> str:
    """With one digit after the point, so that it counts while it moves."""
    return f"{round(number, 1) + 0:.1f}".replace("-", "−")


def _frame(
    asked: int, asks: int, told: str, thrown: float = 1, so_far: Sequence[int] = ()
) -> Frame:
    """Two words at their places, and the shadow: thrown, or 0 where it is not yet.

    Triangles so far, of words as far apart, are left.
    """
    made = score(asked, asks)
    tip, foot = arrow(asks - asked, LONG), (made, 0)  # as seen from the shorter arrow, 1 long
    between = [arrow((asks - asked) * n / 12, 0.4) for n in range(13)]
    said = _tenths(made) if thrown else "?"
    parts = [
        *_circles({asked: BLUE, asks: ORANGE}),
        word("asked", _across(asked), ROW - 21, ASKED, BLUE, weight=600),
        word("asks", _across(asks), ROW - 21, ASKS, ORANGE, weight=600),
        dot("face", *MIDDLE, LONG * UNIT + 5, GREY, 0.12),
        *(_turned(_triangle(f"left {n}", tip, foot, 0.22), n) for n in so_far),
        *_turn(
            asked,
            line("axis", _seen([(-LONG, 0), (LONG, 0)]), GREY, 1.5, 0.6),
            _triangle("triangle", tip, foot, 0.3 * thrown),
            line("falls", _seen([tip, foot]), GREEN, 2.5, thrown, "2 5"),
            line("shadow", _seen([(0, 0), foot]), GREEN, 13, 0.6 * thrown),
            line("angle", _seen(between), INK, 2),
            *_arrow("short", SHORT, BLUE),
        ),
        *_turn(asks, *_arrow("long", LONG, ORANGE)),
        dot("middle", *MIDDLE, 5),
        *(_score_of(n) for n in so_far),
        *([] if thrown else _names()),
        word("places", RIGHT, 60, f"places {asked} and {asks}", INK, "start", 24),
        word("apart", RIGHT, 98, f"{STEP * (asks - asked)}° apart", INK, "start", 24),
        word("score", RIGHT, 148, f"score {said}", GREEN, "start", 36, 700),
    ]
    return Frame(parts, told)


def _names() -> list[Part]:
    """Beside both arrows, as they are at first."""
    (x, y), (to_x, to_y) = _seen([(0.6, 0), (0.3, 1)])
    return [
        word("short name", x, y + 25, ASKED, BLUE, weight=600),
        word("long name", to_x, to_y, ASKS, ORANGE, "end", weight=600),
    ]


def _turn(place: float, *parts: Part) -> list[Part]:
    return [_turned(part, place) for part in parts]


def _turned(part: Part, place: float) -> Part:
    """Around the middle of the large circle; between two frames it turns on."""
    x, y = MIDDLE
    return part._replace(look={**part.look, "transform": f"rotate({-STEP * place} {x} {y})"})


def _triangle(key: str, tip: Place, foot: Place, opacity: float) -> Part:
    """Between the longer arrow and its shadow."""
    return area(key, _seen([(0, 0), tip, foot]), GREEN, opacity, GROUND)


def _score_of(asked: int) -> Part:
    """In a triangle."""
    [(x, y)] = _seen([arrow(asked + 1, 0.84)])
    made = _whole(score(asked, asked + APART))
    return word(f"score at {asked}", x, y + 7, made, GREEN, size=SMALL, weight=700)


def _arrow(key: str, length: float, colour: Colour) -> list[Part]:
    """To the right, before it is turned."""
    head = [(length - 0.24, 0.14), (length, 0), (length - 0.24, -0.14)]
    return [
        line(key, _seen([(0, 0), (length, 0)]), colour, 6),
        line(f"{key} head", _seen(head), colour, 6),
    ]


def _circles(arrows: dict[int, Colour]) -> list[Part]:
    """A circle with its arrow at each place, and in colour those where a word stands."""
    parts = []
    for place in range(PLACES):
        x, held = _across(place), arrows.get(place)
        right, up = arrow(place, SMALL_R - 4)
        hand = [(x, ROW), (x + right, ROW - up)]
        parts += [
            dot(f"circle {place}", x, ROW, SMALL_R, held or GREY, 0.25 if held else 0.15),
            line(f"arrow {place}", hand, held or INK, 4, 1 if held else 0.6),
            word(f"place {place}", x, ROW + 35, str(place), size=SMALL),
        ]
    return parts


def _across(place: int) -> float:
    return FIRST + ACROSS * place


def _seen(places: Iterable[Place]) -> list[Place]:
    return [(MIDDLE[0] + UNIT * right, MIDDLE[1] - UNIT * up) for right, up in places]
