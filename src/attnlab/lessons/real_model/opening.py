"""Lesson 14 opens with a model that writes, and whose attention is exchanged.

At the lesson's end the same film has the learner's own function in, and a text of their own:

    figures.opening(attention_forward, "the dogs near the boy")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnlab import small
from attnlab.figures.live.film import Choice, Film, Frame
from attnlab.figures.live.parts import INK, LETTER, SMALL, WIDE, Part, arc, box, places, word
from attnlab.figures.palette import BLUE, ORANGE, Colour

Backend = Callable[..., Any]  # as the library calls it: the lesson's attention_forward

TEXTS = ("fox king owl wolf ; fox king", "( red { blue [ green", "the dogs near the boy")
OWN, YOURS = "PyTorch's", "yours"
MOST = 4  # words that are written
LEAST = 0.05  # a weight that is drawn

HIGH = 268
FLOOR, LINE, BELOW = 206, 232, 260  # ends of the arcs; lines of words
SLOT = ((108, 8), (164, 32))  # corner and size
GAP, EDGE = 10, 8
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
        function: as `attention_forward`; None is the model's own, and some that are wrong.
        text: words that the model knows, with spaces between; None lets one choose.
    Raises:
        ValueError: the model does not know a word, or the function gives something of another
            shape.
    """
    if text is not None:
        small.known(text.split())
    backends = BACKENDS if function is None else {YOURS: function, OWN: BACKENDS[OWN]}

    def frames(chosen: Choice) -> list[Frame]:
        of = chosen["attention"]
        given = text or chosen["text"]
        right = _right(given)
        return _frames(of, right if of == OWN else written(backends[of], given.split()), right)

    menus = ({} if text else {"text": TEXTS}) | {"attention": tuple(backends)}
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


BACKENDS = {
    "all words alike": _backend(lambda scaling: 0.0),
    "not masked": _backend(lambda scaling: scaling, hides=False),
    "not scaled": _backend(lambda scaling: 1.0),
    OWN: _backend(lambda scaling: scaling),
}


@cache
def _right(given: str) -> Text:
    return written(BACKENDS[OWN], given.split())


# The picture --------------------------------------------------------------------------------------


def _frames(name: str, text: Text, right: Text) -> list[Frame]:
    at, skipped = _places(text.words)
    begins = [*_slot(), *_words(text, text.start, at, skipped), _named(name, WIDE - SLOT[1][0] - 4)]
    frames = [
        Frame(begins, "A model continues this text. Its attention is not in yet."),
        Frame(
            [*_slot(), *_words(text, text.start, at, skipped), _named(name, SLOT[0][0])],
            f"{_called(name)} goes in: whatever a word learns of others comes through it.",
        ),
    ]
    for n, row in enumerate(text.rows):
        long = text.start + n
        parts = [*_slot(), *_arcs(n, row, at, skipped, ORANGE)]
        parts += [*_words(text, long + 1, at, skipped), _named(name, SLOT[0][0])]
        parts.append(_calls(text.calls[n]))
        frames.append(Frame(parts, _told(text.words, long, row)))
    parts = [part for n, row in enumerate(text.rows) for part in _arcs(n, row, at, skipped, BLUE)]
    parts += [*_slot(), *_words(text, len(text.words), at, skipped), _named(name, SLOT[0][0])]
    parts.append(_calls(text.calls[-1]))
    if name == OWN:
        told = "Exchange the function, and see what it writes then."
    elif text.words == right.words:
        told = f"It is the same as with {OWN}."
        parts.append(word("right", WIDE / 2, BELOW, f"the same with {OWN}", size=SMALL))
    else:
        told = f"With {OWN} it would have written “{right.new.removesuffix(' .')}”."
        parts.append(word("right", WIDE / 2, BELOW, f"with {OWN}: {right.new}", size=SMALL))
    return [*frames, Frame(parts, told)]


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
    return {OWN: "PyTorch's own", YOURS: "Your function"}.get(name, f"A wrong one ({name})")


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


def _words(text: Text, long: int, at: list[float], skipped: int) -> list[Part]:
    parts = [word("more", at[0], LINE, MORE, size=SMALL)] if skipped else []
    for n in range(skipped, long):
        colour = ORANGE if n >= text.start else INK
        parts.append(word(f"word {n}", at[n], LINE, text.words[n], colour, size=SMALL))
    return parts


def _arcs(n: int, row: list[float], at: list[float], skipped: int, colour: Colour) -> list[Part]:
    """From the word before the n-th that was written; those at the dots are one."""
    last, wide = len(row) - 1, at[-1] - at[0]
    whole = [(m, weight) for m, weight in enumerate(row) if m >= skipped]
    if skipped:
        whole.append((0, sum(row[:skipped])))
    return [
        arc(f"arc {n} {m}", at[last], at[m], FLOOR, weight, colour, wide=wide)
        for m, weight in whole
        if weight >= LEAST
    ]


def _slot() -> list[Part]:
    return [
        word("slot name", 10, 30, "attention", anchor="start", size=SMALL),
        box("slot", *SLOT, filled=0.06, edge=1.5),
    ]


def _named(name: str, left: float) -> Part:
    """The function's name, beside its slot or in it."""
    return word("name", left + SLOT[1][0] / 2, 30, name, ORANGE, size=SMALL, weight=600)


def _calls(count: int) -> Part:
    return word("calls", WIDE - 10, 30, f"called {count} times", anchor="end", size=SMALL)
