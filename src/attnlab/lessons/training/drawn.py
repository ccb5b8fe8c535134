"""What cases of lesson 10's exercises are drawn by."""

from __future__ import annotations

import numpy as np
import torch

Tensor = torch.Tensor
Generator = np.random.Generator


def tokens(rng: Generator, below: int, *shape: int) -> Tensor:
    """Whole numbers from 0."""
    return torch.from_numpy(rng.integers(0, below, shape))


def seed(rng: Generator) -> int:
    return int(rng.integers(2**31))
