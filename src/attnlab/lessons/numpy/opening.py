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
COLUMN, HEAD, LOW, DEPTH = 228, 82, 38, 22  # of a pile of sheets: with words; its top; a row; to
SUM = 34  # the right and down; a box for a sum
PALE, DEEP, FAINT = 0.07, 0.6, 0.45  # of cells of 0, of the largest number; of faint numbers
CALL, CODED, NAME, SUMMED = 28, 36, 28, 21  # the formula's line and size; of names, of sums
LIT, DIM, HIDDEN = (22, 1), (SMALL, FAINT), (SMALL, 0)  # of numbers, in what is framed; elsewhere
CORNERS = ((0, 0), (0, 1), (1, 1), (1, 0))


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
        return [self.at(ys[i], xs[j]) for i, j in CORNERS]


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
        """With its number."""
        x, y = np.mean(corners, axis=0)
        says = self.says(place, (x, y + 0.36 * size), number, INK, size, seen)
        return [self.tint(f"{self.key} {place}", corners, number), says]

    def tint(self, key: str, corners: list[Place], number: float) -> Part:
        """Deeper if the number is larger."""
        depth = PALE + (DEEP - PALE) * np.sqrt(abs(number) / self.most)
        return area(key, corners, GREY if number < 0 else self.colour, depth)

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
        parts, (row, column) = self.code("?"), self.worked
        for (s, j), each in np.ndenumerate(self.above):
            parts += above.cell(f"{s} {j}", ceiling.outline(s, j), each)
        for (i, s), each in np.ndenumerate(self.left):
            parts += left.cell(f"{i} {s}", wall.outline(i, s), each)
        return [
            *parts,
            _framed(left.key, wall.outline(row, 0, 1, many)),
            _framed(above.key, ceiling.outline(0, column, many, 1)),
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
        """Sheets along an axis, what is worked framed; copies from behind them move onto one."""
        gone, (*_, product, _), parts = self.formula[-1], self.looks, list[Part]()
        for s, numbers in enumerate(self.each()):
            sheet = first.moved(s * pitch)
            copy, cells = onto or sheet, list[Part]()
            for place, each in np.ndenumerate(numbers):
                key, lit = _at(s, *place), place == self.worked
                parts.append(product.tint(f"copy {gone} {key}", copy.outline(*place), each))
                cells += product.cell(key, sheet.outline(*place), each, *(LIT if lit else HIDDEN))
            parts += [
                _framed(f"copy {gone} {s}", copy.outline(*self.worked)),
                area(f"sheet {gone} {s}", sheet.outline(0, 0, *numbers.shape), GROUND, 1, GROUND),
                *cells,
                _framed(f"{gone} {s}", sheet.outline(*self.worked)),
            ]
        return parts

    def sheets(self) -> list[Part]:
        """Each is a table of products, with what is multiplied beside it and over it."""
        (left, above, *_), (n, o, shared) = self.looks, tuple(self.formula[-3:])
        parts = [*self.code(self.formula[-3:]), *self.stack(self.first, self.pitch)]
        for (i, s), each in np.ndenumerate(self.left):
            look = LIT if i == self.worked[0] else DIM
            off = s * self.pitch - 5 - 0.29 * look[0] * len(left.written(each))
            x, y = self.first.at(i + 0.5, 0, off)
            at = (x, y + 0.36 * look[0])
            parts.append(left.says(f"{i} {s}", at, each, left.colour, *look))
        for (s, j), each in np.ndenumerate(self.above):
            x, y = self.first.at(0, j + 0.5, s * self.pitch)
            look = LIT if j == self.worked[1] else DIM
            parts.append(above.says(f"{s} {j}", (x, y - 8), each, above.colour, *look))
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
            _framed(f"sum {gone}", flat.outline(*self.worked)),
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
        flat, parts = Grid((left + SIDE, HEAD), (0, LOW), (108 / columns, 0)), list[Part]()
        (x, y), end = flat.corner, left + COLUMN
        for s in range(many):
            off = DEPTH * (many - s) / many
            sheet = flat._replace(corner=(x + off, y + off)).outline(0, 0, rows, columns)
            colour = _mixed(self.looks[2].colour, GROUND)
            parts.append(area(f"under {gone} {s}", sheet, colour, 1, GROUND))
        right, tip = flat.at(0, columns, AWAY)[0], flat.at(0, columns, AWAY + DEPTH)[0]
        terms = " + ".join(map(self.looks[2].written, each[:, i, j]))
        worked = f"{terms} = {result.written(each[:, i, j].sum())}"
        cell = flat.outline(i, j)
        sides = [(left + 1, HIGH - SUM), (end - 1, HIGH - 1)]
        return [
            *self.code(self.formula[-3:-1], left),
            *parts,
            *self.result(flat),
            _framed(f"sum {gone}", cell),
            line(f"joins {gone}", [cell[-1], (cell[-1][0], HIGH - SUM)]),
            _framed(f"worked {gone}", [(sides[a][0], sides[b][1]) for a, b in CORNERS]),
            _bar(gone, (right, y - 3), (tip, y + DEPTH - 3)),
            _letter(gone, (end - 24, y + DEPTH), anchor="middle"),
            word(f"added {gone}", end, y + DEPTH + 20, "added", COLOURS[gone], "end", SMALL),
            word(f"worked {gone}", left + COLUMN / 2, HIGH - 9, worked, COLOURS[gone], size=SUMMED),
        ]


def _at(*place: int) -> str:
    return " ".join(map(str, place))


def _framed(key: str, corners: list[Place]) -> Part:
    return area(f"around {key}", corners, "none", 1, INK)


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
    mix = MIX.pressed(Grid((0, TOP), (0, TALL), (42, -8)), 90, flat[1])
    first = [part._replace(key=f"first {part.key}") for part in SCORES.pile(0)]
    told = [
        "Q and K meet along k, which both have. n goes down Q, m up K. Framed: first rows.",
        "Keep n, m and k: each k gets a sheet of products, 36 in all.",
        "Leave out k: sheets press into 9 sums. Framed: 2 + 2 + 0 + 0 = 4.",
        "S, halved, then softmax along m, is A. A and V meet along m. "
        "Framed: A's last row, V's first column.",
        "Keep n, v and m: each m gets a sheet of products.",
        "Leave out m: sheets press into 6 sums. Framed: 0.9 + 0 + 1.2 = 2.1.",
        "The letter left out is added up; those kept are the sides.",
    ]
    shown = [SCORES.room(), SCORES.sheets(), scores, MIX.room(), MIX.sheets(), mix]
    shown.append([*first, *MIX.pile(WIDE - COLUMN)])
    frames = [Frame(*each) for each in zip(shown, told, strict=True)]
    return Film("The missing letter is added up", frames, HIGH)
