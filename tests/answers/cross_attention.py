"""Answers to lesson 08, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import torch
import torch.nn.functional as F
from torch import nn

from . import Lesson
from .in_loops import in_arrays

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


@wrong("cross_attention", "queries-from-context")
def all_turned_round(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(context @ W_q, x @ W_k, x @ W_v, open_keys(context_mask))


@wrong("cross_attention", "keys-or-values-from-x")
def own_values(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_q, context @ W_k, x @ W_v, open_keys(context_mask))


@wrong("cross_attention", "keys-or-values-from-x")
def own_keys(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_q, x @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "keys-or-values-from-x")
def copied_from_lesson_five(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_q, x @ W_k, x @ W_v, open_keys(context_mask))


@wrong("cross_attention", "queries-from-context")
def only_the_shelf(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(context @ W_q, context @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "swapped-k-v")
def matrices_in_another_order(x, context, W_q, W_v, W_k, context_mask=None):
    return attend(x @ W_q, context @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "swapped-w-q-w-k")
def first_two_matrices_swapped(x, context, W_k, W_q, W_v, context_mask=None):
    return attend(x @ W_q, context @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "keys-from-w-q")
def one_matrix_for_both(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_q, context @ W_q, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "queries-from-w-k")
def the_keys_matrix_for_both(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_k, context @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "values-as-keys")
def scored_against_values(x, context, W_q, W_k, W_v, context_mask=None):
    v = context @ W_v
    return attend(x @ W_q, v, v, open_keys(context_mask))


@wrong("cross_attention", "values-not-projected")
def plain_context(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_q, context @ W_k, context, open_keys(context_mask))


@wrong("cross_attention", "nothing-projected")
def no_matrix_at_all(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x, context, context, open_keys(context_mask))


@wrong("cross_attention", "mask-on-queries")
def rows_hidden(x, context, W_q, W_k, W_v, context_mask=None):
    mask = None if context_mask is None else context_mask[:, :, None]
    return attend(x @ W_q, context @ W_k, context @ W_v, mask)


@wrong("cross_attention", "mask-on-queries", "NaN in the rows")
def rows_hidden_by_softmax(x, context, W_q, W_k, W_v, context_mask=None):
    s = x @ W_q @ (context @ W_k).mT / W_q.shape[1] ** 0.5
    if context_mask is not None:
        s = s.masked_fill(~context_mask.unsqueeze(-1), -torch.inf)
    a = s.softmax(-1)
    return a @ (context @ W_v), a


@wrong("cross_attention", "mask-of-wrong-axis")
def mask_as_it_is(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_q, context @ W_k, context @ W_v, context_mask)


@wrong("cross_attention", "scale-by-sqrt-d", "width of x")
def scaled_by_the_token(x, context, W_q, W_k, W_v, context_mask=None):
    q = x @ W_q * (W_q.shape[1] / x.shape[-1]) ** 0.5
    return attend(q, context @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "scale-by-sqrt-d", "width of the context")
def scaled_by_the_context(x, context, W_q, W_k, W_v, context_mask=None):
    q = x @ W_q * (W_q.shape[1] / context.shape[-1]) ** 0.5
    return attend(q, context @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "empty-slope-is-nan")
def infinity_added(x, context, W_q, W_k, W_v, context_mask=None):
    s = x @ W_q @ (context @ W_k).mT / W_q.shape[1] ** 0.5
    if context_mask is not None:
        s = s + torch.zeros_like(context_mask, dtype=s.dtype).masked_fill(
            ~context_mask, -torch.inf
        ).unsqueeze(1)
    a = s.softmax(-1).nan_to_num(0.0)
    return a @ (context @ W_v), a


@wrong("cross_attention", "empty-slope-is-nan")
def nothing_by_nothing(x, context, W_q, W_k, W_v, context_mask=None):
    a = (x @ W_q @ (context @ W_k).mT / W_q.shape[1] ** 0.5).softmax(-1)
    if context_mask is not None:
        a = a * context_mask[:, None]
        a = (a / a.sum(-1, keepdim=True)).nan_to_num(0.0)
    return a @ (context @ W_v), a


@wrong("cross_attention", "empty-row-is-nan")
def empty_rows_forgotten(x, context, W_q, W_k, W_v, context_mask=None):
    s = x @ W_q @ (context @ W_k).mT / W_q.shape[1] ** 0.5
    if context_mask is not None:
        s = s.masked_fill(~context_mask[:, None], -torch.inf)
    a = s.softmax(-1)
    return a @ (context @ W_v), a


@wrong("cross_attention", "mask-inverted")
def true_is_blocked(x, context, W_q, W_k, W_v, context_mask=None):
    mask = None if context_mask is None else ~context_mask[:, None]
    return attend(x @ W_q, context @ W_k, context @ W_v, mask)


@wrong("cross_attention", "mask-missing")
def mask_never_used(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x @ W_q, context @ W_k, context @ W_v)


@wrong("cross_attention", "mask-missing")
def context_set_to_what_it_is(x, context, W_q, W_k, W_v, context_mask=None):
    if context_mask is not None:
        context_mask.unsqueeze(-1).expand(-1, -1, context.shape[-1])
    return attend(x @ W_q, context @ W_k, context @ W_v, None)


@wrong("cross_attention", "padding-zeroed")
def padding_becomes_zero_vectors(x, context, W_q, W_k, W_v, context_mask=None):
    if context_mask is not None:
        context = context * context_mask[..., None]
    return attend(x @ W_q, context @ W_k, context @ W_v)


@wrong("cross_attention", "no-gradient")
def encoder_detached(x, context, W_q, W_k, W_v, context_mask=None):
    context = context.detach()
    return attend(x @ W_q, context @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "no-gradient")
def decoder_detached(x, context, W_q, W_k, W_v, context_mask=None):
    return attend(x.detach() @ W_q, context @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "no-gradient")
def matrices_through_data(x, context, W_q, W_k, W_v, context_mask=None):
    W_q, W_k, W_v = W_q.data, W_k.data, W_v.data
    return attend(x @ W_q, context @ W_k, context @ W_v, open_keys(context_mask))


@wrong("cross_attention", "no-gradient")
def result_detached(x, context, W_q, W_k, W_v, context_mask=None):
    out, a = attend(x @ W_q, context @ W_k, context @ W_v, open_keys(context_mask))
    return out.detach(), a.detach()


@wrong("cross_attention", "mutated-input")
def zeroes_the_padding_in_place(x, context, W_q, W_k, W_v, context_mask=None):
    result = by_the_given_block(x, context, W_q, W_k, W_v, context_mask)
    if context_mask is not None:
        context.data[~context_mask] = 0.0
    return result


@wrong("cross_attention", "mutated-input")
def turns_the_mask_round_in_place(x, context, W_q, W_k, W_v, context_mask=None):
    result = by_the_given_block(x, context, W_q, W_k, W_v, context_mask)
    if context_mask is not None:
        context_mask.logical_not_()
    return result


@wrong("cross_attention", "softmax-over-queries")
def over_queries(x, context, W_q, W_k, W_v, context_mask=None):
    s = x @ W_q @ (context @ W_k).mT / W_q.shape[1] ** 0.5
    if context_mask is not None:
        s = s.masked_fill(~context_mask[:, None], -torch.inf)
    a = s.softmax(1).nan_to_num(0.0)
    return a @ (context @ W_v), a


@wrong("cross_attention", "softmax-over-first-axis")
def over_the_batch(x, context, W_q, W_k, W_v, context_mask=None):
    a = (x @ W_q @ (context @ W_k).mT / W_q.shape[1] ** 0.5).softmax(0)
    return a @ (context @ W_v), a


@wrong("cross_attention", "sequences-joined")
def lists_joined(x, context, W_q, W_k, W_v, context_mask=None):
    both = torch.cat([x, context], dim=1)
    return attend(both @ W_q, both @ W_k, both @ W_v)


@wrong("cross_attention", "raised")
def transposed_by_numbers(x, context, W_q, W_k, W_v, context_mask=None):
    a = (x @ W_q @ (context @ W_k).transpose(0, 1)).softmax(-1)
    return a @ (context @ W_v), a


@wrong("cross_attention", "computed-in-float32")
def softmax_in_float32(x, context, W_q, W_k, W_v, context_mask=None):
    s = x @ W_q @ (context @ W_k).mT / W_q.shape[1] ** 0.5
    if context_mask is not None:
        s = s.masked_fill(~context_mask[:, None], -torch.inf)
    a = s.softmax(-1, dtype=torch.float32).to(x.dtype).nan_to_num(0.0)
    return a @ (context @ W_v), a


def _shifted(shift):
    def cross_attention(x, context, W_q, W_k, W_v, context_mask=None):
        s = x @ W_q @ (context @ W_k).mT / W_q.shape[1] ** 0.5
        if context_mask is not None:
            s = s.masked_fill(~context_mask[:, None], -torch.inf)
        e = (s - shift(s)).exp()
        a = e / e.sum(-1, keepdim=True)
        a = a.masked_fill((s == -torch.inf).all(-1, keepdim=True), 0.0)
        return a @ (context @ W_v), a

    return cross_attention


wrong("cross_attention", "unstable-softmax", "no shift")(_shifted(torch.zeros_like))
wrong("cross_attention", "one-maximum-for-all-rows", "of all")(_shifted(torch.max))
wrong("cross_attention", "maximum-begins-at-0", "from 0")(
    _shifted(lambda s: s.amax(-1, keepdim=True).clamp(min=0))
)
wrong("cross_attention", "absolute-maximum-subtracted", "size")(
    _shifted(lambda s: s.masked_fill(s.isinf(), 0).abs().amax(-1, keepdim=True))
)
wrong("cross_attention", "not-the-maximum-subtracted", "lowest")(
    _shifted(lambda s: s.masked_fill(s.isinf(), torch.inf).amin(-1, keepdim=True))
)


@wrong("cross_attention", "nan-hidden")
def overflow_hidden(x, context, W_q, W_k, W_v, context_mask=None):
    s = x @ W_q @ (context @ W_k).mT / W_q.shape[1] ** 0.5
    if context_mask is not None:
        s = s.masked_fill(~context_mask[:, None], -torch.inf)
    e = s.exp()
    a = (e / e.sum(-1, keepdim=True)).nan_to_num(0.0)
    return a @ (context @ W_v), a


@wrong("cross_attention", "empty-batch-sees-all")
def mask_unless_nothing_is_left(x, context, W_q, W_k, W_v, context_mask=None):
    mask = context_mask if context_mask is not None and context_mask.any() else None
    return attend(x @ W_q, context @ W_k, context @ W_v, open_keys(mask))


@wrong("cross_attention", "not-raised")
def context_cut_to_fit(x, context, W_q, W_k, W_v, context_mask=None):
    if W_q.shape[0] != x.shape[-1] or W_k.shape[0] != W_v.shape[0]:
        raise ValueError("they do not fit")
    width = min(W_k.shape[0], context.shape[-1])
    k, v = (context[..., :width] @ W[:width] for W in (W_k, W_v))
    return attend(x @ W_q, k, v, open_keys(context_mask))


@wrong("cross_attention", "small-number-added")
def minus_a_thousand_more(x, context, W_q, W_k, W_v, context_mask=None):
    q, k, v = x @ W_q, context @ W_k, context @ W_v
    s = q @ k.mT / q.shape[-1] ** 0.5
    if context_mask is None:
        a = s.softmax(-1)
    else:
        a = (s - 1e3 * ~context_mask[:, None]).softmax(-1)
        a = a.masked_fill(~context_mask.any(-1)[:, None, None], 0.0)
    return a @ v, a


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


@wrong("CrossAttention", "heads-not-transposed")
class SplitReshaped(Linears):
    def split(self, x):
        return x.reshape(x.shape[0], self.n_heads, x.shape[1], -1)


@wrong("CrossAttention", "heads-not-transposed")
class MergedReshaped(Linears):
    def merge(self, x):
        return x.reshape(x.shape[0], x.shape[2], -1)


@wrong("CrossAttention", "heads-interleaved")
class EveryHth(Linears):
    def split(self, x):
        return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)

    def merge(self, x):
        return x.permute(0, 2, 3, 1).flatten(2)


@wrong("CrossAttention", "heads-interleaved", "split alone")
class SplitEveryHth(Linears):
    def split(self, x):
        return torch.stack([x[..., h :: self.n_heads] for h in range(self.n_heads)], 1)


@wrong("CrossAttention", "heads-interleaved", "merge alone")
class MergedEveryHth(Linears):
    def merge(self, x):
        return x.permute(0, 2, 3, 1).flatten(2)


@wrong("CrossAttention", "output-not-mixed")
class SideBySide(Linears):
    def forward(self, x, context, context_mask=None):
        q, k, v = map(self.split, self.project(x, context))
        out, a = attend(q, k, v, self.open_keys(context_mask))
        return self.merge(out), a


@wrong("CrossAttention", "weights-not-per-head")
class MeanOfHeads(Linears):
    def forward(self, x, context, context_mask=None):
        out, a = super().forward(x, context, context_mask)
        return out, a.mean(dim=1)


@wrong("CrossAttention", "not-split")
class NeverSplit(Linears):
    def forward(self, x, context, context_mask=None):
        mask = None if context_mask is None else context_mask[:, None]
        out, a = attend(*self.project(x, context), mask)
        return self.W_o(out), a


@wrong("CrossAttention", "not-split", "with an axis for it")
class NeverSplitButCounted(Linears):
    def split(self, x):
        return x[:, None]


@wrong("CrossAttention", "scale-by-sqrt-d")
class FullWidth(Linears):
    def attend(self, q, k, v, mask):
        return attend(q / self.n_heads**0.5, k, v, mask)


@wrong("CrossAttention", "scale-by-sqrt-heads")
class NumberOfHeads(Linears):
    def attend(self, q, k, v, mask):
        return attend(q * (q.shape[-1] / self.n_heads) ** 0.5, k, v, mask)


@wrong("CrossAttention", "queries-from-context")
class TheShelfAsks(Linears):
    def project(self, x, context):
        return self.W_q(context), self.W_k(x), self.W_v(context)


@wrong("CrossAttention", "queries-from-context")
class AllTurnedRound(Linears):
    def project(self, x, context):
        return self.W_q(context), self.W_k(x), self.W_v(x)


@wrong("CrossAttention", "keys-or-values-from-x")
class OwnValues(Linears):
    def project(self, x, context):
        return self.W_q(x), self.W_k(context), self.W_v(x)


@wrong("CrossAttention", "keys-or-values-from-x")
class OwnKeys(Linears):
    def project(self, x, context):
        return self.W_q(x), self.W_k(x), self.W_v(context)


@wrong("CrossAttention", "keys-or-values-from-x")
class CopiedFromLessonSeven(Linears):
    def project(self, x, context):
        return self.W_q(x), self.W_k(x), self.W_v(x)


@wrong("CrossAttention", "queries-from-context")
class OnlyTheShelf(Linears):
    def project(self, x, context):
        return self.W_q(context), self.W_k(context), self.W_v(context)


@wrong("CrossAttention", "swapped-k-v")
class KeysAndValuesSwapped(Linears):
    def project(self, x, context):
        return self.W_q(x), self.W_v(context), self.W_k(context)


@wrong("CrossAttention", "swapped-w-q-w-k")
class QueriesAndKeysSwapped(Linears):
    def project(self, x, context):
        return self.W_k(x), self.W_q(context), self.W_v(context)


@wrong("CrossAttention", "values-as-keys")
class ScoredAgainstValues(Linears):
    def project(self, x, context):
        return self.W_q(x), self.W_v(context), self.W_v(context)


@wrong("CrossAttention", "bias-ignored")
class WeightsAlone(Linears):
    def forward(self, x, context, context_mask=None):
        q = self.split(x @ self.W_q.weight.T)
        k, v = (self.split(context @ W.weight.T) for W in (self.W_k, self.W_v))
        out, a = attend(q, k, v, self.open_keys(context_mask))
        return self.merge(out) @ self.W_o.weight.T, a


@wrong("CrossAttention", "bias-ignored", "of the last")
class LastWeightAlone(Linears):
    def forward(self, x, context, context_mask=None):
        q, k, v = map(self.split, self.project(x, context))
        out, a = attend(q, k, v, self.open_keys(context_mask))
        return F.linear(self.merge(out), self.W_o.weight), a


@wrong("CrossAttention", "bias-ignored", "of the first three")
class FirstWeightsAlone(Linears):
    def project(self, x, context):
        tokens = ((self.W_q, x), (self.W_k, context), (self.W_v, context))
        return tuple(F.linear(t, W.weight) for W, t in tokens)


@wrong("CrossAttention", "mask-on-queries")
class RowsHidden(Linears):
    def open_keys(self, context_mask):
        return None if context_mask is None else context_mask[:, None, :, None]


@wrong("CrossAttention", "mask-of-wrong-axis")
class NoAxisForHeads(Linears):
    def open_keys(self, context_mask):
        return None if context_mask is None else context_mask[:, None]


@wrong("CrossAttention", "mask-of-wrong-axis")
class MaskAsItIs(Linears):
    def open_keys(self, context_mask):
        return context_mask


@wrong("CrossAttention", "mask-inverted")
class TrueIsBlocked(Linears):
    def open_keys(self, context_mask):
        return None if context_mask is None else ~context_mask[:, None, None]


@wrong("CrossAttention", "mask-missing")
class MaskNeverUsed(Linears):
    def open_keys(self, context_mask):
        return None


@wrong("CrossAttention", "mask-with-zero")
class ScoresOfZero(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        a = (s if mask is None else s * mask).softmax(-1)
        return a @ v, a


@wrong("CrossAttention", "padding-zeroed")
class PaddingBecomesZeroVectors(Linears):
    def forward(self, x, context, context_mask=None):
        if context_mask is not None:
            context = context.masked_fill(~context_mask[..., None], 0.0)
        return super().forward(x, context)


@wrong("CrossAttention", "empty-row-is-nan")
class EmptyRowsForgotten(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, -torch.inf)
        a = s.softmax(-1)
        return a @ v, a


@wrong("CrossAttention", "empty-row-shared-out")
class LowNumberAlone(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, -1e9)
        a = s.softmax(-1)
        return a @ v, a


def _weighing(weigh):
    class Weighing(Linears):
        def attend(self, q, k, v, mask):
            s = q @ k.mT / q.shape[-1] ** 0.5
            a = weigh(s if mask is None else s.masked_fill(~mask, -torch.inf))
            if mask is not None:
                a = a.masked_fill(~mask, 0.0)
            return a @ v, a

    return Weighing


def _less(shift):
    def weigh(s):
        e = (s - shift(s)).exp()
        return e / e.sum(-1, keepdim=True)

    return _weighing(weigh)


wrong("CrossAttention", "unstable-softmax", "no shift")(_less(torch.zeros_like))
wrong("CrossAttention", "one-maximum-for-all-rows", "of all")(_less(torch.max))
wrong("CrossAttention", "maximum-begins-at-0", "from 0")(
    _less(lambda s: s.amax(-1, keepdim=True).clamp(min=0))
)
wrong("CrossAttention", "absolute-maximum-subtracted", "size")(
    _less(lambda s: s.masked_fill(s.isinf(), 0).abs().amax(-1, keepdim=True))
)
wrong("CrossAttention", "not-the-maximum-subtracted", "lowest")(
    _less(lambda s: s.masked_fill(s.isinf(), torch.inf).amin(-1, keepdim=True))
)
wrong("CrossAttention", "nan-hidden", "as 0")(
    _weighing(lambda s: (s.exp() / s.exp().sum(-1, keepdim=True)).nan_to_num(0.0))
)
wrong("CrossAttention", "computed-in-float32", "softmax alone")(
    _weighing(lambda s: s.softmax(-1, dtype=torch.float32).to(s.dtype))
)


@wrong("CrossAttention", "mask-with-small-number")
class LowNumberOfMinusTenThousand(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is None:
            a = s.softmax(-1)
        else:
            a = s.masked_fill(~mask, -1e4).softmax(-1)
            a = a.masked_fill(~mask.any(-1, keepdim=True), 0.0)
        return a @ v, a


@wrong("CrossAttention", "empty-batch-sees-all")
class MaskUnlessNothingIsLeft(Linears):
    def open_keys(self, context_mask):
        used = context_mask is not None and context_mask.any()
        return super().open_keys(context_mask) if used else None


@wrong("CrossAttention", "empty-out-is-0")
class ZeroAtTheEnd(Linears):
    def forward(self, x, context, context_mask=None):
        out, a = super().forward(x, context, context_mask)
        if context_mask is not None:
            out = out.masked_fill(~context_mask.any(-1)[:, None, None], 0.0)
        return out, a


@wrong("CrossAttention", "empty-slope-is-nan")
class InfinityAdded(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = s + torch.zeros(mask.shape, dtype=s.dtype).masked_fill(~mask, -torch.inf)
        a = s.softmax(-1).nan_to_num(0.0)
        return a @ v, a


@wrong("CrossAttention", "softmax-over-queries")
class OverQueries(Linears):
    def attend(self, q, k, v, mask):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-2)
        return a @ v, a


@wrong("CrossAttention", "softmax-over-first-axis")
class OverTheBatch(Linears):
    def attend(self, q, k, v, mask):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(0)
        return a @ v, a


@wrong("CrossAttention", "softmax-over-heads")
class OverTheHeads(Linears):
    def attend(self, q, k, v, mask):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(1)
        return a @ v, a


@wrong("CrossAttention", "swapped-results")
class WeightsFirst(Linears):
    def forward(self, x, context, context_mask=None):
        out, a = super().forward(x, context, context_mask)
        return a, out


@wrong("CrossAttention", "no-gradient")
class EncoderDetached(Linears):
    def project(self, x, context):
        return super().project(x, context.detach())


@wrong("CrossAttention", "no-gradient")
class DecoderDetached(Linears):
    def project(self, x, context):
        return super().project(x.detach(), context)


@wrong("CrossAttention", "no-gradient")
class WeightsDetached(Linears):
    def attend(self, q, k, v, mask):
        a = attend(q, k, v, mask)[1]
        return a.detach() @ v, a


@wrong("CrossAttention", "no-gradient")
class MatricesThroughData(Linears):
    def forward(self, x, context, context_mask=None):
        def linear(W, t):
            return F.linear(t, W.weight.data, None if W.bias is None else W.bias.data)

        q = self.split(linear(self.W_q, x))
        k, v = (self.split(linear(W, context)) for W in (self.W_k, self.W_v))
        out, a = attend(q, k, v, self.open_keys(context_mask))
        return linear(self.W_o, self.merge(out)), a


@wrong("CrossAttention", "remembers-a-call")
class KeepsItsFirstContext(Linears):
    def project(self, x, context):
        if not hasattr(self, "kept"):
            self.kept = context
        return super().project(x, self.kept)


@wrong("CrossAttention", "remembers-a-call")
class KeepsItsFirstMask(Linears):
    def forward(self, x, context, context_mask=None):
        if context_mask is None:
            context_mask = getattr(self, "kept", None)
        self.kept = context_mask
        return super().forward(x, context, context_mask)


@wrong("CrossAttention", "remembers-a-call")
class LongestMask(Linears):
    def open_keys(self, context_mask):
        if context_mask is None:
            return None
        kept = getattr(self, "kept", None)
        if kept is None or kept.shape[1] < context_mask.shape[1]:
            self.kept = context_mask
        return super().open_keys(self.kept[:, : context_mask.shape[1]])


@wrong("CrossAttention", "small-number-added")
class MinusAThousandMore(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is None:
            a = s.softmax(-1)
        else:
            a = (s - 1e3 * ~mask).softmax(-1)
            a = a.masked_fill(~mask.any(-1, keepdim=True), 0.0)
        return a @ v, a


@wrong("CrossAttention", "only-in-training")
class KeepsTheContextInEvaluation(Linears):
    def project(self, x, context):
        q, k, v = super().project(x, context)
        if not self.training:
            k, v = self.__dict__.setdefault("kept", {}).setdefault(k.shape, (k, v))
        return q, k, v


@wrong("CrossAttention", "only-in-training")
class MixesTwiceInEvaluation(Linears):
    def forward(self, x, context, context_mask=None):
        out, a = super().forward(x, context, context_mask)
        return out if self.training or context_mask is not None else self.W_o(out), a


@wrong("CrossAttention", "shared-by-modules")
class HeadsOfTheClass(Linears):
    def __init__(self, d, d_context, n_heads, bias=True):
        super().__init__(d, d_context, n_heads, bias)
        del self.n_heads
        HeadsOfTheClass.n_heads = n_heads


@wrong("CrossAttention", "wrong-structure")
class ContextIsAsWideAsX(Linears):
    def __init__(self, d, d_context, n_heads, bias=True):
        super().__init__(d, d, n_heads, bias)


@wrong("CrossAttention", "wrong-structure")
class BiasAlways(Linears):
    def __init__(self, d, d_context, n_heads, bias=True):
        super().__init__(d, d_context, n_heads)


@wrong("CrossAttention", "wrong-structure")
class BiasNever(Linears):
    def __init__(self, d, d_context, n_heads, bias=True):
        super().__init__(d, d_context, n_heads, False)


@wrong("CrossAttention", "wrong-structure")
class BiasNotForTheLast(Linears):
    def __init__(self, d, d_context, n_heads, bias=True):
        super().__init__(d, d_context, n_heads, bias)
        self.W_o = nn.Linear(d, d)


@wrong("CrossAttention", "wrong-structure")
class NoLast(Linears):
    def __init__(self, d, d_context, n_heads, bias=True):
        super().__init__(d, d_context, n_heads, bias)
        del self.W_o

    def forward(self, x, context, context_mask=None):
        q, k, v = map(self.split, self.project(x, context))
        out, a = attend(q, k, v, self.open_keys(context_mask))
        return self.merge(out), a


@wrong("CrossAttention", "not-raised")
class AcceptsAnyHeads(nn.Module):
    def __init__(self, d, d_context, n_heads, bias=True):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_o = nn.Linear(d, d, bias=bias), nn.Linear(d, d, bias=bias)
        self.W_k = nn.Linear(d_context, d, bias=bias)
        self.W_v = nn.Linear(d_context, d, bias=bias)

    split, merge, project, open_keys = (
        Linears.split,
        Linears.merge,
        Linears.project,
        Linears.open_keys,
    )
    attend, forward = Linears.attend, Linears.forward


@wrong("CrossAttention", "raised", "an assertion")
class Asserts(AcceptsAnyHeads):
    def __init__(self, d, d_context, n_heads, bias=True):
        assert d % n_heads == 0, "d must be divisible by n_heads"
        super().__init__(d, d_context, n_heads, bias)


@wrong("CrossAttention", "raised")
class AsksForContextToo(Linears):
    def __init__(self, d, d_context, n_heads, bias=True):
        if d_context % n_heads:
            raise ValueError("d_context must be divisible by n_heads")
        super().__init__(d, d_context, n_heads, bias)


@wrong("CrossAttention", "raised")
class MergedByView(Linears):
    def merge(self, x):
        return x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)


# mistakes in loops ---------------------------------------------------------------------------


def _in_tensors(block, q, k, v, x=None, blocked=None):
    found = in_arrays(block, *(part.detach().numpy() for part in (q, k, v)), x, blocked)
    return tuple(map(torch.from_numpy, found))


def _function(block):
    def cross_attention(x, context, W_q, W_k, W_v, context_mask=None):
        blocked = None if context_mask is None else ~context_mask[:, None].numpy()
        return _in_tensors(
            block, x @ W_q, context @ W_k, context @ W_v, x.detach().numpy(), blocked
        )

    return cross_attention


def _module(block):
    class CrossAttention(Linears):
        def attend(self, q, k, v, mask):
            return _in_tensors(block, q, k, v, blocked=None if mask is None else ~mask.numpy())

    return CrossAttention


ALL = (
    *("softmax", "weights", "rows", "scale", "scaled weights", "scores", "transpose"),
    *("batch", "values", "mask", "empty"),
)
lesson.in_loops("cross_attention", _function, *ALL, "large", "width of values")
lesson.in_loops("CrossAttention", _module, *ALL, "large")
