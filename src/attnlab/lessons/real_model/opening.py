"""Lesson 14 opens with one dial: how much of the model's own weights is replaced by equal ones.

It first copies what stands after the same word, whichever stands there; the dial takes that away.
Arcs are the mean of the last layer's heads; the curve, in how many pairs of texts, in which two
words have traded places, the next words differ. At the lesson's end `opening` is called with the
learner's own function and a text: that film is in `yours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from operator import ne
from typing import Any

import torch

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, area, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons.real_model import yours
from attnlab.lessons.real_model.writing import Backend, Step, after, mixed, step
from attnlab.small.grammar import SINGULAR

TEXT = "bird", "dog", "cat", ";", "bird"
TRADED = "bird", "cat", "dog", ";", "bird"
FOLLOWED = 2  # the place of what followed, in a text after its start token
OTHERS = [each for each in SINGULAR if each != "bird"]
PAIRS = [
    [("bird", *two, ";", "bird") for two in ((a, b), (b, a))] for a, b in combinations(OTHERS, 2)
]

STEPS = 64  # from no equal weights to nothing else
STOPS = 0, 32, 48, 64  # of the dial

HIGH, ROW, LOW, GAP = 270, 44, 36, 4  # of the sheet; a text's box, over the curve; to the other
SIZE, MIDDLES = 30, (34, 102, 170, 233, 280, 330)  # of words, the start token's first
NEXT, SLOT = 420, 104  # the middle of the word that is written, and its room
THICKEST = 13  # an arc of weight 1
LEFT, RIGHT, TOP, BASE = 8, 364, 154, 232  # of texts and the curve, at whose base no pair differs
BIG, HEAVY = 34, 700  # counts


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    apart, all_of = _apart(), len(PAIRS)
    turned = [[step(mixed(stop / STEPS), each) for each in (TEXT, TRADED)] for stop in STOPS]
    _, half, late, equal = (apart[stop] for stop in STOPS)
    (own, traded), (_, dog, cat, _, bird), odd = turned[0], TEXT, turned[-1][0].word
    told = (
        f"“{bird}” came before, and comes again. The model writes what is next.",
        f"On average, the last layer's heads look most at what followed “{bird}”. "
        f"The model writes that: “{own.word}”.",
        f"“{cat}” and “{dog}” trade places: it writes “{traded.word}”. It reads what followed.",
        f"As trained, the next word differs in all {apart[0]} such pairs.",
        f"In all heads and layers attention goes half of the way to equal: still {half}.",
        f"Three quarters: {late}. One text here gets “{odd}” already, a word that is in neither.",
        f"All equal, with no new training: the next word differs in {equal} of {all_of} pairs.",
    )
    coming = _text(TRADED, 208 + ROW + GAP, traded, 8, below=True)
    sheets = [
        _text(TEXT, 208, own, 166, looked=False),
        _text(TEXT, 208, own, 166)
        + [part._replace(look={**part.look, "opacity": 0}) for part in coming],
        _text(TEXT, 89, own, 64) + _text(TRADED, 89 + ROW + GAP, traded, 64, below=True),
    ]
    for n, both in zip(STOPS, turned, strict=True):
        texts = _text(TEXT, 58, both[0], 52, LOW), _text(TRADED, 58 + LOW + GAP, both[1], 0, LOW)
        sheets.append([*texts[0], *texts[1], *_curve(apart, n)])
    frames = [Frame(*both) for both in zip(sheets, told, strict=True)]
    return Film("With equal attention, order is nearly lost", frames, HIGH)


def _apart() -> list[int]:
    """After how many pairs the two next words differ, at each of the dial's places."""
    shares = torch.linspace(0, 1, STEPS + 1).repeat_interleave(len(PAIRS))[:, None, None, None]
    wrote = [after(mixed(shares), each * (STEPS + 1)) for each in zip(*PAIRS, strict=True)]
    differ = torch.tensor([*map(ne, *wrote)]).view(STEPS + 1, len(PAIRS))
    return [int(many) for many in differ.sum(dim=1)]


def _text(
    words: Sequence[str],
    top: float,
    at: Step,
    tall: float,
    row: float = ROW,
    below: bool = False,
    looked: bool = True,
) -> list[Part]:
    """A text with what is written next, and what is looked at over it, or below, so high."""
    last, key, size = MIDDLES[-1], "".join(words[1:3]), SIZE * row / ROW
    weights = at.heads.mean(dim=0).tolist()
    chosen = looked and weights[FOLLOWED] > 1.01 / len(weights)
    wrote = at.word if looked else "?"
    found = ORANGE if wrote != words[1] else BLUE
    y = top + row / 2 + 0.33 * size
    parts = [
        box(f"{key} read", (LEFT, top), (RIGHT - LEFT, row), GREY, 0.13),
        box(f"{key} slot", (NEXT - SLOT / 2, top + 1), (SLOT, row - 2), GREY, 0, 2),
        word(
            f"{key} wrote", NEXT, y, wrote, found if looked else INK, size=0.9 * size, weight=HEAVY
        ),
    ]
    if tall and not below:
        parts.append(word("next", NEXT, top - 10, "next word", GREY, size=SMALL))
    for n, (text, x) in enumerate(zip(("start", *words), MIDDLES, strict=True)):
        ink = GREY if n == 0 else BLUE if n == FOLLOWED and chosen else INK
        parts.append(word(f"{key} word {n}", x, y, text, ink, size=size if n else SMALL))
    floor = top + (row + 4 if below else -4)
    for n in sorted(range(len(MIDDLES) if tall else 0), key=FOLLOWED.__eq__):  # it lies in front
        weight = weights[n] if looked else 0.1
        colour, opacity = (BLUE, 1) if n == FOLLOWED and chosen else (GREY, 0.6)
        pull = 30 + (tall / 0.75 - 30) * (last - MIDDLES[n]) / (last - MIDDLES[0])
        look: dict[str, Any] = {"dashes": "1 0" if looked else "1 7", "thickest": THICKEST}
        look |= {"pull": pull, "opacity": opacity / (0.25 + 0.75 * weight), "below": below}
        parts.append(arc(f"{key} look {n}", last, MIDDLES[n], floor, weight, colour, **look))
    return parts


def _curve(apart: Sequence[int], at: int) -> list[Part]:
    """How many pairs differ, from the model's own attention to the dial's place."""
    across = [LEFT + (RIGHT - LEFT) * n / STEPS for n in range(STEPS + 1)]
    ends = [
        (across[min(n, at)], BASE - (BASE - TOP) * apart[min(n, at)] / len(PAIRS))
        for n in range(STEPS + 1)
    ]
    (x, y), middle = ends[-1], (LEFT + RIGHT) / 2
    low = min(y + 25, BASE - 22)
    parts = [
        area("under", [(LEFT, BASE), *ends, (x, BASE)], BLUE, 0.12),
        line("dial", [(LEFT, BASE), (RIGHT, BASE)], GREY, 2),
        line("curve", ends, BLUE, 5),
        dot("end", x, y, 7, BLUE),
        area("knob", [(x, BASE + 4), (x - 8, BASE + 16), (x + 8, BASE + 16)]),
        word("count", x + 16, low, f"{apart[at]}", BLUE, "start", BIG, HEAVY),
        word("of", x + 16, low + 20, f"of {len(PAIRS)}", GREY, "start", SMALL),
    ]
    if at:
        parts.append(word("first", LEFT + 16, TOP + 38, f"{apart[0]}", BLUE, "start", 26, HEAVY))
    if at > STEPS // 2:
        x, y = ends[STEPS // 2]
        parts += [
            dot("half dot", x, y, 5, BLUE),
            word("half", x, TOP + 38, f"{apart[STEPS // 2]}", BLUE, size=26, weight=HEAVY),
        ]
    for key, start, text, anchor in (
        ("what", LEFT + 16, "next word differs", "start"),
        ("own", LEFT, "as trained", "start"),
        ("middle", middle, "half way", "middle"),
        ("equal", RIGHT, "all equal", "end"),
    ):
        low = BASE - 11 if key == "what" else HIGH - 4
        parts.append(word(key, start, low, text, INK, anchor, SMALL))
    return parts
