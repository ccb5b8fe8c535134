"""Lesson 01 opens with a question along a shelf: its hard answer jumps, its soft one glides."""

from __future__ import annotations

import math
from itertools import pairwise

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, box, curve, dot, line, word
from attnlab.figures.palette import GREY, GROUND, ORANGE, SERIES
from attnlab.lessons.soft_lookup.turning import BOOKS, KEYS, LENGTH, SALT, weights

ENDS = tuple(math.degrees(math.atan2(salt, fresh)) for fresh, salt in KEYS[:3])  # and marshes
JUMPS = tuple((one + other) / 2 for one, other in pairwise(ENDS))  # all keys are as long
STOPS = (ENDS[0], -4, 4, 27, 50, 67, 76, 95, ENDS[2])  # of the question, degrees

HIGH, LEFT, RIGHT = 264, 128, 428  # of the sheet; ends of the way that the question goes
SPINE, ASKS = (94, 34), 100  # of a book; the level of the question
FLOOR, UNIT = 253, 3.25  # of no salt; for 1 g/l
FULL = 26  # how thick all of an answer is


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
        f"Each book says how salty its water is: {low}, {middle}, {high}. We ask about rivers.",
        f"Hard takes the closest book alone. The question moves, and its answer stays {low}.",
        f"A step more: hard jumps to {middle}. Soft mixes the books, and goes from {soft[1]} "
        f"to {soft[2]}.",
        f"At marshes, soft still takes a little of rivers: {soft[3]}.",
        f"Hard stays at {middle}. Soft climbs to {soft[4]}, as seas come in.",
        f"Hard still stays. Soft is at {soft[5]}.",
        f"A step more: hard jumps to {high}. Soft goes from {soft[5]} to {soft[6]}.",
        f"Hard stays at {high}. Soft comes near: {soft[7]}.",
        "Each nudge moves the soft answer, so training can feel its way. "
        "Hard moves at two jumps alone.",
    ]


def _x(degrees: float) -> float:
    return LEFT + (RIGHT - LEFT) * (degrees - ENDS[0]) / (ENDS[2] - ENDS[0])


def _y(salt: float) -> float:
    return FLOOR - UNIT * salt


def _parts(n: int) -> list[Part]:
    hard, soft, shares = answers(STOPS[n])
    asks = (_x(STOPS[n]), ASKS)
    parts = [
        *_traces(),
        box("ahead", (asks[0], ASKS + 14), (WIDE - asks[0], HIGH - ASKS - 14), GROUND),
        line("now", [asks, (asks[0], _y(min(hard, soft)))], INK, 1.5),
    ]
    for m, share in enumerate(shares):
        x, salt, colour = _x(ENDS[m]), _y(SALT[m]), SERIES[m]
        foot, thick = (x, 6 + SPINE[1]), max(FULL * share, 0.5)
        said = f"{SALT[m]}" if m < 2 else f"salt {SALT[m]} g/l"
        parts += [
            curve(f"pours {m}", foot, asks, colour, thick, 0.75, upright=True),
            box(f"book {m}", (x - SPINE[0] / 2, 6), SPINE, colour),
            word(f"name {m}", x, 29, BOOKS[m], GROUND, size=SMALL, weight=600),
            line(f"level {m}", [(LEFT - 16, salt), (RIGHT, salt)], colour, 1, 0.5),
            word(f"salt {m}", LEFT - 24, salt + 7, said, colour, "end", SMALL, 600),
        ]
    return [
        *parts,
        word("question", LEFT - 24, ASKS + 7, "question", INK, "end", weight=600),
        dot("asks", *asks, FULL / 2),
        word("soft", 352, 188, "soft", ORANGE, "start", 22, 700),
        word("hard", 352, 212, "hard", GREY, "start", 22, 700),
    ]


def _traces() -> list[Part]:
    """Both answers to all that is asked: a box lies over what is ahead of the question."""
    borders = [_x(at) for at in (ENDS[0], *JUMPS, ENDS[2])]
    levels = [_y(salt) for salt in SALT[:3]]
    steps = zip(pairwise(borders), levels, strict=True)
    jumps = zip(borders[1:], pairwise(levels), strict=False)
    ways = [ENDS[0] + (ENDS[2] - ENDS[0]) * step / 90 for step in range(91)]
    return [
        *(line(f"jump {x:.0f}", [(x, a), (x, b)], GREY, 2, 1, "2 5") for x, (a, b) in jumps),
        *(line(f"step {y:.0f}", [(a, y), (b, y)], GREY, 5, cap="butt") for (a, b), y in steps),
        line("glides", [(_x(at), _y(answers(at)[1])) for at in ways], ORANGE, 5),
    ]
