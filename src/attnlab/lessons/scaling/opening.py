"""Lesson 04 opens with a width that grows, until one weight has swallowed the others."""

from __future__ import annotations

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, WIDE, Part, arc, centred, word
from attnlab.figures.palette import BLUE, ORANGE

WORDS = ("the", "desk", "hears", "one", "book", "only")
READER = 1
WIDTHS = tuple(2**power for power in range(11))
# Chosen among 2,000: at each width its largest weights are near those of a typical reader, and
# from a width of 16 on it is "book" that has the largest.
SEED = 184

HIGH = 268
LINE, ABOVE, BELOW = 142, 122, 150  # of the words; where arcs begin
BOTTOM = HIGH - 4


def opening() -> Film:
    """The film."""
    as_they_are, divided = weights()
    frames = [_frame(*each) for each in zip(WIDTHS, as_they_are, divided, strict=True)]
    return Film("A reader whose questions grow wider", frames, HIGH, telling=6)


def weights() -> tuple[np.ndarray, np.ndarray]:
    """One reader's weights at each width, (11, 6): of raw scores, and of those divided by √d_k."""
    numbers = np.random.default_rng(SEED).standard_normal((1 + len(WORDS), max(WIDTHS)))
    summed = np.cumsum(numbers[0] * numbers[1:], axis=-1).T  # a wider question is a longer one
    raw = summed[np.array(WIDTHS) - 1]
    return _softmax(raw), _softmax(raw / np.sqrt(WIDTHS)[:, None])


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _frame(width: int, raw: np.ndarray, divided: np.ndarray) -> Frame:
    best = int(np.argmax(raw))
    parts = [*_arcs("raw", raw), *_arcs("divided", divided)]
    parts += [
        word(f"word {m}", x, LINE, each, weight=700 if m == READER else 400)
        for m, (x, each) in enumerate(zip(centred(WORDS), WORDS, strict=True))
    ]
    parts += [
        word("raw", 0, 18, "scores as they are", ORANGE, anchor="start", size=SMALL),
        word("divided", 0, BOTTOM, "divided by √d_k", BLUE, anchor="start", size=SMALL),
        word("width", WIDE, 18, f"d_k = {width}", anchor="end", size=24),
    ]
    return Frame(
        parts,
        f"{width} wide: “{WORDS[best]}” gets {raw[best]:.2f}. With scores divided by "
        f"√{width} it gets {divided[best]:.2f}.",
    )


def _arcs(name: str, shares: np.ndarray) -> list[Part]:
    places = centred(WORDS)
    is_below = name == "divided"
    return [
        arc(
            f"{name} {m}",
            places[READER],
            x,
            BELOW if is_below else ABOVE,
            float(share),
            BLUE if is_below else ORANGE,
            below=is_below,
        )
        for m, (x, share) in enumerate(zip(places, shares, strict=True))
    ]
