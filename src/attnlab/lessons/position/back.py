"""Lesson 09's task: say the word that stood three places back, in a text of random words.

model = train(LooksBack("rotary"))        # any module, words (B, N) in, scores (B, N, 8) out
share = share_right(model, 32)            # (32,), by place
"""

from __future__ import annotations

from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BACK = 3  # places
SEEN = 16  # words of a text in training
Model = TypeVar("Model", bound=nn.Module)


def train(model: Model) -> Model:
    """The model after 400 steps on fresh texts, by cross-entropy and Adam."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(400):
        words = torch.randint(8, (64, SEEN))
        scores = model(words)[:, BACK:]
        loss = F.cross_entropy(scores.flatten(0, 1), words[:, :-BACK].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def share_right(model: nn.Module, n: int, window: int = 10**6) -> Tensor:
    """Share of right answers at each place of n; NaN where there is no third word back."""
    words = torch.randint(8, (32_000 // n, n), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        best = model(words, window).argmax(dim=-1)
    right = (best[:, BACK:] == words[:, :-BACK]).double().mean(0)
    return torch.cat([torch.full((BACK,), torch.nan), right])
