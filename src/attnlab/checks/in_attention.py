"""What goes wrong around softmax: scale, scores, roles, mixing, masks, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from attnlab.checks.in_softmax import UNSTABLE, one_hot, over_sum
from attnlab.checks.recipe import INFINITY, Part, Tensor, softmax, wrong

# Scale --------------------------------------------------------------------------------------------


SCALE: Part = (
    wrong(
        "no-scale",
        "The scores are not scaled, which is a factor of 1. Their spread grows like √d_k, and for "
        "wide keys softmax then puts almost all weight on one.",
        "Divide the scores by √d_k before softmax.",
        {"scale": lambda at: 1.0},
    ),
    wrong(
        "scale-by-d",
        "The scores are divided by d_k as a whole, by √d_k twice perhaps, which flattens them too "
        "much.",
        "Divide once, by the square root of d_k: a factor c changes a variance by c².",
        {"scale": lambda at: 1.0 / at.q.shape[-1]},
    ),
    wrong(
        "scale-multiplied",
        "The factor is √d_k: scores that are multiplied by it spread even more.",
        "Divide by √d_k.",
        {"scale": lambda at: at.q.shape[-1] ** 0.5},
    ),
    wrong(
        "half-not-root",
        "Half stands where a root is meant: `**` binds closer than `/`, so `d_k ** 1/2` is half of "
        "d_k, and `scores / d_k ** 1/2` is divided by d_k and then by 2.",
        "Write `d_k ** 0.5` or `sqrt(d_k)`.",
        {"scale": lambda at: 2.0 / at.q.shape[-1]},
        {"scale": lambda at: 0.5 / at.q.shape[-1]},
    ),
    wrong(
        "scale-by-sqrt-n",
        "The root is that of the number of queries, N, or of keys, M. A score is a sum of d_k "
        "products, however many queries and keys there are.",
        "d_k is the width of a query or key, the size of its last axis.",
        {"scale": lambda at: at.q.shape[-2] ** -0.5},
        {"scale": lambda at: at.k.shape[-2] ** -0.5},
    ),
    wrong(
        "fourth-root",
        "The factor is one over the fourth root of d_k: right for queries and keys each, where "
        "both are scaled before they meet, and here it was applied once.",
        "For the scores it is 1/√d_k.",
        {"scale": lambda at: at.q.shape[-1] ** -0.25},
    ),
)
SCALE_LATE: Part = (
    wrong(
        "scale-after-softmax",
        "The weights are divided by √d_k, not the scores; rows no longer add up to 1.",
        "Divide first, then take softmax.",
        {
            "scale": lambda at: 1.0,
            "after": lambda at: at.weights * at.q.shape[-1] ** -0.5,
        },
    ),
)
# As for BATCH: where the first axis is not that of the queries.
SCALE_BY_FIRST_AXIS: Part = (
    wrong(
        "scale-by-first-axis",
        "The first axis was taken for d_k. It is the batch, where there is one.",
        "d_k is the width of a query or key, the size of its last axis.",
        {"scale": lambda at: at.q.shape[0] ** -0.5},
        {"scale": lambda at: at.k.shape[0] ** -0.5},
    ),
)
SCALE_BY_VALUES: Part = (
    wrong(
        "scale-by-sqrt-d-v",
        "The scores are divided by √d_v, the width of a value. They are dot products of queries "
        "and keys, which are d_k wide.",
        "Take d_k from the width of a query.",
        {"scale": lambda at: at.v.shape[-1] ** -0.5},
    ),
)
SCALE_BY_INPUT: Part = (
    wrong(
        "scale-by-sqrt-d",
        "The scores are divided by √d, the width of a token. They are dot products of queries and "
        "keys, which are d_k wide.",
        "Take d_k from the width of a query.",
        {"scale": lambda at: at.x.shape[-1] ** -0.5},
    ),
)


# Scores -------------------------------------------------------------------------------------------


def _pairs(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    return q.unsqueeze(-2), k.unsqueeze(-3)


def _distances(q: Tensor, k: Tensor) -> Tensor:
    one, other = _pairs(q, k)
    return (one - other).norm(dim=-1)


def _unit(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True)


SCORES: Part = (
    wrong(
        "distance-not-dot-product",
        "Similarity is measured by (negative) distance, or its square. The measure here is the dot "
        "product.",
        "Score a pair by the sum of the products of their entries.",
        {"score": lambda q, k: -_distances(q, k)},
        {"score": lambda q, k: -(_distances(q, k) ** 2)},
    ),
    wrong(
        "cosine-not-dot-product",
        "The dot products are divided by the lengths of query and key. That makes cosines, which "
        "forget how long a key is.",
        "Leave the lengths out: the dot product alone is the score.",
        {"score": lambda q, k: _unit(q) @ _unit(k).mT},
    ),
    wrong(
        "sum-of-sums",
        "Entries of query and key are added to each other instead of multiplied.",
        "Multiply pairs, then add up the products.",
        {"score": lambda q, k: q.sum(-1, keepdim=True) + k.sum(-1).unsqueeze(-2)},
    ),
)
RESHAPED: Part = (
    wrong(
        "reshaped-not-transposed",
        "The keys were reshaped to (d_k, M). The shape is right, but the entries were refilled in "
        "reading order, so that each column holds pieces of several keys.",
        "Transpose: entry [i][j] belongs at [j][i].«| Swap the last two axes.| Swap the last two "
        "axes.»",
        {"score": lambda q, k: q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])},
    ),
)


# Roles --------------------------------------------------------------------------------------------


SWAPPED: Part = (
    wrong(
        "swapped-q-k",
        "Queries and keys have changed places: each token asks with its key.",
        "Row i belongs to query i: queries first, keys second, in projecting and in scoring.",
        {"roles": lambda q, k, v, x: (k, q, v)},
    ),
)
QUERIES_ALONE: Part = (
    wrong(
        "queries-with-queries",
        "Queries are compared with queries: the keys were not used.",
        "Score each query against each key.",
        {"roles": lambda q, k, v, x: (q, q, v)},
    ),
)
# Where queries, keys and values are made from tokens, by a matrix each.
PROJECTIONS: Part = (
    wrong(
        "keys-from-w-q",
        "Keys are made with the queries' matrix. With one matrix for two roles, a token is drawn "
        "to itself.",
        "Make keys with the keys' own matrix.",
        {"roles": lambda q, k, v, x: (q, q, v)},
    ),
    wrong(
        "queries-from-w-k",
        "Queries are made with the keys' matrix. With one matrix for two roles, a token is drawn "
        "to itself.",
        "Make queries with the queries' own matrix.",
        {"roles": lambda q, k, v, x: (k, k, v)},
    ),
    wrong(
        "nothing-projected",
        "The tokens are their own queries, keys and values: the matrices were not used.",
        "Make queries, keys and values first, with a matrix each.",
        {"roles": lambda q, k, v, x: (x, x, x)},
    ),
    wrong(
        "values-not-projected",
        "The output is an average of the tokens themselves: the values' matrix was not used.",
        "Make values with their matrix, and mix those.",
        {"mix": lambda at: at.weights @ at.x},
    ),
    wrong(
        "queries-as-values",
        "The output is an average of the queries. Queries decide the weights; values are averaged.",
        "The output is weights times values.",
        {"mix": lambda at: at.weights @ at.q},
    ),
    wrong(
        "values-unweighted",
        "The output is the values as they are: the weights were not used.",
        "The output is weights times values.",
        {"mix": lambda at: at.v},
    ),
    wrong(
        "weights-transposed",
        "The weights are used by columns: row i is mixed by how much others attend to token i.",
        "Row i of the output is mixed by row i of the weights.",
        {"mix": lambda at: at.weights.mT @ at.v},
    ),
)


# Mix and results ----------------------------------------------------------------------------------


MIX: Part = (
    wrong(
        "keys-as-values",
        "The output is an average of the keys. Keys decide the weights; values are averaged.",
        "The output is weights times values.",
        {"mix": lambda at: at.weights @ at.k},
    ),
    wrong(
        "values-unweighted",
        "The output is the sum of all values: the weights were not used.",
        "Multiply each value by its weight before adding.",
        {"mix": lambda at: torch.ones_like(at.weights) @ at.v},
    ),
    wrong(
        "mean-of-weighted-values",
        "The weighted sum is divided by the number of keys. The weights add up to 1 already, so "
        "the sum is the average.",
        "Leave out the division.",
        {"mix": lambda at: at.weights @ at.v / at.v.shape[-2]},
    ),
    wrong(
        "best-value-only",
        "The weights are soft and the output is not: it is the value of the best key alone.",
        "Add up every value times its weight.",
        {"mix": lambda at: one_hot(at.weights) @ at.v},
    ),
    wrong(
        "last-value-only",
        "The output is the last value times its weight: it was assigned where it should be added.",
        "Start the output at zeros and use `+=`.",
        {"mix": lambda at: at.weights[..., -1:] @ at.v[..., -1:, :]},
    ),
)
RESULTS: Part = (
    wrong(
        "swapped-results",
        "The two results stand in the wrong order.",
        "Return the output first, then the weights.",
        {"give": lambda out, at: (at.weights, out)},
    ),
    wrong(
        "scores-for-weights",
        "The second result holds scores, where weights belong.",
        "Return what came out of softmax.",
        {"give": lambda out, at: (out, at.scores)},
        {"give": lambda out, at: (out, at.hidden)},
    ),
)


# Masks --------------------------------------------------------------------------------------------


def _keep(numbers: Tensor, blocked: Tensor) -> Tensor:
    return numbers


def _low(number: float) -> Callable[[Tensor, Tensor], Tensor]:
    """A way to hide scores: set them to a number."""
    return lambda s, blocked: s.masked_fill(blocked, number)


def _to_zero(weights: Tensor, blocked: Tensor) -> Tensor:
    return weights.masked_fill(blocked, 0.0)


def _emptied(way: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """A way that leaves some rows nothing: they become 0, or NaN, or are shared out evenly."""
    return way, {**way, "empty": _keep}, {**way, "hide": _low(-1e9)}


MASK: Part = (
    wrong(
        "mask-missing",
        "The mask makes no difference to the answer: each query attends to all keys.",
        "Set the scores of blocked keys to -inf before softmax.",
        {"hide": _keep},
    ),
    wrong(
        "mask-after-softmax",
        "Weights were set to 0 after softmax had shared them out. Blocked keys took part in the "
        "sum, so the rest of a row no longer adds up to 1.",
        "Set blocked scores to -inf before softmax, or divide each row by its sum again.",
        {"hide": _keep, "cover": _to_zero},
    ),
    wrong(
        "mask-with-zero",
        "Blocked scores were set to 0, and e to the 0 is 1: a blocked key takes its share of the "
        "sum. Multiplying scores by a 0/1 mask does the same.",
        "Set blocked scores to -inf, as e to the -inf is 0.",
        {"hide": _low(0.0)},
        {"hide": _low(0.0), "cover": _to_zero},
    ),
    wrong(
        "mask-added",
        "The mask was added to the scores as 0s and 1s: some gain 1, and blocked keys keep weight.",
        "Choose instead: where a key is blocked, its score is -inf.",
        {"hide": lambda s, blocked: s + blocked},
        {"hide": lambda s, blocked: s + ~blocked},
    ),
    wrong(
        "mask-inverted",
        "The mask is read the other way round: allowed keys are blocked and blocked ones allowed.",
        "Print one row of the mask and say aloud what True means in it.",
        *_emptied({"block": torch.logical_not}),
    ),
    wrong(
        "mask-with-small-number",
        "Blocked scores were set to a number that is not low enough: other scores may be as low, "
        "and blocked keys keep some weight.",
        "Set blocked scores to -inf, as e to the -inf is 0.",
        *({"hide": _low(number)} for number in (-1.0, -2.0, -5.0, -10.0)),
    ),
    wrong(
        "zero-times-infinity",
        "0 · inf is NaN, not 0: a mask multiplied by -inf spoils the scores that it should leave "
        "alone.",
        "Choose instead of multiplying: where a key is blocked, its score is -inf.",
        {"hide": lambda s, blocked: s + blocked.to(s.dtype) * -INFINITY},
    ),
    wrong(
        "weights-not-masked",
        "The output is masked and the weights that are returned are not.",
        "Return the weights that you multiply the values with.",
        {"give": lambda out, at: (out, softmax(at.scores))},
    ),
)
# Where some scores are far below 0.
FAR_BELOW: Part = (
    wrong(
        "mask-with-small-number",
        "Blocked scores were set to a number that is not low enough: other scores may be as low, "
        "and blocked keys keep some weight.",
        "Set blocked scores to -inf, as e to the -inf is 0.",
        *({"hide": _low(number)} for number in (-20.0, -50.0, -100.0, -1e3, -1e4)),
    ),
)
# Where what is blocked scores hundreds above what is left.
FAR_ABOVE: Part = (
    wrong(
        "small-number-added",
        "A number that is not low enough was added to blocked scores: where one of them is far "
        "above the others, it keeps weight.",
        "Choose instead of adding: where a key is blocked, its score is -inf.",
        *(
            {"hide": lambda s, blocked, low=low: s + low * blocked}
            for low in (-20.0, -50.0, -100.0, -1e3)
        ),
    ),
)
# Where some queries may attend to nothing.
EMPTY_ROWS: Part = (
    wrong(
        "empty-row-is-nan",
        "A query with no key left gets NaN: from -inf minus -inf where the maximum is subtracted, "
        "or from 0 / 0 where weights are divided by their sum.",
        "Find the rows with no key left, and give them weights of 0.",
        {"empty": _keep},
    ),
    wrong(
        "empty-row-shared-out",
        "A query with no key left shares its weight out evenly over the blocked ones. A row of "
        "scores that are all the same number, be it -1e9 or 0, is to softmax a row of equals.",
        "After softmax, set the weights of such a row to 0.",
        {"hide": _low(-1e9)},
    ),
    wrong(
        "empty-row-sees-all",
        "A query with no key left is given them all back.",
        "Its weights are 0, and so is its output.",
        {"block": lambda blocked: blocked & ~blocked.all(-1, keepdim=True)},
    ),
)


def _own(blocked: Tensor) -> Tensor:
    return torch.eye(blocked.shape[-1], dtype=torch.bool)


# Where each query may attend to something, itself at least.
CAUSAL: Part = (
    wrong(
        "unstable-softmax",
        *UNSTABLE,
        *(
            {
                "hide": _keep,
                "weigh": torch.exp,
                "cover": cover,
                "after": lambda at: over_sum(at.weights),
            }
            for cover in (_to_zero, lambda e, blocked: e * ~blocked)
        ),
    ),
    wrong(
        "mask-transposed",
        "The wrong triangle is blocked: each token sees itself and the future, and not the past.",
        "Rows are queries. Row i may see columns 0 … i, so the upper triangle is blocked.",
        {"block": lambda blocked: blocked.mT},
    ),
    wrong(
        "mask-off-by-one",
        "The mask begins at the wrong diagonal: either no token sees itself, and the first sees "
        "nothing, or each token sees the next one as well.",
        "Block from one above the diagonal: `torch.triu(…, diagonal=1)`.",
        *_emptied({"block": lambda blocked: blocked | _own(blocked)}),
        {"block": lambda blocked: torch.triu(blocked, 2)},
    ),
)


# Gradients ----------------------------------------------------------------------------------------


GRADIENTS: Part = (
    wrong(
        "no-gradient",
        "The numbers are right, and the chain from inputs to outputs is cut: `.detach()`, `.data`, "
        "`.numpy()`, `.tolist()` or `torch.tensor(...)` make numbers that autograd cannot follow.",
        "Print `.requires_grad` of each intermediate result and find the first that is False.",
        {"after": lambda at: at.weights.detach()},
        {"mix": lambda at: at.weights.detach() @ at.v},
        {"mix": lambda at: at.weights @ at.v.detach()},
        {"roles": lambda q, k, v, x: (q.detach(), k, v)},
        {"roles": lambda q, k, v, x: (q, k.detach(), v)},
        {"give": lambda out, at: (out, at.weights.detach())},
    ),
)
