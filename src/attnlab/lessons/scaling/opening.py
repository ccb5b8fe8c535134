"""Lesson 04 opens with a width that grows: scores spread, until one weight swallows the others."""

from __future__ import annotations

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, WIDE, Part, arc, dot, line, places, word
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
ZERO, UNIT = 168, 12.5  # x of a score of 0; px for 1
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
    best, last = WORDS[BEST], WIDTHS[-1]
    raw, divided = leads()
    over = 10 * int(np.exp(raw) / 10)
    return [
        f"{WIDTHS[0]} number in a query: scores lie close, and every word gets a share.",
        f"{WIDTHS[1]} numbers: more products add up, and scores spread twice as far.",
        f"{WIDTHS[2]} numbers, 4 times as many: twice as far again. So divide by the root.",
        f"{last}: about twice as far again. Divided by √{last}, scores stay together.",
        f"Softmax turns the lead of {raw:.1f} into over {over} times the second's share.",
        f"Divided, the lead is {divided:.1f}: “{best}” gets {np.exp(divided):.1f} times the "
        "second's share.",
    ]


def _roots() -> np.ndarray:
    return np.sqrt(WIDTHS)[:, None]


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _frame(width: int, raw: np.ndarray, divided: np.ndarray, lead: bool, told: str) -> Frame:
    gets = [f"{_softmax(each)[BEST]:.2f}" for each in (raw, divided)]
    parts = [*_strip("raw", raw, lead), *_strip("divided", divided, lead)]
    parts += [*_arcs("raw", _softmax(raw)), *_arcs("divided", _softmax(divided))]
    parts += [
        word(f"word {m}", x, LINE, each, weight=700 if m == READER else 400)
        for m, (x, each) in enumerate(zip(PLACES, WORDS, strict=True))
    ]
    parts += [
        word("as they are", 0, HEAD, "raw scores", ORANGE, "start", SMALL, 600),
        word("gets", WIDE, HEAD, f"{WORDS[BEST]} gets {gets[0]}", ORANGE, "end", SIZE, 700),
        word("root", 0, LAST, f"divided by √{width}", BLUE, "start", SMALL, 600),
        word("is left", WIDE, LAST, f"{WORDS[BEST]} gets {gets[1]}", BLUE, "end", SIZE, 700),
        word("d", 0, LINE + 2, "d", INK, "start", 24, 600),
        word("d's k", 15, LINE + 8, "k", INK, "start", SMALL, 600),
        word("width", 32, LINE + 2, f"= {width}", INK, "start", 24, 600),
    ]
    return Frame(parts, told)


def _strip(name: str, values: np.ndarray, lead: bool) -> list[Part]:
    """A line of numbers, a dot on it for each score, and a bracket over all, or over the lead."""
    y, inward, colour = (TOP, 1, ORANGE) if name == "raw" else (BOTTOM, -1, BLUE)
    spots = [ZERO + UNIT * float(value) for value in values]
    second, first = sorted(spots)[-2:]
    left = second if lead else min(spots)
    ends, low = (y + 11 * inward, y + 16 * inward), y + (36 if inward > 0 else -22)
    says = f"{'lead' if lead else 'spread'} {(first - left) / UNIT:.1f}"
    bracket = [(left, ends[0]), (left, ends[1]), (first, ends[1]), (first, ends[0])]
    return [
        line(f"{name} line", [(0, y), (WIDE, y)], GREY, 1.5),
        *(
            dot(f"{name} dot {m}", x, y, 8 if m == BEST else 6, colour, edge=GROUND)
            for m, x in enumerate(spots)
        ),
        line(f"{name} bracket", bracket, colour, 3 if lead else 2),
        word(f"{name} far", (left + first) / 2, low, says, colour, size=SMALL, weight=600),
        word(
            f"{name} best",
            first,
            y + (-13 if inward > 0 else 24),
            WORDS[BEST],
            colour,
            size=SMALL,
            weight=600,
        ),
    ]


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
            wide=2 * WIDE,
            below=is_below,
        )
        for m, (x, share) in enumerate(zip(PLACES, shares, strict=True))
    ]
