"""Attention in tiles, which never holds all scores: the exercise `tiled_attention`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Slot,
    Way,
    unchanged,
)
from attnlab.checks.inputs import EQUAL, FAR, SECOND, alike, one_size, ones_in_turn, qkv, sizes
from attnlab.checks.recipe import Tensor
from attnlab.lessons.cost import LESSON
from attnlab.lessons.cost.tiles_mistaken import MISTAKES
from attnlab.lessons.pytorch.exercises import REFUSED, normal, tensors

Generator = np.random.Generator


def _qkv(rng: Generator, *leading: int, among: tuple[int, ...] = ()) -> tuple[Tensor, ...]:
    return tensors(*qkv(rng, *leading, among=among))


def _sizes(rng: Generator, block: int, tiles: int = 3) -> tuple[int, ...]:
    """N, M, d_k and d_v; N and M make so many tiles, the last of each smaller than block."""
    d_k, d_v = (int(size) for size in rng.choice([2, 3, 5, 6], 2, replace=False))
    n, m = (int(size) for size in rng.choice(np.arange(1, block), 2, replace=False))
    n, m = (tiles - 1) * block + n, (tiles - 1) * block + m
    return (n + block, m, d_k, d_v) if rng.random() < 0.5 else (n, m + block, d_k, d_v)


def _rising(rng: Generator, down: bool) -> tuple[Tensor, ...]:
    """Scores in the thousands that go up from key to key for some queries, and down for others.

    So the largest is in the last tile or in the first, and the others are far from it.
    """
    _, m, d_k, d_v = _sizes(rng, 3)
    q, k, v = _qkv(rng, 2, among=(5, m, d_k, d_v))
    q[..., 0] = torch.tensor([1.0, 0.5, 2.0, 1.5, 3.0]) * (-1 if down else 1)
    k[..., 0] = torch.linspace(-1.0, 1.0, m) * FAR
    return q, k, v


def _held(rng: Generator, causal: bool) -> Case:
    """A case in which what is held is told apart from what is allowed."""
    block = int(rng.integers(8, 11))
    n = 8 * block + int(rng.integers(1, block))
    d_k, d_v = (int(size) for size in rng.choice([2, 3, 4], 2, replace=False))
    q, k, v = _qkv(rng, 1, among=(n, n, d_k, d_v))
    slots = (
        Slot(f"that it holds a tensor of N × M = {n * n:,} numbers", "bool"),
        Slot(f"that it holds a tensor of block_size × M = {block * n:,} numbers", "bool"),
        Slot(f"that it holds N × M = {n * n:,} numbers at one time, in several tensors", "bool"),
    )
    way = Way("watching.holds", slots, lambda *args: (False, False, False))
    note = f"N = M = {n} and what PyTorch allocates is watched"
    return Case("held", (q, k, v, block, causal), note=note, way=way)


def _tiled_cases(rng: Generator) -> Iterator[Case]:
    block = int(rng.choice([4, 7]))  # no width, so that all sizes differ
    among = _sizes(rng, block)
    first, second = (_qkv(rng, 2, among=among) for _ in range(2))
    b = next(size for size in (7, 8, 10) if size not in (*among, block))
    batch = _qkv(rng, b, among=among)
    yield Case("values", (*batch, block), note="the last tiles are smaller")
    yield Case("values", (*second, block), earlier=(*first, block), note=SECOND)
    n, m, d_k, d_v = sizes(rng, 4, 3)
    yield Case("values", (*_qkv(rng, 2, among=(n, 3 * block, d_k, d_v)), block))
    equal = one_size(rng, 4)
    yield Case("values", (*_qkv(rng, 2, among=equal), 2), note=EQUAL)
    yield Case("blocks", (*_qkv(rng, 2, among=(n, m, d_k, d_v)), 1), note="block_size is 1")
    for size, what in ((m, "M"), (n, "N"), (max(n, m) + 1, "more than N and M"), (1000, "1000")):
        inputs = _qkv(rng, 2, among=(n, m, d_k, d_v))
        yield Case("blocks", (*inputs, size), note=f"block_size is {what}")

    yield Case("leading", (*_qkv(rng, among=_sizes(rng, 3)), 3), note="there is no batch axis")
    args = (*_qkv(rng, 2, 3, among=_sizes(rng, 3)), 3)
    yield Case("leading", args, note="there are batch and head axes")
    for one in ones_in_turn(rng, 4):
        yield Case("leading", (*_qkv(rng, 2, among=one), 2), note="one of the sizes is 1")

    for down in (False, True):
        way = "down" if down else "up"
        note = f"scores are in the thousands and go {way} from key to key"
        yield Case("large", (*_rising(rng, down), 3), note=note)
    note = "scores are in the thousands, and close together"
    yield Case("large", (*tensors(*alike(rng, 2)), 2), note=note)

    for n, m in ((10, 10), (7, 13), (13, 7)):
        n, m = n + int(rng.integers(2)), m + int(rng.integers(2))
        n, m = (m, m) if abs(n - m) < 3 else (n, m)
        for size in (3, int(rng.integers(4, 7))):
            inputs = _qkv(rng, 2, among=(n, m, d_k, d_v))
            yield Case("causal", (*inputs, size, True), note=f"N is {n} and M is {m}")
    for size in (1, 1000):
        args = (*_qkv(rng, 2, among=(7, 7, d_k, d_v)), size, True)
        yield Case("causal", args, note=f"block_size is {size}")

    args = (*_rising(rng, bool(rng.integers(2))), 2, True)
    yield Case("hidden", args, note="scores are in the thousands, and it is causal")
    q, k, v = tensors(*alike(rng, 2))
    q[:, 0] = q[:, int((q @ k.mT)[0, :, 0].argmin())]  # query 0 sees one key alone
    note = "scores are in the thousands below 0, and it is causal"
    yield Case("hidden", (q, k, v, 2, True), note=note)

    among = _sizes(rng, 3)
    for extra, note in (((3,), ""), ((3, True), "it is causal")):
        yield Case("gradient", (*_qkv(rng, 2, among=among), *extra), gradient=True, note=note)
    at = int(rng.integers(3))
    fixed = tuple(place for place in range(3) if place != at)
    note = f"{'qkv'[at]} alone needs a gradient"
    args = (*_qkv(rng, 2, among=among), 3)
    yield Case("gradient", args, gradient=True, fixed=fixed, note=note)

    for causal in (False, True):
        yield _held(rng, causal)

    single = tuple(part.float() for part in _qkv(rng, 2, 3, among=among))
    note = "inputs are float32"
    yield Case("float32", (*single, 3, True), note=note, tolerance=FLOAT32_TOLERANCE)
    args = (*_qkv(rng, 2, among=among), 3)
    yield Case("float32", args, laid="views", note="inputs are not contiguous")

    for size in (0, -1, -int(rng.integers(2, 9))):
        args, note = (*_qkv(rng, 2, among=among), size), f"block_size is {size}"
        yield Case("refuses", args, raises="ValueError", note=note)
    n, m, d_k, d_v = sizes(rng, 4, 4)
    for change in (-1, 1):
        q, k, v = _qkv(rng, 2, among=(n, m, d_k, d_v))
        wrong = (q, normal(rng, 2, m, d_k + change), v, 3)
        yield Case("fits", wrong, raises=REFUSED, note="q and k are not equally wide")
    few = (q, k, v[:, 1:], m + 1)
    yield Case("fits", few, raises=REFUSED, note="there is a value less than there are keys")


def _tiled(q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False) -> Tensor:
    """PyTorch's attention, in one piece."""
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}")
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


TILED_ATTENTION = Exercise(
    name="tiled_attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(q, k, v, block_size, causal=False) -> out",
    axes=("… n k", "… m k", "… m v", "=s", "?"),
    read="Attention in tiles",
    returns=(Slot("out", "tensor", "… N d_v"),),
    groups=(
        Group("values", "equals PyTorch's attention", 1.0, core=True),
        Group("blocks", "takes any block_size, 1 and more than N and M too", 0.25),
        Group("leading", "takes any leading axes, and sizes of 1", 0.25),
        Group("large", "is stable where scores are in the thousands", 0.375),
        Group("causal", "is causal where that is asked for, N ≠ M too", 0.5, needs=("blocks",)),
        Group(
            "hidden",
            "hides the future where scores are in the thousands",
            0.125,
            needs=("large", "causal"),
        ),
        Group("gradient", "passes the right gradients to q, k and v", 0.25, needs=("causal",)),
        Group("held", "never holds block_size × M numbers or more at once", 0.75),
        Group(
            "float32",
            "keeps float32 (compared at 1e-4), and takes views",
            0.125,
            needs=("leading", "causal"),
        ),
        Group("refuses", "raises ValueError for a block_size below 1", 0.125),
        Group("fits", "raises an error where shapes do not fit", 0.125),
        unchanged(0.125),
    ),
    cases=_tiled_cases,
    oracle=_tiled,
    mistakes=MISTAKES,
    fused_banned=True,
)
