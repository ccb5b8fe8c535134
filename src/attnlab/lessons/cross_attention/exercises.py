"""Lesson 08's exercises: attention over another sequence, and the decoder layer that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from attnlab.checks import in_heads
from attnlab.checks.attention import Attention, Parts, sdpa
from attnlab.checks.exercise import Case, Claim, Exercise, Formula, Procedure, Slot, State, promises
from attnlab.checks.in_heads import Heads
from attnlab.checks.inputs import Generator, normal, sizes
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
    "values-not-projected": ("q x, k c, - c",),
    "nothing-projected": ("- x, - c, - c",),
}


def _pairs(made_of: str) -> list[list[str]]:
    return [pair.split() for pair in made_of.split(", ")]


def _read(context: Tensor, mask: Tensor | None, read: Read) -> tuple[Tensor, Tensor | None]:
    return (context, None) if mask is None else read(context, mask)


def _zeroed(context: Tensor, mask: Tensor) -> tuple[Tensor, None]:
    return context * mask[..., None], None


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


def _padded_alike(rng: Generator) -> Iterator[Case]:
    """Contexts that end in padding alike, so that what is padding for one is so for all."""
    b, n, m, d, c, d_k, d_v = sizes(rng, 7, 3)
    mask = torch.ones(b, m, dtype=torch.bool)
    mask[:, -1] = mask[0, 0] = False
    shapes = ((d, d_k), (c, d_k), (c, d_v))
    matrices = (normal(rng, *shape, std=0.5 * shape[0] ** -0.5) for shape in shapes)
    args = (normal(rng, b, n, d), normal(rng, b, m, c), *matrices, mask)
    yield Case("masked", args, note="the last key is padding in every sentence", exact_zeros=True)


FUNCTION = Exercise(
    name="cross_attention",
    signature="(x, context, W_q, W_k, W_v, context_mask=None) -> (out, weights)",
    axes=("b n d", "b m c", "d k", "c k", "c v", "b m mask"),
    fits="b",  # one sentence may be asked of many contexts
    read="Who asks and who answers",
    returns=(Slot("out", "tensor", "B N d_v"), Slot("weights", "tensor", "B N M")),
    claims=promises(
        "equals F.scaled_dot_product_attention, N ≠ M",
        1.5,
        Claim("masked", "hides the context's padding (True = attend)", 0.5),
        empty=0.25,
        large_and_precision=0.25,
        gradient_and_finite=0.25,
        refuses_and_shapes_and_unchanged=0.25,
    ),
    cases=_padded_alike,
    attention=_function(),
    mistakes={
        "one-mask-for-all": tuple(
            _function(read=read).oracle
            for read in (
                lambda context, mask: (context, ~mask[None, :1]),
                lambda context, mask: (context, ~mask.any(0)[None, None]),
                lambda context, mask: (context, ~mask.all(0)[None, None]),
            )
        ),
        **{
            slug: tuple(_function(made_of).oracle for made_of in ways)
            for slug, ways in OTHERWISE.items()
        },
        "padding-zeroed": _function(read=_zeroed).oracle,
        "empty-batch-sees-all": _function().answer(
            Recipe(block=lambda blocked: blocked & ~blocked.all())
        ),
        "mask-on-queries": tuple(
            _function(read=lambda context, mask: (context, ~mask[:, :, None])).answer(recipe)
            for recipe in (Recipe(), Recipe(empty=lambda a, empty: a))  # 0 in rows, or NaN
        ),
        "mask-of-wrong-axis": _function(read=lambda context, mask: (context, ~mask)).oracle,
        "one-axis-too-many": tuple(
            _function(read=lambda context, mask: (context, ~mask[:, None, None])).answer(recipe)
            for recipe in (Recipe(), Recipe(empty=lambda a, empty: a))  # 0 in rows, or NaN
        ),
        "sequences-joined": (_joined(True), _joined(False)),
        "scale-by-sqrt-d": replace(
            _function(), scale=lambda x, context, *args, **kwargs: context.shape[-1] ** -0.5
        ).oracle,
    },
    without=("swapped-q-k",),  # here the context asks
    banned="attention",
)


# DecoderLayer -------------------------------------------------------------------------------------

Norm = Callable[[State, str, Tensor], Tensor]
Part = Callable[[Tensor], Tensor]
Step = Callable[[Part, Part, Tensor], Tensor]  # of a norm, what comes with it, and x
Cross = Callable[[State, Tensor, Tensor, Tensor | None], Tensor]
PARTS = "self", "cross", "hidden"
ATTENTIONS = {"self_attn": "self_attention", "multihead_attn": "cross_attention"}  # PyTorch's


def _pytorch(norm_first: bool = True) -> Formula:
    """PyTorch's own layer, which is on no device: its numbers are the state's."""

    def forward(state: State, x: Tensor, context: Tensor, context_mask: Any = None) -> Any:
        how: dict[str, Any] = {"norm_first": norm_first, "device": "meta", "dtype": x.dtype}
        d, n_heads, d_hidden = state.sizes
        theirs = nn.TransformerDecoderLayer(d, n_heads, d_hidden, 0.0, batch_first=True, **how)
        packed: dict[str, Tensor] = {}
        for kind in ("weight", "bias"):
            for their, own in ATTENTIONS.items():
                parts = [state[f"{own}.W_{letter}.{kind}"] for letter in "qkv"]
                packed[f"{their}.in_proj_{kind}"] = torch.cat(parts)
                packed[f"{their}.out_proj.{kind}"] = state[f"{own}.W_o.{kind}"]
            packed |= {f"norm{n}.{kind}": state[f"norm_{n}.{kind}"] for n in "123"}
            packed[f"linear1.{kind}"] = state[f"hidden.{kind}"]
            packed[f"linear2.{kind}"] = state[f"out.{kind}"]
        masks = {
            "tgt_mask": _future(x, x),
            "memory_key_padding_mask": None if context_mask is None else ~context_mask,
        }
        return torch.func.functional_call(theirs, packed, (x, context), masks)

    return forward


def _future(x: Tensor, context: Tensor) -> Tensor:
    return torch.ones(x.shape[1], context.shape[1], dtype=torch.bool).triu(1)


def _attend(state: State, of: str, x: Tensor, context: Tensor, blocked: Any = None) -> Tensor:
    """What an attention of the layer gives, with the parameters that begin with its name."""
    own = {name.removeprefix(f"{of}."): each for name, each in state.items() if of in name}
    attention = Heads(lambda: (x, context, context, blocked)).attention
    out: Tensor = attention.oracle(State(own, state.sizes[:2]))[0]
    return out


def _cross(read: Read = lambda context, mask: (context, ~mask[:, None, None])) -> Cross:
    return lambda state, x, context, mask: _attend(
        state, "cross_attention", x, *_read(context, mask, read)
    )


READ = _cross()


def _norm(state: State, which: str, x: Tensor, eps: float = 1e-5) -> Tensor:
    weight, bias = state[f"norm_{which}.weight"], state[f"norm_{which}.bias"]
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


def _before(norm: Part, part: Part, x: Tensor) -> Tensor:
    return x + part(norm(x))


def layer(
    steps: Mapping[str, Step] = {},
    order: tuple[str, ...] = PARTS,
    norms: str = "123",
    norm: Norm = _norm,
    causal: bool = True,
    cross: Cross = READ,
    mlp: Callable[[State, Tensor], Tensor] = lambda state, x: state.linear(
        "out", F.relu(state.linear("hidden", x))
    ),
) -> Formula:
    """A decoder layer made of parts that can be exchanged; as it stands it is PyTorch's.

    Args:
        steps: how a part comes together with its norm and its residual, by the part's name.
        order: of the parts.
        norms: which one each of PARTS has.
        cross: normalised x, context and mask to what cross-attention gives.
        mlp: normalised x to what the hidden layer gives.
    """

    def forward(state: State, x: Tensor, context: Tensor, context_mask: Any = None) -> Tensor:
        parts: dict[str, Part] = {
            "self": lambda x: _attend(
                state, "self_attention", x, x, _future(x, x) if causal else None
            ),
            "cross": lambda x: cross(state, x, context, context_mask),
            "hidden": lambda x: mlp(state, x),
        }
        for name in order:
            own = partial(norm, state, norms[PARTS.index(name)])
            x = steps.get(name, _before)(own, parts[name], x)
        return x

    return forward


def _once_or_thrice(step: Step) -> tuple[Formula, ...]:
    """A step taken in another way, at one of the parts or at all."""
    return tuple(layer(dict.fromkeys(some, step)) for some in (*((one,) for one in PARTS), PARTS))


def _context_normalised(which: str) -> Formula:
    def cross(state: State, x: Tensor, context: Tensor, mask: Tensor | None) -> Tensor:
        return READ(state, x, _norm(state, which, context), mask)

    return layer(cross=cross)


def _normalised_at_the_end(which: str) -> Formula:
    return lambda state, *given, **mask: _norm(state, which, RIGHT(state, *given, **mask))


def _older(reads: tuple[int, ...], adds: tuple[int, ...] = (0, 1, 2)) -> Formula:
    """What each part reads, and what it is added to: x as it came, or after 1 part, or after 2."""

    def forward(state: State, x: Tensor, *context: Any, **mask: Any) -> Tensor:
        sums = [x]
        for part, read, add in zip(PARTS, reads, adds, strict=True):
            found = layer(order=(part,))(state, sums[read], *context, **mask) - sums[read]
            sums.append(sums[add] + found)
        return sums[-1]

    return forward


def _context_is_x(state: State, x: Tensor, context: Tensor, *mask: Any, **named: Any) -> Tensor:
    """x stands where the context belongs, and is no more normalised than that."""
    x = layer(order=("self",))(state, x, context)
    x = layer(order=("cross",))(state, x, x)
    return layer(order=("hidden",))(state, x, context)


def _where_empty(value: float) -> Cross:
    """Another number where a context is all padding."""

    def cross(state: State, x: Tensor, context: Tensor, mask: Tensor | None) -> Tensor:
        found = READ(state, x, context, mask)
        return found if mask is None else found.masked_fill(~mask.any(-1)[:, None, None], value)

    return cross


def _in_order(*order: str) -> tuple[Formula, Formula]:
    """Norms go with their parts, or stay in their places."""
    by_place = "".join(str(1 + order.index(part)) for part in PARTS)
    return layer(order=order), layer(order=order, norms=by_place)


def _bent(bend: Callable[[Tensor], Tensor]) -> Formula:
    return layer(mlp=lambda state, x: state.linear("out", bend(state.linear("hidden", x))))


RIGHT = _pytorch()
CONSTRUCT = Procedure("modules.construct", (), lambda *sizes: None, ("d", "n_heads", "d_hidden"))


def _constructors(rng: np.random.Generator) -> Iterator[Case]:
    for d, n_heads, note in in_heads.indivisible(rng):
        sizes = d, n_heads, n_heads * int(rng.integers(1, 4))
        yield Case("refuses", sizes, raises="ValueError", note=note, procedure=CONSTRUCT)


DECODER_LAYER = Exercise(
    name="DecoderLayer",
    signature="nn.Module(d, n_heads, d_hidden) with "
    "forward(x, context, context_mask=None) -> (B, N, d)",
    axes=("b n d", "b m d", "b m mask"),
    products={"d": "h e"},
    fits="b",
    builds=("d", "h", "f"),
    state={
        **{
            f"{of}.W_{letter}.{kind}": axes
            for of in ATTENTIONS.values()
            for letter in "qkvo"
            for kind, axes in (("weight", "d d"), ("bias", "d"))
        },
        **{"hidden.weight": "f d", "hidden.bias": "f", "out.weight": "d f", "out.bias": "d"},
        **{f"norm_{n}.{kind}": "d" for n in "123" for kind in ("weight", "bias")},
    },
    read="A decoder layer from these parts",
    returns=(Slot("out", "tensor", "B N d"),),
    claims=promises(
        "equals nn.TransformerDecoderLayer(…, norm_first=True) with a causal mask",
        2.25,
        Claim("masked", "hides the context's padding (True = attend)", 0.5),
        Claim("empty", "adds W_o's bias, not NaN, where a context is all padding", 0.25),
        precision_and_shapes=0.25,
        gradient_and_finite=0.5,
        refuses_and_again_and_unchanged=0.25,
    ),
    oracle=RIGHT,
    cases=_constructors,
    mistakes={
        "norm-after": (
            _pytorch(norm_first=False),
            *_once_or_thrice(lambda norm, part, x: norm(x + part(x))),
            *_once_or_thrice(lambda norm, part, x: x + norm(part(x))),
        ),
        "norm-missing": _once_or_thrice(lambda norm, part, x: x + part(x)),
        "residual-missing": _once_or_thrice(lambda norm, part, x: part(norm(x))),
        "residual-of-normed": _once_or_thrice(lambda norm, part, x: norm(x) + part(norm(x))),
        "norms-exchanged": tuple(
            layer(norms="".join(norms))
            for norms in product("123", repeat=3)
            if [*norms] != [*"123"]
        ),
        "norm-not-learned": layer(norm=lambda state, which, x: F.layer_norm(x, x.shape[-1:])),
        "another-eps": tuple(layer(norm=partial(_norm, eps=eps)) for eps in (1e-6, 1e-12)),
        "context-normalised": tuple(map(_context_normalised, "123")),
        "future-not-hidden": layer(causal=False),
        "cross-is-causal": layer(
            cross=lambda state, x, context, mask: _attend(
                state, "cross_attention", x, context, _future(x, context)
            )
        ),
        "reads-itself": (
            _context_is_x,
            layer(cross=lambda state, x, context, mask: READ(state, x, x, None)),
        ),
        "mask-missing": layer(cross=_cross(lambda context, mask: (context, None))),
        "mask-inverted": layer(cross=_cross(lambda context, mask: (context, mask[:, None, None]))),
        "padding-zeroed": layer(cross=_cross(_zeroed)),
        "empty-row-is-nan": layer(cross=_where_empty(torch.nan)),
        "empty-out-is-0": layer(cross=_where_empty(0.0)),
        "parts-in-another-order": (
            *_in_order("cross", "self", "hidden"),
            *_in_order("self", "hidden", "cross"),
            *_in_order("hidden", "self", "cross"),
        ),
        "parts-side-by-side": _older(reads=(0, 0, 0)),
        "reads-an-older-x": tuple(
            _older((0, *reads)) for reads in ((0, 2), (1, 0), (1, 1), (0, 1))
        ),
        "added-to-an-older-x": tuple(
            _older((0, 1, 2), (0, *adds)) for adds in ((0, 2), (1, 0), (1, 1), (0, 0))
        ),
        "part-left-out": tuple(
            layer(order=tuple(part for part in PARTS if part != without)) for without in PARTS
        ),
        "no-relu": (
            _bent(lambda rows: rows),
            layer(mlp=lambda state, x: state.linear("out", state.linear("hidden", F.relu(x)))),
        ),
        "relu-at-the-end": layer(
            mlp=lambda state, x: F.relu(state.linear("out", F.relu(state.linear("hidden", x))))
        ),
        "norm-at-the-end": tuple(map(_normalised_at_the_end, "123")),
        "another-bend": (_bent(F.gelu), _bent(F.silu), _bent(torch.tanh)),
        "no-gradient": (
            lambda state, x, context, *mask, **how: RIGHT(state, x, context.detach(), *mask, **how),
            lambda state, x, context, *mask, **how: RIGHT(state, x.detach(), context, *mask, **how),
        ),
    },
    banned="attention",
)

EXERCISES = (FUNCTION, DECODER_LAYER)
