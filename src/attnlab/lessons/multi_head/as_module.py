"""Lesson 07's last exercise: multi-head attention as a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from attnlab.checks import in_attention, in_softmax
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Slot,
    State,
    Way,
    unchanged,
)
from attnlab.checks.inputs import (
    AGAIN,
    EQUAL,
    EVALUATED,
    FAR,
    MADE,
    SECOND,
    TOWERING,
    great_length,
    one_size,
    ones_in_turn,
)
from attnlab.checks.recipe import GIVEN, Recipe, Tensor, detached, mistakes_in, pairs_in
from attnlab.checks.relations import (
    ORDER,
    equivariance_relation,
    future_relation,
    with_other_future,
)
from attnlab.lessons.multi_head import LESSON
from attnlab.lessons.multi_head.in_heads import (
    HEADS,
    LAYOUT,
    NAMES,
    NOT_SPLIT,
    SCORES_FOR_WEIGHTS,
    future,
    multi_head,
)
from attnlab.lessons.multi_head.layout import headed, into_heads, no_divisors
from attnlab.lessons.pytorch.exercises import IN_WEIGHING, SHARES, normal


def _state(rng: np.random.Generator, d: int, bias: bool) -> dict[str, Tensor]:
    state = {f"{name}.weight": normal(rng, d, d, std=d**-0.5) for name in NAMES}
    if bias:
        state |= {f"{name}.bias": normal(rng, d) for name in NAMES}
    return state


def _layer(
    rng: np.random.Generator, among: tuple[int, ...] = (), bias: bool | None = True
) -> tuple[Tensor, dict[str, Any]]:
    """Tokens, and a module's sizes and state; a bias of None is one that nobody asked for."""
    b, n, h, width = among or headed(rng)
    d = h * width
    given = (d, h) if bias is None else (d, h, bias)
    return normal(rng, b, n, d), {"sizes": given, "state": _state(rng, d, bias is not False)}


def _alike(rng: np.random.Generator, rising: bool = False) -> tuple[Tensor, dict[str, Any]]:
    """Scores in the thousands, much alike within a row: see lesson 06's exercises.

    Args:
        rising: or growing from token to token, in a row by hundreds.
    """
    x, layer = _layer(rng)
    state, d = layer["state"], x.shape[-1]
    for name in NAMES:
        state[f"{name}.bias"].zero_()
    # No maximum fits two of them; e to the last's scores is not 0, and e to twice as much is.
    lengths = torch.tensor([1.0, 0.25, 0.025], dtype=x.dtype).sqrt()[:, None, None]
    x = lengths * (normal(rng, d) + 1e-4 * normal(rng, 3, x.shape[1], d))
    if rising:
        x *= torch.linspace(1.0, 2.0, x.shape[1], dtype=x.dtype)[:, None]
    state["W_k.weight"] = state["W_q.weight"] + normal(rng, d, d, std=0.2 * d**-0.5)
    q, k = (
        into_heads(x @ state[f"{name}.weight"].mT, layer["sizes"][1]) for name in ("W_q", "W_k")
    )
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return x * ((1600.0 if rising else 2 * FAR) / scores.abs().max()).sqrt(), layer


def _module_cases(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(2):
        x, layer = _layer(rng)
        yield Case("values", (x,), note="causal is not said", **layer)
    x, layer = _layer(rng, one_size(rng, 4))
    yield Case("values", (x,), note=EQUAL, **layer)
    b, _, h, width = headed(rng)
    x, layer = _layer(rng, (b, great_length(rng), h, width))
    x[:, 0] = 0.0
    yield Case("values", (x,), note="there are many tokens, the first of them 0", **layer)
    yield Case("causal", (x,), {"causal": True}, note="there are many tokens", **layer)
    x, layer = _layer(rng, bias=None)
    yield Case("bias", (x,), note="bias is not said", **layer)
    x, layer = _layer(rng, bias=False)
    yield Case("bias", (x,), note="bias is False", **layer)
    x, layer = _layer(rng)
    on = {"causal": True}
    yield Case("causal", (x,), on, note="causal=True", exact_zeros=True, **layer)
    x, layer = _layer(rng)
    yield Case("causal", (x, True), note="causal is True", exact_zeros=True, **layer)
    x, layer = _layer(rng)
    yield Case("causal", (x,), {"causal": False}, note="causal=False", **layer)
    for one in ones_in_turn(rng, 4):
        x, layer = _layer(rng, one)
        note = "there is one sentence, one token, one head, or one number a head"
        yield Case("corners", (x,), note=note, **layer)
        yield Case("causal corners", (x,), on, note=f"{note}, and causal=True", **layer)
    x, layer = _layer(rng)
    yield Case("corners", (x,), laid="views", note="x is not contiguous", **layer)
    x, layer = _layer(rng)
    layer["state"]["W_v.weight"] *= 1e5
    yield Case("gradient", (x,), gradient=True, **layer)
    yield Case("causal gradient", (x,), on, gradient=True, note="causal=True", **layer)
    for how, before in ((on, True), (on, False), ({}, True)):
        for longer in (1, 0, -1) if how is on and before else (0,):
            x, layer = _layer(rng)
            b, n, d = x.shape
            earlier = normal(rng, b, n + longer, d), before
            yield Case("again", (x,), how, note=SECOND, earlier=earlier, **layer)
    for made, note in MADE.items():
        x, layer = _layer(rng)
        yield Case("again", (x,), on, note=note, made=made, **layer)
    x, layer = _layer(rng)
    given = {"made": EVALUATED, **layer}
    yield Case("again", (x,), gradient=True, note=MADE[EVALUATED], **given)
    for how in (on, {}):
        earlier, note = (normal(rng, *x.shape), True), f"{MADE[EVALUATED]}, and {SECOND}"
        yield Case("again", (x,), how, note=note, earlier=earlier, **given)
    x, layer = _layer(rng)
    x[:, 1] = -x[:, 0]  # what is largest for one is smallest for the other
    note = "scores are in the thousands, and far apart"
    yield Case("large", (FAR**0.5 * x,), note=note, **layer)
    for sign, where in ((1, ""), (-1, " below 0")):
        x, layer = _alike(rng)
        layer["state"]["W_k.weight"] *= sign
        note = f"scores are in the thousands{where}"
        yield Case("large", (x,), note=note, **layer)
        note += ", and causal=True"
        yield Case("causal large", (x,), on, note=note, exact_zeros=True, **layer)
    x, layer = _alike(rng, rising=True)
    yield Case("causal large", (x,), on, note=TOWERING, exact_zeros=True, **layer)
    x, layer = _layer(rng)
    single = {name: part.float() for name, part in layer["state"].items()}
    alike = {"sizes": layer["sizes"], "state": single, "tolerance": FLOAT32_TOLERANCE}
    note = "the module and x are float32"
    yield Case("float32", (x.float(),), note=note, **alike)
    yield Case("causal large", (x.float(),), on, note=f"{note}, and causal=True", **alike)
    x, layer = _layer(rng)
    layer["state"]["W_v.weight"] *= 1e5
    yield Case("float32", (x,), note="values are in the hundred thousands", **layer)
    for d, heads, note in no_divisors(rng):
        way = Way("modules.construct", (), lambda *sizes: None, ("d", "n_heads"))
        yield Case("refuses", (d, heads), raises="ValueError", note=note, way=way)


def _oracle(state: State, x: Tensor, causal: bool = False) -> Any:
    """nn.MultiheadAttention with the state's numbers."""
    d, n_heads = state.sizes[:2]
    packed = {
        "in_proj_weight": torch.cat([state[f"{name}.weight"] for name in NAMES[:3]]),
        "out_proj.weight": state["W_o.weight"],
    }
    if biased := "W_o.bias" in state:
        packed["in_proj_bias"] = torch.cat([state[f"{name}.bias"] for name in NAMES[:3]])
        packed["out_proj.bias"] = state["W_o.bias"]
    theirs = nn.MultiheadAttention(d, n_heads, bias=biased, batch_first=True, dtype=x.dtype)
    theirs_mask = future(x.shape[1]) if causal else None  # True = blocked
    keywords = {"attn_mask": theirs_mask, "average_attn_weights": False}
    return torch.func.functional_call(theirs, packed, (x, x, x), keywords)


RETURNS = (Slot("out", "tensor", "B N d"), Slot("weights", "tensor", "B H N N"))


def _other_future(rng: np.random.Generator) -> tuple[Case, Case]:
    x, layer = _layer(rng, (2, 5, 3, 4))
    on = {"causal": True}
    changed = with_other_future(rng, x)
    return Case("causal", (x,), on, **layer), Case("causal", (changed,), on, **layer)


def _shuffled(rng: np.random.Generator) -> tuple[Case, Case]:
    x, layer = _layer(rng, (2, 5, 3, 4))
    return Case("values", (x,), **layer), Case("values", (x[:, ORDER],), **layer)


MODULE = Exercise(
    name="MultiHeadAttention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="nn.Module(d, n_heads, bias=True) with forward(x, causal=False) -> (out, weights)",
    axes=("b n d", "=d", "=h", "?"),
    read="Heads in a module",
    returns=RETURNS,
    groups=(
        Group("values", "equals nn.MultiheadAttention with the same weights", 1.75, core=True),
        Group("bias", "has biases unless bias=False, on all four linears or on none", 0.25),
        Group("causal", "hides the future if causal=True, and only then", 0.5),
        Group("corners", "takes sizes of 1, and an x that is not contiguous", 0.125),
        Group(
            "causal corners", "takes sizes of 1 if causal=True", 0.125, needs=("causal", "corners")
        ),
        Group(
            "gradient",
            "passes the right gradients to x and to all parameters",
            0.25,
            needs=("float32",),
        ),
        Group(
            "causal gradient",
            "has them if causal=True as well",
            0.125,
            needs=("causal", "gradient", "float32"),
        ),
        Group("again", AGAIN, 0.125, needs=("causal", "gradient", "float32")),
        Group("large", "is stable at scores in the thousands", 0.125, needs=("float32",)),
        Group(
            "float32", "keeps float32 (compared at 1e-4), and float64 with all its digits", 0.125
        ),
        Group(
            "causal large",
            "hides the future at such scores, and in float32",
            0.125,
            needs=("causal", "large", "float32"),
        ),
        Group("refuses", "refuses in its constructor a d that the heads cannot share", 0.25),
        unchanged(0.125),
    ),
    cases=_module_cases,
    oracle=_oracle,
    mistakes=(
        *mistakes_in(
            multi_head,
            in_softmax.SOFTMAX,
            in_softmax.NO_SOFTMAX,
            in_softmax.ROWS,
            in_softmax.BATCH,
            in_softmax.LARGE,
            in_softmax.MAXIMA,
            in_softmax.PRECISION,
            in_attention.SCALE,
            in_attention.SCALE_LATE,
            in_attention.SCALE_BY_FIRST_AXIS,
            in_attention.SCORES,
            in_attention.RESHAPED,
            in_attention.FAR_BELOW,
            in_attention.FAR_ABOVE,
            beside=GIVEN,
        ),
        *mistakes_in(
            multi_head,
            in_attention.SWAPPED,
            in_attention.PROJECTIONS,
            in_attention.MIX,
            (SCORES_FOR_WEIGHTS,),
            in_attention.MASK,
            in_attention.CAUSAL,
            in_attention.GRADIENTS,
            HEADS,
        ),
        *LAYOUT,
        *NOT_SPLIT,
        *(detached(multi_head(Recipe()), 0, only=only) for only in ("", "weight", "bias")),
    ),
    pairs=pairs_in(
        multi_head,
        in_attention.SCALE,
        IN_WEIGHING,
        in_attention.MIX,
        in_attention.MASK + in_attention.CAUSAL,
        in_attention.SWAPPED,
    ),
    properties=SHARES,
    relations=(
        future_relation(
            "changing the future changes nothing in the past, if causal=True", _other_future
        ),
        equivariance_relation(
            "permuting the tokens permutes the output, if causal=False", _shuffled
        ),
    ),
    fused_banned=True,
)
