"""At lesson 14's end the model writes with the learner's own function, over what it wrote before.

figures.opening(attention_forward, "the dogs near the boy")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    SMALL,
    WIDE,
    Part,
    Place,
    across,
    arc,
    box,
    dot,
    line,
    places,
    word,
)
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, Colour
from attnlab.lessons.real_model.writing import OWN, Backend, step

MOST = 3  # words that are written
ALIKE = 0.005  # between the largest weight and the smallest of equal ones
SAME = "word comes", "two words come", "three words come"
MORE = "…"  # for words at the beginning that have no room
HIGH, TOLD, NEW, UNDER, WAS = 181, 17, 100, 131, 173  # of the sheet; y of what is on it
GIVEN, YOURS, NAME = "given", "with yours", "the model’s own"  # over, or at the left of, words
SIZES, GAP, EDGE, BREAK = (26, 24, 22, 20, SMALL), 10, 4, 24  # a break is before what is new
PULL, THICK = 36, 5  # of the arc
BADGE = 15  # how far a sign reaches
TICK = (-5.5, 0.5), (-1.5, 4.5), (5.5, -4.5)
CROSS = (-4, -4), (0, 0), (4, -4), (0, 0), (4, 4), (0, 0), (-4, 4), (0, 0)


class Written(NamedTuple):
    """A word, and what the last one before it gave each word so far."""

    word: str
    weights: list[float]


def film(function: Backend, text: str) -> Film:
    """It writes up to the first word that differs from what the model's own attention wrote."""
    small.known(given := text.split())
    own, new = (_written(each, given) for each in (OWN, function))
    said = " ".join(each.word for each in own).removesuffix(" .")
    pairs = [(a.word, b.word) for a, b in zip(own, new, strict=False)]
    pairs = pairs[: next((n for n, (a, b) in enumerate(pairs, 1) if a != b), None)]
    was, now = pairs[-1]
    title = f"Your attention writes “{now}” where the model’s own wrote “{was}”"
    if was == now:
        title = f"Your function is in: the same {SAME[said.count(' ')]} out"
    sheet = _Sheet(given, own, new)
    told = f"With its own attention the model wrote “{said}”. Now your function is in."
    frames = [Frame(sheet.parts(0), told)]
    frames += [Frame(sheet.parts(n), _told(given, new, n)) for n in range(1, len(pairs) + 1)]
    return Film(title, frames, HIGH)


def _written(function: Backend, given: Sequence[str]) -> list[Written]:
    """Up to the full stop."""
    words = list[Written]()
    while len(words) < MOST and (not words or words[-1].word != "."):
        after = step(function, [*given, *(each.word for each in words)])
        heads = after.heads[:, 1:]  # no start token's
        heaviest = heads[heads.amax(dim=-1).argmax()]
        words.append(Written(after.word, heaviest.tolist()))
    return words


def _told(given: Sequence[str], new: Sequence[Written], n: int) -> str:
    """What one head of the last layer looks at, and what comes of it."""
    words = [*given, *(each.word for each in new)]
    now, weights = new[n - 1], new[n - 1].weights
    writes = "the sentence ends" if now.word == "." else f"“{now.word}” is written"
    if max(weights) - min(weights) < ALIKE:
        return f"All words get the same weight, and {writes}."
    asks, most = len(given) + n - 2, weights.index(max(weights))
    whom = "itself" if most == asks else f"“{words[most]}”"
    return f"From “{words[asks]}”, framed, one head looks most at {whom}, and {writes}."


class _Sheet:
    """Words that are given and, after a bar, those written now; under these those before."""

    def __init__(
        self, given: Sequence[str], own: Sequence[Written], new: Sequence[Written]
    ) -> None:
        self.both = [(a.word, b.word) for a, b in zip(own, new, strict=False)]
        self.new, self.start = new, len(given)
        slots = [max(each, key=len) for each in self.both]
        wholes = ((size, 0) for size in SIZES)
        fewer = ((SMALL, skipped) for skipped in range(2, len(given)))
        for self.size, self.skipped in (*wholes, *fewer):
            self.read = self._seen(given, self.skipped)
            reads, writes = (across(each, self.size, GAP) for each in (self.read, slots))
            left = max(reads, across([NAME], SMALL))
            if left + BREAK + max(writes, across([YOURS], SMALL)) <= WIDE - EDGE:
                break
        self.left, self.bar = left - reads, left + BREAK / 2
        self.at = places(self.read, self.size, GAP, self.left)
        self.written = places(slots, self.size, GAP, left + BREAK)

    @staticmethod
    def _seen(given: Sequence[str], skipped: int) -> list[str]:
        """Words that are read, without those that have no room."""
        return [MORE, *given[skipped:]] if skipped else [*given]

    def parts(self, many: int) -> list[Part]:
        """So many words are written; from the word before the last one goes its largest look."""
        after = self.bar + BREAK / 2
        parts = [
            word("given", self.left, TOLD, GIVEN, GREY, "start", SMALL, 700),
            word("yours", after, TOLD, YOURS, ORANGE, "start", SMALL, 700),
            word("own", after - BREAK, WAS, NAME, BLUE, "end", SMALL, 700),
            line("bar", [(self.bar, NEW - 22), (self.bar, WAS + 4)], GREY, 1.5, 0.6),
        ]
        if many:
            weights, floor = self.new[many - 1].weights, NEW - 0.75 * self.size - 11
            (asks, text), most = self._place(len(weights) - 1), max(weights)
            if most - min(weights) >= ALIKE:
                to, _ = self._place(weights.index(most))
                look = asks, to, floor, most, ORANGE
                parts.append(arc("looks", *look, thickest=THICK, pull=PULL))
                share, y = f"{most:.2f}", floor - 0.75 * PULL - 6
                parts.append(word("share", (asks + to) / 2, y, share, ORANGE, size=SMALL))
            wide = across([text], self.size) + GAP - 4
            corner, size = (asks - wide / 2, floor + 2), (wide, self.size + 14)
            parts.append(box("asks", corner, size, ORANGE, 0, 2.5))
        for n, text in enumerate(self.read):
            parts.append(word(f"read {n}", self.at[n], NEW, text, size=self.size))
        for n, (x, (own, new)) in enumerate(zip(self.written, self.both, strict=True)):
            parts.append(word(f"own {n}", x, WAS, own, BLUE, size=self.size, weight=700))
            if n < many:
                parts.append(word(f"new {n}", x, NEW, new, ORANGE, size=self.size, weight=700))
                same = own == new
                sign = (BLUE, TICK) if same else (ORANGE, CROSS)
                parts += _badge(f"{'same' if same else 'differs'} {n}", x, UNDER, *sign)
        return parts

    def _place(self, n: int) -> tuple[float, str]:
        """Where a word is, counted from the first that is given, and the word."""
        if n < self.start:
            at = max(n - self.skipped + (self.skipped > 0), 0)
            return self.at[at], self.read[at]
        return self.written[n - self.start], self.both[n - self.start][1]


def _badge(key: str, x: float, y: float, colour: Colour, sign: Sequence[Place]) -> list[Part]:
    """A tick or a cross, in a circle."""
    return [
        dot(f"{key} badge", x, y, BADGE, colour),
        line(f"{key} sign", [(x + a, y + b) for a, b in sign], GROUND, 3),
    ]
