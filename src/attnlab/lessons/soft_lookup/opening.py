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
LARGER, TOP, FLAT, LOW = 4, 86, 240, 270  # of the lens: how much, and heights
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
    parts = [
        dot("soft sign", SAYS + 9, 120, 6, ORANGE),
        *_says("soft", (SAYS + 26, 127), f"{soft:.0f}", (SAYS, 170)),
        _square("hard sign", SAYS + 9, 204),
        *_says("hard", (SAYS + 26, 211), f"{hard}", (SAYS, 254)),
    ]
    if n == MIXED:
        pairs = [*zip(shares, SALT, strict=False)][:2]
        mixed = " + ".join(f"{share:.2f} × {salt}" for share, salt in pairs) + " ≈"
        parts.append(word("mix", SAYS - 8, 160, mixed, ORANGE, "end", SMALL, 700))
        for m, (share, way) in enumerate(zip(shares, ("end", "start"), strict=False)):
            at = _x(STOPS[n]) + 20 * (2 * m - 1)
            look = (f"{share:.2f}", SERIES[m], way, SMALL, 700)
            parts.append(word(f"share {m}", at, ASKS + 12, *look))
    return parts


def _says(name: str, place: Place, number: str, under: Place, size: float = 44) -> list[Part]:
    """The name of an answer, and a number: those of other sizes come anew."""
    colour = ORANGE if name == "soft" else GREY
    return [
        word(f"{name} name {size}", *place, name, colour, "start", weight=600),
        word(f"{name} says {size}", *under, number, colour, "start", size, 700),
    ]


def _square(key: str, x: float, y: float) -> Part:
    """Where the hard answer is: the soft one fits into it."""
    return box(key, (x - 8, y - 8), (16, 16), GREY, 0, 3)


def _moved() -> list[float]:
    """How far the last step moves both answers."""
    return [after - before for before, after in zip(*(answers(at)[:2] for at in STEP), strict=True)]


def _seen(degrees: float, salt: float) -> Place:
    """Where the lens shows what an answer is."""
    return SAYS + LARGER * (_x(degrees) - _x(STEP[0])), FLAT + LARGER * (_y(salt) - _y(SALT[1]))


def _beam() -> list[Part]:
    """The last step, and the lens that it is seen through."""
    (x, to_x), right = map(_x, STEP), _seen(STEP[1], 0)[0]
    top, low = (_y(SALT[1]) + (at - FLAT) / LARGER for at in (TOP, LOW))
    return [
        area("beam", [(to_x, top), (SAYS, TOP), (SAYS, LOW), (to_x, low)], INK, 0.06),
        box("step", (x, top), (to_x - x, low - top), INK, 0.15),
        box("lens", (SAYS, TOP), (right - SAYS, LOW - TOP), INK, 0.06),
        line("was", [(x, ASKS), (x, _y(SALT[1]))], INK, 1.5, 0.3),
        dot("asked", x, ASKS, FULL / 2, INK, 0.3),
    ]


def _lens() -> list[Part]:
    """What the last step does to both answers, larger."""
    ways = [STEP[0] + (STEP[1] - STEP[0]) * n / 20 for n in range(21)]
    glides = [_seen(at, answers(at)[1]) for at in ways]
    corner = glides[0][0], glides[-1][1]
    hard, soft = _moved()
    return [
        area("rises", [*glides, corner], ORANGE, 0.15),
        line("rise", [glides[0], corner], ORANGE, 3),
        line("soft goes", glides, ORANGE, 6),
        line("hard goes", [_seen(at, SALT[1]) for at in STEP], GREY, 4),
        *_says("soft", (SAYS + 9, 121), f"+{soft:.0f}", (SAYS + 9, 149), 28),
        *_says("hard", (SAYS + 2, 266), f"+{hard:.0f}", (SAYS + 57, 266), 28),
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
