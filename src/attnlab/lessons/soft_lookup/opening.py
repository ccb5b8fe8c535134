"""Lesson 01 opens with a question along a shelf: its hard answer jumps, its soft one glides."""

from __future__ import annotations

import math
from itertools import pairwise

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    SIZE,
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
from attnlab.figures.palette import GREY, GROUND, ORANGE, SERIES
from attnlab.lessons.soft_lookup.turning import BOOKS, KEYS, LENGTH, SALT, weights

ENDS = tuple(math.degrees(math.atan2(salt, fresh)) for fresh, salt in KEYS[:3])  # and marshes
JUMPS = tuple((one + other) / 2 for one, other in pairwise(ENDS))  # all keys are as long
STOPS = (ENDS[0], -7, 7, 67, 81)  # of the question, degrees
STEP = (53, 67)  # of the question, at the end

HIGH, LEFT, RIGHT = 270, 46, WIDE - 46  # of the sheet; ends of the way that the question goes
SPINE, SHELF, TOP = (92, 48), 84, 118  # of a book; level of the question; of what the last says
LAST_SHELF, LAST_TOP = 44, 78  # at the end, when books are dots
FLOOR = 252  # level of what the first book says
FULL, SAYS = 26, 366  # how thick all of an answer is; where both answers are read
MIXED = 2  # the frame that says what is mixed


def opening() -> Film:
    """The film."""
    *told, end = _told()
    frames = [Frame([*_scene(n), *_now(n)], says) for n, says in enumerate(told)]
    last = Frame(_last(), end)
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
        f"Hard reads the nearest book's salt: {low} g/l. Soft mixes all: {soft[0]} g/l. "
        "A ribbon is as wide as its share.",
        f"The question moves towards marshes. Hard stays at {low}. Soft climbs to {soft[1]}.",
        f"One small step more: hard jumps to {middle}. "
        f"Soft mixes almost only two books: {soft[MIXED]}.",
        f"Past marshes, hard stays at {middle}. Soft climbs to {soft[3]}.",
        f"The same small step: hard jumps to {high}. Soft glides to {soft[4]}.",
        f"Between jumps, the same step adds {added[1]:.0f} to soft, {added[0]:.0f} to hard. "
        "Soft always moves, if only a little; hard only jumps.",
    ]


def _x(degrees: float) -> float:
    return LEFT + (RIGHT - LEFT) * (degrees - ENDS[0]) / (ENDS[2] - ENDS[0])


def _y(salt: float, top: float = TOP) -> float:
    return FLOOR - (FLOOR - top) * (salt - SALT[0]) / (SALT[2] - SALT[0])


def _scene(n: int) -> list[Part]:
    """The shelf, the question and its answers to all that is asked up to where it is."""
    x, (hard, soft, shares) = _x(STOPS[n]), answers(STOPS[n])
    flows, books = list[Part](), list[Part]()
    for m in range(3):
        at, colour = _x(ENDS[m]), SERIES[m]
        foot, thick = (at, 4 + SPINE[1]), max(FULL * shares[m], 0.5)
        flow = curve(f"pours {m}", foot, (x, SHELF), colour, thick, 0.75, upright=True)
        flows.append(flow._replace(look={**flow.look, "stroke-linecap": "butt"}))
        books += [
            box(f"book {m}", (at - SPINE[0] / 2, 4), SPINE, colour, 0.06, 1),
            word(f"name {m}", at, 22, BOOKS[m], colour, size=SMALL),
            word(f"says {m}", at, 46, f"{SALT[m]}", colour, size=26, weight=700),
        ]
    return [
        *_axes(SHELF, TOP),
        line("now", [(x, SHELF), (x, _y(min(hard, soft)))], INK, 1.5),
        *_traces(STOPS[n], TOP),
        *flows,
        *books,
        *_asks(x, SHELF),
        _square(f"hard {hard}", x, _y(hard)),  # it jumps
        dot("answers", x, _y(soft), 6, ORANGE, edge=GROUND),
    ]


def _axes(shelf: float, top: float) -> list[Part]:
    """The shelf, and how salty what each book says is."""
    parts = [line("shelf", [(0, shelf), (WIDE, shelf)], GREY, 1)]
    for m in range(3):
        y = _y(SALT[m], top)
        parts += [
            line(f"level {m}", [(LEFT - 14, y), (WIDE, y)], SERIES[m], 1, 0.5),
            word(f"salt {m}", 0, y + 7, f"{SALT[m]}", SERIES[m], "start", weight=600),
        ]
    between = (_y(SALT[1], top) + top) / 2
    return parts + [
        word(f"of {says}", 0, between + down, says, GREY, "start", SMALL)
        for says, down in (("salt", -4), ("g/l", 17))
    ]


def _asks(x: float, shelf: float) -> list[Part]:
    return [
        dot("asks", x, shelf, FULL / 2),
        word("question", x, shelf + 7, "?", GROUND, weight=700),
    ]


def _now(n: int) -> list[Part]:
    """Both answers to what is asked, in numbers that stay in their places; once, what is mixed."""
    hard, soft, shares = answers(STOPS[n])
    parts = list[Part]()
    for name, says, floor, ink in (("soft", soft, 158, ORANGE), ("hard", hard, 198, GREY)):
        parts += [
            word(f"{name} name", SAYS + 16, floor, name, ink, "start", SMALL, 600),
            word(f"{name} says", WIDE, floor, f"{says:.0f}", ink, "end", 34, 700),
        ]
    parts += [dot("soft sign", SAYS, 152, 6, ORANGE), _square("hard sign", SAYS, 192)]
    if not n:
        named = (f"share {shares[0]:.2f}", SERIES[0], "start", SMALL, 700)
        parts.append(word("share 0", _x(STOPS[n]) + 20, SHELF + 24, *named))
    if n == MIXED:
        pairs = [*zip(shares, SALT, strict=False)][:2]
        mixed = " + ".join(f"{share:.2f} × {salt}" for share, salt in pairs)
        look = (f"{mixed} ≈ {soft:.0f}", ORANGE, "start", SIZE, 700)
        parts.append(word("mix", _x(STOPS[n]) + 16, FLOOR - 10, *look))
        for m, (share, way) in enumerate(zip(shares, ("end", "start"), strict=False)):
            at = _x(STOPS[n]) + 20 * (2 * m - 1)
            look = (f"{share:.2f}", SERIES[m], way, SMALL, 700)
            parts.append(word(f"share {m}", at, SHELF + 24, *look))
    return parts


def _square(key: str, x: float, y: float) -> Part:
    """Where the hard answer is: the soft one fits into it."""
    return box(key, (x - 8, y - 8), (16, 16), GREY, 0, 3)


def _ways() -> list[tuple[float, float]]:
    """From where to where the last step moves the hard answer and the soft one."""
    return [*zip(*(answers(at)[:2] for at in STEP), strict=True)]


def _last() -> list[Part]:
    """Both answers to all questions, and what one more step does to them."""
    shelf, top = LAST_SHELF, LAST_TOP
    (start, end), (hard_way, soft_way) = map(_x, STEP), _ways()
    level, (low, high) = _y(hard_way[0], top), (_y(salt, top) for salt in soft_way)
    aside = start - 12
    hard, soft = (f"+{after - before:.0f}" for before, after in (hard_way, soft_way))
    bracket = [(start, low), (aside, low), (aside, high), (end, high)]
    return [
        area("step", [(start, shelf), (end, shelf), (end, FLOOR), (start, FLOOR)], INK, 0.08),
        *_axes(shelf, top),
        *_traces(ENDS[2], top),
        line("rise", bracket, INK, 1.5),
        line("hard goes", [(start, level), (end, level)], GREY, 8, cap="butt"),
        *(
            dot(f"soft {when}", x, y, 6, ORANGE, edge=GROUND)
            for when, x, y in (("before", start, low), ("after", end, high))
        ),
        word("soft adds", aside - 10, high + 24, f"soft {soft}", ORANGE, "end", 32, 700),
        word("hard adds", end + 10, level + 33, f"hard {hard}", GREY, "start", 24, 700),
        *(dot(f"stands {m}", _x(ENDS[m]), shelf, 6, SERIES[m]) for m in range(3)),
        *(word(f"name {m}", _x(ENDS[m]), 22, BOOKS[m], SERIES[m], size=SMALL) for m in range(3)),
        word("one step", (start + end) / 2, shelf + 27, "one step", INK, "middle", SMALL),
        dot("asked", start, shelf, 5),
        *_asks(end, shelf),
    ]


def _traces(stop: float, top: float) -> list[Part]:
    """Both answers to all that has been asked, up to a direction."""
    borders = [_x(min(at, stop)) for at in (ENDS[0], *JUMPS, ENDS[2])]
    levels = [_y(salt, top) for salt in SALT[:3]]
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
        line("glides", _glides(ENDS[0], stop, top), ORANGE, 6),
    ]


def _glides(start: float, stop: float, top: float) -> list[Place]:
    """The soft answer to all questions from one direction to another."""
    ways = [start + (stop - start) * step / 90 for step in range(91)]
    return [(_x(at), _y(answers(at)[1], top)) for at in ways]
