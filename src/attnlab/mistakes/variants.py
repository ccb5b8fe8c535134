"""Attention in PyTorch with parts exchanged: what a wrong scale, softmax, mask or mix would give.

A Recipe is right where nothing is exchanged, and that case is never used: what is right comes from
`torch.nn.functional`. A Variation exchanges one part; two of them from different parts make a pair.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import torch

from attnlab.exercise import Mistake
from attnlab.mistakes.bank import NOT_THE_SCALE, OVER_QUERIES

Tensor = torch.Tensor
INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts of attention, in the order in which they are used.

    Attributes:
        swap: whether queries and keys change places.
        given: queries, keys and values as they are used.
        scale: factor of the scores, from q and k.
        block: the blocked positions that are used, from those that are right.
        hide: scores with blocked positions hidden.
        weigh: scores to weights.
        after: what happens to the weights, given the blocked positions.
        mix: weights, queries, keys and values to outputs.
    """

    swap: bool = False
    given: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, ...]] = lambda q, k, v: (q, k, v)
    scale: Callable[[Any, Any], float] = lambda q, k: q.shape[-1] ** -0.5
    block: Callable[[Tensor], Tensor] = lambda blocked: blocked
    hide: Callable[[Tensor, Tensor], Tensor] = lambda s, blocked: s.masked_fill(blocked, -INFINITY)
    weigh: Callable[[Tensor], Tensor] = lambda s: torch.softmax(s, -1)
    after: Callable[[Tensor, Tensor], Tensor] = lambda a, blocked: a
    mix: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = lambda a, q, k, v: a @ v

    def cook(self, q: Tensor, k: Tensor, v: Tensor, blocked: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs (…, N, d_v) and weights (…, N, M); blocked is (…, N, M) bool, True = blocked."""
        if self.swap:
            q, k = k, q
        q, k, v = self.given(q, k, v)
        blocked = self.block(blocked)
        scores = q @ k.mT * self.scale(q, k)
        weights = self.after(self.weigh(self.hide(scores, blocked)), blocked)
        return self.mix(weights, q, k, v), weights


@dataclass(frozen=True, slots=True)
class Variation:
    """One part exchanged.

    Attributes:
        slug: the mistake's name.
        changes: fields of a Recipe.
        reason: why it is wrong.
        remedy: one thing to try.
    """

    slug: str
    changes: dict[str, Any] = field(repr=False)
    reason: str = ""
    remedy: str = ""


def _keep(numbers: Tensor, blocked: Tensor) -> Tensor:
    return numbers


def _one_hot(scores: Tensor) -> Tensor:
    best = scores.argmax(-1, keepdim=True)
    return torch.zeros_like(scores).scatter(-1, best, 1.0)


def _even(scores: Tensor) -> Tensor:
    open_ = torch.isfinite(scores).to(scores.dtype)
    return open_ / open_.sum(-1, keepdim=True)


SCALES = tuple(
    Variation(slug, {"scale": factor}, reason, remedy)
    for slug, factor, reason, remedy in NOT_THE_SCALE
)
WEIGHINGS = (
    Variation(
        "softmax-over-queries",
        {"weigh": lambda s: torch.softmax(s, -2).nan_to_num()},
        *OVER_QUERIES,
    ),
    Variation(
        "no-softmax",
        {"weigh": lambda s: s.masked_fill(torch.isinf(s), 0.0)},
        "The weights are scores: softmax is missing.",
        "Take softmax over the last axis of the masked, scaled scores.",
    ),
    Variation(
        "not-normalised",
        {"weigh": torch.exp},
        "These are exponentials of the scores, not divided by their sum.",
        "Divide each row by its sum, or use `torch.softmax`.",
    ),
    Variation(
        "hard-argmax",
        {"weigh": _one_hot},
        "All the weight is on the best match: a hard lookup, with no gradient.",
        "Every key that may be attended to gets a share: use softmax.",
    ),
    Variation(
        "uniform-weights",
        {"weigh": _even},
        "Every key that may be attended to gets the same weight, so that the scores make no "
        "difference.",
        "Take softmax of the scores, `q @ k.mT`, scaled.",
    ),
    Variation(
        "softmax-twice",
        {"weigh": lambda s: torch.softmax(torch.softmax(s, -1), -1)},
        "Softmax was taken twice, which flattens the weights and undoes the mask.",
        "Take it once.",
    ),
)
MIXES = (
    Variation(
        "keys-as-values",
        {"mix": lambda a, q, k, v: a @ k},
        "The output is an average of the keys. Keys decide the weights; values are averaged.",
        "out = weights @ v.",
    ),
    Variation(
        "values-unweighted",
        {"mix": lambda a, q, k, v: v.sum(-2, keepdim=True).expand(*a.shape[:-1], v.shape[-1])},
        "Each output is the sum of all values: the weights were not used.",
        "out = weights @ v.",
    ),
)
SWAP = (
    Variation(
        "swapped-q-k",
        {"swap": True},
        "Queries and keys have changed places: each token asks with its key.",
        "Scores are `q @ k.mT`, with q = x Wq and k = x Wk.",
    ),
)
MASKINGS = (
    Variation(
        "mask-missing",
        {"hide": _keep},
        "The mask makes no difference to the answer: each query attends to all keys.",
        "Set the scores of blocked keys to -inf before softmax.",
    ),
    Variation(
        "mask-after-softmax",
        {"hide": _keep, "after": lambda a, blocked: a.masked_fill(blocked, 0.0)},
        "Weights were set to 0 after softmax had shared them out. Blocked keys took part in the "
        "sum, so the rest of a row no longer adds up to 1.",
        "Set blocked scores to -inf before softmax, or divide each row by its sum again.",
    ),
    Variation(
        "mask-with-zero",
        {"hide": lambda s, blocked: s.masked_fill(blocked, 0.0)},
        "Blocked scores were set to 0, and e to the 0 is 1: a blocked key still gets weight. "
        "Multiplying scores by a 0/1 mask does the same.",
        "Set blocked scores to -inf, as e to the -inf is 0.",
    ),
    Variation(
        "mask-added",
        {"hide": lambda s, blocked: s + blocked},
        "The mask was added as 0s and 1s, so that blocked keys gain.",
        "Use `masked_fill(blocked, -inf)`.",
    ),
    Variation(
        "mask-inverted",
        {"block": lambda blocked: ~blocked},
        "The mask is read the other way round: allowed keys are blocked and blocked ones allowed.",
        "Print one row of the mask and say aloud what True means in it.",
    ),
    Variation(
        "mask-inverted",
        {"block": lambda blocked: ~blocked, "weigh": lambda s: torch.softmax(s, -1).nan_to_num()},
        "The mask is read the other way round: allowed keys are blocked and blocked ones allowed.",
        "Print one row of the mask and say aloud what True means in it.",
    ),
)
CAUSAL_MASKINGS = (
    *MASKINGS,
    Variation(
        "mask-transposed",
        {"block": lambda blocked: blocked.mT},
        "The wrong triangle is blocked: each token sees itself and the future, and not the past.",
        "Rows are queries. Row i may see columns 0 … i, so the upper triangle is blocked: "
        "`torch.triu(…, diagonal=1)`.",
    ),
    Variation(
        "mask-off-by-one",
        {"block": lambda blocked: blocked | torch.eye(blocked.shape[-1], dtype=torch.bool)},
        "The diagonal is blocked: no token sees itself, and the first sees nothing, which is NaN.",
        "`torch.triu(…, diagonal=1)` begins one above the diagonal.",
    ),
    Variation(
        "mask-off-by-one",
        {
            "block": lambda blocked: blocked | torch.eye(blocked.shape[-1], dtype=torch.bool),
            "weigh": lambda s: torch.softmax(s, -1).nan_to_num(),
        },
        "The diagonal is blocked: no token sees itself.",
        "`torch.triu(…, diagonal=1)` begins one above the diagonal.",
    ),
    Variation(
        "mask-off-by-one",
        {"block": lambda blocked: torch.triu(blocked, 2)},
        "The mask begins one too far to the right: each token sees the next one.",
        "`torch.triu(…, diagonal=1)` begins one above the diagonal.",
    ),
)

_CUT = (
    "The numbers are right, and the chain from {} to the output is cut: `.detach()`, `.data`, "
    "`.numpy()`, `.tolist()` or `torch.tensor(...)` make numbers that autograd cannot follow."
)
_CUT_REMEDY = "Print `.requires_grad` of each intermediate result and find the first that is False."
# Ways to lose a gradient in one path alone: the others still carry theirs.
CUTS = tuple(
    Variation("no-gradient", changes, _CUT.format(where), _CUT_REMEDY)
    for where, changes in (
        ("the weights", {"after": lambda a, blocked: a.detach()}),
        ("the weights", {"mix": lambda a, q, k, v: a.detach() @ v}),
        ("the values", {"mix": lambda a, q, k, v: a @ v.detach()}),
        ("the queries", {"given": lambda q, k, v: (q.detach(), k, v)}),
        ("the keys", {"given": lambda q, k, v: (q, k.detach(), v)}),
    )
)


def weights_detached(answer: Callable[..., Any]) -> Mistake:
    """The mistake of returning weights that autograd cannot follow, and a right output.

    Args:
        answer: the exercise's function.
    """

    def cut(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        out, weights = answer(*args, **kwargs)
        return out, weights.detach()

    return Mistake("no-gradient", cut, _CUT.format("the returned weights"), _CUT_REMEDY)


Answer = Callable[[Recipe], Callable[..., Any]]


def single_mistakes(answer: Answer, *parts: tuple[Variation, ...]) -> tuple[Mistake, ...]:
    """A Mistake for each variation of the given parts.

    Args:
        answer: makes the exercise's function out of a recipe.
        parts: groups of variations.
    """
    return tuple(
        Mistake(one.slug, answer(Recipe(**one.changes)), one.reason, one.remedy)
        for part in parts
        for one in part
    )


def paired_mistakes(answer: Answer, *parts: tuple[Variation, ...]) -> tuple[Mistake, ...]:
    """A Mistake for each two variations that come from different parts."""
    return tuple(
        Mistake(
            f"{one.slug} + {other.slug}",
            answer(dataclasses.replace(Recipe(**one.changes), **other.changes)),
            f"Two mistakes at once. {one.reason} {other.reason}",
            f"{one.remedy} {other.remedy}",
        )
        for first, second in combinations(parts, 2)
        for one in first
        for other in second
        if not one.changes.keys() & other.changes.keys()
    )
