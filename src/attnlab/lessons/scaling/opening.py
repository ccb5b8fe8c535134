"""Lesson 04 opens with scores that walk: each product is a step, and one of six walks takes all."""

from __future__ import annotations

from functools import cache

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    SIZE,
    SMALL,
    Part,
    area,
    box,
    curve,
    line,
    word,
)
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

WORDS = ("the", "desk", "hears", "one", "book", "only")
READER, BEST = WORDS.index("desk"), WORDS.index("book")
WIDTHS = (1, 4, 16, 64)
SEED, DRAWS = 4, 1001  # of which the film shows the one that is most like all

HIGH, LOW = 270, 232  # of the sheet; the line that counts products
LEFT, RIGHT = 12, 236  # where walks begin and end
ZERO, UNIT = 116, 8  # y of a score of 0; px for 1
ROW, PITCH = 26, 36  # middle of the first word's row; from one to the next
NAME, BAR = 286, 348  # where words and bars begin
LONG, THICK = 84, 18  # of the bar of share 1
EDGE = 48  # points on an edge of the envelope


def opening() -> Film:
    """The film."""
    shares = [_softmax(walks()[:, width]) for width in WIDTHS]
    even = _softmax(walks()[:, -1] / WIDTHS[-1] ** 0.5)
    steps = [
        (1, "Each product is a step, up or down. After one, “desk” hears all six."),
        (4, "4 products: up and down partly cancel. Most end within ±√4 = ±2."),
        (16, "Four times the products, about twice the spread: most end within ±4."),
        (64, "Four times again, about twice the spread: most end within ±8."),
    ]
    frames = [_frame(d, share, told) for (d, told), share in zip(steps, shares, strict=True)]
    takes = f"Softmax: “book” takes {shares[-1][BEST]:.2f}, hardly anything is left for the others."
    heard = "÷ √64: walks end about as close as after one product. All are heard."
    frames += [
        _frame(WIDTHS[-1], shares[-1], takes, alone=True),
        _frame(WIDTHS[-1], even, heard, divided=True),
    ]
    return Film("Why does one word swallow the others?", frames, HIGH)


@cache
def walks() -> np.ndarray:
    """What each word's score is after so many products, (6, 65).

    Of many draws, the one whose spread and largest share are nearest, at all widths together, to
    what they are as a rule.
    """
    drawn = draws(SEED)
    scores = drawn[:, :, list(WIDTHS)].swapaxes(1, 2)
    roots = np.sqrt(WIDTHS)
    spread = np.sqrt((scores**2).mean(axis=-1)) / roots
    divided = scores[:, -1:] / roots[-1]
    largest = _softmax(np.concatenate([scores, divided], axis=1)).max(axis=-1)
    off = abs(largest - np.median(largest, axis=0)).sum(axis=-1) + abs(spread - 1).sum(axis=-1)
    typical = drawn[off.argmin()]
    best = int(typical[:, -1].argmax())
    typical[[BEST, best]] = typical[[best, BEST]]
    return typical


def draws(seed: int) -> np.ndarray:
    """Sums of products that are 1 or −1, after each of them, (1001, 6, 65)."""
    steps = np.random.default_rng(seed).choice((-1.0, 1.0), (DRAWS, len(WORDS), WIDTHS[-1]))
    return np.concatenate([np.zeros((DRAWS, len(WORDS), 1)), steps.cumsum(axis=-1)], axis=-1)


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _frame(
    width: int, shares: np.ndarray, told: str, alone: bool = False, divided: bool = False
) -> Frame:
    """The walks of so many products, and what softmax makes of their ends.

    Args:
        width: how many products.
        shares: of the words.
        told: the sentence.
        alone: all but one word are faint.
        divided: scores are, by √width.
    """
    unit = UNIT / width**0.5 if divided else UNIT
    parts = [*_envelope(width, unit), *_axis(width, divided)]
    order = [m for m in range(len(WORDS)) if m != BEST] + [BEST]  # it lies on the others
    rows = walks()[:, -1].argsort(kind="stable")[::-1].tolist()
    for m in order:
        faint = 0.3 if alone and m != BEST else 1
        parts += _walk(m, width, unit, faint)
        parts += _share(m, width, unit, rows.index(m), float(shares[m]), faint)
    if alone or divided:
        x, y = BAR + LONG * float(shares[BEST]) + 5, ROW + SMALL / 3
        says = f"{shares[BEST]:.2f}"
        parts.append(word("takes", x, y, says, ORANGE, "start", SMALL, 700))
    return Frame(parts, told)


def _x(product: float, width: int) -> float:
    """Where a walk is after so many products; it stays at its end."""
    return LEFT + (RIGHT - LEFT) * min(product / width, 1)


def _envelope(width: int, unit: float) -> list[Part]:
    """All that is within ±√n after n products, and how far that is at the end; and as it was."""
    along = width * np.linspace(0, 1, EDGE) ** 2  # closer where it turns
    upper = [(_x(n, width), ZERO - unit * n**0.5) for n in along]
    lower = [(x, 2 * ZERO - y) for x, y in reversed(upper)]
    far = unit * width**0.5
    was = [(x, ZERO + (y - ZERO) * UNIT / unit) for x, y in [*lower, *upper]]
    return [
        *([line("was", was, BLUE, 1.5, 0.6, "4 5")] if unit < UNIT else []),
        area("envelope", [*upper, *lower], BLUE, 0.2),
        line("root", [(RIGHT + 3, ZERO - far), (RIGHT + 3, ZERO + far)], BLUE, 4, cap="butt"),
        line("zero", [(LEFT, ZERO), (RIGHT, ZERO)], GREY, 1),
    ]


def _axis(width: int, divided: bool) -> list[Part]:
    """How many products are added, and how far ±√ of that is."""
    within = f"±√{width} ÷ √{width} = ±1" if divided else f"±√{width} = ±{width**0.5:.0f}"
    parts = [
        line("axis", [(LEFT, LOW), (RIGHT, LOW)], GREY, 1.5),
        word("d", RIGHT, LOW + 24, f"d = {width}", INK, "end", SIZE, 700),
        word("within", LEFT, 24, within, BLUE, "start", SIZE, 700),
        word("share", BAR, LOW + 24, "share", GREY, "start", SMALL),
    ]
    for n in WIDTHS:
        x, opacity = _x(n, width), float(n <= width <= 16 * n)
        parts.append(line(f"tick {n}", [(x, LOW), (x, LOW + 5)], GREY, 1.5, opacity))
        seen = opacity if n < width else 0
        parts.append(word(f"at {n}", x, LOW + 24, f"{n}", GREY, size=SMALL, opacity=seen))
    return parts


def _walk(m: int, width: int, unit: float, faint: float) -> list[Part]:
    """Of a word's score."""
    at = [min(n, width) for n in range(WIDTHS[-1] + 1)]
    points = [(_x(n, width), ZERO - unit * walks()[m, n]) for n in at]
    thick, opacity = (3.0, 1.0) if m == BEST else (1.8, 0.7)
    return [line(f"walk {m}", points, _colour(m), thick, opacity * faint)]


def _share(m: int, width: int, unit: float, row: int, share: float, faint: float) -> list[Part]:
    """From the end of its walk to the word, as thick as its share, and a bar as long."""
    y, end = ROW + PITCH * row, ZERO - unit * walks()[m, width]
    weight = 700 if m in (BEST, READER) else 400
    corner = (BAR, y - THICK / 2)
    return [
        curve(f"lead {m}", (RIGHT + 8, end), (NAME - 6, y), _colour(m), 1 + 7 * share, 0.8 * faint),
        word(
            f"word {m}",
            NAME,
            y + 7,
            WORDS[m],
            ORANGE if m == BEST else INK,
            "start",
            weight=weight,
            opacity=faint,
        ),
        box(f"bar {m}", corner, (LONG * share, THICK), _colour(m), opacity=faint),
    ]


def _colour(m: int) -> Colour:
    return ORANGE if m == BEST else GREY
