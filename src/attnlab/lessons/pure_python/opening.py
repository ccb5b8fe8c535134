"""Lesson 02 opens with scores that pile up over words, and what softmax makes of their lead."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, Part, box, curve, line, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE, Colour

# The lesson's: what "cat" asks, and what each word promises and passes on.
TOKENS = ("the", "cat", "sat")
QUERY = (1, 2, 0)
KEYS = ((1, 0, 1), (0, 1, 0), (2, 2, 1))
VALUES = ((1, 0), (0, 2), (3, 1))
ASKS, BEST = 1, 2  # the word that does; the one that scores most

HIGH, FLOOR, WORDS = 268, 232.0, 259  # of the sheet; of what stands on it, and the words' line
COLOURS = (PURPLE, ORANGE, BLUE)
APART, NEAR, GLASS = (90, 240, 390), (56, 172, 288), 408  # words, alone and beside the glass
WIDE, ASIDE, EDGE = 40, 23, 5  # a bar; two bars of a word, from its middle; around the glass
ONE = 18  # how tall are both bars of the word that asks: the best's are compared with them
ASKING, SHARE, SCORE = 44, 72, 148  # lines of what is written over the words
PALE = 0.36  # bars of scores
NUMBER, BIG = 24, 38  # sizes of what matters, and of what matters most


def opening() -> Film:
    """The film."""
    scores = [sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS]
    scaled = [score / math.sqrt(len(QUERY)) for score in scores]
    shares = weights(scores)
    lead, times = f"{scaled[BEST] - scaled[ASKS]:.1f}", f"{shares[BEST] / shares[ASKS]:.0f}"
    unit = ONE / scaled[ASKS]
    tall, low = ([unit * score for score in each] for each in (scores, scaled))
    asks, best = TOKENS[ASKS], TOKENS[BEST]
    more = f"score ×{scores[BEST] / scores[ASKS]:.0f}"

    def scored(heights: Sequence[float], texts: Sequence[str]) -> list[Part]:
        return [
            *_words(APART),
            *_bars("score", APART, heights, PALE),
            *_numbers("score", APART, heights, texts),
            *_bars("share", APART, heights, opacity=0),
            _called("more", APART[BEST] - 30, SCORE, more, GREY, NUMBER),
            _called("times", APART[BEST] - 30, SHARE, "share ×?", BLUE, BIG),
        ]

    def shared(at: Sequence[float], poured: bool) -> list[Part]:
        high = [ONE / shares[ASKS] * share for share in shares]
        left, right = ([x + aside for x in at] for aside in (-ASIDE, ASIDE))
        return [
            *_given(right, high, poured),
            *_words(at),
            *_bars("score", left, low, PALE),
            *_bars("share", right, high),
            *_numbers("share", right, high, [f"{share:.3f}" for share in shares]),
            *_lead(left, low, lead, over=True),
            _called("more", left[BEST] - 36, FLOOR - low[BEST] - 7, more, GREY, NUMBER),
            _called("times", at[BEST] - 30, SHARE, f"share ×{times}", BLUE, BIG),
        ]

    frames = [
        Frame(
            [*_words(APART), *_asked([0] * len(TOKENS))],
            f"“{asks}” asks: its query meets the key of each word.",
        ),
        Frame(
            [*_words(APART), *_bars("score", APART, tall, PALE), *_asked(tall), *_added(unit)],
            "Numbers in the same place are multiplied, and the products pile up to a score.",
        ),
        Frame(
            scored(tall, [f"{score}" for score in scores]),
            f"“{best}” scores three times as much as “{asks}”. Guess how their shares compare.",
        ),
        Frame(
            [*scored(low, [f"{score:.1f}" for score in scaled]), *_lead(APART, low, lead)],
            f"Scores are divided by √{len(QUERY)}, as a key has {len(QUERY)} numbers: "
            f"still three times, now {lead} ahead.",
        ),
        Frame(
            shared(APART, poured=False),
            f"No: softmax turns a lead of {lead} into exp({lead}) ≈ {times} times the share.",
        ),
        Frame(
            shared(NEAR, poured=True),
            f"A lead of {lead} makes {times} times the share: "
            f"“{asks}” takes most of its answer from “{best}”.",
        ),
    ]
    return Film("Three times the score: three times the share?", frames, HIGH)


def weights(scores: Sequence[float]) -> list[float]:
    """(3,), softmax of the scores divided by √3."""
    powers = [math.exp(score / math.sqrt(len(QUERY))) for score in scores]
    return [power / sum(powers) for power in powers]


def _words(at: Sequence[float]) -> list[Part]:
    """And the floor that they lie under."""
    ends = (at[0] - 2 * ASIDE, FLOOR), (at[-1] + 2 * ASIDE, FLOOR)
    return [line("floor", ends, GREY, 1.5)] + [
        word(f"word {m}", x, WORDS, TOKENS[m], COLOURS[m], size=NUMBER, weight=600)
        for m, x in enumerate(at)
    ]


def _asked(heights: Sequence[float]) -> list[Part]:
    """The query, and a line from it to each key, which lies on its word's bar."""
    at = APART[ASKS]
    parts = [word("query", at, ASKING, f"query {QUERY}", ORANGE, size=NUMBER, weight=600)]
    for m, (x, tall) in enumerate(zip(APART, heights, strict=True)):
        y = FLOOR - tall - 13
        parts += [
            curve(f"meets {m}", (at, ASKING + 12), (x, y - 24), ORANGE, 2.5, 0.7, True),
            word(f"key {m}", x, y, f"key {KEYS[m]}", COLOURS[m]),
        ]
    return parts


def _added(unit: float) -> list[Part]:
    """Products, beside what each adds to its word's bar."""
    parts = []
    for m, key in enumerate(KEYS):
        low = FLOOR
        for c, (q, k) in enumerate(zip(QUERY, key, strict=True)):
            x, y = APART[m] + WIDE / 2 + 8, min(low - unit * q * k / 2 + 5, FLOOR - 8)
            low -= unit * q * k
            if q * k:
                parts.append(word(f"product {m} {c}", x, y, f"{q} · {k}", GREY, "start", SMALL))
    return parts


def _bars(
    key: str,
    at: Sequence[float],
    heights: Sequence[float],
    filled: float = 1,
    opacity: float = 1,
) -> list[Part]:
    """The best's is cut into pieces as tall as the bar of the word that asks."""
    bars = [
        box(
            f"{key} bar {m}",
            (x - WIDE / 2, FLOOR - tall),
            (WIDE, tall),
            COLOURS[m],
            filled,
            0,
            opacity,
        )
        for m, (x, tall) in enumerate(zip(at, heights, strict=True))
    ]
    left, piece = at[BEST] - WIDE / 2, heights[ASKS]
    cuts = [FLOOR - piece * n for n in range(1, round(heights[BEST] / piece))]
    return bars + [
        line(f"{key} cut {n}", [(left, y), (left + WIDE, y)], GROUND, 2, cap="butt")
        for n, y in enumerate(cuts)
    ]


def _numbers(
    key: str, at: Sequence[float], heights: Sequence[float], texts: Sequence[str]
) -> list[Part]:
    """Over bars."""
    return [
        word(f"{key} {m}", x, FLOOR - tall - 7, text, weight=600)
        for m, (x, tall, text) in enumerate(zip(at, heights, texts, strict=True))
    ]


def _called(key: str, right: float, y: float, says: str, colour: Colour, size: float) -> Part:
    """What the best's bar is."""
    return word(key, right, y, says, colour, "end", size, 700)


def _lead(
    at: Sequence[float], heights: Sequence[float], lead: str, over: bool = False
) -> list[Part]:
    """How far the best's bar is over that of the word that asks."""
    x, top, low = at[BEST] - WIDE / 2 - 8, FLOOR - heights[BEST], FLOOR - heights[ASKS]
    ends = [(x + 4, top), (x, top), (x, low), (x + 4, low)]
    middle, y = (at[BEST] - 3, top - 7) if over else (x - 30, (top + low) / 2 + 7)
    return [
        line("leads", ends, BLUE, 2),
        word("lead" if over else "lead beside", middle, y, f"+{lead}", BLUE, weight=600),
    ]


def _given(at: Sequence[float], heights: Sequence[float], poured: bool) -> list[Part]:
    """What each word gives: behind its share, or in a glass that is as tall as all shares."""
    parts, low = [], FLOOR
    for m, tall in enumerate(heights):
        x, foot = (GLASS, low) if poured else (at[m], FLOOR)
        corner, size = (x - WIDE / 2, foot - tall), (WIDE, tall)
        parts.append(box(f"given {m}", corner, size, COLOURS[m], opacity=poured))
        low -= tall
    if not poured:
        return parts
    left, right = (GLASS + side * (WIDE / 2 + EDGE) for side in (-1, 1))
    sides = [(left, low), (left, FLOOR + EDGE), (right, FLOOR + EDGE), (right, low)]
    answer = word("answer", GLASS, WORDS, f"{TOKENS[ASKS]}'s answer", ORANGE, size=SMALL)
    return [*parts, line("glass", sides, ORANGE, 3), answer]
