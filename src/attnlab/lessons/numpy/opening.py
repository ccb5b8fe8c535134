"""Lesson 03 opens with sheets that are stacked and added, along the letter missing after the arrow.

Two arrays share an axis. Each place on it has a sheet: a table of products, one array's numbers
times the other's. An array has the colour of the axis that it keeps, sheets that of the one that
goes, and their sum the colours of the two that stay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, WIDE, Part, Place, area, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GROUND, ORANGE

# The lesson's, worked by hand there.
Q = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
K = np.array([[2, 2, 0, 0], [2, 0, 0, 4], [0, 2, 2, 0]])
PRODUCTS = np.einsum("nk,mk->knm", Q, K)
S = np.einsum("nk,mk->nm", Q, K)
WORKED = (0, 0)  # of S: the cell whose products are written

HIGH, FORMULA = 270, "nk,mk->"
COLOURS = {"n": BLUE.drawn, "k": ORANGE.drawn, "m": GREEN.drawn}
PAINTS = {"Q": BLUE.drawn, "K": GREEN.drawn, "k": ORANGE.drawn}
PAINTS["S"] = f"color-mix(in srgb, {BLUE.drawn} 50%, {GREEN.drawn})"
AIR, BAR, AWAY = 3, 5, 8  # between cells; how thick an axis is; how far from cells
SIDE, TOP, TALL = 33, 88, 46  # of cells: left of them, above them; a row
PITCH = 115  # from sheet to sheet
PALE, DEEP, FAINT, MOST = 0.07, 0.6, 0.45, 4  # of cells of 0, of `MOST`; of faint numbers
CALL, CODED, NAME, LETTER = 28, 36, 28, 21  # the formula's line and size; of names, of letters
LIT = 22  # of numbers that are framed
CORNERS = ((0, 0), (0, 1), (1, 1), (1, 0))


class Grid(NamedTuple):
    """Where cells are: a corner, and the steps to the next row and to the next column."""

    corner: Place
    down: Place
    across: Place

    def at(self, row: float, column: float, x: float = 0, y: float = 0) -> Place:
        (left, top), down, across = self
        return (
            left + row * down[0] + column * across[0] + x,
            top + row * down[1] + column * across[1] + y,
        )

    def moved(self, x: float, y: float = 0) -> Grid:
        return self._replace(corner=self.at(0, 0, x, y))

    def outline(
        self, row: float, column: float, rows: float = 1, columns: float = 1
    ) -> list[Place]:
        """Corners of a cell, or of several as one, a little within."""
        up, in_ = (AIR / 2 / np.hypot(*step) for step in self[1:])
        ys, xs = (row + up, row + rows - up), (column + in_, column + columns - in_)
        return [self.at(ys[i], xs[j]) for i, j in CORNERS]

    def cells(
        self,
        key: str,
        numbers: np.ndarray,
        size: float = SMALL,
        only: Place | None = None,
        lit: float = 1,
    ) -> list[Part]:
        """An array's, deeper if further from 0, each with its number, or `only` one with it."""
        parts = list[Part]()
        for place, each in np.ndenumerate(numbers):
            corners, depth = self.outline(*place), np.sqrt(abs(each) / MOST)
            named, (x, y) = _named(key, *place), np.mean(corners, axis=0)
            parts.append(area(named, corners, PAINTS[key[0]], PALE + (DEEP - PALE) * depth))
            if only in (None, place):
                seen = lit if each or only else FAINT
                parts.append(_number(named, (x, y + 0.36 * size), each, INK, size, seen))
        return parts

    def sheet(self, s: int, size: float, lit: float = 1) -> list[Part]:
        """A table of products, what is worked framed."""
        whole = self.outline(0, 0, *S.shape)
        return [
            area(f"sheet {s}", whole, GROUND, 1, GROUND),
            *self.cells(f"k {s}", PRODUCTS[s], size, WORKED, lit),
            _framed(f"k {s}", self.outline(*WORKED)),
        ]


def _room() -> list[Part]:
    """One array is the front wall, the other the ceiling: they meet at the axis they share."""
    (rows, many), deep = Q.shape, len(K)
    wall = Grid((SIDE + 8, 142), (0, 40), (364 / many, 0))
    ceiling = Grid(wall.corner, wall.across, (64 / deep, -94 / deep))
    (x, y), (right, meets) = ceiling.at(many, deep / 2), wall.at(0, many)
    return [
        *_code("?"),
        *ceiling.cells("K", K.T),
        *wall.cells("Q", Q),
        _framed("Q", wall.outline(WORKED[0], 0, 1, many)),
        _framed("K", ceiling.outline(0, WORKED[1], many, 1)),
        _bar("n", wall.at(0, 0, -AWAY), wall.at(rows, 0, -AWAY)),
        _bar("k", wall.at(0, 0), wall.at(0, many)),
        _bar("m", ceiling.at(many, 0, AWAY), ceiling.at(many, deep, AWAY)),
        _letter("n", (0, wall.at(rows - 0.5, 0)[1] + 8)),
        _letter("k", (right + 10, meets + 24)),
        _letter("m", (x + 19, y + 20)),
        _name("Q", (0, meets + 30)),
        _name("K", (0, meets - 48)),
    ]


def _sheets() -> list[Part]:
    """A sheet for each place on an axis, with what is multiplied beside it and over it."""
    first, parts = Grid((48, TOP), (0, TALL), (29, 0)), _code("nmk")
    for s in range(len(PRODUCTS)):
        sheet = first.moved(s * PITCH)
        parts += sheet.sheet(s, LIT)
        for i, each in enumerate(Q[:, s]):
            size, seen = _look(i == WORKED[0])
            at = sheet.at(i + 0.5, 0, -5 - 0.29 * size, 0.36 * size)
            parts.append(_number(_named("Q", i, s), at, each, COLOURS["n"], size, seen))
        for j, each in enumerate(K[:, s]):
            at, look = sheet.at(0, j + 0.5, 0, -8), _look(j == WORKED[1])
            parts.append(_number(_named("K", s, j), at, each, COLOURS["m"], *look))
    (end, _), (_, low) = sheet.at(0, len(K)), sheet.at(len(Q), 0)
    return [
        *parts,
        *_arrow((SIDE + 4, low + 24), (end, low + 24)),
        _letter("k", (0, low + 31)),
        _letter("n", (0, first.at(1.5, 0)[1] + 8), "of sheets"),
        _letter("m", (0, TOP - AWAY), "of sheets"),
    ]


def _stack(flat: Grid, step: Place, lit: float) -> list[Part]:
    """The sheets, each behind the next by a step, and before them the one that they become."""
    (many, rows, columns), (x, y) = PRODUCTS.shape, step
    grids = [flat.moved((s - many) * x, (s - many) * y) for s in range(many)]
    (right, low), start = flat.at(rows, columns), grids[0].at(rows, 0, 3, 19)
    end = flat.at(rows, 0, -13, 19 - 16 * y / x)
    return [
        *(part for s, grid in enumerate(grids) for part in grid.sheet(s, NAME, lit)),
        area("under", flat.outline(0, 0, rows, columns), GROUND, 1, GROUND),
        *flat.cells("S", S, NAME),
        _framed("S", flat.outline(*WORKED)),
        _bar("n", flat.at(0, columns, AWAY), (right + AWAY, low)),
        _bar("m", flat.at(rows, 0, 0, AWAY), (right, low + AWAY)),
        _letter("n", (WIDE, flat.at(rows / 2, 0)[1] + 7), anchor="end"),
        _letter("m", (flat.at(0, columns / 2)[0], HIGH - 1), anchor="middle"),
        _name("S", (WIDE, HIGH - 1), "end"),
        _letter("k", (0, HIGH - 1)),
        *_arrow(start, end),
    ]


def _pressed() -> list[Part]:
    flat = Grid((48, 79), (0, 54), (132, 0))
    return [*_code("nm"), *_stack(flat, (12, 8), 0)]


def _fanned() -> list[Part]:
    """What is worked can be read as a sum."""
    flat, step = Grid((256, 103), (0, TALL), (64, 0)), (64, 25.5)
    y, x = (each + 0.5 for each in WORKED)
    parts = [*_code("nm", WIDE - 0.6 * CODED * len(FORMULA + "nm"), "kept"), *_stack(flat, step, 1)]
    for s, sign in enumerate("+++="):
        x_at, y_at = flat.at(y, x) - (len(PRODUCTS) - s - 0.5) * np.array(step)
        parts.append(dot(f"sign {s}", x_at, y_at, 10, GROUND))
        parts.append(word(f"sign {s} says", x_at, y_at + 7, sign, size=LIT, weight=700))
    return [*parts, word("added", 20, HIGH - 1, "is added", ORANGE, "start", LETTER)]


def _code(last: str, left: float = 0, key: str = "code") -> list[Part]:
    """The formula, with this after its arrow."""
    return [
        word(
            f"{key} {n}",
            left + 0.6 * CODED * n,
            CALL,
            sign,
            COLOURS.get(sign, INK),
            "start",
            CODED,
            700 if sign in COLOURS else 400,
            face=CODE,
        )
        for n, sign in enumerate(FORMULA + last)
    ]


def _named(key: str, *place: int) -> str:
    return " ".join(map(str, (key, *place)))


def _look(lit: bool) -> tuple[float, float]:
    return (LIT, 1) if lit else (SMALL, FAINT)


def _number(key: str, at: Place, number: float, colour: str, size: float, seen: float) -> Part:
    return word(f"{key} says", *at, f"{number}".replace("-", "−"), colour, size=size, opacity=seen)


def _framed(key: str, corners: list[Place]) -> Part:
    return area(f"around {key}", corners, "none", 1, INK)


def _bar(axis: str, start: Place, end: Place) -> Part:
    return line(f"axis {axis}", [start, end], COLOURS[axis], BAR)


def _arrow(start: Place, end: Place) -> list[Part]:
    """Along k."""
    x, y = 8 * (np.array(end) - start) / np.hypot(*np.subtract(end, start))
    tip = [(end[0] - x + y, end[1] - y - x), end, (end[0] - x - y, end[1] - y + x)]
    return [line("along k", [start, end], ORANGE, BAR), line("tip k", tip, ORANGE, BAR)]


def _letter(axis: str, place: Place, at: str = "beside", anchor: str = "start") -> Part:
    return word(f"letter {axis} {at}", *place, axis, COLOURS[axis], anchor, LETTER, 700)


def _name(name: str, place: Place, anchor: str = "start") -> Part:
    return word(f"name {name}", *place, name, INK, anchor, NAME, 700)


def opening() -> Film:
    """The film."""
    frames = [
        Frame(
            _room(),
            "Q and K meet along k, which both have. n goes down Q, m up K. Framed: first rows.",
        ),
        Frame(_sheets(), "Keep n, m and k: each k gets a sheet of products, 36 in all."),
        Frame(_pressed(), "Leave out k: the sheets are stacked and pressed into 9 sums."),
        Frame(
            _fanned(),
            "A letter left out is added up; those kept are the sides.",
        ),
    ]
    return Film("Where does k go?", frames, HIGH)
