"""What is not exact, and cheaper: `sliding_window_mask` and `linear_attention`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import sizes

Generator = np.random.Generator
Tensor = torch.Tensor


# sliding_window_mask ------------------------------------------------------------------------------


def _windowed(allowed: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The mask that has True where this is, of how far a key lies behind its query, and window."""

    def sliding_window_mask(n: int, window: int) -> Tensor:
        if window < 1:
            raise ValueError(f"window is {window}")
        place = torch.arange(n)
        return allowed(place[:, None] - place, window)

    return sliding_window_mask


def _window(n: int, window: int) -> Tensor:
    """PyTorch's triangle without the one further down."""
    return torch.ones(n, n).tril().triu(1 - window).bool()


def _in_slices(n: int, window: int) -> Tensor:
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, i - window + 1 : i + 1] = True
    return mask


def _windows(rng: Generator) -> Iterator[Case]:
    for _ in range(2):
        n = int(rng.integers(6, 20))
        yield Case("values", (n, int(rng.integers(2, n - 2))))
    for window, note in (
        (n, "window is n"),
        (n - 1, "window is n − 1"),
        (n + int(rng.integers(1, 30)), "window is larger than n"),
    ):
        yield Case("shapes", (n, window), note=note)
    for window in (0, -1, -int(rng.integers(2, 9))):
        yield Case("refuses", (n, window), raises="ValueError", note=f"window is {window}")


SLIDING_WINDOW_MASK = Exercise(
    name="sliding_window_mask",
    signature="(n, window) -> (n, n) bool, True = attend",
    axes=("=n", "=w"),
    read="Look less far: a sliding window",
    returns=(Slot("mask", "tensor", "N N"),),
    claims=promises(
        "lets each token see itself and the window − 1 before it",
        0.5,
        Claim("shapes", "takes windows from 1 to more than n, one token, and many", 0.25),
        Claim("refuses", "raises ValueError for a window below 1", 0.25),
    ),
    cases=_windows,
    oracle=_window,
    mistakes={
        "window-off-by-one": (
            _windowed(lambda back, window: (back >= 0) & (back <= window)),
            _windowed(lambda back, window: (back >= 0) & (back < window - 1)),
        ),
        "itself-not-seen": (
            _windowed(lambda back, window: (back > 0) & (back < window)),
            _windowed(lambda back, window: (back > 0) & (back <= window)),
        ),
        "looks-ahead": (
            _windowed(lambda back, window: back.abs() < window),
            _windowed(lambda back, window: back.abs() <= window // 2),
            _windowed(lambda back, window: (back <= 0) & (-back < window)),
            _windowed(lambda back, window: back < window),
        ),
        "window-ignored": _windowed(lambda back, window: back >= 0),
        "mask-inverted": _windowed(lambda back, window: (back < 0) | (back >= window)),
        "slice-from-below-0": _in_slices,
        "in-blocks": _windowed(
            lambda back, window: (back >= 0) & (back[:, :1] % window >= back)  # places in blocks
        ),
        "edge-only": _windowed(lambda back, window: back == window - 1),
    },
)


# linear_attention ---------------------------------------------------------------------------------


def _features(x: Tensor) -> Tensor:
    return torch.where(x > 0, x + 1, x.exp())  # elu + 1, without losing what is next to 0


def _linear(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """softmax attention whose scores are logarithms of the features' products."""
    scores = (_features(q) @ _features(k).mT).log()
    future = torch.ones(scores.shape[-2:]).triu(1).bool()
    return scores.masked_fill(future, -torch.inf).softmax(-1) @ v


Feature = Callable[[Tensor], Tensor]


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _weighing(
    of_queries: Feature = _features,
    of_keys: Feature = _features,
    seen: Feature = torch.tril,
    total: Callable[[Tensor, Tensor], Any] = lambda kept, pairs: kept.sum(-1, keepdim=True),
    mix: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda weights, v, k: weights @ v,
) -> Callable[..., Tensor]:
    """The exercise's function in its parallel form, with a part exchanged.

    Args:
        of_queries, of_keys: the feature map.
        seen: which pairs are kept.
        total: what they are divided by, from those that are kept and from all of them.
        mix: outputs, from weights, values and keys.
    """

    def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        pairs = of_queries(q) @ of_keys(k).mT
        return mix(seen(pairs) / total(seen(pairs), pairs), v, k)

    return linear_attention


def _mapped(feature: Feature) -> Callable[..., Tensor]:
    return _weighing(feature, feature)


def _summed(
    axis: int = -3,
    axis_of_sum: int = -2,
    of_sum: Callable[[Tensor, Tensor], Tensor] = lambda fq, z: (fq * z).sum(-1, keepdim=True),
) -> Callable[..., Tensor]:
    """The exercise's function with running sums, along these axes."""

    def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        fq, fk = _features(q), _features(k)
        S = (fk[..., None] * v[..., None, :]).cumsum(axis)
        return (fq[..., None, :] @ S).squeeze(-2) / of_sum(fq, fk.cumsum(axis_of_sum))

    return linear_attention


def _softmax(scale: Callable[[int], float], feature: Feature = _as_it_is) -> Callable[..., Tensor]:
    return lambda q, k, v: F.scaled_dot_product_attention(
        feature(q), feature(k), v, is_causal=True, scale=scale(q.shape[-1])
    )


def _with_more(number: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda kept, pairs: kept.sum(-1, keepdim=True) + number


def _count(kept: Tensor, pairs: Tensor) -> Tensor:
    return torch.arange(1, 1 + pairs.shape[-1], dtype=pairs.dtype)[:, None]


def _features_near_0(rng: Generator) -> Iterator[Case]:
    for claim, low, high, largest in (
        ("values", 0.0, 1.5, 50.0),  # a millionth more in each sum shows
        ("low", -10.0, -9.0, 1.0),
        ("low", -10.0, 10.0, 1.0),
    ):
        n, d_k, d_v = sizes(rng, 3, 3)
        q, k = (torch.from_numpy(rng.uniform(low, high, (2, n, d_k))) for _ in range(2))
        v = largest * torch.from_numpy(rng.normal(size=(2, n, d_v)))
        yield Case(claim, (q, k, v), note=f"entries of q and k are from {low:g} to {high:g}")


LINEAR_ATTENTION = Exercise(
    name="linear_attention",
    signature="(q, k, v) -> out",
    axes=("… n k", "… n k", "… n v"),
    read="Change the softmax: linear attention",
    returns=(Slot("out", "tensor", "… N d_v"),),
    claims=promises(
        "averages the values so far by products of features",
        1.0,
        Claim("low", "is right where features are next to 0", 0.25),
        shapes=0.25,
        precision=0.25,
        unchanged=0.25,
    ),
    cases=_features_near_0,
    oracle=_linear,
    mistakes={
        "softmax-attention": (
            _softmax(lambda d_k: 1.0),
            _softmax(lambda d_k: d_k**-0.5),
            _softmax(lambda d_k: 1.0, _features),
            _softmax(lambda d_k: d_k**-0.5, _features),
        ),
        "another-feature-map": (
            _mapped(F.elu),
            _mapped(torch.relu),
            _mapped(lambda x: torch.relu(x) + 1),
            _mapped(torch.exp),
            _mapped(lambda x: F.elu(x + 1)),
        ),
        "features-missing": (
            _mapped(_as_it_is),
            _weighing(of_queries=_as_it_is),
            _weighing(of_keys=_as_it_is),
        ),
        "scaled-features": (
            _weighing(of_queries=lambda q: _features(q * q.shape[-1] ** -0.5)),
            _mapped(lambda x: _features(x * x.shape[-1] ** -0.25)),
        ),
        "not-normalised": _weighing(total=lambda kept, pairs: 1.0),
        "divided-by-count": _weighing(total=_count),
        "divided-without-query": _summed(of_sum=lambda fq, z: z.sum(-1, keepdim=True)),
        "one-sum-over-all": (
            _weighing(total=lambda kept, pairs: pairs.sum(-1, keepdim=True)),
            _weighing(seen=_as_it_is, total=lambda kept, pairs: pairs.tril().sum(-1, keepdim=True)),
        ),
        "running-sum-along-another-axis": (
            *(_summed(axis) for axis in (-2, -1, 0, 1)),
            *(_summed(axis, axis) for axis in (0, 1)),
        ),
        "not-causal": _weighing(seen=_as_it_is),
        "itself-not-seen": _weighing(seen=lambda pairs: pairs.tril(-1)),
        "mask-transposed": _weighing(seen=torch.triu),
        "epsilon-added": (
            *(_weighing(total=_with_more(small)) for small in (1e-5, 1e-6, 1e-8, 1e-10, 1e-12)),
            _weighing(total=lambda kept, pairs: kept.sum(-1, keepdim=True).clamp(min=1e-6)),
        ),
        "uniform-weights": _mapped(torch.ones_like),
        "keys-as-values": (
            _weighing(mix=lambda weights, v, k: weights @ k),
            _weighing(mix=lambda weights, v, k: weights @ _features(k)),
        ),
        "values-with-features": _weighing(mix=lambda weights, v, k: weights @ _features(v)),
    },
)
