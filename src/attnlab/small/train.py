"""Trains a small model on texts of the grammar, each of which it sees once."""

from __future__ import annotations

import math
import random

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from attnlab.small import grammar
from attnlab.small.model import Sizes, SmallModel

STEPS, TEXTS = 3000, 64
RATE, WARM, DECAY = 3e-3, 1 / 30, 0.05  # WARM: the share of steps in which the rate rises
WITHOUT_START = 0.25  # of the texts, so that a sentence alone can be read too


def batch(rng: random.Random, texts: int, length: int) -> tuple[Tensor, Tensor]:
    """Texts (texts, length) and what each word costs, in nats; some begin without <s>."""
    drawn = [grammar.written(rng, length, rng.random() >= WITHOUT_START) for _ in range(texts)]
    ids, costs = zip(*drawn, strict=True)
    return torch.tensor(ids), torch.tensor(costs)


def loss_of(model: SmallModel, ids: Tensor) -> Tensor:
    """Mean cross-entropy of each next word, in nats."""
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def trained(seed: int, steps: int = STEPS, sizes: Sizes | None = None) -> SmallModel:
    """A model from this seed, with a progress bar.

    Args:
        steps: of AdamW, each on texts of its own.
        sizes: None for those of the model that is shipped.
    """
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model = SmallModel(sizes or Sizes(len(grammar.words)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / (WARM * steps), 0.5 + 0.5 * math.cos(math.pi * step / steps)),
    )
    bar = tqdm(range(steps), desc=f"seed {seed}", unit="step", mininterval=1)
    for step in bar:
        ids, _ = batch(rng, TEXTS, model.sizes.positions)
        loss = loss_of(model, ids)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 0:
            bar.set_postfix(loss=f"{loss.item():.3f}")
    return model.eval()
