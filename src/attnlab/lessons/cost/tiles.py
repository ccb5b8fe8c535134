"""Attention in tiles, which never holds all scores: the exercise `tiled_attention`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.edits import Way, edited, edits
from attnlab.checks.exercise import (
    Case,
    Claim,
    Exercise,
    Procedure,
    Slot,
    promises,
)
from attnlab.checks.inputs import FAR, sizes

Generator = np.random.Generator
Tensor = torch.Tensor
INFINITY = float("inf")
Tiles = list[range]
TILES = 12  # of queries and of keys, where memory is counted: time goes by their square


def _behind(rows: range, columns: range) -> Tensor:
    """How far each key lies behind each query."""
    return torch.tensor(rows)[:, None] - torch.tensor(columns)


def _parts(q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False) -> Parts:
    future = _behind(range(q.shape[-2]), range(k.shape[-2])) < 0
    return Parts(q, k, v, blocked=future if causal else None)


ATTENTION = Attention(_parts, lambda out, weights, *args, **kwargs: out)


# Tile by tile, which mistakes are edits of --------------------------------------------------------


def _cut(length: int, block: int, first: int = 0) -> Tiles:
    return [range(at, min(at + block, length)) for at in range(first, length, block)]


def _whole(length: int, block: int) -> Tiles:
    return [tile for tile in _cut(length, block) if len(tile) == block]


def _but_the_last(length: int, block: int) -> Tiles:
    return _cut(length, block)[:-1]


def _of(tensor: Tensor, tile: range) -> Tensor:
    return tensor[..., tile.start : tile.stop, :]


def _highest(scores: Tensor) -> Tensor:
    return scores.amax(-1, keepdim=True)


def _share(old: Tensor, new: Tensor) -> Tensor:
    """e to the old maximum minus the new one; 0 for what is empty."""
    return torch.where(old == -INFINITY, 0.0, (old - new).exp())


def _grown(old: Tensor, new: Tensor) -> Tensor:
    empty = old == -INFINITY  # whose power is infinite, and so has no slope
    return torch.where(empty, 0.0, (new - torch.where(empty, new, old)).exp())


def _own_or_nan(scores: Tensor, m: Tensor) -> Tensor:
    """As where a tile is measured against its own maximum first, and then merged."""
    return torch.where(_highest(scores) == -INFINITY, -INFINITY, m)


def _none(rows: range, columns: range) -> bool:
    return False


def _in_the_future(rows: range, columns: range) -> bool:
    return columns.start >= rows.stop


def _tiled(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Tensor:
    n, m = q.shape[-2], k.shape[-2]
    out = q.new_zeros(*q.shape[:-1], v.shape[-1])
    for i in _cut(n, block):
        top = q.new_full((*q.shape[:-2], len(i), 1), -INFINITY)
        s, o = torch.zeros_like(top), torch.zeros_like(top)
        for j in _cut(m, block):
            if causal and _none(i, j):
                continue
            scores = _of(q, i) @ _of(k, j).mT * q.shape[-1] ** -0.5
            if causal:
                scores = scores.masked_fill(_behind(i, j) < 0, -INFINITY)
            new = torch.maximum(top, _highest(scores))
            factor, powers = _share(top, new), (scores - new).exp()
            s = s * factor + powers.sum(-1, keepdim=True)
            o = o * factor + powers @ _of(v, j)
            top = new
        out[..., i.start : i.stop, :] = o / s
    return out


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


def _block(rng: Generator, at: Mapping[str, Any]) -> int:
    """Two to four, and two tiles or more of queries and of keys where there are three."""
    return int(rng.integers(2, max(3, min(5, at["n"], at["m"]))))


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


TOP = "torch.maximum(top, _highest(scores))"
OWN = "scores - new -> scores - _own_or_nan(scores, new)"
SKIPPING = "; _none(i, j) -> _in_the_future(i, j)"
MISTAKES: dict[str, Way | tuple[Way, ...]] = {
    # in memory, the largest first
    "whole-matrix-held": _holding(lambda b, n, block: b * n * n),
    "whole-mask-held": _holding(lambda b, n, block: n * n),
    "one-side-cut": _holding(lambda b, n, block: b * block * n),
    "tiles-kept": _holding(lambda b, n, block: 0),
    # in the sums
    "half-rescaled": ("s * factor -> s", "o * factor -> o"),
    "half-kept": ("s * factor -> s * 0", "o * factor -> o * 0"),
    "rescaled-too-late": (
        "s * factor -> s; top = new -> top, s = new, s * factor",
        "o * factor -> o; top = new -> top, o = new, o * factor",
        "s * factor -> s; o * factor -> o; top = new -> top, s, o = new, s * factor, o * factor",
    ),
    "not-rescaled": (
        "_share(top, new) -> 1",
        "_share(top, new) -> 1; scores - new -> scores - _highest(scores)",
    ),
    "tile-measured-against-itself": "scores - new -> scores - _highest(scores)",
    "tile-not-measured": "scores - new -> scores",
    "rescaled-the-wrong-way": "_share(top, new) -> _grown(top, new)",
    "divided-too-soon": (
        "top = new -> top, o = new, o / s; = o / s\n -> = o\n",
        "top = new -> top, o = new, o / s",
    ),
    "not-normalised": "o / s -> o",
    "not-each-rows-sum": (
        "powers.sum( -> powers.mean(",
        "powers.sum( -> powers.amax(",
        "powers.sum(-1, keepdim=True) -> powers.sum()",
        "o / s -> o / s.sum(-2, keepdim=True)",
    ),
    "epsilon-added": tuple(f"o / s -> o / (s + {more})" for more in (1e-5, 1e-6, 1e-7, 1e-8)),
    "softmax-by-tile": (
        *(_softmax_by_tile, _mean_of_tiles),
        "scores - new -> scores - scores.logsumexp(-1, keepdim=True)",
    ),
    "maximum-of-one-tile": (
        f"{TOP} -> torch.where(top == -INFINITY, _highest(scores), top)",
        f"{TOP} -> _highest(scores)",
    ),
    "not-the-maximum-subtracted": (
        "_highest(scores) -> scores.amin(-1, keepdim=True)",
        "_highest(scores) -> scores.mean(-1, keepdim=True)",
    ),
    "one-maximum-for-all-rows": "_highest(scores) -> scores.amax((-2, -1), keepdim=True)",
    # at the edges
    "one-tile-only": (
        "_cut(m, block) -> _cut(m, block)[:1]",
        "_cut(m, block) -> _cut(m, block)[-1:]",
        "_share(top, new) -> 0",
    ),
    "first-left-out": (
        "_cut(m, block) -> _cut(m, block)[1:]",
        "_cut(m, block) -> _cut(m, block, 1)",
    ),
    "tiles-overlap": "_cut(m, block) -> [range(at, min(at + block, m)) for at in range(m)]",
    "keys-up-to-n": edited(  # where an empty tile has no maximum
        _tiled,
        "_cut(m, block) -> [range(j.start, min(j.start + block, m)) for j in _cut(n, block)]",
    ),
    "rest-left-out": tuple(
        f"_cut(n, block) -> {rows}(n, block); _cut(m, block) -> {columns}(m, block)"
        for rows in ("_cut", "_whole", "_but_the_last")
        for columns in ("_cut", "_whole", "_but_the_last")
        if not rows == columns == "_cut"
    ),
    "padding-attended": _padded,
    "scale-by-block": "q.shape[-1] ** -0.5 -> block**-0.5",
    # where it is causal, or is not
    "causal-unasked": (
        lambda q, k, v, block, causal=False: ATTENTION.oracle(q, k, v, block, True),
        lambda q, k, v, block, causal=True: ATTENTION.oracle(q, k, v, block, causal),
        lambda q, k, v, block, causal=False: ATTENTION.oracle(q, k, v, block, not causal),
        edited(_tiled, "causal and _none(i, j) -> _in_the_future(i, j)"),
    ),
    "mask-in-each-tile": tuple(
        f"_behind(i, j) -> _behind({places}){skipping}"
        for places in ("range(len(i)), range(len(j))", "range(len(i)), j", "i, range(len(j))")
        for skipping in ("", SKIPPING)
    ),
    "no-triangle-inside": f"_behind(i, j) < 0 -> torch.tensor(False){SKIPPING}",
    "mask-of-the-first-query": "_behind(i, j) < 0 -> torch.tensor(j) > i.start",
    "future-tile-is-nan": (
        edited(_tiled, OWN),
        edited(_tiled, f"{OWN}; _none(i, j) -> j.start > i.stop"),
    ),
    "mask-with-zero": "0, -INFINITY -> 0, 0.0",
    "mask-with-small-number": tuple(
        f"0, -INFINITY -> 0, {low}{skipping}"
        for low in (-10.0, -20.0, -50.0, -100.0, -1e3, -1e4)
        for skipping in ("", SKIPPING)
    ),
    "diagonal-tile-skipped": (
        "_none(i, j) -> j.start >= i.start",
        "_none(i, j) -> j.stop - 1 > i.start",
    ),
    "past-tiles-skipped": (
        "_none(i, j) -> j.start < i.start",
        "_none(i, j) -> j.stop <= i.start",
        "_none(i, j) -> i.start > 0",
    ),
    "mask-off-by-one": (
        "(i, j) < 0 -> (i, j) < -1",
        "(i, j) < 0 -> (i, j) <= 0",
        f"(i, j) < 0 -> (i, j) <= 0; {OWN}",
    ),
    "mask-bottom-right": "(i, j) < 0 -> (i, j) < n - m",
    "mask-transposed": ("(i, j) < 0 -> (i, j) > 0", f"(i, j) < 0 -> (i, j) > 0; {OWN}"),
    "mask-inverted": ("(i, j) < 0 -> (i, j) >= 0", f"(i, j) < 0 -> (i, j) >= 0; {OWN}"),
}


def _skipping(ways: Way | tuple[Way, ...]) -> tuple[Way, ...]:
    """A mistake's edits, and the same where tiles in the future are left out, as most do."""
    each = ways if isinstance(ways, tuple) else (ways,)
    more = (f"{way}{SKIPPING}" for way in each if isinstance(way, str) and "_none" not in way)
    return tuple(dict.fromkeys((*each, *more)))


TILED_ATTENTION = Exercise(
    name="tiled_attention",
    signature="(q, k, v, block_size, causal=False) -> out",
    axes=("… n k", "… m k", "… m v", "block", "?"),
    drawn={"block_size": _block},
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
    mistakes=edits(_tiled, {slug: _skipping(ways) for slug, ways in MISTAKES.items()}),
)
