"""Answers to lesson 05, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import torch
import torch.nn.functional as F
from torch import nn

from . import Lesson

lesson = Lesson("05-pytorch")
wrong, right = lesson.wrong, lesson.right


# scaled_dot_product_attention ----------------------------------------------------------------


def masked(s, attn_mask):
    """Scores under a mask, as the lesson writes it."""
    if attn_mask is None:
        return s
    if attn_mask.dtype == torch.bool:
        return s.masked_fill(~attn_mask, -torch.inf)
    return s + attn_mask


def shared(s):
    """Softmax, and 0 where a row has nothing left, on the way back as well."""
    empty = (s == -torch.inf).all(-1, keepdim=True)
    return s.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)


@wrong("scaled_dot_product_attention", "maximum-begins-at-0")
def largest_from_zero(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    e = (s - s.amax(-1, keepdim=True).clamp(min=0)).exp()
    a = e / e.sum(-1, keepdim=True)
    if attn_mask is not None:
        a = a.masked_fill((s == -torch.inf).all(-1, keepdim=True), 0.0)
    return a @ v, a


@wrong("scaled_dot_product_attention", "no-scale")
def unscaled(q, k, v, attn_mask=None):
    s = masked(q @ k.mT, attn_mask)
    a = shared(s)
    return a @ v, a


@wrong("scaled_dot_product_attention", "mutated-input")
def inverts_the_mask_in_place(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = shared(s)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask.logical_not_()
    return a @ v, a


@wrong("scaled_dot_product_attention", "empty-slope-is-nan")
def nan_to_num(q, k, v, attn_mask=None):
    a = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask).softmax(-1).nan_to_num()
    return a @ v, a


@wrong("scaled_dot_product_attention", "empty-slope-is-nan")
def zeros_where_softmax_gave_nan(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.where(attn_mask, 0.0, -torch.inf).to(q.dtype)
    if attn_mask is not None:
        s = s + attn_mask
    a = s.softmax(-1)
    a = torch.where(a.isnan(), 0.0, a)
    return a @ v, a


@wrong("scaled_dot_product_attention", "empty-slope-is-nan")
def renormalised_then_nan_to_num(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        s = s + attn_mask
    a = s.softmax(-1).nan_to_num()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        a = a * attn_mask
        a = (a / a.sum(-1, keepdim=True)).nan_to_num()
    return a @ v, a


@right("scaled_dot_product_attention")
def by_the_book(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = shared(s)
    return a @ v, a


@right("scaled_dot_product_attention")
def einsum(q, k, v, attn_mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"{q.shape}, {k.shape} and {v.shape} do not fit")
    return stretches_an_axis_of_one(q, k, v, attn_mask)


def stretches_an_axis_of_one(q, k, v, attn_mask=None):
    s = torch.einsum("...nk,...mk->...nm", q, k) * q.shape[-1] ** -0.5
    s = masked(s, attn_mask)
    a = shared(s)
    return torch.einsum("...nm,...mv->...nv", a, v), a


@right("scaled_dot_product_attention")
def softmax_by_hand(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    top = s.amax(-1, keepdim=True).nan_to_num(neginf=0.0).detach()
    e = torch.exp(s - top)
    total = e.sum(-1, keepdim=True)
    a = e / torch.where(total == 0, 1.0, total)
    return a @ v, a


@right("scaled_dot_product_attention")
def mask_then_renormalise(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        s = s + attn_mask
    a = shared(s)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        a = a * attn_mask
        total = a.sum(-1, keepdim=True)
        a = a / torch.where(total == 0, 1.0, total)
    return a @ v, a


@right("scaled_dot_product_attention")
def large_number_then_zeros(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is None:
        a = s.softmax(-1)
    elif attn_mask.dtype == torch.bool:
        a = s.masked_fill(~attn_mask, -1e9).softmax(-1).masked_fill(~attn_mask, 0.0)
    else:
        a = shared(s + attn_mask)
    return a @ v, a


@right("scaled_dot_product_attention")
def mask_made_additive(q, k, v, attn_mask=None):
    s = torch.matmul(q / math.sqrt(q.size(-1)), k.transpose(-2, -1))
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            attn_mask = torch.zeros_like(attn_mask, dtype=q.dtype).masked_fill(
                ~attn_mask, -torch.inf
            )
        s = s + attn_mask
    a = shared(s)
    return torch.matmul(a, v), a


@right("scaled_dot_product_attention")
def log_sum_exp(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    s = s.masked_fill((s == -torch.inf).all(-1, keepdim=True), torch.finfo(s.dtype).min)
    a = (s - s.logsumexp(-1, keepdim=True)).exp()
    a = a.masked_fill(s == torch.finfo(s.dtype).min, 0.0)
    return a @ v, a


@right("scaled_dot_product_attention")
def row_after_row(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    rows = [shared(row) for row in s.unbind(-2)]
    out = torch.stack([(row.unsqueeze(-2) @ v).squeeze(-2) for row in rows], -2)
    return out, torch.stack(rows, -2)


@right("scaled_dot_product_attention")
def where_for_empty_rows(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    open_ = (s > -torch.inf).any(-1, keepdim=True)
    a = torch.where(open_, torch.where(open_, s, 0.0).softmax(-1), 0.0)
    return a @ v, a


@right("scaled_dot_product_attention")
def non_contiguous_results(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = shared(s).mT.contiguous().mT
    return (v.mT @ a.mT).mT, a


# softmax_backward ----------------------------------------------------------------------------


@wrong("softmax_backward", "nothing-subtracted")
def weight_times_slope(weights, upstream):
    return weights * upstream


@wrong("softmax_backward", "axis-lost")
def forgets_keepdim(weights, upstream):
    total = torch.sum(weights * upstream, dim=-1)
    return weights * (upstream - total)


@wrong("softmax_backward", "zeros-are-nan")
def autograd_through_its_own_softmax(weights, upstream):
    scores = weights.log().requires_grad_()
    powers = scores.exp()
    mine = powers / powers.sum(-1, keepdim=True)
    return torch.autograd.grad(mine, scores, upstream)[0]


@wrong("softmax_backward", "weights-not-in-front")
def second_factor_forgotten(weights, upstream):
    return weights * upstream - (weights * upstream).sum(-1, keepdim=True)


@right("softmax_backward")
def one_line(weights, upstream):
    return weights * (upstream - (weights * upstream).sum(dim=-1, keepdim=True))


@right("softmax_backward")
def jacobian_row_by_row(weights, upstream):
    jacobian = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return (jacobian @ upstream[..., None])[..., 0]


@right("softmax_backward")
def two_terms(weights, upstream):
    along = weights * upstream
    return along - weights * along.sum(-1).unsqueeze(-1)


@right("softmax_backward")
def by_einsum(weights, upstream):
    mean = torch.einsum("...m,...m->...", weights, upstream)
    return torch.einsum("...m,...m->...m", weights, upstream - mean[..., None])


@right("softmax_backward")
def by_a_dot_product(weights, upstream):
    mean = weights.unsqueeze(-2) @ upstream.unsqueeze(-1)
    return weights * (upstream - mean.squeeze(-1))


@right("softmax_backward")
def all_rows_in_a_loop(weights, upstream):
    if weights.shape != upstream.shape:
        raise ValueError(f"{tuple(weights.shape)} and {tuple(upstream.shape)}")
    slopes = torch.empty_like(weights)
    for at in torch.cartesian_prod(*map(torch.arange, weights.shape[:-1]), torch.tensor([0])):
        place = tuple(at.reshape(-1)[:-1].tolist())
        p, g = weights[place], upstream[place]
        slopes[place] = p * g - p * torch.dot(p, g)
    return slopes


@right("softmax_backward")
def through_exponentials_with_zeros_mended(weights, upstream):
    shift = torch.zeros_like(weights, requires_grad=True)
    total = weights.sum(-1, keepdim=True)
    powers = weights * shift.exp()
    mine = powers / powers.sum(-1, keepdim=True).masked_fill(total == 0, 1.0)
    return torch.autograd.grad(mine, shift, upstream)[0]


@right("softmax_backward")
def forward_mode(weights, upstream):
    """The Jacobian is its own transpose, so that going forward gives the same."""

    def mine(shift):
        powers = weights * shift.exp()
        total = powers.sum(-1, keepdim=True)
        return powers / torch.where(total == 0, 1.0, total)

    return torch.func.jvp(mine, (torch.zeros_like(weights),), (upstream,))[1]


# SelfAttention -------------------------------------------------------------------------------


class Linears(nn.Module):
    """Three linears, as the signature asks; `attend` is what each answer writes."""

    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__()
        self.W_q = nn.Linear(d, d_k, bias=bias)
        self.W_k = nn.Linear(d, d_k, bias=bias)
        self.W_v = nn.Linear(d, d_v, bias=bias)

    def forward(self, x):
        return self.attend(self.W_q(x), self.W_k(x), self.W_v(x), x)

    def attend(self, q, k, v, x):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return a @ v, a


@wrong("SelfAttention", "no-scale")
class Unscaled(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.mT).softmax(-1)
        return a @ v, a


@wrong("SelfAttention", "softmax-over-queries")
class SecondAxis(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(1)
        return a @ v, a


@wrong("SelfAttention", "wrong-structure")
class BiasAlways(Linears):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__(d, d_k, d_v, True)


@right("SelfAttention")
class ByTheBook(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return a @ v, a


@right("SelfAttention")
class MaskInABuffer(Linears):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__(d, d_k, d_v, bias)
        self.register_buffer("open", torch.ones(64, 64, dtype=torch.bool))

    def attend(self, q, k, v, x):
        s = q @ k.mT / q.shape[-1] ** 0.5
        a = s.masked_fill(~self.open[: s.shape[-2], : s.shape[-1]], -torch.inf).softmax(-1)
        return a @ v, a


@right("SelfAttention")
class Einsum(Linears):
    def attend(self, q, k, v, x):
        a = F.softmax(torch.einsum("bnk,bmk->bnm", q, k) / math.sqrt(q.size(-1)), dim=-1)
        return torch.einsum("bnm,bmv->bnv", a, v), a


@right("SelfAttention")
class ByBmm(Linears):
    def attend(self, q, k, v, x):
        a = nn.Softmax(-1)(torch.bmm(q, k.permute(0, 2, 1)) * q.shape[-1] ** -0.5)
        return torch.bmm(a, v), a


@right("SelfAttention")
class SoftmaxByHand(Linears):
    def attend(self, q, k, v, x):
        s = q @ k.mT / q.shape[-1] ** 0.5
        e = (s - s.amax(-1, keepdim=True)).exp()
        a = e / e.sum(-1, keepdim=True)
        return a @ v, a


@right("SelfAttention")
class LogSumExp(Linears):
    def attend(self, q, k, v, x):
        s = q @ k.mT / q.shape[-1] ** 0.5
        a = (s - s.logsumexp(-1, keepdim=True)).exp()
        return a @ v, a


@right("SelfAttention")
class SentenceBySentence(Linears):
    def attend(self, q, k, v, x):
        a = torch.stack(
            [(p @ r.T / r.shape[1] ** 0.5).softmax(1) for p, r in zip(q, k, strict=True)]
        )
        return torch.stack([w @ u for w, u in zip(a, v, strict=True)]), a


@right("SelfAttention")
class Vmapped(Linears):
    def attend(self, q, k, v, x):
        def one(q, k, v):
            a = (q @ k.T / q.shape[1] ** 0.5).softmax(-1)
            return a @ v, a

        return torch.func.vmap(one)(q, k, v)


@right("SelfAttention")
class NonContiguous(Linears):
    def attend(self, q, k, v, x):
        a = (k @ q.mT / q.shape[-1] ** 0.5).softmax(-2)
        return (v.mT @ a).mT, a.mT


@right("SelfAttention")
class LinearsOfWeights(Linears):
    def forward(self, x):
        q, k, v = (F.linear(x, W.weight, W.bias) for W in (self.W_q, self.W_k, self.W_v))
        return self.attend(q, k, v, x)


# mistakes in loops ---------------------------------------------------------------------------
