"""Lesson 03 opens with arrays whose axes meet: the one that two of them share is added up.

Each axis is drawn once, as a bar with its letter. It goes to the array that is made, if it is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, WIDE, Part, Place, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, Colour

# The lesson's, worked by hand there.
WORDS = ("clerk", "finds", "maps")
Q = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
K = np.array([[2, 2, 0, 0], [2, 0, 0, 4], [-2, 2, 2, 0]])
V = np.array([[10, 0], [0, 10], [5, 5]])
S = np.einsum("nk,mk->nm", Q, K)
ROOT = np.sqrt(Q.shape[1])
POWERS = np.exp(S / ROOT)
A = POWERS / POWERS.sum(axis=1, keepdims=True)
Z = np.einsum("nm,mv->nv", A, V)

HIGH = 268
COLOURS = {"n": BLUE, "k": ORANGE, "m": GREEN, "v": PURPLE}
LEFT, ACROSS = 102, 174  # of the arrays that meet, one above the other, their shared axis between
TOPS, TALL = (70, 186), 26  # of these; of their cells
MADE, CELL = (306, 126), 34  # the corner of what is made of them, and how tall its cells are
LARGE, WIDER, TALLER = (186, 78), 216, 50  # the same, when it is done: corner, width, cells
AIR, AWAY, BAR, EDGE = 3, 13, 5, 2.5  # between cells; to a bar; how thick it is; a frame
STRIP, BASE = 42, 31  # how tall the strip of formulas is; their line in it
NUMBERS = {"Q": Q, "K": K, "S": S, "A": A, "V": V.T, "Z": Z}  # V as it lies on the sheet
FORMS = {"A": ".3f", "Z": ".2f"}
KEYS = {"S": "made", "A": "made"}  # A is where S was


class Product(NamedTuple):
    """Two arrays that meet, what is made of them, and axes: of the first, of the other, shared."""

    above: str
    below: str
    made: str
    rows: str
    columns: str
    shared: str
    formula: str

    def so_far(self, steps: int) -> np.ndarray:
        """What is added up after so many steps along the shared axis."""
        above, below = NUMBERS[self.above][:, :steps], NUMBERS[self.below][:, :steps]
        return above @ below.T

    def placed(self) -> list[tuple[str, np.ndarray, float]]:
        """Both arrays by name, and their tops."""
        return [
            (self.above, NUMBERS[self.above], TOPS[0]),
            (self.below, NUMBERS[self.below], TOPS[1]),
        ]


SCORES = Product("Q", "K", "S", "n", "m", "k", "nk,mk→nm")
MIX = Product("A", "V", "Z", "n", "v", "m", "nm,mv→nv")


def opening() -> Film:
    """The film."""
    return Film("Axes meet, and one is added up", [*_scores(), *_mix()], HIGH)


def _scores() -> list[Frame]:
    asked = _formula(SCORES, 30, WIDE / 2)
    found = _formula(SCORES, 30, WIDE / 2, is_done=True)
    return [
        Frame(
            [*asked, *_meeting(SCORES), *_room(SCORES)],
            "Which axes will the scores S have? Q and K share one, k.",
        ),
        *_walk(SCORES, asked, f"Step along k, all pairs at once: {Q[0, 0]} · {K[0, 0]}"),
        Frame(
            [*found, *_folded(SCORES), *_made(SCORES, 4)],
            "Now k is added up, and gone. What is left of Q and K is n and m.",
        ),
        Frame(
            [*found, *_done(SCORES, "S")],
            "They are the axes of S: n words that ask, and m that are asked.",
        ),
        Frame(
            [*found, *_done(SCORES, "A")],
            f"Divided by √4 = {ROOT:g}, through softmax: S becomes shares A, same axes.",
        ),
    ]


def _mix() -> list[Frame]:
    before = _formula(SCORES, 25, 118, is_done=True)
    asked = [*before, *_formula(MIX, 25, 362)[1:]]
    found = [*before, *_formula(MIX, 25, 362, is_done=True)[1:]]
    return [
        Frame(
            [*asked, *_meeting(MIX), *_room(MIX)],
            "Which axes will Z have? Values V lie on their side: m meets m.",
        ),
        *_walk(MIX, asked, f"Step along m: {A[0, 0]:.3f} · {V[0, 0]}"),
        Frame(
            [*found, *_folded(MIX), *_made(MIX, 3)],
            "Now m is added up, and gone as well. What is left is n and v.",
        ),
        Frame(
            [*found, *_done(MIX, "Z")],
            "What is not after the arrow was added up: k, then m.",
        ),
    ]


def _walk(product: Product, formula: list[Part], first: str) -> list[Frame]:
    """Step by step along the shared axis, and what that adds to the first cell."""
    (one, above, _), (other, below, _) = product.placed()
    steps, form = above.shape[1], FORMS.get(product.made, "g")
    frames = []
    for at in range(steps):
        old, new = (f"{product.so_far(at + more)[0, 0]:{form}}" for more in (0, 1))
        given = f"{above[0, at]:{FORMS.get(one, 'g')}} · {below[0, at]:{FORMS.get(other, 'g')}}"
        begins = "The last" if at == steps - 1 else "The next"
        told = f"{begins} {product.shared}: {old} + {given}" if at else first
        parts = [*formula, *_meeting(product), *_made(product, at + 1), *_step(product, at)]
        frames.append(Frame(parts, f"{told} = {new} in the first cell."))
    return frames


def _formula(product: Product, size: float, middle: float, is_done: bool = False) -> list[Part]:
    """What einsum is told. When it is done, a letter is struck, and the last two are there."""
    parts = [box("strip", (2, 2), (WIDE - 4, STRIP), GREY, 0.1)]
    signs = product.formula
    xs = [middle + 0.92 * size * (n - (len(signs) - 1) / 2) for n in range(len(signs))]
    for n, (x, sign) in enumerate(zip(xs, signs, strict=True)):
        key, colour = f"{product.made} {n}", COLOURS.get(sign, INK)
        if is_done or n < len(signs) - 2:
            parts.append(word(key, x, BASE, sign, colour, size=size, weight=700, face=CODE))
        if is_done and sign == product.shared:
            y = BASE - 0.27 * size
            ends = [(x - 0.4 * size, y + 4), (x + 0.4 * size, y - 4)]
            parts.append(line(f"{key} struck", ends, INK, 3))
    if not is_done:
        x = (xs[-2] + xs[-1]) / 2
        parts.append(word(f"{product.made} asks", x, BASE, "?", INK, size=size, weight=700))
    return parts


def _meeting(product: Product) -> list[Part]:
    """Both arrays, and the shared axis between them."""
    parts, (start, end) = _left(product), _between()
    for name, numbers, top in product.placed():
        size = (ACROSS / numbers.shape[1], TALL)
        parts += _cells(name, numbers, (LEFT, top), size)
        parts.append(_name(name, (12, top + len(numbers) * TALL / 2 + 8)))
    return [*parts, *_bar(product.shared, start, end, (end[0] + 15, end[1] + 6))]


def _left(product: Product) -> list[Part]:
    """Of two arrays that meet: the axes that are not shared, and whose the rows are."""
    parts, x = [], LEFT - AWAY
    axes = (product.rows, product.columns)
    for axis, (_, numbers, top) in zip(axes, product.placed(), strict=True):
        parts += _bar(axis, (x, top), (x, top + len(numbers) * TALL - AIR), (x - 3, top - 8))
        parts += _words(axis, x, top, TALL) if axis != "v" else []
    return parts


def _folded(product: Product) -> list[Part]:
    """Both arrays, as they have closed along the shared axis, towards what is left."""
    parts, (start, _) = _left(product), _between()
    for name, numbers, top in product.placed():
        for i, j in np.ndindex(*numbers.shape):
            key, size = f"{KEYS.get(name, name)} {i} {j}", (0, TALL - AIR)
            parts.append(box(key, (LEFT, top + TALL * i), size, GREY, 0.1, opacity=0))
    shared = product.shared
    return [*parts, line(f"bar {shared}", [start, start], COLOURS[shared], BAR, 0)]


def _between() -> tuple[Place, Place]:
    """The ends of the shared axis, under the first array."""
    y = TOPS[0] + 3 * TALL + AWAY - 2 * AIR
    return (LEFT, y), (LEFT + ACROSS - AIR, y)


def _cells(
    name: str, numbers: np.ndarray, corner: Place, size: Place, letters: float = SMALL
) -> list[Part]:
    """What is known of an array, darker where its numbers are larger."""
    (left, top), (wide, tall) = corner, size
    most, key, parts = float(np.abs(NUMBERS[name]).max()), KEYS.get(name, name), []
    for i, j in np.ndindex(*numbers.shape):
        x, y = left + wide * j, top + tall * i
        filled = 0.09 + 0.3 * abs(float(numbers[i, j])) / most
        text = f"{numbers[i, j]:{FORMS.get(name, 'g')}}".replace("-", "−")
        middle = (x + (wide - AIR) / 2, y + (tall - AIR) / 2 + 0.36 * letters)
        parts += [
            box(f"{key} {i} {j}", (x, y), (wide - AIR, tall - AIR), GREY, filled),
            word(f"{key} says {i} {j}", *middle, text, size=letters),
        ]
    return parts


def _made(product: Product, steps: int) -> list[Part]:
    """What is added up after so many steps."""
    numbers = product.so_far(steps)
    cells = _cells(product.made, numbers, MADE, (ACROSS / numbers.shape[1], CELL))
    return [*cells, _name(product.made, (MADE[0] + ACROSS / 2, MADE[1] - 14))]


def _room(product: Product) -> list[Part]:
    """For what is made, of which nothing is known."""
    parts = [part for part in _made(product, 0) if " says " not in part.key]
    middle = (MADE[0] + ACROSS / 2, MADE[1] + 1.5 * CELL + 12)
    return [*parts, word(f"{product.made} is?", *middle, "?", INK, size=40, weight=700)]


def _step(product: Product, at: int) -> list[Part]:
    """A band at one step along the shared axis; the first rows, which meet; and their cell."""
    parts, wide = [], ACROSS / NUMBERS[product.above].shape[1]
    axes = (product.rows, product.columns)
    for axis, (_, numbers, top) in zip(axes, product.placed(), strict=True):
        parts.append(_frame(f"row {axis}", (LEFT, top), (ACROSS, TALL), COLOURS[axis]))
        low = top + len(numbers) * TALL
    shared, size = product.shared, (wide, low - TOPS[0])
    cell = (ACROSS / NUMBERS[product.made].shape[1], CELL)
    return [
        *parts,
        _frame(f"step {shared}", (LEFT + wide * at, TOPS[0]), size, COLOURS[shared], 0.22),
        _frame(f"cell of {product.made}", MADE, cell, INK),
    ]


def _frame(key: str, corner: Place, size: Place, colour: str | Colour, filled: float = 0) -> Part:
    """Around cells."""
    (x, y), (wide, tall) = corner, size
    return box(key, (x - AIR, y - AIR), (wide + AIR, tall + AIR), colour, filled, EDGE)


def _done(product: Product, name: str) -> list[Part]:
    """What is made, large in the middle, with the axes that were left and what they stand for."""
    (x, y), numbers = LARGE, NUMBERS[name]
    right, low = x + WIDER - AIR, y + len(numbers) * TALLER - AIR
    beside, below = x - AWAY, low + AWAY
    wide, foot = WIDER / numbers.shape[1], below + 22
    under = [word("v is", x + WIDER / 2, foot, "width of a value", size=SMALL)]
    if product.columns == "m":
        xs = [x + wide * (j + 0.5) - AIR / 2 for j in range(len(WORDS))]
        under = [
            word(f"column {each}", at, foot, each, size=SMALL)
            for at, each in zip(xs, WORDS, strict=True)
        ]
    return [
        *_cells(name, numbers, LARGE, (wide, TALLER), 22),
        *_bar(product.rows, (beside, y), (beside, low), (beside - 3, y - 8)),
        *_bar(product.columns, (x, below), (right, below), (right + 15, below + 6), " below"),
        *_words("n", beside, y, TALLER),
        *under,
        word("name", x - 110, (y + low) / 2 + 13, name, INK, size=38, weight=700),
    ]


def _bar(axis: str, start: Place, end: Place, letter: Place, at: str = "") -> list[Part]:
    """An axis, and its letter, which does not move from where it is said to be to elsewhere."""
    return [
        line(f"bar {axis}", [start, end], COLOURS[axis], BAR),
        word(f"axis {axis}{at}", *letter, axis, COLOURS[axis], size=22, weight=700),
    ]


def _words(axis: str, right: float, top: float, tall: float) -> list[Part]:
    """At the left of an axis."""
    return [
        word(f"{axis} {each}", right - 9, top + tall * (i + 0.5) + 5, each, INK, "end", SMALL)
        for i, each in enumerate(WORDS)
    ]


def _name(name: str, at: Place) -> Part:
    return word(f"name {name}", *at, name, INK, size=26, weight=700)
