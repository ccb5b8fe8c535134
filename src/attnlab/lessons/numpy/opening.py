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
AXES = {"Q": "nk", "K": "km", "S": "nm", "V": "mv", "Z": "nv"}  # as they lie on the sheet
NUMBERS = {"Q": Q, "K": K.T, "S": S, "V": V, "Z": Z}
TOLD = {**AXES, "K": "mk"}  # as einsum is told them
LEFT = {"Q": 32, "K": 170, "S": 170, "V": 390, "Z": 390}
WIDTH = {"Q": 26, "K": 60, "S": 60, "V": 42, "Z": 42}  # of a cell
PALE = 0.45  # what is done with
CELL, GAP, FLOOR = 28, 18, 158  # the last: top of Q, S and Z, which stand below
LETTERS = (8, 19)  # where a line of letters begins, how far apart they are
FIRST, SECOND = 38, 66  # their lines


def opening() -> Film:
    """The film."""
    given = [*_array("Q"), *_array("K"), *_array("V")]
    scored = _letters("Q", "K", "S")
    no_k = [*scored, *_crossed("Q", "K")]
    mixed = [*no_k, *_letters("S", "V", "Z")]
    no_m = [*mixed, *_crossed("S", "V")]
    pale = [*_done("Q", "k"), *_done("K", "k")]
    shares = ", ".join(f"{share:.3f}" for share in A[0])
    frames = [
        Frame(
            [*given, *_empty("S"), *_empty("Z"), *scored[:6], _open()],
            "Which two axes will Z have? Q, K and V bring two each.",
        ),
        Frame(
            [*given, *_array("S", (0, 0)), *_empty("Z"), *_met("Q", "K", "S"), *scored],
            f"One query and one key walk along k in step. Their products add up to {S[0, 0]}.",
        ),
        Frame(
            [*given, *_array("S"), *_empty("Z"), *_all("Q", "K", "S"), *scored],
            "Every n meets every m in this way.",
        ),
        Frame(
            [*pale, *_array("V"), *_array("S"), *_empty("Z"), *_folded("Q", "K", "S"), *no_k],
            "Now k is added up, and gone. What is left has n and m.",
        ),
        Frame(
            [*pale, *_shares(), *_array("V"), *_empty("Z"), *no_k],
            f"Softmax makes shares of the scores, along m: {shares}. The axes stay.",
        ),
        Frame(
            [*pale, *_shares(), *_array("V"), *_array("Z", (0, 0)), *_met("S", "V", "Z"), *mixed],
            f"Shares and values walk along m. Their products add up to {Z[0, 0]:.1f}.",
        ),
        Frame(
            [*pale, *_shares(), *_array("V"), *_array("Z"), *_all("S", "V", "Z"), *mixed],
            "Every n meets every v.",
        ),
        Frame(
            [
                *pale,
                *_done("S", "m"),
                *_done("V", "m"),
                *_array("Z"),
                *_folded("S", "V", "Z"),
                *no_m,
            ],
            "Now m is added up, and gone as well.",
        ),
        Frame(
            [
                *_left("Q", "k"),
                *_left("K", "k", "m"),
                *_left("S", "m"),
                *_left("V", "m"),
                *_array("Z"),
                *no_m,
            ],
            "Z has n from the words that ask, and v from what is said. It has no k and no m.",
        ),
    ]
    return Film("Axes meet, and one is added up", frames, HIGH)


def _array(name: str, only: tuple[int, int] | None = None, opacity: float = 1) -> list[Part]:
    """Its cells, darker where numbers are larger, and its two axes; or one number of it alone."""
    numbers = NUMBERS[name]
    most = float(abs(numbers).max())
    parts = []
    for i, j in np.ndindex(*numbers.shape):
        is_there = only in (None, (i, j))
        text = f"{numbers[i, j]:{'.1f' if name == 'Z' else 'g'}}".replace("-", "−")
        filled = 0.4 * abs(float(numbers[i, j])) / most if is_there else 0
        parts += _cell(name, i, j, filled, text if is_there else "", opacity)
    return [*parts, *_axes(name, opacity), _name(name, opacity)]


def _shares(opacity: float = 1) -> list[Part]:
    """S after softmax: darker where more is heard."""
    parts = []
    for i, j in np.ndindex(*A.shape):
        parts += _cell("S", i, j, 0.5 * float(A[i, j]), f"{A[i, j]:.3f}", opacity)
    return [*parts, *_axes("S", opacity), _name("S", opacity, "A")]


def _done(name: str, shared: str) -> list[Part]:
    """An array that has been read: pale, and without the axis that is gone."""
    whole = _shares(PALE) if name == "S" else _array(name, opacity=PALE)
    gone = (f"{name} bar {shared}", f"{name} axis {shared}")
    return [part for part in whole if part.key not in gone]


def _left(name: str, *gone: str) -> list[Part]:
    """An array whose axes are pale where they are gone."""
    whole = _shares() if name == "S" else _array(name)
    keys = [part.key for part in _axes(name, 1) if part.key[-1] in gone]
    pale = [part for part in _axes(name, PALE) if part.key in keys]
    return [*(part for part in whole if part.key not in keys), *pale]


def _empty(name: str) -> list[Part]:
    """Room for an array, of which nothing is known."""
    rows, columns = NUMBERS[name].shape
    parts = []
    for i, j in np.ndindex(rows, columns):
        parts += _cell(name, i, j, 0, "", PALE)
    (x, y), (right, low) = _corner(name, 0, 0), _corner(name, rows, columns)
    asks = word(f"{name}?", (x + right) / 2, (y + low) / 2 + 12, "?", INK, size=34, weight=700)
    return [*parts, asks, _name(name)]


def _cell(name: str, i: int, j: int, filled: float, text: str, opacity: float) -> list[Part]:
    x, y = _corner(name, i, j)
    middle = (x + WIDTH[name] / 2, y + CELL / 2 + 6)
    return [
        box(f"{name} {i} {j}", (x, y), (WIDTH[name], CELL), GREY, filled, 1, opacity),
        word(f"{name} says {i} {j}", *middle, text, size=SMALL, opacity=opacity),
    ]


def _name(name: str, opacity: float = 1, text: str = "") -> Part:
    """At the corner where the axes of an array meet."""
    (x, y), (_, low) = _corner(name, 0, 0), _corner(name, *NUMBERS[name].shape)
    below = low + 26 if _is_below(name) else y - 11
    return word(
        f"name of {name}", x - 21, below, text or name, size=22, weight=700, opacity=opacity
    )


def _corner(name: str, i: int, j: int) -> tuple[float, float]:
    top = FLOOR if _is_below(name) else FLOOR - GAP - CELL * len(NUMBERS[name])
    return LEFT[name] + WIDTH[name] * j, top + CELL * i


def _is_below(name: str) -> bool:
    return name in ("Q", "S", "Z")


def _axes(name: str, opacity: float) -> list[Part]:
    """A bar in the colour of the axis along its rows and its columns, and the axis' letter."""
    rows, columns = [*AXES[name]]
    (x, y), (right, low) = _corner(name, 0, 0), _corner(name, *NUMBERS[name].shape)
    beside, letter = (low + 6, low + 26) if _is_below(name) else (y - 6, y - 11)
    middles = {rows: (x - 21, (y + low) / 2 + 6), columns: ((x + right) / 2, letter)}
    bars = {rows: [(x - 6, y), (x - 6, low)], columns: [(x, beside), (right, beside)]}
    return [
        *(line(f"{name} bar {axis}", bar, COLOURS[axis], 5, opacity) for axis, bar in bars.items()),
        *(
            word(f"{name} axis {axis}", *at, axis, COLOURS[axis], weight=600, opacity=opacity)
            for axis, at in middles.items()
        ),
    ]


def _met(left: str, top: str, into: str) -> list[Part]:
    """Frames around a row, a column and the number that they give."""
    rows, columns = NUMBERS[top].shape[0], NUMBERS[left].shape[1]
    return _framed(
        (left, _corner(left, 0, 0), (columns * WIDTH[left], CELL)),
        (top, _corner(top, 0, 0), (WIDTH[top], rows * CELL)),
        (into, _corner(into, 0, 0), (WIDTH[into], CELL)),
    )


def _all(left: str, top: str, into: str) -> list[Part]:
    """These frames, around all rows, all columns and all numbers."""
    return _framed(*((name, _corner(name, 0, 0), _size(name)) for name in (left, top, into)))


def _folded(left: str, top: str, into: str) -> list[Part]:
    """These frames, as they have closed along the axis that is gone, and what was left of it."""
    shared = _shared(left, top)
    x, y = _corner(into, 0, 0)
    wide, high = _size(into)
    parts = _framed(
        (left, (x, y), (0, high)), (top, (x, y), (wide, 0)), (into, (x, y), (wide, high))
    )
    ends = {left: ((x, y + high + 6), (x, y + high + 26)), top: ((x - 6, y), (x - 21, y - 6))}
    for name, (end, letter) in ends.items():
        axis = f"{name} axis {shared}"
        parts.append(line(f"{name} bar {shared}", [end, end], COLOURS[shared], 5, 0))
        parts.append(word(axis, *letter, shared, COLOURS[shared], weight=600, opacity=0))
    return parts


def _framed(*frames: tuple[str, tuple[float, float], tuple[float, float]]) -> list[Part]:
    """Around two arrays in the colour of the axis that they share, and around what they give."""
    shared = COLOURS[_shared(frames[0][0], frames[1][0])]
    given = [
        box(f"frame of {name} for {frames[2][0]}", corner, size, shared, 0.2, 4)
        for name, corner, size in frames[:2]
    ]
    name, corner, size = frames[2]
    return [*given, box(f"frame of {name}", corner, size, INK, 0, 4)]


def _size(name: str) -> tuple[float, float]:
    rows, columns = NUMBERS[name].shape
    return WIDTH[name] * columns, CELL * rows


def _shared(one: str, other: str) -> str:
    [shared] = set(AXES[one]) & set(AXES[other])
    return shared


def _letters(left: str, right: str, into: str) -> list[Part]:
    """What einsum is told, in eight parts: the first five are what goes in."""
    low = FIRST if into == "S" else SECOND
    told = [*TOLD[left], ",", *TOLD[right], "→", *TOLD[into]]
    whose = [left, left, "", right, right, "", into, into]
    return [
        word(
            f"{into} takes {whose[n]}{each}",
            LETTERS[0] + LETTERS[1] * n,
            low,
            each,
            COLOURS.get(each, INK),
            size=22,
            weight=600,
        )
        for n, each in enumerate(told)
    ]


def _open() -> Part:
    """In place of the letters that are to come."""
    return word("asks", LETTERS[0] + LETTERS[1] * 6, FIRST, "?", INK, size=22, weight=700)


def _crossed(left: str, right: str) -> list[Part]:
    """Lines through the axis that two arrays shared."""
    low = FIRST if left == "Q" else SECOND
    told = f"{TOLD[left]},{TOLD[right]}"
    shared = _shared(left, right)
    places = [LETTERS[0] + LETTERS[1] * n for n, each in enumerate(told) if each == shared]
    return [
        line(f"{left} {n} crossed", [(x - 9, low + 2), (x + 9, low - 20)], INK, 2)
        for n, x in enumerate(places)
    ]
