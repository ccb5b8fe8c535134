"""At lesson 14's end the model writes with the learner's own function, over what it wrote before.

figures.opening(attention_forward, "the dogs near the boy")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    LETTER,
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
LEAST = 0.04  # a weight that is drawn
ALIKE = 0.005  # between the largest weight and the smallest of equal ones
MORE = "…"  # for words at the beginning that have no room
HIGH, LINE, WHOSE, UNDER, WAS = 224, 114, 144, 169, 208  # of the sheet; y of what is on it
GIVEN, YOURS = "given", "with yours"  # under what is read, and what is written
NAME = "the model’s own"  # attention, beside what it wrote
SIZES, GAP, EDGE, BREAK = (26, 24, 22, 20, SMALL), 10, 8, 16
HIGHEST, BADGE = 72, 15  # an arc; how far a sign reaches
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
        title = f"Your function is in, and the model still writes “{said}”"
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
    """A line of words, read and then written, with arcs; under it what was written before."""

    def __init__(
        self, given: Sequence[str], own: Sequence[Written], new: Sequence[Written]
    ) -> None:
        both = [(a.word, b.word) for a, b in zip(own, new, strict=False)]
        slots = [max(each, key=len) for each in both]
        room = WIDE - 2 * EDGE - BREAK - GAP
        named, yours = (1.1 * across([name], SMALL) for name in (NAME, YOURS))
        whole = ((size, 0) for size in SIZES)
        fewer = ((SMALL, skipped) for skipped in range(2, len(given)))
        self.size, self.skipped = next(
            (size, skipped)
            for size, skipped in (*whole, *fewer, (SMALL, len(given)))
            if skipped == len(given)
            or max(across(self._seen(given, skipped), size, GAP), named)
            + max(across(slots, size, GAP), yours)
            <= room
        )
        self.read = self._seen(given, self.skipped)
        left = EDGE + max(named - across(self.read, self.size, GAP), 0)
        at = places([*self.read, *slots], self.size, GAP, left)
        self.start, self.both, self.new = len(self.read), both, new
        self.at = [x + BREAK * (n >= self.start) for n, x in enumerate(at)]

    @staticmethod
    def _seen(given: Sequence[str], skipped: int) -> list[str]:
        """Words that are read, without those that have no room."""
        return [MORE, *given[skipped:]] if skipped else [*given]

    def parts(self, many: int) -> list[Part]:
        """So many words are written, and the last of them has its arcs."""
        top, high = LINE - 0.75 * self.size - 9, self.size + 14
        left, right = self._ends(0)[0], self._ends(self.start - 1)[1]
        parts = [
            box("read", (left, top), (right - left, high), GREY, 0.13),
            word("given", left + GAP / 2, WHOSE, GIVEN, GREY, "start", SMALL),
            word("own", EDGE, WAS, NAME, BLUE, "start", SMALL, 700),
        ]
        if many:
            begins = self._ends(self.start)[0] + GAP / 2
            parts.append(word("yours", begins, WHOSE, YOURS, ORANGE, "start", SMALL, 700))
            left, right = self._ends(self.start + many - 2)
            parts.append(box("asks", (left, top), (right - left, high), ORANGE, 0, 2.5))
        for n, text in enumerate(self.read):
            parts.append(word(f"read {n}", self.at[n], LINE, text, size=self.size))
        for n, (own, new) in enumerate(self.both):
            x = self.at[self.start + n]
            parts.append(word(f"own {n}", x, WAS, own, BLUE, size=self.size, weight=700))
            if n < many:
                parts.append(word(f"new {n}", x, LINE, new, ORANGE, size=self.size, weight=700))
                same = own == new
                look = (BLUE, TICK) if same else (ORANGE, CROSS)
                parts += _badge(f"{'same' if same else 'differs'} {n}", x, UNDER, *look)
        return [*(self._arcs(many - 1, top - 3) if many else []), *parts]

    def _ends(self, n: int) -> Place:
        """Where the room of a word begins and ends."""
        text = (self.read + [each for _, each in self.both])[n]
        half = LETTER * self.size * max(len(text), 2) / 2 + GAP / 2 - 2
        return self.at[n] - half, self.at[n] + half

    def _arcs(self, n: int, floor: float) -> list[Part]:
        """From the word before the one that is written; those to words left out are one."""
        weights, cut = self.new[n].weights, self.skipped
        seen = [sum(weights[:cut]), *weights[cut:]] if cut else weights
        asks = self.at[self.start + n - 1]
        far = max(asks - self.at[0], 1)
        return [
            arc(
                f"look {n} {m}",
                asks,
                x,
                floor,
                weight,
                ORANGE,
                pull=24 + (HIGHEST / 0.75 - 24) * (asks - x) / far,
            )
            for m, (x, weight) in enumerate(zip(self.at, seen, strict=False))
            if weight >= LEAST
        ]


def _badge(key: str, x: float, y: float, colour: Colour, sign: Sequence[Place]) -> list[Part]:
    """A tick or a cross, in a circle."""
    return [
        dot(f"{key} badge", x, y, BADGE, colour),
        line(f"{key} sign", [(x + a, y + b) for a, b in sign], GROUND, 3),
    ]
