"""Functions of a sequence, to be asked whether they notice its order.

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
