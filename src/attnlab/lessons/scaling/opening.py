"""Lesson 04 opens with a width that grows: scores spread, until one weight swallows the others."""

from __future__ import annotations

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    LETTER,
    SIZE,
    SMALL,
    WIDE,
    Part,
    arc,
    dot,
    line,
    places,
    word,
)
from attnlab.figures.palette import BLUE, GREY, ORANGE

WORDS = ("the", "desk", "hears", "one", "book", "only")
READER = 1
WIDTHS = tuple(2**power for power in range(7))
# Chosen among 150,000: at each width its largest weights are near those of a typical reader, and
# they are those of "book".
SEED, BEST = 55947, WORDS.index("book")

HIGH = 270
LINE, ABOVE, BELOW = 148, 130, 156  # of the words; where arcs begin
TOP, BOTTOM, LAST = 38, 238, 264  # strips of scores; the last line of words
ZERO, UNIT = 200, 18  # x of a score of 0; px for 1
NAMED = 1.5  # a gap from the second score to the first that has room for its name
PLACES = places(WORDS, left=112)  # of the words


def opening() -> Film:
    """The film."""
    raw = scores()
    told = zip(WIDTHS, raw, raw / _roots(), _told(), strict=True)
    frames = [_frame(*each) for each in told]
    return Film("Why does one weight swallow the others?", frames, HIGH)


def scores() -> np.ndarray:
    """One reader's scores of the six books at each width, (7, 6)."""
    numbers = np.random.default_rng(SEED).standard_normal((1 + len(WORDS), max(WIDTHS)))
    summed = np.cumsum(numbers[0] * numbers[1:], axis=-1).T  # a wider question is a longer one
    return summed[np.array(WIDTHS) - 1]


def weights() -> tuple[np.ndarray, np.ndarray]:
    """Its weights, (7, 6): of raw scores, and of those divided by √d_k."""
    raw = scores()
    return _softmax(raw), _softmax(raw / _roots())


def gaps() -> tuple[np.ndarray, np.ndarray]:
    """How far the largest score is ahead of the second, (7,): as they are, and divided."""
    raw = np.diff(np.sort(scores())[:, -2:])
    return raw[:, 0], (raw / _roots())[:, 0]


def _told() -> list[str]:
    """A sentence on each width."""
    best = WORDS[BEST]
    raw, divided = gaps()
    return [
        f"A query of {WIDTHS[0]} number: the scores lie close, and every word gets a share.",
        f"{WIDTHS[1]} numbers: a score adds up more products, so a wider query spreads the scores.",
        f"{WIDTHS[2]} numbers spread them further. Divided by √{WIDTHS[2]}, they stay together.",
        f"Softmax turns a gap into a landslide: {raw[3]:.1f} ahead, “{best}” gets "
        f"{np.exp(raw[3]):.0f} times the second's share.",
        f"Divided by √{WIDTHS[4]}, the gap is only {divided[4]:.1f}: “{best}” gets "
        f"{np.exp(divided[4]):.1f} times the second's share.",
        f"{WIDTHS[5]} numbers: the orange scores spread still further, the blue ones do not.",
        f"A gap of {raw[6]:.1f} makes {np.exp(raw[6]):.0f} times the share: one weight has "
        f"swallowed the others. Divided by √{WIDTHS[6]}, none has.",
    ]


def _roots() -> np.ndarray:
    return np.sqrt(WIDTHS)[:, None]


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _frame(width: int, raw: np.ndarray, divided: np.ndarray, told: str) -> Frame:
    gets = [f"{_softmax(each)[BEST]:.2f}" for each in (raw, divided)]
    parts = [*_strip("raw", raw), *_strip("divided", divided)]
    parts += [*_arcs("raw", _softmax(raw)), *_arcs("divided", _softmax(divided))]
    parts += [
        word(f"word {m}", x, LINE, each, weight=700 if m == READER else 400)
        for m, (x, each) in enumerate(zip(PLACES, WORDS, strict=True))
    ]
    parts += [
        word("as they are", 0, 20, "raw scores", ORANGE, "start", SMALL, 600),
        word("gets", WIDE, 20, f"{WORDS[BEST]} gets {gets[0]}", ORANGE, "end", SIZE, 700),
        word("root", 0, LAST, f"divided by √{width}", BLUE, "start", SMALL, 600),
        word("is left", WIDE, LAST, f"{WORDS[BEST]} gets {gets[1]}", BLUE, "end", SIZE, 700),
        word("d", 0, LINE + 2, "d", INK, "start", 24, 600),
        word("d's k", 15, LINE + 8, "k", INK, "start", SMALL, 600),
        word("width", 32, LINE + 2, f"= {width}", INK, "start", 24, 600),
    ]
    return Frame([*parts, *_gap(raw)], told)


def _gap(raw: np.ndarray) -> list[Part]:
    """The name of how far the largest score is ahead, where there is room."""
    second, first = sorted(raw)[-2:]
    middle = ZERO + UNIT * (first + second) / 2
    says = word(
        "gap", middle, TOP + 22, f"gap {first - second:.1f}", ORANGE, size=SMALL, weight=600
    )
    return [says] if first - second > NAMED else []


def _strip(name: str, values: np.ndarray) -> list[Part]:
    """A line of numbers, a dot on it for each score, and how far the largest is ahead."""
    y, colour = (TOP, ORANGE) if name == "raw" else (BOTTOM, BLUE)
    spots = [ZERO + UNIT * float(value) for value in values]
    second, first = sorted(spots)[-2:]
    beyond = first + 27 + LETTER * SMALL * len(WORDS[BEST])
    return [
        line(f"{name} line", [(0, y), (first, y)], GREY, 1.5),
        line(f"{name} end", [(min(beyond, WIDE), y), (WIDE, y)], GREY, 1.5, beyond < WIDE - 9),
        line(f"{name} tick", [(ZERO, y - 9), (ZERO, y + 9)], GREY, 1.5),
        word(f"{name} zero", ZERO, y - 14 if name == "raw" else LAST, "0", GREY, size=SMALL),
        line(f"{name} lead", [(second, y), (first, y)], colour, 5),
        *(
            dot(f"{name} dot {m}", x, y, 8 if m == BEST else 5.5, colour, 1 if m == BEST else 0.6)
            for m, x in enumerate(spots)
        ),
        word(f"{name} best", first + 13, y + 6, WORDS[BEST], colour, "start", SMALL, 600),
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
            wide=1.6 * WIDE,
            below=is_below,
        )
        for m, (x, share) in enumerate(zip(PLACES, shares, strict=True))
    ]
