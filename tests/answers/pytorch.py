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


lesson.edits(
    by_the_book,
    "no-scale | unscaled |  / q.shape[-1] ** 0.5 -> ",
)


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


# softmax_backward ----------------------------------------------------------------------------


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


lesson.edits(
    one_line,
    "nothing-subtracted | weight_times_slope | (upstream - (weights * upstream).sum(dim=-1, "
    "keepdim=True)) -> upstream",
)


@right("softmax_backward")
def jacobian_row_by_row(weights, upstream):
    jacobian = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return (jacobian @ upstream[..., None])[..., 0]


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


@wrong("SelfAttention", "wrong-structure")
class BiasAlways(Linears):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__(d, d_k, d_v, True)


@right("SelfAttention")
class ByTheBook(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return a @ v, a


lesson.edits(
    ByTheBook,
    "no-scale | Unscaled |  / q.shape[-1] ** 0.5 -> ",
    "softmax-over-queries | SecondAxis | (-1) -> (1)",
)


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
class LinearsOfWeights(Linears):
    def forward(self, x):
        q, k, v = (F.linear(x, W.weight, W.bias) for W in (self.W_q, self.W_k, self.W_v))
        return self.attend(q, k, v, x)


# mistakes in loops ---------------------------------------------------------------------------
