"""Attention in tiles on a GPU, in Triton: what lesson 11 does with a loop, in one kernel.

    out = attention(q, k, v, causal=True)      # (B, H, N, d) each, on a GPU

Read it top to bottom. The order of the loops is FlashAttention-2's (Dao 2023, section 3.1): a
program of the grid owns a tile of queries and walks over the tiles of keys and values. Scores and
weights live in registers, one tile at a time; memory sees q, k, v and the output, once each.

It goes forward only, with no mask but the causal one. Its numbers were checked on a CPU, in
Triton's interpreter (`TRITON_INTERPRET=1`, set before Triton is imported), and it was compiled for
NVIDIA's compute capabilities 8.0 and 9.0. **It has not been run or timed on a GPU yet.** This times
it beside PyTorch's backends:

    python -m attnlab.bench --device cuda --d 64 128 --causal both

Triton is imported here and nowhere else: the lesson works without it.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from math import log2
from typing import Any

import torch
import triton
import triton.language as tl

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
IN_INTERPRETER = tl.constexpr(INTERPRETED)
DTYPES = (torch.float16, torch.bfloat16, torch.float32)
WIDEST = 256  # numbers a head: a wider tile of queries does not fit into a program's registers
NARROWEST = 16  # what the tensor cores multiply
LOG2_E = log2(2.718281828459045)
# Sizes of tiles, and how each is worked on. Which is fastest depends on GPU, N, d and dtype, so all
# are tried at the first call. More stages: more tiles of keys on their way while one is worked on.
TILES = [
    triton.Config({"QUERIES": 128, "KEYS": 128}, num_warps=8, num_stages=2),
    triton.Config({"QUERIES": 128, "KEYS": 64}, num_warps=8, num_stages=3),
    triton.Config({"QUERIES": 128, "KEYS": 64}, num_warps=4, num_stages=3),
    triton.Config({"QUERIES": 64, "KEYS": 64}, num_warps=4, num_stages=3),
    triton.Config({"QUERIES": 64, "KEYS": 32}, num_warps=4, num_stages=2),
]
INTERPRETED_TILES = {"QUERIES": 32, "KEYS": 16}  # unequal, and small: many tiles for few tokens


@triton.jit
def _load(
    start, rows, columns, row_stride, column_stride, n_rows, D: tl.constexpr, CHECK: tl.constexpr
):
    """A tile of a matrix (n_rows, D), 0 beyond its edges.

    Args:
        start: where the matrix begins.
        rows, columns: (R,) and (C,), which of them.
        row_stride, column_stride: from one to the next.
        CHECK: whether the tile may reach beyond an edge.
    Returns:
        (R, C).
    """
    at = start + rows[:, None] * row_stride + columns[None, :] * column_stride
    if CHECK:
        return tl.load(at, mask=(rows[:, None] < n_rows) & (columns[None, :] < D), other=0.0)
    return tl.load(at)


@triton.jit
def _product(a, b, into):
    """a @ b + into, summed in float32: (R, S), (S, C), (R, C)."""
    if IN_INTERPRETER:  # it would take bfloat16 for whole numbers; products are exact in float32
        a, b = a.to(tl.float32), b.to(tl.float32)
    return tl.dot(a, b, into, input_precision="ieee")


@triton.jit
def _attend(
    q, top, total, out,
    k_start, v_start, k_strides, v_strides,
    first, last, queries, m, scale,
    D: tl.constexpr, WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    CAUSAL: tl.constexpr, EDGE: tl.constexpr,
):  # fmt: skip
    """Let a tile of queries attend to the keys from `first` up to `last`, a tile at a time.

    Args:
        q: (QUERIES, WIDTH), the tile of queries.
        top, total, out: (QUERIES,), (QUERIES,), (QUERIES, WIDTH), float32: of the keys so far the
            largest score, the sum of the weights, and the values by their weights.
        queries: (QUERIES,), the positions of the queries.
        EDGE: whether some of these keys are hidden, or not there.
    Returns:
        top, total and out with these keys as well.
    """
    columns = tl.arange(0, WIDTH)
    for start in range(first, last, KEYS):
        keys = start + tl.arange(0, KEYS)
        k = _load(k_start, keys, columns, k_strides[2], k_strides[3], m, D, EDGE or D < WIDTH)
        scores = _product(q, k.T, tl.zeros([QUERIES, KEYS], dtype=tl.float32))
        if EDGE:
            seen = keys[None, :] < m
            if CAUSAL:
                seen = seen & (keys[None, :] <= queries[:, None])
            scores = tl.where(seen, scores, float("-inf"))

        # The softmax in one pass: what was summed with an old maximum is shrunk to the new one.
        # The key at 0 is in the first tile and seen by all, so that no maximum stays at -inf.
        new_top = tl.maximum(top, tl.max(scores, axis=1) * scale)  # (QUERIES,)
        weights = tl.exp2(scores * scale - new_top[:, None])  # (QUERIES, KEYS), at most 1
        shrink = tl.exp2(top - new_top)  # (QUERIES,); 0 for the first tile
        top = new_top
        total = total * shrink + tl.sum(weights, axis=1)

        v = _load(v_start, keys, columns, v_strides[2], v_strides[3], m, D, EDGE or D < WIDTH)
        out = _product(weights.to(v.dtype), v, out * shrink[:, None])  # (QUERIES, WIDTH)
    return top, total, out


@triton.jit
def _forward(
    q_start, k_start, v_start, out_start,
    q_strides, k_strides, v_strides, out_strides,
    heads, n, m, scale,
    D: tl.constexpr, WIDTH: tl.constexpr, CAUSAL: tl.constexpr,
    QUERIES: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    """One program: one tile of queries of one head.

    Args:
        q_start, out_start: (B, H, n, D), wherever their strides say.
        k_start, v_start: (B, H, m, D).
        scale: what scores are multiplied by, and log2(e): e^x is 2^(x · log2(e)), and a GPU has an
            instruction for powers of 2.
        WIDTH: D, or the next power of 2: a tile's sides are powers of 2.
        QUERIES, KEYS: in a tile.
    """
    # Causal tiles at the end have the most keys to walk over: they begin first, and short ones
    # fill the gaps at the end.
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    batch = (tl.program_id(1) // heads).to(tl.int64)  # B · H · N · d may be more than 2³¹
    head = (tl.program_id(1) % heads).to(tl.int64)
    q_start += batch * q_strides[0] + head * q_strides[1]
    k_start += batch * k_strides[0] + head * k_strides[1]
    v_start += batch * v_strides[0] + head * v_strides[1]
    out_start += batch * out_strides[0] + head * out_strides[1]

    begin = tile * QUERIES
    queries = begin + tl.arange(0, QUERIES)
    columns = tl.arange(0, WIDTH)
    q = _load(q_start, queries, columns, q_strides[2], q_strides[3], n, D, True)

    top = tl.full([QUERIES], float("-inf"), dtype=tl.float32)
    total = tl.zeros([QUERIES], dtype=tl.float32)
    out = tl.zeros([QUERIES, WIDTH], dtype=tl.float32)

    # Most tiles of keys are seen whole and need no mask. Those at the edge come last: on the
    # diagonal, or reaching beyond key m. Causal tiles past the diagonal are never begun.
    if CAUSAL:
        whole = tl.minimum(begin + 1, m) // KEYS * KEYS
        last = tl.minimum(begin + QUERIES, m)
    else:
        whole = m // KEYS * KEYS
        last = m
    top, total, out = _attend(
        q, top, total, out, k_start, v_start, k_strides, v_strides,
        0, whole, queries, m, scale, D, WIDTH, QUERIES, KEYS, CAUSAL, False,
    )  # fmt: skip
    top, total, out = _attend(
        q, top, total, out, k_start, v_start, k_strides, v_strides,
        whole, last, queries, m, scale, D, WIDTH, QUERIES, KEYS, CAUSAL, True,
    )  # fmt: skip

    at = out_start + queries[:, None] * out_strides[2] + columns[None, :] * out_strides[3]
    inside = (queries[:, None] < n) & (columns[None, :] < D)
    tl.store(at, (out / total[:, None]).to(out_start.dtype.element_ty), mask=inside)


_tuned = triton.autotune(TILES, key=["n", "m", "D", "CAUSAL"])(_forward)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Scaled dot-product attention, one kernel for all of it.

    Args:
        q: (B, H, N, d), float16, bfloat16 or float32, in any memory layout.
        k, v: (B, H, M, d), same dtype and device.
        causal: whether query i sees keys 0 to i alone.
    Returns:
        (B, H, N, d), dtype as q.
    Raises:
        ValueError: the kernel does not take these; the message says what it takes.
    """
    _check(q, k, v)
    batch, heads, n, d = q.shape
    m = k.shape[-2]
    out = torch.empty_like(q)
    arguments = (
        *(q, k, v, out),
        *(each.stride() for each in (q, k, v, out)),
        *(heads, n, m, LOG2_E * d**-0.5),
    )
    fixed = {"D": d, "WIDTH": max(NARROWEST, triton.next_power_of_2(d)), "CAUSAL": causal}

    def grid(chosen: dict[str, Any]) -> tuple[int, int]:
        return triton.cdiv(n, chosen["QUERIES"]), batch * heads

    on_device: AbstractContextManager[Any] = (
        torch.cuda.device(q.device) if q.is_cuda else nullcontext()
    )
    with on_device:
        if INTERPRETED:
            _forward[grid](*arguments, **fixed, **INTERPRETED_TILES)
        else:
            _tuned[grid](*arguments, **fixed)
    return out


def _check(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
    """Refuse what the kernel would read wrongly.

    Raises:
        ValueError: with what is wrong, and what it takes.
    """
    shapes = ", ".join(str(tuple(each.shape)) for each in (q, k, v))
    if any(each.dim() != 4 for each in (q, k, v)):
        raise ValueError(f"q, k and v are (B, H, N, d), four axes each; these are {shapes}")
    if k.shape != v.shape or q.shape[:2] != k.shape[:2] or q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"q is (B, H, N, d), k and v are (B, H, M, d), with the same B, H and d; "
            f"these are {shapes}"
        )
    if 0 in (*q.shape, *k.shape):
        raise ValueError(f"an axis is empty: {shapes}")
    if q.shape[-1] > WIDEST:
        raise ValueError(f"d is {q.shape[-1]}, and the kernel takes at most {WIDEST}")
    if not q.dtype == k.dtype == v.dtype or q.dtype not in DTYPES:
        raise ValueError(
            f"q, k and v are {q.dtype}, {k.dtype} and {v.dtype}; the kernel takes float16, "
            "bfloat16 or float32, the same for all"
        )
    if not q.device == k.device == v.device:
        raise ValueError(f"q, k and v are on {q.device}, {k.device} and {v.device}, not on one")
    if not q.is_cuda and not INTERPRETED:
        raise ValueError(
            f"q, k and v are on {q.device}, and the kernel runs on a GPU. To read along on a CPU, "
            "set TRITON_INTERPRET=1 before Python starts"
        )
    if torch.is_grad_enabled() and any(each.requires_grad for each in (q, k, v)):
        raise ValueError(
            "the kernel goes forward only, and an input requires gradients; call it under "
            "torch.no_grad()"
        )
