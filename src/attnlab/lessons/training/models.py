"""Lesson 10's given models: a bag of words, and a reader of blocks; both begin at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
import torch.nn as nn
from torch import Tensor


class Bag(nn.Module):
    """A hidden layer on the sum of the words: no order, no attention."""

    def __init__(self, vocab_size: int, d: int, n_classes: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d)
        self.layers = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, n_classes))

    def forward(self, ids: Tensor) -> Tensor:
        """(B, n_classes) for ids (B, N)."""
        logits: Tensor = self.layers(self.embed(ids).sum(dim=1))
        return logits


class Block(nn.Module):
    """Attention of one head, then a hidden layer, each added to what was there.

    Attributes:
        weights: (B, N, N), those of the latest call.
    """

    def __init__(self, d: int, causal: bool) -> None:
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.W_o = nn.Linear(d, d)
        self.hidden = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
        self.causal, self.weights = causal, torch.empty(0)

    def attention(self, x: Tensor) -> Tensor:
        """(B, N, d), what it adds to the rows (B, N, d)."""
        scores = self.W_q(x) @ self.W_k(x).mT / x.shape[-1] ** 0.5  # (B, N, N)
        if self.causal:
            blocked = torch.ones(scores.shape[-2:]).triu(1).bool()  # True = blocked
            scores = scores.masked_fill(blocked, -torch.inf)
        self.weights = scores.softmax(dim=-1)
        added: Tensor = self.W_o(self.weights @ self.W_v(x))
        return added

    def forward(self, x: Tensor) -> Tensor:
        """(B, N, d) for (B, N, d)."""
        x = x + self.attention(x)
        out: Tensor = x + self.hidden(x)
        return out


class Reader(nn.Module):
    """Words with learned positions, blocks, and a linear on top.

    Args:
        vocab_size, d, n_out: sizes of the vocabulary, of rows, and of what comes out of each row.
        length: places that it has.
        layers: blocks.
        causal: whether a word sees none after it.
        at: the word that answers; all of them if it is None.
    """

    def __init__(
        self,
        vocab_size: int,
        d: int,
        n_out: int,
        length: int,
        layers: int,
        causal: bool = False,
        at: int | None = None,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d)
        self.places = nn.Parameter(torch.randn(length, d))
        blocks = nn.ModuleList(Block(d, causal) for _ in range(layers))
        self.blocks = cast("Sequence[Block]", blocks)
        self.last = nn.Linear(d, n_out)
        self.at = at

    def words(self, ids: Tensor) -> Tensor:
        """(B, N, d), what goes into the first block."""
        rows: Tensor = self.embed(ids) + self.places[: ids.shape[1]]
        return rows

    def answer(self, rows: Tensor) -> Tensor:
        """(B, n_out), or (B, N, n_out), for the rows that the last block gives."""
        logits: Tensor = self.last(rows if self.at is None else rows[:, self.at])
        return logits

    def forward(self, ids: Tensor) -> Tensor:
        rows = self.words(ids)
        for block in self.blocks:
            rows = block(rows)
        return self.answer(rows)

    @property
    def weights(self) -> Tensor:
        """(B, N, N), the last block's."""
        return self.blocks[-1].weights
