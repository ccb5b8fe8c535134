"""Lesson 03 opens with arrays whose axes meet: the one that two of them share is added up.

What is made stands beside the one array and under the other, as on paper. When the shared axis is
added up, both close towards it, and their other axes are its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, Part, Place, box, line, word
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

HIGH = 270
COLOURS = {"n": BLUE, "k": ORANGE, "m": GREEN, "v": PURPLE}
MEANS = {"n": "who asks", "m": "who is asked", "k": "entries"}
LEFT, RIGHT, NAMES = 104, 428, 452  # of the arrays; the middle of names at their right
OVER, DEEP = 53, 84  # top and height of the array above
UNDER, TALL = 155, 36  # top of the array at the left, and of what is made; its cells
DONE = {"S": (LEFT, 92, 57), "Z": (286, 122, 46)}  # what is made, when it is done; its cells
CORNER = 22  # between the array at the left and what is made, for the shared axis
AIR, AWAY, BAR, EDGE = 3, 8, 5, 2.5  # between cells; to a bar; how thick it is; a frame
STEP = 0.14  # how much colour is in the frame that steps
LETTERS, APART, LINES, NEXT = 19, 11.4, (22, 79), 23  # of code: size, from sign to sign, lines
CALL, BEGINS = 'einsum("', 6  # before the formula; its left end
SMALLER, SOURCES, ROW = (11, 14), {"Q": 36, "K": 109, "V": 182}, 184  # of what Z is made of
NUMBERS = {"Q": Q, "K": K.T, "S": S, "A": A, "V": V, "Z": Z}  # K as it is drawn
FORMS = {"A": ".3f", "Z": ".2f"}
KEYS = {"S": "made", "A": "made"}  # A is where S was


class Product(NamedTuple):
    """Two arrays that meet, what is made of them, and axes: of the one, of the other, shared."""

    left: str
    above: str
    made: str
    rows: str
    columns: str
    shared: str
    formula: str
    wide: float  # of the cells at the left

    def so_far(self, steps: int) -> np.ndarray:
        """What is added up after so many steps along the shared axis."""
        numbers: np.ndarray = NUMBERS[self.left][:, :steps] @ NUMBERS[self.above][:steps]
        return numbers

    def begins(self) -> float:
        """The left end of what is made."""
        return LEFT + self.wide * NUMBERS[self.left].shape[1] + CORNER


class Table(NamedTuple):
    """Where an array is drawn, and how large its cells are."""

    name: str
    x: float
    y: float
    wide: float
    tall: float

    def boxes(self, numbers: np.ndarray) -> list[Part]:
        """Its cells, darker where numbers are larger."""
        most, parts = float(np.abs(NUMBERS[self.name]).max()), []
        for i, j in np.ndindex(*numbers.shape):
            filled = 0.09 + 0.3 * abs(float(numbers[i, j])) / most
            corner = (self.x + self.wide * j, self.y + self.tall * i)
            size = (self.wide - AIR, self.tall - AIR)
            parts.append(box(f"{self._key()} {i} {j}", corner, size, GREY, filled))
        return parts

    def says(self, numbers: np.ndarray, size: float = SMALL) -> list[Part]:
        """The numbers."""
        parts, form = [], FORMS.get(self.name, "g")
        for i, j in np.ndindex(*numbers.shape):
            x = self.x + self.wide * (j + 0.5) - AIR / 2
            y = self.y + self.tall * (i + 0.5) - AIR / 2 + 0.36 * size
            text = f"{numbers[i, j]:{form}}".replace("-", "−")
            parts.append(word(f"{self._key()} says {i} {j}", x, y, text, size=size))
        return parts

    def around(
        self, key: str, first: Place, size: Place, colour: str | Colour, filled: float = 0
    ) -> Part:
        """A frame around cells, from the first one on."""
        x, y = self.x + self.wide * first[0] - AIR, self.y + self.tall * first[1] - AIR
        across, down = self.wide * size[0] + AIR, self.tall * size[1] + AIR
        return box(key, (x, y), (across, down), colour, filled, EDGE)

    def closed(self, numbers: np.ndarray, size: Place) -> list[Part]:
        """Its cells, which have closed."""
        return [
            box(
                f"{self._key()} {i} {j}",
                (self.x + self.wide * j, self.y + self.tall * i),
                size,
                GREY,
                0.1,
                opacity=0,
            )
            for i, j in np.ndindex(*numbers.shape)
        ]

    def _key(self) -> str:
        return KEYS.get(self.name, self.name)


SCORES = Product("Q", "K", "S", "n", "m", "k", "nk,mk->nm", 36)
MIX = Product("A", "V", "Z", "n", "v", "m", "nm,mv->nv", 58)


def opening() -> Film:
    """The film."""
    return Film("Axes meet, and one is added up", [*_scores(), *_mix()], HIGH)


def _scores() -> list[Frame]:
    asked, found = _formula(SCORES), _formula(SCORES, is_done=True)
    first = SCORES.so_far(1)[0, 0]
    return [
        Frame(
            [*asked, *_meeting(SCORES)],
            "Which axes will S have? K is drawn turned, so that its k meets that of Q.",
        ),
        Frame(
            [*asked, *_meeting(SCORES, 0, 1)],
            f"Step along k, all pairs at once: {_terms(SCORES, 0, 1)} = {first} in the first cell.",
        ),
        Frame(
            [*asked, *_meeting(SCORES, 1, 4)],
            f"Three more k: {first} + {_terms(SCORES, 1, 4)} = {S[0, 0]} in the first cell.",
        ),
        Frame(
            [*found, *_closed(SCORES), *_done(SCORES)],
            "Now k is added up, and gone. What is left of Q and K is n and m.",
        ),
    ]


def _mix() -> list[Frame]:
    before = _formula(SCORES, is_done=True)
    asked, found = [*before, *_formula(MIX)], [*before, *_formula(MIX, is_done=True)]
    first = MIX.so_far(1)[0, 0]
    return [
        Frame(
            [*asked, *_meeting(MIX)],
            f"Divided by √4 = {ROOT:g}, through softmax: S becomes A, which meets V at m.",
        ),
        Frame(
            [*asked, *_meeting(MIX, 0, 1)],
            f"Step along m: {_terms(MIX, 0, 1)} = {first:.2f} in the first cell.",
        ),
        Frame(
            [*asked, *_meeting(MIX, 1, 3)],
            f"Two more m: {first:.2f} + {_terms(MIX, 1, 3)} = {Z[0, 0]:.2f} in the first cell.",
        ),
        Frame(
            [*found, *_closed(MIX), *_done(MIX), *_sources()],
            "What is not after the arrow was added up: k, then m. Z has n and v.",
        ),
    ]


def _terms(product: Product, start: int, end: int) -> str:
    """What steps add to the first cell."""
    form = FORMS.get(product.left, "g")
    ones = NUMBERS[product.left][0, start:end]
    others = NUMBERS[product.above][start:end, 0]
    pairs = zip(ones, others, strict=True)
    return " + ".join(f"{one:{form}} · {other}" for one, other in pairs)


def _formula(product: Product, is_done: bool = False) -> list[Part]:
    """What einsum is told. When it is done, a letter is struck, and the last two are there."""
    made, signs, y = product.made, product.formula, float(LINES[product is MIX])
    first = BEGINS + APART * (len(CALL) + 0.5)
    parts = [
        _code(f"{made} call", BEGINS, y, CALL),
        _code(f"{made} ends", first + APART * (len(signs) - 0.5), y, '",'),
        _code(f"{made} of", first - APART / 2, y + NEXT, f"{product.left}, {product.above})"),
    ]
    for n, sign in enumerate(signs):
        key, x = f"{made} {n}", first + APART * n
        if is_done or n < len(signs) - 2:
            colour = COLOURS.get(sign, INK)
            parts.append(word(key, x, y, sign, colour, size=LETTERS, weight=700, face=CODE))
        if is_done and sign == product.shared:
            parts.append(_struck(key, (x, y), LETTERS))
    if not is_done:
        last = first + APART * (len(signs) - 1.5)
        parts.append(word(f"{made} asks", last, y, "?", INK, size=LETTERS, weight=700))
    return parts


def _code(key: str, x: float, y: float, text: str) -> Part:
    """Code around a formula."""
    return word(key, x, y, text, INK, "start", LETTERS, face=CODE)


def _struck(key: str, letter: Place, size: float) -> Part:
    """A line through a letter."""
    (x, y), half, rises = letter, 0.38 * size, 0.14 * size
    middle = y - 0.27 * size
    ends = [(x - half, middle + rises), (x + half, middle - rises)]
    return line(f"{key} struck", ends, INK, 0.11 * size)


def _tables(product: Product) -> tuple[Table, Table, Table]:
    """Of the array at the left, of that above, and of what is made."""
    x, many = product.begins(), NUMBERS[product.made].shape[1]
    wide = (RIGHT - x) / many
    tall = DEEP / len(NUMBERS[product.above])
    return (
        Table(product.left, LEFT, UNDER, product.wide, TALL),
        Table(product.above, x, OVER, wide, tall),
        Table(product.made, x, UNDER, wide, TALL),
    )


def _meeting(product: Product, start: int = 0, end: int = 0) -> list[Part]:
    """Both arrays around what is made, steps along the shared axis, and what they have made."""
    left, above, made = tables = _tables(product)
    numbers = [NUMBERS[product.left], NUMBERS[product.above], product.so_far(end)]
    boxes = [
        part for each, known in zip(tables, numbers, strict=True) for part in each.boxes(known)
    ]
    says = [*left.says(numbers[0]), *above.says(numbers[1])]
    steps = _steps(product, tables, start, end) if end else []
    if end:
        says += made.says(numbers[2])
    else:
        middle = ((made.x + RIGHT) / 2, UNDER + 1.5 * TALL + 13)
        says.append(word(f"{product.made} is?", *middle, "?", INK, size=40, weight=700))
    names = [(left, (14, UNDER)), (above, (NAMES, OVER - TALL / 4)), (made, (NAMES, UNDER))]
    return [
        *boxes,
        *steps,
        *says,
        *(_name(each.name, (x, y + 1.5 * TALL + 8)) for each, (x, y) in names),
        *_kept(product, (LEFT, UNDER), above.x, OVER, TALL),
        *_means(product, above.x),
        *_shared(product, above),
    ]


def _steps(
    product: Product, tables: tuple[Table, Table, Table], start: int, end: int
) -> list[Part]:
    """Steps along the shared axis, the row and the column that meet first, and their cell."""
    left, above, made = tables
    shared, many = COLOURS[product.shared], len(NUMBERS[product.above])
    return [
        left.around("row", (0, 0), (many, 1), COLOURS[product.rows]),
        above.around(f"column {product.columns}", (0, 0), (1, many), COLOURS[product.columns]),
        left.around(f"step {product.shared}", (start, 0), (end - start, len(Q)), shared, STEP),
        above.around(
            f"step of {product.shared}",
            (0, start),
            (NUMBERS[product.above].shape[1], end - start),
            shared,
            STEP,
        ),
        made.around(f"cell of {product.made}", (0, 0), (1, 1), INK),
    ]


def _shared(product: Product, above: Table) -> list[Part]:
    """The axis that both share, around the corner."""
    shared, corner = product.shared, _corner(product)
    return [
        _bar(shared, (LEFT, corner[1]), corner),
        _bar(f"{shared} too", corner, (corner[0], above.y)),
    ]


def _corner(product: Product) -> Place:
    return product.begins() - AWAY - AIR, UNDER - AWAY


def _kept(product: Product, left: Place, x: float, top: float, tall: float) -> list[Part]:
    """Axes that are not shared: of rows, at a left end; of columns, from x on over a top."""
    (start, y), (rows, columns) = left, (product.rows, product.columns)
    beside, over = start - AWAY, top - AWAY
    return [
        _bar(rows, (beside, y), (beside, y + len(WORDS) * tall - AIR)),
        *_words(rows, beside - 9, y, tall),
        _bar(columns, (x, over), (RIGHT - AIR, over)),
        *_over(columns, x, over - 9),
        *(_words("V", x - 20, top, DEEP / 3) if product is MIX and top == OVER else []),
    ]


def _means(product: Product, x: float) -> list[Part]:
    """Letters of the axes of two that meet, and what they stand for where they first do."""
    first, middle = product is SCORES, (LEFT + _corner(product)[0]) / 2
    over = ((x + RIGHT) / 2 - 58, OVER - 36) if first else (RIGHT + 13, OVER - 2)
    places = (
        (product.rows, (12, UNDER - 16), ""),
        (product.shared, (LEFT + 44 if first else middle, UNDER - 16), " shared"),
        (product.columns, over, " first" if first else ""),
    )
    parts = []
    for axis, (at, y), key in places:
        parts.append(_axis(axis, (at, y), key))
        if first or axis == product.rows:
            beside = at + (11 if axis == "m" else 8)
            parts.append(word(f"means {axis}", beside, y, f": {MEANS[axis]}", INK, "start", SMALL))
    return parts


def _over(axis: str, x: float, y: float) -> list[Part]:
    """What an axis stands for, over it."""
    if axis == "v":
        return [word("v is", (x + RIGHT - AIR) / 2, y, "width of a value", size=SMALL)]
    wide = (RIGHT - x) / len(WORDS)
    return [
        word(f"column {each}", x + wide * (j + 0.5) - AIR / 2, y, each, size=SMALL)
        for j, each in enumerate(WORDS)
    ]


def _words(key: str, right: float, top: float, tall: float) -> list[Part]:
    """At the left of rows."""
    return [
        word(f"{key} {each}", right, top + tall * (i + 0.5) + 5, each, INK, "end", SMALL)
        for i, each in enumerate(WORDS)
    ]


def _large(product: Product) -> Table:
    """Of what is made, when it is done."""
    x, y, tall = DONE[product.made]
    return Table(product.made, x, y, (RIGHT - x) / NUMBERS[product.made].shape[1], tall)


def _closed(product: Product) -> list[Part]:
    """Both arrays, closed along the shared axis, and that axis, which is gone."""
    large, (left, above, _) = _large(product), _tables(product)
    corner = (large.x, large.y)
    beside = Table(left.name, *corner, 0, large.tall)
    over = Table(above.name, *corner, large.wide, 0)
    return [
        *beside.closed(NUMBERS[left.name], (0, large.tall - AIR)),
        *over.closed(NUMBERS[above.name], (large.wide - AIR, 0)),
        _bar(product.shared, corner, corner, 0),
        _bar(f"{product.shared} too", corner, corner, 0),
    ]


def _done(product: Product) -> list[Part]:
    """What is made, large, with the axes that were left."""
    table = _large(product)
    numbers, corner = NUMBERS[table.name], (table.x, table.y)
    return [
        *table.boxes(numbers),
        *table.says(numbers, 22),
        *_kept(product, corner, table.x, table.y, table.tall),
        _axis(product.rows, (table.x - AWAY - 10, table.y - 8)),
        _axis(product.columns, (RIGHT + 13, table.y - 2)),
        _name(table.name, (NAMES, table.y + 1.5 * table.tall + 8)),
    ]


def _sources() -> list[Part]:
    """What Z was made of, small, as they are written, and their axes."""
    sources = (("Q", Q, "n", "k"), ("K", K, "m", "k"), ("V", V, "m", "v"))
    parts, (wide, tall) = [], SMALLER
    for name, numbers, down, across in sources:
        x, key = SOURCES[name], f"source {name}"
        right, low = x + wide * numbers.shape[1], ROW + tall * len(numbers)
        for i, j in np.ndindex(*numbers.shape):
            corner = (x + wide * j, ROW + tall * i)
            parts.append(box(f"{key} {i} {j}", corner, (wide - 2, tall - 2), GREY, 0.25))
        letters = {down: (x - 17, (ROW + low) / 2 + 5), across: ((x + right) / 2 - 1, ROW - 13)}
        ends = {
            down: [(x - 6, ROW), (x - 6, low - 2)],
            across: [(x, ROW - 6), (right - 2, ROW - 6)],
        }
        for axis, at in letters.items():
            faded = 1 if axis in "nv" else 0.4
            parts.append(line(f"{key} bar {axis}", ends[axis], COLOURS[axis], 4, faded))
            parts.append(
                word(f"{key} axis {axis}", *at, axis, COLOURS[axis], size=SMALL, weight=700)
            )
            if axis not in "nv":
                parts.append(_struck(f"{key} {axis}", at, SMALL))
        parts.append(word(key, (x + right) / 2 - 1, low + 22, name, GREY, size=SMALL, weight=700))
    return parts


def _bar(axis: str, start: Place, end: Place, opacity: float = 1) -> Part:
    return line(f"bar {axis}", [start, end], COLOURS[axis[0]], BAR, opacity)


def _axis(axis: str, at: Place, key: str = "") -> Part:
    return word(f"axis {axis}{key}", *at, axis, COLOURS[axis], size=22, weight=700)


def _name(name: str, at: Place) -> Part:
    """Of an array; it does not move from one side of it to the other."""
    side = "right" if at[0] == NAMES else "left"
    return word(f"name {name} {side}", *at, name, INK, size=26, weight=700)
