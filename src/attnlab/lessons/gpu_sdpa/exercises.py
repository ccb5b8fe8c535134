"""Lesson 13's exercises: PyTorch's call, its backends, and what they cost and may err."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from attnlab.calling import fused
from attnlab.checks.attention import Attention, Parts
from attnlab.checks.exercise import UNCHANGED, Case, Claim, Exercise, Procedure, Slot, promises
from attnlab.checks.inputs import Generator, normal, sizes
from attnlab.checks.recipe import Recipe
from attnlab.lessons.gpu_sdpa.backends import HALF, RUN_BACKEND, used
from attnlab.lessons.gpu_sdpa.counting import ROOFLINE, TFLOPS
from attnlab.lessons.gpu_sdpa.fairness import IS_FAIR
from attnlab.lessons.gpu_sdpa.timing import BENCHMARK

Tensor = torch.Tensor


def _projected(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, causal: bool = False) -> Parts:
    blocked = torch.ones(x.shape[-2], x.shape[-2]).triu(1).bool() if causal else None
    return Parts(x @ Wq, x @ Wk, x @ Wv, x, blocked)


def _of_a_call(question: str, mark: float, *args: Any) -> Tensor:
    at, causal = _projected(*args), args[4]
    told = fused.looked_at(at.q, at.k, at.v, is_causal=causal)
    return fused.marked(mark, CALL.oracle(*args), told)


OUT = Slot("out", "tensor", "B N d_v")
ASKED = Procedure(
    "fused.ask", (OUT,), _of_a_call, ("question", "mark", "x", "Wq", "Wk", "Wv", "causal")
)


def _cases(rng: Generator) -> Iterator[Case]:
    def sentence() -> tuple[Tensor, ...]:
        b, n, d, d_k, d_v = sizes(rng, 5, 3, 9)
        matrices = (normal(rng, d, width, std=d**-0.5) for width in (d_k, d_k, d_v))
        return normal(rng, b, n, d), *matrices

    yield Case("masked", (*sentence(), False), note="causal is False")
    half = tuple(part.half() for part in sentence())
    yield Case("precision", half, note="inputs are float16", tolerance=HALF)
    for causal in (False, True):
        asked = "is PyTorch's call made", float(rng.uniform(2, 9))
        given = (*asked, *sentence(), causal)
        note = "what PyTorch's call gives is multiplied by the mark"
        about = ("precision", "masked") if causal else ("precision",)
        yield Case(UNCHANGED, given, note=note, procedure=ASKED, about=about)


CALL = Attention(_projected, lambda out, weights, *args, **kwargs: out)


def _unprojected(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, causal: bool = False) -> Parts:
    return replace(_projected(x, Wq, Wk, Wv, causal), q=x, k=x)


def _across(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    return CALL.oracle(x.transpose(0, 1), *args, **kwargs)


SDPA_ATTENTION = Exercise(
    name="sdpa_attention",
    signature="(x, Wq, Wk, Wv, causal=False) -> out",
    axes=("b n d", "d k", "d k", "d v", "?"),
    read="One call",
    returns=(OUT,),
    claims=(
        *promises(
            "gives what softmax(QKᵀ/√d_k) V is",
            0.25,
            Claim("masked", "hides the future where causal is True, and only there", 0.25),
            precision_and_gradient=0.25,
        ),
        Claim(UNCHANGED, "leaves it to F.scaled_dot_product_attention, inputs unchanged", 0.25),
    ),
    cases=_cases,
    attention=CALL,
    mistakes={
        "causal-uncalled-for": (
            lambda x, Wq, Wk, Wv, causal=False: CALL.oracle(x, Wq, Wk, Wv, True),
            lambda x, Wq, Wk, Wv, causal=False: CALL.oracle(x, Wq, Wk, Wv, not causal),
        ),
        "not-projected": Attention(_unprojected, CALL.finish).oracle,
        "batch-attends": (
            _across,
            lambda *args, **kwargs: _across(*args, **kwargs).transpose(0, 1),
        ),
        "heads-after-tokens": lambda x, Wq, Wk, Wv, causal=False: x @ Wv,
        "no-scaled-call": used(CALL.answer(Recipe())),
        "no-gradient": lambda x, *args, **kwargs: CALL.oracle(x.detach(), *args, **kwargs),
    },
    without=("values-unweighted", "best-value-only", "weights-not-masked", "unstable-softmax"),
)

EXERCISES = (
    SDPA_ATTENTION,
    RUN_BACKEND,
    IS_FAIR,
    BENCHMARK,
    TFLOPS,
    ROOFLINE,
)
