"""Lesson 05's exercises: attention as a batched tensor function, and as a module."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from attnlab.checks.attention import Attention, Parts, sdpa
from attnlab.checks.exercise import Exercise, Formula, Slot, State, promises

Tensor = torch.Tensor


# scaled_dot_product_attention ---------------------------------------------------------------------


def _masked(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Parts:
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        return Parts(q, k, v, blocked=~attn_mask)
    return Parts(q, k, v, bias=attn_mask)


def _float_mask(use: Any) -> Formula:
    """The function with another use of a float mask, of scaled scores, the mask and the scale."""

    def attention(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
        if attn_mask is None or attn_mask.dtype == torch.bool:
            return FUNCTION.oracle(q, k, v, attn_mask)
        scale = q.shape[-1] ** -0.5
        weights = use(q @ k.mT * scale, attn_mask, scale).softmax(-1)
        return weights @ v, weights

    return attention


def _bool_as_float(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
    return sdpa(q, k, v, bias=None if attn_mask is None else attn_mask.to(q.dtype))


def _float_as_bool(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
    return sdpa(q, k, v, blocked=None if attn_mask is None else ~attn_mask.bool())


FUNCTION = Attention(_masked)
SDPA = Exercise(
    name="scaled_dot_product_attention",
    signature="(q, k, v, attn_mask=None) -> (out, weights)",
    axes=("… n k", "… m k", "… m v", "… n m mask bias"),
    stretched=True,
    read="The same five lines, batched",
    returns=(Slot("out", "tensor", "… N d_v"), Slot("weights", "tensor", "… N M")),
    claims=promises(
        "equals F.scaled_dot_product_attention",
        1.0,
        masked=0.75,
        empty=0.25,
        large_and_precision=0.25,
        gradient=0.25,
        refuses_and_shapes_and_unchanged=0.5,
    ),
    attention=FUNCTION,
    mistakes={
        "mask-added": _bool_as_float,
        "float-mask-ignored": _float_mask(lambda scores, mask, scale: scores),
        "float-mask-as-bool": _float_as_bool,
        "float-mask-hides-only": _float_mask(
            lambda scores, mask, scale: scores.masked_fill(mask == -torch.inf, -torch.inf)
        ),
        "float-mask-multiplied": _float_mask(lambda scores, mask, scale: scores * mask),
        "float-mask-before-scale": _float_mask(lambda scores, mask, scale: scores + mask * scale),
        "empty-row-is-nan": _float_mask(lambda scores, mask, scale: scores + mask),
    },
    fused_banned=True,
)


# SelfAttention ------------------------------------------------------------------------------------


def _projected(state: State, x: Tensor) -> Parts:
    return Parts(state.linear("W_q", x), state.linear("W_k", x), state.linear("W_v", x), x)


def _without_bias(state: State, x: Tensor) -> Any:
    q, k, v = (F.linear(x, state[f"{name}.weight"]) for name in ("W_q", "W_k", "W_v"))
    return sdpa(q, k, v)


MODULE = Exercise(
    name="SelfAttention",
    signature="nn.Module(d, d_k, d_v, bias=False) with forward(x) -> (out, weights)",
    axes=("b n d",),
    builds=("d", "k", "v"),
    state={
        **{"W_q.weight": "k d", "W_k.weight": "k d", "W_v.weight": "v d"},
        **{"W_q.bias": "k", "W_k.bias": "k", "W_v.bias": "v"},
    },
    read="Attention as a module",
    returns=(Slot("out", "tensor", "B N d_v"), Slot("weights", "tensor", "B N N")),
    claims=promises(
        "equals F.scaled_dot_product_attention with the same weights",
        1.5,
        bias=0.25,
        large_and_precision=0.25,
        gradient=0.5,
        again_and_shapes=0.25,
        refuses_and_unchanged=0.25,
    ),
    attention=Attention(_projected),
    mistakes={"bias-ignored": _without_bias},
    fused_banned=True,
)

EXERCISES = (SDPA, MODULE)
