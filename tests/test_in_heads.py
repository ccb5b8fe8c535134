"""What multi-head exercises are compared with is what PyTorch's own module gives."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from attnlab.checks.exercise import SEEDS, Case, Exercise, State
from attnlab.checks.pose import pose
from attnlab.lessons import exercises_of

MODULES = (
    exercises_of("07-multi-head")["MultiHeadAttention"],
    exercises_of("08-cross-attention")["CrossAttention"],
)


def of_pytorch(case: Case, reads: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """nn.MultiheadAttention with a case's numbers.

    Args:
        reads: whether there is a context, and not x alone.
    """
    state, (x, *others) = case.state, case.args
    assert case.sizes is not None
    context, *masks = others if reads else [x, *others]
    mask = next(iter([*masks, *case.kwargs.values()]), None)
    d, c, biased = case.sizes[0], context.shape[-1], "W_o.bias" in state
    n_heads = [size for size in case.sizes if not isinstance(size, bool)][-1]
    theirs = nn.MultiheadAttention(
        d, n_heads, bias=biased, kdim=c, vdim=c, batch_first=True, dtype=x.dtype
    )
    matrices = [state[f"W_{name}.weight"] for name in "qkv"]
    packed = {f"{name}_proj_weight": each for name, each in zip("qkv", matrices, strict=True)}
    if c == d:
        packed = {"in_proj_weight": torch.cat(matrices)}
    packed["out_proj.weight"] = state["W_o.weight"]
    if biased:
        packed["in_proj_bias"] = torch.cat([state[f"W_{name}.bias"] for name in "qkv"])
        packed["out_proj.bias"] = state["W_o.bias"]
    how: dict[str, Any] = {"average_attn_weights": False}
    if mask is True:
        how["attn_mask"] = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    elif isinstance(mask, torch.Tensor):
        how["key_padding_mask"] = ~mask
    return torch.func.functional_call(theirs, packed, (x, context, context), how)


def is_ordinary(case: Case) -> bool:
    return not (case.procedure or case.raises or case.gradient or "nothing" in case.note)


@pytest.mark.parametrize("exercise", MODULES, ids=lambda each: each.name)
def test_the_oracle_is_pytorchs_module(exercise: Exercise) -> None:
    asked = [each.case for each in pose(exercise, SEEDS) if is_ordinary(each.case)]
    assert len(asked) > 50
    for case in asked:
        assert case.sizes is not None
        ours = exercise.oracle_of(case)(State(case.state, case.sizes), *case.args, **case.kwargs)
        theirs = of_pytorch(case, reads=len(exercise.axes) == 3)
        for one, other in zip(ours, theirs, strict=True):
            assert torch.allclose(one, other, 1e-9, case.tolerance)
