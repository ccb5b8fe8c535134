"""Lesson 08's exercises: attention over another sequence, as a function and as a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attnlab.checks import in_heads
from attnlab.checks.attention import Attention, Parts, sdpa
from attnlab.checks.draw import Draw
from attnlab.checks.exercise import Case, Claim, Exercise, Formula, Procedure, Slot, State, promises
from attnlab.checks.in_heads import Heads
from attnlab.checks.recipe import Recipe

Tensor = torch.Tensor
Read = Callable[[Tensor, Tensor], tuple[Tensor, Tensor | None]]  # of context and mask

# What queries, keys and values are made of: the letter of a matrix, and x or the context.
MADE_OF = "q x, k c, v c"
OTHERWISE = {
    "queries-from-context": ("q c, k x, v c", "q c, k x, v x", "q c, k c, v c"),
    "keys-or-values-from-x": ("q x, k c, v x", "q x, k x, v c", "q x, k x, v x"),
    "swapped-w-q-w-k": ("k x, q c, v c",),
    "swapped-k-v": ("q x, v c, k c",),
    "values-as-keys": ("q x, v c, v c",),
    "keys-from-w-q": ("q x, q c, v c",),
    "queries-from-w-k": ("k x, k c, v c",),
}
UNPROJECTED = {"values-not-projected": ("q x, k c, - c",), "nothing-projected": ("- x, - c, - c",)}


def _pairs(made_of: str) -> list[list[str]]:
    return [pair.split() for pair in made_of.split(", ")]


def _read(context: Tensor, mask: Tensor | None, read: Read) -> tuple[Tensor, Tensor | None]:
    return (context, None) if mask is None else read(context, mask)


def _zeroed(context: Tensor, mask: Tensor) -> tuple[Tensor, None]:
    return context * mask[..., None], None


def _as_it_is(context: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    return context, ~mask


def _in_masks(of: Callable[..., Attention], *wrong: Read, rows: Read) -> dict[str, Any]:
    """Mistakes in reading a context with padding.

    Args:
        of: attention, from how the context and its mask are read.
        wrong: ways to line the mask up with another axis.
        rows: the way to line it up with the queries.
    """
    nothing_left = Recipe(block=lambda blocked: blocked & ~blocked.all())
    return {
        "padding-zeroed": of(read=_zeroed).oracle,
        "empty-batch-sees-all": of().answer(nothing_left),
        "mask-on-queries": tuple(
            of(read=rows).answer(recipe)
            for recipe in (Recipe(), Recipe(empty=lambda a, empty: a))  # 0 in rows, or NaN
        ),
        "mask-of-wrong-axis": tuple(of(read=read).oracle for read in wrong),
    }


# cross_attention ----------------------------------------------------------------------------------


def _function(
    made_of: str = MADE_OF, read: Read = lambda context, mask: (context, ~mask[:, None])
) -> Attention:
    def parts(
        x: Tensor,
        context: Tensor,
        W_q: Tensor,
        W_k: Tensor,
        W_v: Tensor,
        context_mask: Tensor | None = None,
    ) -> Parts:
        context, blocked = _read(context, context_mask, read)
        tokens, by = {"x": x, "c": context}, {"q": W_q, "k": W_k, "v": W_v}
        q, k, v = (
            tokens[of] @ by[name] if name in by else tokens[of] for name, of in _pairs(made_of)
        )
        return Parts(q, k, v, x, blocked)

    return Attention(parts)


def _joined(asking: bool) -> Formula:
    """x and the context stand one behind the other, and are read as one sequence."""

    def attend(
        x: Tensor, context: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, *mask: Any, **how: Any
    ) -> Any:
        both = torch.cat([x, context], 1)
        return sdpa((both if asking else x) @ W_q, both @ W_k, both @ W_v)

    return attend


FUNCTION = Exercise(
    name="cross_attention",
    signature="(x, context, W_q, W_k, W_v, context_mask=None) -> (out, weights)",
    axes=("b n d", "b m c", "d k", "c k", "c v", "b m mask"),
    fits="b",  # one sentence may be asked of many contexts
    read="Who asks and who answers",
    returns=(Slot("out", "tensor", "B N d_v"), Slot("weights", "tensor", "B N M")),
    claims=promises(
        "equals F.scaled_dot_product_attention, N ≠ M",
        1.25,
        Claim("masked", "hides the context's padding (True = attend)", 0.5),
        empty=0.25,
        large_and_precision=0.25,
        gradient_and_finite=0.25,
        refuses_and_shapes_and_unchanged=0.5,
    ),
    attention=_function(),
    mistakes={
        **{
            slug: tuple(_function(made_of).oracle for made_of in ways)
            for slug, ways in {**OTHERWISE, **UNPROJECTED}.items()
        },
        **_in_masks(
            _function,
            _as_it_is,
            rows=lambda context, mask: (context, ~mask[:, :, None]),
        ),
        "sequences-joined": (_joined(True), _joined(False)),
        "scale-by-sqrt-d": replace(
            _function(), scale=lambda x, context, *args, **kwargs: context.shape[-1] ** -0.5
        ).oracle,
    },
    without=("swapped-q-k",),  # here the context asks
    banned="attention",
)


# CrossAttention -----------------------------------------------------------------------------------


def _module(
    made_of: str = MADE_OF, read: Read = lambda context, mask: (context, ~mask[:, None, None])
) -> Heads:
    def given(x: Tensor, context: Tensor, context_mask: Tensor | None = None) -> Any:
        context, blocked = _read(context, context_mask, read)
        tokens = {"x": x, "c": context}
        return (*(tokens[of] for _, of in _pairs(made_of)), blocked)

    return Heads(given, tuple(f"W_{name}" for name, _ in _pairs(made_of)))


def _empty_out_is_zero(
    state: State, x: Tensor, context: Tensor, context_mask: Tensor | None = None
) -> Any:
    out, weights = _module().attention.oracle(state, x, context, context_mask)
    if context_mask is not None:
        out = out.masked_fill(~context_mask.any(-1)[:, None, None], 0.0)
    return out, weights


CONSTRUCT = Procedure("modules.construct", (), lambda *sizes: None, ("d", "d_context", "n_heads"))


def _cases(rng: np.random.Generator) -> Iterator[Case]:
    draw = Draw(MODULE, rng)
    for _ in range(2):  # what exchanges matrices, or x and context, needs them to fit
        some = draw.sizes(3)
        given = draw.given({**some, "m": some["n"], "c": some["d"]})
        yield draw.case(given, "values", note="x and context are equally long and wide")
    for d, n_heads, note in in_heads.indivisible(rng):
        sizes = d, n_heads * int(rng.integers(1, 4)), n_heads
        yield Case("refuses", sizes, raises="ValueError", note=note, procedure=CONSTRUCT)


MODULE = Exercise(
    name="CrossAttention",
    signature="nn.Module(d, d_context, n_heads, bias=True) with "
    "forward(x, context, context_mask=None) -> (out, weights)",
    axes=("b n d", "b m c", "b m mask"),
    products={"d": "h e"},
    fits="b",
    builds=("d", "c", "h"),
    state={
        **{"W_q.weight": "d d", "W_k.weight": "d c", "W_v.weight": "d c", "W_o.weight": "d d"},
        **{f"W_{name}.bias": "d" for name in "qkvo"},
    },
    read="As a module, with heads",
    returns=(Slot("out", "tensor", "B N d"), Slot("weights", "tensor", "B H N M")),
    claims=promises(
        "equals nn.MultiheadAttention with the same weights",
        1.25,
        Claim("masked", "hides the context's padding, in every head (True = attend)", 0.5),
        Claim("empty", "gives weights of 0 and W_o's bias where a context is all padding", 0.25),
        large_and_precision_and_shapes=0.25,
        bias_and_gradient_and_finite=0.5,
        refuses_and_again_and_unchanged=0.25,
    ),
    attention=_module().attention,
    cases=_cases,
    mistakes={
        **in_heads.mistakes(_module()),
        **{
            slug: tuple(_module(made_of).attention.oracle for made_of in ways)
            for slug, ways in OTHERWISE.items()
        },
        **_in_masks(
            lambda **how: _module(**how).attention,
            _as_it_is,
            lambda context, mask: (context, ~mask[:, None]),
            rows=lambda context, mask: (context, ~mask[:, None, :, None]),
        ),
        "empty-out-is-0": _empty_out_is_zero,
    },
    # A head's part of x is as wide as its queries; here the context asks.
    without=("scale-by-sqrt-d", "swapped-results", "swapped-q-k"),
    banned="attention",
)

EXERCISES = (FUNCTION, MODULE)
