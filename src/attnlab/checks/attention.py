"""How an exercise's arguments become attention's parts, whatever it calls them.

From this alone follow its oracle, the mistakes of the recipe, and the cases that need scores of a
certain kind: thousands apart, towering, blocked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F

from attnlab.checks.recipe import Recipe, as_tensor

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True)
class Parts:
    """What attention is computed from.

    Attributes:
        q, k, v: (…, N, d_k), (…, M, d_k), (…, M, d_v); no v where weights alone are asked for.
        x: (…, N, d), what the queries were projected from; None where nothing is projected.
        blocked: bool, broadcasts to (…, N, M), True = may not attend; None where there is no mask.
        bias: float, broadcasts to (…, N, M), added to the scaled scores.
    """

    q: Any
    k: Any
    v: Any = None
    x: Any = None
    blocked: Any = None
    bias: Any = None


@dataclass(frozen=True, slots=True)
class Attention:
    """An exercise that is attention, with something before and after it.

    Attributes:
        parts: takes what the exercise's function takes.
        finish: outputs and weights, then the arguments again, to what the exercise returns.
        scale: the factor of the scores, from the arguments, where it is not 1/√d_k.
    """

    parts: Callable[..., Parts]
    finish: Callable[..., Any] = lambda out, weights, *args, **kwargs: (out, weights)
    scale: Callable[..., float] | None = None

    def answer(self, recipe: Recipe) -> Callable[..., Any]:
        """The exercise's function, made from a recipe: right or mistaken as the recipe is."""

        def attend(*args: Any, **kwargs: Any) -> Any:
            at = self.parts(*args, **kwargs)
            asked = recipe if at.v is not None else replace(recipe, mix=lambda at: at.weights)
            if (factor := self._factor(*args, **kwargs)) is not None:
                asked = replace(asked, scale=lambda at: factor)
            computed = asked.compute(at.q, at.k, at.v, at.x, mask=at.blocked, bias=at.bias)
            return self.finish(*computed, *args, **kwargs)

        return attend

    def oracle(self, *args: Any, **kwargs: Any) -> Any:
        """What is right, by F.scaled_dot_product_attention."""
        at = self.parts(*args, **kwargs)
        scale = self._factor(*args, **kwargs)
        return self.finish(*sdpa(at.q, at.k, at.v, at.blocked, at.bias, scale), *args, **kwargs)

    def scores(self, *args: Any, **kwargs: Any) -> Tensor:
        """The scaled scores (…, N, M), with no mask."""
        at = self.parts(*args, **kwargs)
        q, scale = as_tensor(at.q), self._factor(*args, **kwargs)
        return q @ as_tensor(at.k).mT * (q.shape[-1] ** -0.5 if scale is None else scale)

    def _factor(self, *args: Any, **kwargs: Any) -> float | None:
        return self.scale(*args, **kwargs) if self.scale else None


def sdpa(
    q: Any, k: Any, v: Any, blocked: Any = None, bias: Any = None, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """F.scaled_dot_product_attention, and its weights: its output when values are unit vectors.

    Args:
        q, k, v: (…, N, d_k), (…, M, d_k), (…, M, d_v); lists, arrays or tensors.
        blocked: bool, True = may not attend.
        bias: added to the scaled scores.
        scale: what scores are multiplied by; 1/√d_k if nothing is said.
    """
    q, k, v = (as_tensor(part) for part in (q, k, k if v is None else v))
    mask = bias if blocked is None else ~torch.as_tensor(blocked)
    if mask is not None:  # one of a single axis is refused, though it broadcasts
        mask = torch.as_tensor(mask).expand(*q.shape[:-1], k.shape[-2])
    each_key = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], -1, -1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    return out, F.scaled_dot_product_attention(q, k, each_key, attn_mask=mask, scale=scale)
