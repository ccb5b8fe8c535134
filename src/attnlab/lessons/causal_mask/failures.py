"""Lesson 06's attention with padding, and six that are wrong in one thing each.

A reader is to find out which is which by what they do, so they have letters for names. Each takes
x (B, N, d), Wq, Wk (d, d_k), Wv (d, d_v) and perhaps `real` (B, N) bool, True = real token, and
returns out (B, N, d_v) and weights (B, N, N), in which a row without a key is 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

Tensor = torch.Tensor
Both = tuple[Tensor, Tensor]


def _scores(x: Tensor, Wq: Tensor, Wk: Tensor) -> Tensor:
    return (x @ Wq) @ (x @ Wk).mT / math.sqrt(Wq.shape[1])


def _blocked(x: Tensor, real: Tensor | None, first: int = 1) -> Tensor:
    """(N, N) or (B, N, N), True = blocked: from a diagonal on, and padding as a key."""
    future = torch.ones(x.shape[1], x.shape[1], device=x.device).triu(first).bool()
    return future if real is None else future | ~real[:, None, :]


def _weights(scores: Tensor, blocked: Tensor, axis: int = -1) -> Tensor:
    return scores.masked_fill(blocked, -math.inf).softmax(axis).masked_fill(blocked, 0.0)


def right(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, real: Tensor | None = None) -> Both:
    weights = _weights(_scores(x, Wq, Wk), _blocked(x, real))
    return weights @ (x @ Wv), weights


def read_a(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, real: Tensor | None = None) -> Both:
    weights = _scores(x, Wq, Wk).masked_fill(_blocked(x, real), -1e9).softmax(-1)
    return weights @ (x @ Wv), weights


def read_b(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, real: Tensor | None = None) -> Both:
    weights = _scores(x, Wq, Wk).softmax(-1).masked_fill(_blocked(x, real), 0.0)
    return weights @ (x @ Wv), weights


def read_c(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, real: Tensor | None = None) -> Both:
    weights = _weights((x @ Wq) @ (x @ Wk).mT, _blocked(x, real))
    return weights @ (x @ Wv), weights


def read_d(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, real: Tensor | None = None) -> Both:
    weights = _weights(_scores(x, Wq, Wk), _blocked(x, real, first=2))
    return weights @ (x @ Wv), weights


def read_e(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, real: Tensor | None = None) -> Both:
    weights = _weights(_scores(x, Wq, Wk), _blocked(x, real), axis=-2)
    return weights @ (x @ Wv), weights


def read_f(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, real: Tensor | None = None) -> Both:
    future = _blocked(x, None)
    weights = _weights(_scores(x, Wq, Wk), future if real is None else future | ~real)
    return weights @ (x @ Wv), weights


SIX = (read_a, read_b, read_c, read_d, read_e, read_f)


def side_by_side(columns: Mapping[str, Mapping[str, Tensor | str]]) -> str:
    """A table: a column for each name, a line for each of its entries, numbers with two places."""
    lines = [f"{'':32}" + "".join(f"{name:>8}" for name in columns)]
    for entry in next(iter(columns.values())):
        cells = [column[entry] for column in columns.values()]
        shown = [cell if isinstance(cell, str) else f"{cell.item():.2f}" for cell in cells]
        lines.append(f"{entry:32}" + "".join(f"{each:>8}" for each in shown))
    return "\n".join(lines)
