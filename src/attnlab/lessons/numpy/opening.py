"""Lesson 03 opens with arrays whose axes meet: one that is missing after the arrow is added up.

What is made stands beside the one array and under the other, as on paper. Over them is the line of
code that makes it. The letter that it lacks after the arrow is underlined before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SIZE, SMALL, Part, Place, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE

# The lesson's, worked by hand there.
WORDS = ("clerk", "finds", "maps")
Q = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
K = np.array([[2, 2, 0, 0], [2, 0, 0, 4], [-2, 2, 2, 0]])
V = np.array([[10, 0], [0, 10], [5, 5]])
S = np.einsum("nk,mk->nm", Q, K)
SCALE = np.sqrt(Q.shape[1])
POWERS = np.exp(S / SCALE)
A = POWERS / POWERS.sum(axis=1, keepdims=True)
Z = np.einsum("nm,mv->nv", A, V)
ARRAYS = {"Q": Q, "K": K, "S": S, "A": A, "V": V, "Z": Z}
FORMS = {"A": ".2f", "Z": ".1f"}
MOST = {"A": 1, "V": 10, "Z": 10}  # of numbers, on a scale of blue; of Q, K and S 4
KEYS = {"A": "S"}  # A is what S becomes

HIGH = 270
COLOURS = {"n": BLUE, "k": ORANGE, "m": GREEN, "v": PURPLE}
CODED, CALL, SMALLER = 30, 26, 26  # the code's size and line; in the end
BEGINS, ENDS = 'einsum("', '", {}, {})'  # what is around the formula
AIR, AWAY, BAR, EDGE = 3, 8, 5, 3  # between cells; to a bar; how thick it is; a frame
PALE, DEEP = 0.1, 0.55  # how much colour is in the cells of 0 and of the largest number
ALIKE, MADE, LIT = 0.25, 0.55, 0.2  # of arrays without numbers, and of Z and bands in the end
VIOLET = f"color-mix(in srgb, {PURPLE.drawn} 60%, {BLUE.drawn})"
BELOW = f"color-mix(in srgb, {VIOLET} 75%, {GREY.drawn})"  # of numbers below 0: no axis's
TALL, TALLER, WIDE, SLIM = 24, 27, 54, 40.5  # cells; those of A, V and Z; those of Q
LEFT, OVER, RIGHT, UNDER = 99, 86, 281, 197  # tops and left ends: beside, above, and what is made
ABOVE_A, BELOW_V = 74, 188  # tops of V and A
NAMED = 12  # middles of names at the left
AXIS, NAME = 28, 26  # sizes of axes' letters and of names
GONE = 0.4  # opacity of an axis that was added up


class Grid(NamedTuple):
    """Where an array is drawn, how large its cells are, and whether it is turned."""

    name: str
    x: float
    y: float
    wide: float = WIDE
    tall: float = TALL
    is_turned: bool = False

    def boxes(self, alike: float | None = None, opacity: float = 1) -> list[Part]:
        """Its cells, deeper where numbers are larger, and of another tint where they are below 0.

        Or all alike: with so much blue, and empty places where that is 0.
        """
        parts, numbers = [], ARRAYS[self.name]
        depths = PALE + (DEEP - PALE) * np.sqrt(np.abs(numbers) / MOST.get(self.name, 4))
        size = (max(self.wide - AIR, 0), max(self.tall - AIR, 0))
        for (i, j), number in np.ndenumerate(numbers):
            colour, depth = (BELOW if number < 0 else BLUE), depths[i, j]
            if alike is not None:
                colour, depth = BLUE, alike
            key, corner = f"{self._key()} {i} {j}", self._cell(i, j)
            parts.append(box(key, corner, size, colour, depth, float(alike == 0), opacity))
        return parts

    def says(self, only: Sequence[tuple[int, ...]] = (), size: float = SIZE) -> list[Part]:
        """The numbers, of all cells or of some."""
        numbers, form, parts = ARRAYS[self.name], FORMS.get(self.name, "g"), []
        for i, j in only or np.ndindex(*numbers.shape):
            text = f"{numbers[i, j]:{form}}".replace("-", "−")
            key = f"{self._key()} says {i} {j}"
            parts.append(word(key, *self.middle(i, j, size), text, size=size))
        return parts

    def card(self, row: int) -> list[Part]:
        """A row's cells and numbers, which cover what they pass over, and one the other."""
        many = ARRAYS[self.name].shape[1]
        size, cells = (self.wide - AIR, self.tall - AIR), self.boxes()[row * many :][:many]
        parts = []
        for j, cell in enumerate(cells):
            parts.append(box(f"under {cell.key}", self._cell(row, j), size, GROUND, 1, AIR))
            parts.append(cell)
        return [*parts, *self.says([(row, j) for j in range(many)])]

    def around(self, key: str, row: int | None, column: int | None, axis: str = "") -> Part:
        """A frame around a row, a column, or a cell, in the colour of an axis."""
        x, y = self.x + self.wide * (column or 0), self.y + self.tall * (row or 0)
        right = x + self.wide if column is not None else self.right() + AIR
        low = y + self.tall if row is not None else self.low() + AIR
        size = (right - x + AIR - EDGE, low - y + AIR - EDGE)
        corner = (x - AIR + EDGE / 2, y - AIR + EDGE / 2)
        return box(key, corner, size, COLOURS.get(axis, INK), 0, EDGE)

    def right(self) -> float:
        return self.x + self.wide * ARRAYS[self.name].shape[not self.is_turned] - AIR

    def low(self) -> float:
        return self.y + self.tall * ARRAYS[self.name].shape[self.is_turned] - AIR

    def named(self, x: float = 0) -> Part:
        """Its name, at its right or elsewhere; it does not move from one side to the other."""
        x = x or self.right() + 21
        key = f"name {self.name} {x < self.x}"
        return word(key, x, (self.y + self.low()) / 2 + 9, self.name, INK, size=NAME, weight=700)

    def named_within(self) -> Part:
        """Its name, on its cells."""
        middle = ((self.x + self.right()) / 2, (self.y + self.low()) / 2 + 9)
        return word(f"name {self.name} within", *middle, self.name, INK, size=NAME, weight=700)

    def middle(self, i: int, j: int, size: float = SIZE) -> Place:
        """Of a cell: where its number is."""
        x, y = self._cell(i, j)
        return x + (self.wide - AIR) / 2, y + (self.tall - AIR) / 2 + 0.36 * size

    def _cell(self, i: int, j: int) -> Place:
        """The top left of one."""
        down, across = (j, i) if self.is_turned else (i, j)
        return self.x + self.wide * across, self.y + self.tall * down

    def _key(self) -> str:
        return KEYS.get(self.name, self.name)


class Product(NamedTuple):
    """Two arrays that meet, what is made of them, and what einsum is told."""

    left: Grid
    above: Grid
    made: Grid
    formula: str

    def axes(self) -> tuple[str, str, str]:
        """Of what is made, and the one that is added up."""
        return self.formula[0], self.formula[-1], self.formula[1]

    def code(
        self, is_added: bool = False, alone: Place | None = None, name: str = "code"
    ) -> list[Part]:
        """The line: a sign becomes the one that another has in its place.

        With the letter underlined that is added up; or the formula alone, which begins there.
        """
        begins, ends = len(BEGINS), len(BEGINS) + len(self.formula)
        text, size = (
            BEGINS + self.formula + ENDS.format(self.left.name, self.above.name),
            SMALLER if alone else CODED,
        )
        parts, (x, y) = [], alone or (0, CALL)
        for n, sign in enumerate(text):
            key, at = f"{name} {n}", n - begins if alone else n
            place = (x + 0.6 * size * (at + 0.5), y)
            if begins <= n < ends and sign in COLOURS:
                parts.append(_letter(key, sign, place, size, CODE))
                if is_added and sign == self.axes()[2]:
                    parts.append(_underline(f"{key} {sign}", place, size, sign))
            elif sign != " " and (begins <= n < ends or not alone):
                parts.append(word(key, *place, sign, size=size, face=CODE))
        return parts

    def meeting(self, is_added: bool = False) -> list[Part]:
        """The line of code, both arrays, their axes, and names."""
        down, across, shared = self.axes()
        corner = x, y = (self.above.x - AWAY - AIR, self.left.y - AWAY)
        if self.above.is_turned:
            above = [*_cards(self.above), *_heads(self.above)]
            above.append(_letter(f"axis {shared} inside", shared, (x - 21, y - 13)))
        else:
            letter, *words = _rows(shared, self.above)[1:]
            above = [*self.above.boxes(), *self.above.says(), *_heads(self.left), letter]
            above += words if is_added else ()  # where heads pass before
        return [
            *self.code(is_added),
            *self.left.boxes(),
            *self.left.says(),
            *above,
            *_rows(down, self.left),
            *_columns(across, self.above),
            _bar(shared, (LEFT, y), corner),
            _bar(f"{shared} too", corner, (x, self.above.y)),
            self.left.named(NAMED),
            self.above.named(),
            self.made.named(),
        ]

    def working(self, row: int) -> list[Part]:
        """Around a row and the first column, which are multiplied, and around what is made."""
        shared = self.axes()[2]
        return [
            self.left.around("row", row, None, shared),
            self.above.around("column", None, 0, shared),
            self.made.around("cell", row, 0),
            *self.products(row),
        ]

    def worked(self, row: int) -> list[tuple[str, str]]:
        """What is multiplied for a row's first cell, as it is written, and what it comes to."""
        form, above = FORMS.get(self.left.name, "g"), ARRAYS[self.above.name]
        ones = [f"{one:{form}}" for one in ARRAYS[self.left.name][row]]
        pairs = zip(ones, above[0] if self.above.is_turned else above[:, 0], strict=True)
        return [(f"{one} · {other}", f"{float(one) * other:g}") for one, other in pairs]

    def products(self, row: int, into: Place | None = None) -> list[Part]:
        """These, beside the first column; or unseen, in the number that they add up to."""
        axis, parts, seen = self.axes()[2], [], float(not into)
        for n, pair in enumerate(self.worked(row)):
            key, text = f"product {axis} {n}", " = ".join(pair)
            x, y = into or (self.above.x - 78, self.above.y + self.above.tall * (n + 0.5) + 5)
            parts.append(word(key, x, y, text, COLOURS[axis], "end", SIZE, 600, seen))
        return parts

    def told(self, row: int) -> str:
        """What a row's first cell is made of."""
        axis, made = self.axes()[2], self.made.name
        total = f"{ARRAYS[made][row, 0]:{FORMS.get(made, 'g')}}"
        terms = " + ".join(term for _, term in self.worked(row))
        return f"Along {axis}, multiply and add: {terms} = {total}."


WRITTEN = Grid("K", RIGHT, OVER, SLIM, TALLER)
SCORES = Product(
    Grid("Q", LEFT, UNDER, SLIM),
    Grid("K", RIGHT, OVER, is_turned=True),
    Grid("S", RIGHT, UNDER),
    "nk,mk->nm",
)
MIX = Product(
    Grid("A", LEFT, BELOW_V, tall=TALLER),
    Grid("V", RIGHT, ABOVE_A, tall=TALLER),
    Grid("Z", RIGHT, BELOW_V, tall=TALLER),
    "nm,mv->nv",
)
CELL, FIRST, LAST, GAP, STEP = 26, 34, 168, 12, 92  # in the end: Q's corner; between; S to A


def opening() -> Film:
    """The film."""
    return Film("The missing letter is added up", [*_scores(), *_mix(), _all()], HIGH)


def _scores() -> list[Frame]:
    """Q and K as they are written, K's rows turned, one score, and all scores alone."""
    empty = SCORES.made.boxes(0)
    first = [*SCORES.meeting(is_added=True), *empty, *SCORES.made.says([(0, 0)])]
    turned = "Turn K: its k now meets Q's. After the arrow are the axes of S: n and m."
    return [
        Frame(_written(), "n is who asks, m who is asked. Along k are the numbers of each."),
        Frame([*SCORES.meeting(), *empty], turned),
        Frame([*first, *SCORES.working(0)], SCORES.told(0)),
        Frame(_crossing(SCORES, 0), "k is added up for each n with each m: it is gone."),
    ]


def _mix() -> list[Frame]:
    """A meets V, one number of their product, and all of it alone."""
    made, row = MIX.made, 2
    cells = made.boxes(0)
    begin = [*MIX.meeting(), *cells]
    cells[row * V.shape[1]] = made.boxes()[row * V.shape[1]]
    one = [*MIX.meeting(is_added=True), *cells, *made.says([(row, 0)])]
    told = "Halved, then softmax along m: S is now A, each row adds to 1."
    return [
        Frame(begin, told),
        Frame([*one, *MIX.working(row)], MIX.told(row)),
        Frame(
            [*_closed(*MIX.left[1:5]), *_crossing(MIX, row)],
            "m is added up for each n with each v: it is gone.",
        ),
    ]


def _written() -> list[Part]:
    """Q and K, with their axes."""
    q, over = SCORES.left, WRITTEN.y - AWAY
    return [
        *SCORES.code(),
        *q.boxes(),
        *q.says(),
        *_cards(WRITTEN),
        *_rows("n", q),
        *_rows("m", WRITTEN),
        _bar("k", (q.x, q.y - AWAY), (q.right(), q.y - AWAY)),
        _bar("k too", (WRITTEN.x, over), (WRITTEN.right(), over)),
        _letter("axis k inside", "k", _over(q)),
        _letter("axis k over", "k", _over(WRITTEN)),
        q.named(NAMED),
        WRITTEN.named(),
    ]


def _cards(grid: Grid) -> list[Part]:
    return [part for i in range(len(WORDS)) for part in grid.card(i)]


def _crossing(product: Product, row: int) -> list[Part]:
    """What is made, where its axes cross; the two are pale, and what they shared is struck."""
    left, above, made = product[:3]
    down, across, shared = product.axes()
    return [
        *product.code(is_added=True),
        *_bands(left, above, made, down + across),
        *(part for each in (left, above) for part in each.boxes(ALIKE, GONE)),
        *made.boxes(),
        *made.says(),
        *_rows(down, left),
        *_columns(across, above),
        *(_heads(above) if above.is_turned else ()),
        *_gone(shared, left, above),
        *(each.named_within() for each in (left, above)),
        made.named(),
        *product.products(row, made.middle(row, 0)),
    ]


def _closed(x: float, y: float, wide: float, tall: float) -> list[Part]:
    """Q and K, closed along k, at the left of what they made and over it."""
    grids = [Grid("Q", x, y, 0, tall), Grid("K", x, y, wide, 0, is_turned=True)]
    return [
        *(part for each in grids for part in each.boxes(ALIKE, 0)),
        *(_bar(key, (x, y), (x, y), 0) for key in ("k", "k too")),
    ]


def _all() -> Frame:
    """All arrays, which axes were added up, and which have reached Z."""
    q = Grid("Q", FIRST, LAST, CELL, CELL)
    k, s = (q._replace(name=name, x=q.right() + GAP) for name in "KS")
    k = k._replace(y=LAST - GAP - CELL * Q.shape[1] + AIR, is_turned=True)
    a = s._replace(name="A", x=s.right() + STEP)
    z = a._replace(name="Z", x=a.right() + GAP)
    v = z._replace(name="V", y=LAST - GAP - CELL * len(WORDS) + AIR)
    middle, y = (s.right() + a.x) / 2, (a.y + a.low()) / 2
    parts = _bands(q, v, z, "nv", LIT)
    parts += [*SCORES.code(True, (q.x, CALL), "first"), *MIX.code(True, (a.x, CALL))]
    parts += [part._replace(key=f"scores {part.key}") for part in s.boxes(ALIKE, GONE)]
    parts += z.boxes(MADE) + [part for each in (q, k, a, v) for part in each.boxes(ALIKE, GONE)]
    parts += [each.named_within() for each in (q, k, s, a, v, z)]
    parts += [*_gone("k", q, k), *_gone("m", a, v), *_columns("m kept", k), *_columns("v", v)]
    parts += [
        _bar("n", (q.x - AWAY, q.y), (q.x - AWAY, q.low())),
        _letter("axis n beside", "n", (q.x - 23, y + 7)),
        _letter("n reaches", "n", (z.right() + 17, y + 7)),
        _letter("v reaches", "v", ((z.x + z.right()) / 2, z.low() + 24)),
        line("step", [(s.right() + 12, y), (a.x - 12, y)], INK, 2.5),
        line("tip", [(a.x - 19, y - 6), (a.x - 12, y), (a.x - 19, y + 6)], INK, 2.5),
        word("divided", middle, y - 12, f"÷ {SCALE:g}", size=SMALL),
        word("softmax", middle, y + 25, "softmax", size=SMALL),
    ]
    told = "Letters missing after the arrow are added up: first k, then m. Only n and v reach Z."
    return Frame(parts, told)


def _gone(axis: str, left: Grid, above: Grid) -> list[Part]:
    """An axis that was added up, around a corner, and struck."""
    x, y = corner = (above.x - AWAY, left.y - AWAY)
    return [
        _bar(axis, (left.x, y), corner, GONE),
        _bar(f"{axis} too", corner, (x, above.y), GONE),
        _letter(f"axis {axis} inside", axis, (x - 24, y - 16)),
        line(f"struck {axis}", [(x - 38, y - 15), (x - 10, y - 34)], INK, 2.5),
    ]


def _rows(axis: str, grid: Grid) -> list[Part]:
    """An axis beside an array, from top to bottom, with a word before each row."""
    x, middles = grid.x - AWAY, [grid.y + grid.tall * (i + 0.5) + 5 for i in range(len(WORDS))]
    return [
        _bar(axis, (x, grid.y), (x, grid.low())),
        _letter(f"axis {axis} beside", axis[0], (x - 13, grid.y - AWAY + 3)),
        *(
            word(f"{axis} {each}", x - 8, y, each, INK, "end", SMALL)
            for each, y in zip(WORDS, middles, strict=True)
        ),
    ]


def _columns(axis: str, grid: Grid) -> list[Part]:
    """An axis over an array, from left to right."""
    y = grid.y - AWAY
    return [
        _bar(axis, (grid.x, y), (grid.right(), y)),
        _letter(f"axis {axis} over", axis[0], _over(grid)),
    ]


def _heads(grid: Grid) -> list[Part]:
    """Words over columns."""
    x, y = grid.x + grid.wide / 2, grid.y - AWAY - 9
    return [
        word(f"over {each}", x + j * grid.wide, y, each, size=SMALL) for j, each in enumerate(WORDS)
    ]


def _over(grid: Grid) -> Place:
    """Where the letter of its columns is."""
    return grid.right() + 18, grid.y - AWAY + 6


def _bar(axis: str, start: Place, end: Place, opacity: float = 1) -> Part:
    return line(f"bar {axis}", [start, end], COLOURS[axis[0]], BAR, opacity)


def _bands(left: Grid, above: Grid, made: Grid, axes: str, lit: float = 0.1) -> list[Part]:
    """The axes that reach what is made: from the left, and from above."""
    parts = []
    for axis, (x, y) in zip(axes, ((left.x, made.y), (made.x, above.y)), strict=True):
        size = (made.right() - x + 2 * AIR, made.low() - y + 2 * AIR)
        parts.append(box(f"band {axis}", (x - AIR, y - AIR), size, COLOURS[axis], lit))
    return parts


def _letter(
    key: str, axis: str, place: Place, size: float = AXIS, face: str = "", opacity: float = 1
) -> Part:
    return word(key, *place, axis, COLOURS[axis], "middle", size, 700, opacity, face)


def _underline(key: str, letter: Place, size: float, axis: str) -> Part:
    (x, y), half = letter, 0.26 * size
    ends = [(x - half, y + 0.25 * size), (x + half, y + 0.25 * size)]
    return line(f"{key} added", ends, COLOURS[axis], 0.1 * size)
