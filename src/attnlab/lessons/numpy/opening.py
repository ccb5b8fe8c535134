"""Lesson 03 opens with arrays whose axes meet: an axis that two of them share is added up."""

from __future__ import annotations

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE

# The lesson's, worked by hand there: clerk, finds, maps.
Q = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
K = np.array([[2, 2, 0, 0], [2, 0, 0, 4], [-2, 2, 2, 0]])
V = np.array([[10, 0], [0, 10], [5, 5]])
S = np.einsum("nk,mk->nm", Q, K)
POWERS = np.exp(S / np.sqrt(4))
A = POWERS / POWERS.sum(axis=1, keepdims=True)
Z = np.einsum("nm,mv->nv", A, V)

HIGH = 270
COLOURS = {"n": BLUE, "k": ORANGE, "m": GREEN, "v": PURPLE}
AXES = {"Q": "nk", "K": "mk", "S": "nm", "V": "mv", "Z": "nv"}
CELL, GAP, FLOOR = 28, 18, 158  # the last: top of Q, S and Z, which stand below
NUMBERS = {"Q": Q, "K": K.T, "S": S, "V": V, "Z": Z}  # as they lie on the sheet
LEFT = {"Q": 60, "K": 212, "S": 212, "V": 348, "Z": 348}
WIDTH = {"Q": CELL, "K": CELL, "S": CELL, "V": 40, "Z": 40}  # of a cell
LETTERS = (16, 21)  # where a line of letters begins, how far apart they are
FIRST, SECOND = 50, 88  # their lines


def opening() -> Film:
    """The film."""
    scored, mixed = [*_array("Q"), *_array("K")], [*_shares(), *_array("V")]
    scores, outputs = _letters("Q", "K", "S"), _letters("S", "V", "Z")
    frames = [
        Frame([*scored, *scores[:5]], "Q has two axes, n and k. K has m and k, and stands here."),
        Frame(
            [*scored, *_array("S", (0, 0)), *_met("Q", "K", "S", 0, 0), *scores],
            f"One query and one key walk along k in step. Their products add up to {S[0, 0]}.",
        ),
        Frame(
            [*scored, *_array("S"), *_met("Q", "K", "S", 1, 1), *scores],
            "Every n meets every m in this way.",
        ),
        Frame(
            [*_gone("Q", "K", "S"), *_array("S"), *scores, *_crossed("Q", "K")],
            "Now k is added up, and gone. What is left has n and m.",
        ),
        Frame(
            [*_shares(), *scores, *_crossed("Q", "K")],
            "Softmax makes shares of the scores, along m. The axes stay.",
        ),
        Frame(
            [*mixed, *scores, *_crossed("Q", "K"), *outputs[:5]],
            "V has m as well, and an axis of its own, v.",
        ),
        Frame(
            [
                *mixed,
                *_array("Z"),
                *_met("S", "V", "Z", 0, 0),
                *scores,
                *_crossed("Q", "K"),
                *outputs,
            ],
            f"Shares and values walk along m. Their products add up to {Z[0, 0]:.1f}, and so on.",
        ),
        Frame(
            [
                *_gone("S", "V", "Z"),
                *_array("Z"),
                *scores,
                *_crossed("Q", "K"),
                *outputs,
                *_crossed("S", "V"),
            ],
            "Now m is added up, and gone as well.",
        ),
        Frame(
            [
                *scored,
                *mixed,
                *_array("Z"),
                *scores,
                *_crossed("Q", "K"),
                *outputs,
                *_crossed("S", "V"),
            ],
            "Z has n from the words that ask, and v from what is said. It has no k and no m.",
        ),
    ]
    return Film("Axes meet, and one is added up", frames, HIGH)


def _array(name: str, only: tuple[int, int] | None = None) -> list[Part]:
    """Its cells, darker where numbers are larger, and its two axes; or one number of it alone."""
    numbers = NUMBERS[name]
    parts = []
    for i, j in np.ndindex(*numbers.shape):
        (x, y), number = _corner(name, i, j), numbers[i, j]
        is_there = only in (None, (i, j))
        filled = 0.5 * abs(number) / abs(numbers).max() if is_there else 0
        parts.append(box(f"{name} {i} {j}", (x, y), (WIDTH[name], CELL), GREY, filled, 1))
        if is_there:
            parts.append(_number(name, i, j, (x + WIDTH[name] / 2, y + CELL / 2)))
    return [*parts, *_axes(name), _name(name)]


def _number(name: str, i: int, j: int, middle: tuple[float, float], opacity: float = 1) -> Part:
    number = NUMBERS[name][i, j]
    text = f"{number:.1f}" if name == "Z" else f"{number:g}".replace("-", "−")
    x, y = middle
    return word(f"{name} says {i} {j}", x, y + 6, text, size=SMALL, opacity=opacity)


def _name(name: str, text: str = "") -> Part:
    """Beside an array, or over Q, which has a neighbour."""
    rows, columns = NUMBERS[name].shape
    (x, y), (right, low) = _corner(name, 0, 0), _corner(name, rows, columns)
    place = ((x + right) / 2, y - 9) if name == "Q" else (right + 13, (y + low) / 2 + 6)
    return word(f"name of {name}", *place, text or name)


def _shares() -> list[Part]:
    """S after softmax: darker where more is heard."""
    cells = [
        box(f"S {i} {j}", _corner("S", i, j), (CELL, CELL), GREY, 0.9 * float(A[i, j]), 1)
        for i, j in np.ndindex(*A.shape)
    ]
    return [*cells, *_axes("S"), _name("S", "A")]


def _corner(name: str, i: int, j: int) -> tuple[float, float]:
    return LEFT[name] + WIDTH[name] * j, _top(name) + CELL * i


def _top(name: str) -> float:
    return FLOOR if _is_below(name) else FLOOR - GAP - CELL * len(NUMBERS[name])


def _is_below(name: str) -> bool:
    return name in ("Q", "S", "Z")


def _axes(name: str) -> list[Part]:
    """A bar in the colour of the axis along its rows and its columns, and the axis' letter."""
    rows, columns = list(AXES[name] if name != "K" else AXES[name][::-1])
    (x, y), (right, low) = _corner(name, 0, 0), _corner(name, *NUMBERS[name].shape)
    beside, letter = (low + 6, low + 26) if _is_below(name) else (y - 6, y - 11)
    return [
        line(f"{name} bar {rows}", [(x - 6, y), (x - 6, low)], COLOURS[rows], 5),
        word(f"{name} axis {rows}", x - 19, (y + low) / 2 + 6, rows, COLOURS[rows], weight=600),
        line(f"{name} bar {columns}", [(x, beside), (right, beside)], COLOURS[columns], 5),
        word(
            f"{name} axis {columns}", (x + right) / 2, letter, columns, COLOURS[columns], weight=600
        ),
    ]


def _met(left: str, top: str, into: str, i: int, j: int) -> list[Part]:
    """Frames around a row, a column and the number that they give."""
    shared = COLOURS[_shared(left, top)]
    rows, columns = NUMBERS[top].shape[0], NUMBERS[left].shape[1]
    return [
        box(f"row of {left}", _corner(left, i, 0), (columns * WIDTH[left], CELL), shared, 0, 4),
        box(f"column of {top}", _corner(top, 0, j), (WIDTH[top], rows * CELL), shared, 0, 4),
        box(f"cell of {into}", _corner(into, i, j), (WIDTH[into], CELL), INK, 0, 4),
    ]


def _gone(left: str, top: str, into: str) -> list[Part]:
    """Two arrays that have moved together along the axis that they share, until none is left."""
    shared = _shared(left, top)
    x, y = _corner(into, 0, 0)
    parts = []
    for name in (left, top):
        size = (0, CELL) if name == left else (WIDTH[top], 0)
        for i, j in np.ndindex(*NUMBERS[name].shape):
            at = _corner(name, i, j)
            corner = (x, at[1]) if name == left else (at[0], y)
            parts.append(box(f"{name} {i} {j}", corner, size, GREY, 0.5, 1, 0))
            if name != "S":
                parts.append(
                    _number(name, i, j, (corner[0] + size[0] / 2, corner[1] + size[1] / 2), 0)
                )
    for name in (left, top):
        parts.append(line(f"{name} bar {shared}", [(x, y), (x, y)], COLOURS[shared], 5, 0))
        parts.append(
            word(f"{name} axis {shared}", x, y, shared, COLOURS[shared], weight=600, opacity=0)
        )
    return parts


def _shared(one: str, other: str) -> str:
    [shared] = set(AXES[one]) & set(AXES[other])
    return shared


def _letters(left: str, right: str, into: str) -> list[Part]:
    """What einsum is told, in seven parts: the first five are what goes in."""
    low = FIRST if into == "S" else SECOND
    told = [*AXES[left], ",", *AXES[right], "→", *AXES[into]]
    whose = [left, left, "", right, right, "", into, into]
    return [
        word(
            f"{into} takes {whose[n]}{each}",
            LETTERS[0] + LETTERS[1] * n,
            low,
            each,
            COLOURS.get(each, INK),
            size=24,
            weight=600,
        )
        for n, each in enumerate(told)
    ]


def _crossed(left: str, right: str) -> list[Part]:
    """Lines through the axis that two arrays shared."""
    low = FIRST if left == "Q" else SECOND
    told = f"{AXES[left]},{AXES[right]}"
    shared = _shared(left, right)
    places = [LETTERS[0] + LETTERS[1] * n for n, each in enumerate(told) if each == shared]
    return [
        line(f"{left} {n} crossed", [(x - 9, low + 2), (x + 9, low - 20)], INK, 2)
        for n, x in enumerate(places)
    ]
