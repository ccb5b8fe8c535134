"""Lesson 14 opens with one dial: how much of the model's own weights is replaced by equal ones.

It first copies what stands after the same word, whichever stands there; the dial takes that away.
A slice of a mix is as wide as its word's weight, the mean of the last layer's heads; the number
says in how many pairs of texts, in which two words have traded places, the next words differ. At
the lesson's end `opening` is called with the learner's own function and text: that film is in
`yours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from operator import ne

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

STOPS = 0, 1 / 2, 3 / 4, 1  # of the dial, from no equal weights to nothing else

HIGH, LEFT, COLUMN = 270, 40, 52  # of the sheet; where words begin, and the room of each
RIGHT = LEFT + COLUMN * (len(TEXT) + 1)
NEXT, ROW, GAP, BENDS = RIGHT + 18, 30, 4, 16  # next words; words' height; mixes apart; of a side
ALONE, BOTH = (240, 190, 36), (108, 83, 30)  # middle between mixes; to words; a mix's height
DIAL, FLOOR = 239, 263  # y of the dial, and of the words under it
SIZE, LARGE, LARGEST, HUGE, HEAVY = 22, 28, 36, 42, 700  # of words; weight


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    both = [[step(mixed(stop), each) for each in (TEXT, TRADED)] for stop in STOPS]
    (own, traded), *_, (equal, _) = both
    (_, one, other, _, bird), counts = TEXT, [*map(_apart, STOPS)]
    told = (
        f"“{bird}” came before, and comes again. A small language model mixes in some of each word "
        "so far.",
        f"On average its last layer’s heads mix in mostly “{one}”, which followed “{bird}”. "
        f"It writes “{own.word}”.",
        f"“{other}” and “{one}” trade places, and “{traded.word}” is written. "
        f"Of {len(OTHERS)} such words, all {counts[0]} pairs are told apart.",
        f"In all heads and layers attention goes half of the way to equal: {counts[1]} pairs are "
        "still told apart.",
        f"Three quarters of the way: both mixes are nearly alike. {counts[2]} pairs are still told "
        "apart.",
        f"All equal: equal shares of the same words, which still differ by place. “{equal.word}” "
        f"follows both. {counts[3]} of {len(PAIRS)} pairs stay apart.",
    )
    sheets = [_poured(TEXT, own, ALONE, known=False), _poured(TEXT, own, ALONE)]
    for stop, count, (at, to) in zip(STOPS, counts, both, strict=True):
        sheet = [*_poured(TEXT, at, BOTH), *_poured(TRADED, to, BOTH, 1), *_dial(stop, count)]
        sheets.append(_joined(sheet) if at.word == to.word else sheet)
    frames = [Frame(*each) for each in zip(sheets, told, strict=True)]
    return Film("Equal attention hardly tells two orders apart", frames, HIGH)


def _apart(stop: float) -> int:
    """After how many pairs the two next words differ, at a place of the dial."""
    return sum(map(ne, *(after(mixed(stop), each) for each in zip(*PAIRS, strict=True))))


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
            word("name", LEFT - 8, floor, "mix", GREY, "end", SMALL),
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


def _dial(stop: float, count: int) -> list[Part]:
    """How far attention has gone from the model's own to equal, and how many pairs differ."""
    x = LEFT + (RIGHT - LEFT) * stop
    return [
        line("dial", [(LEFT, DIAL), (RIGHT, DIAL)], GREY, 3),
        line("gone", [(LEFT, DIAL), (x, DIAL)], ORANGE, 5),
        dot("knob", x, DIAL, 9, ORANGE, edge=GROUND),
        word("own", LEFT, FLOOR, "attention as trained", GREY, "start", SMALL),
        word("equal", RIGHT, FLOOR, "equal", GREY, "end", SMALL),
        word("what", NEXT, DIAL - 40, "told apart", GREY, "start", SMALL),
        word("count", NEXT, DIAL, f"{count}", ORANGE, "start", HUGE, HEAVY),
        word("of", NEXT, FLOOR, f"of {len(PAIRS)} pairs", GREY, "start", SMALL),
    ]
