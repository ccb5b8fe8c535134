"""The course's model with a function in place of its attention: what it writes, and looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnlab import small

Backend = Callable[..., Any]  # as the library calls it: the lesson's attention_forward
LAST = 1  # layer


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


class Step(NamedTuple):
    """What comes next.

    Attributes:
        chances: of each of the model's words.
        heads: (H, 1 + N), weights of the last layer's heads, from the last word to the start token
            and to each word.
    """

    chances: Tensor
    heads: Tensor

    @property
    def word(self) -> str:
        return small.words[int(self.chances.argmax())]


def step(function: Backend, words: Sequence[str]) -> Step:
    """What the model would write after words, with a function in all of its layers.

    Raises:
        ValueError: the model does not know a word, or the function gives something of another
            shape.
    """
    return steps(function, [words])[0]


def steps(function: Backend, texts: Sequence[Sequence[str]]) -> list[Step]:
    """What it would write after each of some texts of one length."""
    scores, seen = _asked(function, texts)
    both = zip(scores.softmax(dim=-1), seen[-1][:, :, -1], strict=True)
    return [Step(*each) for each in both]


@torch.no_grad()
def _asked(function: Backend, texts: Sequence[Sequence[str]]) -> tuple[Tensor, list[Tensor]]:
    """Scores of words that may follow texts, and weights, layer by layer."""
    model, seen = small.load(), list[Tensor]()
    for layer, block in enumerate(model.transformer.h):
        block.attn = _Asking(block.attn, layer, function, seen)
    ids = torch.cat([small.numbered([small.START, *words]) for words in texts])
    return model(ids)[:, -1], seen


def mixed(equal: float) -> Backend:
    """The model's own causal weights, in its last layer so large a share of them made equal."""

    def attend(
        module: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: None, scaling: float
    ) -> tuple[Tensor, Tensor]:
        scores = q @ k.mT * scaling
        past = torch.ones(scores.shape[-2:]).tril()
        own = scores.masked_fill(past == 0, -torch.inf).softmax(dim=-1)
        if module.layer_idx == LAST:
            own = own.lerp(past / past.sum(dim=-1, keepdim=True), equal)
        return (own @ v).transpose(1, 2), own

    return attend


OWN, EQUAL = mixed(0), mixed(1)
