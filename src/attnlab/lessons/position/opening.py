"""Lesson 09 opens with arrows that places turn: the score tells an order, and no more of places."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, area, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, Colour

STEP = 30  # degrees: by as much the lesson turns an arrow at each place, counter-clockwise
ASKS, ASKED = "bites", "dog"  # the longer arrow and the shorter: a query (0, −2) and a key (1, 0)
LONG, SHORT = 2, 1
TILT = -90  # degrees, from the shorter arrow to the longer one, before either is turned
APART, FAR = 1, 3  # places, from the word that is asked to the one that asks
BESIDE = 0.25  # of the line, on which the shadow falls, as seen: else an arrow lies on it
ON = 2  # places, that both move on at a time
ROUND = range(0, 360 // STEP, ON)  # where the shorter arrow is, once around
PLACES = 360 // STEP
HIGH, MIDDLE, UNIT = 269, (112, 94), 43  # of the large circle; px for a length of 1
ROW, SMALL_R, FIRST, ACROSS = 229, 15, 31, 38  # of the small circles
RIGHT = 246  # where the words beside the large circle begin
Place = tuple[float, float]
NAMES = {ASKED: 0.42, ASKS: 0.62}  # half as wide, in lengths of 1


def opening() -> Film:
    """The film."""
    alone, swapped = score(0, APART), score(APART, 0)
    frames = [
        _frame(
            None,
            f"Without places these arrows stand at a right angle, in either order: score "
            f"{_whole(score(0, 0))}.",
        ),
        _frame(
            (0, APART),
            f"Place 1 turns “{ASKS}” by {STEP}°. “{ASKED}” is {SHORT} long, so the shadow, "
            f"{_whole(alone)}, is the score.",
        ),
        _frame(
            (APART, 0),
            f"Swapped, “{ASKED}” turns instead: not {_whole(alone)}, but {_whole(swapped)}. "
            "So the score tells their order.",
        ),
        _frame(
            (0, FAR),
            f"Another distance, at 0 and {FAR}: another score, {_whole(score(0, FAR))}.",
        ),
        _frame(
            (0, APART),
            f"Back at 0 and {APART}: score {_whole(alone)}. Next, both words move on by {ON}.",
            [0],
        ),
        _together(2, "Both arrows turn by 60°, and their triangle with them. The score stays."),
        _together(4, "Other places, other arrows, and the same triangle between them."),
        _together(8, "At 6 and 7, at 8 and 9: the same triangle, the same score."),
        _together(
            10, "Once around, six equal triangles: of places, only distance and order count."
        ),
    ]
    return Film("What does a score know of places?", frames, HIGH)


def arrow(place: float, length: float, tilt: float = 0) -> Place:
    """Where an arrow ends that began to the right, or tilted: to the right, and up."""
    turned = math.radians(STEP * place + tilt)
    return length * math.cos(turned), length * math.sin(turned)


def score(asked: int, asks: int) -> float:
    """Of the word that asks with the one that is asked: the dot product of their arrows."""
    (a, b), (c, d) = arrow(asked, SHORT), arrow(asks, LONG, TILT)
    return a * c + b * d


def _together(asked: int, told: str) -> Frame:
    return _frame((asked, asked + APART), told, [n for n in ROUND if n <= asked])


def _whole(number: float) -> str:
    return f"{round(number)}".replace("-", "−")


def _frame(at: tuple[int, int] | None, told: str, so_far: Sequence[int] = ()) -> Frame:
    """Two words at their places, the shorter arrow's first, or at none; and the shadow.

    Triangles so far, of words as far apart, are left.
    """
    asked, asks = at or (0, 0)
    tip = arrow(asks - asked, LONG, TILT)  # as seen from the shorter arrow, 1 long
    foot = (score(asked, asks), 0)
    apart = STEP * (asks - asked) + TILT
    between = [arrow(0, 0.4, apart * n / 12) for n in range(13)]
    parts = [
        *_circles({asked: BLUE, asks: ORANGE} if at else {}),
        *(_standing(asked, asks) if at else []),
        dot("face", *MIDDLE, LONG * UNIT + 5, GREY, 0.12),
        *(_turned(_triangle(f"left {n}", tip, foot, 0.22), n) for n in so_far),
        *_turn(
            asked,
            line("axis", _seen([(-LONG, 0), (LONG, 0)]), GREY, 1.5, 0.6),
            _triangle("triangle", tip, foot, 0.3),
            line("falls", _seen([tip, foot]), GREEN, 2.5, 1, "2 5"),
            line("shadow", _seen([(0, BESIDE), (foot[0], BESIDE)]), GREEN, 7, cap="butt"),
            line("angle", _seen(between), INK, 2),
        ),
        *_turn(asks, *_arrow("long", LONG, ORANGE, TILT)),
        *_turn(asked, *_arrow("short", SHORT, BLUE)),
        dot("middle", *MIDDLE, 5),
        _named("short name", ASKED, BLUE, STEP * asked),
        _named("long name", ASKS, ORANGE, STEP * asks + TILT, foot[0] < -0.5 or not apart),
        *(_places(asked, asks) if at else [word("none", RIGHT, 60, "no places", INK, "start", 22)]),
        word("apart", RIGHT, 94, f"{abs(apart)}° apart", INK, "start", 22),
        word("turns", RIGHT, 180, f"turn by place: {STEP}° each", GREY, "start", SMALL),
        word("score", RIGHT, 142, f"score {_whole(foot[0])}", GREEN, "start", 36, 700),
    ]
    return Frame(parts, told)


def _standing(asked: int, asks: int) -> list[Part]:
    """Each word over its place, beside the other."""
    right = 1 if asks > asked else -1
    left, other = _across(asked) - right * 3, _across(asks) + right * 8
    order = "swapped " * (right < 0)
    return [
        word(f"{order}asked", left, ROW - 21, ASKED, BLUE, size=SMALL, weight=600),
        word(f"{order}asks", other, ROW - 21, ASKS, ORANGE, size=SMALL, weight=600),
    ]


def _places(asked: int, asks: int) -> list[Part]:
    return [
        word("place of asked", RIGHT, 60, f"{ASKED} at {asked}", BLUE, "start", 20, 600),
        word("place of asks", RIGHT + 116, 60, f"{ASKS} at {asks}", ORANGE, "start", 20, 600),
    ]


def _named(key: str, text: str, colour: Colour, turned: float, other: bool = False) -> Part:
    """A word beside the end of its arrow, on the side away from the triangle."""
    right, up = arrow(0, 1, turned)
    along = 1.4 + 0.15 * abs(right)
    level = 0.3 + BESIDE * other  # clear of the shadow
    aside = (NAMES[text] * abs(up) + level * abs(right) + 0.14) * (1 if other else -1)
    [(x, y)] = _seen([(along * right - aside * up, along * up + aside * right)])
    return word(
        f"{key} at {turned}" if other else key, x, y + 6, text, colour, size=SMALL, weight=600
    )


def _turn(place: float, *parts: Part) -> list[Part]:
    return [_turned(part, place) for part in parts]


def _turned(part: Part, place: float) -> Part:
    """Around the middle of the large circle; between two frames it turns on."""
    x, y = MIDDLE
    return part._replace(look={**part.look, "transform": f"rotate({-STEP * place} {x} {y})"})


def _triangle(key: str, tip: Place, foot: Place, opacity: float) -> Part:
    """Between the longer arrow and its shadow."""
    return area(key, _seen([(0, 0), tip, foot]), GREEN, opacity, GROUND)


def _arrow(key: str, length: float, colour: Colour, tilt: float = 0) -> list[Part]:
    """To the right, or tilted, before it is turned."""
    (right, up), end = arrow(0, 1, tilt), arrow(0, length, tilt)
    back, side = length - 0.24, 0.14
    head = [(back * right - n * up, back * up + n * right) for n in (side, -side)]
    return [
        line(key, _seen([(0, 0), end]), colour, 6),
        line(f"{key} head", _seen([head[0], end, head[1]]), colour, 6),
    ]


def _circles(held: dict[int, Colour]) -> list[Part]:
    """How far each place turns an arrow; those where a word stands are in its colour."""
    parts = []
    for place in range(PLACES):
        x, colour = _across(place), held.get(place)
        right, up = arrow(place, SMALL_R - 4)
        hand = [(x, ROW), (x + right, ROW - up)]
        parts += [
            dot(f"circle {place}", x, ROW, SMALL_R, colour or GREY, 0.35 if colour else 0.15),
            line(f"arrow {place}", hand, INK, 4, 1 if colour else 0.6),
            word(f"place {place}", x, ROW + 35, str(place), size=SMALL),
        ]
    return parts


def _across(place: float) -> float:
    return FIRST + ACROSS * place


def _seen(places: Iterable[Place]) -> list[Place]:
    return [(MIDDLE[0] + UNIT * right, MIDDLE[1] - UNIT * up) for right, up in places]
