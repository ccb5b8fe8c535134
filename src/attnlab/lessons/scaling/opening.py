"""Lesson 04 opens with scores that walk: each product is a step, and one of six books takes all."""

from __future__ import annotations

from functools import cache

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, area, box, curve, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

BOOKS = ("law", "stars", "birds", "tales", "maps", "art")
BEST = BOOKS.index("maps")
WIDTHS = (1, 4, 16, 64)
SEED, DRAWS = 4, 1001  # of which the film shows the one that is most like all

HIGH, LOW = 270, 232  # of the sheet; the line that counts products
LEFT, RIGHT = 38, 236  # where walks begin and end
TOP, ZERO, UNIT = 18, 128, 7.5  # line of what the height is; y of a score of 0; px for 1
ROW, PITCH = 26, 36  # middle of the first book's row; from one to the next
NAME, BAR = 281, 344  # where books and bars begin
LONG, THICK = 90, 18  # of the bar of share 1
EDGE = 48  # points on an edge of the envelope


def opening() -> Film:
    """The film."""
    most, then = (_softmax(walks()[:, 64] / by)[BEST] for by in (1, 8))
    frames = [
        _frame(
            1, "A number of the query times one of the key is a step: here +1 or −1, by chance."
        ),
        _frame(4, "4 products: up and down partly cancel. Most scores lie within ±√4 = ±2."),
        _frame(16, "Four times the products, about twice the spread: most scores lie within ±4."),
        _frame(
            64,
            f"Four times again, ±8: “{BOOKS[BEST]}” gets {most:.2f}, the others hardly anything.",
        ),
        _frame(
            64,
            f"÷ √64: about as close as after 1 product. {most:.2f} falls to {then:.2f}: "
            "all six are heard.",
            divided=True,
        ),
    ]
    return Film("Why does one book swallow the others?", frames, HIGH)


@cache
def walks() -> np.ndarray:
    """What each book's score is after so many products, (6, 65).

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
    steps = np.random.default_rng(seed).choice((-1.0, 1.0), (DRAWS, len(BOOKS), WIDTHS[-1]))
    return np.concatenate([np.zeros((DRAWS, len(BOOKS), 1)), steps.cumsum(axis=-1)], axis=-1)


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _frame(width: int, told: str, divided: bool = False) -> Frame:
    """The walks of so many products, and what softmax makes of their ends; divided by √width."""
    root = width**0.5 if divided else 1
    ends = walks()[:, width]
    shares, last = _softmax(ends / root), walks()[:, -1]
    parts = [*_envelope(width, UNIT / root), *_axis(width, divided)]
    rows = np.lexsort((-last, -ends)).tolist()  # best on top
    for m in (*(each for each in rows if each != BEST), BEST):  # it lies on the others
        parts += _walk(m, width, UNIT / root)
        parts += _share(m, ZERO - UNIT / root * ends[m], rows.index(m), float(shares[m]))
    if width == 1:
        parts += [
            word(f"step {says}", RIGHT - 4, ZERO + below, says, INK, "end", 26, 700)
            for says, below in (("+1", -18), ("−1", 36))
        ]
    if divided:
        parts += _was(float(_softmax(ends)[BEST]))
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
        line("edge", [*lower, *upper], BLUE, 1.5, 0.6),
        line("root", [(RIGHT + 3, ZERO - far), (RIGHT + 3, ZERO + far)], BLUE, 4, cap="butt"),
        line("zero", [(LEFT, ZERO), (RIGHT, ZERO)], GREY, 1),
    ]


def _axis(width: int, divided: bool) -> list[Part]:
    """How many products are added, and how far ±√ of that is."""
    within = f"±{width**0.5:.0f} ÷ √{width} = ±1" if divided else f"±√{width} = ±{width**0.5:.0f}"
    added = f"{width} product{'s' * (width > 1)}"
    parts = [
        line("axis", [(LEFT, LOW), (RIGHT, LOW)], GREY, 1.5),
        word("score", 2, TOP, "score", GREY, "start", SMALL),
        word("within", RIGHT + 5, TOP, within, BLUE, "end", SIZE, 700),
        word("products", RIGHT + 5, LOW + 24, added, INK, "end", SIZE, 700),
        word("share", NAME, LOW + 24, "share, by softmax", GREY, "start", SMALL),
    ]
    for n, says in ((8, "8"), (0, "0"), (-8, "−8")):
        y = ZERO - UNIT * n
        parts.append(word(f"height {says}", LEFT - 8, y + 6, says, GREY, "end", SMALL))
    for n in (n for n in WIDTHS if n < width <= 16 * n):
        x = _x(n, width)
        parts.append(line(f"tick {n}", [(x, LOW), (x, LOW + 5)], GREY, 1.5))
        parts.append(word(f"{n} of {width}", x, LOW + 24, f"{n}", GREY, size=SMALL))
    return parts


def _walk(m: int, width: int, unit: float) -> list[Part]:
    """Of a book's score."""
    at = [min(n, width) for n in range(WIDTHS[-1] + 1)]
    points = [(_x(n, width), ZERO - unit * walks()[m, n]) for n in at]
    thick, opacity = (3.0, 1.0) if m == BEST else (1.8, 0.7)
    return [line(f"walk {m}", points, _colour(m), thick, opacity)]


def _share(m: int, end: float, row: int, share: float) -> list[Part]:
    """From the end of its walk to the book, as thick as its share, and a bar as long.

    What is written fades where the book changes its row, so that no two meet.
    """
    y, colour, weight = ROW + PITCH * row, _colour(m), 700 if m == BEST else 400
    ink, x = ORANGE if m == BEST else INK, BAR + LONG * share + 4
    return [
        curve(f"lead {m}", (RIGHT + 8, end), (NAME - 6, y), colour, 1 + 7 * share, 0.8),
        word(f"book {m} {row}", NAME, y + 7, BOOKS[m], ink, "start", weight=weight),
        box(f"bar {m} {row}", (BAR, y - THICK / 2), (LONG * share, THICK), colour),
        word(f"share {m} {row}", x, y + 6, f"{share:.2f}", colour, "start", SMALL, weight),
    ]


def _was(share: float) -> list[Part]:
    """Of the first bar: how long it was."""
    return [
        box("was long", (BAR, ROW - THICK / 2), (LONG * share, THICK), ORANGE, 0.2),
        word("was share", BAR + LONG * share + 4, ROW + 6, f"{share:.2f}", GREY, "start", SMALL),
    ]


def _colour(m: int) -> Colour:
    return ORANGE if m == BEST else GREY
