"""Lesson 01 opens with a question along a shelf: its hard answer jumps, its soft one glides."""

from __future__ import annotations

import math
from itertools import pairwise

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, area, box, curve, dot, line, word
from attnlab.figures.palette import GREY, GROUND, ORANGE, SERIES, Colour
from attnlab.lessons.soft_lookup.turning import BOOKS, KEYS, LENGTH, SALT, weights

ENDS = tuple(math.degrees(math.atan2(salt, fresh)) for fresh, salt in KEYS[:3])  # and marshes
JUMPS = tuple((one + other) / 2 for one, other in pairwise(ENDS))  # all keys are as long
STOPS = (ENDS[0], -7, 7, 53, 67, 81, 90, ENDS[2], 67)  # of the question, degrees
STEP = (53, 67)  # of the question, at the end

HIGH, LEFT, RIGHT = 270, 104, 433  # of the sheet; ends of the way that the question goes
SPINE, ASKS = (94, 50), 92  # of a book; the level of the question
FLOOR, UNIT = 233, 3  # of no salt; px for 1 g/l
FULL, APART, ROOM = 26, 24, 96  # how thick all of an answer is; between names; for a name
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
        "Each book says how salty its water is. We ask about rivers.",
        f"The question moves towards marshes. Hard takes the closest book alone: still {low}.",
        f"A step more: hard jumps to {middle}. Soft is a mix: {soft[MIXED]}.",
        f"Further on, past marshes: hard stays at {middle}. Soft climbs to {soft[3]}.",
        f"A step more: hard stays at {middle}. Soft goes from {soft[3]} to {soft[4]}.",
        f"The same step again: hard jumps to {high}. Soft goes from {soft[4]} to {soft[5]}.",
        f"Hard stays at {high}. Soft comes near: {soft[6]}.",
        "At seas, they agree, rounded.",
        f"Here one step moves soft by {_moved()[1]:.0f}, hard by {_moved()[0]:.0f}. "
        "Every step moves soft; hard moves at two places only.",
    ]


def _x(degrees: float) -> float:
    return LEFT + (RIGHT - LEFT) * (degrees - ENDS[0]) / (ENDS[2] - ENDS[0])


def _y(salt: float) -> float:
    return FLOOR - UNIT * salt


def _scene(n: int) -> list[Part]:
    """The shelf, the question and all answers; a box lies over those that are ahead of it."""
    last = n == len(STOPS) - 1
    x, shares = _x(STOPS[n]), answers(STOPS[n])[2]
    flows, books, levels = list[Part](), list[Part](), list[Part]()
    for m, share in enumerate(shares):
        at, salt, colour = _x(ENDS[m]), _y(SALT[m]), SERIES[m]
        foot, thick = (at, 6 + SPINE[1]), max(FULL * share, 0.5)
        flows.append(curve(f"pours {m}", foot, (x, ASKS), colour, thick, 0.75, upright=True))
        books += [
            box(f"book {m}", (at - SPINE[0] / 2, 6), SPINE, colour),
            word(f"name {m}", at, 25, BOOKS[m], GROUND, size=SMALL, weight=600),
            word(f"says {m}", at, 49, f"{SALT[m]}", GROUND, size=24, weight=700),
        ]
        levels += [
            line(f"level {m}", [(LEFT - 12, salt), (x, salt)], colour, 1, 0.5),
            word(f"salt {m}", LEFT - 20, salt + 7, f"{SALT[m]}", colour, "end", weight=600),
        ]
    ahead = WIDE if last else x
    between = (_y(SALT[1]) + _y(SALT[2])) / 2
    return [
        *_traces(),
        *levels,
        box("ahead", (ahead, ASKS + 14), (WIDE - ahead, HIGH - ASKS - 42), GROUND),
        *(
            word(f"of {says}", LEFT - 20, between + down, says, GREY, "end", SMALL)
            for says, down in (("salt", -4), ("g/l", 17))
        ),
        word("axis", LEFT, HIGH - 5, "direction of the question →", GREY, "start", SMALL),
        *flows,
        *books,
        dot("asks", x, ASKS, FULL / 2),
        word("question", 0, ASKS + 6, "question", INK, "start", SMALL, 600),
    ]


def _now(n: int) -> list[Part]:
    """Both answers to what is asked: soft's name over hard's, on the left if the right is full."""
    hard, soft, shares = answers(STOPS[n])
    x, y = _x(STOPS[n]), _y(soft)
    level = min(y, FLOOR - APART)
    below, full = max(_y(hard), level + APART), x + 14 + ROOM > WIDE
    place = ("soft, left", x - 14, _y(hard) - 18) if full else ("soft", x + 14, level)
    parts = [
        line("now", [(x, ASKS), (x, y)], INK, 2),
        _tag("hard", min(x + 14, WIDE - ROOM), below, f"hard {hard:.0f}", GREY),
        _tag(*place, f"soft {soft:.0f}", ORANGE, anchor="end" if full else "start"),
        dot("answers", x, y, 8, ORANGE, edge=GROUND),
    ]
    if n == MIXED:
        pairs = zip(shares, SALT, strict=False)
        mixed = " + ".join(f"{share:.2f} × {salt}" for share, salt in pairs if share > 0.01)
        parts.append(_tag("mix", x + 14, 150, f"{mixed} ≈ {soft:.0f}", ORANGE, 20))
    return parts


def _tag(
    key: str, x: float, y: float, says: str, colour: Colour, size: float = 22, anchor: str = "start"
) -> Part:
    return word(key, x, y + 0.34 * size, says, colour, anchor, size, 700)


def _moved() -> list[float]:
    """How far the last step moves both answers."""
    return [after - before for before, after in zip(*(answers(at)[:2] for at in STEP), strict=True)]


def _step() -> list[Part]:
    (x, to_x), (was, now) = map(_x, STEP), ([*map(_y, answers(at)[:2])] for at in STEP)
    parts = [
        box("step", (x, ASKS + 22), (to_x - x, FLOOR - ASKS - 22), INK, 0.1),
        line("now", [(to_x, ASKS), (to_x, now[1])], INK, 2),
        dot("asked", x, ASKS, FULL / 2, INK, 0.3),
        area("rise", [(x, was[1]), (to_x, was[1]), (to_x, now[1])], ORANGE, 1, ORANGE),
        line("stays", [(x, was[0]), (to_x, now[0])], GREY, 6, cap="butt"),
    ]
    places = (("hard", GREY, to_x + 24, 199, "start"), ("soft", ORANGE, x - 12, 154, "end"))
    for n, (name, colour, at, y, anchor) in enumerate(places):
        goes = " → ".join(f"{answers(stop)[n]:.0f}" for stop in STEP)
        parts += [
            dot(f"{name} is", to_x, now[n], 8, colour, edge=GROUND),
            _tag(f"{name} moves", at, y, f"{name} +{_moved()[n]:.0f}", colour, 30, anchor),
            _tag(f"{name} goes", at, y + 28, goes, colour, 22, anchor),
        ]
    return parts


def _traces() -> list[Part]:
    """Both answers to all that can be asked."""
    borders = [_x(at) for at in (ENDS[0], *JUMPS, ENDS[2])]
    levels = [_y(salt) for salt in SALT[:3]]
    steps = zip(pairwise(borders), levels, strict=True)
    jumps = zip(borders[1:], pairwise(levels), strict=False)
    ways = [ENDS[0] + (ENDS[2] - ENDS[0]) * step / 90 for step in range(91)]
    return [
        *(line(f"jump {x:.0f}", [(x, a), (x, b)], GREY, 2, 1, "2 5") for x, (a, b) in jumps),
        *(line(f"step {y:.0f}", [(a, y), (b, y)], GREY, 4, cap="butt") for (a, b), y in steps),
        line("glides", [(_x(at), _y(answers(at)[1])) for at in ways], ORANGE, 6),
    ]
