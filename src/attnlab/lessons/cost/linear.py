"""Attention without a softmax, in one pass: the exercise `linear_attention`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Relation,
    Slot,
    unchanged,
)
from attnlab.checks.inputs import EQUAL, SECOND, one_size, ones_in_turn, sizes
from attnlab.checks.recipe import Tensor
from attnlab.lessons.cost import LESSON
from attnlab.lessons.pytorch.exercises import normal

Generator = np.random.Generator


def _qkv(rng: Generator, *leading: int, among: tuple[int, ...] = ()) -> tuple[Tensor, ...]:
    """Queries and keys (…, N, d_k), values (…, N, d_v)."""
    n, d_k, d_v = among or sizes(rng, 3, 3)
    return tuple(normal(rng, *leading, n, width) for width in (d_k, d_k, d_v))


def _low(rng: Generator, *leading: int) -> tuple[Tensor, ...]:
    """The same with entries of queries and keys between −10 and −9: features next to 0."""
    q, k, v = _qkv(rng, *leading)
    q, k = (torch.from_numpy(rng.uniform(-10, -9, part.shape)) for part in (q, k))
    return q, k, v


def _linear_cases(rng: Generator) -> Iterator[Case]:
    b, *among = sizes(rng, 4, 3)
    for earlier, note in ((False, "there is a batch axis"), (True, SECOND)):
        q, k, v = _qkv(rng, b, among=tuple(among))
        first = _qkv(rng, b, among=tuple(among)) if earlier else ()
        yield Case("values", (q, k, 10 * v), earlier=first, note=note)
    size, *equal = one_size(rng, 4)
    q, k, v = _qkv(rng, size, among=tuple(equal))
    yield Case("values", (q, k, 10 * v), note=EQUAL)
    yield Case("leading", _qkv(rng), note="there is no batch axis")
    yield Case("leading", _qkv(rng, 2, 3), note="there are batch and head axes")
    for one in ones_in_turn(rng, 4):
        q, k, v = _qkv(rng, one[0], among=one[1:])
        # Features of 1 or more: what is next to 0 is another claim's.
        yield Case("single", (q.abs(), k.abs(), v), note="one of the sizes is 1")
    yield Case("low", _low(rng, b), note="entries of q and k are about −10")
    q, k, v = _qkv(rng, b)
    q, k = (torch.from_numpy(rng.uniform(-10, 10, part.shape)) for part in (q, k))
    yield Case("low", (q, k, v), note="entries of q and k are up to 10 in size")
    single = tuple(part.float() for part in _qkv(rng, b))
    yield Case("float32", single, note="inputs are float32", tolerance=FLOAT32_TOLERANCE)
    yield Case("float32", _qkv(rng, b), laid="views", note="inputs are not contiguous")


def _features(x: Tensor) -> Tensor:
    return torch.where(x > 0, x + 1, x.exp())  # elu + 1, without losing what is next to 0


def _linear(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """softmax attention whose scores are logarithms of the features' products."""
    scores = (_features(q) @ _features(k).mT).log()
    future = torch.ones(scores.shape[-2:]).triu(1).bool()
    return scores.masked_fill(future, -torch.inf).softmax(-1) @ v


Feature = Callable[[Tensor], Tensor]


def _over(numbers: Tensor) -> Tensor:
    return numbers / numbers.sum(-1, keepdim=True)


def _weighing(
    feature: Feature = _features,
    of_queries: Feature | None = None,
    of_keys: Feature | None = None,
    seen: Callable[[Tensor], Tensor] = torch.tril,
    share: Callable[[Tensor, Tensor], Tensor] = lambda kept, all_pairs: _over(kept),
    mix: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda weights, v, k: weights @ v,
) -> Callable[..., Any]:
    """The exercise's function in its parallel form, with a part exchanged.

    Args:
        feature: the feature map; of_queries and of_keys are that of one of both.
        seen: which pairs are kept.
        share: weights, from the pairs that are kept and from all of them.
        mix: outputs, from weights, values and keys.
    """

    def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        pairs = (of_queries or feature)(q) @ (of_keys or feature)(k).mT
        return mix(share(seen(pairs), pairs), v, k)

    return linear_attention


def _running(
    axis: int = -3,
    axis_of_sum: int = -2,
    of_sum: Callable[[Tensor, Tensor], Tensor] = lambda fq, z: (fq * z).sum(-1, keepdim=True),
) -> Callable[..., Any]:
    """The exercise's function with running sums, along these axes."""

    def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        fq, fk = _features(q), _features(k)
        S = (fk[..., None] * v[..., None, :]).cumsum(axis)
        return (fq[..., None, :] @ S).squeeze(-2) / of_sum(fq, fk.cumsum(axis_of_sum))

    return linear_attention


def _with_epsilon(small: float) -> Callable[..., Any]:
    return _weighing(share=lambda kept, pairs: kept / (kept.sum(-1, keepdim=True) + small))


def _softmax_attention(q: Tensor, k: Tensor, v: Tensor, scale: float = 1.0) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _far_ahead(rng: Generator) -> tuple[Case, Case]:
    """Two sequences that are the same up to some token."""
    b, n, d_k, d_v = sizes(rng, 4, 3)
    q, k, v = _qkv(rng, b, among=(n, d_k, d_v))
    others = _qkv(rng, b, among=(n, d_k, d_v))
    changed = [torch.cat([a[:, :2], c[:, 2:]], 1) for a, c in zip((q, k, v), others, strict=True)]
    return Case("values", (q, k, v)), Case("values", tuple(changed))


def _past_is_kept(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    return bool(np.allclose(one[0][:, :2], other[0][:, :2], 0, 1e-6))


FORMULA = (
    "out_i = Σ_j φ(q_i)·φ(k_j) v_j / Σ_j φ(q_i)·φ(k_j), both sums over j ≤ i, φ(x) = elu(x) + 1."
)

LINEAR_ATTENTION = Exercise(
    name="linear_attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(q, k, v) -> out",
    axes=("… n k", "… n k", "… n v"),
    read="Change the softmax: linear attention",
    returns=(Slot("out", "tensor", "… N d_v"),),
    groups=(
        Group("values", "averages the values so far by products of features", 1.0, core=True),
        Group("leading", "takes any leading axes", 0.25),
        Group("single", "works where a size is 1", 0.25),
        Group("low", "is right where features are next to 0", 0.25),
        Group("float32", "keeps float32 (compared at 1e-4), and takes views", 0.125),
        unchanged(0.125),
    ),
    cases=_linear_cases,
    oracle=_linear,
    mistakes=(
        Mistake(
            "softmax-attention",
            _softmax_attention,
            "This is attention with a softmax, without √d_k. Linear attention has φ(q)·φ(k) where "
            "that has e to the q·k.",
            FORMULA,
        ),
        Mistake(
            "softmax-attention",
            lambda q, k, v: _softmax_attention(q, k, v, q.shape[-1] ** -0.5),
            "This is ordinary causal attention. Linear attention has φ(q)·φ(k) where that has e "
            "to the scaled q·k.",
            FORMULA,
        ),
        Mistake(
            "softmax-of-features",
            lambda q, k, v: _softmax_attention(_features(q), _features(k), v),
            "The products of the features went through a softmax. They are the weights already, "
            "but for their sum.",
            FORMULA,
        ),
        Mistake(
            "features-missing",
            _weighing(_as_it_is),
            "Queries and keys are multiplied as they are: products may be negative, and a sum of "
            "them 0.",
            "Use φ(x) = elu(x) + 1 on both.",
        ),
        Mistake(
            "one-missing",
            _weighing(F.elu),
            "The feature map is elu without 1, which goes down to −1: weights may be negative.",
            "Use φ(x) = elu(x) + 1.",
        ),
        Mistake(
            "relu-features",
            _weighing(torch.relu),
            "The feature map is relu, which forgets everything below 0.",
            "Use φ(x) = elu(x) + 1.",
        ),
        Mistake(
            "relu-features",
            _weighing(lambda x: torch.relu(x) + 1),
            "The feature map is relu + 1, which is 1 for everything below 0.",
            "Use φ(x) = elu(x) + 1.",
        ),
        Mistake(
            "exponential-features",
            _weighing(torch.exp),
            "The feature map is e to the x. elu + 1 is that below 0, and x + 1 above.",
            "Use φ(x) = elu(x) + 1.",
        ),
        Mistake(
            "one-inside",
            _weighing(lambda x: F.elu(x + 1)),
            "The 1 is added before elu, not after it.",
            "Use φ(x) = elu(x) + 1.",
        ),
        Mistake(
            "queries-without-features",
            _weighing(of_queries=_as_it_is),
            "The keys go through φ and the queries do not.",
            "Use φ on both.",
        ),
        Mistake(
            "keys-without-features",
            _weighing(of_keys=_as_it_is),
            "The queries go through φ and the keys do not.",
            "Use φ on both.",
        ),
        Mistake(
            "scaled-features",
            _weighing(of_queries=lambda q: _features(q * q.shape[-1] ** -0.5)),
            "The queries are divided by √d_k before φ. Nothing is scaled here: φ(q)·φ(k) does not "
            "go into a power of e.",
            "Leave √d_k out.",
        ),
        Mistake(
            "scaled-features",
            _weighing(lambda x: _features(x * x.shape[-1] ** -0.25)),
            "Queries and keys are divided by the fourth root of d_k before φ. Nothing is scaled "
            "here.",
            "Leave √d_k out.",
        ),
        Mistake(
            "not-normalised",
            _weighing(share=lambda kept, pairs: kept),
            "The weighted sum is not divided by the sum of the weights.",
            FORMULA,
        ),
        Mistake(
            "normalised-over-all",
            _weighing(share=lambda kept, pairs: kept / pairs.sum(-1, keepdim=True)),
            "The sum of the weights runs over all tokens, the weighted sum of values over the past "
            "alone.",
            "Both sums run over j ≤ i.",
        ),
        Mistake(
            "values-over-all",
            _weighing(share=lambda kept, pairs: pairs / kept.sum(-1, keepdim=True)),
            "The weighted sum of values runs over all tokens, the sum of the weights over the past "
            "alone.",
            "Both sums run over j ≤ i.",
        ),
        Mistake(
            "divided-without-query",
            _running(of_sum=lambda fq, z: z.sum(-1, keepdim=True)),
            "The divisor is the sum of the keys' features. The query's are missing in it.",
            "Divide by φ(q_i) · z_i.",
        ),
        *(
            Mistake(
                "running-sum-along-another-axis",
                _running(axis, axis_of_sum),
                f"A running sum runs along axis {str(axis).replace('-', '−')}{named}, and not from "
                "token to token.",
                "S, (…, N, d_k, d_v), runs along axis −3, and z, (…, N, d_k), along axis −2.",
            )
            for axis, axis_of_sum, named in (
                (-2, -2, " of S, which is d_k"),
                (-1, -2, " of S, which is d_v"),
                (0, -2, " of S, which is the batch"),
                (0, 0, ", which is the batch"),
                (1, 1, ", which is not the tokens' everywhere"),
                (1, -2, " of S, which is not the tokens' everywhere"),
            )
        ),
        Mistake(
            "not-causal",
            _weighing(seen=_as_it_is),
            "Each token sees the future: both sums run over all tokens.",
            "Both sums run over j ≤ i: a running sum.",
        ),
        Mistake(
            "itself-not-seen",
            _weighing(seen=lambda pairs: pairs.tril(-1)),
            "No token sees itself, and the first sees nothing: 0 / 0.",
            "Add a token's own key and value before you read.",
        ),
        Mistake(
            "future-for-past",
            _weighing(seen=torch.triu),
            "Each token sees itself and the future: rows are queries.",
            "Both sums run over j ≤ i.",
        ),
        *(
            Mistake(
                "epsilon-added",
                _with_epsilon(small),
                "A small number is added to the sum of the weights. Where features are next to 0, "
                "that sum is smaller than the number.",
                "Leave it out: elu + 1 is above 0, and so is the sum.",
            )
            for small in (1e-6, 1e-8, 1e-5, 1e-10, 1e-12)
        ),
        Mistake(
            "sum-held-above",
            _weighing(share=lambda kept, pairs: kept / kept.sum(-1, keepdim=True).clamp(min=1e-6)),
            "The sum of the weights is held above a small number. Where features are next to 0, it "
            "is smaller than that.",
            "Leave it out: elu + 1 is above 0, and so is the sum.",
        ),
        Mistake(
            "divided-by-count",
            _weighing(
                share=lambda kept, pairs: (
                    kept / torch.arange(1, 1 + pairs.shape[-1], dtype=pairs.dtype)[:, None]
                )
            ),
            "The weighted sum is divided by how many tokens there are so far, not by the sum of "
            "their weights.",
            FORMULA,
        ),
        Mistake(
            "uniform-weights",
            _weighing(lambda x: torch.ones_like(x)),
            "This is the mean of the values so far: queries and keys make no difference.",
            FORMULA,
        ),
        Mistake(
            "keys-as-values",
            _weighing(mix=lambda weights, v, k: weights @ k),
            "The output is an average of the keys.",
            "Average the values.",
        ),
        Mistake(
            "keys-as-values",
            _weighing(mix=lambda weights, v, k: weights @ _features(k)),
            "The output is an average of the keys' features.",
            "Average the values.",
        ),
        Mistake(
            "values-with-features",
            _weighing(mix=lambda weights, v, k: weights @ _features(v)),
            "The values go through φ as well. They are averaged as they are.",
            "Use φ on queries and keys alone.",
        ),
    ),
    relations=(
        Relation(
            "changing the future changes nothing in the past",
            _far_ahead,
            _past_is_kept,
            slug="future-leaks",
            reason="The first tokens' outputs changed when only later tokens did.",
            remedy="Both sums run over j ≤ i.",
        ),
    ),
)
