"""The course's model with a function in place of its attention: what it writes, and looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnlab import small

Backend = Callable[..., Any]  # as the library calls it: the lesson's attention_forward


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
        heads: (H, N), weights of the last layer's heads, from the last word to each one.
    """

    chances: Tensor
    heads: Tensor

    @property
    def word(self) -> str:
        return small.words[int(self.chances.argmax())]


@torch.no_grad()
def step(function: Backend, words: Sequence[str]) -> Step:
    """What the model would write after words, with a function in all of its layers.

    Raises:
        ValueError: the model does not know a word, or the function gives something of another
            shape.
    """
    model, seen = small.load(), list[Tensor]()
    for layer, block in enumerate(model.transformer.h):
        block.attn = _Asking(block.attn, layer, function, seen)
    scores = model(small.numbered([small.START, *words]))[0, -1]
    return Step(scores.softmax(dim=-1), seen[-1][0, :, -1, 1:])  # no start token's


def multiplied(by: float) -> Backend:
    """Causal attention of multiplied scores: by 1 the model's own, by 0 with equal weights."""

    def attend(
        module: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: None, scaling: float
    ) -> tuple[Tensor, Tensor]:
        scores = q @ k.mT * (scaling * by)
        future = torch.ones(scores.shape[-2:]).triu(1).bool()
        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
        return (weights @ v).transpose(1, 2), weights

    return attend


OWN, EQUAL = multiplied(1), multiplied(0)
