"""Answers to lesson 07, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import torch
import torch.nn.functional as F
from torch import nn

from . import Lesson

lesson = Lesson("07-multi-head")
wrong, right = lesson.wrong, lesson.right


# split_heads ---------------------------------------------------------------------------------


def fits(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"{x.shape[-1]} numbers for {n_heads} heads")


@wrong("split_heads", "heads-interleaved")
def width_before_heads(x, n_heads):
    fits(x, n_heads)
    B, N, d = x.shape
    return x.reshape(B, N, d // n_heads, n_heads).permute(0, 3, 1, 2)


@right("split_heads")
def reshape_and_transpose(x, n_heads):
    fits(x, n_heads)
    B, N, d = x.shape
    return x.reshape(B, N, n_heads, d // n_heads).transpose(1, 2)


lesson.edits(
    reshape_and_transpose,
    "heads-not-transposed | reshaped_at_once | N, n_heads -> n_heads, N; .transpose(1, 2) -> ",
    "raised | leaves_it_to_pytorch | \n    fits(x, n_heads) -> ",
)


@right("split_heads")
def view_and_contiguous(x, n_heads):
    if x.size(2) % n_heads != 0:
        raise ValueError("d does not divide")
    return x.view(x.size(0), -1, n_heads, x.size(2) // n_heads).transpose(1, 2).contiguous()


@right("split_heads")
def slices(x, n_heads):
    fits(x, n_heads)
    w = x.shape[-1] // n_heads
    heads = [x[:, :, h * w : (h + 1) * w] for h in range(n_heads)]
    return torch.cat([head.unsqueeze(1) for head in heads], 1)


@right("split_heads")
def permuted(x, n_heads):
    width, rest = divmod(x.shape[-1], n_heads)
    if rest:
        raise ValueError("d does not divide")
    return x.reshape(*x.shape[:2], n_heads, width).permute(0, 2, 1, 3)


@right("split_heads")
def sentence_by_sentence(x, n_heads):
    fits(x, n_heads)
    return torch.stack([torch.stack(torch.hsplit(one, n_heads)) for one in x])


# merge_heads ---------------------------------------------------------------------------------


@wrong("merge_heads", "raised")
def viewed(x):
    B, H, N, w = x.shape
    return x.transpose(1, 2).view(B, N, H * w)


@right("merge_heads")
def transpose_and_reshape(x):
    B, H, N, w = x.shape
    return x.transpose(1, 2).reshape(B, N, H * w)


lesson.edits(
    transpose_and_reshape,
    "heads-not-transposed | merged_at_once | transpose(1, 2). -> ",
    "heads-interleaved | heads_last | transpose(1, 2) -> permute(0, 2, 3, 1)",
)


@right("merge_heads")
def contiguous_view(x):
    x = x.transpose(1, 2).contiguous()
    return x.view(x.size(0), x.size(1), -1)


@right("merge_heads")
def concatenated(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


@right("merge_heads")
def flattened(x):
    return x.permute(0, 2, 1, 3).flatten(-2)


@right("merge_heads")
def stacked(x):
    return torch.stack(list(x.unbind(1)), -2).flatten(2)


# MultiHeadAttention --------------------------------------------------------------------------


def split(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).flatten(2)


def attend(q, k, v, mask=None):
    """As the lesson gives it."""
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return weights @ v, weights


class Linears(nn.Module):
    """Four linears, as the signature asks; answers write over what they do otherwise."""

    def __init__(self, d, n_heads, bias=True):
        if d % n_heads:
            raise ValueError(f"{n_heads} heads cannot share {d}")
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d, d, bias=bias)
        self.W_k = nn.Linear(d, d, bias=bias)
        self.W_v = nn.Linear(d, d, bias=bias)
        self.W_o = nn.Linear(d, d, bias=bias)

    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = self.attend(q, k, v, self.mask(x, causal))
        return self.W_o(merge(heads)), weights

    def mask(self, x, causal):
        """True = attend."""
        n = x.shape[1]
        return torch.ones(n, n, dtype=torch.bool).tril() if causal else None

    def attend(self, q, k, v, mask):
        return attend(q, k, v, mask)

    def scores(self, q, k, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        return s if mask is None else s.masked_fill(~mask, -torch.inf)


@wrong("MultiHeadAttention", "heads-not-transposed")
class ReshapedAtOnce(Linears):
    def forward(self, x, causal=False):
        B, N, d = x.shape
        H, w = self.n_heads, d // self.n_heads
        q, k, v = (W(x).view(B, H, N, w) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(heads.transpose(1, 2).reshape(B, N, d)), weights


@wrong("MultiHeadAttention", "heads-interleaved")
class WidthBeforeHeads(Linears):
    def forward(self, x, causal=False):
        B, N, d = x.shape
        q, k, v = (
            W(x).reshape(B, N, d // self.n_heads, self.n_heads).permute(0, 3, 1, 2)
            for W in (self.W_q, self.W_k, self.W_v)
        )
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(merge(heads)), weights


@wrong("MultiHeadAttention", "raised", "x is cut first")
class CutFirst(Linears):
    def forward(self, x, causal=False):
        heads = split(x, self.n_heads)
        q, k, v = self.W_q(heads), self.W_k(heads), self.W_v(heads)
        out, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(merge(out)), weights


@right("MultiHeadAttention")
class ByTheBook(Linears):
    pass


@right("MultiHeadAttention")
class ViewTransposeContiguous(nn.Module):
    def __init__(self, d, n_heads, bias=True):
        super().__init__()
        if d % n_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.d, self.h, self.w = d, n_heads, d // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d, bias) for _ in range(4))

    def forward(self, x, causal=False):
        B, N, _ = x.size()
        q = self.W_q(x).view(B, N, self.h, self.w).transpose(1, 2)
        k = self.W_k(x).view(B, N, self.h, self.w).transpose(1, 2)
        v = self.W_v(x).view(B, N, self.h, self.w).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.w)
        if causal:
            mask = torch.tril(torch.ones(N, N, device=x.device)).view(1, 1, N, N)
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).contiguous().view(B, N, self.d)
        return self.W_o(out), weights


@right("MultiHeadAttention")
class OneProductForThree(Linears):
    def forward(self, x, causal=False):
        linears = (self.W_q, self.W_k, self.W_v)
        packed = torch.cat([W.weight for W in linears])
        bias = None if self.W_q.bias is None else torch.cat([W.bias for W in linears])
        q, k, v = (split(y, self.n_heads) for y in F.linear(x, packed, bias).chunk(3, -1))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(merge(heads)), weights


@right("MultiHeadAttention")
class MaskIsABuffer(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, bias)
        self.register_buffer("triangle", torch.ones(64, 64, dtype=torch.bool).tril())

    def mask(self, x, causal):
        n = x.size(1)
        return self.triangle[:n, :n] if causal else None


@right("MultiHeadAttention")
class RowAfterRow(Linears):
    def attend(self, q, k, v, mask):
        rows = []
        for i in range(q.shape[2]):
            s = (q[:, :, i, None] * k).sum(-1) / math.sqrt(k.shape[-1])
            if mask is not None:
                s = s.masked_fill(~mask[i], -math.inf)
            rows.append(F.softmax(s, -1))
        a = torch.stack(rows, 2)
        return a @ v, a


# mistakes in loops ---------------------------------------------------------------------------
