"""Lesson 04 opens with scores that walk: each product is a step, and one of six books takes all."""

from __future__ import annotations

from functools import cache

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    SMALL,
    Part,
    Place,
    area,
    box,
    dot,
    line,
    word,
)
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, Colour

BOOKS = ("law", "stars", "birds", "tales", "maps", "art")
BEST = BOOKS.index("maps")
WIDTHS = (1, 4, 16, 64)
SEED, DRAWS = 4, 1001  # of which the film shows the one that is most like all

HIGH, HEAD, LOW = 270, 28, 240  # of the sheet; top and floor of walks and bars
LEFT, RIGHT = 32, 224  # where walks begin and end
TOP, ZERO, UNIT = 18, 134, 8  # line of what the height is; y of a score of 0; px for 1
SHIFTS = (-1.4, -1.4, 0, 1.4, 0, 1.4)  # px, of walks: else those that go together are one
CLOSE, CLOSER = 4, 8  # how much larger 1 is seen in the first two frames, and in the last
ROW, PITCH = 223, 37  # middle of the last book's row; to the next
NAME, BAR, NOW = 303, 364, 480  # where books and bars begin; end of shares
LONG, THICK = 56, 18  # of the bar of share 1; how thick it is
PALE = 0.9, 0.4  # how thick and how opaque the others' walks are
EDGE = 48  # points on an edge of the envelope


def opening() -> Film:
    """The film."""
    most, then = (_softmax(walks()[:, 64] / by) for by in (1, 8))
    name, second = (f"“{BOOKS[m]}”" for m in walks()[:, -1].argsort()[:-3:-1])
    frames = [
        _frame(
            1,
            "A book's score adds products, query number × key number: "
            "each is a step, here +1 or −1 by chance.",
            closer=CLOSE,
        ),
        _frame(
            4,
            "4 products partly cancel: a score is typically √4 = 2 from 0, not 4.",
            closer=CLOSE,
        ),
        _frame(16, "Zoomed out: four times the products, about twice as far: √16 = 4."),
        _frame(
            64,
            f"Four times again, √64 = 8: {name}, the luckiest, leads by 4 and gets "
            f"{most[BEST]:.2f}, the others hardly anything.",
        ),
        _frame(
            64, "÷ √64 = 8: a score is typically 1 from 0 again, as after 1 product.", divided=True
        ),
        _frame(
            64,
            f"Seen {CLOSER} times closer: same shape. {name} leads {second} by 0.5, not 4, "
            f"and gets {then[BEST]:.2f}, not {most[BEST]:.2f}.",
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
    shares, undivided = _softmax(ends / root), _softmax(ends)
    parts = [*_envelope(width, unit), *_axis(width, divided), *_heights(closer)]
    parts += _dashed() if divided and closer == 1 else []
    rows = walks()[:, -1].argsort().tolist()  # as they end
    for row, m in enumerate(rows):  # the best lies on the others
        parts += _walk(m, width, unit)
        y = ROW - PITCH * row
        parts += [_leader(m, unit, y)] if width == WIDTHS[-1] else []
        was = (BAR, y - THICK / 2), (LONG * float(undivided[m]), THICK)
        parts += [box(f"was long {m}", *was, _colour(m), 0, 1.5)] if divided else []
        parts += _share(m, y, float(shares[m]), width == WIDTHS[-1])
    parts += _lead(unit, root) if width == WIDTHS[-1] and unit == UNIT else []
    if width == 1:
        parts += [
            word(f"step {says}", RIGHT - 18, ZERO + below, says, INK, "end", 26, 700)
            for says, below in (("+1", -44), ("−1", 63))
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
        word("undivided", x, y - 8, "undivided", BLUE, "end", SMALL),
    ]


def _envelope(width: int, unit: float) -> list[Part]:
    """All that is within ±√n after n products, and how far that is at the end."""
    edge, far = _edge(unit, width, width), unit * width**0.5
    return [
        area("envelope", edge, BLUE, 0.2),
        line("edge", edge, BLUE, 1.5, 0.6),
        line("root", [(RIGHT, ZERO - far), (RIGHT, ZERO + far)], BLUE, 3, cap="butt"),
        line("zero", [(LEFT, ZERO), (RIGHT, ZERO)], GREY, 1),
    ]


def _heights(closer: int) -> list[Part]:
    """What is as far above and below 0 as 8, or less if seen from closer."""
    parts = []
    for n in (1, 0, -1):
        y, says = ZERO + 6 - UNIT * 8 * n, f"{8 * n / closer:.0f}".replace("-", "−")
        parts.append(word(f"height {n}", LEFT - 6, y, says, GREY, "end", SMALL))
    return parts


def _axis(width: int, divided: bool) -> list[Part]:
    """How many products are added, and how far from 0 their sum typically is."""
    score, far = ("score ÷ 8", 1) if divided else ("score", width**0.5)
    added = f"{width} product{'s' * (width > 1)}"
    parts = [
        line("axis", [(LEFT, HEAD), (LEFT, LOW), (RIGHT + 2, LOW)], GREY, 1.5),
        line("floor", [(BAR, HEAD), (BAR, LOW)], GREY, 1.5),
        word(score, 0, TOP, score, GREY, "start", SMALL),
        word("within", RIGHT, TOP, f"typical ±{far:.0f}", BLUE, "end", SMALL, 700),
        word("products", RIGHT, LOW + 24, added, INK, "end", SMALL, 700),
        word("share", NOW, LOW + 24, "softmax share", GREY, "end", SMALL),
    ]
    if divided:
        was = float(_softmax(walks()[:, width])[BEST])
        says = f"was {_says(was)}"
        parts.append(word("was", BAR + LONG * was, TOP, says, GREY, "end", SMALL))
        parts.append(word("now", NOW, TOP, "now", INK, "end", SMALL))
    for n in (n for n in WIDTHS if n < width <= 16 * n):
        x = _x(n, width)
        parts.append(line(f"tick {n}", [(x, LOW), (x, LOW + 5)], GREY, 1.5))
        parts.append(word(f"{n} of {width}", x, LOW + 24, f"{n}", GREY, size=SMALL))
    return parts


def _walk(m: int, width: int, unit: float) -> list[Part]:
    """Of a book's score, and its end."""
    at = [min(n, width) for n in range(WIDTHS[-1] + 1)]
    points = [(_x(n, width), ZERO - unit * walks()[m, n] + SHIFTS[m]) for n in at]
    thick, opacity, r = (3.0, 1.0, 5.0) if m == BEST else (*PALE, 3.0)
    return [
        line(f"walk {m}", points, _colour(m), thick, opacity),
        dot(f"end {m}", *points[-1], r, _colour(m), edge=GROUND),
    ]


def _leader(m: int, unit: float, y: float) -> Part:
    """From the end of a book's walk to its name."""
    end = ZERO - unit * walks()[m, -1]
    thick, opacity = (2.0, 1.0) if m == BEST else PALE
    return line(f"leader {m}", [(RIGHT + 8, end), (NAME - 5, y)], _colour(m), thick, opacity)


def _lead(unit: float, root: float) -> list[Part]:
    """Of the best over the next."""
    x, (*_, next_to, best) = RIGHT + 10, np.sort(walks()[:, -1])
    high, low = (ZERO - unit * end for end in (best, next_to))
    says = f"+{(best - next_to) / root:g}"
    return [
        line("lead", [(x, high), (x, low)], ORANGE, 3),
        word("lead says", x + 5, (high + low) / 2 + 8, says, ORANGE, "start", 22, 700),
    ]


def _share(m: int, y: float, share: float, told: bool) -> list[Part]:
    """A book, and a bar as long as its share; pale until shares are told of."""
    ink, size, weight = (INK if told else GREY), SMALL, 400
    if told and m == BEST:
        ink, size, weight = ORANGE, 22, 700
    colour, filled = (_colour(m), 1.0) if told else (GREY, 0.4)
    return [
        word(f"book {m}", NAME, y + 6, BOOKS[m], ink, "start", SMALL, weight),
        box(f"bar {m}", (BAR, y - THICK / 2), (LONG * share, THICK), colour, filled),
        word(f"share {m}", NOW, y + size / 3, _says(share), ink, "end", size, weight),
    ]


def _says(share: float) -> str:
    return f"{share:.2f}" if share >= 0.005 else "<0.01"


def _colour(m: int) -> Colour:
    return ORANGE if m == BEST else GREY
