"""Lesson 03 opens with sheets that are pressed into one, along the letter missing after the arrow.

Two arrays share an axis. Each place on it has a sheet: a table of products, one array's numbers
times the other's. An array has the colour of the axis that it keeps, sheets that of the one that
goes, and what they become the colours of the two that stay. A cell of less than 0 is grey.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, Part, Place, area, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE

# The lesson's, worked by hand there.
Q = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
K = np.array([[2, 2, 0, 0], [2, 0, 0, 4], [-2, 2, 2, 0]])
V = np.array([[10, 0], [0, 10], [5, 5]])
S = np.einsum("nk,mk->nm", Q, K)
POWERS = np.exp(S / np.sqrt(Q.shape[1]))
A = POWERS / POWERS.sum(axis=1, keepdims=True)

HIGH = 270
COLOURS = {"n": BLUE, "k": ORANGE, "m": GREEN, "v": PURPLE}
AIR, BAR, AWAY = 3, 5, 8  # between cells; how thick an axis is; how far from cells
APART = 1.12  # from a sheet to what is multiplied, in cells
PALE, DEEP, GHOST = 0.12, 0.6, 25  # of cells of 0 and of the largest number; %, of those that left
CALL, CODED, NAME = 36, 36, 28  # the formula's line and size; of names
GONE = 0.4  # opacity of the letter that is struck


class Grid(NamedTuple):
    """Where cells are: a corner, and the steps to the next row and to the next column."""

    corner: Place
    down: Place
    across: Place

    def at(self, row: float, column: float, x: float = 0) -> Place:
        (left, top), down, across = self
        return (
            left + row * down[0] + column * across[0] + x,
            top + row * down[1] + column * across[1],
        )

    def moved(self, x: float) -> Grid:
        return self._replace(corner=self.at(0, 0, x))

    def outline(
        self, row: float, column: float, rows: float = 1, columns: float = 1
    ) -> list[Place]:
        """Corners of a cell, or of several as one, a little within."""
        up, in_ = (AIR / 2 / np.hypot(*step) for step in self[1:])
        ys, xs = (row + up, row + rows - up), (column + in_, column + columns - in_)
        return [self.at(ys[i], xs[j]) for i, j in ((0, 0), (0, 1), (1, 1), (1, 0))]


class Array(NamedTuple):
    """How an array's cells look, and how many digits its numbers have behind the point."""

    key: str
    colour: str
    most: float
    digits: int = 0

    def cell(
        self, place: str, corners: list[Place], number: float, size: float = SMALL, seen: float = 1
    ) -> list[Part]:
        """Deeper if its number is larger; with the number, if that has a size."""
        key, (x, y) = f"{self.key} {place}", np.mean(corners, axis=0)
        depth = PALE + (DEEP - PALE) * np.sqrt(abs(number) / self.most)
        colour = GREY if number < 0 else self.colour
        parts = [area(key, corners, colour, depth * seen)]
        if size:
            text = f"{round(number, self.digits):g}".replace("-", "−")
            says = word(f"{key} says", x, y + 0.36 * size, text, size=size, opacity=seen)
            parts.append(says)
        return parts


class Product(NamedTuple):
    """Two arrays, what they make, and the formula, which ends with the letter that they share."""

    formula: str
    names: str
    left: np.ndarray
    above: np.ndarray  # its rows are places on the axis that they share
    looks: tuple[Array, Array, Array, Array]  # of left, above, products, and what is made
    worked: tuple[int, int]  # of what is made: the cell whose products are written
    first: Grid  # of sheets
    pitch: float

    def each(self) -> np.ndarray:
        """For each place on the shared axis, products."""
        return np.einsum("ns,so->sno", self.left, self.above)

    def code(
        self,
        is_struck: bool = False,
        last: str = "",
        x: float = 132,
        size: float = CODED,
        key: str = "code",
    ) -> list[Part]:
        """The formula, from x on; its last letter is struck, or stands for all after the arrow."""
        parts: list[Part] = []
        signs = self.formula[:-3] + last if last else self.formula
        for n, sign in enumerate(signs):
            is_off = is_struck and n == len(signs) - 1
            at = x + 0.6 * size * (n + 0.5 + 0.35 * is_off)
            weight, seen = 700 if sign in COLOURS else 400, GONE if is_off else 1
            colour = COLOURS.get(sign, INK)
            sized = (colour, "middle", size, weight, seen, CODE)
            parts.append(word(f"{key} {n}", at, CALL, sign, *sized))
        if is_struck:
            ends = [(at - 0.33 * size, CALL), (at + 0.33 * size, CALL - 0.56 * size)]
            parts.append(line(f"{key} struck", ends, INK, 3))
        return parts

    def room(self) -> list[Part]:
        """One array is the front wall, the other the ceiling: they meet at the axis they share."""
        (left, above, *_), (n, o, shared) = self.looks, tuple(self.formula[-3:])
        rows, (many, deep) = len(self.left), self.above.shape
        wall = Grid((44, 132), (0, 40), (328 / many, 0))
        ceiling = Grid(wall.corner, wall.across, (72 / deep, -66 / deep))
        parts = self.code(last="?")
        for (s, j), each in np.ndenumerate(self.above):
            parts += above.cell(f"{s} {j}", ceiling.outline(s, j), each)
        for (i, s), each in np.ndenumerate(self.left):
            parts += left.cell(f"{i} {s}", wall.outline(i, s), each)
        x, y = ceiling.at(many, deep / 2)
        return [
            *parts,
            _bar(n, wall.at(0, 0, -AWAY), wall.at(rows, 0, -AWAY)),
            _bar(shared, wall.at(0, 0), wall.at(0, many)),
            _bar(o, ceiling.at(many, 0, AWAY), ceiling.at(many, deep, AWAY)),
            _letter(n, (wall.corner[0] - AWAY - 16, wall.at(rows / 2, 0)[1] + 7)),
            _letter(shared, (wall.at(0, many)[0] + 20, wall.corner[1] + 20), "edge"),
            _letter(o, (x + 34, y + 16), "edge"),
            _name(self.names[0], (408, 208)),
            _name(self.names[1], (56, 96)),
        ]

    def sheets(self) -> list[Part]:
        """Each is a table of products; what is worked is written."""
        (left, above, product, _), (n, o, shared) = self.looks, tuple(self.formula[-3:])
        parts = self.code()
        for s, numbers in enumerate(self.each()):
            sheet = self.first.moved(s * self.pitch)
            for i, each in enumerate(self.left[:, s]):
                parts += left.cell(f"{i} {s}", sheet.outline(i, -APART), each)
            for j, each in enumerate(self.above[s]):
                parts += above.cell(f"{s} {j}", sheet.outline(-APART, j), each)
            for place, each in np.ndenumerate(numbers):
                size = SMALL * (place == self.worked)
                parts += product.cell(_at(s, *place), sheet.outline(*place), each, size)
            parts.append(_around(f"{shared} {s}", sheet, self.worked))
        (x, y), many = self.first.at(len(self.left), -APART), len(self.above)
        return [
            *parts,
            *_arrow(shared, x, y + 18, self.first.corner[0] + (many - 1) * self.pitch + 60),
            _letter(n, self.first.at(1.7, -APART, -12)),
            _letter(o, self.first.at(0.25 - APART, 0, -16)),
        ]

    def pressed(self, first: Grid, pitch: float, flat: Grid, size: float = SMALL) -> list[Part]:
        """The sheets are one that faces us; ghosts are where they were, but for what is worked."""
        gone, (*_, product, made), parts = self.formula[-1], self.looks, []
        pale, numbers = _mixed(COLOURS[gone].drawn, GROUND, GHOST), self.each().sum(axis=0)
        for s, each in enumerate(self.each()):
            sheet, key = first.moved(s * pitch), f"ghost {gone} {s}"
            parts.append(area(key, sheet.outline(0, 0, *each.shape), GROUND, 1, GROUND))
            for place, number in np.ndenumerate(each):
                corners, at = sheet.outline(*place), _at(s, *place)
                if place == self.worked:
                    parts += product.cell(at, corners, number, max(size - 8, SMALL))
                    parts.append(_around(f"{gone} {s}", sheet, place))
                else:
                    parts.append(area(f"{key} {_at(*place)}", corners, pale))
        for place, number in np.ndenumerate(numbers):
            parts += made.cell(_at(*place), flat.outline(*place), number, size)
        (x, y), middle = first.at(len(numbers), 0), flat.at(0, numbers.shape[1] / 2)[0]
        return [
            *parts,
            _around(f"sum {gone}", flat, self.worked),
            *_arrow(gone, x, y + 20, middle - 22),
            _name(self.names[2], (middle, y + 30)),
        ]

    def pressing(self, first: Grid, pitch: float, flat: Grid) -> list[Part]:
        """So that the products are seen to move there; those that are worked stay."""
        parts = [*self.code(is_struck=True), *self.pressed(first, pitch, flat, NAME)]
        for (s, *place), each in np.ndenumerate(self.each()):
            if tuple(place) != self.worked:
                parts += self.looks[2].cell(_at(s, *place), flat.outline(*place), each, 0, 0)
        return parts


def _at(*place: int) -> str:
    return " ".join(map(str, place))


def _around(key: str, grid: Grid, place: tuple[int, int]) -> Part:
    return area(f"around {key}", grid.outline(*place), "none", 1, INK)


def _bar(axis: str, start: Place, end: Place) -> Part:
    return line(f"axis {axis}", [start, end], COLOURS[axis], BAR)


def _arrow(axis: str, start: float, y: float, end: float) -> list[Part]:
    """Along an axis, whose letter is where it starts."""
    tip = [(end - 8, y - 8), (end, y), (end - 8, y + 8)]
    return [
        _letter(axis, (start + 8, y + 7)),
        line(f"along {axis}", [(start + 30, y), (end, y)], COLOURS[axis], BAR),
        line(f"tip {axis}", tip, COLOURS[axis], BAR),
    ]


def _letter(axis: str, place: Place, at: str = "") -> Part:
    return word(f"letter {axis} {at}", *place, axis, COLOURS[axis], size=NAME, weight=700)


def _name(name: str, place: Place) -> Part:
    return word(f"name {name}", *place, name, size=NAME, weight=700)


def _mixed(one: str, other: str, share: int = 50) -> str:
    return f"color-mix(in srgb, {one} {share}%, {other})"


SUMS = _mixed(BLUE.drawn, GREEN.drawn)

SCORES = Product(
    "nk,mk->nmk",
    "QKS",
    Q,
    K.T,
    (
        Array("Q", BLUE.drawn, 4),
        Array("K", GREEN.drawn, 4),
        Array("k", ORANGE.drawn, 4),
        Array("S", SUMS, 4),
    ),
    (0, 0),
    Grid((54, 128), (0, 32), (26, -12)),
    112,
)
MIX = Product(
    "nm,mv->nvm",
    "AVZ",
    A,
    V,
    (
        Array("S", _mixed(SUMS, BLUE.drawn), 1, 2),  # A is what S becomes
        Array("V", PURPLE.drawn, 10),
        Array("m", GREEN.drawn, 10, 1),
        Array("Z", _mixed(BLUE.drawn, PURPLE.drawn), 10, 1),
    ),
    (2, 0),
    Grid((74, 128), (0, 32), (44, -12)),
    148,
)
TOP, TALL = 92, (0, 46)  # of what is pressed


def opening() -> Film:
    """The film."""
    pressing = SCORES.pressing(
        Grid((20, TOP), TALL, (19, -12)), 66, Grid((294, TOP), TALL, (54, 0))
    )
    mixing = MIX.pressing(Grid((22, TOP), TALL, (38, -12)), 87, Grid((298, TOP), TALL, (79, 0)))
    left, right = (Grid((x, TOP), TALL, (wide, -10)) for x, wide in ((14, 18), (246, 34)))
    s, z = (Grid((x, TOP), TALL, (wide, 0)) for x, wide in ((140, 28), (399, 36)))
    both = [
        *SCORES.code(is_struck=True, x=18, size=32, key="first"),
        *MIX.code(is_struck=True, x=260, size=32),
        *SCORES.pressed(left, 21, s),
        *MIX.pressed(right, 38, z),
    ]
    frames = [
        (SCORES.room(), "Q and K meet along k, which both have. n is Q's own, m is K's."),
        (SCORES.sheets(), "Keep n, m and k: each k gets a sheet of products, 36 in all."),
        (pressing, "Leave out k: sheets are pressed into one, 9 sums. Framed: 2 + 2 + 0 + 0 = 4."),
        (MIX.room(), "S, halved, then softmax along m, is A. A and V meet along m."),
        (MIX.sheets(), "Keep n, v and m: each m gets a sheet of products."),
        (mixing, "Leave out m: sheets are pressed into one. Framed: 0.9 + 0 + 1.2 = 2.1."),
        (both, "What is missing after the arrow is added up: k, then m. Only n and v are left."),
    ]
    return Film("The missing letter is added up", [Frame(*each) for each in frames], HIGH)
