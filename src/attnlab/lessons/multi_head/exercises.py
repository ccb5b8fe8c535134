"""Lesson 07's exercises: splitting into heads, merging them, and multi-head attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks import in_heads
from attnlab.checks.exercise import Case, Claim, Exercise, Formula, Procedure, Slot, State, promises
from attnlab.checks.in_heads import Heads, into_heads, into_tokens
from attnlab.checks.inputs import normal

Tensor = torch.Tensor


# split_heads and merge_heads ----------------------------------------------------------------------


def _not_shared(rng: np.random.Generator) -> Iterator[Case]:
    for d, n_heads, note in in_heads.indivisible(rng):
        x = normal(rng, *map(int, rng.integers(2, 6, 2)), d)
        yield Case("refuses", (x, n_heads), raises="ValueError", note=note)


SPLIT_HEADS = Exercise(
    name="split_heads",
    signature="(x, n_heads) -> (B, H, N, d/H)",
    axes=("b n d", "=h"),
    products={"d": "h e"},
    read="Cut the width, not the sentence",
    returns=(Slot("heads", "tensor", "B H N d/H"),),
    claims=promises(
        "gives each head its own slice of every token",
        0.25,
        Claim("refuses", "raises ValueError where d does not divide by the heads", 0.25),
        shapes_and_precision=0.25,
        gradient_and_unchanged=0.25,
    ),
    oracle=into_heads,
    cases=_not_shared,
    mistakes={
        "heads-not-transposed": in_heads.in_reading_order,
        "heads-interleaved": in_heads.every_so_many,
        "axes-not-exchanged": lambda x, n_heads: into_heads(x, n_heads).transpose(1, 2),
        "heads-before-batch": lambda x, n_heads: into_heads(x, n_heads).transpose(0, 1),
        "heads-in-the-batch": lambda x, n_heads: into_heads(x, n_heads).flatten(0, 1),
        "tokens-last": lambda x, n_heads: into_heads(x, n_heads).mT,
        "heads-and-width-exchanged": lambda x, n_heads: into_heads(x, x.shape[-1] // n_heads),
        "not-split": lambda x, n_heads: x.unsqueeze(1).expand(-1, n_heads, -1, -1),
        "no-gradient": lambda x, n_heads: into_heads(x, n_heads).detach(),
    },
)


def _exchanged(first: int, second: int) -> Formula:
    return lambda x: x.transpose(first, second).reshape(x.shape[0], x.shape[2], -1)


MERGE_HEADS = Exercise(
    name="merge_heads",
    signature="(x) -> (B, N, d)",
    axes=("b h n e",),
    read="And back again",
    returns=(Slot("tokens", "tensor", "B N d"),),
    claims=promises(
        "puts the heads of each token side by side",
        0.5,
        shapes_and_precision=0.25,
        gradient_and_unchanged=0.25,
    ),
    oracle=into_tokens,
    mistakes={
        "heads-not-transposed": in_heads.merged_in_reading_order,
        "heads-interleaved": in_heads.in_turn,
        "wrong-axes-exchanged": (_exchanged(2, 3), _exchanged(1, 3)),
        "heads-averaged": (lambda x: x.mean(1), lambda x: x.sum(1)),
        "one-head-only": (lambda x: x[:, 0], lambda x: x[:, -1]),
        "heads-below-each-other": lambda x: x.flatten(1, 2),
        "not-merged": lambda x: x.transpose(1, 2),
        "tokens-last": lambda x: into_tokens(x).mT,
        "no-gradient": lambda x: into_tokens(x).detach(),
    },
)


# MultiHeadAttention -------------------------------------------------------------------------------


def _future(x: Tensor) -> Tensor:
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)


def _given(x: Tensor, causal: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    return x, x, x, _future(x) if causal else None


HEADS = Heads(_given)
RIGHT = HEADS.attention.oracle
CONSTRUCT = Procedure("modules.construct", (), lambda *sizes: None, ("d", "n_heads"))


def _constructors(rng: np.random.Generator) -> Iterator[Case]:
    for *sizes, note in in_heads.indivisible(rng):
        yield Case("refuses", tuple(sizes), raises="ValueError", note=note, procedure=CONSTRUCT)


def _by_slices(state: State, name: str, x: Tensor) -> Tensor:
    """x cut into heads first: each meets its own block of the matrix alone."""
    if name == "W_o":
        return state.linear(name, x)
    d, n_heads = state.sizes[:2]
    blocks = torch.block_diag(*[torch.ones(d // n_heads, d // n_heads, dtype=x.dtype)] * n_heads)
    weight = {f"{name}.weight": state[f"{name}.weight"] * blocks}
    return State({**state, **weight}, state.sizes).linear(name, x)


def _whenever(when: bool) -> Formula:
    """The future is hidden always, or just where it should not be."""

    def forward(state: State, x: Tensor, causal: bool = False) -> Any:
        return RIGHT(state, x, when or not causal)

    return forward


MODULE = Exercise(
    name="MultiHeadAttention",
    signature="nn.Module(d, n_heads, bias=True) with forward(x, causal=False) -> (out, weights)",
    axes=("b n d", "?"),
    products={"d": "h e"},
    builds=("d", "h"),
    state={
        **{f"{name}.weight": "d d" for name in ("W_q", "W_k", "W_v", "W_o")},
        **{f"{name}.bias": "d" for name in ("W_q", "W_k", "W_v", "W_o")},
    },
    read="Heads in a module",
    returns=(Slot("out", "tensor", "B N d"), Slot("weights", "tensor", "B H N N")),
    claims=promises(
        "equals nn.MultiheadAttention with the same weights",
        2.0,
        Claim("masked", "hides the future if causal=True, and only then", 0.75),
        Claim(
            "refuses",
            "raises ValueError for a d that the heads cannot share, and an error for an x that is "
            "not d wide",
            0.25,
        ),
        large_and_precision=0.25,
        bias_and_gradient=0.5,
        again_and_shapes_and_unchanged=0.25,
    ),
    attention=HEADS.attention,
    cases=_constructors,
    mistakes={
        **in_heads.mistakes(HEADS),
        "cut-before-projected": Heads(_given, project=_by_slices).attention.oracle,
        "causal-unasked": (_whenever(True), _whenever(False)),
    },
    # A head's part of x is as wide as its queries.
    without=("scale-by-sqrt-d", "swapped-results"),
    banned="attention",
)

EXERCISES = (SPLIT_HEADS, MERGE_HEADS, MODULE)
