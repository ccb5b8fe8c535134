"""Answers to lesson 05, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import torch
import torch.nn.functional as F
from torch import nn

from . import Lesson
from .in_loops import in_arrays

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


def no_empty_rows(a):
    return torch.nan_to_num(a, nan=0.0)


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
    a = no_empty_rows(s.softmax(-1))
    return a @ v, a


@wrong("scaled_dot_product_attention", "softmax-over-queries")
def last_axis_but_one(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows(s.softmax(-2))
    return a @ v, a


@wrong("scaled_dot_product_attention", "mask-inverted")
def true_is_blocked(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None:
        s = s.masked_fill(attn_mask, -torch.inf) if attn_mask.dtype == torch.bool else s + attn_mask
    a = no_empty_rows(s.softmax(-1))
    return a @ v, a


@wrong("scaled_dot_product_attention", "float-mask-ignored")
def bool_masks_alone(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        s = s.masked_fill(~attn_mask, -torch.inf)
    a = no_empty_rows(s.softmax(-1))
    return a @ v, a


@wrong("scaled_dot_product_attention", "float-mask-as-bool")
def every_mask_hides(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None:
        s = s.masked_fill(attn_mask == 0, -torch.inf)
    a = no_empty_rows(s.softmax(-1))
    return a @ v, a


@wrong("scaled_dot_product_attention", "float-mask-multiplied")
def multiplies(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None:
        boolean = attn_mask.dtype == torch.bool
        s = s.masked_fill(~attn_mask, -torch.inf) if boolean else s * attn_mask
    a = s.softmax(-1)
    return a @ v, a


@wrong("scaled_dot_product_attention", "float-mask-before-scale")
def scales_the_mask_too(q, k, v, attn_mask=None):
    s = masked(q @ k.mT, attn_mask) / q.shape[-1] ** 0.5
    a = no_empty_rows(s.softmax(-1))
    return a @ v, a


@wrong("scaled_dot_product_attention", "unstable-softmax")
def plain_exp(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    e = s.exp()
    a = e / e.sum(-1, keepdim=True)
    a = a.masked_fill((s == -torch.inf).all(-1, keepdim=True), 0.0)
    return a @ v, a


@wrong("scaled_dot_product_attention", "nan-hidden")
def plain_exp_and_nan_to_num(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    e = s.exp()
    a = no_empty_rows(e / e.sum(-1, keepdim=True))
    return a @ v, a


@wrong("scaled_dot_product_attention", "no-gradient")
def detached(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows(s.softmax(-1))
    return (a @ v).detach(), a.detach()


@wrong("scaled_dot_product_attention", "no-gradient")
def weights_through_data(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows(s.softmax(-1))
    a = a.data
    return a @ v, a


@wrong("scaled_dot_product_attention", "no-gradient")
def only_mixing_is_cut(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows(s.softmax(-1))
    return a.detach() @ v, a


@wrong("scaled_dot_product_attention", "no-gradient")
def values_through_numpy(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows(s.softmax(-1))
    return a @ torch.from_numpy(v.detach().numpy()), a


@wrong("scaled_dot_product_attention", "no-gradient")
def returned_weights_detached(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows(s.softmax(-1))
    return a @ v, a.detach()


@wrong("scaled_dot_product_attention", "no-gradient")
def keys_copied(q, k, v, attn_mask=None):
    k = torch.tensor(k.tolist(), dtype=k.dtype)
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows(s.softmax(-1))
    return a @ v, a


@wrong("scaled_dot_product_attention", "mutated-input")
def inverts_the_mask_in_place(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows(s.softmax(-1))
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask.logical_not_()
    return a @ v, a


@wrong("scaled_dot_product_attention", "raised")
def swaps_axes_one_and_two(q, k, v, attn_mask=None):
    s = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    a = masked(s, attn_mask).softmax(-1)
    return a @ v, a


@right("scaled_dot_product_attention")
def by_the_book(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows(s.softmax(-1))
    return a @ v, a


@right("scaled_dot_product_attention")
def einsum(q, k, v, attn_mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"{q.shape}, {k.shape} and {v.shape} do not fit")
    return stretches_an_axis_of_one(q, k, v, attn_mask)


@wrong("scaled_dot_product_attention", "not-raised")
def stretches_an_axis_of_one(q, k, v, attn_mask=None):
    s = torch.einsum("...nk,...mk->...nm", q, k) * q.shape[-1] ** -0.5
    s = masked(s, attn_mask)
    a = no_empty_rows(s.softmax(-1))
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
    a = no_empty_rows(s.softmax(-1))
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        a = a * attn_mask
        a = no_empty_rows(a / a.sum(-1, keepdim=True))
    return a @ v, a


@right("scaled_dot_product_attention")
def large_number_then_zeros(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is None:
        a = s.softmax(-1)
    elif attn_mask.dtype == torch.bool:
        a = s.masked_fill(~attn_mask, -1e9).softmax(-1).masked_fill(~attn_mask, 0.0)
    else:
        a = no_empty_rows((s + attn_mask).softmax(-1))
    return a @ v, a


@wrong("scaled_dot_product_attention", "empty-row-is-nan")
def forgets_rows_that_a_float_mask_empties(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        a = no_empty_rows(s.masked_fill(~attn_mask, -torch.inf).softmax(-1))
    else:
        a = (s if attn_mask is None else s + attn_mask).softmax(-1)
    return a @ v, a


@wrong("scaled_dot_product_attention", "computed-in-float32")
def softmax_in_float32(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None:
        s = (
            s.masked_fill(~attn_mask, -torch.inf)
            if attn_mask.dtype == torch.bool
            else s + attn_mask
        )
    a = no_empty_rows(s.softmax(-1, dtype=torch.float32).to(q.dtype))
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
    a = no_empty_rows(s.softmax(-1))
    return torch.matmul(a, v), a


@right("scaled_dot_product_attention")
def log_sum_exp(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = no_empty_rows((s - s.logsumexp(-1, keepdim=True)).exp())
    return a @ v, a


@right("scaled_dot_product_attention")
def row_after_row(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    rows = [no_empty_rows(F.softmax(row, -1)) for row in s.unbind(-2)]
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
    a = no_empty_rows(s.mT.softmax(-2)).mT
    return (v.mT @ a.mT).mT, a


@wrong("scaled_dot_product_attention", "root-in-float32")
def root_of_a_tensor(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / torch.sqrt(torch.tensor(q.shape[-1])), attn_mask)
    a = no_empty_rows(s.softmax(-1))
    return a @ v, a


@wrong("scaled_dot_product_attention", "any-for-all")
def any_key_hidden(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    empty = (s == -torch.inf).any(dim=-1, keepdim=True)
    a = s.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    return a @ v, a


@wrong("scaled_dot_product_attention", "float-mask-hides-only")
def minus_infinity_alone(q, k, v, attn_mask=None):
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        attn_mask = attn_mask != -torch.inf
    return by_the_book(q, k, v, attn_mask)


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


@wrong("SelfAttention", "bias-ignored")
class WeightsAlone(Linears):
    def forward(self, x):
        q, k, v = x @ self.W_q.weight.T, x @ self.W_k.weight.T, x @ self.W_v.weight.T
        return self.attend(q, k, v, x)


@wrong("SelfAttention", "no-gradient")
class Detached(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1).detach()
        return (a @ v).detach(), a


@wrong("SelfAttention", "no-gradient")
class WeightsThroughData(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1).data
        return a @ v, a


@wrong("SelfAttention", "no-gradient")
class ValuesThroughNumpy(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return a @ torch.from_numpy(v.detach().numpy()), a


@wrong("SelfAttention", "no-gradient")
class MatricesThroughData(Linears):
    def forward(self, x):
        q, k, v = (F.linear(x, W.weight.data, W.bias) for W in (self.W_q, self.W_k, self.W_v))
        return self.attend(q, k, v, x)


@wrong("SelfAttention", "wrong-structure")
class BiasAlways(Linears):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__(d, d_k, d_v, True)


@wrong("SelfAttention", "wrong-structure")
class BiasNever(Linears):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__(d, d_k, d_v, False)


@wrong("SelfAttention", "wrong-structure")
class SizesSwapped(Linears):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__(d_k, d, d_v, bias)


@wrong("SelfAttention", "wrong-structure")
class OutputProjection(Linears):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__(d, d_k, d_v, bias)
        self.W_o = nn.Linear(d_v, d_v, bias=bias)


@wrong("SelfAttention", "wrong-structure")
class FusedProjection(nn.Module):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__()
        self.W_qkv, self.widths = nn.Linear(d, 2 * d_k + d_v, bias=bias), (d_k, d_k, d_v)

    def forward(self, x):
        q, k, v = self.W_qkv(x).split(self.widths, dim=-1)
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return a @ v, a


@wrong("SelfAttention", "nondeterministic")
class DropsWeights(Linears):
    def attend(self, q, k, v, x):
        a = F.dropout((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1), 0.5)
        return a @ v, a


@wrong("SelfAttention", "wrong-shape")
class OutputTransposed(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return (a @ v).mT, a


@wrong("SelfAttention", "non-finite")
class CausalWrongWay(Linears):
    def attend(self, q, k, v, x):
        a = (
            (q @ k.mT)
            .masked_fill(torch.ones(x.shape[1], x.shape[1]).tril() > 0, -torch.inf)
            .softmax(-1)
        )
        return a @ v, a


@wrong("SelfAttention", "raised")
class AxesSwapped(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.transpose(0, 1)).softmax(-1)
        return a @ v, a


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


def _shifted(s, shift):
    e = (s - shift(s)).exp()
    a = e / e.sum(-1, keepdim=True)
    return a.masked_fill((s == -torch.inf).all(-1, keepdim=True), 0.0)


@wrong("scaled_dot_product_attention", "one-maximum-for-all-rows")
def maximum_of_all(q, k, v, attn_mask=None):
    a = _shifted(masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask), torch.max)
    return a @ v, a


@wrong("scaled_dot_product_attention", "absolute-maximum-subtracted")
def size_subtracted(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = _shifted(s, lambda s: s.masked_fill(s.isinf(), 0).abs().amax(-1, keepdim=True))
    return a @ v, a


@wrong("scaled_dot_product_attention", "not-the-maximum-subtracted")
def lowest_subtracted(q, k, v, attn_mask=None):
    s = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask)
    a = _shifted(s, lambda s: s.masked_fill(s.isinf(), torch.inf).amin(-1, keepdim=True))
    return a @ v, a


@wrong("scaled_dot_product_attention", "scores-clipped")
def clamped(q, k, v, attn_mask=None):
    s = (q @ k.mT / q.shape[-1] ** 0.5).clamp(-50, 50)
    a = no_empty_rows(masked(s, attn_mask).softmax(-1))
    return a @ v, a


@wrong("scaled_dot_product_attention", "softmax-over-first-axis")
def axis_zero(q, k, v, attn_mask=None):
    a = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask).softmax(0)
    return a @ v, a


@wrong("scaled_dot_product_attention", "hard-coded-axis")
def axis_one(q, k, v, attn_mask=None):
    a = masked(q @ k.mT / q.shape[-1] ** 0.5, attn_mask).softmax(1)
    return a @ v, a


@wrong("SelfAttention", "softmax-over-first-axis")
class OverTheBatch(Linears):
    def attend(self, q, k, v, x):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(0)
        return a @ v, a


@wrong("scaled_dot_product_attention", "small-number-added")
def minus_a_thousand_more(q, k, v, attn_mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        a = (s - 1e3 * ~attn_mask).softmax(-1)
        empty = ~attn_mask.any(-1, keepdim=True)
        return (a := a.masked_fill(empty, 0.0)) @ v, a
    return by_the_book(q, k, v, attn_mask)


def _weighing(weigh):
    class Weighing(Linears):
        def attend(self, q, k, v, x):
            a = weigh(q @ k.mT / q.shape[-1] ** 0.5)
            return a @ v, a

    return Weighing


def _less(shift):
    return _weighing(lambda s: _shifted(s, shift))


wrong("SelfAttention", "unstable-softmax", "no shift")(_less(torch.zeros_like))
wrong("SelfAttention", "one-maximum-for-all-rows", "of all")(_less(torch.max))
wrong("SelfAttention", "maximum-begins-at-0", "from 0")(
    _less(lambda s: s.amax(-1, keepdim=True).clamp(min=0))
)
wrong("SelfAttention", "absolute-maximum-subtracted", "size")(
    _less(lambda s: s.abs().amax(-1, keepdim=True))
)
wrong("SelfAttention", "not-the-maximum-subtracted", "lowest")(
    _less(lambda s: s.amin(-1, keepdim=True))
)
wrong("SelfAttention", "not-the-maximum-subtracted", "mean")(
    _less(lambda s: s.mean(-1, keepdim=True))
)
wrong("SelfAttention", "scores-clipped", "at 50")(_weighing(lambda s: s.clamp(-50, 50).softmax(-1)))
wrong("SelfAttention", "nan-hidden", "as 0")(
    _weighing(lambda s: (s.exp() / s.exp().sum(-1, keepdim=True)).nan_to_num(0.0))
)
wrong("SelfAttention", "computed-in-float32", "softmax alone")(
    _weighing(lambda s: s.softmax(-1, dtype=torch.float32).to(s.dtype))
)


@wrong("SelfAttention", "no-gradient")
class BiasesDetached(Linears):
    def forward(self, x):
        q, k, v = (
            F.linear(x, W.weight, None if W.bias is None else W.bias.detach())
            for W in (self.W_q, self.W_k, self.W_v)
        )
        return self.attend(q, k, v, x)


@wrong("SelfAttention", "only-in-training")
class KeepsKeysInEvaluation(Linears):
    kept = None

    def attend(self, q, k, v, x):
        if not self.training:
            if self.kept is None or self.kept.shape != k.shape:
                self.kept = k
            k = self.kept
        return super().attend(q, k, v, x)


@wrong("SelfAttention", "shared-by-modules")
class ScaleOfTheClass(Linears):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__(d, d_k, d_v, bias)
        ScaleOfTheClass.scale = d_k**-0.5

    def attend(self, q, k, v, x):
        a = (q @ k.mT * self.scale).softmax(-1)
        return a @ v, a


# mistakes in loops ---------------------------------------------------------------------------


def _in_tensors(block, q, k, v, x=None, blocked=None):
    found = in_arrays(block, *(part.detach().numpy() for part in (q, k, v)), x, blocked)
    return tuple(map(torch.from_numpy, found))


def _attending(block):
    def attention(q, k, v, attn_mask=None):
        if attn_mask is not None and attn_mask.dtype != torch.bool:
            return by_the_book(q, k, v, attn_mask)
        blocked = None if attn_mask is None else ~attn_mask.numpy()
        return _in_tensors(block, q, k, v, blocked=blocked)

    return attention


def _module(block):
    class SelfAttention(Linears):
        def attend(self, q, k, v, x):
            return _in_tensors(block, q, k, v, x.detach().numpy())

    return SelfAttention


ALL = (
    *("softmax", "weights", "rows", "scale", "scaled weights", "scores", "transpose"),
    *("batch", "values", "width of values"),
)
lesson.in_loops("scaled_dot_product_attention", _attending, *ALL, "mask", "empty")
lesson.in_loops("SelfAttention", _module, *ALL, "tokens")
