"""Lesson 07's first exercises: the width split into heads, and heads merged again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from attnlab.checks.exercise import UNCHANGED, Case, Exercise, Group, Mistake, Slot, unchanged
from attnlab.checks.inputs import EQUAL, one_size, ones_in_turn, sizes
from attnlab.checks.recipe import Tensor
from attnlab.lessons.multi_head import LESSON
from attnlab.lessons.multi_head.layout import (
    Layout,
    every_so_many,
    headed,
    in_reading_order,
    in_turn,
    into_heads,
    into_tokens,
    merged_in_reading_order,
    no_divisors,
)
from attnlab.lessons.pytorch.exercises import normal

# split_heads --------------------------------------------------------------------------------------


def _split_cases(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(2):
        b, n, h, width = headed(rng)
        yield Case("values", (normal(rng, b, n, h * width), h))
    b, n, h, width = one_size(rng, 4)
    yield Case("values", (normal(rng, b, n, h * width), h), note=EQUAL)
    for b, n, h, width in ones_in_turn(rng, 4):
        note = "there is one sentence, one token, one head, or one number a head"
        yield Case("corners", (normal(rng, b, n, h * width), h), note=note)
    b, n, h, width = headed(rng)
    x = normal(rng, b, n, h * width)
    yield Case("corners", (x, h), laid="views", note="x is not contiguous")
    yield Case("corners", (x.float(), h), note="x is float32")
    b, n, h, width = headed(rng)
    yield Case("gradient", (normal(rng, b, n, h * width), h), gradient=True)
    for d, heads, note in no_divisors(rng):
        x = normal(rng, *sizes(rng, 2), d)
        yield Case("refuses", (x, heads), raises="ValueError", note=note)


def _detached(answer: Callable[..., Tensor]) -> Mistake:
    return Mistake(
        "no-gradient",
        lambda *args: answer(*args).detach(),
        "The numbers are right, and the chain from x to the result is cut: `.detach()`, `.data`, "
        "`.numpy()` or `torch.tensor(...)` make numbers that autograd cannot follow.",
        "Only look at x in another way: reshape and transpose keep the chain.",
    )


SPLIT_HEADS = Exercise(
    name="split_heads",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(x, n_heads) -> (B, H, N, d/H)",
    axes=("b n d", "=h"),
    read="Cut the width, not the sentence",
    returns=(Slot("heads", "tensor", "B H N d/H"),),
    groups=(
        Group("values", "gives each head its own slice of every token", 0.5, core=True),
        Group("corners", "takes sizes of 1, float32, and an x that is not contiguous", 0.125),
        Group("gradient", "passes the gradient to x", 0.125),
        Group("refuses", "raises ValueError where d does not divide by the heads", 0.125),
        unchanged(0.125),
    ),
    cases=_split_cases,
    oracle=into_heads,
    mistakes=(
        Mistake(
            "heads-not-transposed",
            in_reading_order,
            "The shape is right, and the numbers were refilled in reading order: a head gets all "
            "numbers of a few tokens, not a slice of every token.",
            "Reshape to (B, N, H, d/H) first, then exchange the two middle axes.",
        ),
        Mistake(
            "heads-interleaved",
            every_so_many,
            "A head gets every H-th number of a token. Here a head owns d/H neighbours: the first "
            "head the first d/H, and so on, as it does in PyTorch.",
            "Cut the last axis into (H, d/H), in this order.",
        ),
        Mistake(
            "axes-not-exchanged",
            lambda x, n_heads: into_heads(x, n_heads).transpose(1, 2),
            "The result is (B, N, H, d/H): the cut is right, and the head axis stands behind the "
            "tokens. Attention would run over the heads of one token.",
            "Exchange the two middle axes.",
        ),
        Mistake(
            "heads-before-batch",
            lambda x, n_heads: into_heads(x, n_heads).transpose(0, 1),
            "The result is (H, B, N, d/H): the head axis stands before the batch.",
            "Put it second: `torch.stack(…, dim=1)`.",
        ),
        Mistake(
            "heads-in-the-batch",
            lambda x, n_heads: into_heads(x, n_heads).flatten(0, 1),
            "Batch and heads are one axis here, (B·H, N, d/H). They are to stay two.",
            "Leave out the last reshape.",
        ),
        Mistake(
            "tokens-last",
            lambda x, n_heads: into_heads(x, n_heads).mT,
            "The result is (B, H, d/H, N): each head is transposed.",
            "A token is a row: the tokens come before the width.",
        ),
        Mistake(
            "heads-and-width-exchanged",
            lambda x, n_heads: into_heads(x, x.shape[-1] // n_heads),
            "There are d/H heads of width H: the two sizes have changed places.",
            "The last axis is cut into (n_heads, d // n_heads).",
        ),
        Mistake(
            "not-split",
            lambda x, n_heads: x.unsqueeze(1).expand(-1, n_heads, -1, -1),
            "Every head gets all of d. Heads share the width among them: each has d/H numbers.",
            "Reshape the last axis; nothing has to be repeated.",
        ),
        _detached(into_heads),
    ),
)


# merge_heads --------------------------------------------------------------------------------------


def _merge_cases(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(2):
        b, n, h, width = headed(rng)
        yield Case("values", (normal(rng, b, h, n, width),))
    yield Case("values", (normal(rng, *one_size(rng, 4)),), note=EQUAL)
    for b, n, h, width in ones_in_turn(rng, 4):
        note = "there is one sentence, one token, one head, or one number a head"
        yield Case("corners", (normal(rng, b, h, n, width),), note=note)
    b, n, h, width = headed(rng)
    heads = normal(rng, b, h, n, width)
    yield Case("corners", (heads,), laid="views", note="x is not contiguous")
    yield Case("corners", (heads.float(),), note="x is float32")
    b, n, h, width = headed(rng)
    yield Case("gradient", (normal(rng, b, h, n, width),), gradient=True)


def _wrong_axes(first: int, second: int) -> Layout:
    return lambda x: x.transpose(first, second).reshape(x.shape[0], x.shape[2], -1)


MERGE_HEADS = Exercise(
    name="merge_heads",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(x) -> (B, N, d)",
    axes=("b h n w",),
    read="And back again",
    returns=(Slot("tokens", "tensor", "B N d"),),
    groups=(
        Group("values", "puts the heads of each token side by side", 0.5, core=True),
        Group(
            "corners",
            "takes sizes of 1, float32, and heads that are not contiguous",
            0.25,
            needs=(UNCHANGED,),
        ),
        Group("gradient", "passes the gradient to x", 0.125),
        unchanged(0.125),
    ),
    cases=_merge_cases,
    oracle=into_tokens,
    mistakes=(
        Mistake(
            "heads-not-transposed",
            merged_in_reading_order,
            "The shape is right, and the numbers were refilled in reading order: a row holds "
            "several tokens of one head, not the heads of one token.",
            "Exchange heads and tokens first, to (B, N, H, d/H), then reshape.",
        ),
        Mistake(
            "heads-interleaved",
            in_turn,
            "The heads' numbers take turns: the first of each head, then the second of each. Side "
            "by side means all of head 1, then all of head 2.",
            "Before the reshape the axes are (B, N, H, d/H), in this order.",
        ),
        Mistake(
            "wrong-axes-exchanged",
            _wrong_axes(2, 3),
            "The shape is right, and other axes were exchanged than heads and tokens.",
            "Write the shape after each line: before the reshape it is (B, N, H, d/H).",
        ),
        Mistake(
            "wrong-axes-exchanged",
            _wrong_axes(1, 3),
            "The shape is right, and other axes were exchanged than heads and tokens.",
            "Write the shape after each line: before the reshape it is (B, N, H, d/H).",
        ),
        Mistake(
            "heads-averaged",
            lambda x: x.mean(1),
            "The heads are averaged, which leaves d/H numbers a token. They found different "
            "things, and each is to be kept.",
            "Put them side by side: d/H numbers of each head make d.",
        ),
        Mistake(
            "heads-added",
            lambda x: x.sum(1),
            "The heads are added up, which leaves d/H numbers a token. They found different "
            "things, and each is to be kept.",
            "Put them side by side: d/H numbers of each head make d.",
        ),
        Mistake(
            "one-head-only",
            lambda x: x[:, 0],
            "Only the first head is there.",
            "Put all heads side by side.",
        ),
        Mistake(
            "one-head-only",
            lambda x: x[:, -1],
            "Only the last head is there.",
            "Put all heads side by side.",
        ),
        Mistake(
            "heads-below-each-other",
            lambda x: x.flatten(1, 2),
            "The result is (B, H·N, d/H): the heads stand below each other, as if they were more "
            "tokens.",
            "Join them along the last axis.",
        ),
        Mistake(
            "not-merged",
            lambda x: x.transpose(1, 2),
            "The result is (B, N, H, d/H): what is left to do is to make one axis of the last two.",
            "Reshape them into one.",
        ),
        Mistake(
            "tokens-last",
            lambda x: into_tokens(x).mT,
            "The result is (B, d, N): the tokens come last.",
            "A token is a row: (B, N, d).",
        ),
        _detached(into_tokens),
    ),
)
