"""Answers to lesson 08, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import torch
import torch.nn.functional as F
from torch import nn

from . import Lesson

lesson = Lesson("08-cross-attention")
wrong, right = lesson.wrong, lesson.right


def attend(q, k, v, mask=None):
    """The block as the lesson gives it."""
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return weights @ v, weights


def open_keys(mask):
    return None if mask is None else mask[:, None, :]


# cross_attention -----------------------------------------------------------------------------


@right("cross_attention")
def by_the_given_block(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_q, context @ W_k, context @ W_v, open_keys(context_mask))


@right("cross_attention")
def all_by_hand(x, context, W_q, W_k, W_v, context_mask=None):
    q, k, v = x @ W_q, context @ W_k, context @ W_v
    s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(k.size(-1))
    if context_mask is not None:
        s = s.masked_fill(context_mask.unsqueeze(1) == 0, float("-inf"))
    a = F.softmax(s, dim=-1)
    if context_mask is not None:
        a = a.masked_fill(context_mask.unsqueeze(1) == 0, 0.0)
    return torch.matmul(a, v), a


@right("cross_attention")
def einsum(x, context, W_q, W_k, W_v, context_mask=None):
    q = torch.einsum("bnd,dk->bnk", x, W_q)
    k = torch.einsum("bmc,ck->bmk", context, W_k)
    v = torch.einsum("bmc,cv->bmv", context, W_v)
    s = torch.einsum("bnk,bmk->bnm", q, k) * q.shape[-1] ** -0.5
    if context_mask is not None:
        s = torch.where(context_mask[:, None], s, -torch.inf)
        s = torch.where(context_mask.any(-1)[:, None, None], s, 0.0)
    a = s.softmax(-1)
    if context_mask is not None:
        a = a * context_mask[:, None]
    return torch.einsum("bnm,bmv->bnv", a, v), a


@right("cross_attention")
def sentence_by_sentence(x, context, W_q, W_k, W_v, context_mask=None):
    outs, weights = [], []
    for b in range(x.shape[0]):
        q, k, v = x[b] @ W_q, context[b] @ W_k, context[b] @ W_v
        real = torch.ones(k.shape[0]).bool() if context_mask is None else context_mask[b]
        a = torch.zeros(q.shape[0], k.shape[0], dtype=x.dtype)
        if real.any():
            shares = (q @ k[real].T / q.shape[1] ** 0.5).softmax(1)
            a = a.index_copy(1, real.nonzero()[:, 0], shares)
        else:
            a = a + 0 * (q @ k.T)
        outs.append(a @ v)
        weights.append(a)
    return torch.stack(outs), torch.stack(weights)


@right("cross_attention")
def low_number_then_zeros(x, context, W_q, W_k, W_v, context_mask=None):
    q, k, v = x @ W_q, context @ W_k, context @ W_v
    s = q @ k.mT / q.shape[-1] ** 0.5
    if context_mask is None:
        a = s.softmax(-1)
    else:
        s = s.masked_fill(~context_mask[:, None], torch.finfo(s.dtype).min)
        a = s.softmax(-1) * context_mask[:, None]
    return a @ v, a


@right("cross_attention")
def mask_then_renormalise(x, context, W_q, W_k, W_v, context_mask=None):
    q, k, v = x @ W_q, context @ W_k, context @ W_v
    a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    if context_mask is not None:
        a = a * context_mask[:, None]
        total = a.sum(-1, keepdim=True)
        a = a / torch.where(total == 0, 1.0, total)
    return a @ v, a


@right("cross_attention")
def nan_to_num_after_filling_in(x, context, W_q, W_k, W_v, context_mask=None):
    q, k, v = x @ W_q, context @ W_k, context @ W_v
    s = q @ k.mT / q.shape[-1] ** 0.5
    if context_mask is not None:
        s = s.masked_fill(~context_mask[:, None], -torch.inf)
    a = s.softmax(-1).nan_to_num(0.0)
    return a @ v, a


@right("cross_attention")
def log_sum_exp_of_added(x, context, W_q, W_k, W_v, context_mask=None):
    q, k, v = x @ W_q, context @ W_k, context @ W_v
    s = q @ k.mT / q.shape[-1] ** 0.5
    if context_mask is not None:
        some = context_mask.any(-1, keepdim=True)
        hide = torch.zeros_like(context_mask, dtype=s.dtype)
        s = s + hide.masked_fill(~context_mask & some, -torch.inf)[:, None]
    a = (s - s.logsumexp(-1, keepdim=True)).exp()
    if context_mask is not None:
        a = a * some[..., None]
    return a @ v, a


@right("cross_attention")
def refuses_by_itself(x, context, W_q, W_k, W_v, context_mask=None):
    for tokens, matrix in ((x, W_q), (context, W_k), (context, W_v)):
        if tokens.shape[-1] != matrix.shape[0]:
            raise ValueError(f"{tuple(tokens.shape)} does not fit {tuple(matrix.shape)}")
    if W_q.shape[1] != W_k.shape[1]:
        raise ValueError(f"W_q is {tuple(W_q.shape)} and W_k is {tuple(W_k.shape)}")
    return by_the_given_block(x, context, W_q, W_k, W_v, context_mask)


@wrong("cross_attention", "queries-from-context")
def the_shelf_asks(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(context @ W_q, x @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "keys-or-values-from-x")
def own_values(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_q, context @ W_k, x @ W_v, open_keys(context_mask))


@wrong("cross_attention", "mutated-input")
def zeroes_the_padding_in_place(x, context, W_q, W_k, W_v, context_mask=None):
    result = by_the_given_block(x, context, W_q, W_k, W_v, context_mask)
    if context_mask is not None:
        context.data[~context_mask] = 0.0
    return result


# CrossAttention ------------------------------------------------------------------------------


class Linears(nn.Module):
    """Four linears, as the signature says; each answer changes a part."""

    def __init__(self, d, d_context, n_heads, bias=True):
        super().__init__()
        if d % n_heads:
            raise ValueError(f"d = {d} cannot be split among {n_heads} heads")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d, d, bias=bias)
        self.W_k = nn.Linear(d_context, d, bias=bias)
        self.W_v = nn.Linear(d_context, d, bias=bias)
        self.W_o = nn.Linear(d, d, bias=bias)

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def project(self, x, context):
        return self.W_q(x), self.W_k(context), self.W_v(context)

    def open_keys(self, context_mask):
        return None if context_mask is None else context_mask[:, None, None, :]

    def attend(self, q, k, v, mask):
        return attend(q, k, v, mask)

    def forward(self, x, context, context_mask=None):
        q, k, v = map(self.split, self.project(x, context))
        out, a = self.attend(q, k, v, self.open_keys(context_mask))
        return self.W_o(self.merge(out)), a


@right("CrossAttention")
class ByTheBook(Linears):
    pass


@right("CrossAttention")
class AsInPublicCode(Linears):
    def forward(self, x, context, context_mask=None):
        B, N, d = x.shape
        M = context.shape[1]
        d_head = d // self.n_heads
        q = self.W_q(x).view(B, N, self.n_heads, d_head).permute(0, 2, 1, 3)
        k = self.W_k(context).view(B, M, self.n_heads, d_head).permute(0, 2, 1, 3)
        v = self.W_v(context).view(B, M, self.n_heads, d_head).permute(0, 2, 1, 3)
        energy = torch.matmul(q, k.permute(0, 1, 3, 2)) / math.sqrt(d_head)
        if context_mask is not None:
            mask = context_mask.unsqueeze(1).unsqueeze(2)
            energy = energy.masked_fill(mask == 0, -1e10)
        attention = torch.softmax(energy, dim=-1)
        if context_mask is not None:
            attention = attention * mask
        out = torch.matmul(attention, v).permute(0, 2, 1, 3).contiguous().view(B, -1, d)
        return self.W_o(out), attention


@right("CrossAttention")
class ByEinsum(Linears):
    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1))

    def merge(self, x):
        return x.flatten(2)

    def attend(self, q, k, v, mask):
        s = torch.einsum("bnhk,bmhk->bhnm", q, k) / q.shape[-1] ** 0.5
        a = s.softmax(-1) if mask is None else _softmax_of(s, mask)
        return torch.einsum("bhnm,bmhv->bnhv", a, v), a


def _softmax_of(s, mask):
    return s.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)


@right("CrossAttention")
class HeadAfterHead(Linears):
    def forward(self, x, context, context_mask=None):
        mask = None if context_mask is None else context_mask[:, None]
        parts = [t.chunk(self.n_heads, -1) for t in self.project(x, context)]
        found = [attend(q, k, v, mask) for q, k, v in zip(*parts, strict=True)]
        out = torch.cat([out for out, _ in found], -1)
        return self.W_o(out), torch.stack([a for _, a in found], 1)


@right("CrossAttention")
class HeadsInTheBatch(Linears):
    def forward(self, x, context, context_mask=None):
        q, k, v = (self.split(t).flatten(0, 1) for t in self.project(x, context))
        mask = context_mask
        if mask is not None:
            mask = mask.repeat_interleave(self.n_heads, 0)[:, None]
        out, a = attend(q, k, v, mask)
        out = out.unflatten(0, (-1, self.n_heads))
        return self.W_o(self.merge(out)), a.unflatten(0, (-1, self.n_heads))


@right("CrossAttention")
class HalvesByTensorMethods(Linears):
    def split(self, x):
        return torch.stack(x.tensor_split(self.n_heads, dim=-1), dim=1)

    def merge(self, x):
        return torch.cat(tuple(x.unbind(1)), dim=-1)


@right("CrossAttention")
class LastPartsByMatrices(Linears):
    def forward(self, x, context, context_mask=None):
        q, k, v = map(self.split, self.project(x, context))
        out, a = attend(q, k, v, self.open_keys(context_mask))
        each = self.W_o.weight.unflatten(1, (self.n_heads, -1))
        mixed = torch.einsum("bhnk,ohk->bno", out, each)
        return mixed if self.W_o.bias is None else mixed + self.W_o.bias, a


@wrong("CrossAttention", "heads-not-transposed")
class ReshapedAlone(Linears):
    def split(self, x):
        return x.reshape(x.shape[0], self.n_heads, x.shape[1], -1)

    def merge(self, x):
        return x.reshape(x.shape[0], x.shape[2], -1)


@wrong("CrossAttention", "heads-interleaved")
class EveryHth(Linears):
    def split(self, x):
        return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)

    def merge(self, x):
        return x.permute(0, 2, 3, 1).flatten(2)


@wrong("CrossAttention", "remembers-a-call")
class KeepsItsFirstContext(Linears):
    def project(self, x, context):
        if not hasattr(self, "kept"):
            self.kept = context
        return super().project(x, self.kept)


# mistakes in loops ---------------------------------------------------------------------------
