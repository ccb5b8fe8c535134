"""At lesson 14's end the model writes with the learner's own function, under what it wrote before.

figures.opening(attention_forward, "the dogs near the boy")
"""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, WIDE, Part, Place, across, dot, line, places, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, Colour
from attnlab.lessons.real_model.writing import OWN, Backend, step

MOST = 3  # words that are written
SAME = "word comes", "two words come", "three words come"
MORE = "…"  # for words at the beginning that have no room
HIGH, TOLD, WAS, UNDER, NEW, NAME = 181, 17, 53, 86, 134, 169  # of the sheet; y of what is on it
GIVEN, PYTORCHS, YOURS = "given", "PyTorch’s function", "your function"  # over and under words
SIZES, GAP, EDGE, BREAK = (26, 24, 22, 20, SMALL), 10, 2, 24  # a break is before what is new
BADGE = 15  # how far a sign reaches
TICK = (-5.5, 0.5), (-1.5, 4.5), (5.5, -4.5)
CROSS = (-4, -4), (0, 0), (4, -4), (0, 0), (4, 4), (0, 0), (-4, 4), (0, 0)


def film(function: Backend, text: str) -> Film:
    """It writes up to the first word that differs from what PyTorch's wrote."""
    small.known(given := text.split())
    own, new = (_written(each, given) for each in (OWN, function))
    said = " ".join(own).removesuffix(" .")
    both = [*zip(own, new, strict=False)]
    pairs = both[: next((n for n, (a, b) in enumerate(both, 1) if a != b), None)]
    was, now = pairs[-1]
    title = f"Your function writes “{now}” where {PYTORCHS} wrote “{was}”"
    if was == now:
        title = f"Your function is in: the same {SAME[said.count(' ')]} out"
    sheet = _Sheet(given, both)
    told = f"With {PYTORCHS} the model wrote “{said}”. Now your function is in."
    frames = [Frame(sheet.parts(0), told)]
    frames += [Frame(sheet.parts(n), _told(*pair)) for n, pair in enumerate(pairs, 1)]
    return Film(title, frames, HIGH)


def _written(function: Backend, given: Sequence[str]) -> list[str]:
    """Up to the full stop."""
    words = list[str]()
    while len(words) < MOST and words[-1:] != ["."]:
        words.append(step(function, [*given, *words]).word)
    return words


def _told(was: str, now: str) -> str:
    """What the function writes, and whether it is what was written before."""
    before = "as {} did" if was == now else f"where {{}} wrote “{was}”"
    return f"Your function writes “{now}”, {before.format(PYTORCHS)}."


class _Sheet:
    """Words that are given and, after a bar, those written before and, under these, now."""

    def __init__(self, given: Sequence[str], pairs: Sequence[tuple[str, str]]) -> None:
        self.pairs = pairs
        slots = [max(each, key=len) for each in pairs]
        wholes = ((size, 0) for size in SIZES)
        fewer = ((SMALL, skipped) for skipped in range(2, len(given)))
        for self.size, skipped in (*wholes, *fewer):
            self.read = [MORE, *given[skipped:]] if skipped else [*given]
            left = across(self.read, self.size, GAP)
            new = max(across(slots, self.size, GAP), across([PYTORCHS], SMALL))
            if left + BREAK + new <= WIDE - EDGE:
                break
        self.bar = left + BREAK / 2
        self.at = places(self.read, self.size, GAP)
        self.written = places(slots, self.size, GAP, left + BREAK)

    def parts(self, many: int) -> list[Part]:
        """So many words are written, each with a sign: is it what was written before?"""
        before, after = self.bar - BREAK / 2, self.bar + BREAK / 2
        given = UNDER + 9  # the words' line, whose middle is at the signs
        parts = [
            word("given", before, given - 32, GIVEN, GREY, "end", SMALL, 700),
            word("own", after, TOLD, PYTORCHS, BLUE, "start", SMALL, 700),
            word("yours", after, NAME, YOURS, ORANGE, "start", SMALL, 700),
            line("bar", [(self.bar, TOLD - 12), (self.bar, NAME)], GREY, 1.5, 0.6),
        ]
        for n, text in enumerate(self.read):
            parts.append(word(f"read {n}", self.at[n], given, text, size=self.size))
        for n, (x, (own, new)) in enumerate(zip(self.written, self.pairs, strict=True)):
            parts.append(word(f"own {n}", x, WAS, own, BLUE, size=self.size, weight=700))
            if n < many:
                parts.append(word(f"new {n}", x, NEW, new, ORANGE, size=self.size, weight=700))
                same = own == new
                sign = (BLUE, TICK) if same else (ORANGE, CROSS)
                parts += _badge(f"{'same' if same else 'differs'} {n}", x, UNDER, *sign)
        return parts


def _badge(key: str, x: float, y: float, colour: Colour, sign: Sequence[Place]) -> list[Part]:
    """A tick or a cross, in a circle."""
    return [
        dot(f"{key} badge", x, y, BADGE, colour),
        line(f"{key} sign", [(x + a, y + b) for a, b in sign], GROUND, 3),
    ]
