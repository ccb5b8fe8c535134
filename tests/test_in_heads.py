"""What modules are compared with is what PyTorch's own gives, and what they are diagnosed by."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnlab.checks.exercise import SEEDS, Case, State
from attnlab.checks.pose import pose
from attnlab.lessons import exercises_of
from attnlab.lessons.cross_attention.exercises import layer

HEADS = exercises_of("07-multi-head")["MultiHeadAttention"]
DECODER = exercises_of("08-cross-attention")["DecoderLayer"]


def of_pytorch(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """nn.MultiheadAttention with a case's numbers."""
    state, (x, *others) = case.state, case.args
    causal = next(iter([*others, *case.kwargs.values()]), False)
    assert case.sizes is not None
    d, n_heads = case.sizes[:2]
    biased = "W_o.bias" in state
    theirs = nn.MultiheadAttention(d, n_heads, bias=biased, batch_first=True, dtype=x.dtype)
    packed = {"in_proj_weight": torch.cat([state[f"W_{name}.weight"] for name in "qkv"])}
    packed["out_proj.weight"] = state["W_o.weight"]
    if biased:
        packed["in_proj_bias"] = torch.cat([state[f"W_{name}.bias"] for name in "qkv"])
        packed["out_proj.bias"] = state["W_o.bias"]
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1) if causal else None
    how = {"average_attn_weights": False, "attn_mask": future}
    return torch.func.functional_call(theirs, packed, (x, x, x), how)


def is_ordinary(case: Case) -> bool:
    return not (case.procedure or case.raises or case.gradient)


def test_the_oracle_is_pytorchs_module() -> None:
    asked = [each.case for each in pose(HEADS, SEEDS) if is_ordinary(each.case)]
    assert len(asked) > 50
    for case in asked:
        assert case.sizes is not None
        ours = HEADS.oracle_of(case)(State(case.state, case.sizes), *case.args, **case.kwargs)
        for one, other in zip(ours, of_pytorch(case), strict=True):
            assert torch.allclose(one, other, 1e-9, case.tolerance)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_layer_of_parts_without_a_mistake_is_pytorchs(seed: int) -> None:
    asked = [each.case for each in pose(DECODER, (seed,)) if is_ordinary(each.case)]
    assert len(asked) > 30
    for case in asked:
        assert case.sizes is not None
        given = State(case.state, case.sizes), *case.args
        ours, theirs = (of(*given, **case.kwargs) for of in (layer(), DECODER.oracle_of(case)))
        assert torch.allclose(ours, theirs, 1e-9, case.tolerance)
