"""Lesson 08's second exercise: the same with heads, as a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

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
    EVALUATED,
    FAR,
    MADE,
    SECOND,
    TOWERING,
    Generator,
    great_length,
)
from attnlab.checks.recipe import GIVEN, Recipe, Tensor, detached, mistakes_in, pairs_in
from attnlab.checks.relations import ORDER
from attnlab.lessons.cross_attention import LESSON
from attnlab.lessons.cross_attention.context import (
    CONTEXT_IGNORED,
    EMPTY_BATCH,
    EMPTY_SLOPE,
    HIDES,
    KEYS_FROM_X,
    MASK_ON_BATCH,
    MASK_ON_QUERIES,
    PADDING_ZEROED,
    SWAPPED,
    SWAPPED_K_V,
    SWAPPED_Q_K,
    VALUES_AS_KEYS,
    VALUES_FROM_X,
    X_IGNORED,
    masks,
    mostly_real,
    named,
    one_empty,
    order_relation,
    padding_relation,
    real_and_padding,
    some_real,
    unless_empty,
    zeroed,
)
from attnlab.lessons.pytorch.exercises import IN_WEIGHING, REFUSED, SHARES, normal

RETURNS = (Slot("out", "tensor", "B N d"), Slot("weights", "tensor", "B H N M"))


def _state(rng: Generator, d: int, c: int, bias: bool = True) -> dict[str, Tensor]:
    """A module's parameters. W_o is small, so that softmax in float32 surely passes all cases but
    those that are there to show it.
    """
    state = {}
    for name, width in (("W_q", d), ("W_k", c), ("W_v", c), ("W_o", d)):
        state[f"{name}.weight"] = normal(rng, d, width, std=width**-0.5)
        if bias:
            state[f"{name}.bias"] = normal(rng, d)
    state["W_o.weight"] /= 3
    return state


def _module_sizes(rng: Generator) -> tuple[int, ...]:
    """b, n, m, the context's width, heads and the width of a head; they and d all differ.

    Heads divide d, and need not divide the context's width: here they never do.
    Half of a width of 4 is its root, half of 2 is no scale, and 9 has a root that is a width: none
    of them would tell a wrong scale.
    """
    width = int(rng.choice([3, 5]))
    heads = int(rng.choice([size for size in (2, 3, 4) if size != width]))
    others = {2, 3, 5, 6, 7, 8, 10, 11} - {heads, width, heads * width}
    c = int(rng.choice([size for size in sorted(others) if size % heads]))
    b, n, m = (int(size) for size in rng.permutation(sorted(others - {c}))[:3])
    return b, n, m, c, heads, width


def _longer_context(rng: Generator) -> tuple[int, ...]:
    """The same with N less than M, which is 3 at least."""
    b, *lengths, c, heads, width = _module_sizes(rng)
    return (b, *sorted(lengths), c, heads, width)


def _layer(
    rng: Generator, among: tuple[int, ...] = (), bias: bool = True
) -> tuple[Tensor, Tensor, dict[str, Any]]:
    """x, context, and what a Case says of a module."""
    b, n, m, c, heads, width = among or _module_sizes(rng)
    d = heads * width
    given = (d, c, heads) if bias else (d, c, heads, False)
    built = {"sizes": given, "state": _state(rng, d, c, bias)}
    return normal(rng, b, n, d), normal(rng, b, m, c), built


def _module_cases(rng: Generator) -> Iterator[Case]:
    b, few, many, *others = _longer_context(rng)
    for lengths, note in (((few, many), "longer"), ((many, few), "shorter")):
        x, context, built = _layer(rng, (b, *lengths, *others))
        yield Case("values", (x, context), note=f"the context is {note} than x", **built)
    b, n, *_, heads, width = _module_sizes(rng)
    x, context, built = _layer(rng, (b, n, n, heads * width, heads, width))
    note = "x and context are equally long and wide"
    yield Case("values", (x, context), note=note, **built)
    b, n, m, *others = _module_sizes(rng)
    x, context, built = _layer(rng, (b, n, great_length(rng), *others))
    context[:, 0] = 0.0
    note = "the context has many tokens, the first of them 0"
    yield Case("values", (x, context), note=note, **built)
    x, context, built = _layer(rng, (b, great_length(rng), m, *others))
    yield Case("values", (x, context), note="x has many tokens", **built)
    x, context, built = _layer(rng, bias=False)
    yield Case("bias", (x, context), note="bias is False", **built)
    x, context, built = _layer(rng)
    for mask, note in masks(rng, *context.shape[:2]):
        yield Case("padding", (x, context, mask), note=note, exact_zeros=True, **built)
    by_name = {"context_mask": real_and_padding(rng, *context.shape[:2])}
    note = "the mask is given by name"
    yield Case("padding", (x, context), by_name, note=note, exact_zeros=True, **built)
    size, width = int(rng.integers(3, 5)), 2
    x, context, built = _layer(rng, (size, size, size, 5, size, width))
    note = "B, H, N and M are equal, and some of the context is padding"
    mask = real_and_padding(rng, size, size)
    yield Case("padding", (x, context, mask), note=note, exact_zeros=True, **built)
    for bias in (True, False):
        x, context, built = _layer(rng, bias=bias)
        mask = one_empty(rng, *context.shape[:2])
        note = f"one sentence of the context is all padding, and bias is {bias}"
        yield Case("empty", (x, context, mask), note=note, exact_zeros=True, **built)
    for one in range(-1, 3):
        among = list(_module_sizes(rng))
        among[one] = 1 if one >= 0 else among[one]
        x, context, built = _layer(rng, tuple(among))
        nothing = torch.zeros(context.shape[:2], dtype=torch.bool)
        note = "the whole context is padding" + (f", and {'BNM'[one]} is 1" if one >= 0 else "")
        yield Case("empty", (x, context, nothing), note=note, exact_zeros=True, **built)
    x, context, built = _layer(rng)
    yield Case("gradient", (x, context), gradient=True, **built)
    for group, mask_of, note in (
        ("masked gradient", mostly_real, "some of the context is padding"),
        ("empty gradient", one_empty, "one sentence of the context is all padding"),
    ):
        x, context, built = _layer(rng)
        mask = mask_of(rng, *context.shape[:2])
        yield Case(group, (x, context, mask), gradient=True, note=note, **built)
    for fixed, name in (((0,), "x"), ((1,), "context"), ((0, 1), "neither x nor context")):
        x, context, built = _layer(rng)
        mask = mostly_real(rng, *context.shape[:2])
        note = f"{name} needs {'a' if len(fixed) > 1 else 'no'} gradient"
        for given in ((x, context), (x, context, mask)):
            yield Case("frozen", given, gradient=True, fixed=fixed, note=note, **built)
            note += ", and there is a mask"
    for one in range(3):
        among = list(_module_sizes(rng))
        among[one] = 1
        x, context, built = _layer(rng, tuple(among))
        note = f"{'BNM'[one]} is 1"
        yield Case("single", (x, context), note=note, **built)
        mask = some_real(rng, *context.shape[:2])
        note += ", and there is a mask"
        yield Case("masked single", (x, context, mask), note=note, exact_zeros=True, **built)
    for place, note in ((3, "d_context is 1"), (4, "there is one head"), (5, "heads are 1 wide")):
        among = list(_module_sizes(rng))
        among[place] = 1
        x, context, built = _layer(rng, tuple(among))
        yield Case("single", (x, context), note=note, **built)
        mask = real_and_padding(rng, *context.shape[:2])
        note += ", and there is a mask"
        yield Case("masked single", (x, context, mask), note=note, exact_zeros=True, **built)
    x, context, built = _layer(rng)
    note = "inputs are not contiguous"
    yield Case("single", (x, context), laid="views", note=note, **built)
    mask = real_and_padding(rng, *context.shape[:2])
    note += ", and there is a mask"
    masked = (x, context, mask)
    yield Case("masked single", masked, laid="views", note=note, exact_zeros=True, **built)
    yield from _again(rng)
    x, context, built = _layer(rng)
    x[:, 1] = -x[:, 0]  # what is largest for one is smallest for the other
    note = "scores are in the thousands, and far apart"
    yield Case("large", (FAR * x, context), note=note, **built)
    for sign, where in ((1, ""), (-1, " below 0")):
        x, context, built = _alike(rng)
        built["state"]["W_k.weight"] *= sign
        note = f"scores are in the thousands{where}"
        yield Case("large", (x, context), note=note, **built)
        note += ", and some of the context is padding"
        mask = real_and_padding(rng, *context.shape[:2])
        yield Case("masked large", (x, context, mask), note=note, exact_zeros=True, **built)
    x, context, built = _alike(rng)
    mask = real_and_padding(rng, *context.shape[:2])
    context = torch.where(mask[..., None], 1e-2 * context, context)
    given = 600 / (2 * FAR) * x, context, mask
    yield Case("masked large", given, note=TOWERING, exact_zeros=True, **built)
    x, context, built = _layer(rng)
    built["state"] = {name: part.float() for name, part in built["state"].items()}
    single = {"tolerance": FLOAT32_TOLERANCE, **built}
    note = "the module and its inputs are float32"
    yield Case("float32", (x.float(), context.float()), note=note, **single)
    mask = real_and_padding(rng, *context.shape[:2])
    note += ", and some of the context is padding"
    masked = (x.float(), context.float(), mask)
    yield Case("masked large", masked, note=note, exact_zeros=True, **single)
    note = "one sentence of the context is all padding, and the module and its inputs are float32"
    masked = (*masked[:2], one_empty(rng, *context.shape[:2]))
    yield Case("empty", masked, note=note, exact_zeros=True, **single)
    x, context, built = _layer(rng)
    built["state"]["W_v.weight"] *= 1e5
    yield Case("float32", (x, context), note="values are in the hundred thousands", **built)
    yield from _refusals(rng)


def _again(rng: Generator) -> Iterator[Case]:
    """Calls after another one, and modules that are made in another way."""
    for masked, before in ((True, True), (False, True), (True, False)):
        for longer in (1, 0, -1) if masked and before else (0,):
            x, context, built = _layer(rng, _longer_context(rng))
            b, m, c = context.shape
            earlier: tuple[Tensor, ...] = -x, normal(rng, b, m + longer, c)
            earlier += (some_real(rng, b, m + longer),) if before else ()
            given = (x, context, mostly_real(rng, b, m)) if masked else (x, context)
            yield Case("again", given, note=SECOND, earlier=earlier, exact_zeros=masked, **built)
    for made, note in MADE.items():
        x, context, built = _layer(rng, _longer_context(rng))
        mask = mostly_real(rng, *context.shape[:2])
        yield Case("again", (x, context, mask), note=note, made=made, exact_zeros=True, **built)
    x, context, built = _layer(rng, _longer_context(rng))
    built["made"] = EVALUATED
    yield Case("again", (x, context), gradient=True, note=MADE[EVALUATED], **built)
    mask = mostly_real(rng, *context.shape[:2])
    earlier = normal(rng, *x.shape), normal(rng, *context.shape), mask
    note = f"{MADE[EVALUATED]}, and {SECOND}"
    for given in ((x, context, mask), (x, context)):
        masked = len(given) == 3
        yield Case("again", given, note=note, earlier=earlier, exact_zeros=masked, **built)


def _alike(rng: Generator) -> tuple[Tensor, Tensor, dict[str, Any]]:
    """Scores in the thousands, much alike within a row: see `attnlab.checks.inputs.alike`."""
    x, context, built = _layer(rng)
    (n, d), (m, c) = x.shape[1:], context.shape[1:]
    state, heads = built["state"], built["sizes"][2]
    for name in ("W_q", "W_k"):
        state[f"{name}.bias"].zero_()
    # No maximum fits two of them; e to the last's scores is not 0, and e to twice as much is.
    lengths = torch.tensor([1.0, 0.5, 0.025], dtype=x.dtype)[:, None, None]
    context = normal(rng, c) + 1e-4 * normal(rng, 3, m, c)
    keys = context.mean((0, 1)) @ state["W_k.weight"].mT
    x = lengths * (torch.linalg.solve(state["W_q.weight"], keys) + 1e-4 * normal(rng, 3, n, d))
    q, k = (_split(part, heads) for part in _project(State(state, ()), x, context)[:2])
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return x * (2 * FAR / scores.abs().max()), context, built


def _refusals(rng: Generator) -> Iterator[Case]:
    heads, width = (int(size) for size in rng.choice([2, 3, 4], 2, replace=False))
    d = heads * width
    for wrong in (d - 1, d + 1):
        for given in ((wrong, d, heads), (wrong, wrong, heads, False)):
            note = f"d is {wrong} and n_heads is {heads}"
            yield Case("constructor", given, raises="ValueError", note=note, way=CONSTRUCT)
    note = f"there are {d + 1} heads for a width of {d}"
    yield Case("constructor", (d, d + 1, d + 1), raises="ValueError", note=note, way=CONSTRUCT)
    x, context, built = _layer(rng)
    for change, how in (
        (lambda part: part[..., :-1], "narrow"),
        (lambda part: torch.cat([part, part[..., :1]], -1), "wide"),
    ):
        note = f"x is too {how}"
        yield Case("refuses", (change(x), context), raises=REFUSED, note=note, **built)
        note = f"the context is too {how}"
        yield Case("refuses", (x, change(context)), raises=REFUSED, note=note, **built)
    note = "the context is as wide as x, and should be d_context wide"
    as_wide = normal(rng, *context.shape[:2], x.shape[-1])
    yield Case("refuses", (x, as_wide), raises=REFUSED, note=note, **built)


def _mha(state: State, x: Tensor, context: Tensor, context_mask: Tensor | None = None) -> Any:
    """nn.MultiheadAttention with these weights; 0 for a context that is all padding."""
    d, c, heads, *_ = state.sizes
    bias = "W_o.bias" in state
    module = torch.nn.MultiheadAttention(
        d, heads, bias=bias, kdim=c, vdim=c, batch_first=True, device="meta"
    )
    matrices = [state[f"{name}.weight"] for name in ("W_q", "W_k", "W_v")]
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    theirs = dict(zip(names, matrices, strict=True))
    if c == d:
        theirs = {"in_proj_weight": torch.cat(matrices)}
    theirs["out_proj.weight"] = state["W_o.weight"]
    if bias:
        theirs["in_proj_bias"] = torch.cat(
            [state[f"{name}.bias"] for name in ("W_q", "W_k", "W_v")]
        )
        theirs["out_proj.bias"] = state["W_o.bias"]
    if context_mask is None:
        context_mask = torch.ones(context.shape[:2], dtype=torch.bool)
    empty = ~context_mask.any(-1)
    padding = ~(context_mask | empty[:, None])
    how = {"key_padding_mask": padding, "average_attn_weights": False}
    out, weights = torch.func.functional_call(module, theirs, (x, context, context), how)
    nothing = state["W_o.bias"] if bias else torch.zeros(d, dtype=x.dtype)
    return (
        torch.where(empty[:, None, None], nothing, out),
        weights.masked_fill(empty[:, None, None, None], 0.0),
    )


CONSTRUCT = Way("modules.construct", (), lambda *sizes: None, ("d", "d_context", "n_heads", "bias"))


def _linear(state: State, name: str, x: Tensor) -> Tensor:
    return F.linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))


def _project(state: State, x: Tensor, context: Tensor) -> tuple[Tensor, ...]:
    return _linear(state, "W_q", x), _linear(state, "W_k", context), _linear(state, "W_v", context)


def _split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _merge(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def _for_heads(mask: Tensor) -> Tensor:
    return mask[:, None, None]


def _module(
    recipe: Recipe | None = None,
    project: Callable[[State, Tensor, Tensor], tuple[Tensor, ...]] = _project,
    split: Callable[[Tensor, int], Tensor] = _split,
    merge: Callable[[Tensor], Tensor] = _merge,
    lay: Callable[[Tensor], Tensor] = _for_heads,
    finish: Callable[[State, Tensor, Tensor], Any] = lambda state, out, weights: (
        _linear(state, "W_o", out),
        weights,
    ),
) -> Callable[..., Any]:
    """The exercise's forward pass, its parts exchanged."""
    attend = recipe or Recipe()

    def forward(
        state: State, x: Tensor, context: Tensor, context_mask: Tensor | None = None
    ) -> Any:
        heads = state.sizes[2]
        q, k, v = (split(part, heads) for part in project(state, x, context))
        blocked = None if context_mask is None else ~lay(context_mask)
        out, weights = attend.compute(q, k, v, mask=blocked)
        return finish(state, merge(out), weights)

    return forward


def _reshaped(x: Tensor, heads: int) -> Tensor:
    b, n, d = x.shape
    return x.reshape(b, heads, n, d // heads)


def _reshaped_back(x: Tensor) -> Tensor:
    b, h, n, width = x.shape
    return x.reshape(b, n, h * width)


def _interleaved(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def _interleaved_back(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(2)


def _scaled_by(size: Callable[[Any], float]) -> Callable[..., Any]:
    return _module(Recipe(scale=lambda at: size(at) ** -0.5))


def _roles(
    make: Callable[..., tuple[tuple[str, str], tuple[str, str], tuple[str, str]]],
) -> Callable[..., Any]:
    """Queries, keys and values, each by its matrix and what that is applied to."""

    def project(state: State, x: Tensor, context: Tensor) -> tuple[Tensor, ...]:
        return tuple(_linear(state, name, {"x": x, "context": context}[of]) for name, of in make())

    return _module(project=project)


def _one_head(state: State, x: Tensor, context: Tensor, context_mask: Any = None) -> Any:
    one = State(state, (*state.sizes[:2], 1))
    return _module()(one, x, context, context_mask)


def _weights_alone(*names: str) -> Callable[..., Any]:
    """The forward pass without these biases."""

    def forward(state: State, *args: Any, **kwargs: Any) -> Any:
        bare = {name: part for name, part in state.items() if name not in names}
        return _module()(State(bare, state.sizes), *args, **kwargs)

    return forward


def _empty_out_is_zero(
    state: State, x: Tensor, context: Tensor, context_mask: Any = None
) -> tuple[Tensor, Tensor]:
    out, weights = _mha(state, x, context, context_mask)
    if context_mask is None:
        return out, weights
    return out.masked_fill(~context_mask.any(-1)[:, None, None], 0.0), weights


def _nan_in_module_slopes(
    state: State, x: Tensor, context: Tensor, context_mask: Any = None
) -> Any:
    heads = state.sizes[2]
    q, k, v = (_split(part, heads) for part in _project(state, x, context))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if context_mask is not None:
        hide = torch.zeros(context_mask.shape, dtype=x.dtype)
        scores = scores + hide.masked_fill(~context_mask, -torch.inf)[:, None, None]
    weights = scores.softmax(-1)
    if context_mask is not None:
        weights = weights.masked_fill(~context_mask.any(-1)[:, None, None, None], 0.0)
    return _linear(state, "W_o", _merge(weights @ v)), weights


HEADS = (
    "heads-not-transposed",
    "Queries, keys and values were reshaped to (B, H, N, d/H) in reading order: a head gets all "
    "numbers of a few tokens, not a slice of every token.",
    "Reshape to (B, N, H, d/H) first, then exchange the two middle axes.",
)
INTERLEAVED = (
    "heads-interleaved",
    "Each head got every H-th number of a token. In this course, and in PyTorch, a head is d/H "
    "numbers that stand together.",
    "Split d as (H, d/H), the heads first.",
)


def _state_padding(rng: Generator) -> tuple[Case, Case]:
    x, context, built = _layer(rng, (2, 4, 5, 7, 2, 3))
    mask = real_and_padding(rng, 2, 5)
    changed = torch.where(mask[..., None], context, normal(rng, 2, 5, 7, std=3.0))
    return (
        Case("padding", (x, context, mask), **built),
        Case("padding", (x, changed, mask), **built),
    )


def _state_order(rng: Generator) -> tuple[Case, Case]:
    x, context, built = _layer(rng, (2, 4, 5, 7, 2, 3))
    return (
        Case("values", (x, context), **built),
        Case("values", (x, context[:, ORDER]), **built),
    )


MODULE = Exercise(
    name="CrossAttention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="nn.Module(d, d_context, n_heads, bias=True) with "
    "forward(x, context, context_mask=None) -> (out, weights)",
    axes=("b n d", "b m c", "=d", "=c", "=h"),  # of a case without a mask
    read="As a module, with heads",
    returns=RETURNS,
    groups=(
        Group("values", "equals nn.MultiheadAttention with the same weights", 1.0, core=True),
        Group("bias", "has biases, and none when bias=False", 0.25),
        Group("padding", "hides the context's padding, in every head (True = attend)", 0.3125),
        Group("large", "is stable at scores in the thousands", 0.0625, needs=("float32",)),
        Group(
            "float32", "keeps float32 (compared at 1e-4), and float64 with all its digits", 0.0625
        ),
        Group(
            "masked large",
            "hides padding at such scores, and in float32",
            0.0625,
            needs=("padding", "large", "float32"),
        ),
        Group(
            "empty",
            "gives weights of 0 and W_o's bias where a context is all padding",
            0.25,
            needs=("padding", "bias", "float32"),
        ),
        Group(
            "gradient",
            "passes the right gradients to x, context and all parameters",
            0.125,
            needs=("float32",),
        ),
        Group(
            "masked gradient",
            "has them with a mask as well",
            0.0625,
            needs=("padding", "gradient"),
        ),
        Group(
            "empty gradient",
            "has them, and no NaN, where a context is all padding",
            0.0625,
            needs=("empty", "masked gradient"),
        ),
        Group("single", "works for sizes of 1, and for inputs that are not contiguous", 0.0625),
        Group("masked single", "hides padding there as well", 0.0625, needs=("padding", "single")),
        Group("again", AGAIN, 0.125, needs=("padding", "gradient", "float32")),
        Group("constructor", "raises ValueError if n_heads does not divide d", 0.125),
        Group("refuses", "raises an error when widths do not fit", 0.125),
        Group(
            "frozen",
            "has them where x or context needs none",
            0.0625,
            needs=("masked gradient",),
        ),
        unchanged(0.1875),
    ),
    cases=_module_cases,
    oracle=_mha,
    mistakes=(
        *mistakes_in(
            _module,
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
            in_attention.EMPTY_ROWS,
            beside=GIVEN,
        ),
        *mistakes_in(
            _module,
            in_attention.MIX,
            in_attention.RESULTS,
            in_attention.MASK,
            in_attention.GRADIENTS,
            without=("swapped-results",),  # what stands first goes through W_o
        ),
        *(detached(_mha, 0, only=only) for only in ("", "weight", "bias")),
        detached(_mha, 1),
        detached(_mha, 2),
        *named(
            (
                "swapped-results",
                "Both results are right and stand in the wrong order.",
                "Return the output first, then the weights.",
            ),
            lambda *args, **kwargs: _mha(*args, **kwargs)[::-1],
        ),
        *named(
            HEADS,
            _module(split=_reshaped, merge=_reshaped_back),
            _module(split=_reshaped),
        ),
        *named(
            (
                "merge-not-transposed",
                "The heads were merged in reading order: a row holds several tokens of one head, "
                "not the heads of one token. The weights are right.",
                "Exchange heads and tokens before the reshape that merges.",
            ),
            _module(merge=_reshaped_back),
        ),
        *named(
            INTERLEAVED,
            _module(split=_interleaved, merge=_interleaved_back),
            _module(split=_interleaved),
            _module(merge=_interleaved_back),
        ),
        *named(
            (
                "output-not-mixed",
                "The heads' answers stand side by side: W_o was not used.",
                "Merge the heads, then call W_o.",
            ),
            _module(finish=lambda state, out, weights: (out, weights)),
        ),
        *named(
            (
                "weights-averaged",
                "The weights are averaged over the heads, as `nn.MultiheadAttention` does unless "
                "told otherwise. Here each head's are returned, (B, H, N, M).",
                "Return the weights as they come out of softmax.",
            ),
            _module(
                finish=lambda state, out, weights: (_linear(state, "W_o", out), weights.mean(1))
            ),
        ),
        *named(
            (
                "one-head",
                "There is one head of the full width: d was not split.",
                "Split queries, keys and values into n_heads heads before they meet.",
            ),
            _one_head,
            lambda *args, **kwargs: (
                (found := _one_head(*args, **kwargs))[0],
                found[1][:, 0],
            ),
        ),
        *named(
            (
                "scale-by-sqrt-d",
                "The scores are divided by √d. Each head's are dot products of queries and keys "
                "that are d/H wide.",
                "Take the width from a query that has been split.",
            ),
            _scaled_by(lambda at: at.q.shape[1] * at.q.shape[-1]),
        ),
        *named(
            (
                "scale-by-sqrt-heads",
                "The scores are divided by √H, the root of the number of heads.",
                "The width of a head is the size of a query's last axis, d/H.",
            ),
            _scaled_by(lambda at: at.q.shape[1]),
        ),
        *named(
            (
                "softmax-over-heads",
                "Softmax ran over the heads: they compete for each pair of tokens. Each head "
                "shares out its own attention, among the keys.",
                "Take softmax along the last axis, -1.",
            ),
            _module(Recipe(weigh=lambda s: torch.softmax(s, 1))),
        ),
        *named(
            SWAPPED,
            _roles(lambda: (("W_q", "context"), ("W_k", "x"), ("W_v", "context"))),
            _roles(lambda: (("W_q", "context"), ("W_k", "x"), ("W_v", "x"))),
        ),
        *named(VALUES_FROM_X, _roles(lambda: (("W_q", "x"), ("W_k", "context"), ("W_v", "x")))),
        *named(KEYS_FROM_X, _roles(lambda: (("W_q", "x"), ("W_k", "x"), ("W_v", "context")))),
        *named(CONTEXT_IGNORED, _roles(lambda: (("W_q", "x"), ("W_k", "x"), ("W_v", "x")))),
        *named(
            X_IGNORED,
            _roles(lambda: (("W_q", "context"), ("W_k", "context"), ("W_v", "context"))),
        ),
        *named(
            SWAPPED_K_V,
            _roles(lambda: (("W_q", "x"), ("W_v", "context"), ("W_k", "context"))),
        ),
        *named(
            SWAPPED_Q_K,
            _roles(lambda: (("W_k", "x"), ("W_q", "context"), ("W_v", "context"))),
        ),
        *named(
            VALUES_AS_KEYS,
            _roles(lambda: (("W_q", "x"), ("W_v", "context"), ("W_v", "context"))),
        ),
        *named(
            (
                "bias-ignored",
                "Biases exist and are not used.",
                "Call the linears, `self.W_q(x)`; their weights alone leave out the bias.",
            ),
            _weights_alone("W_q.bias", "W_k.bias", "W_v.bias", "W_o.bias"),
            _weights_alone("W_q.bias", "W_k.bias", "W_v.bias"),
            _weights_alone("W_o.bias"),
        ),
        *named(
            MASK_ON_QUERIES,
            _module(lay=lambda mask: mask[:, None, :, None]),
            _module(Recipe(empty=lambda a, rows: a), lay=lambda mask: mask[:, None, :, None]),
        ),
        *named(
            MASK_ON_BATCH,
            _module(lay=lambda mask: mask[:, None]),
            _module(lay=lambda mask: mask),
        ),
        *named(PADDING_ZEROED, zeroed(_mha)),
        *named(EMPTY_BATCH, unless_empty(_mha)),
        *named(
            (
                "empty-out-is-0",
                "Where a context is all padding, the output is 0. The heads' answer is 0 there, "
                "and W_o adds its bias to that, as to any other.",
                "Set weights to 0, and let W_o have the last word.",
            ),
            _empty_out_is_zero,
        ),
        *named(
            EMPTY_SLOPE,
            _nan_in_module_slopes,
        ),
    ),
    pairs=pairs_in(_module, in_attention.SCALE, IN_WEIGHING, in_attention.MIX, in_attention.MASK),
    properties=(HIDES, *SHARES),
    relations=(padding_relation(_state_padding), order_relation(_state_order)),
    fused_banned=True,
)
