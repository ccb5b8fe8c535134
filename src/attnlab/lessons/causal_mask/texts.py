"""Two texts of lesson 06, of six words each: one that nobody can predict, one whose past helps."""

from __future__ import annotations

import torch

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
