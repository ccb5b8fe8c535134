"""What lesson 08's exercises share: contexts with padding, and mistakes in reading one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks.exercise import (
    Case,
    Mistake,
    Property,
    Relation,
)
from attnlab.checks.inputs import holes
from attnlab.checks.recipe import Tensor
from attnlab.checks.relations import ORDER, same

Generator = np.random.Generator


def real_and_padding(rng: Generator, b: int, m: int) -> Tensor:
    """A context mask, True = attend: each sentence has real tokens and padding, anywhere."""
    return torch.from_numpy(holes(rng, b, m))


def some_real(rng: Generator, b: int, m: int) -> Tensor:
    """The same for contexts of any length; a lone token is real."""
    return real_and_padding(rng, b, m) if m > 1 else torch.ones(b, m, dtype=torch.bool)


def mostly_real(rng: Generator, b: int, m: int) -> Tensor:
    """The same with one token of padding in each: a lone key would leave queries no slope."""
    mask = torch.ones(b, m, dtype=torch.bool)
    mask[torch.arange(b), torch.from_numpy(rng.integers(m, size=b))] = False
    return mask


def one_empty(rng: Generator, b: int, m: int) -> Tensor:
    """The same with one sentence that is all padding."""
    mask = mostly_real(rng, b, m)
    mask[rng.integers(b)] = False
    return mask


def one_key(b: int, m: int, place: int) -> Tensor:
    """A context mask that leaves one token of each sentence."""
    mask = torch.zeros(b, m, dtype=torch.bool)
    mask[:, place] = True
    return mask


def masks(rng: Generator, b: int, m: int) -> Iterator[tuple[Tensor, str]]:
    """Context masks that leave every sentence something, and what is special about them."""
    yield real_and_padding(rng, b, m), "some of the context is padding"
    lengths = torch.from_numpy(rng.integers(1, m, b))
    lengths[rng.integers(b)] = m
    yield torch.arange(m) < lengths[:, None], "padding stands at the end"
    for whole, which in ((0, "first"), (b - 1, "last")):
        mask = real_and_padding(rng, b, m)
        mask[whole] = True
        yield mask, f"only the {which} sentence of the context has no padding"
    yield one_key(b, m, 0), "only the first token of the context is real"
    yield one_key(b, m, m - 1), "only the last token of the context is real"


def _hides_padding(args: tuple[Any, ...], out: np.ndarray, weights: np.ndarray) -> bool:
    """Padding has weights of exactly 0, for each query and each head."""
    if len(args) < 3 or args[-1].dtype != torch.bool:
        return True
    real = args[-1].numpy().reshape(len(weights), *[1] * (weights.ndim - 2), -1)
    return bool((np.where(real, 0.0, weights) == 0).all())


HIDES = Property("the weight of padding is exactly 0", _hides_padding)


def _columns_follow(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    out, weights = one
    return same((out, weights[..., ORDER]), other)


def padding_relation(cases: Callable[[Generator], tuple[Case, Case]]) -> Relation:
    return Relation(
        "changing what stands in padding changes nothing",
        cases,
        same,
        slug="padding-leaks",
        reason="The output changed when only padding did.",
        remedy="Find where padding still takes part: in the scores, in the sum or in the mix.",
    )


def order_relation(cases: Callable[[Generator], tuple[Case, Case]]) -> Relation:
    return Relation(
        "permuting the context permutes the columns of the weights, and no output",
        cases,
        _columns_follow,
        slug="order-of-context",
        reason="Attention does not know the order of what it reads.",
        remedy="Look for anything that depends on a token's position in the context.",
    )


def zeroed(right: Callable[..., Any]) -> Callable[..., Any]:
    """A right answer whose padding is set to 0 in the context, and then read."""

    def zeroed(*args: Any, context_mask: Tensor | None = None) -> Any:
        # A module's state comes first; the mask last.
        *inputs, last = args
        if context_mask is None and isinstance(last, Tensor) and last.dtype == torch.bool:
            args, context_mask = tuple(inputs), last
        if context_mask is None:
            return right(*args)
        place = 2 if isinstance(args[0], dict) else 1
        context = args[place] * context_mask[..., None]
        return right(*args[:place], context, *args[place + 1 :])

    return zeroed


def unless_empty(right: Callable[..., Any]) -> Callable[..., Any]:
    """A right answer that gets no mask where that leaves nothing of the whole batch."""

    def seen(*args: Any, context_mask: Tensor | None = None) -> Any:
        if isinstance(args[-1], Tensor) and args[-1].dtype == torch.bool:
            args, context_mask = args[:-1], args[-1]
        used = context_mask is not None and context_mask.any()
        return right(*args, context_mask=context_mask if used else None)

    return seen


def named(texts: tuple[str, str, str], *answers: Callable[..., Any]) -> list[Mistake]:
    """A mistake for each way to make it."""
    slug, reason, remedy = texts
    return [Mistake(slug, answer, reason, remedy) for answer in answers]


SWAPPED = (
    "swapped-q-k",
    "Queries are made from the context and keys from x: the shelf asks, and the readers are "
    "looked up.",
    "x asks and the context answers: queries from x, keys and values from the context.",
)
VALUES_FROM_X = (
    "values-from-x",
    "Values are made from x: readers hear themselves, where they should hear the other sequence.",
    "Keys and values are two sides of the same books: make both from the context.",
)
KEYS_FROM_X = (
    "keys-from-x",
    "Keys are made from x: the weights say how well the queries suit each other.",
    "Keys and values are two sides of the same books: make both from the context.",
)
CONTEXT_IGNORED = (
    "context-ignored",
    "Queries, keys and values all come from x. This is self-attention; the context was not read.",
    "Make keys and values from the context.",
)
X_IGNORED = (
    "x-ignored",
    "Queries, keys and values all come from the context. Nobody asked: x was not read.",
    "Make queries from x.",
)
SWAPPED_K_V = (
    "swapped-k-v",
    "W_k and W_v have changed places: keys are made with the values' matrix, and the other way "
    "round.",
    "Score with the keys, which W_k makes; mix the values, which W_v makes.",
)
SWAPPED_Q_K = (
    "swapped-w-q-w-k",
    "W_q and W_k have changed places. They fit only because x and context are equally wide here.",
    "W_q is for x, W_k for the context.",
)
VALUES_AS_KEYS = (
    "values-as-keys",
    "Queries are scored against values. Keys decide the weights; values are averaged.",
    "Score each query against the keys, which W_k makes.",
)
EMPTY_SLOPE = (
    "empty-slope-is-nan",
    "The numbers are right, and where a context is all padding the gradients are NaN: a NaN was "
    "replaced after softmax, and comes back through an addition or a division.",
    "Fill -inf in with `masked_fill` before softmax, and fill 0 in after it.",
)
EMPTY_BATCH = (
    "empty-batch-sees-all",
    "Where every context of the batch is all padding, the mask is not used: each query attends to "
    "all of it.",
    "Let the mask hide what it says, whatever is left: ask whether it is None and nothing else.",
)
PADDING_ZEROED = (
    "padding-zeroed",
    "Padding was set to 0 in the context. It is read all the same: a token of zeros has a score "
    "and takes its share of the weights.",
    "Leave the context alone. Set the *scores* of padding to -inf before softmax.",
)
MASK_ON_QUERIES = (
    "mask-on-queries",
    "The mask hides rows, as if the queries were padding. It says which tokens of the *context* "
    "are real: those are columns.",
    "The mask's last axis is M. Put the new axis of size 1 before it, where the queries are.",
)
MASK_ON_BATCH = (
    "mask-of-wrong-axis",
    "The mask's first axis counts sentences, and it was lined up with another axis of the scores, "
    "which is as long by chance, or does not fit.",
    "Put axes of size 1 between B and M, by indexing with None, until the mask has as many axes as "
    "the scores.",
)
