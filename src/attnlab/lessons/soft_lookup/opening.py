"""Lesson 01 opens with a question along a shelf: its hard answer jumps, its soft one glides."""

from __future__ import annotations

import cmath
import math
from itertools import pairwise

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    SMALL,
    WIDE,
    Part,
    Place,
    area,
    box,
    curve,
    dot,
    line,
    word,
)
from attnlab.figures.palette import GREY, GROUND, ORANGE, SERIES, Colour
from attnlab.lessons.soft_lookup.turning import BOOKS, KEYS, LENGTH, SALT, weights

ENDS = tuple(math.degrees(math.atan2(salt, fresh)) for fresh, salt in KEYS[:3])  # and marshes
JUMPS = tuple((one + other) / 2 for one, other in pairwise(ENDS))  # all keys are as long
STOPS = (ENDS[0], -7, 7, 67, 81, ENDS[2], 67)  # of the question, degrees
STEP = (53, 67)  # of the question, at the end

HIGH, LEFT, RIGHT = 270, 104, 433  # of the sheet; ends of the way that the question goes
SPINE, ASKS = (94, 48), 88  # of a book; the level of the question
FLOOR, UNIT = 240, 3.4  # of no salt; px for 1 g/l
FULL, APART, ROOM = 26, 24, 100  # how thick all of an answer is; between names; for a name
MIXED = 2  # the frame that says what is mixed


def opening() -> Film:
    """The film."""
    told = _told()
    frames = [Frame([*_scene(n), *_now(n)], says) for n, says in enumerate(told[:-1])]
    return Film(
        "Hard lookups jump, soft ones glide",
        [*frames, Frame([*_scene(len(frames)), *_step()], told[-1])],
        HIGH,
    )


def answers(degrees: float) -> tuple[float, float, list[float]]:
    """Salt in the hard answer and in the soft one to a question of that direction; the shares."""
    angle = math.radians(degrees)
    shares = weights((LENGTH * math.cos(angle), LENGTH * math.sin(angle)), KEYS[:3])
    soft = sum(share * salt for share, salt in zip(shares, SALT, strict=False))
    return SALT[shares.index(max(shares))], soft, shares


def _told() -> list[str]:
    soft = [f"{answers(stop)[1]:.0f}" for stop in STOPS]
    low, middle, high, *_ = SALT
    return [
        f"We ask about rivers. Hard reads the closest book alone: {low}. "
        f"Soft adds a little of marshes: {soft[0]}.",
        f"The question moves towards marshes. Hard stays at {low}. Soft climbs to {soft[1]}.",
        f"One small step more: hard jumps to {middle}. Soft mixes two books: {soft[MIXED]}.",
        f"Past marshes, hard stays at {middle}. Soft climbs to {soft[3]}.",
        f"The same small step: hard jumps to {high}. Soft glides to {soft[4]}.",
        f"At seas both say {high}, rounded.",
        f"Try one small step. Soft rises by {_moved()[1]:.0f}: it shows which way is up. "
        f"Hard rises by {_moved()[0]:.0f}: it shows nothing.",
    ]


def _x(degrees: float) -> float:
    return LEFT + (RIGHT - LEFT) * (degrees - ENDS[0]) / (ENDS[2] - ENDS[0])


def _y(salt: float) -> float:
    return FLOOR - UNIT * salt


def _scene(n: int) -> list[Part]:
    """The shelf, the question and its answers so far; at last, all of them."""
    last, x, shares = n == len(STOPS) - 1, _x(STOPS[n]), answers(STOPS[n])[2]
    seen = 0.4 if last else 0.75
    flows, books, levels = list[Part](), list[Part](), list[Part]()
    for m, share in enumerate(shares):
        at, salt, colour = _x(ENDS[m]), _y(SALT[m]), SERIES[m]
        foot, thick = (at, 4 + SPINE[1]), max(FULL * share, 0.5)
        flow = curve(f"pours {m}", foot, (x, ASKS), colour, thick, seen, upright=True)
        flows.append(flow._replace(look={**flow.look, "stroke-linecap": "butt"}))
        books += [
            box(f"book {m}", (at - SPINE[0] / 2, 4), SPINE, colour, 0.12, 1.5),
            word(f"name {m}", at, 22, BOOKS[m], colour, size=SMALL, weight=600),
            word(f"says {m}", at, 45, f"{SALT[m]}", colour, size=24, weight=700),
        ]
        levels += [
            line(f"level {m}", [(LEFT - 12, salt), (WIDE, salt)], colour, 1, 0.5),
            word(f"salt {m}", LEFT - 20, salt + 7, f"{SALT[m]}", colour, "end", weight=600),
            word(f"tick {m}", at, HIGH - 4, BOOKS[m], GREY, size=SMALL),
        ]
    between = (_y(SALT[1]) + _y(SALT[2])) / 2
    return [
        *levels,
        *_traces(ENDS[2] if last else STOPS[n], 0.5 if last else 1),
        *(
            word(f"of {says}", LEFT - 20, between + down, says, GREY, "end", SMALL)
            for says, down in (("salt", -4), ("g/l", 17))
        ),
        word("axis", 0, HIGH - 4, "we ask", GREY, "start", SMALL),
        *flows,
        *books,
        dot("asks", x, ASKS, FULL / 2),
        word("question", 0, ASKS + 6, "question", INK, "start", SMALL),
    ]


def _now(n: int) -> list[Part]:
    """Both answers to what is asked, each named at its height; on the left if the right is full.

    A name that changes its place among both comes anew, so they never meet on the way.
    """
    hard, soft, shares = answers(STOPS[n])
    x, full = _x(STOPS[n]), _x(STOPS[n]) + 14 + ROOM > WIDE
    middle = min((_y(hard) + _y(soft)) / 2, FLOOR - 4 - APART / 2)
    away = max(abs(_y(hard) - _y(soft)), APART) / 2 * (1 if soft > hard else -1)
    parts = [
        line("now", [(x, ASKS), (x, FLOOR)], INK, 1.5),
        box(f"hard {hard}", (x - 8, _y(hard) - 8), (16, 16), GREY),  # it jumps
        dot("answers", x, _y(soft), 7, ORANGE, edge=GROUND),
    ]
    for name, salt, colour, by in (("hard", hard, GREY, away), ("soft", soft, ORANGE, -away)):
        says, key = f"{name} {salt:.0f}", f"{name} {'over' if by < 0 else 'under'}"
        if full:
            end = x - 18 - ROOM * (name == "hard")
            parts.append(_tag(f"{name} at last", end, _y(hard) - 14, says, colour, anchor="end"))
        else:
            parts.append(_tag(key, x + 16, middle + by, says, colour))
    if n == MIXED:
        pairs = zip(shares, SALT, strict=False)
        mixed = " + ".join(f"{share:.2f} × {salt}" for share, salt in pairs if share > 0.01)
        parts.append(_tag("mix", x + 16, 165, f"{mixed} ≈ {soft:.0f}", ORANGE, 20))
    return parts


def _tag(
    key: str, x: float, y: float, says: str, colour: Colour, size: float = 22, anchor: str = "start"
) -> Part:
    """Words whose middle is at y; what lies under them stays away from their letters."""
    part = word(key, x, y + 0.34 * size, says, colour, anchor, size, 700)
    apart: dict[str, float | str] = {"stroke": GROUND, "stroke-width": 6, "paint-order": "stroke"}
    return part._replace(look={**part.look, **apart})


def _moved() -> list[float]:
    """How far the last step moves both answers."""
    return [after - before for before, after in zip(*(answers(at)[:2] for at in STEP), strict=True)]


def _step() -> list[Part]:
    """The last step, and an arrow from each answer before it to that after it."""
    (x, to_x), (was, now) = map(_x, STEP), ([*map(_y, answers(at)[:2])] for at in STEP)
    parts = [
        box("step", (x, ASKS), (to_x - x, FLOOR - ASKS), INK, 0.1),
        dot("asked", x, ASKS, FULL / 2, INK, 0.3),
    ]
    for n, (name, colour, y) in enumerate((("hard", GREY, 222), ("soft", ORANGE, 176))):
        parts += [
            _arrow(f"{name} goes", (x, was[n]), (to_x, now[n]), colour),
            _tag(f"{name} moves", to_x + 28, y, f"{name} +{_moved()[n]:.0f}", colour, 30),
        ]
    return parts


def _arrow(key: str, start: Place, end: Place, colour: Colour) -> Part:
    long, way = math.dist(start, end), math.atan2(end[1] - start[1], end[0] - start[0])
    half = [(0, 3), (long - 16, 3), (long - 16, 11), (long, 0)]
    shape = [complex(*start) + complex(*each) * cmath.rect(1, way) for each in half]
    shape += [complex(*start) + complex(x, -y) * cmath.rect(1, way) for x, y in half[-2::-1]]
    return area(key, [(each.real, each.imag) for each in shape], colour, 1, GROUND)


def _traces(stop: float, seen: float) -> list[Part]:
    """Both answers to all that has been asked, up to a direction."""
    borders = [_x(min(at, stop)) for at in (ENDS[0], *JUMPS, ENDS[2])]
    levels = [_y(salt) for salt in SALT[:3]]
    steps = [step for step in zip(pairwise(borders), levels, strict=True) if len({*step[0]}) > 1]
    jumps = zip(borders[1 : len(steps)], pairwise(levels), strict=False)
    ways = [min(ENDS[0] + (ENDS[2] - ENDS[0]) * step / 90, stop) for step in range(91)]
    return [
        *(line(f"jump {x:.0f}", [(x, a), (x, b)], GREY, 2, seen, "2 5") for x, (a, b) in jumps),
        *(
            line(f"step {y:.0f}", [(a, y), (b, y)], GREY, 4, seen, cap="butt")
            for (a, b), y in steps
        ),
        line("glides", [(_x(at), _y(answers(at)[1])) for at in ways], ORANGE, 6, seen),
    ]
