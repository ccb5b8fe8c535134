"""Lesson 14 opens with a model that writes twice: with its own attention, and with another one.

At the lesson's end the same film has the learner's own function in, and a text of their own:

    figures.opening(attention_forward, "the dogs near the boy")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnlab import small
from attnlab.figures.live.film import Choice, Film, Frame
from attnlab.figures.live.parts import (
    CODE,
    INK,
    SMALL,
    WIDE,
    Part,
    Place,
    arc,
    box,
    dot,
    line,
    word,
)
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, Colour

Backend = Callable[..., Any]  # as the library calls it: the lesson's attention_forward

TEXT = "bird dog cat ; bird"
TRADED = "bird cat dog ; bird"
OWN, COPY, SWAPPED, YOURS = "its own", "a copy", "swap", "your function"
MADE, BY_OWN = "weights =", "softmax(mask(q·k/√d))"
MENU = "function swapped for"
MOST, COPIED = 3, 1  # words that are written: at most, and behind `TEXT`
LEAST = 0.04  # a weight that is drawn
ALIKE = 0.005  # between the largest weight and the smallest, of a word to which all are alike

HIGH, EDGE = 268, 7  # of the sheet; what is left free at its sides
SIZES, GAP = (32, 30, 28, 26, 24, 22, 20, SMALL), 9  # of words, the largest for which there is room
NAME, LETTER, CODED = 20, 12, 92  # size of a function's name and code; from its left to the code
BREAK, WIDEST = 23, 36  # more before what is written, for an arrow; the widest gap
ARROW = 11  # how long it is
BADGE, BESIDE = 15, 40  # of a sign: how far it reaches; what it needs behind words
PALE = 0.5  # of what comes later
TICK = (-5.5, 0.5), (-1.5, 4.5), (5.5, -4.5)
CROSS = (-4, -4), (0, 0), (4, -4), (0, 0), (4, 4), (0, 0), (-4, 4), (0, 0)
LETTERS = ((0.32, "ijl;.,"), (0.4, "frt"), (0.9, "mw"))  # widths, as shares of a size
BOLD = 1.14  # how much wider bold ones are
MORE = "…"  # for words at the beginning that have no room


class Row(NamedTuple):
    """A line of words.

    Attributes:
        key: of its parts.
        line: y of its words.
        tall: how high its highest arc is; one below 0 hangs under the line.
        head: y of its function's name.
        colour: of what is written in it.
        past: how much is left of arcs of words that stand already.
        thick: an arc of weight 1.
    """

    key: str
    line: float
    tall: float
    head: float
    colour: Colour
    past: float
    thick: float


OWN_ROW = Row("own", 114, 48, 20, BLUE, 0.3, 10)
NEW_ROW = Row("new", 196, -50, 156, ORANGE, 0.18, 9)


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
        text: for a learner's own: words that the model knows, with spaces between.
    Raises:
        ValueError: the model does not know a word, or the function gives something of another
            shape.
    """
    if function is not None:
        small.known(given := text.split())
        yours = _Sheet(written(function, given), written(RIGHT, given), YOURS)
        return Film("Your function writes", yours.compared(), HIGH)

    def frames(chosen: Choice) -> list[Frame]:
        name, sheets = chosen[MENU], []
        for given in (TEXT, TRADED):
            new, own = (written(each, given.split(), COPIED) for each in (WRONG[name], RIGHT))
            sheets.append(_Sheet(new, own, SWAPPED, BESIDE, CODES[name]))
        first, then = sheets
        return [*first.copied(), *first.swapped(), *then.traded()]

    return Film(
        "Swap one function in a trained model",
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
def written(function: Backend, given: Sequence[str], most: int = MOST) -> Text:
    """What the model writes with a function in its layers, up to the full stop."""
    model, seen = small.load(), list[Tensor]()
    for layer, block in enumerate(model.transformer.h):
        block.attn = _Asking(block.attn, layer, function, seen)
    text = Text([*given], len(given), [])
    while len(text.words) < text.start + most and text.words[-1] != ".":
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
CODES = {  # what each gives as weights
    "all words alike": "1/n",
    "not masked": "softmax(q·k/√d)",
    "not scaled": "softmax(mask(q·k))",
}
RIGHT = _backend(lambda scaling: scaling)


# The picture --------------------------------------------------------------------------------------


class _Sheet:
    """Two lines of words: what the model's own attention writes, and under it what a function does.

    Args:
        text: written with the function.
        right: written with the model's own.
        name: over what the function writes.
        beside: how much room is left at the right.
        code: of the function, if it is told.
    """

    def __init__(
        self, text: Text, right: Text, name: str, beside: float = 0, code: str = ""
    ) -> None:
        self.text, self.right, self.start = text, right, text.start
        self.name, self.beside, self.code = name, beside, code
        both = zip_longest(text.words, right.words, fillvalue="")
        self.at, self.wide, self.skipped, self.size = _places(
            [max(each, key=len) for each in both], text.start, WIDE - beside
        )
        self.widest = {OWN_ROW.key: self._widest(right), NEW_ROW.key: self._widest(text)}

    def copied(self) -> list[Frame]:
        """The model's own writes what came after the same word before."""
        right, last, copy = self.right, self.start - 1, NEW_ROW._replace(colour=BLUE)
        later = [_paler(part) for part in self._read(copy, COPY, BY_OWN)]
        stage = [*self._read(OWN_ROW, OWN, BY_OWN), *later]
        asked = [*self._asked(OWN_ROW), *self._written(OWN_ROW, ["?"])]
        same = [self._behind(f"same {n}", OWN_ROW, n, BLUE, 0, 2.5) for n in (0, last)]
        eye = self._behind("own eye", OWN_ROW, 1, BLUE)
        asks, came = right.words[:2]
        return [
            Frame(
                [*stage, *asked],
                f"After “;” this text repeats itself. “{asks}” is read, and the model writes on.",
            ),
            Frame(
                [eye, *stage, *same, *asked],
                f"“{asks}” stood here before, and what came next was “{came}”.",
            ),
            Frame([eye, *self._owns([0]), *later], _told(right, 0)),
        ]

    def swapped(self) -> list[Frame]:
        """Another one comes in its place, and writes."""
        told = "Now a copy: the same parameters and words, one function swapped."
        eye = self._behind("own eye", OWN_ROW, 1, BLUE)
        return [Frame([eye, *parts], says) for parts, says in self._below(told, [0])]

    def traded(self) -> list[Frame]:
        """The words at 1 and 2 have traded places: the one writes what is there now."""
        own, new = (each.words[self.start] for each in (self.right, self.text))
        now, was = self._given[1:3]
        eye = self._behind("own eye", OWN_ROW, 1, BLUE)
        moved = [
            self._behind(f"{row.key} moved {n}", row, n, GREY, 0, 2.5)
            for row in (OWN_ROW, NEW_ROW)
            for n in (1, 2)
        ]
        done = [*self._owns([0]), *self._news(1, [0])]
        slots = {f"{row.key} {self.start}" for row in (OWN_ROW, NEW_ROW)}
        asked = [part._replace(text="?") if part.key in slots else part for part in done]
        other = "The average" if _alike(self.text.rows[0]) else "The swap"
        signs = [*self._sign(OWN_ROW, own, TICK), *self._sign(NEW_ROW, new, CROSS)]
        return [
            Frame(
                [eye, *asked, *moved],
                f"“{was}” and “{now}” trade places. Now “{now}” follows “{self._given[0]}”.",
            ),
            Frame(
                [eye, *done, *signs],
                f"Its own follows the trade: “{own}”. {other} does not: “{new}” again.",
            ),
        ]

    def compared(self) -> list[Frame]:
        """A learner's own writes, and it is seen whether it is the same."""
        told = f"With {OWN} attention the model wrote “{_new(self.right)}”. Now yours is in."
        bright, says, signs = self._verdict()
        parts = [*self._owns(bright, past=False), *self._news(len(self.text.rows), bright, False)]
        return [*self._below(told), Frame([*parts, *signs], says)]

    @property
    def _given(self) -> list[str]:
        return self.text.words[: self.start]

    def _below(self, told: str, bright: Sequence[int] = ()) -> list[Frame]:
        """The function writes under what its own wrote."""
        text, above = self.text, self._owns(bright)
        slot = ["?"] if text.rows else []
        asked = [*self._asked(NEW_ROW), *self._written(NEW_ROW, slot)]
        frames = [Frame([*above, *self._read(NEW_ROW, self.name, self.code), *asked], told)]
        for n in range(len(text.rows)):
            frames.append(Frame([*above, *self._news(n + 1, [n])], _told(text, n)))
        return frames

    def _owns(self, bright: Sequence[int] = (), past: bool = True) -> list[Part]:
        """All that the model's own wrote, with arcs to some of these words bright."""
        return [
            *self._read(OWN_ROW, OWN, BY_OWN),
            *self._arcs(OWN_ROW, self.right, len(self.right.rows), bright, past),
            *self._written(OWN_ROW, self.right.words[self.start :]),
        ]

    def _news(self, many: int, bright: Sequence[int], past: bool = True) -> list[Part]:
        """So many of the words that the function wrote."""
        return [
            *self._read(NEW_ROW, self.name, self.code),
            *self._arcs(NEW_ROW, self.text, many, bright, past),
            *self._written(NEW_ROW, self.text.words[self.start : self.start + many]),
        ]

    def _verdict(self) -> tuple[Sequence[int], str, list[Part]]:
        """Signs between words, up to the first that differ; that one is bright, or all words."""
        words, parts = (each.words[self.start :] for each in (self.right, self.text)), list[Part]()
        y = (sum(self._band(OWN_ROW)) + self._band(NEW_ROW)[0]) / 2
        for n, (own, new) in enumerate(zip_longest(*words)):
            x = self.at[self.start + n]
            if own != new:
                wrote, writes = (f"“{each}”" if each else "nothing" for each in (own, new))
                told = f"One function differs: where it wrote {wrote}, it now writes {writes}."
                return [n], told, [*parts, *_badge("differs", x, y, ORANGE, CROSS)]
            parts += _badge(f"same {n}", x, y, BLUE, TICK)
        told = f"It writes the same as with {OWN}, word for word."
        return range(len(self.text.rows)), told, parts

    def _sign(self, row: Row, text: str, sign: Sequence[Place]) -> list[Part]:
        """Right behind what is written."""
        left, wide = self.at[self.start] - self.wide[self.start] / 2, self.size * BOLD * _wide(text)
        x = left + wide + 10 + BADGE
        return _badge(row.key, x, row.line - self.size / 3, row.colour, sign)

    def _left(self) -> float:
        return self.at[0] - self.wide[0] / 2 - 6

    def _band(self, row: Row) -> Place:
        """Behind words: its top, and how high it is."""
        return row.line - 0.75 * self.size - 9, self.size + 14

    def _read(self, row: Row, name: str, code: str = "") -> list[Part]:
        """The words that are read, on a band; and over them, whose attention writes on, and how."""
        words, seen = self.text.words, range(self.skipped, self.start)
        left, (top, high) = self._left(), self._band(row)
        right = self.at[self.start - 1] + self.wide[self.start - 1] / 2 + 6
        more = [self._word(f"{row.key} more", row, 0, MORE)] if self.skipped else []
        starts = min(left, WIDE - EDGE - CODED - LETTER * len(f"{MADE} {BY_OWN}"))
        says = [
            word(
                f"{row.key} {key}",
                starts + x,
                row.head,
                text,
                colour,
                "start",
                NAME,
                bold,
                face=face,
            )
            for key, x, text, colour, bold, face in (
                ("name", 0, name, row.colour, 700, ""),
                ("makes", CODED, MADE, GREY, 400, CODE),
                ("code", CODED + LETTER * (len(MADE) + 1), code, row.colour, 700, CODE),
            )
        ]
        return [
            box(f"{row.key} read", (left, top), (right - left, high), GREY, 0.13),
            *more,
            *(self._word(f"{row.key} read {n}", row, n, words[n]) for n in seen),
            *(says if code else says[:1]),
        ]

    def _behind(
        self, key: str, row: Row, n: int, colour: Colour, filled: float = 0.25, edge: float = 0
    ) -> Part:
        """A box around a word that is read, as high as the band."""
        (top, high), wide = self._band(row), self.wide[n] + 10
        return box(key, (self.at[n] - wide / 2, top), (wide, high), colour, filled, edge)

    def _written(self, row: Row, words: Sequence[str]) -> list[Part]:
        """Behind an arrow from what is read."""
        end = self.at[self.start] - self.wide[self.start] / 2 - 11
        y = row.line - self.size / 3
        places = [(end - ARROW, y), (end, y), (end - 5, y - 5), (end, y), (end - 5, y + 5)]
        arrow = [line(f"{row.key} writes", places, row.colour, 2.5)] if words else []
        return [
            *arrow,
            *(
                self._word(f"{row.key} {n}", row, n, each, row.colour, 700, self.beside > 0)
                for n, each in enumerate(words, self.start)
            ),
        ]

    def _word(
        self,
        key: str,
        row: Row,
        n: int,
        text: str,
        colour: str | Colour = INK,
        weight: float = 400,
        at_left: bool = False,
    ) -> Part:
        x, anchor = (self.at[n] - self.wide[n] / 2, "start") if at_left else (self.at[n], "middle")
        return word(key, x, row.line, text, colour, anchor, self.size, weight)

    def _asked(self, row: Row) -> list[Part]:
        """To what the last word that is read may look."""
        at = self.start - 1
        seen = [0, *range(self.skipped or 1, at)]
        return [self._arc(f"{row.key} 0 {n}", row, at, n, 0.15, GREY, dashes="1 6") for n in seen]

    def _arcs(
        self, row: Row, text: Text, many: int, bright: Sequence[int], past: bool
    ) -> list[Part]:
        """From the words before so many that are written; arcs to the dots are one."""
        parts = []
        for n, weights in enumerate(text.rows[:many]):
            if n not in bright and not past:
                continue
            light = 1 if n in bright else row.past
            seen = [(m, weight) for m, weight in enumerate(weights) if m >= self.skipped]
            if self.skipped:
                seen.append((0, sum(weights[: self.skipped])))
            parts += [
                self._arc(f"{row.key} {n} {m}", row, text.start + n - 1, m, weight, light=light)
                for m, weight in seen
                if weight >= LEAST
            ]
        return parts

    def _widest(self, text: Text) -> float:
        """How wide the widest arc is that is seen; the first ones ask all words."""
        ends = [(text.start - 1, 0)]
        for n, weights in enumerate(text.rows, text.start - 1):
            ends += [(n, m) for m, weight in enumerate(weights) if weight >= LEAST]
        return max(120, *(self.at[start] - self.at[end] for start, end in ends))

    def _arc(
        self,
        key: str,
        row: Row,
        start: int,
        end: int,
        weight: float,
        colour: Colour | None = None,
        light: float = 1,
        dashes: str = "1 0",
    ) -> Part:
        """As high as its width says, and the widest as high as there is room."""
        ends, colour = (self.at[start], self.at[end]), colour or row.colour
        share = (ends[0] - ends[1]) / self.widest[row.key]
        seen = light * (0.6 + 0.4 * weight) / (0.25 + 0.75 * weight)
        (top, high), below = self._band(row), row.tall < 0
        return arc(
            key,
            *ends,
            top + high + 3 if below else top - 3,
            weight,
            colour,
            seen,
            below=below,
            dashes=dashes,
            thickest=row.thick,
            pull=24 + (abs(row.tall) / 0.75 - 24) * share,
        )


def _badge(key: str, x: float, y: float, colour: Colour, sign: Sequence[Place]) -> list[Part]:
    """A tick or a cross, in a circle."""
    return [
        dot(f"{key} badge", x, y, BADGE, colour),
        line(f"{key} sign", [(x + a, y + b) for a, b in sign], GROUND, 3),
    ]


def _paler(part: Part) -> Part:
    return part._replace(look={**part.look, "opacity": PALE})


def _new(text: Text) -> str:
    return " ".join(text.words[text.start :]).removesuffix(" .")


def _earlier(text: Text, n: int) -> int | None:
    """Where the word that asks stood before, if what came after it is looked at most."""
    if n >= len(text.rows):
        return None
    long, row = text.start + n, text.rows[n]
    to = max(range(long), key=lambda m: row[m])
    asks = text.words[long - 1]
    return to - 1 if 0 < to < long and text.words[to - 1] == asks else None


def _alike(row: Sequence[float]) -> bool:
    return max(row) - min(row) < ALIKE


def _told(text: Text, n: int) -> str:
    """What the last of so many words looks at, and what is written after it."""
    long, row = text.start + n, text.rows[n]
    asks, to = text.words[long - 1], max(range(long), key=lambda m: row[m])
    written = text.words[long]
    new = "ends the sentence" if written == "." else f"writes “{written}”"
    if _alike(row):
        again = asks in text.words[: long - 1]
        what = f"what followed “{asks}” does not stand out" if again else "no word stands out"
        return f"All count the same: {what}. It guesses."
    if _earlier(text, n) is not None:
        looked = f"One head looks at “{text.words[to]}”, which followed “{asks}”"
        copied = written == text.words[to]
        return f"{looked}: “{written}” is written." if copied else f"{looked}, but the model {new}."
    whom = "itself" if to == long - 1 else f"“{text.words[to]}”"
    return f"One head looks from “{asks}” most at {whom}, and the model {new}."


def _places(
    words: Sequence[str], start: int, across: float
) -> tuple[list[float], list[float], int, float]:
    """Where the middles of words are, how wide they are, how many have no room, and their size.

    Those are the first ones, and share one place, that of the dots. From `start` on words are bold.
    """
    shares = [_wide(each) * (BOLD if n >= start else 1) for n, each in enumerate(words)]
    room = across - 2 * EDGE - BREAK
    even = [*shares[:start], *[max(shares[start:], default=0)] * len(shares[start:])]
    if _across(even, SMALL) <= room:
        shares = even
    size = next((each for each in SIZES if _across(shares, each) <= room), SMALL)
    skipped, seen = 0, shares
    while _across(seen, size) > room and skipped + 1 < start:
        skipped += 1
        seen = [_wide(MORE), *shares[skipped:]]
    gap = min(WIDEST, GAP + (room - _across(seen, size)) / (len(seen) - 1))
    wide = [size * each for each in seen]
    right = (across - sum(wide) - gap * (len(wide) - 1) - BREAK) / 2
    middles = []
    for n, each in enumerate(wide):
        if n == start - max(skipped - 1, 0):
            right += BREAK
        middles.append(right + each / 2)
        right += each + gap
    if skipped:
        middles, wide = [[*each[:1] * skipped, *each[1:]] for each in (middles, wide)]
    return middles, wide, skipped, size


def _across(shares: Sequence[float], size: float) -> float:
    """How long a line of words of these widths is."""
    return size * sum(shares) + GAP * (len(shares) - 1)


def _wide(text: str) -> float:
    """How wide a word is in wide system fonts, as a share of its size: all gaps are alike then."""
    return sum(next((n for n, each in LETTERS if letter in each), 0.62) for letter in text)
