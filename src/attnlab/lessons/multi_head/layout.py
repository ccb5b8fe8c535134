"""How lesson 07 lays heads out, right and wrong, and the sizes that tell them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch

from attnlab.checks.inputs import sizes
from attnlab.checks.recipe import Tensor

Layout = Callable[..., Tensor]


def headed(rng: np.random.Generator) -> tuple[int, int, int, int]:
    """B, N, H and a head's width, all different from each other; d is none of them either.

    Half of a width of 4 is its root, and half of 2 is no scale: neither would tell a wrong scale.
    """
    while True:
        b, n, h, width = sizes(rng, 4, 2, 6)
        if h * width not in (b, n) and width not in (2, 4):
            return b, n, h, width


def no_divisors(rng: np.random.Generator) -> Iterator[tuple[int, int, str]]:
    """A width and numbers of heads that cannot share it: one over, one missing, more than d."""
    h, width = sizes(rng, 2)
    for d, heads in ((h * width + 1, h), (h * width - 1, h), (width, width + h)):
        yield d, heads, f"d = {d} does not divide by {heads} heads"


# Layouts: tokens (B, N, d), heads (B, H, N, d/H) --------------------------------------------------


def into_heads(x: Tensor, n_heads: int) -> Tensor:
    """PyTorch's own pieces of the last axis."""
    return torch.stack(torch.tensor_split(x, n_heads, dim=-1), dim=1)


def into_tokens(heads: Tensor) -> Tensor:
    return torch.cat(heads.unbind(1), dim=-1)


def in_reading_order(x: Tensor, n_heads: int) -> Tensor:
    return x.reshape(x.shape[0], n_heads, x.shape[1], -1)


def every_so_many(x: Tensor, n_heads: int) -> Tensor:
    """Head h gets the entries h, h + H, h + 2 H, …"""
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def merged_in_reading_order(heads: Tensor) -> Tensor:
    return heads.reshape(heads.shape[0], heads.shape[2], -1)


def in_turn(heads: Tensor) -> Tensor:
    """The first entry of each head, then the second of each, …"""
    return heads.permute(0, 2, 3, 1).flatten(2)
