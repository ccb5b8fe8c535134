"""Two texts of lesson 06, of six words each: one that nobody can predict, one whose past helps.

And what its little model needs beside them: attention with a mask, and a loss without a future.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

LONG = 12  # words in a text
MANY = 64  # texts in a batch
WORDS = ("one", "two", "sheep", "runs", "run", "and")
CLAUSES = torch.tensor([[0, 2, 3, 5], [1, 2, 4, 5]])  # one sheep runs and; two sheep run and


def dice(rng: torch.Generator) -> torch.Tensor:
    """(MANY, LONG) rolls of a die, from 0 to 5, each independent of the others."""
    return torch.randint(6, (MANY, LONG), generator=rng)


def sheep(rng: torch.Generator) -> torch.Tensor:
    """(MANY, LONG) places in WORDS: three clauses each, of one sheep or of two, as it falls."""
    return CLAUSES[torch.randint(2, (MANY, 3), generator=rng)].flatten(1)


def masked(attend: torch.Tensor) -> Callable[..., tuple[torch.Tensor, None]]:
    """Attention (x, Wq, Wk, Wv) that reads where a mask (N, N) says so, True = attend."""

    def read(x: torch.Tensor, *matrices: torch.Tensor) -> tuple[torch.Tensor, None]:
        q, k, v = (x @ each for each in matrices)
        mask = attend[: x.shape[1], : x.shape[1]]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask), None

    return read


def loss_when_cut(predict: Callable[..., torch.Tensor], text: torch.Tensor, *model: Any) -> float:
    """The mean cross-entropy where nothing stands behind the word that asks.

    Args:
        predict: called with (B, n) words and the model, returns scores (B, n, 6).
        text: (B, N) words.
        model: what predict takes besides.
    """
    asked = [predict(text[:, :n], *model)[:, -1] for n in range(1, text.shape[1])]
    return F.cross_entropy(torch.cat(asked), text[:, 1:].T.flatten()).item()
