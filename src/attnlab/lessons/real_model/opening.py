"""Lesson 14 opens with what is lost if equal weights replace more and more of the model's own.

It first copies what stands after the same word, whichever stands there; late, that is gone.
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
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE
from attnlab.lessons.real_model import yours
from attnlab.lessons.real_model.writing import Backend, Step, after, mixed, step
from attnlab.small.grammar import SINGULAR

TEXT = "bird", "boy", "king", ";", "bird"
TRADED = "bird", "king", "boy", ";", "bird"
HUES = {"boy": BLUE, "king": GREEN}  # of words that trade places; others are grey
OTHERS = [each for each in SINGULAR if each != "bird"]
PAIRS = [
    [("bird", *two, ";", "bird") for two in ((a, b), (b, a))] for a, b in combinations(OTHERS, 2)
]

STEPS = 32  # from no equal weights to nothing else
STOPS = 0, 16, 24, 32

HIGH, LEFT, COLUMN = 270, 38, 52  # of the sheet; where words begin, and the room of each
RIGHT = LEFT + COLUMN * (len(TEXT) + 1)
NEXT, ROW, GAP, BENDS = RIGHT + 22, 30, 4, 16  # next words; words' height; mixes apart; of a side
ALONE, BOTH = (240, 190, 36), (96, 71, 30)  # middle between mixes; to words; a mix's height
TOP, BASE, FLOOR = 207, 243, 264  # of the curve, at whose base no pair differs; of words under it
SIZE, LARGE, LARGEST, HUGE, HEAVY = 22, 28, 36, 42, 700  # of words; weight


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    both = [[step(mixed(stop / STEPS), each) for each in (TEXT, TRADED)] for stop in STOPS]
    (own, traded), *_, (equal, _) = both
    (_, one, other, _, bird), apart = TEXT, _apart()
    counts = [apart[stop] for stop in STOPS]
    told = (
        f"“{bird}” came before, and comes again. A small language model mixes in some of each word "
        "so far.",
        f"On average its last layer’s heads mix in mostly “{one}”, which followed “{bird}”. "
        f"It writes “{own.word}”.",
        f"“{other}” and “{one}” trade places, and “{traded.word}” is written. "
        f"Any two of {len(OTHERS)} such words change the next word: {counts[0]} pairs.",
        "Attention goes towards equal, in all heads and layers. "
        f"In {counts[1]} pairs the next words still differ.",
        f"Further, both mixes come closer. In {counts[2]} pairs the next words still differ.",
        f"All equal: “{equal.word}” follows both orders. The last quarter of the way takes "
        f"{counts[2] - counts[3]} pairs, and leaves {counts[3]}.",
    )
    sheets = [_poured(TEXT, own, ALONE, known=False), _poured(TEXT, own, ALONE)]
    for stop, (at, to) in zip(STOPS, both, strict=True):
        sheet = [*_poured(TEXT, at, BOTH), *_poured(TRADED, to, BOTH, 1), *_curve(apart, stop)]
        sheets.append(_joined(sheet) if at.word == to.word else sheet)
    frames = [Frame(*each) for each in zip(sheets, told, strict=True)]
    return Film("Equal attention hardly tells two orders apart", frames, HIGH)


def _apart() -> list[int]:
    """After how many pairs the two next words differ, step by step."""
    shares = torch.linspace(0, 1, STEPS + 1).repeat_interleave(len(PAIRS))[:, None, None, None]
    wrote = [after(mixed(shares), each * (STEPS + 1)) for each in zip(*PAIRS, strict=True)]
    return torch.tensor([*map(ne, *wrote)]).view(STEPS + 1, -1).sum(dim=1).tolist()


def _poured(
    words: Sequence[str], at: Step, stage: tuple[float, ...], way: int = -1, known: bool = True
) -> list[Part]:
    """A text over the middle, or under it, and its mix, sliced in the first text's order."""
    middle, far, high = stage
    key, weights = "".join(words[1:3]), at.heads.mean(dim=0).tolist()
    near, rim = (middle + way * each for each in (GAP / 2, GAP / 2 + high))
    top, base = min(near, rim), (near + rim) / 2 + 10
    wrote = at.word if known else "?"
    parts = [
        box(f"{key} mix", (LEFT, top), (RIGHT - LEFT, high), GREY, 0 if known else 0.13),
        word(f"{key} wrote", NEXT, base, wrote, HUES.get(wrote, INK), "start", LARGE, HEAVY),
    ]
    if known:
        corner = LEFT, min(middle + way * far, rim)
        size = RIGHT - LEFT, far - GAP / 2 - high
        parts.append(box(f"{key} all", corner, size, GREY, 0.14))
    if way < 0:
        floor = base - 3 if stage == ALONE else middle + 7
        parts += [
            word("next", NEXT, rim - 14, "next word", GREY, "start", SMALL),
            word("name", LEFT - 6, floor, "mix", GREY, "end", SMALL),
        ]
    left = float(LEFT)
    for n in (0, *(1 + words.index(each) for each in TEXT[:-1]), len(TEXT)):
        text, x, wide = ("start", *words)[n], LEFT + COLUMN * (n + 0.5), RIGHT - LEFT
        hue, wide = HUES.get(text, GREY), wide * weights[n]
        hued, tall = text in HUES, SIZE if n else SMALL
        ink, heavy = (hue if hued or not n else INK), (HEAVY if hued else 400)
        floor = middle + way * (far + ROW / 2) + 8
        parts.append(word(f"{key} word {n}", x, floor, text, ink, size=tall, weight=heavy))
        if known:
            trim, narrow, bright = 2 * hued, max(wide - 2, 0.5), 1 if hued else 0.5
            mouth = x, middle + way * far, COLUMN - trim
            slot = left + wide / 2, rim, max(wide - trim, 0.5)
            look = (hue, 0.35) if hued else ("none", 1, GROUND)
            parts += [
                area(f"{key} pours {n}", _ribbon(mouth, slot), *look),
                box(f"{key} slice {n}", (slot[0] - narrow / 2, top), (narrow, high), hue, bright),
            ]
        else:
            ends = (x, middle + way * far + 6), (x, rim - 6)
            parts.append(line(f"asks {n}", ends, GREY, 3, dashes="1 9"))
        left += wide
    return parts


def _joined(sheet: Sequence[Part]) -> list[Part]:
    """One next word for both mixes, between them."""
    (middle, _, high), (left, right) = BOTH, (RIGHT + 5, RIGHT + 10)
    top, low = (middle + way * (GAP / 2 + high) for way in (-1, 1))
    key, gone = (f"{''.join(words[1:3])} wrote" for words in (TEXT, TRADED))
    moved = {"y": middle + 12, "font-size": LARGEST}
    return [
        *(each for each in sheet if each.key not in (key, gone)),
        *(each._replace(look={**each.look, **moved}) for each in sheet if each.key == key),
        line("both", [(left, top), (right, top), (right, low), (left, low)], GREY, 3),
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
    """How many pairs differ, from the model's own attention to a step."""
    ends = [
        (LEFT + (RIGHT - LEFT) * n / STEPS, BASE - (BASE - TOP) * apart[n] / len(PAIRS))
        for n in (min(n, to) for n in range(STEPS + 1))
    ]
    (x, y), ink = ends[-1], (GREY, "start", SMALL)
    return [
        area("under", [(LEFT, BASE), *ends, (x, BASE)], ORANGE, 0.15),
        line("axis", [(LEFT, BASE), (RIGHT, BASE)], GREY, 2),
        line("curve", ends, ORANGE, 4),
        dot("now", x, y, 7, ORANGE, edge=GROUND),
        word("own", LEFT, FLOOR, "attention as trained", *ink),
        word("equal", RIGHT, FLOOR, "equal", GREY, "end", SMALL),
        word("next words", NEXT, 148, "next words", *ink),
        word("differ", NEXT, 169, "differ in", *ink),
        word("count", NEXT, 211, f"{apart[to]}", ORANGE, "start", HUGE, HEAVY),
        word("of", NEXT, 236, f"of {len(PAIRS)} pairs", *ink),
    ]
