"""Lesson 14 opens with what is lost if its last layer's weights are half blurred, and made equal.

It copies what stands after the same word, whichever stands there; half blurred still, all equal no
more. A slice of the mix is as wide as its word's weight, the mean of the last layer's heads; a
square is a text, filled if what followed is written. At the lesson's end `opening` is called with
the learner's own function and text: that film is in `yours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise, permutations
from math import asin, degrees

import torch

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, Place, area, box, line, word
from attnlab.figures.palette import BLUE, GREY, GROUND
from attnlab.lessons.real_model import yours
from attnlab.lessons.real_model.writing import OWN, Backend, Step, mixed, step, steps
from attnlab.small.grammar import SINGULAR

TEXT = "bird", "boy", "king", ";", "bird"
TRADED = "bird", "king", "boy", ";", "bird"
FOLLOWED = 2  # the place, after the start token's, of what followed: blue
OTHERS = [each for each in SINGULAR if each != "bird"]
SUCH = [("bird", *two, ";", "bird") for two in permutations(OTHERS, 2)]
WAYS = {"as trained": 0, "half blurred": 0.5, "all equal": 1}  # how much of weights is equal

HIGH, COLUMN, BESIDE = 270, 62, 388  # of the sheet; a word's room; x of the next word
WIDTH = COLUMN * (len(TEXT) + 1)  # of the mix
BENDS, GAP, ROOM = 16, 2, 50  # of a ribbon's side; between slices; for a share
FLOOR, MOUTH, RIM, THICK = 36, 54, 182, 56  # y of the text, ribbons' ends; the mix's height
HOP = 14  # how far words that trade places go up and down
SIZE, LARGE, HEAVY = 22, 36, 700  # of words; weight
ONE, PITCH, TELLS = (76, 42), 15, 326  # a large grid; from square to square; what is right of it
ALL, NARROW, NEAR = 82, 9.6, 168.5  # three grids: top, pitch, from each to the next


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    own, ways = step(OWN, TEXT), [step(mixed(share), TRADED) for share in WAYS.values()]
    such = [steps(mixed(share), SUCH) for share in WAYS.values()]
    _, one, other, _, bird = TEXT
    share, half, equal = (f"{at.heads.mean(dim=0)[FOLLOWED]:.2f}" for at in ways)
    told = (
        f"“{bird}” came before, and comes again. A small language model mixes in some of each word "
        "so far.",
        f"On average its last layer’s heads mix in mostly “{one}”, which followed “{bird}”. "
        f"“{own.word}” is written.",
        f"“{other}” and “{one}” trade places. The mix is nearly the same, and “{ways[0].word}” is "
        "written.",
        f"Blur the last layer half way to equal: {half}, between {share} and {equal}, is still "
        f"the widest. “{ways[1].word}” is written.",
        f"All equal, {equal} each: “{ways[2].word}” is written, not “{other}”, which followed. "
        f"Traded back, “{step(mixed(1), TEXT).word}” is written too.",
        f"Now {len(SUCH)} texts, a square each: any two of {len(OTHERS)} words. As trained, all "
        "get the word that followed.",
        f"Half way to equal, all {sum(_copied(such[1]))} texts still get the word that followed. "
        f"All equal, {sum(_copied(such[2]))} do.",
    )
    sheets = [_poured(), _poured(own), *(_poured(each, TRADED) for each in ways)]
    sheets += [_trained(such[0]), _compared(such)]
    frames = [Frame(*each) for each in zip(sheets, told, strict=True)]
    return Film("Half blurred, it still copies", frames, HIGH)


def _copied(such: Sequence[Step]) -> list[bool]:
    """Whether what followed is written, for each text."""
    return [at.word == text[1] for at, text in zip(such, SUCH, strict=True)]


def _poured(at: Step | None = None, words: Sequence[str] = TEXT) -> list[Part]:
    """A text over its mix, which is unknown without a step, and the next word."""
    middle, wrote = RIM + THICK / 2, at.word if at else "?"
    hue = BLUE if wrote == words[FOLLOWED - 1] else INK
    parts = [
        box("mix", (0, RIM), (WIDTH, THICK), GREY, 0.13),
        word("name", 0, 263, "mix: each word’s share", GREY, "start", SMALL),
        word("next", BESIDE, middle - 24, "next word", GREY, "start", SMALL),
        word("wrote", BESIDE, middle + 13, wrote, hue, "start", LARGE, HEAVY),
        *_traded(words != TEXT, at is not None),
    ]
    slices = _slices(at.heads.mean(dim=0)) if at else []
    for n, text in enumerate(("start", *words)):
        x = COLUMN * (n + 0.5)
        if n not in (FOLLOWED, FOLLOWED + 1):
            ink, size = (INK, SIZE) if n else (GREY, SMALL)
            parts.append(word(f"word {n}", x, FLOOR, text, ink, size=size))
        if not at:
            parts.append(line(f"asks {n}", [(x, MOUTH + 6), (x, RIM - 6)], GREY, 3, dashes="1 9"))
            continue
        left, wide = (float(slices[n].look[name]) for name in ("x", "width"))
        ribbon = _ribbon((x, MOUTH, COLUMN - GAP), (left + wide / 2, RIM, wide))
        parts.append(area(f"pours {n}", ribbon, *((BLUE, 0.4) if n == FOLLOWED else (GREY, 0.2))))
        if wide > ROOM:
            much, look = f"{at.heads.mean(dim=0)[n]:.2f}", (INK, "middle", 20.0, 400)
            if n == FOLLOWED:
                look = GROUND, "middle", min(LARGE, wide / 2.7), HEAVY
            slices.append(word(f"share {n}", left + wide / 2, middle + 0.36 * look[2], much, *look))
    return [*parts, *slices]


def _slices(mix: torch.Tensor) -> list[Part]:
    """The mix, from edge to edge."""
    ends = accumulate((WIDTH * mix).tolist(), initial=0.0)
    return [
        box(f"slice {n}", ((a + b - w) / 2, RIM), (w, THICK), *look)
        for n, (a, b) in enumerate(pairwise(ends))
        for w in [max(b - a - GAP, 0.5)]
        for look in [(BLUE, 1) if n == FOLLOWED else (GREY, 0.5)]
    ]


def _traded(over: bool, known: bool) -> list[Part]:
    """Two words that trade places: one passes over the other."""
    half, middle = COLUMN / 2, 3 * COLUMN
    far = (half**2 + HOP**2) / (2 * HOP)
    turned, parts = over * 2 * degrees(asin(half / far)), list[Part]()
    for text, way in (("boy", -1), ("king", 1)):
        x, y = middle + way * half, FLOOR + way * (far - HOP)
        hue, weight = (BLUE, HEAVY) if known and over == (way > 0) else (INK, 400)
        named = word(text, x, FLOOR, text, hue, size=SIZE, weight=weight)
        upright = f"rotate({-turned:.1f} {middle} {y:.2f}) rotate({turned:.1f} {x} {FLOOR})"
        parts.append(named._replace(look={**named.look, "transform": upright}))
    return parts


def _ribbon(mouth: tuple[float, ...], slot: tuple[float, ...]) -> list[Place]:
    """From a word's room to its slice: each the middle, the height and the width."""
    shares = [n / BENDS for n in range(BENDS + 1)]
    turns = [share**2 * (3 - 2 * share) for share in shares]

    def at(way: int, share: float, turn: float) -> Place:
        x, wide = (mouth[n] + (slot[n] - mouth[n]) * turn for n in (0, 2))
        return x + way * wide / 2, mouth[1] + (slot[1] - mouth[1]) * share

    both = [[at(way, *each) for each in zip(shares, turns, strict=True)] for way in (-1, 1)]
    return both[0] + both[1][::-1]


def _trained(such: Sequence[Step]) -> list[Part]:
    """All texts as trained, and which of them the film's own is."""
    a, b = (at + PITCH / 2 for at in _corner(TRADED, ONE, PITCH))
    other, one = _traded(True, True)  # they are drawn where the other was
    tells = f"of {len(such)} texts", "get the word", "that followed"
    return [
        *_squares(0, such, ONE, PITCH),
        line("to column", [(a, ONE[1] - 8), (a, b - PITCH / 2)], INK),
        line("to row", [(ONE[0] - 16, b), (a - PITCH / 2, b)], INK),
        box(f"slice {FOLLOWED}", (a - 8, b - 8), (PITCH, PITCH), BLUE, 1),
        box("here", (a - 8, b - 8), (PITCH, PITCH), INK, 0, 3),
        other._replace(look={**other.look, "x": a - COLUMN, "y": 28}),
        one._replace(look={**one.look, "x": 25 + COLUMN, "y": b + 7}),
        word("columns", 0, 28, "after that", GREY, "start", SMALL),
        word("rows", 0, b + 30, "after", GREY, "start", SMALL),
        word("rows too", 0, b + 52, f"“{TEXT[0]}”", GREY, "start", SMALL),
        word("way", TELLS, 96, next(iter(WAYS)), INK, "start", SIZE, HEAVY),
        word("count", TELLS, 160, f"{sum(_copied(such))}", BLUE, "start", 72, HEAVY),
        *(
            word(f"tells {y}", TELLS, y, each, GREY, "start", SMALL)
            for y, each in zip((190, 212, 234), tells, strict=True)
        ),
    ]


def _compared(such: Sequence[Sequence[Step]]) -> list[Part]:
    """For each way all texts, and how many are right."""
    parts = list[Part]()
    for n, (way, each) in enumerate(zip(WAYS, such, strict=True)):
        x = NEAR * n
        parts += [
            word(f"way {n}", x, 16, way, INK, "start", SIZE, HEAVY),
            word(f"count {n}", x, 66, f"{sum(_copied(each))}", BLUE, "start", 52, HEAVY),
            *_squares(n, each, (x, ALL), NARROW),
        ]
    return [
        *parts,
        word("of", WIDE, 66, f"of {len(SUCH)}", GREY, "end", SMALL),
        box("square 0", (0, 249), (15, 15), BLUE, 1),
        word("means 0", 22, 263, "right: the word that followed", GREY, "start", SMALL),
        box("square 2", (NEAR * 2, 249), (15, 15), GREY, 0.3),
        word("means 2", NEAR * 2 + 22, 263, "wrong", GREY, "start", SMALL),
    ]


def _corner(text: Sequence[str], first: Place, pitch: float) -> Place:
    """Of a text's square: its row is what followed, its column what came next."""
    return first[0] + pitch * OTHERS.index(text[2]), first[1] + pitch * OTHERS.index(text[1])


def _squares(n: int, such: Sequence[Step], first: Place, pitch: float) -> list[Part]:
    """All texts, and over them those that get what followed."""
    side = f"{pitch - 1:.1f}"
    each = [_corner(text, first, pitch) for text in SUCH]
    drawn = [f"M{x:.1f} {y:.1f}h{side}v{side}h-{side}Z" for x, y in each]
    lit = [d for d, right in zip(drawn, _copied(such), strict=True) if right]
    looks = ("all", drawn, GREY, 0.3), ("lit", lit, BLUE, 1)
    return [
        Part("path", f"{key} {n}", {"d": "".join(d), "fill": colour.drawn, "opacity": filled})
        for key, d, colour, filled in looks
    ]
