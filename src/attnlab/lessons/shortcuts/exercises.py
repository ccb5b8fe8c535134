"""Lesson 12's exercises: a window, another softmax, and heads that share keys and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.edits import edited, edits
from attnlab.checks.exercise import Case, Claim, Exercise, Formula, Slot, promises
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


def _parallel(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    fq, fk = _features(q), _features(k)
    pairs = fq @ fk.mT
    kept = pairs.tril()
    weights = kept / kept.sum(-1, keepdim=True)
    return weights @ v


def _running(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    fq, fk = _features(q), _features(k)
    S = (fk[..., None] * v[..., None, :]).cumsum(-3)
    z = fk.cumsum(-2)
    return (fq[..., None, :] @ S).squeeze(-2) / (fq * z).sum(-1, keepdim=True)


def _softmax(scale: Callable[[int], float], feature: Callable[[Tensor], Tensor]) -> Formula:
    return lambda q, k, v: F.scaled_dot_product_attention(
        feature(q), feature(k), v, is_causal=True, scale=scale(q.shape[-1])
    )


def _mapped(feature: str) -> str:
    return f"_features(q), _features(k) -> {feature.format(x='q')}, {feature.format(x='k')}"


def _ran(*ways: str) -> tuple[Formula, ...]:
    return tuple(edited(_running, way) for way in ways)


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


SUM = "kept.sum(-1, keepdim=True)"
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
    mistakes=edits(
        _parallel,
        {
            "softmax-attention": (
                *(
                    _softmax(scale, feature)
                    for feature in (lambda x: x, _features)
                    for scale in (lambda d_k: 1.0, lambda d_k: d_k**-0.5)
                ),
                "weights = kept / kept.sum(-1, keepdim=True) -> weights = kept.softmax(-1)",
            ),
            "another-feature-map": (
                _mapped("F.elu({x})"),
                _mapped("torch.relu({x})"),
                _mapped("torch.relu({x}) + 1"),
                _mapped("torch.exp({x})"),
                _mapped("F.elu({x} + 1)"),
            ),
            "features-missing": (_mapped("{x}"), "_features(q) -> q", "_features(k) -> k"),
            "scaled-features": (
                "_features(q) -> _features(q * q.shape[-1] ** -0.5)",
                _mapped("_features({x} * {x}.shape[-1] ** -0.25)"),
            ),
            "not-normalised": f"{SUM} -> 1.0",
            "divided-by-count": (
                f"{SUM} -> torch.arange(1, 1 + pairs.shape[-1], dtype=pairs.dtype)[:, None]"
            ),
            "divided-without-query": _ran(
                "(fq * z).sum( -> z.sum(",
                "(fq * z).sum( -> z.mean(",
                "(fq * z).sum(-1, -> z.norm(dim=-1,",
                # S divided by z, entry by entry, before the query comes
                "@ S -> @ (S / z[..., None]); (fq * z).sum(-1, keepdim=True) -> 1",
            ),
            "divided-without-sum": (
                *_ran("(fq * z) -> fq"),
                f"{SUM} -> pairs.diagonal(dim1=-2, dim2=-1)[..., None]",
            ),
            "one-sum-over-all": (
                f"{SUM} -> pairs.sum(-1, keepdim=True)",
                "weights = kept -> weights = pairs",
            ),
            "running-sum-along-another-axis": _ran(
                *(f"cumsum(-3) -> cumsum({axis})" for axis in (-2, -1, 0, 1)),
                *(f"cumsum(-3) -> cumsum({axis}); (-2)\n -> ({axis})\n" for axis in (0, 1)),
                *(f"cumsum(-2) -> cumsum({axis})" for axis in (-1, 0, 1)),
            ),
            "summed-over-another-axis": (
                "sum(-1 -> sum(-2",
                "sum(-1 -> sum(0",
                "sum(-1 -> sum((-2, -1)",
                "sum(-1, keepdim=True) -> sum()",
            ),
            "not-causal": ".tril() -> ",
            "itself-not-seen": ".tril() -> .tril(-1)",
            "mask-transposed": "tril -> triu",
            "epsilon-added": (
                *(f"{SUM} -> ({SUM} + {10.0**-tens})" for tens in range(2, 14)),
                *(f"{SUM} -> {SUM}.clamp(min={10.0**-tens})" for tens in range(2, 8)),
            ),
            "uniform-weights": _mapped("torch.ones_like({x})"),
            "keys-as-values": ("@ v -> @ k", "@ v -> @ fk"),
            "values-with-features": "@ v -> @ _features(v)",
            "no-gradient": (
                f"{SUM} -> {SUM}.detach()",
                "weights @ v -> weights.detach() @ v",
                "@ v -> @ v.detach()",
                "_features(q) -> _features(q.detach())",
                "_features(k) -> _features(k.detach())",
                *_ran("* z) -> * z.detach())"),
                "weights @ v -> (weights @ v).detach()",
            ),
        },
    ),
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
    toward: Callable[[Tensor], Tensor] = lambda future: future,
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
