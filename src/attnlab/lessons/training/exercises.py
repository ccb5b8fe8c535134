"""Lesson 10's exercises: a step, a classifier, a row of weights, rows exchanged, and writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.exercise import Case, Claim, Exercise, Formula, Slot, State, promises
from attnlab.checks.inputs import Generator, normal, ones_in_turn, sizes
from attnlab.checks.recipe import Recipe
from attnlab.lessons.training.patching import PATCHED
from attnlab.lessons.training.stepping import TRAIN_STEP
from attnlab.lessons.training.writing import GENERATE, NEXT_TOKEN_PROBABILITIES

Tensor = torch.Tensor


def _tokens(rng: Generator, below: int, *shape: int) -> Tensor:
    return torch.from_numpy(rng.integers(0, below, shape))


# PhraseClassifier ---------------------------------------------------------------------------------


def _phrases(rng: Generator, sizes: Mapping[str, Any]) -> Tensor:
    """The first word of the vocabulary and its last are among them."""
    ids = _tokens(rng, sizes["V"], sizes["b"], sizes["n"])
    ids.view(-1)[0], ids.view(-1)[-1] = 0, sizes["V"] - 1
    return ids


def _read(state: State, ids: Tensor) -> Parts:
    x = F.embedding(ids, state["embed.weight"])
    q, k, v = (state.linear(name, x) for name in ("W_q", "W_k", "W_v"))
    return Parts(q, k, v, x)


def _padding(state: State, ids: Tensor) -> Parts:
    embed = state["embed.weight"]
    unlearned = {"embed.weight": torch.cat([embed[:1].detach(), embed[1:]])}
    return _read(State({**state, **unlearned}, state.sizes), ids)


def _causal(state: State, ids: Tensor) -> Parts:
    blocked = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
    return replace(_read(state, ids), blocked=blocked)


Rows = Callable[[Tensor], Tensor]


def _mean(rows: Tensor) -> Tensor:
    return rows.mean(1)


def _as_it_is(rows: Tensor) -> Tensor:
    return rows


def _hidden(state: State, rows: Tensor) -> Tensor:
    return F.relu(state.linear("hidden", rows))


def _classifier(
    joined: Callable[..., Tensor] = lambda state, mixed, ids: state.linear("W_o", mixed),
    pool: Rows = _mean,
    hidden: Callable[[State, Tensor], Tensor] = _hidden,
    last: Rows = _as_it_is,
    read: Callable[[State, Tensor], Parts] = _read,
) -> Attention:
    """Attention, then parts that can be exchanged."""

    def finish(mixed: Tensor, weights: Tensor, state: State, ids: Tensor) -> Tensor:
        rows = pool(joined(state, mixed, ids))
        return last(state.linear("classes", hidden(state, rows)))

    return Attention(read, finish)


def _bent(bend: Callable[..., Tensor]) -> Formula:
    return _classifier(hidden=lambda state, rows: bend(state.linear("hidden", rows))).oracle


def _pooled(pool: Rows) -> Formula:
    return _classifier(pool=pool).oracle


def _with_words(state: State, mixed: Tensor, ids: Tensor) -> Tensor:
    return state.linear("W_o", mixed) + F.embedding(ids, state["embed.weight"])


def _small_words(rng: Generator) -> Iterator[Case]:
    """Words so small that the signs of hidden numbers hang on their biases."""
    for _ in range(2):
        b, n, V, d, C = sizes(rng, 5, 3, 9)
        lengths = {"V": V, "d": d, "C": C}
        state = {
            name: normal(rng, *(lengths[axis] for axis in axes.split()))
            for name, axes in PARAMETERS.items()
        }
        state["embed.weight"] *= 0.5
        ids = _phrases(rng, {"V": V, "b": b, "n": n})
        yield Case("values", (ids,), sizes=(V, d, C), state=state)


PARAMETERS = {
    "embed.weight": "V d",
    **{f"W_{letter}.weight": "d d" for letter in "qkvo"},
    "hidden.weight": "d d",
    "hidden.bias": "d",
    "classes.weight": "C d",
    "classes.bias": "C",
}
CLASSIFY = _classifier()
CLASSIFIER = Exercise(
    name="PhraseClassifier",
    signature="nn.Module(vocab_size, d, n_classes) with forward(ids) -> logits",
    axes=("b n",),
    read="One hidden layer",
    returns=(Slot("logits", "tensor", "B n_classes"),),
    claims=promises(
        "equals `classes` of ReLU of `hidden` of the mean of W_o's rows",
        1.5,
        shapes=0.25,
        precision=0.25,
        gradient=0.5,
        again=0.25,
        unchanged=0.25,
    ),
    attention=CLASSIFY,
    builds=("V", "d", "C"),
    state=PARAMETERS,
    drawn={"ids": _phrases},
    cases=_small_words,
    mistakes={
        "no-hidden-layer": _classifier(hidden=lambda state, rows: rows).oracle,
        "no-relu": (
            _bent(_as_it_is),
            _classifier(hidden=lambda state, rows: state.linear("hidden", F.relu(rows))).oracle,
        ),
        "another-bend": (_bent(F.gelu), _bent(F.leaky_relu), _bent(torch.tanh)),
        "pooled-after-relu": _classifier(
            pool=_as_it_is, hidden=lambda state, rows: _mean(_hidden(state, rows))
        ).oracle,
        "not-the-mean": (
            *(_pooled(lambda rows: rows[:, -1]), _pooled(lambda rows: rows[:, 0])),
            *(_pooled(lambda rows: rows.sum(1)), _pooled(lambda rows: rows.amax(1))),
        ),
        "not-over-words": (
            *(_pooled(lambda rows: rows.mean(0)), _pooled(lambda rows: rows.mean((0, 1)))),
            _pooled(_as_it_is),
        ),
        "no-w-o": _classifier(joined=lambda state, mixed, ids: mixed).oracle,
        "residual-added": _classifier(joined=_with_words).oracle,
        "softmax-at-the-end": _classifier(last=lambda logits: logits.softmax(-1)).oracle,
        "relu-at-the-end": _classifier(last=F.relu).oracle,
        "class-not-logits": _classifier(last=lambda logits: logits.argmax(-1)).oracle,
        "causal-mask": _classifier(read=_causal).oracle,
        "word-0-as-padding": _classifier(read=_padding).oracle,
        "values-averaged": CLASSIFY.answer(Recipe(scale=lambda at: 0.0)),
    },
    without=(
        *("scale-by-sqrt-d", "best-value-only"),
        # After the mean over the words these are all the same.
        *("uniform-weights", "values-unweighted", "weights-transposed", "softmax-over-queries"),
        # A phrase with one NaN is NaN.
        *("one-maximum-for-all-rows", "not-the-maximum-subtracted"),
        *("absolute-maximum-subtracted", "maximum-begins-at-0"),
    ),
    banned="attention",
)


# attention_to -------------------------------------------------------------------------------------


def _each(rng: Generator, sizes: Mapping[str, Any]) -> Tensor:
    """An index for each sentence, of a column as well; not all the same if several places are."""
    b, n = sizes["b"], min(sizes["n"], sizes["m"])
    index = _tokens(rng, n, b)
    if b > 1 and n > 1:
        index[:2] = torch.from_numpy(rng.permutation(n)[:2])
    return index


def _row_cases(rng: Generator) -> Iterator[Case]:
    b, h, n, m = sizes(rng, 4)
    each = {"b": b, "n": n, "m": m}
    for width, place in ((m, int(rng.integers(min(n, m)))), (n, n - 1), (n, 0)):
        yield Case("values", (normal(rng, b, n, width), place), note="query_index is an int")
    for shape in ((b, h, n, m), (b, h, n, n), (b, b, n, n), (b, 1, n, m)):
        for index in (int(rng.integers(min(n, m))), _each(rng, each)):
            yield Case("heads", (normal(rng, *shape), index), note="there is a head axis")
    for one in ones_in_turn(rng, 3):
        weights = normal(rng, one[0], h, *one[1:])
        index = _each(rng, dict(zip("bnm", one, strict=True)))
        yield Case("heads", (weights, index), note="one of the sizes is 1, and there are heads")
    args = normal(rng, b, h, n, m), _each(rng, each)
    yield Case("gradient", args, gradient=True, note="there is a head axis", about=("heads",))
    yield Case("gradient", (normal(rng, b, n, m), 0), gradient=True, note="query_index is an int")


def _mean_of_heads(weights: Tensor) -> Tensor:
    return weights.mean(1) if weights.ndim == 4 else weights


def _row(weights: Tensor, index: Any) -> Tensor:
    """One row for each sentence; by one-hot, as no learner would."""
    n = weights.shape[-2]
    chosen = F.one_hot(torch.as_tensor(index).expand(len(weights)), n).to(weights)
    return torch.einsum("bn,bnm->bm", chosen, weights)


def _to(row: Callable[..., Any] = _row, heads: Rows = _mean_of_heads) -> Formula:
    return lambda weights, query_index: row(heads(weights), query_index)


def _over(reduce: Rows) -> Formula:
    return _to(heads=lambda weights: reduce(weights) if weights.ndim == 4 else weights)


def _every_head(weights: Tensor, query_index: Any) -> Tensor:
    if weights.ndim == 3:
        return _row(weights, query_index)
    return torch.stack([_row(head, query_index) for head in weights.unbind(1)], 1)


ATTENTION_TO = Exercise(
    name="attention_to",
    signature="(weights, query_index) -> (B, N)",
    axes=("b n m", "b"),
    read="One row of the weights",
    returns=(Slot("row", "tensor", "B M"),),
    claims=promises(
        "gives the row of the word that asks, by one index or one for each sentence",
        0.25,
        Claim("heads", "averages over heads, if there are any", 0.25),
        gradient_and_precision=0.25,
        unchanged=0.25,
    ),
    oracle=_to(),
    drawn={"query_index": _each},
    cases=_row_cases,
    mistakes={
        "column-not-row": _to(lambda weights, index: _row(weights.mT, index)),
        "heads-summed": _over(lambda weights: weights.sum(1)),
        "one-head-only": (
            _over(lambda weights: weights[:, 0]),
            _over(lambda weights: weights[:, -1]),
        ),
        "largest-over-heads": _over(lambda weights: weights.amax(1)),
        "heads-not-averaged": _every_head,
        "one-index-for-all": _to(lambda w, index: w[:, int(torch.as_tensor(index).flatten()[0])]),
        "every-index-for-every-sentence": _to(lambda weights, index: weights[:, index]),
        "averaged-over-queries": _to(lambda weights, index: weights.mean(1)),
        "counted-from-1": _to(
            lambda weights, index: _row(weights, (torch.as_tensor(index) - 1) % weights.shape[1])
        ),
        "place-not-weights": _to(lambda weights, index: _row(weights, index).argmax(-1)),
        "no-gradient": lambda weights, query_index: _to()(weights.detach(), query_index),
    },
)

EXERCISES = (TRAIN_STEP, CLASSIFIER, ATTENTION_TO, PATCHED, NEXT_TOKEN_PROBABILITIES, GENERATE)
