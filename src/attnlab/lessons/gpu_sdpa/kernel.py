"""Attention in tiles on a GPU, in Triton: what lesson 11 does with a loop, in one kernel.

    out = attention(q, k, v, causal=True)      # (B, H, N, d) each, on a GPU

`forward` is the kernel that lesson 13 shows whole and explains; there one of its lines is blank.
The order of the loops is FlashAttention-2's (Dao 2023, section 3.1): a program of the grid owns a
tile of queries and walks over the tiles of keys and values. Scores and weights live in registers,
one tile at a time; memory sees q, k, v and the output alone.

It goes forward only, with no mask but the causal one. Its numbers are checked on a CPU, in Triton's
interpreter (`TRITON_INTERPRET=1`, set before Triton is imported), and it is compiled for NVIDIA's
compute capabilities 8.0, 9.0 and 10.0. On an H100 it was right in float32 and was timed in float16,
see `recorded/`; its numbers in half precision have not been compared there. This times it beside
PyTorch's backends:

    python -m attnlab.bench --device cuda --d 64 128 --causal both

Triton is imported here and nowhere else in the package: the lesson works without it.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from math import e, log2
from typing import Any

import torch
import triton
import triton.language as tl

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DTYPES = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16, torch.float32: tl.float32}
WIDEST = 256  # numbers a head: a wider tile of queries does not fit into a program's registers
NARROWEST = 16  # what the tensor cores multiply
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
def forward(
    q_start, k_start, v_start, out_start, n, m, scale,
    D: tl.constexpr, WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    CAUSAL: tl.constexpr, DOT: tl.constexpr,
):  # fmt: skip
    """Attention of one tile of queries of one head, which is one program's work."""
    # Which work is mine? The grid is (tiles of queries, B * H).
    head = tl.program_id(1).to(tl.int64)  # all B * H * N * d numbers may be more than 2 ** 31
    first = tl.program_id(0) * QUERIES
    queries = first + tl.arange(0, QUERIES)  # (QUERIES,), their places in the sentence
    columns = tl.arange(0, WIDTH)
    inside = columns[None, :] < D

    # Load my queries, once. A number's place is the start, plus D for each row before its own.
    mine = (head * n + queries[:, None]) * D + columns[None, :]
    q = tl.load(q_start + mine, mask=(queries[:, None] < n) & inside, other=0.0).to(DOT)

    # What lesson 11's merge_softmax carries from tile to tile, in float32.
    top = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    out = tl.zeros([QUERIES, WIDTH], tl.float32)

    # Tiles of keys that all my queries see whole come first. Those at the edge need a mask: they
    # are on the diagonal, or reach past the last key. Causal tiles past the diagonal are left out.
    whole = (tl.minimum(first + 1, m) if CAUSAL else m) // KEYS * KEYS
    last = tl.minimum(first + QUERIES, m) if CAUSAL else m
    for EDGE in tl.static_range(2):
        for start in range(whole if EDGE else 0, last if EDGE else whole, KEYS):
            keys = start + tl.arange(0, KEYS)
            there = (keys[:, None] < m) & inside
            theirs = (head * m + keys[:, None]) * D + columns[None, :]
            k = tl.load(k_start + theirs, mask=there, other=0.0).to(DOT)
            v = tl.load(v_start + theirs, mask=there, other=0.0)

            # Scores, (QUERIES, KEYS): a product of two tiles, summed in float32.
            scores = tl.dot(q, k.T, input_precision="ieee") * scale
            if EDGE:
                seen = keys[None, :] < m
                if CAUSAL:
                    seen = seen & (keys[None, :] <= queries[:, None])
                scores = tl.where(seen, scores, float("-inf"))

            new_top = tl.maximum(top, tl.max(scores, axis=1))
            weights = tl.exp2(scores - new_top[:, None])
            shrink = tl.exp2(top - new_top)
            total = total * shrink + tl.sum(weights, axis=1)
            mixed = weights.to(v.dtype).to(DOT)
            out = tl.dot(mixed, v.to(DOT), out * shrink[:, None], input_precision="ieee")
            top = new_top

    # Store my rows of the output: the only line that writes to memory.
    rows = (out / total[:, None]).to(out_start.dtype.element_ty)
    tl.store(out_start + mine, rows, mask=(queries[:, None] < n) & inside)


_tuned = triton.autotune(TILES, key=["n", "m", "D", "CAUSAL"])(forward)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Scaled dot-product attention, one kernel for all of it.

    Args:
        q: (B, H, N, d), float16, bfloat16 or float32; what is not contiguous is copied.
        k, v: (B, H, M, d), same dtype and device.
        causal: whether query i sees keys 0 to i alone.
    Returns:
        (B, H, N, d), dtype as q.
    Raises:
        ValueError: the kernel does not take these; the message says what it takes.
    """
    _check(q, k, v)
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    batch, heads, n, d = q.shape
    m = k.shape[-2]
    out = torch.empty_like(q)
    arguments = q, k, v, out, n, m, log2(e) * d**-0.5
    fixed = {
        "D": d,
        "WIDTH": max(NARROWEST, triton.next_power_of_2(d)),
        "CAUSAL": causal,
        # The interpreter would take bfloat16 for whole numbers; products are exact in float32.
        "DOT": tl.float32 if INTERPRETED else DTYPES[q.dtype],
    }

    def grid(chosen: dict[str, Any]) -> tuple[int, int]:
        return triton.cdiv(n, chosen["QUERIES"]), batch * heads

    on_device: AbstractContextManager[Any] = (
        torch.cuda.device(q.device) if q.is_cuda else nullcontext()
    )
    with on_device:
        if INTERPRETED:
            forward[grid](*arguments, **fixed, **INTERPRETED_TILES)
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
