"""Lesson 14 opens with a model that writes twice: with its own attention, and with another one.

At the lesson's end the same film has the learner's own function in, and a text of their own:

    figures.opening(attention_forward, "the dogs near the boy")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnlab import small
from attnlab.figures.live.film import Choice, Film, Frame
from attnlab.figures.live.parts import (
    INK,
    SMALL,
    WIDE,
    Part,
    arc,
    box,
    word,
)
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

Backend = Callable[..., Any]  # as the library calls it: the lesson's attention_forward

TEXT = "wolf cat owl king ; wolf"
OWN, YOURS = "its own", "yours"
MENU = "attention exchanged for"
MOST = 3  # words that are written
LEAST = 0.04  # a weight that is drawn

HIGH, HEAD, FLOOR = 268, 26, 146  # of the sheet; the function's name; ends of arcs
SOURCE = 220  # of a word that is about to be copied
LINE, BELOW, FEET = 172, 214, 254  # of the text; of what its own wrote; of the verdict
SIZES, GAP, EDGE = (24, 22, 20, SMALL), 12, 6  # of words, the largest for which there is room
FLAT = 600  # how far words would reach for arcs as low as these
LETTERS = ((0.32, "ijl;.,"), (0.4, "frt"), (0.9, "mw"))  # widths, as shares of a size
MORE = "…"  # for words at the beginning that have no room


class Text(NamedTuple):
    """What a model wrote behind a text.

    Attributes:
        words: all of them.
        start: how many were given.
        rows: for each that was written, the weights of the word before it on all up to itself. Of
            the last layer's heads it is the one that looks hardest at one word.
    """

    words: list[str]
    start: int
    rows: list[list[float]]


def opening(function: Backend | None = None, text: str = TEXT) -> Film:
    """The film: with the model's own attention and then one that is wrong, or with a learner's own.

    Args:
        function: as `attention_forward`; None is some that are wrong.
        text: words that the model knows, with spaces between.
    Raises:
        ValueError: the model does not know a word, or the function gives something of another
            shape.
    """
    given = text.split()
    small.known(given)
    if function is not None:
        yours = _Sheet(written(function, given), _right(text), YOURS)
        return Film("Your function writes", yours.compared(), HIGH)

    def frames(chosen: Choice) -> list[Frame]:
        name = chosen[MENU]
        sheet = _Sheet(written(WRONG[name], given), _right(text), name)
        return [*sheet.copied(), *sheet.exchanged()]

    return Film(
        "Exchange a model's attention, and it writes other words",
        frames,
        HIGH,
        menus={MENU: tuple(WRONG)},
    )


# The model ----------------------------------------------------------------------------------------


class _Asking(nn.Module):
    """A layer's attention that asks a function for all but its projections."""

    is_causal = True

    def __init__(self, given: Any, layer: int, function: Backend, seen: list[Tensor]) -> None:
        super().__init__()
        self.given, self.layer_idx, self.function, self.seen = given, layer, function, seen

    def forward(self, x: Tensor, change: object) -> tuple[Tensor, Tensor]:
        parts = self.given.c_attn(x).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.given.heads, -1)).transpose(1, 2) for part in parts)
        out, weights = self.function(self, q, k, v, None, scaling=q.shape[-1] ** -0.5)
        for name, each, shape in (
            ("out", out, (q.shape[0], q.shape[2], q.shape[1], q.shape[3])),
            ("weights", weights, (*q.shape[:3], k.shape[2])),
        ):
            if tuple(each.shape) != shape:
                raise ValueError(f"{name} is {tuple(each.shape)}; the model needs {shape}")
        self.seen.append(weights)
        return self.given.c_proj(out.flatten(-2)), weights


@torch.no_grad()
def written(function: Backend, given: Sequence[str]) -> Text:
    """What the model writes with a function in its layers, up to the full stop."""
    model, seen = small.load(), list[Tensor]()
    for layer, block in enumerate(model.transformer.h):
        block.attn = _Asking(block.attn, layer, function, seen)
    text = Text([*given], len(given), [])
    while len(text.words) < text.start + MOST and text.words[-1] != ".":
        ids = small.numbered([small.START, *text.words])
        text.words.append(small.words[int(model(ids)[0, -1].argmax())])
        heads = seen[-1][0, :, -1, 1:]  # without the start token's, which is not drawn
        text.rows.append(heads[heads.amax(dim=-1).argmax()].tolist())
    return text


def _backend(scaled: Callable[[float], float], hides: bool = True) -> Backend:
    """Attention whose scores are multiplied by something made of the model's scaling."""

    def attend(
        module: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: None, scaling: float
    ) -> tuple[Tensor, Tensor]:
        scores = q @ k.mT * scaled(scaling)
        if hides:
            future = torch.ones(scores.shape[-2:]).triu(1).bool()
            scores = scores.masked_fill(future, -torch.inf)
        weights = scores.softmax(dim=-1)
        return (weights @ v).transpose(1, 2), weights

    return attend


WRONG = {
    "all words alike": _backend(lambda scaling: 0.0),
    "not masked": _backend(lambda scaling: scaling, hides=False),
    "not scaled": _backend(lambda scaling: 1.0),
}
RIGHT = _backend(lambda scaling: scaling)


@cache
def _right(given: str) -> Text:
    return written(RIGHT, given.split())


# The picture --------------------------------------------------------------------------------------


class _Sheet:
    """One line of words with arcs above, what a function writes; below is what its own wrote.

    Args:
        text: written with the function.
        right: written with the model's own.
        name: of the function.
    """

    def __init__(self, text: Text, right: Text, name: str) -> None:
        self.text, self.right, self.name, self.start = text, right, name, text.start
        both = zip_longest(text.words, right.words, fillvalue="")
        longest = [max(each, key=len) for each in both]
        self.at, self.skipped, self.size = _places(longest)
        self.wide = [_wide(each, self.size) for each in longest]

    def copied(self) -> list[Frame]:
        """The model's own writes."""
        given, right = " ".join(self.text.words[: self.start]), self.right
        stage = [*self._given(), *_named("the model's own", BLUE)]
        asked = self._word("asked", self.start, LINE, "?", BLUE)
        told, at = f"A model has read “{given}”, and writes on.", _earlier(right, 0)
        if at is None:
            frames = [Frame([*stage, asked], told)]
        else:
            before = arc("before", self.at[self.start - 1], self.at[at], FLOOR, 0.4, GREY, 1, FLAT)
            frames = [Frame([*stage, asked, before], told)]
            asks, came = right.words[at : at + 2]
            told = f"“{asks}” stood here before, and what came next was “{came}”."
            frames.append(Frame([*stage, asked, before, *self._source(right, 0, 1)], told))
        for n in range(len(right.rows)):
            arcs = self._arcs(right, BLUE, n)
            parts = [*stage, *arcs, *self._new("own", right, LINE, BLUE, n + 1)]
            frames.append(Frame([*parts, *self._source(right, n + 1)], _told(right, n)))
        return frames

    def exchanged(self) -> list[Frame]:
        """Another one comes in its place, and writes."""
        stage = [*self._given(), *_named(self.name, ORANGE)]
        own = self._owns()
        asked = self._word(f"new {self.start}", self.start, LINE, "?", ORANGE)
        told = f"Now its attention is exchanged for another one: {self.name}."
        return [Frame([*stage, *own, asked], told), *self._writes([*stage, *own])]

    def compared(self) -> list[Frame]:
        """A learner's own writes."""
        stage = [*self._given(), *_named(self.name, ORANGE), *self._owns()]
        asked = self._word(f"new {self.start}", self.start, LINE, "?", ORANGE)
        told = f"With {OWN} attention the model wrote “{_new(self.right)}”. Now yours is in."
        return [Frame([*stage, asked], told), *self._writes(stage)]

    def _writes(self, stage: list[Part]) -> list[Frame]:
        """Word by word, and whether it is the same."""
        frames = []
        for n in range(len(self.text.rows)):
            arcs = self._arcs(self.text, ORANGE, n)
            parts = [*stage, *arcs, *self._new("new", self.text, LINE, ORANGE, n + 1)]
            frames.append(Frame(parts, _told(self.text, n)))
        told, parts = self._verdict()
        return [*frames, Frame([*frames[-1].parts, *parts], told)]

    def _verdict(self) -> tuple[str, list[Part]]:
        if self.text.words == self.right.words:
            x = (self.at[self.start] + self.at[-1]) / 2
            return (
                f"It writes the same as with {OWN}, word for word.",
                [word("verdict", x, FEET, "the same", BLUE, size=22, weight=700)],
            )
        both = zip_longest(self.text.words, self.right.words, fillvalue="nothing")
        at, (new, own) = next((n, two) for n, two in enumerate(both) if two[0] != two[1])
        wide = self.wide[at] + 8
        x = min(self.at[at], WIDE - EDGE - 92)
        return (
            f"Same model, same words: but it writes “{new}”, and “{own}” with {OWN} attention.",
            [
                box(
                    "differs",
                    (self.at[at] - wide / 2, LINE - 25),
                    (wide, BELOW - LINE + 33),
                    ORANGE,
                    0,
                    2.5,
                ),
                word("verdict", x, FEET, "first difference", ORANGE, weight=700),
            ],
        )

    def _word(self, key: str, n: int, y: float, text: str, colour: str | Colour = INK) -> Part:
        return word(key, self.at[n], y, text, colour, size=self.size)

    def _given(self) -> list[Part]:
        more = [self._word("more", 0, LINE, MORE)] if self.skipped else []
        seen = range(self.skipped, self.start)
        return [*more, *(self._word(f"word {n}", n, LINE, self.text.words[n]) for n in seen)]

    def _new(
        self, key: str, text: Text, y: float, colour: Colour, many: int | None = None
    ) -> list[Part]:
        """So many words that were written, or all."""
        last = len(text.words) if many is None else text.start + many
        seen = range(max(self.skipped, text.start), last)
        return [self._word(f"{key} {n}", n, y, text.words[n], colour) for n in seen]

    def _owns(self) -> list[Part]:
        left = self.at[self.start] - self.wide[self.start] / 2 - GAP
        name = word("owns", left, BELOW, f"{OWN}:", BLUE, "end", self.size)
        return [name, *self._new("own", self.right, BELOW, BLUE)]

    def _source(self, text: Text, n: int, opacity: float = 0) -> list[Part]:
        """A word that is to be written, under the one that is copied: it moves from there."""
        at = _earlier(text, n) if n < len(text.rows) else None
        if at is None:
            return []
        key, new, x = f"own {text.start + n}", text.words[text.start + n], self.at[at + 1]
        return [word(key, x, SOURCE, new, BLUE, size=self.size, opacity=opacity)]

    def _arcs(self, text: Text, colour: Colour, n: int) -> list[Part]:
        """From the word before one that was written; arcs to the dots are one."""
        row, last = text.rows[n], text.start + n - 1
        seen = [(m, weight) for m, weight in enumerate(row) if m >= self.skipped]
        if self.skipped:
            seen.append((0, sum(row[: self.skipped])))
        return [
            arc(
                f"{colour.name} {last - m}",
                self.at[last],
                self.at[m],
                FLOOR,
                weight,
                colour,
                wide=FLAT,
            )
            for m, weight in seen
            if weight >= LEAST
        ]


def _named(name: str, colour: Colour) -> list[Part]:
    """Whose attention is in the model."""
    return [
        word("attention", EDGE, HEAD, "attention:", anchor="start", size=22),
        word("name", EDGE + 120, HEAD, name, colour, "start", 22, 700),
    ]


def _new(text: Text) -> str:
    return " ".join(text.words[text.start :]).removesuffix(" .")


def _earlier(text: Text, n: int) -> int | None:
    """Where the word that asks stood before, if what came after it is looked at most."""
    long, row = text.start + n, text.rows[n]
    to = max(range(long), key=lambda m: row[m])
    asks = text.words[long - 1]
    return to - 1 if 0 < to < long and text.words[to - 1] == asks else None


def _told(text: Text, n: int) -> str:
    """What the last of so many words looks at, and what is written after it."""
    long, row = text.start + n, text.rows[n]
    asks, to = text.words[long - 1], max(range(long), key=lambda m: row[m])
    written = text.words[long]
    new = "ends the sentence" if written == "." else f"writes “{written}”"
    if row[to] - min(row) < 0.005:
        return f"To “{asks}” all words are alike, and the model {new}."
    if _earlier(text, n) is not None:
        looked = f"One head looks at “{text.words[to]}”, which followed “{asks}” before"
        joint = ":" if written == text.words[to] else ", but"
        return f"{looked}{joint} the model {new}."
    whom = "itself" if to == long - 1 else f"“{text.words[to]}”"
    return f"One head looks from “{asks}” most at {whom}, and the model {new}."


def _places(words: Sequence[str]) -> tuple[list[float], int, float]:
    """Where the middles of words are, how many at the beginning have no room, and their size.

    Those share one place, that of the dots.
    """
    room = WIDE - 2 * EDGE
    size = next((each for each in SIZES if _across(words, each) <= room), SMALL)
    skipped, seen = 0, [*words]
    while _across(seen, size) > room and skipped + 1 < len(words):
        skipped += 1
        seen = [MORE, *words[skipped:]]
    middles, right = [], (WIDE - _across(seen, size)) / 2
    for each in seen:
        wide = _wide(each, size)
        middles.append(right + wide / 2)
        right += wide + GAP
    return [*middles[:1] * skipped, *middles[1 if skipped else 0 :]], skipped, size


def _across(words: Sequence[str], size: float) -> float:
    """How long a line of words is."""
    return sum(_wide(each, size) for each in words) + GAP * (len(words) - 1)


def _wide(text: str, size: float) -> float:
    """How wide a word is, as its letters are in wide system fonts: all gaps are alike then."""
    return size * sum(next((n for n, each in LETTERS if letter in each), 0.62) for letter in text)
