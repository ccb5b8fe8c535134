"""What lesson 11 says, and what would refute it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.bench.held import held_by
from attnlab.lessons.pytorch.watch import kept
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
)
def pytorch_counts_the_same_flops_at_once_and_in_tiles() -> None:
    for n, d in ((60, 8), (120, 8), (60, 16)):
        q, k, v = torch.randn(3, n, d)
        flops, score_bytes, io_bytes = here.attention_cost(n, d, 4)
        assert here.flops_of(here.attend, q, k, v) == flops == 4 * n * n * d
        assert here.flops_of(here.tiled_attention, q, k, v, 7) == flops
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
    "Nothing is approximated, and what is held is one tile and a few numbers a query.",
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
    "A window or features save work, and give up far looks or sharp ones.",
    "Softmax gives the book that is asked for 0.44, about twenty times its even share; linear attention gives it 0.03, one and a half times that share.",
)
def a_window_misses_far_books_and_linear_attention_finds_none(seed: int) -> None:
    """All keys are moved away from each other: softmax gains by it, linear attention hardly."""
    torch.manual_seed(seed)
    keys = torch.randn(50, 16, dtype=torch.float64)
    pages = torch.eye(50, dtype=torch.float64)
    shares = {}
    for size in (1.0, 3.0):
        k = size * keys
        shares[size] = [
            out.diagonal().mean()
            for out in (here.attend(k, k, pages)[0], _open_linear(k, k, pages))
        ]
    assert 15 / 50 < shares[1.0][0] < 25 / 50
    assert 1.2 / 50 < shares[1.0][1] < 1.6 / 50
    assert shares[3.0][0] > 0.9
    assert shares[3.0][1] < 4 / 50

    short, long = (here.flops_of(here.linear_attention, *qkv(seed, n)) for n in (60, 120))
    assert long == 2 * short

    far, near = keys.clone(), keys.clone()
    far[-1], near[-1] = 3 * keys[0], 3 * keys[40]
    window = here.sliding_window_mask(50, 16)
    for k, book, found in ((far, 0, False), (near, 40, True)):
        assert bool(here.attend(k, k, pages, window)[1][-1, book] > 0) == found


def _open_linear(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The last row of the lesson's causal function sees all keys; so each query is put last."""
    rows = [
        here.linear_attention(torch.cat([k[:-1], q[i : i + 1]]), k, v)[-1] for i in range(len(q))
    ]
    return torch.stack(rows)


@lesson.says(
    "For these queries the error is larger than the output at r = 16, nearly as large at 1,024, and still about a third at 65,536.",
    "In the limit it is softmax attention.",
)
def random_features_need_tens_of_thousands(seed: int) -> None:
    q, k, v = qkv(seed, n=50)
    exact = here.attend(q, k, v)[0]
    q, k = q / 2, k / 2
    errors = []
    for r in (16, 1024, 65536):
        found = []
        for _ in range(3):
            omega = torch.randn(16, r, dtype=torch.float64)
            pq, pk = ((x @ omega - (x**2).sum(-1, keepdim=True) / 2).exp() for x in (q, k))
            out = (pq @ (pk.mT @ v)) / (pq @ pk.sum(dim=0)[:, None])
            found.append((out - exact).abs().mean() / exact.abs().mean())
        errors.append(torch.stack(found).mean().item())
    assert errors[0] > 1
    assert 0.5 < errors[1] < 1
    assert 0.15 < errors[2] < 0.45


@lesson.says(
    "A mask alone saves nothing: `attend` computes every score and throws most away.",
    "That is N · w pairs at most.",
)
def a_mask_saves_no_flops_and_leaves_at_most_n_times_w_pairs(seed: int) -> None:
    q, k, v = qkv(seed)
    window = here.sliding_window_mask(60, 8)
    plain = here.flops_of(here.attend, q, k, v)
    assert here.flops_of(here.attend, q, k, v, window) == plain
    assert window.sum() == 60 * 8 - sum(range(8))


@lesson.says(
    "With a window, *alike* no longer sees *Happy* in one look.",
    "Layers hand things on, w − 1 tokens each;",
    "With a global token two layers are enough",
)
def a_word_reaches_w_minus_1_further_with_each_layer(seed: int) -> None:
    """The first word is changed; which rows notice, layer by layer."""
    q, _, _ = qkv(seed, n=20)
    changed = q.clone()
    changed[0] += 1
    window = here.sliding_window_mask(20, 4)
    for layer in range(1, 5):
        q, changed = (here.attend(x, x, x, window)[0] for x in (q, changed))
        notice = ((q - changed).abs().amax(dim=-1) > 0).nonzero().flatten().tolist()
        assert notice == list(range(3 * layer + 1))

    one = (window | window.T).double()
    assert not (one @ one > 0).all()
    one[0] = one[:, 0] = 1  # the first token is global
    assert (one @ one > 0).all()


@lesson.says(
    "Without a cache, each step makes the keys and values of *all* words again, though they never change: word 3 does not see word 9.",
    "Decoding keeps keys and values; its price is bytes per token, and sharing heads lowers it.",
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

    q = torch.randn(8, 10, 4)
    for groups in (8, 2):
        cache = here.KVCache()
        k, v = cache.append(*torch.randn(2, groups, 10, 4))
        assert k.nbytes + v.nbytes == 2 * groups * 4 * 4 * 10
        repeated = (each.repeat_interleave(8 // groups, dim=0) for each in (k, v))
        shared = F.scaled_dot_product_attention(q[None], k[None], v[None], enable_gqa=True)[0]
        assert torch.allclose(here.attend(q, *repeated)[0], shared, atol=1e-5)
