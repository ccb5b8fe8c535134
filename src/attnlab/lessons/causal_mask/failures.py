"""Lesson 06's attention with padding, and six that are wrong in one thing each.

A reader is to find out which is which by what they do, so they have letters for names. Each takes
x (B, N, d), Wq, Wk (d, d_k), Wv (d, d_v) and perhaps `real` (B, N) bool, True = real token, and
returns out (B, N, d_v) and weights (B, N, N), in which a row without a key is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

import torch

Tensor = torch.Tensor
Both = tuple[Tensor, Tensor]
Test = Callable[[Callable[[Tensor], Tensor], Tensor], bool]


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


def symptoms(x: Tensor, matrices: Sequence[Tensor], looks_ahead: Test) -> str:
    """A table of what gives a mistake away: a column for the right one and for each of SIX.

    Args:
        x: (1, N, d), N from 4 on.
        matrices: Wq, Wk (d, d_k) and Wv (d, d_v).
        looks_ahead: the learner's own test, of a function and x.
    """
    columns = {read.__name__: _examined(read, x, matrices, looks_ahead) for read in (right, *SIX)}
    lines = [f"{'':32}" + "".join(f"{name:>8}" for name in columns)]
    for entry in next(iter(columns.values())):
        cells = [column[entry] for column in columns.values()]
        shown = [cell if isinstance(cell, str) else f"{cell.item():.2f}" for cell in cells]
        lines.append(f"{entry:32}" + "".join(f"{each:>8}" for each in shown))
    return "\n".join(lines)


def _examined(
    read: Callable[..., Both],
    x: Tensor,
    matrices: Sequence[Tensor],
    looks_ahead: Callable[..., bool],
) -> dict[str, Tensor | str]:
    weights = read(x, *matrices)[1]
    four = x[:, :4].expand(4, -1, -1)
    real = torch.arange(4) >= 4 - torch.tensor(
        [[1], [3], [2], [4]]
    )  # True = real, padding in front
    to_padding = real[:, :, None] & ~real[:, None, :]  # a real query, a key that is none
    return {
        "row sums, farthest from 1": (weights.sum(-1) - 1).abs().max(),
        "column sums, farthest from 1": (weights.sum(-2) - 1).abs().max(),
        "entropy of a row, mean": torch.special.entr(weights).sum(-1).mean(),
        "weight above the diagonal": weights.triu(1).sum(),
        "looks ahead, says your test": str(looks_ahead(lambda x: read(x, *matrices)[0], x)),
        "4 sentences of 4: on padding": read(four, *matrices, real)[1][to_padding].sum(),
        "2 sentences of 4": _runs(read, four[:2], *matrices, real[:2]),
        "float16": _runs(read, *(each.half() for each in (x, *matrices))),
        "a row that is all blocked, sum": read(four[:1], *matrices, real[:1])[1][0, 0].sum(),
    }


def _runs(read: Callable[..., Both], *inputs: Tensor) -> str:
    with suppress(RuntimeError):
        read(*inputs)
        return "runs"
    return "error"
