"""Lesson 12 opens with full attention and three shortcuts: what each keeps, and what it loses.

One shelf is asked for the letter in one far book. Purple under it is what a way keeps; pale, behind
it, what full attention keeps. Shared keys and values find that book, and fail where four are asked
for at once. In the end all that is kept stands under one shelf, and beside it whether it grows with
the shelf, and how often its way is right. The readers were trained as the lesson trains them;
`python -m tests.claims.shortcuts` does that again, and records in `opening.json` the text that is
shown, what they look at in it, and how often they are right.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SIZE, SMALL, Part, arc, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
ONE, FOUR = "of 32", "4 at once"  # one book that no window reaches; four facts
FOUND = 0.95  # right so often, it finds
WINDOW, LETTERS = 8, 8  # what a window keeps; letters that may be in a book
BOOKS, FEW = 32, 8  # in the first test, and in the second
HEADS, WIDTH = 4, 8  # and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, LEFT, RIGHT = 270, 4, 476  # of the sheet; margins
LANES, LANE, BESIDE = 86, 59, 156  # the first lane's top; how high each is; left of second words
LEAST, THICKEST = 0.03, 11  # a weight that is drawn; an arc of weight 1
BOOK, WIDEST = 0.84, 0.9  # a book's width, as a share of its room; of its height, at most
PALE, FAR = 0.22, 0.45  # what is not kept; a book that is out of reach
BIG, HUGE, HEAVY = 24, 40, 700  # words; a result

NAMES = {
    "full": "full attention",
    "window": f"window of {WINDOW}",
    "sum": "running sum",
    "shared": "shared keys + values",
}
PARTS = {1: "all", 4: "a quarter", 7: "a seventh"}
GROWS = {
    "full": "grows with each book",
    "window": "stays this size",
    "sum": "stays this size",
    "shared": "grows a quarter as fast",
}
Cells = dict[str, dict[str, dict[str, Any]]]  # by way and test


class Scene(NamedTuple):
    """A way that is tried: what it does, in three words and in a sentence."""

    way: str
    test: str
    does: str
    told: str


SCENES = (
    Scene(
        "full",
        ONE,
        "finds the book",
        f"Full attention keeps a key and a value of each book in {HEADS} heads, and finds it.",
    ),
    Scene(
        "window",
        ONE,
        "loses far books",
        f"A window keeps {WINDOW - 1} books and the question. It guesses the rest: 1 in {LETTERS}.",
    ),
    Scene(
        "sum",
        ONE,
        "blurs many books",
        "For a running sum, each head adds all books into one small table. They blur.",
    ),
    Scene(
        "shared",
        ONE,
        "finds the book",
        "Heads that share keys and values keep a quarter, and still find the book.",
    ),
    Scene(
        "full",
        FOUR,
        "finds all four",
        f"Now four of {FEW} books are asked for at once. Full attention looks at these four.",
    ),
    Scene(
        "shared",
        FOUR,
        "mixes four at once",
        "With shared keys and values it looks at others too, and says their letters.",
    ),
)


def kept(tokens: int = BOOKS + 1) -> dict[str, int]:
    """How many numbers each way keeps of so many tokens, as the lesson counts them."""
    full = 2 * HEADS * WIDTH * tokens  # keys and values
    return {
        "full": full,
        "window": full * WINDOW // tokens,
        "sum": HEADS * (WIDTH * WIDTH + WIDTH),
        "shared": full // HEADS,
    }


def opening() -> Film:
    """The film."""
    known: Cells = json.loads(RECORDED.read_text(encoding="utf-8"))
    says = f"Name the letter in the blue book: one of {LETTERS}, far back among {BOOKS} books."
    frames = [Frame(_question(_Shelf(SCENES[0], known, STAGE)), says)]
    for scene, following in pairwise([*SCENES, SCENES[-1]]):
        shelf = _Shelf(scene, known, STAGE)
        parts = [*shelf.drawn(), *_says(shelf, known["full"][scene.test]["right"])]
        if following.way != scene.way and following.test == scene.test:
            parts += shelf.handed(following.way)
        frames.append(Frame(parts, scene.told))
    failed = [each for each in SCENES if known[each.way][each.test]["right"] < FOUND]
    lanes = [part for n, scene in enumerate(failed) for part in _lane(n, scene, known)]
    found = min(cell["right"] for cell in known["full"].values())
    says = f"In these small models, full attention is {_percent(found)} right in both tests."
    frames.append(Frame([*_all(found, known), *lanes], says))
    return Film("Each shortcut keeps less, and loses something else", frames, HIGH)


# A shelf ------------------------------------------------------------------------------------------


class Room(NamedTuple):
    """Where a shelf is: its edges, the tops and feet of arcs, how high books are, rows of heads."""

    left: float
    right: float
    top: float
    floor: float
    high: float
    row: float


STAGE = Room(LEFT, RIGHT, 72, 150, 30, 10)
LAST = Room(LEFT, RIGHT, 26, 26, 22, 5)  # of all lanes, without arcs


class _Shelf:
    """Books, the question after them, what it looks at, and what is kept of them.

    Args:
        scene: the way that is tried, and in what.
        known: what was recorded.
        room: where.
    """

    def __init__(self, scene: Scene, known: Cells, room: Room) -> None:
        self.scene, self.room = scene, room
        self.cell = known[scene.way][scene.test]
        self.tokens = len(self.cell["weights"])
        self.apart = (room.right - room.left) / self.tokens
        self.book = min(BOOK * self.apart, WIDEST * room.high)
        self.middle = room.floor + 2 + room.high / 2  # of books
        self.memory = room.floor + room.high + 2 + 1.4 * room.row  # of the first head's row

    @property
    def keeps(self) -> str:
        many = kept(self.tokens)
        return f"keeps {PARTS[round(many['full'] / many[self.scene.way])]}"

    def at(self, token: int) -> float:
        """The middle of its room."""
        return self.room.left + (token + 0.5) * self.apart

    def drawn(self) -> list[Part]:
        """All of it."""
        rows = [*self.rows("full", f"{self.scene.test} all", PALE), *self.own()]
        return [*rows, *self.arcs(), *self.books(), *self.letters()]

    def own(self) -> list[Part]:
        """What its way keeps."""
        return self.rows(self.scene.way, f"{self.scene.way} {self.scene.test} head")

    def handed(self, way: str) -> list[Part]:
        """Not seen yet: all that full attention keeps, which will become what another way keeps."""
        return self.rows("full", f"{way} {self.scene.test} head", 0)

    def books(self) -> list[Part]:
        """Those asked for are blue, those out of a window's reach pale; and a question mark."""
        parts = []
        for token in range(self.tokens - 1):
            key, wide = f"{self.scene.test} book {self._back(token)}", self.book
            corner = self.at(token) - wide / 2, self.room.floor + 2
            size, asked = (wide, self.room.high), token in self.cell["asked"]
            colour, filled, edge = (BLUE, 0.3, 1.5) if asked else (INK, 0.13, 0)
            parts.append(box(key, corner, size, colour, filled, edge, self._seen(token)))
        letter, x = max(SMALL, 0.8 * self.room.high), self.at(self.tokens - 1)
        y = self.middle + 0.36 * letter
        return [*parts, word("asks", x, y, "?", size=letter, weight=HEAVY)]

    def letters(self) -> list[Part]:
        """In the books."""
        parts = []
        for token, letter in enumerate(self.cell["letters"]):
            asked = token in self.cell["asked"]
            look: dict[str, Any] = {"opacity": self._seen(token), "face": CODE, "size": SMALL}
            place = self.at(token), self.middle + 6.5
            key, colour = f"{self.scene.test} letter {self._back(token)}", BLUE if asked else INK
            look |= {"weight": HEAVY if asked else 400}
            parts.append(word(key, *place, letter, colour, **look))
        return parts

    def arcs(self) -> list[Part]:
        """From the question to all that it gives weight to, in the mean of its heads."""
        last, (_, _, top, floor, _, _) = self.tokens - 1, self.room
        parts = []
        for m, weight in enumerate(self.cell["weights"][:-1]):
            if weight < LEAST:
                continue
            pull = (floor - top) * (0.4 + 0.6 * (last - m) / last) / 0.75
            colour = BLUE if m in self.cell["asked"] else ORANGE
            key = f"{self.scene.way} look {self.scene.test} {m}"
            look: dict[str, Any] = {"pull": pull, "thickest": THICKEST}
            parts.append(arc(key, self.at(last), self.at(m), floor, weight, colour, 1.4, **look))
        return parts

    def rows(self, way: str, key: str, opacity: float = 1) -> list[Part]:
        """What a way keeps, a row for each head with a dash for each token; a sum has no tokens."""
        left, right = self.at(0) - self.book / 2, self.at(self.tokens - 1) + self.book / 2
        gap = self.apart - self.book
        if way == "window":
            left = right - (WINDOW - 1) * self.apart - self.book
        elif way == "sum":
            right, gap = left + TABLE * self.book, 0
        dashes = f"{self.book:.3f} {gap:.3f}"
        ys = (self.memory + (0 if way == "shared" else n) * self.room.row for n in range(HEADS))
        look = (PURPLE, 0.74 * self.room.row, opacity, dashes, "butt")
        return [line(f"{key} {n}", [(left, y), (right, y)], *look) for n, y in enumerate(ys)]

    def _back(self, token: int) -> int:
        return self.tokens - 1 - token

    def _seen(self, token: int) -> float:
        return FAR if self.scene.way == "window" and self._back(token) >= WINDOW else 1


# Words --------------------------------------------------------------------------------------------


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _question(shelf: _Shelf) -> list[Part]:
    """Nothing has looked yet: an arc that asks only, and what is at its ends."""
    [asked], last = shelf.cell["asked"], shelf.tokens - 1
    pull, y = (STAGE.floor - STAGE.top) / 0.75, STAGE.floor + STAGE.high + 30
    ends = shelf.at(last), shelf.at(asked)
    look: dict[str, Any] = {"pull": pull, "thickest": 12}
    left = shelf.at(asked) - shelf.book / 2
    return [
        arc("question", *ends, STAGE.floor, 0.2, BLUE, 2, dashes="1 9", **look),
        *shelf.books(),
        *shelf.letters(),
        word("name", LEFT, 28, f"{BOOKS} books", anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 56, f"one of {LETTERS} letters in each", GREY, "start", BIG),
        word("asked", left, y, "which letter is in it?", BLUE, "start", BIG, HEAVY),
    ]


def _says(shelf: _Shelf, full: float) -> list[Part]:
    """A way's name, what it does and keeps, and how often it and full attention are right."""
    scene, right = shelf.scene, shelf.cell["right"]
    colour = BLUE if right >= FOUND else ORANGE
    parts = [
        word("name", LEFT, 28, NAMES[scene.way], anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 56, scene.does, colour, "start", BIG, HEAVY),
        word("keeps", LEFT, HIGH - 10, shelf.keeps, PURPLE, "start", BIG, HEAVY),
        word("right", RIGHT - 52, 38, _percent(right), colour, "end", HUGE, HEAVY),
        word("of 100", RIGHT, 38, "right", colour, "end", SIZE),
    ]
    if scene.way != "full":
        says = f"full attention {_percent(full)}"
        parts.append(word("beside", RIGHT, 62, says, GREY, "end", SMALL))
    says = GROWS[scene.way]
    return [*parts, word("grows", RIGHT, HIGH - 10, says, PURPLE, "end", SIZE)]


def _all(found: float, known: Cells) -> list[Part]:
    """The shelf, over all lanes, and what full attention keeps."""
    shelf, y = _Shelf(SCENES[0], known, LAST), 18
    return [
        *shelf.books(),
        *shelf.letters(),
        *shelf.own(),
        word("full name", LEFT, y, NAMES["full"], anchor="start"),
        word("full grows", BESIDE, y, GROWS["full"], PURPLE, "start", SMALL),
        *_right("full", y, found, 400),
    ]


def _lane(n: int, scene: Scene, known: Cells) -> list[Part]:
    """What a shortcut keeps, under the shelf, and how often it is right where it fails."""
    top, way, thin = LANES + n * LANE, scene.way, scene.way == "shared"
    first, (second, strip) = top + 23, (top + 55, top + 31) if thin else (top + 46, top + 32)
    room = LAST._replace(floor=strip - LAST.high - 2 - LAST.row)
    shelf = _Shelf(scene._replace(test=ONE), known, room)
    grows = GROWS[way] if thin else f"{GROWS[way]}, however many books"
    left = shelf.at(0) + (TABLE + 1) * shelf.book if way == "sum" else LEFT
    parts = [
        line(f"{way} rule", [(LEFT, top), (RIGHT, top)], GREY, 1, 0.4),
        *shelf.own(),
        word(f"{way} name", LEFT, first, NAMES[way], anchor="start", weight=HEAVY),
        *_right(way, first, known[way][scene.test]["right"], HEAVY),
        word(f"{way} grows", left, second, grows, PURPLE, "start", SMALL),
    ]
    if scene.test == ONE:
        return [*parts, word(f"{way} does", BESIDE, first, scene.does, ORANGE, "start", SMALL)]
    return [
        *parts,
        word(f"{way} one", 341, first, _percent(shelf.cell["right"]), BLUE, "end", BIG),
        word(f"{way} then", 358, first, "→", GREY),
        word(f"{way} does", RIGHT, second, "one book → four at once", GREY, "end", SMALL),
    ]


def _right(way: str, y: float, share: float, weight: float) -> list[Part]:
    """How often a way is right, in the column for that."""
    colour = BLUE if share >= FOUND else ORANGE
    return [
        word(f"{way} right", RIGHT - 48, y, _percent(share), colour, "end", BIG, weight),
        word(f"{way} of 100", RIGHT, y, "right", colour, "end", SMALL),
    ]
