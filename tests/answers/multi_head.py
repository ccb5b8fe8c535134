"""Answers to lesson 07, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import torch
import torch.nn.functional as F
from torch import nn

from . import Lesson
from .in_loops import in_arrays

lesson = Lesson("07-multi-head")
wrong, right = lesson.wrong, lesson.right


# split_heads ---------------------------------------------------------------------------------


def fits(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"{x.shape[-1]} numbers for {n_heads} heads")


@wrong("split_heads", "heads-not-transposed")
def reshaped_at_once(x, n_heads):
    fits(x, n_heads)
    B, N, d = x.shape
    return x.reshape(B, n_heads, N, d // n_heads)


@wrong("split_heads", "heads-interleaved")
def width_before_heads(x, n_heads):
    fits(x, n_heads)
    B, N, d = x.shape
    return x.reshape(B, N, d // n_heads, n_heads).permute(0, 3, 1, 2)


@wrong("split_heads", "heads-interleaved")
def strides(x, n_heads):
    fits(x, n_heads)
    return torch.stack([x[..., h::n_heads] for h in range(n_heads)], 1)


@wrong("split_heads", "axes-not-exchanged")
def only_reshaped(x, n_heads):
    fits(x, n_heads)
    B, N, d = x.shape
    return x.view(B, N, n_heads, d // n_heads)


@wrong("split_heads", "heads-before-batch")
def stacked_in_front(x, n_heads):
    fits(x, n_heads)
    return torch.stack(x.chunk(n_heads, -1))


@wrong("split_heads", "heads-in-the-batch")
def as_a_larger_batch(x, n_heads):
    fits(x, n_heads)
    B, N, d = x.shape
    x = x.reshape(B, N, n_heads, d // n_heads).transpose(1, 2)
    return x.reshape(B * n_heads, N, d // n_heads)


@wrong("split_heads", "tokens-last")
def ready_to_be_multiplied(x, n_heads):
    fits(x, n_heads)
    B, N, d = x.shape
    return x.reshape(B, N, n_heads, d // n_heads).permute(0, 2, 3, 1)


@wrong("split_heads", "heads-and-width-exchanged")
def so_many_numbers(x, n_heads):
    fits(x, n_heads)
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


@wrong("split_heads", "not-split")
def all_of_d(x, n_heads):
    fits(x, n_heads)
    return x[:, None].repeat(1, n_heads, 1, 1)


@wrong("split_heads", "no-gradient")
def through_data(x, n_heads):
    fits(x, n_heads)
    return x.data.unflatten(-1, (n_heads, -1)).transpose(1, 2)


@wrong("split_heads", "raised")
def leaves_it_to_pytorch(x, n_heads):
    B, N, d = x.shape
    return x.reshape(B, N, n_heads, d // n_heads).transpose(1, 2)


@wrong("split_heads", "not-raised")
def drops_the_rest(x, n_heads):
    width = x.shape[-1] // n_heads
    return x[..., : width * n_heads].reshape(*x.shape[:2], n_heads, width).transpose(1, 2)


@wrong("split_heads", "not-raised")
def uneven_chunks(x, n_heads):
    if x.shape[-1] < n_heads:
        raise ValueError
    pieces = torch.tensor_split(x, n_heads, -1)
    width = max(piece.shape[-1] for piece in pieces)
    return torch.stack([F.pad(piece, (0, width - piece.shape[-1])) for piece in pieces], 1)


@wrong("split_heads", "raised")
def viewed_after_a_transpose(x, n_heads):
    fits(x, n_heads)
    B, N, d = x.shape
    return x.mT.view(B, n_heads, N, d // n_heads)


@right("split_heads")
def reshape_and_transpose(x, n_heads):
    fits(x, n_heads)
    B, N, d = x.shape
    return x.reshape(B, N, n_heads, d // n_heads).transpose(1, 2)


@right("split_heads")
def view_and_contiguous(x, n_heads):
    if x.size(2) % n_heads != 0:
        raise ValueError("d does not divide")
    return x.view(x.size(0), -1, n_heads, x.size(2) // n_heads).transpose(1, 2).contiguous()


@right("split_heads")
def unflatten(x, n_heads):
    fits(x, n_heads)
    return x.unflatten(-1, (n_heads, -1)).movedim(-2, 1)


@right("split_heads")
def chunks(x, n_heads):
    fits(x, n_heads)
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


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
def unfolded(x, n_heads):
    fits(x, n_heads)
    w = x.shape[-1] // n_heads
    return x.unfold(-1, w, w).transpose(1, 2)


@right("split_heads")
def sentence_by_sentence(x, n_heads):
    fits(x, n_heads)
    return torch.stack([torch.stack(torch.hsplit(one, n_heads)) for one in x])


@right("split_heads")
def by_einsum(x, n_heads):
    fits(x, n_heads)
    return torch.einsum("bnhw->bhnw", x.reshape(*x.shape[:-1], n_heads, -1))


@right("split_heads")
def error_turned(x, n_heads):
    try:
        return x.reshape(*x.shape[:2], n_heads, x.shape[-1] // n_heads).swapaxes(1, 2)
    except RuntimeError as error:
        raise ValueError(f"{n_heads} heads cannot share {tuple(x.shape)}") from error


# merge_heads ---------------------------------------------------------------------------------


@wrong("merge_heads", "heads-not-transposed")
def merged_at_once(x):
    B, H, N, w = x.shape
    return x.reshape(B, N, H * w)


@wrong("merge_heads", "heads-interleaved")
def heads_last(x):
    B, H, N, w = x.shape
    return x.permute(0, 2, 3, 1).reshape(B, N, H * w)


@wrong("merge_heads", "wrong-axes-exchanged")
def last_two(x):
    B, H, N, w = x.shape
    return x.mT.reshape(B, N, H * w)


@wrong("merge_heads", "wrong-axes-exchanged")
def second_and_last(x):
    B, H, N, w = x.shape
    return x.transpose(1, -1).reshape(B, N, H * w)


@wrong("merge_heads", "heads-averaged")
def mean_of_heads(x):
    return x.mean(dim=1)


@wrong("merge_heads", "heads-averaged")
def sum_of_heads(x):
    return torch.einsum("bhnw->bnw", x)


@wrong("merge_heads", "one-head-only")
def first_head(x):
    return x[:, 0]


@wrong("merge_heads", "one-head-only")
def overwritten(x):
    for head in x.unbind(1):
        out = head
    return out


@wrong("merge_heads", "heads-below-each-other")
def joined_along_tokens(x):
    return torch.cat(x.unbind(1), 1)


@wrong("merge_heads", "not-merged")
def only_transposed(x):
    return x.transpose(1, 2)


@wrong("merge_heads", "tokens-last")
def width_first(x):
    return x.mT.flatten(1, 2)


@wrong("merge_heads", "no-gradient")
def merged_copy(x):
    return torch.tensor(x.transpose(1, 2).flatten(2).tolist(), dtype=x.dtype)


@wrong("merge_heads", "raised")
def viewed(x):
    B, H, N, w = x.shape
    return x.transpose(1, 2).view(B, N, H * w)


@right("merge_heads")
def transpose_and_reshape(x):
    B, H, N, w = x.shape
    return x.transpose(1, 2).reshape(B, N, H * w)


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


@right("merge_heads")
def written_into(x):
    B, H, N, w = x.shape
    out = x.new_zeros(B, N, H * w)
    for h in range(H):
        out[:, :, h * w : (h + 1) * w] = x[:, h]
    return out


@right("merge_heads")
def einsum_and_flatten(x):
    return torch.einsum("bhnw->bnhw", x).flatten(2, 3)


@right("merge_heads")
def sentence_after_sentence(x):
    return torch.stack([torch.hstack(list(one)) for one in x])


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


@wrong("MultiHeadAttention", "heads-not-transposed")
class ReshapedThereAndBack(Linears):
    def forward(self, x, causal=False):
        B, N, d = x.shape
        H, w = self.n_heads, d // self.n_heads
        q, k, v = (W(x).reshape(B, H, N, w) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(heads.reshape(B, N, d)), weights


@wrong("MultiHeadAttention", "heads-not-transposed")
class MergedAtOnce(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(heads.reshape(x.shape)), weights


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


@wrong("MultiHeadAttention", "heads-interleaved")
class WidthBeforeHeadsTwice(Linears):
    def forward(self, x, causal=False):
        B, N, d = x.shape
        q, k, v = (
            W(x).reshape(B, N, d // self.n_heads, self.n_heads).permute(0, 3, 1, 2)
            for W in (self.W_q, self.W_k, self.W_v)
        )
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(heads.permute(0, 2, 3, 1).reshape(B, N, d)), weights


@wrong("MultiHeadAttention", "heads-interleaved")
class MergedInTurn(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(torch.stack(heads.unbind(1), -1).flatten(2)), weights


@wrong("MultiHeadAttention", "scale-by-sqrt-d")
class WidthOfTheModel(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / self.W_q.out_features**0.5
        a = (s if mask is None else s.masked_fill(~mask, -torch.inf)).softmax(-1)
        return a @ v, a


@wrong("MultiHeadAttention", "scale-by-sqrt-heads")
class NumberOfHeads(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / self.n_heads**0.5
        a = (s if mask is None else s.masked_fill(~mask, -torch.inf)).softmax(-1)
        return a @ v, a


@wrong("MultiHeadAttention", "no-scale")
class Unscaled(Linears):
    def attend(self, q, k, v, mask):
        return attend(q * q.shape[-1] ** 0.5, k, v, mask)


@wrong("MultiHeadAttention", "softmax-over-heads")
class OverHeads(Linears):
    def attend(self, q, k, v, mask):
        a = self.scores(q, k, mask).softmax(1)
        return a @ v, a


@wrong("MultiHeadAttention", "softmax-over-queries")
class OverQueries(Linears):
    def attend(self, q, k, v, mask):
        a = self.scores(q, k, mask).softmax(2)
        return a @ v, a


@wrong("MultiHeadAttention", "softmax-over-first-axis")
class OverTheBatch(Linears):
    def attend(self, q, k, v, mask):
        a = self.scores(q, k, mask).softmax(0)
        return a @ v, a


@wrong("MultiHeadAttention", "heads-attend-to-heads")
class CutAndNotExchanged(Linears):
    def forward(self, x, causal=False):
        B, N, d = x.shape
        q, k, v = (W(x).view(B, N, self.n_heads, -1) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(heads.reshape(B, N, d)), weights


@wrong("MultiHeadAttention", "cut-before-projected")
class EachHeadItsOwnSlice(Linears):
    def forward(self, x, causal=False):
        found = []
        for h in range(self.n_heads):
            w = x.shape[-1] // self.n_heads
            own = slice(h * w, (h + 1) * w)
            q, k, v = (
                F.linear(x[..., own], W.weight[own, own], None if W.bias is None else W.bias[own])
                for W in (self.W_q, self.W_k, self.W_v)
            )
            found.append(attend(q, k, v, self.mask(x, causal)))
        out, weights = zip(*found, strict=True)
        return self.W_o(torch.cat(out, -1)), torch.stack(weights, 1)


@wrong("MultiHeadAttention", "raised", "x is cut first")
class CutFirst(Linears):
    def forward(self, x, causal=False):
        heads = split(x, self.n_heads)
        q, k, v = self.W_q(heads), self.W_k(heads), self.W_v(heads)
        out, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(merge(out)), weights


@wrong("MultiHeadAttention", "heads-share-a-pattern")
class MeanPattern(Linears):
    def attend(self, q, k, v, mask):
        _, a = attend(q, k, v, mask)
        return a.mean(1, keepdim=True) @ v, a


@wrong("MultiHeadAttention", "weights-not-per-head")
class AveragedWeights(Linears):
    def forward(self, x, causal=False):
        out, weights = super().forward(x, causal)
        return out, weights.mean(dim=1)


@wrong("MultiHeadAttention", "weights-not-per-head")
class AveragedWeightsSpread(Linears):
    def forward(self, x, causal=False):
        out, weights = super().forward(x, causal)
        return out, weights.mean(dim=1, keepdim=True).expand(weights.shape)


@wrong("MultiHeadAttention", "weights-not-per-head")
class FirstWeights(Linears):
    def forward(self, x, causal=False):
        out, weights = super().forward(x, causal)
        return out, weights[:, 0]


@wrong("MultiHeadAttention", "weights-not-per-head")
class LastWeights(Linears):
    def forward(self, x, causal=False):
        out, weights = super().forward(x, causal)
        return out, weights[:, -1]


@wrong("MultiHeadAttention", "swapped-k-v")
class KeysAndValuesSwapped(Linears):
    def attend(self, q, k, v, mask):
        return attend(q, v, k, mask)


@wrong("MultiHeadAttention", "swapped-q-k")
class QueriesAndKeysSwapped(Linears):
    def attend(self, q, k, v, mask):
        return attend(k, q, v, mask)


@wrong("MultiHeadAttention", "swapped-results")
class WeightsFirst(Linears):
    def forward(self, x, causal=False):
        return super().forward(x, causal)[::-1]


@wrong("MultiHeadAttention", "heads-and-batch-exchanged")
class LargerBatch(Linears):
    def forward(self, x, causal=False):
        B, N, d = x.shape
        H, w = self.n_heads, d // self.n_heads
        q, k, v = (split(W(x), H).reshape(B * H, N, w) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        heads = heads.view(H, B, N, w).permute(1, 2, 0, 3).reshape(B, N, d)
        return self.W_o(heads), weights.view(B, H, N, N)


@wrong("MultiHeadAttention", "heads-and-batch-exchanged")
class LargerBatchTwice(Linears):
    def forward(self, x, causal=False):
        B, N, d = x.shape
        H, w = self.n_heads, d // self.n_heads
        q, k, v = (split(W(x), H).reshape(B * H, N, w) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        heads = heads.view(H, B, N, w).permute(1, 2, 0, 3).reshape(B, N, d)
        return self.W_o(heads), weights.view(H, B, N, N).transpose(0, 1)


@wrong("MultiHeadAttention", "one-head-only")
class LastHeadWritten(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        w = q.shape[-1]
        for h in range(self.n_heads):
            joined = torch.zeros_like(x)
            joined[..., h * w : (h + 1) * w] = heads[:, h]
        return self.W_o(joined), weights


@wrong("MultiHeadAttention", "output-not-mixed")
class NoOutputProjection(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return merge(heads), weights


@wrong("MultiHeadAttention", "bias-ignored")
class WeightsAlone(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(x @ W.weight.T, self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return merge(heads) @ self.W_o.weight.T, weights


@wrong("MultiHeadAttention", "bias-ignored")
class OutputWithoutBias(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return F.linear(merge(heads), self.W_o.weight), weights


@wrong("MultiHeadAttention", "weight-not-transposed")
class WrongSideOfWeights(Linears):
    def forward(self, x, causal=False):
        def times(W, x):
            y = x @ W.weight
            return y if W.bias is None else y + W.bias

        q, k, v = (split(times(W, x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return times(self.W_o, merge(heads)), weights


@wrong("MultiHeadAttention", "weight-not-transposed")
class WeightsOnTheWrongSideAlone(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(x @ W.weight, self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return merge(heads) @ self.W_o.weight, weights


@wrong("MultiHeadAttention", "weight-not-transposed")
class OutputMatrixAlone(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return merge(heads) @ self.W_o.weight, weights


@wrong("MultiHeadAttention", "causal-unasked")
class AlwaysCausal(Linears):
    def mask(self, x, causal):
        return super().mask(x, True)


@wrong("MultiHeadAttention", "causal-unasked")
class CausalIfNot(Linears):
    def mask(self, x, causal):
        return super().mask(x, not causal)


@wrong("MultiHeadAttention", "mask-missing")
class NeverCausal(Linears):
    def mask(self, x, causal):
        return None


@wrong("MultiHeadAttention", "mask-inverted")
class TriangleAsBlocked(Linears):
    def mask(self, x, causal):
        n = x.shape[1]
        return torch.ones(n, n).triu(1).bool() if causal else None


@wrong("MultiHeadAttention", "mask-transposed")
class UpperTriangle(Linears):
    def mask(self, x, causal):
        n = x.shape[1]
        return torch.ones(n, n).triu().bool() if causal else None


@wrong("MultiHeadAttention", "mask-off-by-one")
class NotItself(Linears):
    def mask(self, x, causal):
        n = x.shape[1]
        return torch.ones(n, n).tril(-1).bool() if causal else None


@wrong("MultiHeadAttention", "mask-off-by-one")
class TheNextToo(Linears):
    def mask(self, x, causal):
        n = x.shape[1]
        return torch.ones(n, n).tril(1).bool() if causal else None


@wrong("MultiHeadAttention", "mask-after-softmax")
class MaskedLate(Linears):
    def attend(self, q, k, v, mask):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        a = a if mask is None else a * mask
        return a @ v, a


@wrong("MultiHeadAttention", "mask-with-small-number")
class MinusAThousand(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        a = (s if mask is None else s.masked_fill(~mask, -1e3)).softmax(-1)
        return a @ v, a


@wrong("MultiHeadAttention", "residual-added")
class Residual(Linears):
    def forward(self, x, causal=False):
        out, weights = super().forward(x, causal)
        return x + out, weights


@wrong("MultiHeadAttention", "not-split")
class OneHeadForAll(Linears):
    def forward(self, x, causal=False):
        out, a = attend(self.W_q(x), self.W_k(x), self.W_v(x), self.mask(x, causal))
        return self.W_o(out), a.unsqueeze(1).repeat(1, self.n_heads, 1, 1)


@wrong("MultiHeadAttention", "not-split")
class OneHead(Linears):
    def forward(self, x, causal=False):
        out, a = attend(self.W_q(x), self.W_k(x), self.W_v(x), self.mask(x, causal))
        return self.W_o(out), a


@wrong("MultiHeadAttention", "unstable-softmax")
class PlainExp(Linears):
    def attend(self, q, k, v, mask):
        e = self.scores(q, k, mask).exp()
        a = e / e.sum(-1, keepdim=True)
        return a @ v, a


@wrong("MultiHeadAttention", "one-maximum-for-all-rows")
class GlobalMaximum(Linears):
    def attend(self, q, k, v, mask):
        s = self.scores(q, k, mask)
        e = (s - s.max()).exp()
        a = e / e.sum(-1, keepdim=True)
        return a @ v, a


@wrong("MultiHeadAttention", "maximum-begins-at-0")
class LargestFromZero(Linears):
    def attend(self, q, k, v, mask):
        s = self.scores(q, k, mask)
        e = (s - s.amax(-1, keepdim=True).clamp(min=0)).exp()
        a = e / e.sum(-1, keepdim=True)
        return a @ v, a


@wrong("MultiHeadAttention", "absolute-maximum-subtracted")
class SizeSubtracted(Linears):
    def attend(self, q, k, v, mask):
        s = self.scores(q, k, mask)
        e = (s - s.masked_fill(s.isinf(), 0).abs().amax(-1, keepdim=True)).exp()
        a = e / e.sum(-1, keepdim=True)
        return a @ v, a


@wrong("MultiHeadAttention", "nan-hidden")
class NanToZero(Linears):
    def attend(self, q, k, v, mask):
        e = self.scores(q, k, mask).exp()
        a = (e / e.sum(-1, keepdim=True)).nan_to_num(0.0)
        return a @ v, a


@wrong("MultiHeadAttention", "scores-clipped")
class Clamped(Linears):
    def attend(self, q, k, v, mask):
        s = (q @ k.mT / q.shape[-1] ** 0.5).clamp(-50, 50)
        a = (s if mask is None else s.masked_fill(~mask, -torch.inf)).softmax(-1)
        return a @ v, a


@wrong("MultiHeadAttention", "computed-in-float32")
class SoftmaxInFloat32(Linears):
    def attend(self, q, k, v, mask):
        a = self.scores(q, k, mask).softmax(-1, dtype=torch.float32).to(q.dtype)
        return a @ v, a


@wrong("MultiHeadAttention", "no-gradient")
class Detached(Linears):
    def attend(self, q, k, v, mask):
        out, a = attend(q, k, v, mask)
        return out.detach(), a.detach()


@wrong("MultiHeadAttention", "no-gradient")
class WeightsReturnedDetached(Linears):
    def attend(self, q, k, v, mask):
        out, a = attend(q, k, v, mask)
        return out, a.detach()


@wrong("MultiHeadAttention", "no-gradient")
class MixedWithDetached(Linears):
    def attend(self, q, k, v, mask):
        _, a = attend(q, k, v, mask)
        return a.detach() @ v, a


@wrong("MultiHeadAttention", "no-gradient")
class WeightsThroughData(Linears):
    def attend(self, q, k, v, mask):
        a = attend(q, k, v, mask)[1].data
        return a @ v, a


@wrong("MultiHeadAttention", "no-gradient")
class MatricesThroughData(Linears):
    def forward(self, x, causal=False):
        def linear(W, x):
            return F.linear(x, W.weight.data, W.bias if W.bias is None else W.bias.data)

        q, k, v = (split(linear(W, x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return linear(self.W_o, merge(heads)), weights


@wrong("MultiHeadAttention", "wrong-structure")
class OutputAlwaysBiased(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, bias)
        self.W_o = nn.Linear(d, d)


@wrong("MultiHeadAttention", "wrong-structure")
class BiasNever(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, False)


@wrong("MultiHeadAttention", "wrong-structure")
class NoBiasUnlessAsked(Linears):
    def __init__(self, d, n_heads, bias=False):
        super().__init__(d, n_heads, bias)


@wrong("MultiHeadAttention", "wrong-structure")
class NoOutputMatrix(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, bias)
        self.W_o = nn.Identity()


@wrong("MultiHeadAttention", "wrong-structure")
class NarrowMatrices(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, bias)
        self.W_q, self.W_k, self.W_v = (nn.Linear(d, d // n_heads, bias=bias) for _ in range(3))


@wrong("MultiHeadAttention", "wrong-structure")
class PackedMatrices(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, bias)
        del self.W_q, self.W_k, self.W_v
        self.W_qkv = nn.Linear(d, 3 * d, bias=bias)


@wrong("MultiHeadAttention", "raised")
class AssertsThatItFits(Linears):
    def __init__(self, d, n_heads, bias=True):
        assert d % n_heads == 0
        super().__init__(d, n_heads, bias)


@wrong("MultiHeadAttention", "not-raised")
class FoundOutLater(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, 1, bias)
        self.n_heads = n_heads


@wrong("MultiHeadAttention", "raised")
class HeadsAveraged(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(heads.mean(1)), weights


@wrong("MultiHeadAttention", "raised")
class NeverMerged(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(heads), weights


@wrong("MultiHeadAttention", "raised")
class ViewedAfterTranspose(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        return self.W_o(heads.transpose(1, 2).view(x.shape)), weights


@wrong("MultiHeadAttention", "remembers-a-call")
class KeepsItsMask(Linears):
    kept = None

    def mask(self, x, causal):
        if causal and self.kept is None:
            self.kept = super().mask(x, True)
        return self.kept if causal else None


@wrong("MultiHeadAttention", "remembers-a-call")
class CutsItsMask(Linears):
    kept = None

    def mask(self, x, causal):
        if causal and self.kept is None:
            self.kept = super().mask(x, True)
        return self.kept[: x.shape[1], : x.shape[1]] if causal else None


@wrong("MultiHeadAttention", "not-the-maximum-subtracted")
class LowestSubtracted(Linears):
    def attend(self, q, k, v, mask):
        s = self.scores(q, k, mask)
        e = (s - s.masked_fill(s.isinf(), torch.inf).amin(-1, keepdim=True)).exp()
        a = e / e.sum(-1, keepdim=True)
        return a @ v, a


@wrong("MultiHeadAttention", "small-number-added")
class MinusAThousandMore(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        a = (s if mask is None else s - 1e3 * ~mask).softmax(-1)
        return a @ v, a


@wrong("MultiHeadAttention", "only-in-training")
class CausalInEvaluation(Linears):
    def mask(self, x, causal):
        return super().mask(x, causal or not self.training)


@wrong("MultiHeadAttention", "only-in-training")
class CutOffInEvaluation(Linears):
    def forward(self, x, causal=False):
        return super().forward(x if self.training else x.detach(), causal)


@wrong("MultiHeadAttention", "shared-by-modules")
class WidthOfTheClass(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, bias)
        WidthOfTheClass.width = d // n_heads

    def attend(self, q, k, v, mask):
        return attend(q * (q.shape[-1] / self.width) ** 0.5, k, v, mask)


@wrong("MultiHeadAttention", "shared-by-modules")
class LastBiasOfTheClass(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, bias)
        LastBiasOfTheClass.last = [self.W_o.bias]

    def forward(self, x, causal=False):
        out, a = super().forward(x, causal)
        other = self.last[0]
        if self.W_o.bias is None or other.shape != self.W_o.bias.shape:
            return out, a
        return out - self.W_o.bias + other, a


@wrong("MultiHeadAttention", "shared-by-modules")
class HeadsOfTheClass(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, bias)
        del self.n_heads
        HeadsOfTheClass.n_heads = n_heads


@wrong("MultiHeadAttention", "mask-with-small-number", "of -10,000")
class MinusTenThousand(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        a = (s if mask is None else s.masked_fill(~mask, -1e4)).softmax(-1)
        return a @ v, a


@wrong("MultiHeadAttention", "remembers-a-call")
class KeepsItsAnswer(Linears):
    kept = None

    def forward(self, x, causal=False):
        if self.kept is None:
            self.kept = super().forward(x, causal)
        return tuple(part.to(x.dtype) for part in self.kept)


@wrong("MultiHeadAttention", "wrong-shape")
class HeadsStayApart(Linears):
    def forward(self, x, causal=False):
        out, weights = super().forward(x, causal)
        return split(out, self.n_heads), weights


@wrong("MultiHeadAttention", "non-finite")
class EmptyRows(Linears):
    def attend(self, q, k, v, mask):
        s = q @ k.mT / q.shape[-1] ** 0.5
        s = s if mask is None else s.masked_fill(mask, -torch.inf)
        a = s.masked_fill(torch.eye(s.shape[-1]) > 0, torch.nan).softmax(-1)
        return a @ v, a


@right("MultiHeadAttention")
class ByTheBook(Linears):
    pass


@right("MultiHeadAttention")
class HeadAfterHead(Linears):
    def forward(self, x, causal=False):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        w = x.shape[-1] // self.n_heads
        outs, patterns = [], []
        for h in range(self.n_heads):
            part = slice(h * w, (h + 1) * w)
            s = q[..., part] @ k[..., part].mT / math.sqrt(w)
            if causal:
                s = s + torch.full_like(s, -torch.inf).triu(1)
            patterns.append(F.softmax(s, dim=-1))
            outs.append(patterns[-1] @ v[..., part])
        return self.W_o(torch.cat(outs, -1)), torch.stack(patterns, 1)


@right("MultiHeadAttention")
class Einsums(Linears):
    def forward(self, x, causal=False):
        B, N, d = x.shape
        q, k, v = (W(x).view(B, N, self.n_heads, -1) for W in (self.W_q, self.W_k, self.W_v))
        s = torch.einsum("bnhw,bmhw->bhnm", q, k) * (d // self.n_heads) ** -0.5
        if causal:
            future = torch.ones(N, N, dtype=torch.bool, device=x.device).triu(1)
            s = s.masked_fill(future, float("-inf"))
        a = s.softmax(-1)
        return self.W_o(torch.einsum("bhnm,bmhw->bnhw", a, v).reshape(B, N, d)), a


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
class HeadsAsALargerBatch(Linears):
    def forward(self, x, causal=False):
        B, N, d = x.shape
        H, w = self.n_heads, d // self.n_heads
        q, k, v = (
            W(x).view(B, N, H, w).permute(0, 2, 1, 3).reshape(B * H, N, w)
            for W in (self.W_q, self.W_k, self.W_v)
        )
        s = torch.bmm(q, k.mT) / w**0.5
        if causal:
            s = s.masked_fill(torch.ones(N, N).triu(1) == 1, -torch.inf)
        a = s.softmax(-1)
        out = torch.bmm(a, v).view(B, H, N, w).transpose(1, 2).reshape(B, N, d)
        return self.W_o(out), a.view(B, H, N, N)


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
class SumOverHeads(Linears):
    def forward(self, x, causal=False):
        q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        heads, weights = attend(q, k, v, self.mask(x, causal))
        rows = self.W_o.weight.mT.unflatten(0, (self.n_heads, -1))
        out = torch.einsum("bhnw,hwd->bnd", heads, rows)
        return (out if self.W_o.bias is None else out + self.W_o.bias), weights


@right("MultiHeadAttention")
class ScaledQueries(Linears):
    def attend(self, q, k, v, mask):
        s = (q * q.shape[-1] ** -0.5) @ k.mT
        a = (s if mask is None else s.masked_fill(~mask, -1e9)).softmax(-1)
        return a @ v, a


@right("MultiHeadAttention")
class MaskedThenRenormalised(Linears):
    def attend(self, q, k, v, mask):
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        if mask is not None:
            a = a * mask
            a = a / a.sum(-1, keepdim=True)
        return a @ v, a


@right("MultiHeadAttention")
class MaskIsABuffer(Linears):
    def __init__(self, d, n_heads, bias=True):
        super().__init__(d, n_heads, bias)
        self.register_buffer("triangle", torch.ones(64, 64, dtype=torch.bool).tril())

    def mask(self, x, causal):
        n = x.size(1)
        return self.triangle[:n, :n] if causal else None


@right("MultiHeadAttention")
class AlwaysAMask(Linears):
    def mask(self, x, causal):
        n = x.shape[1]
        i = torch.arange(n)
        return (i[None, :] <= i[:, None]) | (not causal)


@right("MultiHeadAttention")
class Vmapped(Linears):
    def attend(self, q, k, v, mask):
        one = torch.func.vmap(lambda q, k, v: attend(q, k, v, mask))
        return torch.func.vmap(one)(q, k, v)


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


@right("MultiHeadAttention")
class LogSumExp(Linears):
    def attend(self, q, k, v, mask):
        s = self.scores(q, k, mask)
        a = (s - s.logsumexp(-1, keepdim=True)).exp()
        return a @ v, a


# mistakes in loops ---------------------------------------------------------------------------


def _module(block):
    class MultiHeadAttention(Linears):
        def forward(self, x, causal=False):
            q, k, v = (split(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
            blocked = torch.ones(x.shape[1], x.shape[1]).triu(1).bool().numpy() if causal else None
            parts = (part.detach().numpy() for part in (q, k, v, split(x, self.n_heads)))
            heads, weights = map(torch.from_numpy, in_arrays(block, *parts, blocked))
            return self.W_o(merge(heads)), weights

    return MultiHeadAttention


lesson.in_loops(
    "MultiHeadAttention",
    _module,
    *("softmax", "weights", "rows", "scale", "scaled weights", "scores", "transpose"),
    *("batch", "values", "tokens", "mask", "causal"),
)
