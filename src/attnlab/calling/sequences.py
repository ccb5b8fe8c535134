"""Functions of a sequence: asked whether they notice its order or look ahead, or run in turn.

A sequence is (…, N, d), its rows tokens. `made` makes a function by the name that its maker has.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

Tensor = torch.Tensor


def attention_and_places(
    sharpness: float, weights: Tensor, width: int
) -> Callable[[Tensor], Tensor]:
    """Attention of rows to each other, and each row once more, times the weight of its place.

    Whether it follows an order depends on that order and on the rows as well: what it is made of
    does not tell.

    Args:
        sharpness: factor of the scores; 0 makes a mean of attention.
        weights: (N,), one for each place.
        width: columns that come out, if there are as many.
    """

    def fn(x: Tensor) -> Tensor:
        values = x[..., :width]
        return (sharpness * x @ x.mT).softmax(-1) @ values + weights[:, None] * values

    return fn


def as_it_is() -> Callable[[Tensor], Tensor]:
    """A function that returns its input, and no copy."""
    return lambda x: x


def rows_by_place(
    turn: Tensor, turned: Tensor, matrix: Tensor, base: float, taken: str
) -> Callable[[Tensor], Tensor]:
    """Sums of what the rows of a sentence say, with weights for each place.

    A weight is a row of `turn` times a column of `turned`, and neither shows which ones are 0.
    Their product does, and not whether a column of `matrix` lets anything through.

    Args:
        turn: (N, N), orthogonal.
        turned: (B, e, N, N), the weights of each sentence and number, turned back; (B, 1, N, N)
            where all numbers share them.
        matrix: (d, e), what a row says of itself.
        base: added to all.
        taken: how rows are taken, a key of TAKEN.
    """
    shape = len(turned), len(turn), len(matrix)

    def fn(x: Tensor) -> Tensor:
        if x.shape != shape or x.dtype != matrix.dtype:
            given = f"{tuple(x.shape)}, {x.dtype}"
            raise ValueError(f"fn takes {shape}, {matrix.dtype}, as x is, and was given {given}")
        said = TAKEN[taken](x, matrix)  # (B, N, e)
        return base + turn @ torch.einsum("benm,bme->bne", turned, said)

    return fn


TAKEN: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "as they are": lambda x, matrix: (x @ matrix).tanh(),
    "less their mean": lambda x, matrix: ((x - x.mean(-1, keepdim=True)) @ matrix).tanh(),
    "without signs": lambda x, matrix: (x.abs() @ matrix).tanh(),
    "in steps": lambda x, matrix: (x @ matrix).tanh().round(),
}
