"""Lesson 14 opens with a model that writes twice: with another attention in it, and with its own.

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
from attnlab.figures.live.parts import INK, LETTER, SMALL, WIDE, Part, arc, box, places, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

Side = tuple[float, float, float]
Backend = Callable[..., Any]  # as the library calls it: the lesson's attention_forward

TEXTS = ("fox king owl wolf ; fox king", "( red { blue [ green", "the dogs near the boy")
OWN, YOURS = "PyTorch's", "yours"
MOST = 4  # words that are written
LEAST = 0.05  # a weight that is drawn

HIGH, LINE = 268, 142  # of the sheet; of the words that are given
ABOVE, BELOW = (113, 129, 2), (166, 155, 232)  # ends of arcs, line of new words, top of the slot
SLOT, LEFT = (170, 34), 104  # size of a slot, and where it begins
FLAT = 2.8  # times as far as the words reach is for what arcs are as low as these
GAP, EDGE = 10, 8
PALE = 0.3  # arcs of words that are not in focus
MORE = "…"  # for words at the beginning that have no room


class Text(NamedTuple):
    """What a model wrote behind a text.

    Attributes:
        words: all of them.
        start: how many were given.
        rows: for each that was written, the weights of the word before it on all up to itself: the
            mean over the heads of the last layer.
        calls: of its attention, after each word.
    """

    words: list[str]
    start: int
    rows: list[list[float]]
    calls: list[int]

    @property
    def new(self) -> str:
        return " ".join(self.words[self.start :])


def opening(function: Backend | None = None, text: str | None = None) -> Film:
    """The film: with functions that go wrong, or with a learner's own.

    Args:
        function: as `attention_forward`; None is some that are wrong.
        text: words that the model knows, with spaces between; None lets one choose.
    Raises:
        ValueError: the model does not know a word, or the function gives something of another
            shape.
    """
    if text is not None:
        small.known(text.split())
    backends = WRONG if function is None else {YOURS: function}

    def frames(chosen: Choice) -> list[Frame]:
        name = chosen.get("attention", YOURS)
        given = text or chosen["text"]
        return _frames(name, written(backends[name], given.split()), _right(given))

    menus: dict[str, tuple[str, ...]] = {} if text else {"text": TEXTS}
    if function is None:
        menus["attention"] = tuple(WRONG)
    title = "A model writes with the attention that it is given"
    return Film(title, frames, HIGH, menus=menus)


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
    text = Text([*given], len(given), [], [])
    while len(text.words) < text.start + MOST and text.words[-1] != ".":
        ids = small.numbered([small.START, *text.words])
        text.words.append(small.words[int(model(ids)[0, -1].argmax())])
        text.rows.append(seen[-1][0, :, -1].mean(dim=0)[1:].tolist())
        text.calls.append(len(seen))
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


def _frames(name: str, text: Text, right: Text) -> list[Frame]:
    """Above is what is written with a function, and below what PyTorch's writes."""
    both = zip_longest(text.words, right.words, fillvalue="")
    at, skipped = _places([max(each, key=len) for each in both])
    given = [*_given(text, at, skipped), *_slot(ABOVE, ""), *_slot(BELOW, OWN)]
    under = _new(right, BELOW, at, skipped)
    stage = [*given, *under]
    asks = _word(f"new {ABOVE[1]} {text.start}", at[text.start], ABOVE[1], "?", ORANGE)
    awaited = _arcs(right.rows, ABOVE, at, skipped, GREY)
    begins = [*stage, *awaited, *_below(right, at, skipped), asks]
    new = right.new.removesuffix(" .")
    frames = [
        Frame(
            [*begins, _named(name, WIDE - SLOT[0] - 4)],
            f"With {OWN} attention it writes “{new}”. Above, none is in yet.",
        ),
        Frame(
            [*begins, _named(name, LEFT)],
            f"{_called(name)} goes in: whatever a word learns of others comes through it.",
        ),
    ]
    stage.append(_named(name, LEFT))
    for n, row in enumerate(text.rows):
        long = text.start + n
        parts = [*_below(right, at, skipped, n), *_above(text, at, skipped, n)]
        parts += [*stage, *_new(text, ABOVE, at, skipped, n + 1), _calls(text.calls[n])]
        frames.append(Frame(parts, _told(text.words, long, row)))
    parts = [*_below(right, at, skipped), *_above(text, at, skipped)]
    parts += [*stage, *_new(text, ABOVE, at, skipped), _calls(text.calls[-1])]
    same = text.words == right.words
    told = f"With {OWN} it would have written “{new}”."
    if same:
        told = f"It is the same as with {OWN}."
    verdict = ("the same", BLUE) if same else ("not the same", ORANGE)
    return [*frames, Frame([*parts, _verdict(*verdict)], told)]


def _told(words: Sequence[str], long: int, row: list[float]) -> str:
    """What the last of so many words listens to, and what is written after it."""
    asks, to = words[long - 1], max(range(long), key=lambda m: row[m])
    whom = "itself" if to == long - 1 else f"“{words[to]}”"
    looks = f"most to {whom} ({row[to]:.2f})"
    if row[to] - min(row) < 0.005:
        looks = f"to each word alike ({row[to]:.2f})"
    new = "ends the sentence" if words[long] == "." else f"writes “{words[long]}”"
    return f"“{asks}” listens {looks}, and the model {new}."


def _called(name: str) -> str:
    return "Your function" if name == YOURS else f"A wrong one ({name})"


def _places(words: Sequence[str]) -> tuple[list[float], int]:
    """Where the middles of words are, and how many at the beginning have no room.

    Those share one place, that of the dots.
    """
    for skipped in range(len(words)):
        seen = [*([MORE] if skipped else []), *words[skipped:]]
        middles = places(seen, SMALL, GAP, EDGE)
        if middles[-1] + LETTER * SMALL * max(len(seen[-1]), 2) / 2 <= WIDE - EDGE:
            break
    shown = middles[1:] if skipped else middles
    left = (WIDE - EDGE - middles[-1] - LETTER * SMALL * max(len(seen[-1]), 2) / 2) / 2
    return [x + left for x in [*middles[:1] * skipped, *shown]], skipped


def _word(key: str, x: float, y: float, text: str, colour: str | Colour = INK) -> Part:
    return word(key, x, y, text, colour, size=SMALL)


def _given(text: Text, at: list[float], skipped: int) -> list[Part]:
    parts = [_word("more", at[0], LINE, MORE)] if skipped else []
    seen = range(skipped, text.start)
    return [*parts, *(_word(f"word {n}", at[n], LINE, text.words[n]) for n in seen)]


def _new(
    text: Text, side: Side, at: list[float], skipped: int, many: int | None = None
) -> list[Part]:
    """So many words that were written, or all."""
    colour = ORANGE if side == ABOVE else BLUE
    last = len(text.words) if many is None else text.start + many
    seen = range(max(skipped, text.start), last)
    return [_word(f"new {side[1]} {n}", at[n], side[1], text.words[n], colour) for n in seen]


def _above(text: Text, at: list[float], skipped: int, focus: int | None = None) -> list[Part]:
    rows = text.rows if focus is None else text.rows[: focus + 1]
    return _arcs(rows, ABOVE, at, skipped, ORANGE, focus)


def _below(right: Text, at: list[float], skipped: int, focus: int | None = None) -> list[Part]:
    return _arcs(right.rows, BELOW, at, skipped, BLUE, focus)


def _arcs(
    rows: list[list[float]],
    side: Side,
    at: list[float],
    skipped: int,
    colour: Colour,
    focus: int | None = None,
) -> list[Part]:
    """From the words before those that were written; arcs to the dots are one. Grey is pale."""
    parts, wide = [], FLAT * (at[-1] - at[0])
    for n, row in enumerate(rows):
        whole = [(m, weight) for m, weight in enumerate(row) if m >= skipped]
        if skipped:
            whole.append((0, sum(row[:skipped])))
        opacity = PALE if colour == GREY or focus not in (None, n) else 1
        parts += [
            arc(
                f"{colour.name} arc {n} {m}",
                at[len(row) - 1],
                at[m],
                side[0],
                weight,
                colour,
                opacity,
                wide,
                below=side == BELOW,
            )
            for m, weight in whole
            if weight >= LEAST
        ]
    return parts


def _slot(side: Side, name: str) -> list[Part]:
    """Where a function goes in, and its name, if it has one."""
    top = side[2]
    return [
        word(f"slot {top} is", EDGE, top + 23, "attention", anchor="start", size=SMALL),
        box(f"slot {top}", (LEFT, top), SLOT, filled=0.06, edge=1.5),
        _word(f"slot {top} name", LEFT + SLOT[0] / 2, top + 23, name, BLUE),
    ]


def _named(name: str, left: float) -> Part:
    """The function's name, beside its slot or in it."""
    return _word("name", left + SLOT[0] / 2, ABOVE[2] + 23, name, ORANGE)


def _calls(count: int) -> Part:
    at = WIDE - EDGE, ABOVE[2] + 23
    return word("calls", *at, f"called {count} times", anchor="end", size=SMALL)


def _verdict(text: str, colour: Colour) -> Part:
    return word("verdict", WIDE - EDGE, BELOW[2] + 23, text, colour, "end", 22, 700)
