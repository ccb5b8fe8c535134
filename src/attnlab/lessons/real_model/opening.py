"""Lesson 14 opens with one dial: how much of the model's own weights is replaced by equal ones.

It first copies what stands after the same word, whichever stands there; the dial takes that away.
A slice of a mix is as wide as its word's weight, the mean of the last layer's heads; the curve says
in how many pairs of texts, in which two words have traded places, the next words differ. At the
lesson's end `opening` is called with the learner's own function and text: that film is in `yours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from operator import ne

import torch

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, area, box, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE
from attnlab.lessons.real_model import yours
from attnlab.lessons.real_model.writing import Backend, Step, after, mixed, step
from attnlab.small.grammar import SINGULAR

TEXT = "bird", "dog", "cat", ";", "bird"
TRADED = "bird", "cat", "dog", ";", "bird"
HUES = {"dog": BLUE, "cat": GREEN}  # of words that trade places; others are grey
FOLLOWED = 2  # the place of what followed, in a text after its start token
OTHERS = [each for each in SINGULAR if each != "bird"]
PAIRS = [
    [("bird", *two, ";", "bird") for two in ((a, b), (b, a))] for a, b in combinations(OTHERS, 2)
]

STEPS = 64  # from no equal weights to nothing else
STOPS = 32, 48, 64  # of the dial

HIGH, LEFT, COLUMN = 270, 46, 54  # of the sheet; where words begin, and the room of each
RIGHT = LEFT + COLUMN * (len(TEXT) + 1)
NEXT, ROW, GAP, BENDS = RIGHT + 18, 30, 4, 16  # next words; words' height; mixes apart; of a side
# The middle between mixes; from there to words; a mix's height: for one text, two, two and a curve.
ALONE, BOTH, OVER = (240, 190, 36), (135, 105, 32), (70, 44, 21)
TOP, BASE = 162, 244  # of the curve, at whose base no pair differs
SIZE, HEAVY = 24, 700  # of words; weight


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    apart, all_of = _apart(), len(PAIRS)
    (own, traded), *turned = [
        [step(mixed(stop / STEPS), each) for each in (TEXT, TRADED)] for stop in (0, *STOPS)
    ]
    half, late, equal = (apart[stop] for stop in STOPS)
    (_, dog, cat, _, bird), odd = TEXT, turned[-1][0].word
    told = (
        f"“{bird}” came before, and comes again. A small language model mixes in some of each word "
        "so far.",
        f"On average its last layer’s heads mix in mostly “{dog}”, which followed “{bird}”. "
        f"It writes “{own.word}”.",
        f"“{cat}” and “{dog}” trade places: mostly “{cat}” is mixed in, and “{traded.word}” is "
        f"written. The model tells all {apart[0]} such pairs apart.",
        f"In all heads and layers attention goes half of the way to equal: {half} pairs are still "
        "told apart.",
        f"Three quarters: {late}. These two are still apart: “{cat}”, and “{odd}”, "
        "which is in neither text.",
        "All equal: equal shares of the same words, which still differ by place. "
        f"{equal} of {all_of} pairs stay apart.",
    )
    sheets = [
        _poured(TEXT, own, ALONE, known=False),
        _poured(TEXT, own, ALONE),
        _poured(TEXT, own, BOTH) + _poured(TRADED, traded, BOTH, 1),
    ]
    for stop, (one, other) in zip(STOPS, turned, strict=True):
        sheet = [*_poured(TEXT, one, OVER), *_poured(TRADED, other, OVER, 1), *_curve(apart, stop)]
        sheets.append(_joined(sheet) if one.word == other.word else sheet)
    frames = [Frame(*both) for both in zip(sheets, told, strict=True)]
    return Film("Equal attention hardly tells two orders apart", frames, HIGH)


def _apart() -> list[int]:
    """After how many pairs the two next words differ, at each of the dial's places."""
    shares = torch.linspace(0, 1, STEPS + 1).repeat_interleave(len(PAIRS))[:, None, None, None]
    wrote = [after(mixed(shares), each * (STEPS + 1)) for each in zip(*PAIRS, strict=True)]
    differ = torch.tensor([*map(ne, *wrote)]).view(STEPS + 1, len(PAIRS))
    return [int(many) for many in differ.sum(dim=1)]


def _poured(
    words: Sequence[str], at: Step, stage: tuple[float, ...], way: int = -1, known: bool = True
) -> list[Part]:
    """A text over the middle, or under it, and its mix, sliced in the first text's order."""
    middle, far, high = stage
    key, weights = "".join(words[1:3]), at.heads.mean(dim=0).tolist()
    near, rim = (middle + way * each for each in (GAP / 2, GAP / 2 + high))
    top, base = min(near, rim), (near + rim) / 2 + 7
    wrote = at.word if known else "?"
    parts = [
        box(f"{key} mix", (LEFT, top), (RIGHT - LEFT, high), GREY, 0 if known else 0.13),
        word(f"{key} wrote", NEXT, base, wrote, HUES.get(wrote, INK), "start", SIZE, HEAVY),
    ]
    if way < 0:
        floor = base if stage == ALONE else middle + 7
        parts += [
            word("next", NEXT, rim - 14, "next word", GREY, "start", SMALL),
            word("name", LEFT - 8, floor, "mix", GREY, "end", SMALL),
        ]
    left = float(LEFT)
    for n in (0, *(1 + words.index(each) for each in TEXT[:-1]), len(TEXT)):
        text, x, wide = ("start", *words)[n], LEFT + COLUMN * (n + 0.5), RIGHT - LEFT
        hue, wide = HUES.get(text, GREY), wide * weights[n]
        size, heavy = (SIZE if n else SMALL), (HEAVY if text in HUES else 400)
        ink = hue if text in HUES or not n else INK
        floor = middle + way * (far + ROW / 2) + 8
        parts.append(word(f"{key} word {n}", x, floor, text, ink, size=size, weight=heavy))
        if known:
            light, narrow = (1 if text in HUES else 0.5), max(wide - 2, 0.5)
            mouth = x, middle + way * far, COLUMN - 2
            slot = left + wide / 2, rim, narrow
            parts += [
                area(f"{key} pours {n}", _ribbon(mouth, slot), hue, 0.3 * light),
                box(f"{key} slice {n}", (slot[0] - narrow / 2, top), (narrow, high), hue, light),
            ]
        else:
            ends = (x, middle + way * far + 6), (x, rim - 6)
            parts.append(line(f"asks {n}", ends, GREY, 3, dashes="1 9"))
        left += wide
    return parts


def _joined(sheet: Sequence[Part]) -> list[Part]:
    """One next word for both mixes, between them."""
    (middle, _, high), ends = OVER, (RIGHT + 5, RIGHT + 10)
    top, low = (middle + way * (GAP / 2 + high) for way in (-1, 1))
    one = [
        part._replace(look={**part.look, "y": middle + 8}) if part.key == "dogcat wrote" else part
        for part in sheet
        if part.key != "catdog wrote"
    ]
    corners = [(ends[0], top), (ends[1], top), (ends[1], low), (ends[0], low)]
    return [
        *one,
        line("both", corners, GREY, 3),
        word("in neither", NEXT, middle + 32, "in neither", GREY, "start", SMALL),
        word("text", NEXT, middle + 54, "text", GREY, "start", SMALL),
    ]


def _ribbon(mouth: tuple[float, ...], slot: tuple[float, ...]) -> list[Place]:
    """From a word's room to its slice: each the middle, the height and the width."""
    shares = [n / BENDS for n in range(BENDS + 1)]
    turns = [share**2 * (3 - 2 * share) for share in shares]

    def at(way: int, share: float, turn: float) -> Place:
        x, wide = (mouth[n] + (slot[n] - mouth[n]) * turn for n in (0, 2))
        return x + way * wide / 2, mouth[1] + (slot[1] - mouth[1]) * share

    both = [[at(way, *each) for each in zip(shares, turns, strict=True)] for way in (-1, 1)]
    return both[0] + both[1][::-1]


def _curve(apart: Sequence[int], to: int) -> list[Part]:
    """How many pairs differ, from the model's own attention to the dial's place."""
    ends = [
        (LEFT + (RIGHT - LEFT) * n / STEPS, BASE - (BASE - TOP) * apart[n] / len(PAIRS))
        for n in (min(n, to) for n in range(STEPS + 1))
    ]
    (x, y), end = ends[-1], to == STEPS
    right, floor, size = (NEXT, BASE, 40) if end else (x + 12, y + 9, SIZE)
    parts = [
        area("under", [(LEFT, BASE), *ends, (x, BASE)], ORANGE, 0.12),
        line("dial", [(LEFT, TOP), (LEFT, BASE), (RIGHT, BASE)], GREY, 2),
        line("curve", ends, ORANGE, 4),
        dot("now", x, y, 6, ORANGE),
        word("count", right, floor, f"{apart[to]}", ORANGE, "start", size, HEAVY),
    ]
    if end:
        x, y = ends[STOPS[1]]
        parts.append(word("late", x + 12, y - 2, f"{apart[STOPS[1]]}", GREY, "start", SIZE, HEAVY))
        parts.append(dot("then", x, y, 5, ORANGE))
    for key, x, y, text, ink, anchor in (
        ("what", LEFT + 12, BASE - 14, "pairs told apart", INK, "start"),
        ("all", LEFT - 8, TOP + 7, f"{len(PAIRS)}", GREY, "end"),
        ("none", LEFT - 8, BASE + 7, "0", GREY, "end"),
        ("own", LEFT, HIGH - 4, "attention as trained", GREY, "start"),
        ("equal", RIGHT, HIGH - 4, "all equal", GREY, "end"),
        ("of", NEXT, HIGH - 4, f"of {len(PAIRS)}" if end else "", GREY, "start"),
    ):
        parts.append(word(key, x, y, text, ink, anchor, SMALL))
    return parts
