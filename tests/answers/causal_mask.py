"""Answers to lesson 06, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from . import Lesson

lesson = Lesson("06-causal-mask")
wrong, right = lesson.wrong, lesson.right


# causal_mask ---------------------------------------------------------------------------------


@wrong("causal_mask", "mask-inverted")
def true_is_attend(n, device=None):
    return torch.tril(torch.ones(n, n, device=device)).bool()


@wrong("causal_mask", "mask-transposed")
def blocks_the_past(n, device=None):
    return torch.tril(torch.ones(n, n, device=device), diagonal=-1).bool()


@right("causal_mask")
def triu(n, device=None):
    return torch.triu(torch.ones(n, n, device=device), diagonal=1).bool()


lesson.edits(
    triu,
    "wrong-device | forgets_the_device | , device=device -> ",
)


@right("causal_mask")
def compares_positions(n, device=None):
    i = torch.arange(n, device=device)
    return i[None, :] > i[:, None]


@right("causal_mask")
def from_lists(n, device=None):
    return torch.tensor([[j > i for j in range(n)] for i in range(n)], device=device)


@right("causal_mask")
def by_indices(n, device=None):
    mask = torch.zeros(n, n, dtype=torch.bool, device=device)
    rows, columns = torch.triu_indices(n, n, offset=1)
    mask[rows, columns] = True
    return mask


@right("causal_mask")
def running_sum(n, device=None):
    return torch.eye(n, device=device).cumsum(0) == 0


lesson.edits(
    running_sum,
    "wrong-shape | pairs_of_indices | eye(n, device=device).cumsum(0) == 0 -> triu_indices(n, n, "
    "1).bool()",
)


# attention -----------------------------------------------------------------------------------


def future(x):
    n = x.shape[-2]
    return torch.triu(torch.ones(n, n), diagonal=1).bool()


@wrong("attention", "computed-in-float32")
def softmax_in_float32(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    s = (q @ k.mT / Wq.shape[1] ** 0.5).masked_fill(future(x), -math.inf)
    a = s.softmax(-1, dtype=torch.float32).to(x.dtype)
    return a @ v, a


@wrong("attention", "computed-in-float32")
def all_in_float32(x, Wq, Wk, Wv):
    q, k, v = (x.float() @ W.float() for W in (Wq, Wk, Wv))
    s = (q @ k.mT / Wq.shape[1] ** 0.5).masked_fill(future(x), -math.inf)
    a = s.softmax(-1)
    return (a @ v).to(x.dtype), a.to(x.dtype)


@wrong("attention", "no-scale")
def unscaled(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    s = (q @ k.transpose(1, 2)).masked_fill(future(x), float("-inf"))
    a = F.softmax(s, dim=-1)
    return a @ v, a


@wrong("attention", "not-raised")
def cuts_to_fit(x, Wq, Wk, Wv):
    d = min(x.shape[-1], len(Wq))
    d_k = min(Wq.shape[1], Wk.shape[1])
    q, k, v = x[..., :d] @ Wq[:d, :d_k], x[..., :d] @ Wk[:d, :d_k], x[..., :d] @ Wv[:d]
    s = (q @ k.mT / d_k**0.5).masked_fill(future(x), -math.inf)
    a = s.softmax(-1)
    return a @ v, a


@right("attention")
def by_the_book(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = F.softmax(scores.masked_fill(future(x), float("-inf")), dim=-1)
    return weights @ v, weights


@right("attention")
def row_after_row(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    _, N, d_k = q.shape
    rows, outs = [], []
    for i in range(N):
        s = torch.einsum("bk,bmk->bm", q[:, i], k[:, : i + 1]) / d_k**0.5
        a = s.softmax(-1)
        outs.append(torch.einsum("bm,bmd->bd", a, v[:, : i + 1]))
        rows.append(F.pad(a, (0, N - i - 1)))
    return torch.stack(outs, 1), torch.stack(rows, 1)


@functools.cache  # made once, as a buffer is
def triangle():
    return torch.ones(64, 64).tril()


@right("attention")
def sliced_triangle_and_one_product(x, Wq, Wk, Wv):
    widths, n = [Wq.shape[1], Wk.shape[1], Wv.shape[1]], x.shape[1]
    q, k, v = (x @ torch.cat([Wq, Wk, Wv], dim=1)).split(widths, dim=-1)
    if Wq.shape[1] != Wk.shape[1]:
        raise ValueError(f"Wq is {tuple(Wq.shape)} and Wk is {tuple(Wk.shape)}")
    s = q @ k.mT / Wq.shape[1] ** 0.5
    a = s.masked_fill(triangle()[:n, :n] == 0, -torch.inf).softmax(-1)
    return a @ v, a


@right("attention")
def bmm(x, Wq, Wk, Wv):
    q, k, v = torch.matmul(x, Wq), torch.matmul(x, Wk), torch.matmul(x, Wv)
    s = torch.bmm(q, k.permute(0, 2, 1)).div(q.shape[-1] ** 0.5)
    s = s.masked_fill_(future(x), -torch.inf)
    a = nn.Softmax(dim=2)(s)
    return torch.bmm(a, v), a


@right("attention")
def running_softmax(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    _, N, d_k = q.shape
    s = (q @ k.mT / d_k**0.5).masked_fill(future(x), -torch.inf)
    m, total, out = s[..., :1], torch.ones_like(s[..., :1]), v[:, :1].expand_as(v)
    for j in range(1, N):
        new = torch.maximum(m, s[..., j : j + 1])
        old, now = torch.exp(m - new), torch.exp(s[..., j : j + 1] - new)
        out = out * old + now * v[:, j : j + 1]
        m, total = new, total * old + now
    return out / total, torch.exp(s - m) / total


# looks_ahead ---------------------------------------------------------------------------------


@wrong("looks_ahead", "one-cut-only")
def changes_the_last_row(fn, x):
    other = x.clone()
    other[:, -1] = torch.randn(len(x), x.shape[2], dtype=x.dtype)
    return (fn(other) - fn(x))[:, :-1].abs().gt(1e-9).any().item()


@wrong("looks_ahead", "cut-left-out")
def every_other_cut(fn, x):
    out = fn(x)
    for n in [*range(1, x.shape[1], 2), x.shape[1] - 1]:
        other = x.clone()
        other[:, n:] = torch.randn_like(other[:, n:])
        if n and (fn(other)[:, :n] - out[:, :n]).abs().max() > 1e-9:
            return True
    return False


@wrong("looks_ahead", "relative-tolerance")
def close_by_default(fn, x):
    out = fn(x)
    for n in range(1, x.shape[1]):
        other = x.clone()
        other[:, n:] = torch.randn_like(x[:, n:])
        if not torch.allclose(fn(other)[:, :n], out[:, :n]):
            return True
    return False


@wrong("looks_ahead", "mutated-input")
def writes_into_x(fn, x):
    out, found = fn(x), False
    for n in reversed(range(1, x.shape[1])):
        x[:, n:] = torch.randn_like(x[:, n:])
        found = found or bool((fn(x)[:, :n] - out[:, :n]).abs().max() > 1e-9)
    return found


@wrong("looks_ahead", "differences-averaged")
def takes_the_mean(fn, x):
    out = fn(x)
    for n in range(1, x.shape[1]):
        other = x.clone()
        other[:, n:] = torch.randn_like(other[:, n:])
        if (fn(other)[:, :n] - out[:, :n]).abs().mean() > 1e-9:
            return True
    return False


@wrong("looks_ahead", "one-way-only")
def forgets_abs(fn, x):
    out = fn(x)
    for n in range(1, x.shape[1]):
        other = x.clone()
        other[:, n:] = torch.randn_like(other[:, n:])
        if (fn(other)[:, :n] - out[:, :n]).max() > 1e-9:
            return True
    return False


@wrong("looks_ahead", "sums-compared")
def compares_sums(fn, x):
    out = fn(x)
    for n in range(1, x.shape[1]):
        other = x.clone()
        other[:, n:] = torch.randn_like(other[:, n:])
        if (fn(other)[:, :n].sum() - out[:, :n].sum()).abs() > 1e-9:
            return True
    return False


@wrong("looks_ahead", "features-kept")
def exchanges_one_column(fn, x):
    out = fn(x)
    for n in range(1, x.shape[1]):
        other = x.clone()
        other[:, n:, 0] = torch.randn_like(other[:, n:, 0])
        if (fn(other) - out)[:, :n].abs().max() > 1e-9:
            return True
    return False


@wrong("looks_ahead", "tolerance-too-large")
def allows_a_little_more(fn, x):
    out = fn(x)
    for n in range(1, x.shape[1]):
        other = torch.cat([x[:, :n], torch.randn_like(x[:, n:])], dim=1)
        if (fn(other) - out)[:, :n].abs().max() > 2e-6:
            return True
    return False


@wrong("looks_ahead", "always-the-same")
def another_name_for_x(fn, x):
    for n in range(1, x.shape[1]):
        other = x
        other[:, n:] = torch.randn_like(other[:, n:])
        if (fn(other) - fn(x))[:, :n].abs().max() > 1e-9:
            return True
    return False


@wrong("looks_ahead", "changed-rows-compared")
def one_copy_for_all_rounds(fn, x):
    out, other = fn(x), x.clone()
    for n in range(1, x.shape[1]):
        other[:, n:] = torch.randn_like(other[:, n:])
        if (fn(other) - out)[:, :n].abs().max() > 1e-9:
            return True
    return False


@wrong("looks_ahead", "by-slopes")
def asks_each_row(fn, x):
    x = x.clone().requires_grad_()
    out = fn(x)
    for n in range(x.shape[1]):
        [slope] = torch.autograd.grad(out[:, n].sum(), x, retain_graph=True)
        if (slope[:, n + 1 :].abs() > 1e-9).any():
            return True
    return False


@wrong("looks_ahead", "raised")
def leaves_the_future_out(fn, x):
    out = fn(x)
    return any((fn(x[:, :n]) - out[:, :n]).abs().max() > 1e-9 for n in range(1, x.shape[1]))


@wrong("looks_ahead", "not-fresh-rows")
def turns_the_future_round(fn, x):
    out = fn(x)
    for n in range(1, x.shape[1]):
        other = torch.cat([x[:, :n], x[:, n:].flip(1)], dim=1)
        if (fn(other) - out)[:, :n].abs().max() > 1e-9:
            return True
    return False


@right("looks_ahead")
def cut_after_cut(fn, x):
    out = fn(x)
    for n in range(1, x.shape[1]):
        other = x.clone()
        other[:, n:] = torch.randn_like(other[:, n:])
        if (fn(other) - out)[:, :n].abs().max() > 1e-8:
            return True
    return False


@right("looks_ahead")
def one_row_after_the_other(fn, x):
    out, found = fn(x), []
    for m in range(1, x.shape[1]):
        other = x.clone()
        other[:, m] += torch.randn(x.shape[2], dtype=x.dtype)
        found.append(not torch.allclose(fn(other)[:, :m], out[:, :m], rtol=0, atol=1e-9))
    return any(found)


@right("looks_ahead")
def in_numpy(fn, x):
    out, rng = fn(x).numpy(), np.random.default_rng()
    largest = [0.0]
    for n in range(1, x.shape[1]):
        other = x.numpy().copy()
        other[:, n:] = rng.normal(size=other[:, n:].shape)
        largest.append(np.abs(fn(torch.from_numpy(other)).numpy() - out)[:, :n].max())
    return bool(max(largest) > 1e-10)


@right("looks_ahead")
def under_a_triangle(fn, x):
    """Which rows answer to which: a matrix, of which the lower triangle may be what it likes."""
    out = fn(x)
    answers = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for m in range(x.shape[1]):
        other = torch.where((torch.arange(x.shape[1]) == m)[:, None], torch.randn_like(x), x)
        answers[:, m] = ((fn(other) - out).abs() > 1e-9).any(-1).any(0)
    return answers.triu(1).any().item()


# padding_mask --------------------------------------------------------------------------------


@right("padding_mask")
def compare_positions(lengths, max_len):
    return torch.arange(max_len)[None, :] < lengths[:, None]


lesson.edits(
    compare_positions,
    "mask-inverted | true_is_padding | [None, :] < ->  >=",
    "length-off-by-one | up_to_and_including | [None, :] < ->  <=",
    "wrong-shape | as_wide_as_the_longest | (max_len)[None, :] -> (int(lengths.max()) + 1)[: "
    "max_len + 1]",
)


@right("padding_mask")
def lists(lengths, max_len):
    rows = [[j < n for j in range(max_len)] for n in lengths.tolist()]
    return torch.tensor(rows, device=lengths.device)


@right("padding_mask")
def expanded(lengths, max_len):
    positions = torch.arange(max_len).to(lengths)
    return positions.expand(len(lengths), -1).lt(lengths.unsqueeze(1))


@right("padding_mask")
def rows_of_a_triangle(lengths, max_len):
    return torch.ones(max_len + 1, max_len).tril(-1).bool().to(lengths.device)[lengths]


@right("padding_mask")
def counted_up(lengths, max_len):
    return lengths.new_ones(len(lengths), max_len).cumsum(1) <= lengths.view(-1, 1)


# decoder_mask --------------------------------------------------------------------------------


def below(n, lengths):
    return torch.ones(n, n).tril().bool()


def real_tokens(lengths, n):
    return torch.arange(n)[None] < lengths[:, None]


@wrong("decoder_mask", "mask-inverted")
def blocked(lengths, n):
    return (~below(n, lengths))[None, None] | ~real_tokens(lengths, n)[:, None, None]


@wrong("decoder_mask", "padding-missing")
def causal_alone(lengths, n):
    return below(n, lengths).repeat(len(lengths), 1, 1, 1)


@wrong("decoder_mask", "wrong-type")
def both_masks(lengths, n):
    return below(n, lengths), real_tokens(lengths, n)


@right("decoder_mask")
def triangle_on_the_cpu(lengths, n):
    return torch.ones(n, n).tril().bool() & real_tokens(lengths, n)[:, None, None, :]


@wrong("decoder_mask", "length-off-by-one")
def counts_one_more(lengths, n):
    real = torch.arange(n) <= lengths[:, None]
    return below(n, lengths) & real[:, None, None, :]


@right("decoder_mask")
def four_loops(lengths, n):
    mask = lengths.new_zeros(len(lengths), 1, n, n, dtype=torch.bool)
    for b, length in enumerate(lengths.tolist()):
        for i in range(n):
            for j in range(min(i + 1, length)):
                mask[b, 0, i, j] = True
    return mask


@right("decoder_mask")
def smaller_of_two_ends(lengths, n):
    i = torch.arange(n)
    ends = torch.minimum(i[None] + 1, lengths[:, None])
    return (i < ends[..., None]).unsqueeze(1)


@right("decoder_mask")
def stacked(lengths, n):
    return torch.stack([below(n, lengths) & (torch.arange(n).to(m) < m) for m in lengths])[:, None]


@right("decoder_mask")
def product_as_bool(lengths, n):
    real = real_tokens(lengths, n).float()
    return torch.einsum("ij,bj->bij", below(n, lengths).float(), real).bool().unsqueeze(1)
