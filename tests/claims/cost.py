"""What lesson 11 says, and what would refute it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from timeit import repeat
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.bench.held import held_by
from attnlab.lessons.pytorch.watch import kept
from attnlab.one_run import one_thread
from tests.claims import Lesson, taught

lesson = Lesson("11-cost")
here = taught("11-cost")

Part = tuple[Tensor, Tensor, Tensor]


def qkv(seed: int, n: int = 60, width: int = 16) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(seed)
    q, k, v = torch.randn(3, n, width, dtype=torch.float64)
    return q, k, v


def part(scores: Tensor, values: Tensor) -> Part:
    m = scores.max()
    powers = (scores - m).exp()
    return m, powers.sum(), powers @ values


def close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a, b, rtol=0, atol=1e-12)


@lesson.says(
    "Attention computes 4N²d flops and forms N² scores; what goes in and out is 4Nd.",
    "Yes. Every score is still computed; each is forgotten at once.",
    "With many tiles this saves almost half of the work.",
    "Without a causal mask tiles save no flops (prediction 1: B)",
)
def pytorch_counts_the_same_flops_at_once_and_in_tiles() -> None:
    for n, d in ((60, 8), (120, 8), (60, 16)):
        q, k, v = torch.randn(3, n, d)
        flops, score_bytes, io_bytes = here.attention_cost(n, d, 4)
        assert here.flops_of(here.attend, q, k, v) == flops == 4 * n * n * d
        assert here.flops_of(here.tiled_attention, q, k, v, 7) == flops
        saved = [1 - here.flops_of(here.tiled_attention, q, k, v, b, True) / flops for b in (n, 3)]
        assert saved[0] == 0 < 0.45 < saved[1] < 0.5
        out, weights = here.attend(q, k, v)
        assert weights.nbytes == score_bytes
        assert sum(each.nbytes for each in (q, k, v, out)) == io_bytes


@lesson.says(
    "(m, s, o) sum up any part of a softmax, and two parts merge exactly.",
    "So test with scores that rise and fall from tile to tile.",
)
def parts_merge_in_any_cut_and_order_and_need_their_factor(seed: int) -> None:
    torch.manual_seed(seed)
    scores, values = 3 * torch.randn(20).double(), torch.randn(20, 4).double()
    wanted = scores.softmax(dim=0) @ values

    def merged(merge: Callable[..., Part], order: Tensor, cut: int) -> Tensor:
        first, second = order[:cut], order[cut:]
        _, s, o = merge(*part(scores[first], values[first]), *part(scores[second], values[second]))
        return o / s

    for cut in (1, 10, 19):
        assert close(merged(here.merge_softmax, torch.randperm(20), cut), wanted)
    falling = scores.argsort(descending=True)
    assert not close(merged(here.forgetful, falling.flip(0), 10), wanted)
    scores[:] = 1.0
    assert close(merged(here.forgetful, falling, 10), values.mean(dim=0))


@lesson.says(
    "Not this one: it counts as a score of 0, and far lower ones beside it are rounded away.",
    "Yes. It loses every comparison, and its factor is 0.",
)
def an_empty_part_that_begins_at_0_rounds_low_scores_away(seed: int) -> None:
    torch.manual_seed(seed)
    scores, values = torch.randn(5).double() - 1000, torch.randn(5, 3).double()
    zero = torch.zeros(()).double()
    for m, right in ((zero - math.inf, True), (zero, False)):
        _, s, o = here.merge_softmax(m, zero, torch.zeros(3).double(), *part(scores, values))
        assert close(o / s, scores.softmax(dim=0) @ values) == right


def filled(q: Tensor, k: Tensor, v: Tensor, block: int = 16) -> Tensor:
    """Tiles whose rows go into an output that is there from the start."""
    out = torch.empty_like(v)
    for i in range(0, q.shape[-2], block):
        asking = q[..., i : i + block, :]
        nothing = torch.zeros_like(asking[..., 0])
        so_far = nothing - math.inf, nothing, nothing[..., None]
        for j in range(0, k.shape[-2], block):
            scores = asking @ k[..., j : j + block, :].mT / q.shape[-1] ** 0.5
            m = scores.amax(dim=-1)
            powers = (scores - m[..., None]).exp()
            new = m, powers.sum(dim=-1), powers @ v[..., j : j + block, :]
            so_far = here.merge_softmax(*so_far, *new)
        out[..., i : i + block, :] = so_far[2] / so_far[1][..., None]
    return out


@lesson.says(
    "All at once, in float32 and without a mask, a token costs about 8 bytes for each other token: N² (12 bytes with a causal mask).",
    "In tiles it costs no more in a longer text, so twice the tokens take twice the memory.",
    "Ours takes 145 to 132 bytes a token, because it collects its rows in a list and then joins them.",
    "Written into an output that is there from the start, they take 94 to 72.",
)
def what_tiles_hold_for_a_token_falls_to_what_their_rows_take() -> None:
    """Bytes at 256 and 512 tokens give a line in 1/N, and that gives those at 1,024."""
    for way, held, rest in (
        (here.in_tiles, (145, 132), 2 * 64),  # rows in the list, and joined
        (filled, (94, 72), 64),
    ):
        short, long = (here.bytes_a_token(way, n) for n in (256, 512))
        assert 2 * long - short == pytest.approx(rest)
        assert (round(short), round(rest + (long - rest) / 2)) == held
    for n in (256, 512):
        assert here.bytes_a_token(lambda *qkv: here.attend(*qkv)[0], n) == pytest.approx(8 * n + 64)
        causal = torch.ones(n, n, dtype=torch.bool).tril()
        masked = here.bytes_a_token(lambda *qkv, mask=causal: here.attend(*qkv, mask)[0], n)
        assert masked == pytest.approx(12 * n, rel=0.01)


class Recomputed(torch.autograd.Function):
    """FlashAttention's way back: it keeps no weights, and computes them once more.

    Tiles of queries alone, for brevity.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, block: int) -> Tensor:
        outs, logs = [], []
        for tile in q.split(block, dim=-2):
            scores = tile @ k.mT / q.shape[-1] ** 0.5
            logs.append(scores.logsumexp(dim=-1, keepdim=True))  # L
            outs.append((scores - logs[-1]).exp() @ v)
        out, log_sums = torch.cat(outs, dim=-2), torch.cat(logs, dim=-2)
        ctx.save_for_backward(q, k, v, out, log_sums)
        ctx.block = block
        return out

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, out, log_sums = ctx.saved_tensors
        scale, dk, dv, dq = q.shape[-1] ** -0.5, torch.zeros_like(k), torch.zeros_like(v), []
        for tile, o, log_sum, do in zip(
            *(part.split(ctx.block, dim=-2) for part in (q, out, log_sums, *slopes)), strict=True
        ):
            p = (tile @ k.mT * scale - log_sum).exp()  # the weights, once more
            ds = p * (do @ v.mT - (do * o).sum(dim=-1, keepdim=True)) * scale
            dv += p.mT @ do
            dk += ds.mT @ tile
            dq.append(ds @ k)
        return torch.cat(dq, dim=-2), dk, dv, None


@lesson.says(
    "In tiles, exact attention holds memory that grows as N; backward computes again what it did not keep.",
    "Nothing is approximated, and you hold one tile and a few numbers a query.",
    "In training, autograd keeps each tile's powers for the way back: N² again.",
    "More flops, less memory.",
)
def tiles_hold_n_and_autograd_keeps_n_squared_unless_it_computes_again(seed: int) -> None:
    q, k, v = qkv(seed)
    for causal in (False, True):
        wanted = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        assert close(here.tiled_attention(q, k, v, 7, causal), wanted)
    small = [each[:7, :3].clone().requires_grad_() for each in (q, k, v)]
    assert torch.autograd.gradcheck(lambda *qkv: Recomputed.apply(*qkv, 3), small)

    def tiles(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        out: Tensor = here.tiled_attention(q, k, v, 32)
        return out

    def again(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        out: Tensor = Recomputed.apply(q, k, v, 32)
        return out

    held, saved = {}, {}
    for n in (256, 512):
        inputs = torch.randn(3, n, 16)
        learning = [each.clone().requires_grad_() for each in inputs]
        held[n] = [held_by(partial(way, *inputs)) for way in (here.attend, tiles)]
        saved[n] = [kept(way, *learning) for way in (tiles, again)]
    assert held[512][0] / held[256][0] > 3.9
    assert held[512][1] / held[256][1] < 2.1
    assert saved[512][0] / saved[256][0] > 3.5
    assert saved[512][1] / saved[256][1] == 2

    def there_and_back(way: Callable[..., Tensor]) -> int:
        flops: int = here.flops_of(lambda: way(*learning).sum().backward())
        return flops

    assert there_and_back(again) > there_and_back(lambda *qkv: here.attend(*qkv)[0])


@lesson.says(
    "Without a cache, each step makes the keys and values of *all* words again, though they never change: word 3 does not see word 9, and keeps its place.",
    "A causal decoder may keep keys and values: a step takes 4Nd flops, and the whole text anew 4N²d.",
)
def keys_of_two_layers_stay_as_they_are_only_if_nobody_looks_ahead(seed: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(9, 6, dtype=torch.float64)
    W = torch.randn(2, 3, 6, 6, dtype=torch.float64)
    for causal in (True, False):
        kept_keys = []
        for n in (8, 9):
            mask = torch.ones(n, n, dtype=torch.bool).tril() if causal else None
            first, _ = here.attend(*(x[:n] @ each for each in W[0]), mask)
            kept_keys.append((first @ W[1, 1])[:8])
        assert close(*kept_keys) == causal

    places = torch.randn(9, 6, dtype=torch.float64)  # a window that moves gives words other places
    assert not close((x + places)[1:] @ W[0, 1], (x[1:] + places[:-1]) @ W[0, 1])
    q, k, v = torch.randn(3, 1, 60, 8)
    assert here.flops_of(here.attend, q[:, -1:], k, v) == 4 * 60 * 8
    assert here.flops_of(here.attend, q, k, v) == 4 * 60 * 60 * 8


@lesson.says(
    "A cache costs a key and a value for each token, in each layer and each head of keys and values.",
    "In half precision that is 2 · 32 · 32 · 128 · 2 bytes: half a mebibyte for every token, and 2 GiB for 4,096 of them.",
)
def a_cache_grows_by_a_key_and_a_value_for_each_token_of_each_head(seed: int) -> None:
    torch.manual_seed(seed)
    for heads in (8, 2):
        cache = here.KVCache()
        for tokens in (5, 6, 7):
            k, v = cache.append(*torch.randn(2, heads, 5 if tokens == 5 else 1, 4))
            assert k.nbytes + v.nbytes == 2 * heads * 4 * 4 * tokens
    a_token = 2 * 32 * 32 * 128 * 2
    assert a_token == 2**20 / 2
    assert 4096 * a_token == 2 * 2**30


@lesson.says(
    "From 128 or 256 on **your own tiles beat naive attention** at this length, three to four times "
    "on our machine, with the same flops.",
    "One tile of 4,096 is slow again.",
    "Naive attention that reuses its tables comes near your best tiles.",
    "So the new memory was slow, and not the arithmetic.",
    "With wider heads there is more arithmetic, and less to gain.",
    long=True,
)
def tiles_are_faster_than_naive_attention_unless_its_tables_are_kept() -> None:
    """Ratios of the shortest of some runs, at two widths of heads."""
    old = torch.empty(2, 4096, 4096)

    def into_old(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        torch.mm(q, k.mT, out=old[0])
        torch.softmax(old[0].div_(q.shape[-1] ** 0.5), dim=-1, out=old[1])
        return old[1] @ v

    def gained(d: int) -> float:
        qkv = torch.randn(3, 4096, d)

        def seconds(way: Callable[..., object], *more: int) -> float:
            return min(repeat(partial(way, *qkv, *more), number=1, repeat=5))

        assert torch.allclose(into_old(*qkv), here.tiled_attention(*qkv, 256), atol=1e-5)
        with one_thread():
            naive, kept_tables = seconds(here.attend), seconds(into_old)
            tiles = {b: seconds(here.tiled_attention, b) for b in (32, 256, 1024, 4096)}
        best = min(tiles[256], tiles[1024])
        assert best < naive < tiles[32], (naive, tiles)
        assert tiles[4096] > 1.5 * best, tiles
        assert kept_tables < 1.4 * best, (kept_tables, tiles)
        return naive / best

    narrow, wide = gained(16), gained(128)
    assert narrow > 2 > wide > 1, (narrow, wide)
