"""The small model: GPT-2's block with ReLU, with GPT-2's names, so that its weights fit there.

Pre-norm blocks, learned positions, the embedding used again as the last layer (Radford et al. 2019,
section 2.3). `change` is where an experiment reaches in: it gets what a layer's heads give, before
they are mixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Takes a layer's number, and what its heads give, (B, H, N, d/H); returns what is mixed instead.
Change = Callable[[int, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a model is made of.

    Attributes:
        words: in its vocabulary.
        positions: the longest text.
        width: d.
        layers, heads: how many; each layer has as many heads.
    """

    words: int
    positions: int = 64
    width: int = 64
    layers: int = 2
    heads: int = 4


class Conv1D(nn.Module):
    """x W + b, with W (in, out) as GPT-2 stores it: nn.Linear has it the other way round."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_in, n_out) * 0.02)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


class Attention(nn.Module):
    """Causal self-attention with heads."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn = Conv1D(width, 3 * width)
        self.c_proj = Conv1D(width, width)

    def forward(self, x: Tensor, change: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        """(B, N, d) to (B, N, d) and weights (B, H, N, N)."""
        parts = self.c_attn(x).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        n = x.shape[1]
        blocked = torch.ones(n, n, device=x.device).triu(1).bool()  # True = blocked
        weights = scores.masked_fill(blocked, -math.inf).softmax(dim=-1)
        mixed = change(weights @ v).transpose(1, 2).flatten(-2)
        return self.c_proj(mixed), weights


class Hidden(nn.Module):
    """A hidden ReLU layer, four times as wide."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.c_fc = Conv1D(width, 4 * width)
        self.c_proj = Conv1D(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.c_proj(F.relu(self.c_fc(x)))
        return hidden


class Block(nn.Module):
    """Attention, then a hidden layer; each normalised before and added after."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), Attention(width, heads)
        self.ln_2, self.mlp = nn.LayerNorm(width), Hidden(width)

    def forward(self, x: Tensor, change: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        read, weights = self.attn(self.ln_1(x), change)
        x = x + read
        return x + self.mlp(self.ln_2(x)), weights


class Transformer(nn.Module):
    """All but the last layer, by GPT-2's names."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.wte = nn.Embedding(sizes.words, sizes.width)
        self.wpe = nn.Embedding(sizes.positions, sizes.width)
        self.h = nn.ModuleList(Block(sizes.width, sizes.heads) for _ in range(sizes.layers))
        self.ln_f = nn.LayerNorm(sizes.width)
        for each in (self.wte, self.wpe):
            nn.init.normal_(each.weight, std=0.02)


class SmallModel(nn.Module):
    """Scores of the word that comes next, after each word of a text."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.transformer = Transformer(sizes)

    def forward(self, ids: Tensor, change: Change | None = None) -> Tensor:
        """Scores, (B, N, words), for ids (B, N).

        Args:
            ids: of words; int64.
            change: what to do to the heads' outputs of each layer; None leaves them.
        Raises:
            ValueError: the text is longer than the model has positions.
        """
        return self.run(ids, change)[0]

    def run(self, ids: Tensor, change: Change | None = None) -> tuple[Tensor, list[Tensor]]:
        """Scores, and the weights of each layer, (B, H, N, N). Args and errors as in `forward`."""
        n, most = ids.shape[-1], self.sizes.positions
        if n > most:
            raise ValueError(f"the text has {n} words; this model has positions for {most}")
        parts = self.transformer
        x = parts.wte(ids) + parts.wpe(torch.arange(n, device=ids.device))
        weights = []
        for layer, block in enumerate(parts.h):
            x, each = block(x, lambda out, at=layer: change(at, out) if change else out)
            weights.append(each)
        return F.linear(parts.ln_f(x), parts.wte.weight), weights
