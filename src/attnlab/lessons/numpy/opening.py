"""Lesson 03 opens with arrays whose axes meet: an axis that two of them share is added up."""

from __future__ import annotations

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, Place, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE

# The lesson's, worked by hand there: clerk, finds, maps.
Q = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
K = np.array([[2, 2, 0, 0], [2, 0, 0, 4], [-2, 2, 2, 0]])
V = np.array([[10, 0], [0, 10], [5, 5]])
S = np.einsum("nk,mk->nm", Q, K)
ROOT = np.sqrt(Q.shape[1])
POWERS = np.exp(S / ROOT)
A = POWERS / POWERS.sum(axis=1, keepdims=True)
Z = np.einsum("nm,mv->nv", A, V)

HIGH = 270
COLOURS = {"n": BLUE, "k": ORANGE, "m": GREEN, "v": PURPLE}
MEANS = {"n": "words ask", "m": "are asked", "k": "key width", "v": "value width"}
AXES = {"Q": "nk", "K": "km", "S": "nm", "V": "mv", "Z": "nv"}  # as they lie on the sheet
NUMBERS = {"Q": Q, "K": K.T, "S": S, "V": V, "Z": Z}
MAKE = {"S": ("Q", "K"), "Z": ("S", "V")}  # of which two others each is made
TOLD = {**AXES, "K": "mk"}  # as einsum is told them
CALLED = {"K": "Kᵀ"}  # as it lies
LEFT = {"Q": 32, "K": 170, "S": 170, "V": 390, "Z": 390}
WIDTH = {"Q": 26, "K": 60, "S": 60, "V": 42, "Z": 42}  # of a cell
PALE, STRUCK = 0.45, 0.8  # what is done with; a letter that is struck, which is still read
CELL, GAP, FLOOR = 24, 16, 172  # the last: top of Q, S and Z, which stand below
STRING, LARGE = 25, 28  # the line of einsum's strings, and the size of their letters
STARTS = {"S": 40, "Z": 276}  # where these begin, by what they make
STEPS = (0, 24, 43, 65, 91, 121, 151, 175)  # from there to each of eight letters and signs


def opening() -> Film:
    """The film."""
    given = [*_means(), *_array("Q"), *_array("K"), *_array("V")]
    read = _einsum("S", "Q", "K")
    no_k = [*_einsum("S", "Q", "K", "S"), *_crossed("S")]
    pale = [*_means(), *_done("Q", "k"), *_done("K", "k"), *no_k]
    mixed = [*pale, *_shares(), *_array("V"), *_einsum("Z", "S", "V")]
    no_m = [*_array("Z"), *_einsum("Z", "S", "V", "Z"), *_crossed("Z")]
    frames = [
        Frame(
            [*given, *_empty("S"), *_empty("Z"), *read],
            "Which two axes will Z have? Einsum is told those of Q and K. Kᵀ is K, on its side.",
        ),
        Frame(
            [*given, *_array("S", (0, 0)), *_empty("Z"), *_met("Q", "K", "S"), *read],
            f"A query and a key walk along k in step. Their products add up to {S[0, 0]}.",
        ),
        Frame(
            [*given, *_array("S"), *_empty("Z"), *_all("Q", "K", "S"), *read],
            "Every n meets every m in this way.",
        ),
        Frame(
            [*pale, *_array("V"), *_array("S"), *_empty("Z"), *_folded("Q", "K", "S")],
            "Now k is added up, and gone. What is left has n and m.",
        ),
        Frame(
            [*pale, *_array("V"), *_scaled(), *_empty("Z"), *_einsum("Z")],
            f"Each score is divided by {ROOT:g}, the root of k's length.",
        ),
        Frame(
            [*pale, *_shares(), *_array("V"), *_empty("Z"), *_einsum("Z")],
            "Softmax makes shares of each row, along m: the scores S become A. The axes stay.",
        ),
        Frame(
            [*mixed, *_array("Z", (0, 0)), *_met("S", "V", "Z")],
            f"Shares and values walk along m. Their products add up to {Z[0, 0]:.1f}.",
        ),
        Frame([*mixed, *_array("Z"), *_all("S", "V", "Z")], "Every n meets every v."),
        Frame(
            [*pale, *_done("S", "m"), *_done("V", "m"), *no_m, *_folded("S", "V", "Z")],
            "Now m is added up, and gone as well.",
        ),
        Frame(
            [
                *_means(),
                *_left("Q", "k"),
                *_left("K", "k", "m"),
                *_left("S", "m"),
                *_left("V", "m"),
                *no_k,
                *no_m,
            ],
            "Z has n of the words that ask and v of the values, but no k and no m.",
        ),
    ]
    return Film("Axes meet, and one is added up", frames, HIGH)


def _means() -> list[Part]:
    """What each letter stands for."""
    return [
        part
        for n, (axis, means) in enumerate(MEANS.items())
        for part in (
            word(f"letter {axis}", 11, 76 + 24 * n, axis, COLOURS[axis], size=SIZE, weight=600),
            word(f"means {axis}", 30, 76 + 24 * n, means, INK, "start", SMALL),
        )
    ]


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


def _scaled() -> list[Part]:
    """S, and what it is divided by."""
    filled = [0.4 * score / S.max() for score in S.flat]
    places = zip(np.ndindex(*S.shape), S.flat, filled, strict=True)
    parts = [
        part
        for (i, j), score, face in places
        for part in _cell("S", i, j, face, f"{score}/{ROOT:g}")
    ]
    return [*parts, *_axes("S"), _name("S")]


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
    keys = [part.key for part in _axes(name) if part.key[-1] in gone]
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


def _cell(name: str, i: int, j: int, filled: float, text: str, opacity: float = 1) -> list[Part]:
    x, y = _corner(name, i, j)
    middle = (x + WIDTH[name] / 2, y + CELL / 2 + 6)
    return [
        box(f"{name} {i} {j}", (x, y), (WIDTH[name], CELL), GREY, filled, 1, opacity),
        word(f"{name} says {i} {j}", *middle, text, size=SMALL, opacity=opacity),
    ]


def _name(name: str, opacity: float = 1, text: str = "") -> Part:
    """At the corner where the axes of an array meet."""
    (x, y), (_, low) = _corner(name, 0, 0), _corner(name, *NUMBERS[name].shape)
    below = low + 24 if _is_below(name) else y - 11
    return word(
        f"name of {name}",
        x - 21,
        below,
        text or CALLED.get(name, name),
        size=22,
        weight=700,
        opacity=opacity,
    )


def _corner(name: str, i: int, j: int) -> Place:
    top = FLOOR if _is_below(name) else FLOOR - GAP - CELL * len(NUMBERS[name])
    return LEFT[name] + WIDTH[name] * j, top + CELL * i


def _is_below(name: str) -> bool:
    return name in ("Q", "S", "Z")


def _axes(name: str, opacity: float = 1) -> list[Part]:
    """A bar in the colour of the axis along its rows and its columns, and the axis' letter."""
    rows, columns = list(AXES[name])
    (x, y), (right, low) = _corner(name, 0, 0), _corner(name, *NUMBERS[name].shape)
    beside = low + 6 if _is_below(name) else y - 6
    bars = {rows: [(x - 6, y), (x - 6, low)], columns: [(x, beside), (right, beside)]}
    return [
        *(line(f"{name} bar {axis}", bar, COLOURS[axis], 5, opacity) for axis, bar in bars.items()),
        *(_axis(name, axis, opacity) for axis in bars),
    ]


def _axis(name: str, axis: str, opacity: float) -> Part:
    """An axis' letter at its bar."""
    at = _beside(name, axis)
    return word(f"{name} axis {axis}", *at, axis, COLOURS[axis], weight=600, opacity=opacity)


def _beside(name: str, axis: str) -> Place:
    (x, y), (right, low) = _corner(name, 0, 0), _corner(name, *NUMBERS[name].shape)
    if axis == AXES[name][0]:
        return x - 21, (y + low) / 2 + 6
    return (x + right) / 2, low + 24 if _is_below(name) else y - 11


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
    """These frames, as they have closed along the axis that is gone, towards what was left."""
    shared = _shared(left, top)
    (x, y), (over, under) = (
        _corner(left, 0, len(NUMBERS[left][0])),
        _corner(top, len(NUMBERS[top]), 0),
    )
    ends = {left: ((x, y), (0, _size(left)[1])), top: ((over, under), (_size(top)[0], 0))}
    parts = _framed(
        *((name, *end) for name, end in ends.items()), (into, _corner(into, 0, 0), _size(into))
    )
    bars = {left: (x, y + _size(left)[1] + 6), top: (over - 6, under)}
    for name, bar in bars.items():
        parts.append(line(f"{name} bar {shared}", [bar, bar], COLOURS[shared], 5, 0))
        parts.append(_axis(name, shared, 0))
    return parts


def _framed(*frames: tuple[str, Place, Place]) -> list[Part]:
    """Around two arrays in the colour of the axis that they share, and around what they give."""
    shared = COLOURS[_shared(frames[0][0], frames[1][0])]
    given = [
        box(f"frame of {name} for {frames[2][0]}", corner, size, shared, 0.2, 4)
        for name, corner, size in frames[:2]
    ]
    name, corner, size = frames[2]
    return [*given, box(f"frame of {name}", corner, size, INK, 0, 4)]


def _size(name: str) -> Place:
    rows, columns = NUMBERS[name].shape
    return WIDTH[name] * columns, CELL * rows


def _shared(one: str, other: str) -> str:
    [shared] = set(AXES[one]) & set(AXES[other])
    return shared


def _einsum(into: str, *known: str) -> list[Part]:
    """What einsum is told to make an array: letters of those that are known, come from their axes.

    The others' letters wait there, unseen; in place of the last two is a question mark.
    """
    left, right = MAKE[into]
    parts = []
    for n, (whose, each) in enumerate(_string(into)):
        at: Place = (STARTS[into] + STEPS[n], STRING)
        is_there = (whose or left) in known
        if whose and not is_there:
            at = _beside(whose, each)
        size = LARGE if is_there or not whose else SIZE
        colour = COLOURS.get(each, INK)
        opacity = (STRUCK if each == _shared(left, right) and into in known else 1) * is_there
        parts.append(word(f"{into} {n}", *at, each, colour, size=size, weight=600, opacity=opacity))
    middle = STARTS[into] + (STEPS[-2] + STEPS[-1]) / 2
    is_open = left in known and into not in known
    asks = word(f"{into} asks", middle, STRING, "?", size=LARGE, weight=700, opacity=is_open)
    return [*parts, asks]


def _string(into: str) -> list[tuple[str, str]]:
    """Letters and signs, and the array whose each is."""
    left, right = MAKE[into]
    both = [(left, each) for each in TOLD[left]], [(right, each) for each in TOLD[right]]
    return [*both[0], ("", ","), *both[1], ("", "→"), *((into, each) for each in TOLD[into])]


def _crossed(into: str) -> list[Part]:
    """Lines through the axis that two arrays shared."""
    shared = _shared(*MAKE[into])
    places = [
        STARTS[into] + STEPS[n] for n, (_, each) in enumerate(_string(into)) if each == shared
    ]
    return [
        line(f"{into} {n} crossed", [(x - 9, STRING - 8), (x + 9, STRING - 8)], INK, 2.5)
        for n, x in enumerate(places)
    ]
