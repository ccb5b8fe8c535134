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


lesson.edits(
    by_the_given_block,
    "keys-or-values-from-x | own_values | W_k, context @  -> W_k, x @ ",
    "mask-missing | forgets_the_mask | , open_keys(context_mask) -> ",
)


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
def mask_then_renormalise(x, context, W_q, W_k, W_v, context_mask=None):
    q, k, v = x @ W_q, context @ W_k, context @ W_v
    a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    if context_mask is not None:
        a = a * context_mask[:, None]
        total = a.sum(-1, keepdim=True)
        a = a / torch.where(total == 0, 1.0, total)
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


@wrong("cross_attention", "mutated-input")
def zeroes_the_padding_in_place(x, context, W_q, W_k, W_v, context_mask=None):
    result = by_the_given_block(x, context, W_q, W_k, W_v, context_mask)
    if context_mask is not None:
        context.data[~context_mask] = 0.0
    return result


@wrong("cross_attention", "one-mask-for-all")
def hides_what_is_padding_for_all(x, context, W_q, W_k, W_v, context_mask=None):
    allowed = None if context_mask is None else context_mask.any(0)[None, None]
    return attend(x @ W_q, context @ W_k, context @ W_v, allowed)


@wrong("cross_attention", "one-axis-too-many")
def as_scores_with_heads_need_it(x, context, W_q, W_k, W_v, context_mask=None):
    mask = None if context_mask is None else context_mask[:, None, None]
    return attend(x @ W_q, context @ W_k, context @ W_v, mask)


@wrong("cross_attention", "empty-row-is-nan")
def softmax_without_a_fill(x, context, W_q, W_k, W_v, context_mask=None):
    s = x @ W_q @ (context @ W_k).mT / W_q.shape[-1] ** 0.5
    if context_mask is not None:
        s = s.masked_fill(~context_mask[:, None], -torch.inf)
    return s.softmax(-1) @ (context @ W_v), s.softmax(-1)


# DecoderLayer --------------------------------------------------------------------------------


def split(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).flatten(2)


class MultiHeadAttention(nn.Module):
    """As the lesson gives it."""

    def __init__(self, d, n_heads, bias=True):
        super().__init__()
        if n_heads < 1 or d % n_heads:
            raise ValueError(f"d = {d} does not divide by {n_heads} heads")
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d, d, bias=bias), nn.Linear(d, d, bias=bias)
        self.W_v, self.W_o = nn.Linear(d, d, bias=bias), nn.Linear(d, d, bias=bias)

    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        mask = torch.ones(x.shape[1], x.shape[1]).tril().bool() if causal else None
        out, weights = attend(q, k, v, mask)
        return self.W_o(merge(out)), weights


class CrossAttention(nn.Module):
    """As the lesson gives it."""

    def __init__(self, d, d_context, n_heads, bias=True):
        super().__init__()
        if n_heads < 1 or d % n_heads:
            raise ValueError(f"d = {d} does not divide by {n_heads} heads")
        self.n_heads = n_heads
        self.W_q, self.W_o = nn.Linear(d, d, bias=bias), nn.Linear(d, d, bias=bias)
        self.W_k = nn.Linear(d_context, d, bias=bias)
        self.W_v = nn.Linear(d_context, d, bias=bias)

    def forward(self, x, context, context_mask=None):
        q = split(self.W_q(x), self.n_heads)
        k, v = (split(W(context), self.n_heads) for W in (self.W_k, self.W_v))
        mask = None if context_mask is None else context_mask[:, None, None]
        out, weights = attend(q, k, v, mask)
        return self.W_o(merge(out)), weights


@right("DecoderLayer")
class ByTheBook(nn.Module):
    """Each other answer changes a part."""

    def __init__(self, d, n_heads, d_hidden):
        super().__init__()
        self.self_attention = MultiHeadAttention(d, n_heads)
        self.cross_attention = CrossAttention(d, d, n_heads)
        self.hidden = nn.Linear(d, d_hidden)
        self.out = nn.Linear(d_hidden, d)
        self.norm_1 = nn.LayerNorm(d)
        self.norm_2 = nn.LayerNorm(d)
        self.norm_3 = nn.LayerNorm(d)

    def own(self, x):
        return self.self_attention(x, causal=True)[0]

    def other(self, x, context, context_mask):
        return self.cross_attention(x, context, context_mask)[0]

    def mlp(self, x):
        return self.out(F.relu(self.hidden(x)))

    def forward(self, x, context, context_mask=None):
        x = x + self.own(self.norm_1(x))
        x = x + self.other(self.norm_2(x), context, context_mask)
        return x + self.mlp(self.norm_3(x))


@right("DecoderLayer")
class LinearsByHand(ByTheBook):
    """The submodules hold the parameters, and attention is written out."""

    def read(self, module, x, tokens, allowed):
        H, w = module.n_heads, x.shape[-1] // module.n_heads
        found = []
        q, k, v = module.W_q(x), module.W_k(tokens), module.W_v(tokens)
        for h in range(H):
            part = slice(h * w, (h + 1) * w)
            s = q[..., part] @ k[..., part].mT / math.sqrt(w)
            a = s.masked_fill(~allowed, -1e30).softmax(-1) * allowed
            found.append(a @ v[..., part])
        return module.W_o(torch.cat(found, -1))

    def own(self, x):
        past = torch.arange(x.shape[1])
        return self.read(self.self_attention, x, x, past[:, None] >= past)

    def other(self, x, context, context_mask):
        if context_mask is None:
            context_mask = torch.ones(context.shape[:2], dtype=torch.bool)
        return self.read(self.cross_attention, x, context, context_mask[:, None])


@right("DecoderLayer")
class TokenByToken(ByTheBook):
    """Self-attention of each beginning of the sentence, of which the last row is kept."""

    def own(self, x):
        rows = [self.self_attention(x[:, : n + 1])[0][:, -1] for n in range(x.shape[1])]
        return torch.stack(rows, 1)

    def mlp(self, x):
        return torch.stack([super(TokenByToken, self).mlp(row) for row in x.unbind(1)], 1)


@right("DecoderLayer")
class ChecksItself(ByTheBook):
    def __init__(self, d, n_heads, d_hidden):
        if d % n_heads != 0:
            raise ValueError(f"{d} numbers for {n_heads} heads")
        super().__init__(d, n_heads, d_hidden)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x, context, context_mask=None):
        if x.shape[-1] != context.shape[-1]:
            raise ValueError(f"x is {tuple(x.shape)} and the context {tuple(context.shape)}")
        return self.dropout(super().forward(x, context, context_mask))


@wrong("DecoderLayer", "norm-after")
class AsIn2017(ByTheBook):
    def forward(self, x, context, context_mask=None):
        x = self.norm_1(x + self.own(x))
        x = self.norm_2(x + self.other(x, context, context_mask))
        return self.norm_3(x + self.mlp(x))


@wrong("DecoderLayer", "residual-of-normed")
class CallsTheNormedX(ByTheBook):
    def forward(self, x, context, context_mask=None):
        x = self.norm_1(x)
        x = x + self.own(x)
        x = self.norm_2(x)
        x = x + self.other(x, context, context_mask)
        x = self.norm_3(x)
        return x + self.mlp(x)


@wrong("DecoderLayer", "future-not-hidden")
class ForgetsCausal(ByTheBook):
    def own(self, x):
        return self.self_attention(x)[0]


@wrong("DecoderLayer", "mask-inverted")
class TrueIsPadding(ByTheBook):
    def other(self, x, context, context_mask):
        flipped = None if context_mask is None else ~context_mask
        return super().other(x, context, flipped)


@wrong("DecoderLayer", "context-normalised")
class NormsBoth(ByTheBook):
    def other(self, x, context, context_mask):
        return super().other(x, self.norm_2(context), context_mask)


@wrong("DecoderLayer", "residual-missing")
class NoSumAroundTheHiddenLayer(ByTheBook):
    def forward(self, x, context, context_mask=None):
        x = x + self.own(self.norm_1(x))
        x = x + self.other(self.norm_2(x), context, context_mask)
        return self.mlp(self.norm_3(x))


@wrong("DecoderLayer", "another-bend")
class AsInGpt2(ByTheBook):
    def mlp(self, x):
        return self.out(F.gelu(self.hidden(x)))


@wrong("DecoderLayer", "norms-exchanged")
class OneNormForAll(ByTheBook):
    def forward(self, x, context, context_mask=None):
        x = x + self.own(self.norm_1(x))
        x = x + self.other(self.norm_1(x), context, context_mask)
        return x + self.mlp(self.norm_1(x))


@wrong("DecoderLayer", "wrong-structure")
class NoSecondNorm(ByTheBook):
    def __init__(self, d, n_heads, d_hidden):
        super().__init__(d, n_heads, d_hidden)
        self.norm_2 = self.norm_1


@wrong("DecoderLayer", "reads-itself")
class HandsOverX(ByTheBook):
    def forward(self, x, context, context_mask=None):
        x = x + self.own(self.norm_1(x))
        x = x + self.other(self.norm_2(x), x, None)
        return x + self.mlp(self.norm_3(x))


@wrong("DecoderLayer", "reads-itself")
class HandsOverTheNormedX(ByTheBook):
    def other(self, x, context, context_mask):
        return super().other(x, x, None)


@wrong("DecoderLayer", "reads-an-older-x")
class HiddenReadsTheFirstX(ByTheBook):
    def forward(self, x, context, context_mask=None):
        written = x + self.own(self.norm_1(x))
        read = written + self.other(self.norm_2(written), context, context_mask)
        return read + self.mlp(self.norm_3(x))


@wrong("DecoderLayer", "reads-an-older-x")
class HiddenReadsPastTheContext(ByTheBook):
    def forward(self, x, context, context_mask=None):
        written = x + self.own(self.norm_1(x))
        read = written + self.other(self.norm_2(written), context, context_mask)
        return read + self.mlp(self.norm_3(written))


@wrong("DecoderLayer", "added-to-an-older-x")
class AddsToTheFirstX(ByTheBook):
    def forward(self, x, context, context_mask=None):
        written = x + self.own(self.norm_1(x))
        read = written + self.other(self.norm_2(written), context, context_mask)
        return x + self.mlp(self.norm_3(read))


@wrong("DecoderLayer", "raised")
class ForgetsThatTheyAreTwo(ByTheBook):
    def own(self, x):
        return self.self_attention(x, causal=True)


@wrong("DecoderLayer", "wrong-structure")
class HeadsForTheContextsWidth(ByTheBook):
    def __init__(self, d, n_heads, d_hidden):
        super().__init__(d, n_heads, d_hidden)
        self.cross_attention = CrossAttention(d, n_heads, d)
