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
STOPS = (ENDS[0], -7, 7, 67, 81, 67)  # of the question, degrees
STEP = (53, 67)  # of the question, at the end

HIGH, LEFT, RIGHT = 270, 72, 332  # of the sheet; ends of the way that the question goes
SPINE, ASKS = (88, 48), 84  # of a book; the level of the question
FLOOR, TOP = 242, 112  # of what the first and the last book seen say
FULL, ENDED, SAYS = 26, 354, 372  # how thick all of an answer is; ends of levels; of both answers
MIXED = 2  # the frame that says what is mixed


def opening() -> Film:
    """The film."""
    *told, end = _told()
    frames = [Frame([*_scene(n, STOPS[n]), *_now(n)], says) for n, says in enumerate(told)]
    *scene, asks, question, _, _ = _scene(len(told), ENDS[2])
    last = Frame([*scene, *_step(), asks, question], end)
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
    added = [after - before for before, after in _ways()]
    return [
        "A question moves along a shelf; near means alike. "
        f"Hard reads the nearest: {low}. Soft mixes all: {soft[0]}.",
        f"The question moves towards marshes. Hard stays at {low}. Soft climbs to {soft[1]}.",
        f"One small step more: hard jumps to {middle}. "
        f"Soft mixes almost only two books: {soft[MIXED]}.",
        f"Past marshes, hard stays at {middle}. Soft climbs to {soft[3]}.",
        f"The same small step: hard jumps to {high}. Soft glides to {soft[4]}.",
        f"Between jumps, the same step adds {added[1]:.0f} to soft, {added[0]:.0f} to hard. "
        "Soft answers every step, hard only at its jumps.",
    ]


def _x(degrees: float) -> float:
    return LEFT + (RIGHT - LEFT) * (degrees - ENDS[0]) / (ENDS[2] - ENDS[0])


def _y(salt: float) -> float:
    return FLOOR - (FLOOR - TOP) * (salt - SALT[0]) / (SALT[2] - SALT[0])


def _scene(n: int, stop: float) -> list[Part]:
    """The shelf, the question and its answers to all that is asked up to a direction."""
    x, (hard, soft, shares) = _x(STOPS[n]), answers(STOPS[n])
    flows, books, levels = list[Part](), list[Part](), list[Part]()
    for m in range(3):
        at, salt, colour = _x(ENDS[m]), _y(SALT[m]), SERIES[m]
        foot, thick = (at, 4 + SPINE[1]), max(FULL * shares[m], 0.5)
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
    between = (_y(SALT[1]) + TOP) / 2
    return [
        *levels,
        *(
            word(f"of {says}", LEFT - 28, between + down, says, GREY, "end", SMALL)
            for says, down in (("salt", -4), ("g/l", 17))
        ),
        line("now", [(x, ASKS), (x, _y(min(hard, soft)))], INK, 1.5),
        *_traces(stop),
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
    parts = _says(f"{soft:.0f}", f"{hard}")
    if n == MIXED:
        pairs = [*zip(shares, SALT, strict=False)][:2]
        mixed = " + ".join(f"{share:.2f} × {salt}" for share, salt in pairs) + " ≈"
        parts.append(word("mix", SAYS - 6, 160, mixed, ORANGE, "end", SMALL, 700))
        for m, (share, way) in enumerate(zip(shares, ("end", "start"), strict=False)):
            at = _x(STOPS[n]) + 20 * (2 * m - 1)
            look = (f"{share:.2f}", SERIES[m], way, SMALL, 700)
            parts.append(word(f"share {m}", at, ASKS + 12, *look))
    return parts


def _says(soft: str, hard: str, size: float = 44) -> list[Part]:
    """Two large numbers, each under its answer's sign and name."""
    x, floors = SAYS, (170, 254)
    parts = [
        dot("soft sign", x + 9, floors[0] - 50, 6, ORANGE),
        _square("hard sign", x + 9, floors[1] - 50),
    ]
    for name, says, floor in zip(("soft", "hard"), (soft, hard), floors, strict=True):
        ink = ORANGE if name == "soft" else GREY
        parts += [
            word(f"{name} name", x + 26, floor - 43, name, ink, "start", weight=600),
            word(f"{name} says", x, floor + 0.72 * (size - 44), says, ink, "start", size, 700),
        ]
    return parts


def _square(key: str, x: float, y: float) -> Part:
    """Where the hard answer is: the soft one fits into it."""
    return box(key, (x - 8, y - 8), (16, 16), GREY, 0, 3)


def _ways() -> list[tuple[float, float]]:
    """From where to where the last step moves the hard answer and the soft one."""
    return [*zip(*(answers(at)[:2] for at in STEP), strict=True)]


def _step() -> list[Part]:
    """What the last step does to both answers."""
    (start, end), glides = map(_x, STEP), _glides(*STEP)
    (_, low), *_, (_, high) = glides
    level, floor = _y(answers(STEP[0])[0]), TOP + 24
    tip = end - 2
    moves = [(start, floor), (tip, floor), (tip - 6, floor - 5), (tip, floor), (tip - 6, floor + 5)]
    ways = _ways()
    hard_way, soft_way = (f"{before:.0f} → {after:.0f}" for before, after in ways)
    hard, soft = (f"+{after - before:.0f}" for before, after in ways)
    return [
        line("was", [(start, ASKS), (start, level)], INK, 1.5),
        dot("asked", start, ASKS, 5),
        line("moves", moves, INK),
        word("one step", start - 10, floor + 6, "one step", INK, "end", SMALL),
        area("rises", [*glides, (end, low)], ORANGE, 0.2),
        line("soft goes", glides, ORANGE, 6),
        line("rise", [(end, low), (end, high)], ORANGE, 10, cap="butt"),
        line("hard goes", [(start, level), (end, level)], GREY, 10, cap="butt"),
        word("soft adds", end + 16, (low + high) / 2 + 8, soft, ORANGE, "start", 24, 700),
        word("hard adds", (start + end) / 2, level + 26, hard, GREY, size=24, weight=700),
        *_says(soft_way, hard_way, 24),
    ]


def _traces(stop: float) -> list[Part]:
    """Both answers to all that has been asked, up to a direction."""
    borders = [_x(min(at, stop)) for at in (ENDS[0], *JUMPS, ENDS[2])]
    levels = [*map(_y, SALT[:3])]
    steps = [step for step in zip(pairwise(borders), levels, strict=True) if len({*step[0]}) > 1]
    jumps = zip(borders[1 : len(steps)], pairwise(levels), strict=False)
    return [
        *(
            line(f"jump {m}", [(x, a), (x, b)], GREY, 2, 1, "2 5")
            for m, (x, (a, b)) in enumerate(jumps)
        ),
        *(
            line(f"step {m}", [(a, y), (b, y)], GREY, 4, 1, cap="butt")
            for m, ((a, b), y) in enumerate(steps)
        ),
        line("glides", _glides(ENDS[0], stop), ORANGE, 6),
    ]


def _glides(start: float, stop: float) -> list[Place]:
    """The soft answer to all questions from one direction to another."""
    ways = [start + (stop - start) * step / 90 for step in range(91)]
    return [(_x(at), _y(answers(at)[1])) for at in ways]
