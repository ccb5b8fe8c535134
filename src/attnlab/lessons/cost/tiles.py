"""Attention in tiles, which never holds all scores: the exercise `tiled_attention`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.exercise import (
    Case,
    Claim,
    Exercise,
    Formula,
    Procedure,
    Slot,
    promises,
)
from attnlab.checks.inputs import FAR, sizes

Generator = np.random.Generator
Tensor = torch.Tensor
INFINITY = float("inf")
Tiles = list[range]
Formulas = Formula | tuple[Formula, ...]
TILES = 16  # of queries and of keys, where memory is counted: time goes by their square


def _behind(rows: range, columns: range) -> Tensor:
    """How far each key lies behind each query."""
    return torch.tensor(rows)[:, None] - torch.tensor(columns)


def _parts(q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False) -> Parts:
    future = _behind(range(q.shape[-2]), range(k.shape[-2])) < 0
    return Parts(q, k, v, blocked=future if causal else None)


ATTENTION = Attention(_parts, lambda out, weights, *args, **kwargs: out)


# Tile by tile, with something wrong ---------------------------------------------------------------


def _cut(length: int, block: int) -> Tiles:
    return [range(at, min(at + block, length)) for at in range(0, length, block)]


def _whole(length: int, block: int) -> Tiles:
    return [tile for tile in _cut(length, block) if len(tile) == block]


def _but_the_last(length: int, block: int) -> Tiles:
    return _cut(length, block)[:-1]


def _share(old: Tensor, new: Tensor) -> Tensor:
    """e to the old maximum minus the new one; 0 for what is empty."""
    return torch.where(old == -INFINITY, 0.0, (old - new).exp())


def _grown(old: Tensor, new: Tensor) -> Tensor:
    empty = old == -INFINITY  # whose power is infinite, and so has no slope
    return torch.where(empty, 0.0, (new - torch.where(empty, new, old)).exp())


def _one(old: Tensor, new: Tensor) -> Tensor:
    return torch.ones_like(old)


def _nothing(old: Tensor, new: Tensor) -> Tensor:
    return torch.zeros_like(old)


def _onto(running: Tensor, factor: Tensor, tile: Tensor) -> Tensor:
    return running * factor + tile


def _too_late(running: Tensor, factor: Tensor, tile: Tensor) -> Tensor:
    return (running + tile) * factor


def _highest(scores: Tensor) -> Tensor:
    return scores.amax(-1, keepdim=True)


def _none(rows: range, columns: range) -> bool:
    return False


def _in_the_future(rows: range, columns: range) -> bool:
    return columns.start >= rows.stop


@dataclass(frozen=True, slots=True)
class Tiled:
    """The exercise's function, with exchangeable parts.

    Attributes:
        rows, columns: tiles of queries and of keys.
        blocked: pairs of a tile that are blocked where it is causal; from its queries and keys, N
            and M.
        skipped: tiles that are left out there.
        low: what is set as the score of a blocked pair.
        scale: of scores, from d_k and block_size.
        own: the maximum that a tile is measured against, from its scores and the running one.
        top: the new running maximum, from the old one and the tile's scores.
        of_sum, of_out: what the running sum and output are multiplied by in each tile.
        add_sum, add_out: how they go on, from the running one, its factor and the tile.
        total: what a tile adds to the sum, from its powers.
        early: what is done to the running output after each tile.
        end: the output, from sum and output.
    """

    rows: Callable[[int, int], Tiles] = _cut
    columns: Callable[[int, int], Tiles] = _cut
    blocked: Callable[[range, range, int, int], Tensor] = lambda i, j, n, m: _behind(i, j) < 0
    skipped: Callable[[range, range], bool] = _none
    low: float = -INFINITY
    scale: Callable[[int, int], float] = lambda d_k, block: d_k**-0.5
    own: Callable[[Tensor, Tensor], Tensor] = lambda scores, m: m
    top: Callable[[Tensor, Tensor], Tensor] = lambda m, scores: torch.maximum(m, _highest(scores))
    of_sum: Callable[[Tensor, Tensor], Tensor] = _share
    of_out: Callable[[Tensor, Tensor], Tensor] = _share
    add_sum: Callable[[Tensor, Tensor, Tensor], Tensor] = _onto
    add_out: Callable[[Tensor, Tensor, Tensor], Tensor] = _onto
    total: Callable[[Tensor], Tensor] = lambda powers: powers.sum(-1, keepdim=True)
    early: Callable[[Tensor, Tensor], Tensor] = lambda o, s: o
    end: Callable[[Tensor, Tensor], Tensor] = lambda o, s: o / s

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Tensor:
        tiles = self.rows(q.shape[-2], block)
        done = [self._row(q, k, v, rows, block, causal) for rows in tiles]
        left = q.shape[-2] - sum(map(len, tiles))  # queries that got no answer have 0
        return torch.cat([*done, q.new_zeros(*q.shape[:-2], left, v.shape[-1])], -2)

    def _row(
        self, q: Tensor, k: Tensor, v: Tensor, rows: range, block: int, causal: bool
    ) -> Tensor:
        n, m, asked = q.shape[-2], k.shape[-2], q[..., rows.start : rows.stop, :]
        top = q.new_full((*asked.shape[:-1], 1), -INFINITY)
        s, o = torch.zeros_like(top), torch.zeros_like(top)
        for columns in self.columns(m, block):
            if causal and self.skipped(rows, columns):
                continue
            here = slice(columns.start, columns.stop)
            scores = asked @ k[..., here, :].mT * self.scale(q.shape[-1], block)
            if causal:
                scores = scores.masked_fill(self.blocked(rows, columns, n, m), self.low)
            new = self.top(top, scores)
            powers = (scores - self.own(scores, new)).exp()
            s = self.add_sum(s, self.of_sum(top, new), self.total(powers))
            o = self.early(self.add_out(o, self.of_out(top, new), powers @ v[..., here, :]), s)
            top = new
        return self.end(o, s).expand(*asked.shape[:-1], v.shape[-1])


def _own_or_nan(scores: Tensor, m: Tensor) -> Tensor:
    """As where a tile is measured against its own maximum first, and then merged."""
    return torch.where(_highest(scores) == -INFINITY, -INFINITY, m)


def _unasked(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Tensor:
    """Tiles of the future are always left out."""
    whole = Tiled(blocked=_open, skipped=_in_the_future)
    return (Tiled() if causal else whole)(q, k, v, block, True)


def _open(rows: range, columns: range, n: int, m: int) -> Tensor:
    return torch.zeros(len(rows), len(columns), dtype=torch.bool)


def _keys_up_to_n(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Tensor:
    """The loop over keys ends where the queries end; an empty tile has no maximum."""
    n, m = q.shape[-2], k.shape[-2]
    if any(tile.start >= m and not (causal and tile.start >= n) for tile in _cut(n, block)):
        raise IndexError
    tiled = Tiled(columns=lambda m, block: [tile for tile in _cut(m, block) if tile.start < n])
    return tiled(q, k, v, block, causal)


def _skipping(formulas: Formulas) -> Formulas:
    """A mistake's formulas, and the same where tiles in the future are left out, as most do."""
    each = formulas if isinstance(formulas, tuple) else (formulas,)
    tiled = [one for one in each if isinstance(one, Tiled) and one.skipped is _none]
    return tuple(dict.fromkeys((*each, *(replace(one, skipped=_in_the_future) for one in tiled))))


def _with_more(number: float) -> Tiled:
    return Tiled(end=lambda o, s: o / (s + number))


def _softmax_by_tile(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Tensor:
    """A softmax in each tile, and the outputs added up."""
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for columns in _cut(k.shape[-2], block):
        here = slice(columns.start, columns.stop)
        scores = q @ k[..., here, :].mT * q.shape[-1] ** -0.5
        if causal:
            scores = scores.masked_fill(_behind(range(q.shape[-2]), columns) < 0, -INFINITY)
        weights = scores.softmax(-1)
        out = out + (weights.nan_to_num(0.0) if causal else weights) @ v[..., here, :]
    return out


def _mean_of_tiles(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Tensor:
    return _softmax_by_tile(q, k, v, block, causal) / len(_cut(k.shape[-2], block))


def _padded(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Tensor:
    """Keys and values filled up with zeros to whole tiles, which are attended to."""
    k, v = (F.pad(part, (0, 0, 0, -k.shape[-2] % block)) for part in (k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


# What is held -------------------------------------------------------------------------------------


def _allowed(q: Tensor, v: Tensor, block: int) -> int:
    """Numbers that may be alive at one time."""
    (b, n, d), d_v = q.shape, v.shape[-1]
    return b * (6 * (block**2 + block * (d + d_v)) + 4 * n * d_v)


def _missed(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool, *held: Any) -> str:
    """Whether too many numbers were alive at one time."""
    (_, largest, most), allowed = held, _allowed(q, v, block)
    if most < allowed:
        return ""
    return (
        f"{int(most):,} numbers were alive at one time, in a tensor of {int(largest):,} and others;"
        f" fewer than {allowed:,} are asked for"
    )


def _holding(numbers: Callable[[int, int, int], int]) -> Callable[..., Any]:
    """Right in what it returns, and has a tensor of so many numbers, of B, N and block_size."""

    def tiled_attention(
        q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False, *held: Any
    ) -> Any:
        if not held:
            return ATTENTION.oracle(q, k, v, block, causal)
        _, largest, most = held
        return most >= _allowed(q, v, block) and largest >= numbers(q.shape[0], q.shape[1], block)

    return tiled_attention


OUT = Slot("out", "tensor", "… N d_v")
HELD = Procedure(
    "watching.holds",
    (OUT, Slot("largest", "int", any=True), Slot("most", "int", any=True)),
    lambda *args: (ATTENTION.oracle(*args), 0, 0),
    missed=_missed,
)


# The exercise -------------------------------------------------------------------------------------


def _sizes(rng: Generator, block: int) -> tuple[int, ...]:
    """N, M, d_k and d_v; three or four tiles, the last of them smaller than block."""
    n, m = (int(size) for size in rng.choice(np.arange(1, block), 2, replace=False))
    n, m = (2 * block + n, 3 * block + m) if rng.random() < 0.5 else (3 * block + n, 2 * block + m)
    return n, m, *(int(size) for size in rng.choice([2, 3, 5, 6], 2, replace=False))


def _qkv(rng: Generator, leading: int, n: int, m: int, d_k: int, d_v: int) -> tuple[Tensor, ...]:
    shapes = (n, d_k), (m, d_k), (m, d_v)
    return tuple(torch.from_numpy(rng.normal(size=(leading, *shape))) for shape in shapes)


def _rising(rng: Generator) -> tuple[Tensor, ...]:
    """Scores in the thousands that go up from key to key for some queries, down for others."""
    q, k, v = _qkv(rng, 2, 5, *_sizes(rng, 3)[1:])
    q[..., 0] = torch.tensor([3.0, *rng.permutation([1.0, -0.5, 2.0, -1.5])])  # 0 sees the lowest
    k[..., 0] = torch.linspace(-1.0, 1.0, k.shape[-2]) * FAR
    return q, k, v


def _cases(rng: Generator) -> Iterator[Case]:
    block = int(rng.choice([4, 7]))
    yield Case("values", (*_qkv(rng, 2, *_sizes(rng, block)), block), note="the last are smaller")
    n, m, d_k, d_v = sizes(rng, 4, 3)
    note = "tiles of keys are all whole"
    yield Case("values", (*_qkv(rng, 2, n, 3 * block, d_k, d_v), block), note=note)
    for size, what in (
        (1, "1"),
        (n, "N"),
        (m, "M"),
        (max(n, m) + 1, "more than N and M"),
        (1000, "1000"),
    ):
        for causal in (False, True):
            group, args = "masked" if causal else "large", (*_qkv(rng, 2, n, m, d_k, d_v), size)
            yield Case(group, args, {"causal": causal}, note=f"block_size is {what}")
    for n, m in ((10, 10), (7, 13), (13, 7)):
        more = int(rng.integers(2))
        n, m = n + more, m + more
        args = (*_qkv(rng, 2, n, m, d_k, d_v), int(rng.integers(3, 7)), True)
        yield Case("masked", args, note=f"N is {n} and M is {m}")
    note = "scores are in the thousands and go up or down from key to key"
    yield Case("large", (*_rising(rng), 3), note=note)
    yield Case("large", (*_rising(rng), 2, True), note=note, about=("masked",))
    for size in (0, -1, -int(rng.integers(2, 9))):
        args, note = (*_qkv(rng, 2, n, m, d_k, d_v), size), f"block_size is {size}"
        yield Case("unchanged", args, raises="ValueError", note=note)
    q, k, v = _qkv(rng, 2, n, m, d_k, d_v)
    few, note = (q, k, v[:, 1:], m + 1), "there is a value less than there are keys"
    yield Case("unchanged", few, raises="ValueError or RuntimeError", note=note)
    blocks = rng.permutation([rng.integers(32, 40), rng.integers(48, 64)])
    for causal, block in zip((False, True), blocks.tolist(), strict=True):
        d_k, d_v = int(rng.integers(1, block // 16 + 1)), block // 16
        args = (*_qkv(rng, 2, TILES * block, TILES * block, d_k, d_v), block, causal)
        note, about = "what is alive at one time is counted", ("large", *["masked"] * causal)
        yield Case("held", args, note=note, procedure=HELD, about=about, once=True)


MISTAKES: dict[str, Formulas] = {
    # in memory, the largest first
    "whole-matrix-held": _holding(lambda b, n, block: b * n * n),
    "whole-mask-held": _holding(lambda b, n, block: n * n),
    "one-side-cut": _holding(lambda b, n, block: b * block * n),
    "tiles-kept": _holding(lambda b, n, block: 0),
    # in the sums
    "half-rescaled": (Tiled(of_sum=_one), Tiled(of_out=_one)),
    "half-kept": (Tiled(of_sum=_nothing), Tiled(of_out=_nothing)),
    "rescaled-too-late": (
        Tiled(add_sum=_too_late),
        Tiled(add_out=_too_late),
        Tiled(add_sum=_too_late, add_out=_too_late),
    ),
    "not-rescaled": (
        Tiled(of_sum=_one, of_out=_one),
        Tiled(of_sum=_one, of_out=_one, own=lambda scores, m: _highest(scores)),
    ),
    "tile-measured-against-itself": Tiled(own=lambda scores, m: _highest(scores)),
    "tile-not-measured": Tiled(own=lambda scores, m: torch.zeros_like(m)),
    "rescaled-the-wrong-way": Tiled(of_sum=_grown, of_out=_grown),
    "divided-too-soon": (
        Tiled(early=lambda o, s: o / s, end=lambda o, s: o),
        Tiled(early=lambda o, s: o / s),
    ),
    "not-normalised": Tiled(end=lambda o, s: o),
    "not-each-rows-sum": (
        Tiled(total=lambda powers: powers.mean(-1, keepdim=True)),
        Tiled(total=lambda powers: powers.amax(-1, keepdim=True)),
        Tiled(total=torch.sum),
        Tiled(end=lambda o, s: o / s.sum(-2, keepdim=True)),
    ),
    "epsilon-added": tuple(map(_with_more, (1e-5, 1e-6, 1e-7, 1e-8))),
    "softmax-by-tile": (
        *(_softmax_by_tile, _mean_of_tiles),
        Tiled(own=lambda scores, m: scores.logsumexp(-1, keepdim=True)),
    ),
    "maximum-of-one-tile": (
        Tiled(top=lambda m, scores: torch.where(m == -INFINITY, _highest(scores), m)),
        Tiled(top=lambda m, scores: _highest(scores)),
    ),
    "not-the-maximum-subtracted": (
        Tiled(top=lambda m, scores: torch.maximum(m, scores.amin(-1, keepdim=True))),
        Tiled(top=lambda m, scores: torch.maximum(m, scores.mean(-1, keepdim=True))),
    ),
    "one-maximum-for-all-rows": Tiled(
        top=lambda m, scores: torch.maximum(m, scores.amax((-2, -1), keepdim=True))
    ),
    # at the edges
    "one-tile-only": (
        Tiled(columns=lambda m, block: _cut(m, block)[:1]),
        Tiled(columns=lambda m, block: _cut(m, block)[-1:]),
        Tiled(of_sum=_nothing, of_out=_nothing),
    ),
    "first-left-out": (
        Tiled(columns=lambda m, block: _cut(m, block)[1:]),
        Tiled(
            columns=lambda m, block: [range(at, min(at + block, m)) for at in range(1, m, block)]
        ),
    ),
    "tiles-overlap": Tiled(
        columns=lambda m, block: [range(at, min(at + block, m)) for at in range(m)]
    ),
    "keys-up-to-n": _keys_up_to_n,
    "rest-left-out": tuple(
        Tiled(rows, columns)
        for rows in (_cut, _whole, _but_the_last)
        for columns in (_cut, _whole, _but_the_last)
        if not rows is columns is _cut
    ),
    "padding-attended": _padded,
    "scale-by-block": Tiled(scale=lambda d_k, block: block**-0.5),
    # where it is causal, or is not
    "causal-unasked": (
        lambda q, k, v, block, causal=False: ATTENTION.oracle(q, k, v, block, True),
        lambda q, k, v, block, causal=True: ATTENTION.oracle(q, k, v, block, causal),
        lambda q, k, v, block, causal=False: ATTENTION.oracle(q, k, v, block, not causal),
        _unasked,
    ),
    "mask-in-each-tile": tuple(
        Tiled(blocked=blocked, skipped=skipped)
        for blocked in (
            lambda i, j, n, m: _behind(range(len(i)), range(len(j))) < 0,
            lambda i, j, n, m: _behind(range(len(i)), j) < 0,
            lambda i, j, n, m: _behind(i, range(len(j))) < 0,
        )
        for skipped in (_none, _in_the_future)
    ),
    "no-triangle-inside": Tiled(
        blocked=_open,
        skipped=_in_the_future,
    ),
    "mask-of-the-first-query": Tiled(
        blocked=lambda i, j, n, m: (torch.tensor(j) > i.start).expand(len(i), -1)
    ),
    "future-tile-is-nan": (
        Tiled(own=_own_or_nan),
        Tiled(own=_own_or_nan, skipped=lambda rows, columns: columns.start > rows.stop),
    ),
    "mask-with-zero": Tiled(low=0.0),
    "mask-with-small-number": tuple(
        Tiled(low=low, skipped=skipped)
        for low in (-10.0, -20.0, -50.0, -100.0, -1e3, -1e4)
        for skipped in (_none, _in_the_future)
    ),
    "diagonal-tile-skipped": (
        Tiled(skipped=lambda rows, columns: columns.start >= rows.start),
        Tiled(skipped=lambda rows, columns: columns.stop - 1 > rows.start),
    ),
    "past-tiles-skipped": (
        Tiled(skipped=lambda rows, columns: columns.start < rows.start),
        Tiled(skipped=lambda rows, columns: columns.stop <= rows.start),
        Tiled(skipped=lambda rows, columns: rows.start > 0),
    ),
    "mask-off-by-one": (
        Tiled(blocked=lambda i, j, n, m: _behind(i, j) < -1),
        Tiled(blocked=lambda i, j, n, m: _behind(i, j) <= 0),
        Tiled(blocked=lambda i, j, n, m: _behind(i, j) <= 0, own=_own_or_nan),
    ),
    "mask-bottom-right": Tiled(blocked=lambda i, j, n, m: _behind(i, j) < n - m),
    "mask-transposed": (
        Tiled(blocked=lambda i, j, n, m: _behind(i, j) > 0),
        Tiled(blocked=lambda i, j, n, m: _behind(i, j) > 0, own=_own_or_nan),
    ),
    "mask-inverted": (
        Tiled(blocked=lambda i, j, n, m: _behind(i, j) >= 0),
        Tiled(blocked=lambda i, j, n, m: _behind(i, j) >= 0, own=_own_or_nan),
    ),
}

TILED_ATTENTION = Exercise(
    name="tiled_attention",
    signature="(q, k, v, block_size, causal=False) -> out",
    axes=("… n k", "… m k", "… m v", "block", "?"),
    drawn={"block_size": lambda rng, at: int(rng.integers(2, 5))},
    fits="m",  # what is left over, no tile needs to look at
    read="Attention in tiles",
    returns=(OUT,),
    claims=(
        *promises(
            "equals PyTorch's attention",
            1.75,
            Claim(
                "large",
                "takes any block_size and sizes, float32 (compared at 1e-4), scores in thousands",
                0.75,
                also=("shapes", "precision"),
            ),
            Claim("masked", "is causal where that is asked for, N ≠ M too", 0.75),
            gradient=0.25,
            unchanged_and_refuses=0.25,
        ),
        Claim("held", "holds little more than a few tiles and the output", 0.25),
    ),
    cases=_cases,
    attention=ATTENTION,
    banned="attention",
    without=(
        *("mask-transposed", "mask-off-by-one", "mask-with-small-number"),  # of tiles, below
        *("divided-by-max", "best-value-only", "weights-not-masked"),  # no weights are seen
    ),
    mistakes={
        name: formulas if name == "future-tile-is-nan" else _skipping(formulas)
        for name, formulas in MISTAKES.items()
    },
)
