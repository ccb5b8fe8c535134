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
HIGH, NAMED, LINE, UNDER, WAS = 268, 22, 152, 204, 254  # of the sheet; y of what is on it
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
    many = next((n for n, (a, b) in enumerate(pairs, 1) if a != b), len(pairs))
    differs = pairs[many - 1][0] != pairs[many - 1][1]
    sheet = _Sheet(given, own, new)
    told = f"With its own attention the model wrote “{said}”. Now your function is in."
    frames = [Frame(sheet.parts(0), told)]
    frames += [Frame(sheet.parts(n), _told(given, new, n)) for n in range(1, many + 1)]
    told = "It writes the same as with its own attention, word for word."
    if differs:
        was, now = pairs[many - 1]
        told = f"With your function it writes “{now}”, where it wrote “{was}” before."
    return Film("Your function writes", [*frames, Frame(sheet.parts(many), told)], HIGH)


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
    return f"One head looks from “{words[asks]}” most at {whom}, and {writes}."


class _Sheet:
    """A line of words, read and then written, with arcs; under it what was written before."""

    def __init__(
        self, given: Sequence[str], own: Sequence[Written], new: Sequence[Written]
    ) -> None:
        both = [(a.word, b.word) for a, b in zip(own, new, strict=False)]
        slots = [max(each, key=len) for each in both]
        room = WIDE - 2 * EDGE - BREAK
        whole = ((size, 0) for size in SIZES)
        fewer = ((SMALL, skipped) for skipped in range(2, len(given)))
        self.size, self.skipped = next(
            (size, skipped)
            for size, skipped in (*whole, *fewer, (SMALL, len(given)))
            if across([*self._seen(given, skipped), *slots], size, GAP) <= room
            or skipped == len(given)
        )
        self.read = self._seen(given, self.skipped)
        at = places([*self.read, *slots], self.size, GAP, EDGE)
        self.start, self.both, self.new = len(self.read), both, new
        self.at = [x + BREAK * (n >= self.start) for n, x in enumerate(at)]

    @staticmethod
    def _seen(given: Sequence[str], skipped: int) -> list[str]:
        """Words that are read, without those that have no room."""
        return [MORE, *given[skipped:]] if skipped else [*given]

    def parts(self, many: int) -> list[Part]:
        """So many words are written, and the last of them has its arcs."""
        top, high = LINE - 0.75 * self.size - 9, self.size + 14
        right = self.at[self.start - 1] + LETTER * self.size * len(self.read[-1]) / 2 + 6
        parts = [
            box("read", (2, top), (right - 2, high), GREY, 0.13),
            word("new", EDGE, NAMED, "your function", ORANGE, "start", weight=700),
            word("own", EDGE, WAS, "its own attention", BLUE, "start", SMALL, 700),
        ]
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
