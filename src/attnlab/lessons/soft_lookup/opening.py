"""Lesson 01 opens with sentences to put together, and what a word takes from others.

What the small model's words take is recorded in `sentences.json`, by `make model`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Choice, Film, Frame
from attnlab.figures.live.parts import (
    INK,
    LETTER,
    SIZE,
    SMALL,
    WIDE,
    Part,
    across,
    arc,
    box,
    line,
    places,
    ring,
    rise,
    word,
)
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

SENTENCES = Path(__file__).with_name("sentences.json")
MENUS = {
    "first noun": ("dogs", "dog", "kings", "king"),
    "link": ("that … sees", "that … knows", "behind", "near"),
    "second noun": ("boy", "girls", "cat", "cats"),
}
MANY = ("dogs", "kings", "girls", "cats")
HIGH, LINE, FLOOR = 270, 171, 143  # of the sheet; of the words; where arcs begin
GAP, LEAST = 15, 0.01  # between words, where there is room; a share that is drawn
EDGE, TOP, TALL = 38, 118, 96  # how much wider the slot of the verbs is than they are; its y
INTO = 14  # how far in it the marks are of what is one or many
WIDER = 10  # by how much the word that takes is, as it is bold
AIR = 4  # before the slot
ROWS = (LINE - 13, LINE + 35)  # lines of the verb for many, and of that for one
MEANS = 22  # from the line that says so to the verb's
PIPE = 16  # thickness of an arc of share 1
MARK, LARGEST = 4, 4.5  # radius of a noun's marks before it is taken, and of one taken alone
SPECK = 1.5  # radius of the least that can be seen
TAIL = 3  # of their way, beyond where they rest
TWO = 10  # from one mark to the other, of a noun that is many
LOWER = 0.92  # of arcs, a factor
FEET, BEFORE = (
    24,
    8,
)  # from the first to the last of arcs' ends; how far left of its middle they are
BAR, BAR_HIGH, ALL = (130, 219), 24, 294  # where shares are laid end to end; how long all are
SLIVER = 8  # a part that is narrower has a line to its name
LOOP, AFTER = 7, 15  # radius of a word's arc to itself, and how far right of its middle it is
BEND = 9  # radius of the turn that marks take at the word that takes
START = "start"  # what the model has for the beginning of a text


def opening() -> Film:
    """The film, for each sentence that the menus allow."""
    return Film("Soft lookup: how much from whom?", _frames, HIGH, menus=MENUS)


def sentence(chosen: Choice) -> list[str]:
    """Its words, without the verb that the model has to guess."""
    first, link, second = (chosen[name] for name in MENUS)
    if " … " not in link:
        return ["the", first, link, "the", second]
    that, sees = link.split(" … ")
    return ["the", first, that, "the", second, sees[:-1] if second in MANY else sees]


def sentences() -> list[list[str]]:
    """All of them."""
    return [sentence(dict(zip(MENUS, each, strict=True))) for each in product(*MENUS.values())]


@cache
def _recorded() -> dict[str, Any]:
    """For each sentence, rows of weights up to each word, and what verb may be next.

    The first word is the start of the text.
    """
    return {" ".join(each["words"]): each for each in json.loads(SENTENCES.read_text("utf-8"))}


def _frames(chosen: Choice) -> list[Frame]:
    words = sentence(chosen)
    known = _recorded()[" ".join(words)]
    text, verbs = [START, *words], sorted((known["guess"], known["other"]))
    nouns = (2, text.index(chosen["second noun"], 3))
    scene = Scene(text, nouns, hundredths(known["weights"][-1]), verbs)
    frames = scene.frames(known["guess"], known["other"])
    return [Frame([*map(_shorter, parts)], told) for parts, told in frames]


def _shorter(part: Part) -> Part:
    """Without an opacity of 1, which it has anyway: frames of all sentences are recorded."""
    look = {name: to for name, to in part.look.items() if (name, to) != ("opacity", 1)}
    return part._replace(look=look)


def hundredths(row: Sequence[float]) -> list[float]:
    """Shares in two digits that add up to 1: those nearest to the next hundredth are rounded up."""
    down = [int(100 * share + 1e-6) for share in row]
    order = sorted(range(len(row)), key=lambda j: down[j] - 100 * row[j])
    up = order[: 100 - sum(down)]
    return [(each + (j in up)) / 100 for j, each in enumerate(down)]


class Scene(NamedTuple):
    """A sentence whose last word takes from others.

    Attributes:
        text: its words.
        nouns: the places of both.
        shares: of the last word.
        verbs: one of which comes next.
    """

    text: Sequence[str]
    nouns: tuple[int, int]
    shares: Sequence[float]
    verbs: Sequence[str]

    def frames(self, guess: str, other: str) -> list[Frame]:
        """Of the film."""
        last, (first, second) = len(self.text) - 1, self.nouns
        said, it, near = (f"“{self.text[j]}”" for j in (last, first, second))
        hard = self._replace(shares=[float(j == first) for j in range(last + 1)])
        asks = [*self.words(), *self.asked(), *self.whole()]
        takes = [*self.arcs(1), *asks, *self.given(), *self.sum()]
        return [
            Frame(
                [*hard.arcs(0), *self.tried(), *asks, *self.slot(), *self.marks(0)],
                f"Next comes “{self.verbs[0]}” for many or “{self.verbs[1]}” for one: "
                f"{said} asks whose.",
            ),
            Frame(
                [
                    *hard.arcs(1),
                    *asks,
                    *hard.given(),
                    *hard.parts(self.taken),
                    *hard.most("hard lookup: "),
                    *self.slot(),
                    *self.marks(0),
                ],
                f"A hard lookup takes from one winner alone: {it}.",
            ),
            Frame(
                [*takes, *self.slot(), *self.marks(0, is_taken=True)],
                f"A soft lookup has shares instead: {self.shares[first]:.2f} from {it}, "
                f"{self.shares[second]:.2f} from {near}.",
            ),
            Frame(
                [*takes, *self.slot(), *self.marks(1, is_taken=True)],
                f"The blend arrives: mostly {it}, and a trace of {near}.",
            ),
            Frame(
                [
                    *self.arcs(1, 0.8),
                    *asks,
                    *self.given(),
                    *self.sum(),
                    *self.slot(guess),
                    *self.marks(1, is_taken=True),
                ],
                f"{said} took most from {it}: the likeliest verb is “{guess}”, not “{other}”.",
            ),
        ]

    @property
    def taken(self) -> list[int]:
        """Words from which as much is taken as can be drawn."""
        return [j for j, share in enumerate(self.shares) if share >= LEAST]

    @property
    def middles(self) -> list[float]:
        """Of the words, and of the slot for the verb after them."""
        wide, bold = _width(self.verbs[1]) + AIR, across(self.text, gap=0) + WIDER
        gap = min(GAP, (WIDE - 4 - wide - bold) / len(self.text))
        right = bold + gap * len(self.text)
        left = (WIDE - right - wide) / 2
        *middles, last = places(self.text, gap=gap, left=left)
        return [*middles, last + WIDER / 2, left + right + (wide + AIR) / 2]

    @property
    def left(self) -> float:
        """Of the slot."""
        return self.middles[-1] - _width(self.verbs[1]) / 2

    def colour(self, j: int) -> Colour:
        """Of a word: what it says of the verb, one or many, or nothing."""
        if j not in self.nouns:
            return GREY
        return _of(self.text[j] in MANY)

    def words(self) -> list[Part]:
        """All; the one that takes is bold, and nouns have the colour of one or many."""
        return [
            word(
                f"word {j}",
                self.middles[j],
                LINE,
                each,
                (self.colour(j) if j in self.nouns else INK) if j else GREY,
                size=SIZE if j else SMALL,
                weight=700 if j == len(self.text) - 1 else 400,
            )
            for j, each in enumerate(self.text)
        ]

    def foot(self, j: int) -> float:
        """Where the arc to a word begins: the farther that is, the further on the right."""
        last = len(self.text) - 1
        if j == last:
            return self.middles[last] + AFTER
        return self.middles[last] - BEFORE + FEET * (0.5 - j / (last - 1))

    def path(self, j: int) -> Part:
        """From the word that takes to another, or to itself."""
        middles, last = self.middles, len(self.text) - 1
        share, x = self.shares[j], self.foot(j)
        if j == last:
            return ring(f"to {j}", x, FLOOR, share, self.colour(j), r=LOOP, thickest=PIPE)
        return arc(
            f"to {j}",
            x,
            middles[j],
            FLOOR,
            share,
            self.colour(j),
            thickest=PIPE,
            pull=LOWER * rise(x - middles[j], self.foot(0) - middles[0]),
        )

    def arcs(self, come: float, opacity: float = 0.4) -> list[Part]:
        """To each word that something is taken from: not begun, 0, or there, 1; nouns' in front."""
        parts = []
        for part in map(self.path, sorted(self.taken, key=lambda j: j in self.nouns)):
            long = _length(str(part.look["d"])) if "d" in part.look else math.tau * LOOP
            look: dict[str, Any] = {
                "stroke-dasharray": f"{long * come:.1f} 2000",
                "opacity": opacity * come,
            }
            parts.append(part._replace(look={**part.look, **look}))
        return parts

    def tried(self) -> list[Part]:
        """An arc to each word before, of which nothing is known."""
        middles, last = self.middles, len(self.text) - 1
        wide = self.foot(0) - middles[0]
        return [
            arc(
                f"to {j}?",
                self.foot(j),
                middles[j],
                FLOOR,
                0.15,
                GREY,
                2 if j in self.nouns else 0.8,
                dashes="4 7",
                pull=LOWER * rise(self.foot(j) - middles[j], wide),
            )
            for j in range(last)
        ]

    def asked(self) -> list[Part]:
        """What is wanted, beside the arcs of the word that takes."""
        x, y = self.left + _width(self.verbs[1]), TOP - 10
        return [word("wanted", x, y, "subject?", INK, "end", weight=700)]

    def given(self) -> list[Part]:
        """The shares, under their words."""
        return [
            word(
                f"given {j}",
                self.middles[j],
                LINE + 24,
                f"{share:.2f}",
                self.colour(j),
                size=SMALL,
                weight=700 if j in self.nouns else 400,
            )
            for j, share in enumerate(self.shares)
        ]

    def parts(self, taken: Sequence[int]) -> list[Part]:
        """The shares of these words as lengths, laid end to end."""
        boxes, right = [], float(BAR[0])
        for j in taken:
            corner, size = (right, BAR[1]), (ALL * self.shares[j], BAR_HIGH)
            boxes.append(box(f"part {j}", corner, size, self.colour(j), 0.4))
            right += size[0]
        return boxes

    def most(self, lookup: str = "") -> list[Part]:
        """Of which word the largest share is."""
        first = self.nouns[0]
        middle = BAR[0] + ALL * (sum(self.shares[:first]) + self.shares[first] / 2)
        says = f"{lookup}{self.text[first]} {self.shares[first]:.2f}"
        return [word("most", middle, BAR[1] + 18.5, says, size=SMALL)]

    def sum(self) -> list[Part]:
        """The shares, laid end to end, and of which words they are."""
        first = self.nouns[0]
        look: dict[str, Any] = {"size": SMALL}
        taken = self.taken
        names, low = [], BAR[1] + BAR_HIGH + 15
        before = ", ".join(self.text[j] for j in taken if j < first)
        if before:
            names.append(word("before", BAR[0], low, before, GREY, "start", **look))
        right = float(BAR[0] + ALL)
        for j in [j for j in reversed(taken) if j > first]:
            left = right - ALL * self.shares[j]
            is_end, x = j == taken[-1], left + 3
            if right - left < SLIVER:
                x = (left + right) / 2
                names.append(
                    line(f"lead {j}", [(x, BAR[1] + BAR_HIGH), (x, low)], self.colour(j), 1.5)
                )
                x += 4 if is_end else -4
            anchor = "start" if is_end else "end"
            names.append(word(f"name {j}", x, low, self.text[j], self.colour(j), anchor, **look))
            right = left
        return [
            *self.parts(self.taken),
            *names,
            *self.most(),
        ]

    def whole(self) -> list[Part]:
        """What all shares fill together, empty."""
        y = BAR[1] + 18.5
        look: dict[str, Any] = {"size": SMALL}
        return [
            box("whole", BAR, (ALL, BAR_HIGH), GREY, 0, 1.5),
            word("takes", BAR[0] - 8, y, f"“{self.text[-1]}” takes", GREY, "end", **look),
            word("all", BAR[0] + ALL + 8, y, "= 1", GREY, "start", **look),
        ]

    def marks(self, come: int, is_taken: bool = False) -> list[Part]:
        """A dot of a noun that is one, two of a noun that is many, as large as what is taken.

        They are above it, 0, or at the verb that it asks for, 1: before that, or behind it if the
        other noun's are there.
        """
        parts = []
        both_are = [self.text[j] in MANY for j in self.nouns]
        for j, is_two in reversed([*zip(self.nouns, both_are, strict=True)]):
            row, low = ROWS[0] - 6, ROWS[not is_two] - 6
            r = max(LARGEST * self.shares[j] ** 0.5, SPECK) if is_taken else MARK
            apart = min(TWO, 3 * r) * is_two
            middle = self.left + INTO
            if j != self.nouns[0] and both_are[0] == both_are[1]:
                middle = self.left + _width(self.verbs[1]) - SPECK - 3 - apart / 2
            end = middle + apart / 2
            x = self.foot(j)
            if j < len(self.text) - 1:
                there = _turned(str(self.path(j).look["d"]))
            else:  # down to itself
                top, foot = f"{x:.1f} {FLOOR - TWO * is_two}", f"{x:.1f} {FLOOR}"
                there = f"M{top}C{top} {foot} {foot}"
            bend = f"C{x:.1f} {row} {x:.1f} {row} {x + BEND:.1f} {row}"
            far = _length(there) + _length(f"M{x:.1f} {FLOOR}{bend}") + end - x - BEND
            rest = f"L{end:.1f} {row}L{end:.1f} {low}L{end + TAIL:.1f} {low}"
            down = low - row
            at = (far + down - apart) * come
            parts.append(
                Part(
                    "path",
                    f"mark {j}",
                    {
                        "d": f"{there}{bend}{rest}",
                        "fill": "none",
                        "stroke": self.colour(j).drawn,
                        "stroke-width": round(2 * r, 2),
                        "stroke-linecap": "round",
                        "stroke-dasharray": f"0 {apart or 4000:.1f} 0 4000",
                        "stroke-dashoffset": round(-at, 1),
                    },
                )
            )
        return parts

    def slot(self, guess: str = "") -> list[Part]:
        """Both verbs, at the end of the line; the one that is not guessed is crossed out."""
        wide = _width(self.verbs[1])
        corner = (self.left, TOP)
        edge = _of(guess == self.verbs[0]) if guess else GREY
        parts = [box("slot", corner, (wide, TALL), edge, 0.12, 2 if guess else 1.5)]
        for up, y, verb in zip((-1, 1), ROWS, self.verbs, strict=True):
            is_lost = bool(guess) and verb != guess
            is_many = up < 0
            colour = GREY if is_lost else _of(is_many)
            weight = 700 if verb == guess else 400
            left = self.left + 27
            means = "many" if is_many else "one"
            parts.append(word(means, self.left + 9, y - MEANS, means, colour, "start", SMALL, 700))
            parts.append(word(f"verb {up}", left, y, verb, colour, "start", SMALL, weight))
            xs = (INTO - TWO / 2, INTO + TWO / 2) if is_many else (INTO,)
            for x in xs:
                at, floor = self.left + x, y - 6 + LARGEST
                parts.append(ring(f"{up} is {x}", at, floor, 1, colour, r=LARGEST, thickest=1))
            if is_lost:
                right = left + LETTER * SMALL * len(verb)
                parts.append(line("lost", [(left - 1, y - 6), (right, y - 6)], GREY, 2))
        return parts


def _of(is_many: bool) -> Colour:
    return ORANGE if is_many else BLUE


def _width(verb: str) -> float:
    return LETTER * SMALL * len(verb) + EDGE


def _points(d: str) -> list[complex]:
    """Ends and bends of an arc."""
    numbers = [float(each) for each in d.replace("M", " ").replace("C", " ").split()]
    return [complex(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]


def _turned(d: str) -> str:
    """An arc, from its end to its start."""
    start, *bends = [f"{each.real:.1f} {each.imag:.1f}" for each in reversed(_points(d))]
    return f"M{start}C{' '.join(bends)}"


def _length(d: str) -> float:
    """Of an arc."""
    a, b, c, e = _points(d)
    along = [
        (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * e
        for t in (n / 60 for n in range(61))
    ]
    return sum(abs(after - before) for before, after in pairwise(along))
