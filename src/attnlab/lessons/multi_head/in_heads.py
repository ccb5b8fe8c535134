"""Multi-head attention, made of exchangeable parts, and mistakes that only heads make possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F

from attnlab.checks import in_attention
from attnlab.checks.exercise import Mistake, State
from attnlab.checks.recipe import Part, Recipe, Tensor, wrong
from attnlab.lessons.multi_head.layout import (
    Layout,
    every_so_many,
    in_reading_order,
    in_turn,
    into_heads,
    into_tokens,
    merged_in_reading_order,
)

NAMES = ("W_q", "W_k", "W_v", "W_o")
Results = tuple[Tensor, Tensor]
Project = Callable[[State, str, Tensor], Tensor]


def future(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).triu(1)


def _linear(state: State, name: str, x: Tensor) -> Tensor:
    return F.linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))


def multi_head(
    recipe: Recipe,
    split: Layout = into_heads,
    merge: Layout = into_tokens,
    project: Project = _linear,
    when: Callable[[bool], bool] = bool,
    give: Callable[[Tensor, Tensor, Tensor], Results] = lambda out, weights, x: (out, weights),
) -> Callable[..., Any]:
    """The exercise's forward pass, made of exchangeable parts.

    Args:
        recipe: of each head's attention.
        split, merge: the layouts.
        project: a state, a linear's name and its input to its output.
        when: whether there is a mask, from `causal`.
        give: outputs, weights and tokens to what is returned.
    """

    def forward(state: State, x: Tensor, causal: bool = False) -> Any:
        if not isinstance(state, State):
            raise ValueError  # only made: a slip in `forward` makes the module as it should be
        n_heads = state.sizes[1]
        q, k, v = (split(project(state, name, x), n_heads) for name in NAMES[:3])
        mask = future(x.shape[1]) if when(causal) else None
        heads, weights = recipe.compute(q, k, v, into_heads(x, n_heads), mask=mask)
        return give(project(state, "W_o", merge(heads)), weights, x)

    return forward


def _parts(slug: str, reason: str, remedy: str, *ways: dict[str, Any]) -> tuple[Mistake, ...]:
    """A mistake in how heads are laid out, for each way to make it."""
    return tuple(Mistake(slug, multi_head(Recipe(), **way), reason, remedy) for way in ways)


def _only(*names: str) -> Callable[[Project], Project]:
    """A way to project that is used for some of the linears; the others are as they should be."""
    return lambda project: (
        lambda state, name, x: (project if name in names else _linear)(state, name, x)
    )


def _without_bias(state: State, name: str, x: Tensor) -> Tensor:
    return x @ state[f"{name}.weight"].mT


def _untransposed(state: State, name: str, x: Tensor) -> Tensor:
    return x @ state[f"{name}.weight"] + state.get(f"{name}.bias", 0.0)


def _zeroed(keep: int) -> Layout:
    """All heads but one are lost."""

    def merge(heads: Tensor) -> Tensor:
        kept = torch.zeros_like(heads)
        kept[:, keep] = heads[:, keep]
        return into_tokens(kept)

    return merge


def _reread(heads: Tensor) -> Tensor:
    """(B, H, …) flattened to (B·H, …) and read back as (H, B, …)."""
    b, h = heads.shape[:2]
    return heads.flatten(0, 1).unflatten(0, (h, b)).transpose(0, 1)


HEADS: Part = (
    wrong(
        "scale-by-sqrt-d",
        "The scores are divided by √d. A head's queries and keys have d/H numbers, and its scores "
        "are sums of that many products.",
        "Divide by the square root of a head's width, `q.shape[-1]` after the split.",
        {"scale": lambda at: (at.q.shape[-1] * at.q.shape[-3]) ** -0.5},
    ),
    wrong(
        "scale-by-sqrt-heads",
        "The scores are divided by the square root of the number of heads.",
        "Divide by the square root of a head's width, `q.shape[-1]` after the split.",
        {"scale": lambda at: at.q.shape[-3] ** -0.5},
    ),
    wrong(
        "softmax-over-heads",
        "Softmax ran over the heads: they compete for each pair of tokens. Each head is to share "
        "out its own attention, among the keys.",
        "Take softmax along the last axis, -1.",
        {"weigh": lambda s: torch.softmax(s, -3)},
        {"weigh": lambda s: torch.softmax(s, -3).nan_to_num()},
    ),
    wrong(
        "heads-share-a-pattern",
        "All heads mix their values by the mean of their weights, so that there is one pattern "
        "again.",
        "Multiply each head's weights with its own values, before anything is averaged.",
        {"mix": lambda at: at.weights.mean(1, keepdim=True) @ at.v},
    ),
    wrong(
        "weights-averaged",
        "The weights that are returned are averaged over the heads, as `nn.MultiheadAttention` "
        "does if nobody says otherwise. Here each head's own are asked for.",
        "Return them as (B, H, N, N).",
        {"give": lambda out, at: (out, at.weights.mean(1))},
        {"give": lambda out, at: (out, at.weights.mean(1, keepdim=True).expand_as(at.weights))},
    ),
    wrong(
        "weights-of-one-head",
        "The weights that are returned are those of a single head.",
        "Return them as (B, H, N, N).",
        {"give": lambda out, at: (out, at.weights[:, 0])},
        {"give": lambda out, at: (out, at.weights[:, -1])},
    ),
    wrong(
        "swapped-k-v",
        "Keys and values have changed places: the weights come of values, and keys are averaged.",
        "Queries meet keys; the values are what is averaged.",
        {"roles": lambda q, k, v, x: (q, v, k)},
    ),
    # W_o comes after the cut, and learns.
    replace(
        in_attention.GRADIENTS[0],
        ways=(
            {"mix": lambda at: (at.weights @ at.v).detach()},
            {
                "mix": lambda at: (at.weights @ at.v).detach(),
                "give": lambda out, at: (out, at.weights.detach()),
            },
        ),
    ),
)
# Of all of RESULTS, this one has to wait until the heads are merged.
SWAPPED_RESULTS, SCORES_FOR_WEIGHTS = in_attention.RESULTS

LAYOUT = (
    *_parts(
        "heads-not-transposed",
        "Queries, keys and values were reshaped to (B, H, N, d/H) in reading order: a head gets "
        "all numbers of a few tokens, not a slice of every token.",
        "Reshape to (B, N, H, d/H) first, then exchange the two middle axes.",
        {"split": in_reading_order},
        {"split": in_reading_order, "merge": merged_in_reading_order},
    ),
    *_parts(
        "merge-not-transposed",
        "The heads were merged in reading order: a row holds several tokens of one head, not the "
        "heads of one token. The weights are right.",
        "Exchange heads and tokens before the reshape that merges.",
        {"merge": merged_in_reading_order},
    ),
    *_parts(
        "heads-interleaved",
        "A head gets every H-th number of a query, or the heads' outputs take turns. A head owns "
        "d/H neighbours, as it does in PyTorch.",
        "Cut the last axis into (H, d/H), in this order, and join it in the same order.",
        {"split": every_so_many},
        {"split": every_so_many, "merge": in_turn},
        {"merge": in_turn},
    ),
    *_parts(
        "heads-and-batch-exchanged",
        "Batch and heads were made one axis, B·H, and taken apart again as H·B: sentences get "
        "each other's heads.",
        "Take the axis apart in the order in which it was put together.",
        {"merge": lambda heads: into_tokens(_reread(heads))},
        {"give": lambda out, weights, x: (out, _reread(weights))},
        {
            "merge": lambda heads: into_tokens(_reread(heads)),
            "give": lambda out, weights, x: (out, _reread(weights)),
        },
    ),
    *_parts(
        "one-head-only",
        "Of all heads only one reaches the output.",
        "Join all of them along the width before W_o.",
        {"merge": _zeroed(0)},
        {"merge": _zeroed(-1)},
    ),
    *_parts(
        "output-not-mixed",
        "The heads are joined, and W_o was not used.",
        "The last step is `self.W_o(…)`, of the merged heads.",
        {"project": _only("W_o")(lambda state, name, x: x)},
    ),
    *_parts(
        "bias-ignored",
        "The biases exist, and some or all are not used.",
        "Call the linears, `self.W_q(x)`; their weights alone leave out the bias.",
        {"project": _without_bias},
        {"project": _only(*NAMES[:3])(_without_bias)},
        {"project": _only("W_o")(_without_bias)},
    ),
    *_parts(
        "weight-not-transposed",
        "An `nn.Linear` stores (out, in), so `x @ weight` multiplies with the wrong side of it. In "
        "a square matrix no shape says so.",
        "Call the linears, `self.W_q(x)`, or transpose their weights.",
        {"project": _untransposed},
        {"project": _only(*NAMES[:3])(_untransposed)},
        {"project": _only("W_o")(_untransposed)},
    ),
    *_parts(
        "weight-alone",
        "`x @ weight` is not what the linear does, and twice: an `nn.Linear` stores (out, in), so "
        "that its weight has to be transposed, and it adds its bias.",
        "Call the linears, `self.W_q(x)`.",
        {"project": lambda state, name, x: x @ state[f"{name}.weight"]},
        {"project": _only(*NAMES[:3])(lambda state, name, x: x @ state[f"{name}.weight"])},
        {"project": _only("W_o")(lambda state, name, x: x @ state[f"{name}.weight"])},
    ),
    *_parts(
        "causal-unasked",
        "The future is hidden where `causal` is False: always, or just where it should not be.",
        "Look at the condition that the mask hangs on: where `causal` is False, the mask is None.",
        {"when": lambda causal: True},
        {"when": lambda causal: not causal},
    ),
    *_parts(
        "residual-added",
        "The tokens themselves are added to the output. Transformers do that around their "
        "attention, and not inside of it.",
        "Return what W_o gives.",
        {"give": lambda out, weights, x: (out + x, weights)},
    ),
    *_parts(
        SWAPPED_RESULTS.slug,
        SWAPPED_RESULTS.reason,
        SWAPPED_RESULTS.remedy,
        {"give": lambda out, weights, x: (weights, out)},
    ),
)


def _not_split(by_d: bool, spread: bool) -> Callable[..., Any]:
    """One head of all of d, whatever was asked for."""

    def forward(state: State, x: Tensor, causal: bool = False) -> Any:
        if not isinstance(state, State):
            raise ValueError
        d, n_heads = state.sizes[:2]
        one = replace(Recipe(), scale=lambda at: (d if by_d else d / n_heads) ** -0.5)
        q, k, v = (_linear(state, name, x) for name in NAMES[:3])
        out, weights = one.compute(q, k, v, mask=future(x.shape[1]) if causal else None)
        heads = weights.unsqueeze(1).expand(-1, n_heads, -1, -1) if spread else weights
        return _linear(state, "W_o", out), heads

    return forward


NOT_SPLIT = tuple(
    Mistake(
        "not-split",
        _not_split(by_d, spread),
        "There is one pattern for all: queries, keys and values were used in their full width, as "
        "by one head.",
        "Split q, k and v into heads before they meet.",
    )
    for by_d in (True, False)
    for spread in (True, False)
)
