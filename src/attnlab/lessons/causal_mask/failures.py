"""Lesson 06's attention with padding, and six that are wrong in one thing each.

A reader is to find out which is which by what they do, so they have letters for names. Each takes
x (B, N, d), Wq, Wk (d, d_k), Wv (d, d_v) and perhaps `real` (B, N) bool, True = real token, and
returns out (B, N, d_v) and weights (B, N, N), in which a row without a key is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

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
NAMED = {"a": "filled", "b": "late", "c": "scale", "d": "diagonal", "e": "axis", "f": "shape"}


def symptoms(x: Tensor, matrices: Sequence[Tensor]) -> str:
    """A table of what gives a mistake away: a column for the right one and for each of SIX.

    Args:
        x: (1, N, d), N from 4 on.
        matrices: Wq, Wk (d, d_k) and Wv (d, d_v).
    """
    columns = {read.__name__: _examined(read, x, matrices) for read in (right, *SIX)}
    lines = [f"{'':32}" + "".join(f"{name:>8}" for name in columns)]
    for entry in next(iter(columns.values())):
        cells = (column[entry].item() for column in columns.values())
        lines.append(f"{entry:32}" + "".join(f"{number:8.2f}" for number in cells))
    return "\n".join(lines)


def _examined(
    read: Callable[..., Both], x: Tensor, matrices: Sequence[Tensor]
) -> dict[str, Tensor]:
    weights = read(x, *matrices)[1]
    four = x[:, :4].expand(4, -1, -1)
    lengths = torch.tensor([[1], [3], [2], [4]])
    real = torch.arange(4) >= 4 - lengths  # True = real, padding in front
    to_padding = real[:, :, None] & ~real[:, None, :]  # a real query, a key that is none
    padded = read(four, *matrices, real)[1]
    return {
        "row sums, farthest from 1": (weights.sum(-1) - 1).abs().max(),
        "column sums, farthest from 1": (weights.sum(-2) - 1).abs().max(),
        "entropy of a row, mean": torch.special.entr(weights).sum(-1).mean(),
        "weight above the diagonal": weights.triu(1).sum(),
        "weight of real words on padding": padded[to_padding].sum(),
        "sum of a row that is all blocked": padded[0, 0].sum(),
    }


def told(guess: Mapping[str, str]) -> str:
    """How many of a reader's names for SIX are right; which ones are not, once all are there."""
    named = {letter: name for letter, name in guess.items() if letter in NAMED and name}
    if strange := {*named.values()} - {*NAMED.values()}:
        return f"The names are {', '.join(sorted(NAMED.values()))}, and not {', '.join(strange)}."
    if not named:
        return "No letter has a name yet."
    wrong = [letter for letter, name in named.items() if name != NAMED[letter]]
    count = f"{len(named) - len(wrong)} of {len(named)} are right"
    if len(named) < len(NAMED):
        return f"{count}. {len(NAMED) - len(named)} have no name yet."
    return f"{count}. Look again at {', '.join(wrong)}." if wrong else f"{count}."
