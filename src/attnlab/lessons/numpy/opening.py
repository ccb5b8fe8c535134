"""Lesson 03 opens with sheets that are pressed into one, along the letter missing after the arrow.

Two arrays share an axis. Each place on it has a sheet: a table of products, one array's numbers
times the other's. An array has the colour of the axis that it keeps, sheets that of the one that
goes, and what they become the colours of the two that stay. A cell of less than 0 is grey.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, WIDE, Part, Place, area, line, word
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
SIDE, TOP, TALL = 33, 88, 46  # of cells: left of them, above them; a row
COLUMN, LOW, DEPTH = 228, 40, 28  # of a pile of sheets: with words; a row; to the right and down
PALE, DEEP, FAINT = 0.07, 0.6, 0.45  # of cells of 0, of the largest number; of faint numbers
CALL, CODED, NAME = 28, 36, 28  # the formula's line and size; of names


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
        self,
        place: str,
        corners: list[Place],
        number: float,
        size: float = SMALL,
        seen: float | None = None,
    ) -> list[Part]:
        """With its number; deeper if that is larger."""
        x, y = np.mean(corners, axis=0)
        depth = PALE + (DEEP - PALE) * np.sqrt(abs(number) / self.most)
        colour = GREY if number < 0 else self.colour
        return [
            area(f"{self.key} {place}", corners, colour, depth),
            self.says(place, (x, y + 0.36 * size), number, INK, size, seen),
        ]

    def says(
        self,
        place: str,
        at: Place,
        number: float,
        colour: str,
        size: float = SMALL,
        seen: float | None = None,
    ) -> Part:
        """A 0 is faint, if nothing is said."""
        if seen is None:
            seen = 1 if number else FAINT
        key, text = f"{self.key} {place} says", self.written(number)
        return word(key, *at, text, colour, size=size, opacity=seen)

    def written(self, number: float) -> str:
        return f"{round(number, self.digits):g}".replace("-", "−")


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

    def code(self, last: str, x: float = 0) -> list[Part]:
        """The formula, with this after its arrow."""
        look = ("start", CODED)
        return [
            word(
                f"code {n}",
                x + 0.6 * CODED * n,
                CALL,
                sign,
                COLOURS.get(sign, INK),
                *look,
                700 if sign in COLOURS else 400,
                face=CODE,
            )
            for n, sign in enumerate(self.formula[:-3] + last)
        ]

    def room(self) -> list[Part]:
        """One array is the front wall, the other the ceiling: they meet at the axis they share."""
        (left, above, *_), (n, o, shared) = self.looks, tuple(self.formula[-3:])
        rows, (many, deep) = len(self.left), self.above.shape
        wall = Grid((SIDE + 8, 142), (0, 40), (364 / many, 0))
        ceiling = Grid(wall.corner, wall.across, (64 / deep, -94 / deep))
        (x, y), (right, meets) = ceiling.at(many, deep / 2), wall.at(0, many)
        parts = self.code("?")
        for (s, j), each in np.ndenumerate(self.above):
            parts += above.cell(f"{s} {j}", ceiling.outline(s, j), each)
        for (i, s), each in np.ndenumerate(self.left):
            parts += left.cell(f"{i} {s}", wall.outline(i, s), each)
        return [
            *parts,
            _bar(n, wall.at(0, 0, -AWAY), wall.at(rows, 0, -AWAY)),
            _bar(shared, wall.at(0, 0), wall.at(0, many)),
            _bar(o, ceiling.at(many, 0, AWAY), ceiling.at(many, deep, AWAY)),
            _letter(n, (0, wall.at(rows - 0.5, 0)[1] + 8)),
            _letter(shared, (right + 10, meets + 24)),
            _letter(o, (x + 19, y + 20)),
            _name(self.names[0], (0, meets + 30)),
            _name(self.names[1], (0, meets - 48)),
        ]

    def stack(self, first: Grid, pitch: float, onto: Grid | None = None) -> list[Part]:
        """Sheets along an axis, what is worked framed; copies from behind them move onto one.

        Other products are faint. Beside their sum they are not written, if they are rounded.
        """
        gone, (*_, product, _), parts = self.formula[-1], self.looks, []
        for s, numbers in enumerate(self.each()):
            sheet = first.moved(s * pitch)
            copy, card = (each.outline(0, 0, *numbers.shape) for each in (onto or sheet, sheet))
            parts.append(area(f"copy {gone} {s}", copy, _mixed(product.colour, GROUND), not onto))
            parts.append(area(f"sheet {gone} {s}", card, GROUND, 1, GROUND))
            for place, each in np.ndenumerate(numbers):
                seen = 1 if place == self.worked else FAINT * (not (onto and product.digits))
                parts += product.cell(_at(s, *place), sheet.outline(*place), each, SMALL, seen)
            parts.append(_around(f"{gone} {s}", sheet, self.worked))
        return parts

    def sheets(self) -> list[Part]:
        """Each is a table of products, with what is multiplied beside it and over it."""
        (left, above, *_), (n, o, shared) = self.looks, tuple(self.formula[-3:])
        parts = [*self.code(self.formula[-3:]), *self.stack(self.first, self.pitch)]
        for (i, s), each in np.ndenumerate(self.left):
            off = s * self.pitch - 5 - 0.29 * SMALL * len(left.written(each))
            at = self.first.at(i + 0.5, 0, off)
            at = (at[0], at[1] + 6.5)
            seen = 1 if i == self.worked[0] else FAINT
            parts.append(left.says(f"{i} {s}", at, each, left.colour, seen=seen))
        for (s, j), each in np.ndenumerate(self.above):
            x, y = self.first.at(0, j + 0.5, s * self.pitch)
            at = (x, y - 8)
            seen = 1 if j == self.worked[1] else FAINT
            parts.append(above.says(f"{s} {j}", at, each, above.colour, seen=seen))
        (x, y), many = self.first.at(len(self.left), 0), len(self.above)
        end = x + (many - 1) * self.pitch + self.above.shape[1] * self.first.across[0]
        return [
            *parts,
            *_arrow(shared, y + 24, end),
            _letter(n, (0, self.first.at(1.5, 0)[1] + 8), "of sheets"),
            _letter(o, (0, TOP - AWAY), "of sheets"),
        ]

    def pressed(self, first: Grid, pitch: float, flat: Grid) -> list[Part]:
        """The sheets, and the one that they become."""
        gone, (many, rows, columns) = self.formula[-1], self.each().shape
        (end, _), (_, low) = first.at(0, columns, (many - 1) * pitch), first.at(rows, 0)
        return [
            *self.code(self.formula[-3:-1]),
            *self.stack(first, pitch, flat),
            *self.result(flat),
            _around(f"sum {gone}", flat, self.worked),
            *_arrow(gone, low + 24, end),
        ]

    def result(self, flat: Grid) -> list[Part]:
        """What the sheets become: its sides are the letters that are left."""
        n, o, gone = tuple(self.formula[-3:])
        numbers = self.each().sum(axis=0)
        rows, columns = numbers.shape
        parts = [area(f"under {gone}", flat.outline(0, 0, rows, columns), GROUND, 1, GROUND)]
        for place, number in np.ndenumerate(numbers):
            parts += self.looks[3].cell(_at(*place), flat.outline(*place), number, NAME)
        (left, low), (middle, top) = flat.at(rows, 0, -AWAY), flat.at(0, columns / 2)
        return [
            *parts,
            _bar(n, (left, top), (left, low)),
            _bar(o, (flat.corner[0], top - AWAY), (flat.at(0, columns)[0], top - AWAY)),
            _letter(n, (flat.corner[0] - SIDE, (top + low) / 2 + 7)),
            _letter(o, (middle, top - 2 * AWAY), anchor="middle"),
            _name(self.names[2], (flat.corner[0] - SIDE, top - 2 * AWAY)),
        ]

    def pile(self, left: float) -> list[Part]:
        """The formula, and under it its result, on sheets that were pressed into it: one sum."""
        gone, each, (i, j), result = self.formula[-1], self.each(), self.worked, self.looks[3]
        many, rows, columns = each.shape
        flat, parts = Grid((left + SIDE, TOP), (0, LOW), (102 / columns, 0)), list[Part]()
        x, y = flat.corner
        for s in range(many):
            off = DEPTH * (many - s) / many
            sheet = flat._replace(corner=(x + off, y + off)).outline(0, 0, rows, columns)
            colour = _mixed(self.looks[2].colour, GROUND)
            parts.append(area(f"copy {gone} {s}", sheet, colour, 1, GROUND))
        (right, top), end = flat.at(0, columns, AWAY), left + COLUMN
        tip = (right + DEPTH, top + DEPTH - 3)
        terms = " + ".join(map(self.looks[2].written, each[:, i, j]))
        worked = f"{terms} = {result.written(each[:, i, j].sum())}"
        return [
            *self.code(self.formula[-3:-1], left),
            *parts,
            *self.result(flat),
            _around(f"sum {gone}", flat, self.worked),
            _bar(gone, (right, top - 3), tip),
            _letter(gone, (end - 24, tip[1] + 2), anchor="middle"),
            word(f"added {gone}", end, tip[1] + 22, "added", COLOURS[gone], "end", SMALL),
            word(f"worked {gone}", x, HIGH - 5, worked, COLOURS[gone], "start", SMALL),
        ]


def _at(*place: int) -> str:
    return " ".join(map(str, place))


def _around(key: str, grid: Grid, place: tuple[int, int]) -> Part:
    return area(f"around {key}", grid.outline(*place), "none", 1, INK)


def _bar(axis: str, start: Place, end: Place) -> Part:
    return line(f"axis {axis}", [start, end], COLOURS[axis], BAR)


def _arrow(axis: str, y: float, end: float) -> list[Part]:
    """Along an axis, whose letter is where it starts."""
    tip = [(end - 8, y - 8), (end, y), (end - 8, y + 8)]
    return [
        _letter(axis, (0, y + 7), "along"),
        line(f"along {axis}", [(SIDE + 4, y), (end, y)], COLOURS[axis], BAR),
        line(f"tip {axis}", tip, COLOURS[axis], BAR),
    ]


def _letter(axis: str, place: Place, at: str = "beside", anchor: str = "start") -> Part:
    return word(f"letter {axis} {at}", *place, axis, COLOURS[axis], anchor, NAME, 700)


def _name(name: str, place: Place) -> Part:
    return word(f"name {name}", *place, name, INK, "start", NAME, 700)


def _mixed(one: str, other: str) -> str:
    return f"color-mix(in srgb, {one} 50%, {other})"


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
    Grid((48, TOP), (0, TALL), (29, 0)),
    115,
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
    Grid((80, TOP), (0, TALL), (47, 0)),
    153,
)


def opening() -> Film:
    """The film."""
    flat = [
        Grid((left, TOP), (0, TALL), ((WIDE - left) / n, 0)) for left, n in ((382, 3), (320, 2))
    ]
    scores = SCORES.pressed(Grid((0, TOP), (0, TALL), (25, -8)), 82, flat[0])
    mix = MIX.pressed(Grid((0, TOP), (0, TALL), (37, -8)), 90, flat[1])
    first = [part._replace(key=f"first {part.key}") for part in SCORES.pile(0)]
    told = "A letter left out after the arrow is added up."
    told += " Each kept letter is a side of the result."
    frames = [
        (SCORES.room(), "Q and K meet along k, which both have. n is Q's own, m is K's."),
        (SCORES.sheets(), "Keep n, m and k: each k gets a sheet of products, 36 in all."),
        (scores, "Leave out k: sheets are pressed into one, 9 sums. Framed: 2 + 2 + 0 + 0 = 4."),
        (MIX.room(), "S, halved, then softmax along m, is A. A and V meet along m."),
        (MIX.sheets(), "Keep n, v and m: each m gets a sheet of products."),
        (mix, "Leave out m: sheets are pressed into one. Framed: 0.9 + 0 + 1.2 = 2.1."),
        ([*first, *MIX.pile(WIDE - COLUMN)], told),
    ]
    return Film("The missing letter is added up", [Frame(*each) for each in frames], HIGH)
