"""Lesson 01 opens with a question along a shelf: its hard answer jumps, its soft one glides."""

from __future__ import annotations

import math
from itertools import pairwise

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    SMALL,
    Part,
    Place,
    area,
    box,
    curve,
    dot,
    line,
    word,
)
from attnlab.figures.palette import GREY, GROUND, ORANGE, SERIES
from attnlab.lessons.soft_lookup.turning import BOOKS, KEYS, LENGTH, SALT, weights

ENDS = tuple(math.degrees(math.atan2(salt, fresh)) for fresh, salt in KEYS[:3])  # and marshes
JUMPS = tuple((one + other) / 2 for one, other in pairwise(ENDS))  # all keys are as long
STOPS = (ENDS[0], -7, 7, 67, 81, ENDS[2], 67)  # of the question, degrees
STEP = (53, 67)  # of the question, at the end

HIGH, LEFT, RIGHT = 270, 72, 332  # of the sheet; ends of the way that the question goes
SPINE, ASKS = (88, 48), 84  # of a book; the level of the question
FLOOR, UNIT = 258, 4.1  # of no salt; px for 1 g/l
FULL, ENDED, SAYS = 26, 354, 376  # how thick all of an answer is; ends of levels; of both answers
LARGER, SEEN, FLAT, RIM = 2.8, 288, 248, 8  # of the lens: how much, where, and its rim
MIXED = 2  # the frame that says what is mixed


def opening() -> Film:
    """The film."""
    told = _told()
    frames = [Frame([*_scene(n), *_now(n)], says) for n, says in enumerate(told[:-1])]
    last = Frame([*_beam(), *_scene(len(frames)), *_lens()], told[-1])
    return Film("Hard lookups jump, soft ones glide", [*frames, last], HIGH)


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
        f"We ask about rivers. Of three books, hard reads the closest: {low}. "
        f"Soft adds a little of marshes: {soft[0]}.",
        f"The question moves towards marshes. Hard stays at {low}. Soft climbs to {soft[1]}.",
        f"One small step more: hard jumps to {middle}. Soft mixes two books: {soft[MIXED]}.",
        f"Past marshes, hard stays at {middle}. Soft climbs to {soft[3]}.",
        f"The same small step: hard jumps to {high}. Soft glides to {soft[4]}.",
        f"At seas both say {high}, rounded.",
        f"Take one small step. Soft rises by {_moved()[1]:.0f}: it shows which way is up. "
        f"Hard rises by {_moved()[0]:.0f}: here, it shows nothing.",
    ]


def _x(degrees: float) -> float:
    return LEFT + (RIGHT - LEFT) * (degrees - ENDS[0]) / (ENDS[2] - ENDS[0])


def _y(salt: float) -> float:
    return FLOOR - UNIT * salt


def _scene(n: int) -> list[Part]:
    """The shelf, the question and its answers so far; at last, all of them."""
    x, (hard, soft, shares) = _x(STOPS[n]), answers(STOPS[n])
    flows, books, levels = list[Part](), list[Part](), list[Part]()
    for m, share in enumerate(shares):
        at, salt, colour = _x(ENDS[m]), _y(SALT[m]), SERIES[m]
        foot, thick = (at, 4 + SPINE[1]), max(FULL * share, 0.5)
        flow = curve(f"pours {m}", foot, (x, ASKS), colour, thick, 0.75, upright=True)
        flows.append(flow._replace(look={**flow.look, "stroke-linecap": "butt"}))
        books += [
            box(f"book {m}", (at - SPINE[0] / 2, 4), SPINE, colour, 0.12, 1.5),
            word(f"name {m}", at, 22, BOOKS[m], colour, size=SMALL, weight=500),
            word(f"says {m}", at, 45, f"{SALT[m]}", colour, size=24, weight=700),
        ]
        levels += [
            line(f"level {m}", [(LEFT - 20, salt), (ENDED, salt)], colour, 1, 0.5),
            word(f"salt {m}", LEFT - 28, salt + 7, f"{SALT[m]}", colour, "end", weight=600),
        ]
    between = (_y(SALT[1]) + _y(SALT[2])) / 2
    return [
        *levels,
        *(
            word(f"of {says}", LEFT - 28, between + down, says, GREY, "end", SMALL)
            for says, down in (("salt", -4), ("g/l", 17))
        ),
        line("now", [(x, ASKS), (x, _y(min(hard, soft)))], INK, 1.5),
        *_traces(ENDS[2] if n == len(STOPS) - 1 else STOPS[n]),
        *flows,
        *books,
        dot("asks", x, ASKS, FULL / 2),
        word("question", x, ASKS + 7, "?", GROUND, weight=700),
        _square(f"hard {hard}", x, _y(hard)),  # it jumps
        dot("answers", x, _y(soft), 6, ORANGE, edge=GROUND),
    ]


def _now(n: int) -> list[Part]:
    """Both answers to what is asked, in numbers that stay in their places; once, what is mixed."""
    hard, soft, shares = answers(STOPS[n])
    parts = _says(f"{soft:.0f}", f"{hard}", SAYS, (170, 254))
    if n == MIXED:
        pairs = [*zip(shares, SALT, strict=False)][:2]
        mixed = " + ".join(f"{share:.2f} × {salt}" for share, salt in pairs) + " ≈"
        parts.append(word("mix", SAYS - 8, 160, mixed, ORANGE, "end", SMALL, 700))
        for m, (share, way) in enumerate(zip(shares, ("end", "start"), strict=False)):
            at = _x(STOPS[n]) + 20 * (2 * m - 1)
            look = (f"{share:.2f}", SERIES[m], way, SMALL, 700)
            parts.append(word(f"share {m}", at, ASKS + 12, *look))
    return parts


def _says(soft: str, hard: str, x: float, floors: Place) -> list[Part]:
    """Two large numbers, each under its answer's sign and name."""
    parts = [
        dot("soft sign", x + 9, floors[0] - 50, 6, ORANGE),
        _square("hard sign", x + 9, floors[1] - 50),
    ]
    for name, says, floor in (("soft", soft, floors[0]), ("hard", hard, floors[1])):
        ink = ORANGE if name == "soft" else GREY
        parts += [
            word(f"{name} name", x + 26, floor - 43, name, ink, "start", weight=600),
            word(f"{name} says", x, floor, says, ink, "start", 44, 700),
        ]
    return parts


def _square(key: str, x: float, y: float) -> Part:
    """Where the hard answer is: the soft one fits into it."""
    return box(key, (x - 8, y - 8), (16, 16), GREY, 0, 3)


def _moved() -> list[float]:
    """How far the last step moves both answers."""
    return [after - before for before, after in zip(*(answers(at)[:2] for at in STEP), strict=True)]


def _seen(degrees: float, salt: float) -> Place:
    """Where the lens shows what an answer is."""
    return SEEN + LARGER * (_x(degrees) - _x(STEP[0])), FLAT + LARGER * (_y(salt) - _y(SALT[1]))


def _beam() -> list[Part]:
    """Where the last step begins."""
    x = _x(STEP[0])
    return [
        line("was", [(x, ASKS), (x, _y(SALT[1]))], INK, 1.5, 0.3),
        dot("asked", x, ASKS, FULL / 2, INK, 0.3),
    ]


def _lens() -> list[Part]:
    """What the last step does to both answers, larger."""
    ways = [STEP[0] + (STEP[1] - STEP[0]) * n / 20 for n in range(21)]
    glides = [_seen(at, answers(at)[1]) for at in ways]
    (left, floor), (right, top) = glides[0], glides[-1]
    corner, size = (left - RIM, top - RIM), (right - left + 2 * RIM, FLAT - top + 2 * RIM)
    wide, high = (each / LARGER for each in size)
    x, y = _x(STEP[0]) - RIM / LARGER, _y(SALT[1]) + RIM / LARGER - high
    tick, bracket = right + RIM + 4, right + RIM + 9
    hard, soft = _moved()
    return [
        box("step", (x, y), (wide, high), GREY, 0.2),
        line("to 0", [(x + wide, y), corner], GREY, 1),
        line("to 1", [(x + wide, y + high), (corner[0], corner[1] + size[1])], GREY, 1),
        box("lens", corner, size, GROUND),
        box("lens edge", corner, size, GREY, 0, 1.5),
        area("rises", [*glides, (right, floor)], ORANGE, 0.15),
        line("hard goes", [_seen(at, SALT[1]) for at in STEP], GREY, 4),
        line("soft goes", glides, ORANGE, 6),
        word("one step", (left + right) / 2, FLAT - 8, "one step", GREY, size=SMALL),
        line("rise", [(tick, top), (bracket, top), (bracket, floor), (tick, floor)], ORANGE, 3),
        *_says(f"+{soft:.0f}", f"+{hard:.0f}", bracket + 8, (176, 260)),
    ]


def _traces(stop: float) -> list[Part]:
    """Both answers to all that has been asked, up to a direction."""
    borders = [_x(min(at, stop)) for at in (ENDS[0], *JUMPS, ENDS[2])]
    levels = [_y(salt) for salt in SALT[:3]]
    steps = [step for step in zip(pairwise(borders), levels, strict=True) if len({*step[0]}) > 1]
    jumps = zip(borders[1 : len(steps)], pairwise(levels), strict=False)
    ways = [min(ENDS[0] + (ENDS[2] - ENDS[0]) * step / 90, stop) for step in range(91)]
    return [
        *(line(f"jump {x:.0f}", [(x, a), (x, b)], GREY, 2, 1, "2 5") for x, (a, b) in jumps),
        *(line(f"step {y:.0f}", [(a, y), (b, y)], GREY, 4, 1, cap="butt") for (a, b), y in steps),
        line("glides", [(_x(at), _y(answers(at)[1])) for at in ways], ORANGE, 6),
    ]
