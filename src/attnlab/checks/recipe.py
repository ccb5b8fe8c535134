"""The recipe of attention, and how its parts are exchanged.

It is computed in PyTorch, whatever the lesson computes with: answers are compared as numbers, and
lists and arrays become tensors on the way in. What is right never comes from here; it comes from
`attnlab.checks.reference`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnlab.checks.reference import tensor

Tensor = torch.Tensor
INFINITY = float("inf")


@dataclass(slots=True)
class Steps:
    """Attention half done: what a part may look at.

    Attributes:
        q, k, v: (…, N, d_k), (…, M, d_k), (…, M, d_v).
        x: (…, N, d), what they were projected from; the queries themselves if from nothing.
        blocked: (…, N, M) bool, True = may not attend; None where there is no mask.
        scores, hidden, weights: (…, N, M), scaled; then with the mask; then after softmax.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    x: Tensor
    blocked: Tensor | None
    scores: Tensor
    hidden: Tensor
    weights: Tensor


def softmax(scores: Tensor) -> Tensor:
    """Softmax over keys."""
    return torch.softmax(scores, -1)


def as_tensor(data: Any) -> Tensor:
    """Lists, arrays and whole numbers as a tensor of floats; a tensor stays what it is."""
    return data if isinstance(data, Tensor) else tensor(data)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts of attention, in the order in which they are used.

    Attributes:
        roles: queries, keys and values as they are used, out of q, k, v and x.
        score: raw scores, from queries and keys.
        scale: the factor of the scores.
        block: the blocked positions that are used, from those that are right.
        hide: scores with blocked positions hidden.
        weigh: scores to weights, over the last axis.
        cover: weights with blocked positions covered.
        empty: weights where some queries had nothing to attend to.
        after: what happens to the weights at last.
        mix: weights and values to outputs.
        give: outputs and weights to what is returned.
    """

    roles: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, ...]] = lambda q, k, v, x: (
        q,
        k,
        v,
    )
    score: Callable[[Tensor, Tensor], Tensor] = lambda q, k: q @ k.mT
    scale: Callable[[Steps], float] = lambda at: at.q.shape[-1] ** -0.5
    block: Callable[[Tensor], Tensor] = lambda blocked: blocked
    hide: Callable[[Tensor, Tensor], Tensor] = lambda s, blocked: s.masked_fill(blocked, -INFINITY)
    weigh: Callable[[Tensor], Tensor] = softmax
    cover: Callable[[Tensor, Tensor], Tensor] = lambda a, blocked: a
    empty: Callable[[Tensor, Tensor], Tensor] = lambda a, rows: a.masked_fill(rows, 0.0)
    after: Callable[[Steps], Tensor] = lambda at: at.weights
    mix: Callable[[Steps], Tensor] = lambda at: at.weights @ at.v
    give: Callable[[Tensor, Steps], tuple[Tensor, Tensor]] = lambda out, at: (out, at.weights)

    def compute(
        self, q: Any, k: Any, v: Any = None, x: Any = None, mask: Any = None, bias: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Outputs (…, N, d_v) and weights (…, N, M).

        Args:
            q, k, v: (…, N, d_k), (…, M, d_k), (…, M, d_v).
            x: (…, N, d), what they were projected from.
            mask: (…, N, M) bool, True = blocked.
            bias: (…, N, M), added to the scaled scores: a float mask.
        """
        q, k = as_tensor(q), as_tensor(k)
        v = k if v is None else as_tensor(v)
        x = q if x is None else as_tensor(x)
        q, k, v = self.roles(q, k, v, x)
        blocked = None if mask is None else self.block(as_tensor(mask))
        scores = self.score(q, k)
        at = Steps(q, k, v, x, blocked, scores, scores, scores)
        at.scores = scores * self.scale(at)
        at.hidden = at.scores if bias is None else at.scores + as_tensor(bias)
        if blocked is not None:
            at.hidden = self.hide(at.hidden, blocked)
        at.weights = self.weigh(at.hidden)
        if blocked is not None:
            at.weights = self.cover(at.weights, blocked)
        at.weights = self.empty(at.weights, (at.hidden == -INFINITY).all(-1, keepdim=True))
        at.weights = self.after(at)
        return self.give(self.mix(at), at)

    def weights(self, q: Any, k: Any) -> Tensor:
        """Weights alone, of queries (…, N, d_k) over keys (…, M, d_k)."""
        return replace(self, mix=lambda at: at.weights).compute(q, k)[1]

    def softmax(self, scores: Any, axis: int = -1) -> Tensor:
        """The recipe's way to weigh scores, along any axis."""
        return self.weigh(as_tensor(scores).movedim(axis, -1)).movedim(-1, axis)


@dataclass(frozen=True, slots=True)
class Variation:
    """One mistake in attention, and the ways to make it.

    Attributes:
        slug: its name.
        variants: fields of a Recipe, for each way to make it.
    """

    slug: str
    variants: tuple[dict[str, Any], ...]


Part = tuple[Variation, ...]


def wrong(slug: str, *variants: dict[str, Any]) -> Variation:
    """A Variation, its variants one after the other."""
    return Variation(slug, variants)
