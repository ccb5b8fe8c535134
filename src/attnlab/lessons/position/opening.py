"""Lesson 09 opens with arrows that places turn: a score knows how far apart they are, not where."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, area, dot, line, word
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
HIGH, MIDDLE, UNIT = 270, (118, 112), 53  # of the sheet; of the circle; px for a length of 1
ROW, OVER, LEFT, FIRST, ACROSS = 268, 238, 7, 31, 38  # places, words over them; first, to next
ASIDE = 4.5  # of a word, from the middle of its place, away from the other
RIGHT = 250  # where the words beside the circle begin
NAMED = {ASKED: 0.46, ASKS: 0.63}  # how far from its arrow a name is: between two triangles
Place = tuple[float, float]


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
            "Here order counts.",
        ),
        _frame(
            (0, FAR),
            f"At 0 and {FAR} the score is {_whole(score(0, FAR))}: "
            "another distance can give another score.",
        ),
        _frame(
            (0, APART),
            f"Back at 0 and {APART}: score {_whole(alone)}. Next, both words move on by {ON}.",
            [0],
        ),
        _together(2, "Both arrows turn by 60°, and their triangle with them. The score stays."),
        _together(6, "At 4 and 5, at 6 and 7: the same triangle, the same score."),
        _together(
            10,
            f"Six pairs of places, one triangle: only how far “{ASKS}” is after “{ASKED}” counts.",
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
    way = "after" if asks > asked else "before"
    after = f"“{ASKS}” {abs(asks - asked)} {way} “{ASKED}”" if at else "no places"
    between = [arrow(0, 0.4, apart * n / 12) for n in range(13)]
    parts = [
        *(_standing({asked: BLUE, asks: ORANGE} if at else {})),
        *(_words(asked, asks) if at else []),
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
        word("after", RIGHT, 76, after, INK, "start"),
        word("apart", RIGHT, 104, f"{abs(apart)}° apart", GREY, "start"),
        word("score", RIGHT, 152, f"score {_whole(foot[0])}", GREEN, "start", 40, 700),
    ]
    return Frame(parts, told)


def _words(asked: int, asks: int) -> list[Part]:
    """Each word over its place, beside the other; how far apart they are, under them."""
    aside, order = (ASIDE, "") if asks > asked else (-ASIDE, "swapped ")
    start, end = sorted((_across(asked), _across(asks)))
    bracket = [(start, ROW - 16), (start, ROW - 21), (end, ROW - 21), (end, ROW - 16)]
    return [
        word(f"{order}asked", _across(asked) - aside, OVER, ASKED, BLUE, size=SMALL, weight=600),
        word(f"{order}asks", _across(asks) + aside, OVER, ASKS, ORANGE, size=SMALL, weight=600),
        line("bracket", bracket, INK, 1.5),
    ]


def _named(key: str, text: str, colour: Colour, turned: float, other: bool = False) -> Part:
    """A word beside the end of its arrow, on the side away from the triangle.

    It stays upright and goes round with the arrow.
    """
    [(x, y)] = _seen([(1.46, NAMED[text] if other else -NAMED[text])])
    key = f"{key} at {turned}" if other else key
    named = word(key, x, y + 6, text, colour, size=SMALL, weight=600)
    a, b = MIDDLE
    upright = f"rotate({-turned} {a} {b}) rotate({turned} {x:.1f} {y:.1f})"
    return named._replace(look={**named.look, "transform": upright})


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


def _standing(held: dict[int, Colour]) -> list[Part]:
    """All places; those where a word stands are in its colour; what they are is far from words."""
    is_late = max(held, default=0) > PLACES / 2
    side, anchor = (LEFT, "start") if is_late else (WIDE - LEFT, "end")
    parts = [word(f"places {anchor}", side, OVER, "place", GREY, anchor, SMALL)]
    for n in range(PLACES):
        weight = 700 if n in held else 400
        says = word(
            f"place {n}", _across(n), ROW, f"{n}", held.get(n, GREY), size=SMALL, weight=weight
        )
        parts.append(says)
    return parts


def _across(place: float) -> float:
    return FIRST + ACROSS * place


def _seen(places: Iterable[Place]) -> list[Place]:
    return [(MIDDLE[0] + UNIT * right, MIDDLE[1] - UNIT * up) for right, up in places]
