"""Lesson 14 opens with what is lost if equal weights replace more and more of the model's own.

It copies what stands after the same word, whichever stands there; half way still, late no more.
A slice of the mix is as wide as its word's weight, the mean of the last layer's heads; the curve
says how many texts are continued with what followed. At the lesson's end `opening` is called with
the learner's own function and text: that film is in `yours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations
from math import asin, degrees

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, area, box, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE
from attnlab.lessons.real_model import yours
from attnlab.lessons.real_model.writing import OWN, Backend, Step, after, mixed, step
from attnlab.small.grammar import SINGULAR

TEXT = "bird", "boy", "king", ";", "bird"
TRADED = "bird", "king", "boy", ";", "bird"
HUES = {"boy": BLUE, "king": GREEN}  # of words that trade places; others are grey
OTHERS = [each for each in SINGULAR if each != "bird"]
SUCH = [("bird", *two, ";", "bird") for two in permutations(OTHERS, 2)]

STEPS = 24  # from no equal weights to nothing else
STOPS = 0, 12, 18, 24

HIGH, LEFT, COLUMN = 270, 46, 54  # of the sheet; where words begin, and the room of each
RIGHT = LEFT + COLUMN * (len(TEXT) + 1)
NEXT, BENDS, GAP = RIGHT + 16, 16, 2  # x of the next word; of a ribbon's side; between slices
# y of the text and of ribbons' ends, and the mix's height: alone, and over the curve.
ALONE, OVER = (50, 64, 188, 48), (26, 35, 66, 30)
HOP = 14  # how far words that trade places go up and down
HEADING, TOP, BASE, FLOOR = 121, 147, 245, 265  # y of the curve's words, and of 0 texts
SIZE, COST, LARGE, HEAVY = 22, 26, 36, 700  # of words; weight


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    own, ways = step(OWN, TEXT), [step(mixed(stop / STEPS), TRADED) for stop in STOPS]
    counts = [_followed(n / STEPS) for n in range(STEPS + 1)]
    all_, half, late, few = (counts[stop] for stop in STOPS)
    _, one, other, _, bird = TEXT
    told = (
        f"“{bird}” came before, and comes again. A small language model mixes in some of each word "
        "so far.",
        f"On average its last layer’s heads mix in mostly “{one}”, which followed “{bird}”. "
        f"All {all_} such texts get what followed.",
        f"“{other}” and “{one}” trade places, and “{ways[0].word}” is written. "
        f"The {len(SUCH)} texts have any two of {len(OTHERS)} words there, in either order.",
        "In all heads and layers attention goes half way to equal. "
        f"{half} texts get what followed.",
        f"Three quarters of the way “{ways[2].word}” is still written, but only {late} texts get "
        "what followed.",
        f"All equal: “{ways[3].word}” is written, and {few} texts get what followed.",
    )
    sheets = [_poured(), _poured(own), _poured(ways[0], traded=True)]
    for n, at in enumerate(ways[1:], 1):
        sheets.append([*_poured(at, OVER, traded=True), *_curve(counts, STOPS[1 : n + 1])])
    frames = [Frame(*each) for each in zip(sheets, told, strict=True)]
    return Film("Half way to equal, attention still copies", frames, HIGH)


def _followed(equal: float) -> int:
    """How many texts are continued with what followed, if so large a share of weights is equal."""
    return sum(a == b for a, (_, b, *_) in zip(after(mixed(equal), SUCH), SUCH, strict=True))


def _poured(
    at: Step | None = None, stage: tuple[float, ...] = ALONE, traded: bool = False
) -> list[Part]:
    """A text over its mix, which is unknown without a step, and the next word."""
    floor, mouth, rim, thick = stage
    middle = rim + thick / 2
    words, wrote = (TRADED if traded else TEXT), at.word if at else "?"
    weights = at.heads.mean(dim=0).tolist() if at else []
    parts = [
        box("mix", (LEFT, rim), (RIGHT - LEFT, thick), GREY, 0.13),
        word("name", LEFT - 12, middle + 6, "mix", GREY, "end", SMALL),
        word("next", NEXT, middle - 24, "next word", GREY, "start", SMALL),
        word("wrote", NEXT, middle + 13, wrote, HUES.get(wrote, INK), "start", LARGE, HEAVY),
    ]
    left = float(LEFT)
    for n, text in enumerate(("start", *words)):
        x, hue = LEFT + COLUMN * (n + 0.5), HUES.get(text, GREY)
        if text not in HUES:
            ink, size = (INK, SIZE) if n else (GREY, SMALL)
            parts.append(word(f"word {n}", x, floor, text, ink, size=size))
        if not at:
            parts.append(line(f"asks {n}", [(x, mouth + 6), (x, rim - 6)], GREY, 3, dashes="1 9"))
            continue
        wide = (RIGHT - LEFT) * weights[n]
        slot = left + wide / 2, rim, max(wide - GAP, 0.5)
        corner, bright = (slot[0] - slot[2] / 2, rim), 1 if text in HUES else 0.5
        ribbon = _ribbon((x, mouth, COLUMN - GAP), slot)
        parts += [
            area(f"pours {n}", ribbon, hue, 0.4 * bright),
            box(f"slice {n}", corner, (slot[2], thick), hue, bright),
        ]
        left += wide
    return [*parts, *_traded(traded, floor)]


def _traded(over: bool, floor: float) -> list[Part]:
    """Two words that trade places: one passes over the other."""
    half, middle = COLUMN / 2, LEFT + 3 * COLUMN
    far = (half**2 + HOP**2) / (2 * HOP)
    turned, parts = over * 2 * degrees(asin(half / far)), list[Part]()
    for text, way in (("boy", -1), ("king", 1)):
        x, y = middle + way * half, floor + way * (far - HOP)
        named = word(text, x, floor, text, HUES[text], size=SIZE, weight=HEAVY)
        upright = f"rotate({-turned:.1f} {middle} {y:.2f}) rotate({turned:.1f} {x} {floor})"
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


def _curve(counts: Sequence[int], stops: Sequence[int]) -> list[Part]:
    """How many texts get what followed, from the model's own attention to the last of the stops."""

    def high(count: float) -> float:
        return BASE - (BASE - TOP) * count / len(SUCH)

    ends = [(LEFT + (RIGHT - LEFT) * n / STEPS, high(count)) for n, count in enumerate(counts)]
    *passed, now = stops
    drawn, (x, y) = [ends[min(n, now)] for n in range(STEPS + 1)], ends[now]
    parts = [
        word(
            "heading", LEFT, HEADING, "texts that get the word that followed", GREY, "start", SMALL
        ),
        word("all", LEFT - 12, TOP + 6, f"{len(SUCH)}", GREY, "end", SMALL),
        word("none", LEFT - 12, BASE + 6, "0", GREY, "end", SMALL),
        line("axis", [(LEFT, BASE), (RIGHT, BASE)], GREY, 2),
        word("own", LEFT, FLOOR, "as trained", GREY, "start", SMALL),
        word("half", (LEFT + RIGHT) / 2, FLOOR, "half way", GREY, size=SMALL),
        word("equal", RIGHT, FLOOR, "all equal", GREY, "end", SMALL),
        area("under", [(LEFT, BASE), *drawn, (x, BASE)], ORANGE, 0.15),
        line("curve", drawn, ORANGE, 4),
    ]
    for n in passed[:1]:
        a, b = ends[n]
        parts.append(dot(f"dot {n}", a, b, 5, ORANGE, edge=GROUND))
        if now < STEPS:
            parts.append(word(f"count {n}", a - 6, b + 27, f"{counts[n]}", ORANGE, "end"))
    for n, m in pairwise((0, *passed[:1], STEPS) if now == STEPS else ()):
        (a, _), (b, _), fell = ends[n], ends[m], f"−{counts[n] - counts[m]}"
        span = [(a + 4, BASE - 8), (a + 4, BASE), (b - 4, BASE), (b - 4, BASE - 8)]
        parts.append(line(f"span {n}", span, ORANGE, 4))
        parts.append(word(f"fell {n}", a + 6, BASE - 24, fell, ORANGE, "start", COST, HEAVY))
    return [
        *parts,
        dot("now", x, y, 7, ORANGE, edge=GROUND),
        word("count", x + 16, y + 13, f"{counts[now]}", ORANGE, "start", LARGE, HEAVY),
    ]
