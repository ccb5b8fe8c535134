"""Lesson 04 opens with scores that walk: each product is a step, and one of six books takes all."""

from __future__ import annotations

from functools import cache

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, Place, area, box, curve, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

BOOKS = ("law", "stars", "birds", "tales", "maps", "art")
BEST = BOOKS.index("maps")
WIDTHS = (1, 4, 16, 64)
SEED, DRAWS = 4, 1001  # of which the film shows the one that is most like all

HIGH, LOW = 270, 232  # of the sheet; the line that counts products
LEFT, RIGHT = 38, 246  # where walks begin and end
TOP, ZERO, UNIT = 18, 128, 7.5  # line of what the height is; y of a score of 0; px for 1
SHIFTS = (-2.5, -2.5, 0, 2.5, 0, 2.5)  # px, of walks: else those that go together are one
CLOSER = 8  # how much larger 1 is seen in the end
ROW, PITCH = 44, 34  # middle of the first book's row; to the next
NAME, BAR = 277, 344  # where books and bars begin
LONG, THICK = 88, 18  # of the bar of share 1
EDGE = 48  # points on an edge of the envelope


def opening() -> Film:
    """The film."""
    most, then = (_softmax(walks()[:, 64] / by) for by in (1, 8))
    name, least = f"“{BOOKS[BEST]}”", int(then.argmin())
    frames = [
        _frame(
            1,
            "A book's score adds products, query number × key number: "
            "each is a step, here +1 or −1 by chance.",
        ),
        _frame(
            4, "4 products: up and down partly cancel. A score is typically √4 = 2 from 0, not 4."
        ),
        _frame(16, "Four times the products, about twice as far: √16 = 4."),
        _frame(
            64,
            f"Four times again, √64 = 8: {name} gets {most[BEST]:.2f}, the others hardly anything.",
        ),
        _frame(64, "÷ √64: a score is typically 1 from 0 again, as after 1 product.", divided=True),
        _frame(
            64,
            f"Seen {CLOSER} times closer, the same walks. But {name} gets {then[BEST]:.2f}, "
            f"not {most[BEST]:.2f}, and even “{BOOKS[least]}” {then[least]:.2f}.",
            divided=True,
            closer=CLOSER,
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


def _frame(width: int, told: str, divided: bool = False, closer: int = 1) -> Frame:
    """The walks of so many products, and what softmax makes of their ends; divided by √width."""
    root = width**0.5 if divided else 1
    unit = UNIT * closer / root
    ends = walks()[:, width]
    shares, undivided, last = _softmax(ends / root), _softmax(ends), walks()[:, -1]
    parts = [*_envelope(width, unit), *_axis(width, divided), *_heights(closer)]
    if divided:
        parts += _was(float(undivided[BEST]))
        parts += _dashed() if closer == 1 else []
    rows = np.lexsort((-last, -ends)).tolist()  # best on top
    for m in (*(each for each in rows if each != BEST), BEST):  # it lies on the others
        parts += _walk(m, width, unit)
        parts += _share(
            m,
            ZERO - unit * ends[m] + SHIFTS[m],
            rows.index(m),
            float(shares[m]),
            float(undivided[m]),
        )
    if width == 1:
        parts += [
            word(f"step {says}", RIGHT - 4, ZERO + below, says, INK, "end", 26, 700)
            for says, below in (("+1", -18), ("−1", 36))
        ]
    return Frame(parts, told)


def _x(product: float, width: int) -> float:
    """Where a walk is after so many products; it stays at its end."""
    return LEFT + (RIGHT - LEFT) * min(product / width, 1)


def _edge(unit: float, width: int, most: float) -> list[Place]:
    """From −√n to √n after n of so many products, for n up to most."""
    along = np.linspace(-1, 1, 2 * EDGE)  # closer where it turns
    return [(_x(most * by**2, width), ZERO - unit * most**0.5 * by) for by in along]


def _dashed() -> list[Part]:
    """The last edge as it was."""
    edge = _edge(UNIT, WIDTHS[-1], WIDTHS[-1])
    x, y = edge[-1]
    return [
        line("was edge", edge, BLUE, 1.5, 0.6, "4 5"),
        word("undivided", x - 86, y - 6, "undivided", BLUE, "start", SMALL),
    ]


def _envelope(width: int, unit: float) -> list[Part]:
    """All that is within ±√n after n products, and how far that is at the end."""
    edge, far = _edge(unit, width, width), unit * width**0.5
    return [
        area("envelope", edge, BLUE, 0.2),
        line("edge", edge, BLUE, 1.5, 0.6),
        line("root", [(RIGHT + 3, ZERO - far), (RIGHT + 3, ZERO + far)], BLUE, 4, cap="butt"),
        line("zero", [(LEFT, ZERO), (RIGHT, ZERO)], GREY, 1),
    ]


def _heights(closer: int) -> list[Part]:
    """What stands for 8, or closer for 1, above and below 0."""
    near = closer > 1
    parts = [word("closer", 2, TOP + 24, f"zoom ×{closer}", INK, "start", SMALL)] * near
    for n in (1, 0, -1) if near else (8, 1, 0, -1, -8):
        y, says = ZERO + 6 - UNIT * closer * n, f"{n}".replace("-", "−")
        seen = near or abs(n) != 1
        parts.append(word(f"height {n}", LEFT - 8, y, says, GREY, "end", SMALL, opacity=seen))
    return parts


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
    for n in (n for n in WIDTHS if n < width <= 16 * n):
        x = _x(n, width)
        parts.append(line(f"tick {n}", [(x, LOW), (x, LOW + 5)], GREY, 1.5))
        parts.append(word(f"{n} of {width}", x, LOW + 24, f"{n}", GREY, size=SMALL))
    return parts


def _walk(m: int, width: int, unit: float) -> list[Part]:
    """Of a book's score."""
    at = [min(n, width) for n in range(WIDTHS[-1] + 1)]
    points = [(_x(n, width), ZERO - unit * walks()[m, n] + SHIFTS[m]) for n in at]
    thick, opacity = (3.0, 1.0) if m == BEST else (1.1, 0.5)
    return [line(f"walk {m}", points, _colour(m), thick, opacity)]


def _share(m: int, end: float, row: int, share: float, undivided: float) -> list[Part]:
    """From the end of its walk to the book, as thick as its share, and a bar as long.

    The best one's number stands beside the bar that it had undivided.

    What is written fades where the book changes its row, so that no two meet.
    """
    y, colour, weight = ROW + PITCH * row, _colour(m), 700 if m == BEST else 400
    ink, x = ORANGE if m == BEST else INK, BAR + LONG * (undivided if m == BEST else share) + 4
    return [
        curve(f"lead {m}", (RIGHT + 8, end), (NAME - 6, y), colour, 1 + 7 * share, 0.8),
        word(f"book {m} {row}", NAME, y + 7, BOOKS[m], ink, "start", weight=weight),
        box(f"bar {m} {row}", (BAR, y - THICK / 2), (LONG * share, THICK), colour),
        word(f"share {m} {row}", x, y + 6, _says(share), colour, "start", SMALL, weight),
    ]


def _says(share: float) -> str:
    return f"{share:.2f}" if share >= 0.005 else "<0.01"


def _was(share: float) -> list[Part]:
    """Behind the first bar: how long it was."""
    x = BAR + LONG * share
    return [
        box("was long", (BAR, ROW - THICK / 2), (LONG * share, THICK), ORANGE, 0.12, 1.5, 0.6),
        word("was", x, ROW - THICK / 2 - 6, f"was {_says(share)}", GREY, "end", SMALL),
    ]


def _colour(m: int) -> Colour:
    return ORANGE if m == BEST else GREY
