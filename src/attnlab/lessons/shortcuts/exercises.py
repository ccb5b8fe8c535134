"""Lesson 12's exercises: a window, another softmax, and heads that share keys and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import FAR, normal, sizes
from attnlab.checks.recipe import Recipe

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


def _each_feature_apart(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """S divided by z, entry by entry, before the query comes."""
    fq, fk = _features(q), _features(k)
    S = (fk[..., None] * v[..., None, :]).cumsum(-3)
    return (fq[..., None, :] @ (S / fk.cumsum(-2)[..., None])).squeeze(-2)


def _softmax(scale: Callable[[int], float], feature: Feature = _as_it_is) -> Callable[..., Tensor]:
    return lambda q, k, v: F.scaled_dot_product_attention(
        feature(q), feature(k), v, is_causal=True, scale=scale(q.shape[-1])
    )


def _with_more(number: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda kept, pairs: kept.sum(-1, keepdim=True) + number


def _at_least(number: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda kept, pairs: kept.sum(-1, keepdim=True).clamp(min=number)


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
        precision=0.25,
        gradient=0.25,
        shapes_and_unchanged=0.25,
    ),
    cases=_features_near_0,
    oracle=_linear,
    mistakes={
        "softmax-attention": (
            _softmax(lambda d_k: 1.0),
            _softmax(lambda d_k: d_k**-0.5),
            _softmax(lambda d_k: 1.0, _features),
            _softmax(lambda d_k: d_k**-0.5, _features),
            _weighing(seen=lambda pairs: pairs.tril().softmax(-1), total=lambda kept, pairs: 1.0),
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
        "divided-without-query": (
            _summed(of_sum=lambda fq, z: z.sum(-1, keepdim=True)),
            _summed(of_sum=lambda fq, z: z.mean(-1, keepdim=True)),
            _summed(of_sum=lambda fq, z: z.norm(dim=-1, keepdim=True)),
            _each_feature_apart,
        ),
        "divided-without-sum": (
            _summed(of_sum=lambda fq, z: fq.sum(-1, keepdim=True)),
            _weighing(total=lambda kept, pairs: pairs.diagonal(dim1=-2, dim2=-1)[..., None]),
        ),
        "one-sum-over-all": (
            _weighing(total=lambda kept, pairs: pairs.sum(-1, keepdim=True)),
            _weighing(seen=_as_it_is, total=lambda kept, pairs: pairs.tril().sum(-1, keepdim=True)),
        ),
        "running-sum-along-another-axis": (
            *(_summed(axis) for axis in (-2, -1, 0, 1)),
            *(_summed(axis, axis) for axis in (0, 1)),
            *(_summed(axis_of_sum=axis) for axis in (-1, 0, 1)),
        ),
        "summed-over-another-axis": (
            _weighing(total=lambda kept, pairs: kept.sum(-2, keepdim=True)),
            _weighing(total=lambda kept, pairs: kept.sum(0, keepdim=True)),
            _weighing(total=lambda kept, pairs: kept.sum((-2, -1), keepdim=True)),
            _weighing(total=lambda kept, pairs: kept.sum()),
        ),
        "not-causal": _weighing(seen=_as_it_is),
        "itself-not-seen": _weighing(seen=lambda pairs: pairs.tril(-1)),
        "mask-transposed": _weighing(seen=torch.triu),
        "epsilon-added": (
            *(_weighing(total=_with_more(10.0**-tens)) for tens in range(2, 14)),
            *(_weighing(total=_at_least(10.0**-tens)) for tens in range(2, 8)),
        ),
        "uniform-weights": _mapped(torch.ones_like),
        "keys-as-values": (
            _weighing(mix=lambda weights, v, k: weights @ k),
            _weighing(mix=lambda weights, v, k: weights @ _features(k)),
        ),
        "values-with-features": _weighing(mix=lambda weights, v, k: weights @ _features(v)),
        "no-gradient": (
            _weighing(total=lambda kept, pairs: kept.sum(-1, keepdim=True).detach()),
            _weighing(mix=lambda weights, v, k: weights.detach() @ v),
            _weighing(mix=lambda weights, v, k: weights @ v.detach()),
            _weighing(of_queries=lambda q: _features(q.detach())),
            _weighing(of_keys=lambda k: _features(k.detach())),
            _summed(of_sum=lambda fq, z: (fq * z.detach()).sum(-1, keepdim=True)),
            _weighing(mix=lambda weights, v, k: (weights @ v).detach()),
        ),
    },
)


# grouped_query_attention --------------------------------------------------------------------------

Reads = Callable[[int, int, int], int]  # of a head, heads and groups: the group that it reads


def _its_group(head: int, heads: int, groups: int) -> int:
    return head // (heads // groups)


def _in_turn(head: int, heads: int, groups: int) -> int:
    return head % groups


def _grouped(
    keys: Reads = _its_group,
    values: Reads | None = None,
    seen: int | None = 0,
    toward: Callable[[Tensor], Tensor] = _as_it_is,
) -> Attention:
    """Attention in which heads read groups of keys and values.

    Args:
        keys, values: which group a head reads; the same for both if that is not said.
        seen: how many keys after its own place a query sees where it is causal; None for as many
            as align the triangle bottom-right.
        toward: what becomes of the mask.
    """

    def parts(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Parts:
        heads, n, m = q.shape[1], q.shape[-2], k.shape[-2]
        k, v = (
            part[:, [reads(head, heads, part.shape[1]) for head in range(heads)]]
            for part, reads in ((k, keys), (v, values or keys))
        )
        further = m - n if seen is None else seen
        future = torch.ones(n, m, dtype=torch.bool).triu(1 + further)
        return Parts(q, k, v, blocked=toward(future) if causal else None)

    return Attention(parts, finish=lambda out, weights, *args, **kwargs: out)


GROUPED = _grouped()


def _enable_gqa(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)


def _blurred(part: Tensor) -> Tensor:
    """Each group is the mean of all."""
    return part.mean(1, keepdim=True).expand_as(part)


def _over_groups(change: Callable[[Tensor, int], Tensor]) -> Callable[..., Tensor]:
    """What is right, with its heads changed in the end, from how many read one group."""
    return lambda q, k, v, causal=False: change(
        GROUPED.oracle(q, k, v, causal), q.shape[1] // k.shape[1]
    )


def _queries_averaged(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    """The queries of a group become one."""
    size = q.shape[1] // k.shape[1]
    one = q.unflatten(1, (-1, size)).mean(2)
    return GROUPED.oracle(one.repeat_interleave(size, 1), k, v, causal)


def _nothing_shared_out(attention: Attention) -> tuple[Callable[..., Tensor], ...]:
    """Its answers where some rows are left nothing: 0, NaN, or an even share of all."""
    low = Recipe(hide=lambda scores, blocked: scores.masked_fill(blocked, -1e9))
    recipes = Recipe(), Recipe(empty=lambda weights, rows: weights), low
    return tuple(attention.answer(recipe) for recipe in recipes)


def _groups(rng: Generator) -> Iterator[Case]:
    """Heads of queries, keys and values that do not fit; and scores that rise from key to key."""
    n, m, d_k, d_v = sizes(rng, 4, 3)
    q, k, v = normal(rng, 2, 6, n, d_k), normal(rng, 2, 2, m, d_k), normal(rng, 2, 2, m, d_v)
    q[..., 0] = q[..., 0].abs() + 1.0
    k[..., 0] = torch.linspace(-1.0, 1.0, m) * FAR
    note = "scores are in the thousands and go up from key to key, and causal=True"
    yield Case("large", (q, k, v, True), note=note, about=("masked",))
    g, s = map(int, rng.choice([2, 3, 5], 2, replace=False))
    uneven = "G does not divide H"
    apart = "k and v differ in G"
    for heads, of_k, of_v, note in (
        (g * s + 1, g, g, uneven),
        (g * s - 1, g, g, uneven),
        (g, g * s, g * s, uneven),
        (g * s, g, s, apart),
        (g * s, s, g, apart),
        (g * s, g, 1, apart),
        (g * s, 1, g, apart),
        (g * s, g * s, g, apart),
        (g * s, g, g * s, apart),
    ):
        b, n, m, d_k, d_v = sizes(rng, 5)
        q, k, v = (
            normal(rng, b, heads, n, d_k),
            normal(rng, b, of_k, m, d_k),
            normal(rng, b, of_v, m, d_v),
        )
        note = f"{note}: {heads} heads, {of_k} groups of keys, {of_v} of values"
        yield Case("refuses", (q, k, v), raises="ValueError", note=note)


GROUPED_QUERY_ATTENTION = Exercise(
    name="grouped_query_attention",
    signature="(q, k, v, causal=False) -> out",
    axes=("b h n k", "b g m k", "b g m v", "?"),
    products={"h": "g s"},
    fits="g",  # refusals of its own
    read="Share keys and values: grouped queries",
    returns=(Slot("out", "tensor", "B H N d_v"),),
    claims=promises(
        "equals PyTorch's attention with enable_gqa=True",
        0.75,
        Claim("masked", "is causal where that is asked for, N ≠ M too", 0.25),
        Claim(
            "refuses", "raises ValueError where G does not divide H, or k and v differ in G", 0.25
        ),
        large_and_precision=0.25,
        gradient=0.25,
        shapes_and_unchanged=0.25,
    ),
    cases=_groups,
    oracle=_enable_gqa,
    attention=GROUPED,
    banned="attention",
    without=(
        *("mask-transposed", "mask-off-by-one"),  # of squares; below, of any sizes
        *("best-value-only", "weights-not-masked"),  # no weights are seen
    ),
    mistakes={
        "groups-in-turn": (
            _grouped(_in_turn).oracle,
            _grouped(_in_turn, _its_group).oracle,
            _grouped(_its_group, _in_turn).oracle,
        ),
        "one-group-for-all": (
            _grouped(lambda head, heads, groups: 0).oracle,
            _grouped(lambda head, heads, groups: groups - 1).oracle,
            _grouped(lambda head, heads, groups: 0, _its_group).oracle,
            _grouped(_its_group, lambda head, heads, groups: 0).oracle,
        ),
        "divided-by-groups": _grouped(lambda head, heads, groups: head // groups).oracle,
        "groups-backwards": _grouped(lambda *of: of[2] - 1 - _its_group(*of)).oracle,
        "groups-averaged": (
            lambda q, k, v, causal=False: GROUPED.oracle(q, _blurred(k), _blurred(v), causal),
            lambda q, k, v, causal=False: GROUPED.oracle(q, _blurred(k), v, causal),
            lambda q, k, v, causal=False: GROUPED.oracle(q, k, _blurred(v), causal),
        ),
        "queries-averaged": _queries_averaged,
        "heads-averaged": (
            _over_groups(lambda out, size: out.unflatten(1, (-1, size)).mean(2)),
            _over_groups(lambda out, size: out.unflatten(1, (-1, size)).sum(2)),
            _over_groups(lambda out, size: out.mean(1)),
            _over_groups(lambda out, size: out.mean(1, keepdim=True).expand_as(out)),
            _over_groups(
                lambda out, size: out.unflatten(1, (-1, size)).mean(2).repeat_interleave(size, 1)
            ),
        ),
        "groups-apart": _over_groups(lambda out, size: out.unflatten(1, (-1, size))),
        "heads-reordered": _over_groups(
            lambda out, size: out.unflatten(1, (-1, size)).transpose(1, 2).flatten(1, 2)
        ),
        "heads-side-by-side": _over_groups(lambda out, size: out.transpose(1, 2).flatten(2)),
        "tokens-before-heads": _over_groups(lambda out, size: out.transpose(1, 2)),
        "softmax-over-heads": GROUPED.answer(Recipe(weigh=lambda scores: scores.softmax(1))),
        "scale-by-sqrt-heads": tuple(
            GROUPED.answer(Recipe(scale=scale))
            for scale in (
                lambda at: at.q.shape[1] ** -0.5,
                lambda at: (at.q.shape[-1] * at.q.shape[1]) ** -0.5,
            )
        ),
        "mask-bottom-right": _nothing_shared_out(_grouped(seen=None)),
        "mask-off-by-one": (
            _grouped(seen=1).oracle,
            *_nothing_shared_out(_grouped(seen=-1)),
        ),
        "mask-transposed": _nothing_shared_out(
            _grouped(toward=lambda future: torch.ones_like(future).tril(-1))
        ),
        "causal-unasked": (
            lambda q, k, v, causal=False: GROUPED.oracle(q, k, v, True),
            lambda q, k, v, causal=False: GROUPED.oracle(q, k, v, not causal),
        ),
    },
)

EXERCISES = (SLIDING_WINDOW_MASK, LINEAR_ATTENTION, GROUPED_QUERY_ATTENTION)
