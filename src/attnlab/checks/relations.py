"""What attention makes of two related calls: relations that several lessons ask for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from attnlab.checks.exercise import Case, Relation

Arrays = tuple[np.ndarray, ...]
Pair = Callable[[np.random.Generator], tuple[Case, Case]]

ORDER = np.array([3, 0, 4, 1, 2])  # in which five tokens are put
CUT = 2  # tokens after this one are the future


def same(one: Arrays, other: Arrays) -> bool:
    """Both answers agree."""
    return all(np.allclose(a, b, 0, 1e-6, equal_nan=True) for a, b in zip(one, other, strict=True))


def with_other_future(rng: np.random.Generator, x: torch.Tensor) -> torch.Tensor:
    """The same tokens (…, N, d) up to the cut, and others after it."""
    changed = x.clone()
    future = changed[..., CUT + 1 :, :]
    future.copy_(torch.from_numpy(rng.normal(0, 3.0, future.shape)))
    return changed


def _same_past(one: Arrays, other: Arrays) -> bool:
    past = slice(CUT + 1)
    pairs = zip(one, other, strict=True)
    return all(
        np.allclose(a[..., past, :], b[..., past, :], 0, 1e-9, equal_nan=True) for a, b in pairs
    )


def _tokens_follow(one: Arrays, other: Arrays) -> bool:
    out, weights = one
    return same((out[..., ORDER, :], weights[..., ORDER, :][..., ORDER]), other)


def future_relation(claim: str, cases: Pair) -> Relation:
    """Two calls whose tokens differ after the cut."""
    return Relation(
        claim,
        cases,
        _same_past,
        slug="future-leaks",
        reason="A token's output changed when only later tokens did.",
        remedy="Find where a row of scores uses keys that come after it.",
    )


def equivariance_relation(claim: str, cases: Pair) -> Relation:
    """Two calls with the same five tokens, the second time in ORDER."""
    return Relation(
        claim,
        cases,
        _tokens_follow,
        slug="not-equivariant",
        reason="Attention without a mask does not know the order of its tokens.",
        remedy="Look for anything that depends on a token's position.",
    )
