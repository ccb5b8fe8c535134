"""Lesson 01 opens with a question along a shelf: its hard answer jumps, its soft one glides."""

from __future__ import annotations

import math
from itertools import pairwise

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, area, box, curve, dot, line, word
from attnlab.figures.palette import GREY, GROUND, ORANGE, SERIES
from attnlab.lessons.soft_lookup.turning import BOOKS, KEYS, LENGTH, SALT, weights

ENDS = tuple(math.degrees(math.atan2(salt, fresh)) for fresh, salt in KEYS[:3])  # and marshes
JUMPS = tuple((one + other) / 2 for one, other in pairwise(ENDS))  # all keys are as long
STOPS = (ENDS[0], -4, 4, 27, 55, 67, 77, 90, ENDS[2])  # of the question, degrees

HIGH, LEFT, RIGHT = 270, 128, 412  # of the sheet; ends of the way that the question goes
SPINE, ASKS = (94, 34), 92  # of a book; the level of the question
FLOOR, UNIT = 246, 3.25  # of no salt; for 1 g/l
FULL, APART = 26, 24  # how thick all of an answer is; from a name to the other, at least


def opening() -> Film:
    """The film."""
    frames = [Frame(_parts(n), told) for n, told in enumerate(_told())]
    return Film("Hard lookups jump, soft ones glide", frames, HIGH)


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
        "Each book says how salty its water is. We ask about rivers.",
        f"The question moves. Hard takes the closest book alone: still {low}.",
        f"A step more: hard jumps to {middle}. Soft, a mix, goes from {soft[1]} to {soft[2]}.",
        f"At marshes, soft still takes a little of rivers: {soft[3]}.",
        f"Hard stays at {middle}. Soft climbs to {soft[4]}, as seas come in.",
        f"Hard still stays. Soft is at {soft[5]}.",
        f"A step more: hard jumps to {high}. Soft goes from {soft[5]} to {soft[6]}.",
        f"Hard stays at {high}. Soft comes near: {soft[7]}.",
        "Each nudge moves soft, so training feels its way; hard only jumps.",
    ]


def _x(degrees: float) -> float:
    return LEFT + (RIGHT - LEFT) * (degrees - ENDS[0]) / (ENDS[2] - ENDS[0])


def _y(salt: float) -> float:
    return FLOOR - UNIT * salt


def _parts(n: int) -> list[Part]:
    hard, soft, shares = answers(STOPS[n])
    x, y = _x(STOPS[n]), _y(soft)
    flows, books, levels = list[Part](), list[Part](), list[Part]()
    for m, share in enumerate(shares):
        at, salt, colour = _x(ENDS[m]), _y(SALT[m]), SERIES[m]
        foot, thick = (at, 6 + SPINE[1]), max(FULL * share, 0.5)
        said = f"{SALT[m]}" if m < 2 else f"salt {SALT[m]} g/l"
        flows.append(curve(f"pours {m}", foot, (x, ASKS), colour, thick, 0.75, upright=True))
        books += [
            box(f"book {m}", (at - SPINE[0] / 2, 6), SPINE, colour),
            word(f"name {m}", at, 29, BOOKS[m], GROUND, size=SMALL, weight=600),
        ]
        levels += [
            line(f"level {m}", [(LEFT - 16, salt), (WIDE - 4, salt)], colour, 1, 0.5),
            word(f"salt {m}", LEFT - 24, salt + 7, said, colour, "end", SMALL, 600),
        ]
    return [
        *_traces(),
        box("ahead", (x, ASKS + 14), (WIDE - x, HIGH - ASKS - 14), GROUND),
        *levels,
        line("now", [(x, ASKS), (x, y)], INK, 2),
        *flows,
        *books,
        word("question", LEFT - 24, ASKS + 7, "question", INK, "end", weight=600),
        dot("asks", x, ASKS, FULL / 2),
        *_names(x + 14, _y(hard), y),
        dot("answers", x, y, 8, ORANGE, edge=GROUND),
    ]


def _names(x: float, hard: float, soft: float) -> list[Part]:
    """At ends of lines; hard's goes and comes again, for it would cross soft's."""
    side = 1 if hard > soft else -1
    push = max(APART - abs(hard - soft), 0) / 2 * side
    hards = word(f"hard {hard:.0f} {side}", x, hard + push + 7, "hard", GREY, "start", 22, 700)
    softs = word("soft", x, soft - push + 7, "soft", ORANGE, "start", 22, 700)
    halo: dict[str, float | str] = {"stroke": GROUND, "stroke-width": 5, "paint-order": "stroke"}
    return [each._replace(look={**each.look, **halo}) for each in (hards, softs)]


def _traces() -> list[Part]:
    """Both answers to all that is asked: a box lies over what is ahead of the question."""
    borders = [_x(at) for at in (ENDS[0], *JUMPS, ENDS[2])]
    levels = [_y(salt) for salt in SALT[:3]]
    steps = zip(pairwise(borders), levels, strict=True)
    jumps = zip(borders[1:], pairwise(levels), strict=False)
    ways = [ENDS[0] + (ENDS[2] - ENDS[0]) * step / 90 for step in range(91)]
    glides = [(_x(at), _y(answers(at)[1])) for at in ways]
    return [
        area("under", [(LEFT, levels[0]), *glides, (RIGHT, levels[0])], ORANGE, 0.12),
        *(line(f"jump {x:.0f}", [(x, a), (x, b)], GREY, 2, 1, "2 5") for x, (a, b) in jumps),
        *(line(f"step {y:.0f}", [(a, y), (b, y)], GREY, 4, cap="butt") for (a, b), y in steps),
        line("glides", glides, ORANGE, 6),
    ]
