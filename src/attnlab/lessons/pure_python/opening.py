"""Lesson 02 opens with scores that pile up over words, and what softmax makes of their lead."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, Part, box, curve, line, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE, Colour

# The lesson's: what "cat" asks, and what each word promises.
TOKENS = ("the", "cat", "sat")
QUERY = (1, 2, 0)
KEYS = ((1, 0, 1), (0, 1, 0), (2, 2, 1))
ASKS, BEST = 1, 2  # the word that does; the one that scores most
RAISED = 2  # what each score gets more in the end

HIGH, FLOOR, WORDS = 270, 206.0, 233  # of the sheet; of what stands on it, and the words' line
COLOURS = (PURPLE, ORANGE, BLUE)
APART, LEFT, RIGHT = (64, 240, 416), (28, 92, 156), (300, 374, 448)  # words, alone and in halves
BROAD, WIDE, ASIDE = 52, 40, 28  # bars, alone and in halves; brackets, from a bar's middle
UNIT, WHOLE = 26, 200  # how tall are a score of 1 and all shares
ASKED, HEADS = 22, 262  # lines of the query and of what bars are
LIES, BELOW = 13, 28  # how far over a bar is a key; from a line to the next
PALE = 0.36  # bars of scores
NUMBER, BIG = 24, 34  # sizes of what matters, and of what matters most


def opening() -> Film:
    """The film."""
    scores = [sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS]
    scaled = [score / math.sqrt(len(QUERY)) for score in scores]
    raised = [score + RAISED for score in scaled]
    shares = softmax(scaled)
    lead = f"{scaled[BEST] - scaled[ASKS]:.1f}"
    asks, best = TOKENS[ASKS], TOKENS[BEST]
    tall = [UNIT * score for score in scores]
    guess = _guessed([score / sum(scores) for score in scores])
    frames = [
        Frame(
            [*_words("score", APART), *_asked([0] * len(TOKENS)), *_meets()],
            f"“{asks}” asks: its query meets the key of each word.",
        ),
        Frame(
            [
                *_words("score", APART),
                _head("score", APART),
                *_piled(APART, tall, BROAD),
                *_added(),
                *_asked(tall),
            ],
            "Numbers in the same place are multiplied. "
            "The products pile up to a score; 0 adds nothing.",
        ),
        Frame(
            [*_scored(scores, 0), *guess],
            f"“{best}” scores three times as much as “{asks}”. Guess how their shares compare.",
        ),
        Frame(
            [*_scored(scaled), *_lead(scaled, lead), *guess],
            f"Scores are divided by √{len(QUERY)}, as a key has {len(QUERY)} numbers: "
            f"still three times, now {lead} ahead.",
        ),
        Frame(
            [*_scored(scaled), *_lead(scaled, lead), *_shared(shares)],
            f"No: softmax turns a lead of {lead} into exp({lead}) ≈ {_ratio(shares)[1:]} times "
            "the share.",
        ),
        Frame(
            [*_scored(raised, foot=RAISED), *_lead(raised, lead), *_shared(softmax(raised))],
            f"Add {RAISED} to every score: {_ratio(scores)} falls to {_ratio(raised)}, "
            "yet no share changes. Only leads count.",
        ),
    ]
    return Film("Three times the score: three times the share?", frames, HIGH)


def softmax(scores: Sequence[float]) -> list[float]:
    """Shares of 1."""
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def _ratio(each: Sequence[float]) -> str:
    """How many times the best's is that of the word that asks."""
    return f"×{each[BEST] / each[ASKS]:.2g}"


def _words(key: str, at: Sequence[float]) -> list[Part]:
    """And the floor that they lie under."""
    aside = 64 if at is APART else ASIDE
    ends = (at[0] - aside, FLOOR), (at[-1] + aside, FLOOR)
    return [line(f"floor of {key}", ends, GREY, 1.5)] + [
        word(f"word of {key} {m}", x, WORDS, TOKENS[m], COLOURS[m], size=NUMBER, weight=600)
        for m, x in enumerate(at)
    ]


def _asked(heights: Sequence[float]) -> list[Part]:
    """The query, and keys, which lie on their words' bars."""
    query = word("query", APART[ASKS], ASKED, f"query {QUERY}", ORANGE, size=NUMBER, weight=600)
    return [query] + [
        word(f"key {m}", x, FLOOR - tall - LIES, f"key {KEYS[m]}", COLOURS[m])
        for m, (x, tall) in enumerate(zip(APART, heights, strict=True))
    ]


def _meets() -> list[Part]:
    """From the query to each key."""
    start, low = (APART[ASKS], ASKED + 12), FLOOR - LIES - 24
    return [
        curve(f"meets {m}", start, (x, low), ORANGE, 2.5, 0.7, True) for m, x in enumerate(APART)
    ]


def _piled(
    at: Sequence[float], heights: Sequence[float], wide: float = WIDE, foot: float = 0
) -> list[Part]:
    """Scores; what was added to all is under them."""
    feet = [UNIT * foot] * len(at)
    parts = _bars("foot", at, feet, wide, [GREY] * len(at), 0.4)
    if foot:
        middle = FLOOR - feet[0] / 2 + 7
        parts += [word(f"more {m}", x, middle, f"+{foot}") for m, x in enumerate(at)]
    return [*parts, *_bars("score", at, heights, wide, COLOURS, PALE, feet[0])]


def _added() -> list[Part]:
    """Products, each in its piece of its word's bar."""
    parts = []
    for m, key in enumerate(KEYS):
        low = FLOOR
        for c, (q, k) in enumerate(zip(QUERY, key, strict=True)):
            tall = UNIT * q * k
            if tall and low < FLOOR:
                parts += _cuts(f"seam {m}", APART[m], BROAD, [low])
            if tall:
                y = low - tall / 2 + 6
                parts.append(word(f"product {m} {c}", APART[m], y, f"{q} · {k}", size=SMALL))
            low -= tall
    return parts


def _bars(
    key: str,
    at: Sequence[float],
    heights: Sequence[float],
    wide: float,
    colours: Sequence[Colour],
    filled: float = 1,
    foot: float = 0,
) -> list[Part]:
    """They reach up to a height, from the floor or a foot."""
    return [
        box(f"{key} bar {m}", (x - wide / 2, FLOOR - tall), (wide, tall - foot), colour, filled)
        for m, (x, tall, colour) in enumerate(zip(at, heights, colours, strict=True))
    ]


def _cuts(key: str, x: float, wide: float, ys: Sequence[float]) -> list[Part]:
    """Of a bar into pieces."""
    return [
        line(f"{key} cut {n}", [(x - wide / 2, y), (x + wide / 2, y)], GROUND, 2, cap="butt")
        for n, y in enumerate(ys)
    ]


def _pieces(key: str, x: float, heights: Sequence[float]) -> list[Part]:
    """The best's bar is cut into pieces as tall as the bar of the word that asks."""
    piece = heights[ASKS]
    count = round(heights[BEST] / piece)
    return _cuts(key, x, WIDE, [FLOOR - piece * n for n in range(1, count)])


def _head(key: str, at: Sequence[float]) -> Part:
    """What bars are, under their words."""
    return word(f"{key}s", at[1], HEADS, key, GREY, size=NUMBER)


def _half(
    key: str, at: Sequence[float], heights: Sequence[float], texts: Sequence[str]
) -> list[Part]:
    """What its bars are, their words, and numbers over them."""
    return [_head(key, at), *_words(key, at)] + [
        word(f"{key} {m}", x, FLOOR - tall - 7, text, weight=600)
        for m, (x, tall, text) in enumerate(zip(at, heights, texts, strict=True))
    ]


def _scored(scores: Sequence[float], digits: int = 1, foot: float = 0) -> list[Part]:
    """In the left half."""
    tall = [UNIT * score for score in scores]
    x, top, fallen = LEFT[BEST], tall[BEST], []
    if foot:
        at, y = x + ASIDE + 12, FLOOR - top + 0.62 * NUMBER
        says = _ratio([score - foot for score in scores])
        fallen = [
            word("before", at, y, says, GREY, "start", NUMBER),
            line("struck", [(at, y - 8), (at + 33, y - 8)], GREY, 2.5),
        ]
    return [
        *_half("score", LEFT, tall, [f"{score:.{digits}f}" for score in scores]),
        *_piled(LEFT, tall, foot=foot),
        *([] if foot else _pieces("score", x, tall)),
        *_bracket("score times", x, top, 0, _ratio(scores), GREY, NUMBER, 1, BELOW * bool(foot)),
        *fallen,
    ]


def _lead(scores: Sequence[float], lead: str) -> list[Part]:
    """How far the best's score is over that of the word that asks."""
    top, low = UNIT * scores[BEST], UNIT * scores[ASKS]
    return _bracket("lead", LEFT[BEST], top, low, f"+{lead}", BLUE, BIG)


def _shared(shares: Sequence[float]) -> list[Part]:
    """In the right half."""
    tall, x = [WHOLE * share for share in shares], RIGHT[BEST]
    return [
        *_half("share", RIGHT, tall, [f"{share:.3f}" for share in shares]),
        *_bars("share", RIGHT, tall, WIDE, COLOURS),
        *_pieces("share", x, tall),
        *_times(tall[BEST], _ratio(shares)),
    ]


def _guessed(shares: Sequence[float]) -> list[Part]:
    """In the right half, where bars will grow, if shares went like scores."""
    none, tops = [0.0] * len(shares), [FLOOR - WHOLE * share for share in shares]
    parts = [*_half("share", RIGHT, none, [""] * len(shares))]
    parts += _bars("share", RIGHT, none, WIDE, COLOURS)
    for m, (x, top) in enumerate(zip(RIGHT, tops, strict=True)):
        left, right = x - WIDE / 2, x + WIDE / 2
        sides = [(left, FLOOR), (left, top), (right, top), (right, FLOOR)]
        parts.append(line(f"guess {m}", sides, COLOURS[m], 2, dashes="4 5"))
    return [*parts, *_times(FLOOR - tops[BEST], f"{_ratio(shares)}?")[1:]]


def _times(high: float, says: str) -> list[Part]:
    """How many times the share of the word that asks is the best's."""
    x, y, of = RIGHT[BEST], FLOOR - high + 45, f"of {TOKENS[ASKS]}"
    return [
        *_bracket("share times", x, high, 0, says, BLUE, BIG),
        word("of", x - ASIDE - 12, y, of, COLOURS[ASKS], "end", SMALL),
    ]


def _bracket(
    key: str,
    x: float,
    top: float,
    low: float,
    says: str,
    colour: Colour,
    size: float,
    side: int = -1,
    under: float = 0,
) -> list[Part]:
    """At a bar, between two heights; -1 is at the left of it."""
    x += side * ASIDE
    ends = [
        (x - side * 4, FLOOR - top),
        (x, FLOOR - top),
        (x, FLOOR - low),
        (x - side * 4, FLOOR - low),
    ]
    y, anchor = FLOOR - top + 0.62 * size + under, "end" if side < 0 else "start"
    return [
        line(f"bracket of {key}", ends, colour, 2),
        word(key, x + side * 12, y, says, colour, anchor, size, 700),
    ]
