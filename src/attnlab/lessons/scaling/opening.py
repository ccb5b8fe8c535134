"""Lesson 04 opens with a width that grows: scores spread, until one weight swallows the others."""

from __future__ import annotations

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, arc, dot, line, places, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE

WORDS = ("the", "desk", "hears", "one", "book", "only")
READER = 1
WIDTHS = (1, 4, 16, 64)
# Searched for: its scores spread about twice as far at each step, as those of many readers do
# together and hardly one's do; "book" leads at every width, with weights near a typical reader's.
SEED, BEST = 28534, WORDS.index("book")

HIGH = 270
LINE, ABOVE, BELOW = 148, 130, 156  # of the words; where arcs begin
TOP, BOTTOM, HEAD, LAST = 34, 242, 16, 266  # strips of scores; the first and last line of words
ZERO, UNIT = 158, 17.5  # x of a score of 0; px for 1
TICKS = range(-5, 20, 5)  # of which those from 0 on have a number
FAINT = 0.55  # dots, so that each is seen among others
REACH = 2.5 * WIDE  # what arcs are as flat as those of
PLACES = places(WORDS, left=112)  # of the words


def opening() -> Film:
    """The film."""
    raw = scores()
    divided = raw / _roots()
    told = zip((0, 1, 2, 3, 3, 3), (False,) * 4 + (True,) * 2, _told(), strict=True)
    frames = [_frame(WIDTHS[n], raw[n], divided[n], lead, says) for n, lead, says in told]
    return Film("Why does one weight swallow the others?", frames, HIGH)


def scores() -> np.ndarray:
    """One reader's scores of the six books at each width, (4, 6)."""
    numbers = np.random.default_rng(SEED).standard_normal((1 + len(WORDS), max(WIDTHS)))
    summed = np.cumsum(numbers[0] * numbers[1:], axis=-1).T  # a wider question is a longer one
    return summed[np.array(WIDTHS) - 1]


def weights() -> tuple[np.ndarray, np.ndarray]:
    """Its weights, (4, 6): of raw scores, and of those divided by √d_k."""
    raw = scores()
    return _softmax(raw), _softmax(raw / _roots())


def leads() -> tuple[float, float]:
    """How far the largest score is ahead of the second at the last width: as it is, and divided."""
    second, first = np.sort(scores()[-1])[-2:]
    return float(first - second), float(first - second) / WIDTHS[-1] ** 0.5


def _told() -> list[str]:
    """A sentence on each frame."""
    best, second, last = WORDS[BEST], WORDS[_second(scores()[-1])], WIDTHS[-1]
    raw, divided = leads()
    over = 10 * int(np.exp(raw) / 10)
    return [
        f"{WIDTHS[0]} random number per query and key: scores lie close, all get a share.",
        f"{WIDTHS[1]} random numbers: more products add up, on average to twice the spread.",
        f"{WIDTHS[2]}, 4 times as many: twice the spread again. So divide by the root.",
        f"{last}: about twice the spread again. Divided by √{last}, scores stay together.",
        f"Softmax turns the lead of {raw:.1f} into over {over} times the share of “{second}”.",
        f"Divided, the lead is {divided:.1f}: “{best}” gets {np.exp(divided):.1f} times the share "
        f"of “{second}”.",
    ]


def _roots() -> np.ndarray:
    return np.sqrt(WIDTHS)[:, None]


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _second(scores: np.ndarray) -> int:
    """Which word has the second largest score."""
    return int(scores.argsort()[-2])


def _frame(width: int, raw: np.ndarray, divided: np.ndarray, lead: bool, told: str) -> Frame:
    parts = [
        *_strip("raw", "raw scores", raw, lead),
        *_strip("divided", f"divided by √{width}", divided, lead),
    ]
    parts += [*_arcs("raw", _softmax(raw)), *_arcs("divided", _softmax(divided))]
    parts += [
        word(f"word {m}", x, LINE, each, weight=700 if m == READER else 400)
        for m, (x, each) in enumerate(zip(PLACES, WORDS, strict=True))
    ]
    parts += [
        word("d", 0, LINE + 2, "d", INK, "start", 24, 600),
        word("d's k", 15, LINE + 8, "k", INK, "start", SMALL, 600),
        word("width", 32, LINE + 2, f"= {width}", INK, "start", 24, 600),
    ]
    return Frame(parts, told)


def _strip(name: str, title: str, values: np.ndarray, lead: bool) -> list[Part]:
    """A line of numbers, a dot on it for each score, and a bracket over all, or over the lead.

    Beside it, what scores they are and how far the bracket reaches; at the largest, what it gets.
    """
    y, inward, colour = (TOP, 1, ORANGE) if name == "raw" else (BOTTOM, -1, BLUE)
    outer, inner = (HEAD, y + 37) if name == "raw" else (LAST, y - 22)
    spots = [_at(float(value)) for value in values]
    runner = _second(values)
    first, left = spots[BEST], spots[runner] if lead else min(spots)
    says = f"{'lead' if lead else 'spread'} {(first - left) / UNIT:.1f}"
    ends = (y + 11 * inward, y + 16 * inward)
    bracket = [(left, ends[0]), (left, ends[1]), (first, ends[1]), (first, ends[0])]
    gets = f"{WORDS[BEST]} gets {_softmax(values)[BEST]:.2f}"
    right = min(spots[runner] + 16, first - 14)
    second = word(f"{name} second", right, outer, WORDS[runner], colour, "end", SMALL)
    return [
        *_axis(name, y, inner),
        *(
            dot(f"{name} dot {m}", x, y, 4.5, colour, 1 if lead and m == runner else FAINT)
            for m, x in enumerate(spots)
            if m != BEST
        ),
        dot(f"{name} dot {BEST}", first, y, 8, colour, edge=GROUND),
        line(f"{name} bracket", bracket, colour, 3 if lead else 2),
        word(f"{name} title", 0, min(outer, inner), title, colour, "start", SMALL, 600),
        word(f"{name} far", 0, max(outer, inner), says, colour, "start", SMALL, 600),
        word(f"{name} best", first - 8, outer, gets, colour, "start", SMALL, 700),
        *([second] if lead else []),
    ]


def _at(score: float) -> float:
    return ZERO + UNIT * score


def _axis(name: str, y: float, below: float) -> list[Part]:
    parts = [line(f"{name} line", [(0, y), (WIDE, y)], GREY, 1.5)]
    for score in TICKS:
        x = _at(score)
        parts.append(line(f"{name} tick {score}", [(x, y - 5), (x, y + 5)], GREY, 1.5))
        if score >= 0:
            parts.append(word(f"{name} at {score}", x, below, f"{score}", GREY, size=SMALL))
    return parts


def _arcs(name: str, shares: np.ndarray) -> list[Part]:
    is_below = name == "divided"
    return [
        arc(
            f"{name} {m}",
            PLACES[READER],
            x,
            BELOW if is_below else ABOVE,
            float(share),
            BLUE if is_below else ORANGE,
            wide=REACH,
            below=is_below,
        )
        for m, (x, share) in enumerate(zip(PLACES, shares, strict=True))
    ]
