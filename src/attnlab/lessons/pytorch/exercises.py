"""Lesson 05's exercises: attention as a batched tensor function, and as a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks import in_attention, in_softmax
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Property,
    Relation,
    Slot,
    unchanged,
)
from attnlab.checks.inputs import (
    AFTER_A_MASK,
    AGAIN,
    EQUAL,
    EVALUATED,
    FAR,
    MADE,
    SECOND,
    TOWERING,
    alike,
    great_length,
    holes,
    one_size,
    ones_in_turn,
    qkv,
    sizes,
    towering,
)
from attnlab.checks.recipe import (
    Part,
    Recipe,
    Tensor,
    detached,
    mistakes_in,
    pairs_in,
    softmax,
    wrong,
)
from attnlab.checks.relations import ORDER, equivariance_relation, same
from attnlab.lessons.pytorch import LESSON

REFUSED = "ValueError or RuntimeError"  # PyTorch's own error names both shapes


def tensors(*arrays: np.ndarray) -> tuple[Tensor, ...]:
    """Tensors with the arrays' numbers."""
    return tuple(map(torch.from_numpy, arrays))


def normal(rng: np.random.Generator, *shape: int, std: float = 1.0) -> Tensor:
    """Standard normal float64 numbers."""
    return torch.from_numpy(rng.normal(0, std, shape))


def misfits(part: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The same with one entry fewer along an axis, and with one more."""
    one = part.narrow(axis, 0, 1)
    return part.narrow(axis, 1, part.shape[axis] - 1), torch.cat([part, one], axis)


def sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """F.scaled_dot_product_attention, and its weights: its output when values are unit vectors."""
    each_key = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], -1, -1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out, F.scaled_dot_product_attention(q, k, each_key, attn_mask=mask)


def rows_are_shares(args: tuple[Any, ...], out: np.ndarray, weights: np.ndarray) -> bool:
    """Each row of weights adds up to 1, or is all 0."""
    sums = weights.sum(-1)
    return bool(((abs(sums - 1) < 1e-4) | (sums == 0)).all())


SHARES = (
    Property("weights are numbers, none below 0", lambda args, out, a: bool((a >= 0).all())),
    Property("each row of weights adds up to 1, or is all 0", rows_are_shares),
)


ROOT: Part = (
    wrong(
        "root-in-float32",
        "The root is a float32 number, as `torch.tensor(d_k).sqrt()` is: about 7 digits of it are "
        "right, and no more of what it divides.",
        "Take the root of a Python number: `q.shape[-1] ** 0.5`, or `math.sqrt`.",
        {"scale": lambda at: 1 / torch.tensor(at.q.shape[-1]).sqrt().item()},
        {"scale": lambda at: (1 / torch.tensor(at.q.shape[-1]).sqrt()).item()},
    ),
)


def _any_for_all(scores: Tensor) -> Tensor:
    rows = (scores == -torch.inf).any(-1, keepdim=True)
    return softmax(scores.masked_fill(rows, 0.0)).masked_fill(rows, 0.0)


ANY_FOR_ALL: Part = (
    wrong(
        "any-for-all",
        "Each row with a hidden key is 0, the keys that are left as well. A row is empty where "
        "*all* of its scores are -inf.",
        "Ask `.all(dim=-1, keepdim=True)`, not `.any`.",
        {"weigh": _any_for_all},
    ),
)

IN_WEIGHING = in_softmax.SOFTMAX + in_softmax.NO_SOFTMAX + in_softmax.ROWS

# scaled_dot_product_attention ----------------------------------------------------------------


def _qkv(rng: np.random.Generator, *leading: int, **how: Any) -> tuple[Tensor, ...]:
    return tensors(*qkv(rng, *leading, **how))


def _with_mask(rng: np.random.Generator, *leading: int, of: Any = qkv) -> tuple[Tensor, ...]:
    q, k, v = of(rng, *leading)
    return tensors(q, k, v, holes(rng, q.shape[-2], k.shape[-2]))


def as_float(mask: Tensor) -> Tensor:
    """A bool mask, True = attend, as 0 and -inf."""
    return torch.zeros(mask.shape, dtype=torch.float64).masked_fill(~mask, -torch.inf)


def _function_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("values", _qkv(rng, 2), note="there is a batch axis")
    yield Case("values", _qkv(rng), note="there is no batch axis")
    yield Case("values", _qkv(rng, 2, 3), note="there are batch and head axes")
    for one in ones_in_turn(rng, 4):
        yield Case("values", _qkv(rng, 2, among=one), note="one of the sizes is 1")
    among = sizes(rng, 4)
    first, second = _qkv(rng, 2, among=among), _qkv(rng, 2, among=among)
    yield Case("values", second, earlier=first, note=SECOND)
    masked = (*first, torch.from_numpy(holes(rng, *among[:2])))
    yield Case("values", second, earlier=masked, note=AFTER_A_MASK)
    yield Case("values", _qkv(rng, 2, among=one_size(rng, 4)), note=EQUAL)
    n, m, d_k, d_v = sizes(rng, 4)
    note = "there are many queries, or many keys"
    for among in ((great_length(rng), m, d_k, d_v), (n, great_length(rng), d_k, d_v)):
        yield Case("values", _qkv(rng, 2, among=among), note=note)
    *args, mask = _with_mask(rng, 2, of=partial(qkv, among=one_size(rng, 4)))
    yield Case("bool mask", (*args, mask), note=EQUAL, exact_zeros=True)
    some = _with_mask(rng, 2)
    some[0][:, rng.integers(some[0].shape[1])] = 0.0
    yield Case("bool mask", some, note="one query is 0", exact_zeros=True)
    q, k, v = qkv(rng, 2, 3)
    broadcast = {"attn_mask": torch.from_numpy(holes(rng, 2, 1, 1, k.shape[-2]))}
    yield Case("bool mask", tensors(q, k, v), broadcast, note="it broadcasts", exact_zeros=True)
    *args, mask = _with_mask(rng, 2)
    bias = torch.from_numpy(rng.normal(size=mask.shape))
    yield Case("float mask", (*args, bias), note="attn_mask is float")
    *args, mask = _with_mask(rng, 2)
    note = "attn_mask is float, 0 and -inf, and as large as the scores"
    each = as_float(mask).expand(2, -1, -1).clone()
    yield Case("float mask", (*args, each), note=note, exact_zeros=True)
    yield Case("large", _qkv(rng, 2, std=1e4), note="scores are in the thousands")
    q, k, v = qkv(rng, 2, std=1e4)
    note = "scores are in the thousands below 0"
    yield Case("large", tensors(-abs(q), abs(k), v), note=note)
    note = "scores are in the thousands, and close together"
    yield Case("large", tensors(*alike(rng, 2)), note=note)
    note = "scores are in the thousands, and some keys are blocked"
    yield Case("hidden", _with_mask(rng, 2, of=alike), note=note, exact_zeros=True)
    *inputs, mask = tensors(*towering(rng, 2))
    yield Case("hidden", (*inputs, mask), note=TOWERING, exact_zeros=True)
    for kind in ("bool", "float"):
        *inputs, mask = _with_mask(rng, 2)
        none = torch.zeros_like(mask)
        used = none if kind == "bool" else as_float(none)
        note = f"no query may attend to any key, by a {kind} mask"
        yield Case(f"blocked by {kind}", (*inputs, used), note=note, exact_zeros=True)
        mask[rng.integers(len(mask))] = False
        used = mask if kind == "bool" else as_float(mask)
        note = f"one query may attend to no key, by a {kind} mask"
        yield Case(f"blocked by {kind}", (*inputs, used), note=note, exact_zeros=True)
    q, k, v = qkv(rng, 2)
    yield Case("gradient", tensors(q, k, v * 1e5), gradient=True)
    kept = torch.from_numpy(holes(rng, q.shape[-2], k.shape[-2]))
    large = (*tensors(q, k, v * 1e5), kept)
    yield Case("masked gradient", large, gradient=True, note="there is a mask")
    masked = _with_mask(rng, 2)
    at = int(rng.integers(3))
    others = tuple(place for place in range(3) if place != at)
    note = f"{'qkv'[at]} alone needs a gradient"
    yield Case("gradient", masked[:3], gradient=True, fixed=others, note=note)
    note += ", and there is a mask"
    yield Case("masked gradient", masked, gradient=True, fixed=others, note=note)
    for group, given in (("float32", _qkv(rng, 2)), ("hidden", _with_mask(rng, 2))):
        single = tuple(part.float() for part in given[:3])
        note = "inputs are float32" + (", and there is a mask" if given[3:] else "")
        yield Case(group, (*single, *given[3:]), note=note, tolerance=FLOAT32_TOLERANCE)
    q, k, v = qkv(rng, 2)
    note = "values are in the hundred thousands"
    yield Case("float32", tensors(q, k, v * 1e5), note=note)
    for leading in ((2,), (2, 3)):
        yield Case("views", _qkv(rng, *leading), laid="views", note="inputs are not contiguous")
    given = _qkv(rng, 2, among=sizes(rng, 4, 3))
    for place, axis, what, ways in (
        (0, -1, "q is {} than k", ("narrower", "wider")),
        (1, -1, "k is {} than q", ("narrower", "wider")),
        (1, -2, "there are {} keys than values", ("fewer", "more")),
        (2, -2, "there are {} values than keys", ("fewer", "more")),
    ):
        for changed, how in zip(misfits(given[place], axis), ways, strict=True):
            wrong_one = (*given[:place], changed, *given[place + 1 :])
            yield Case("refuses", wrong_one, raises=REFUSED, note=what.format(how))


def _function(recipe: Recipe) -> Callable[..., Any]:
    """The exercise's function, made from a recipe. A float mask is added, as it should be."""

    def attention(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
        if attn_mask is None or attn_mask.dtype != torch.bool:
            return recipe.compute(q, k, v, bias=attn_mask)
        return recipe.compute(q, k, v, mask=~attn_mask)

    return attention


def _ignores_float(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
    boolean = attn_mask is not None and attn_mask.dtype == torch.bool
    return sdpa(q, k, v, attn_mask if boolean else None)


def _float_as_bool(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
    return sdpa(q, k, v, None if attn_mask is None else attn_mask.bool())


def _float_mask(
    use: Callable[[Tensor, Tensor, Tensor], Tensor],
) -> Callable[..., Any]:
    """The exercise's function, with another use of a float mask: takes it, q and raw scores."""

    def attention(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
        if attn_mask is None or attn_mask.dtype == torch.bool:
            return sdpa(q, k, v, attn_mask)
        weights = use(attn_mask, q, q @ k.mT).softmax(-1)
        return weights @ v, weights

    return attention


def _shifted_rows(rng: np.random.Generator) -> tuple[Case, Case]:
    *args, mask = _with_mask(rng, 2)
    bias = torch.from_numpy(rng.normal(size=mask.shape))
    offset = torch.from_numpy(rng.normal(size=(len(mask), 1)))
    return Case("float mask", (*args, bias)), Case("float mask", (*args, bias + offset))


HIDING = ("bool mask", "large", "float32")

FUNCTION = Exercise(
    name="scaled_dot_product_attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(q, k, v, attn_mask=None) -> (out, weights)",
    axes=("… n k", "… m k", "… m v"),
    read="The same five lines, batched",
    returns=(Slot("out", "tensor", "… N d_v"), Slot("weights", "tensor", "… N M")),
    groups=(
        Group("values", "equals F.scaled_dot_product_attention", 1.0, core=True),
        Group("bool mask", "takes a bool mask, True = attend", 0.5),
        Group("float mask", "adds a float mask to the scaled scores", 0.5),
        Group("large", "is stable at scores in the thousands", 0.0625),
        Group(
            "hidden", "hides keys at scores in the thousands, and in float32", 0.0625, needs=HIDING
        ),
        Group(
            "blocked by bool",
            "gives 0, not NaN, to a query that a bool mask leaves nothing",
            0.125,
            needs=("bool mask",),
        ),
        Group(
            "blocked by float",
            "gives 0, not NaN, to a query that a float mask leaves nothing",
            0.125,
            needs=("float mask",),
        ),
        Group("gradient", "has the gradients that autograd finds through the built-in", 0.125),
        Group(
            "masked gradient",
            "has them with a mask as well",
            0.125,
            needs=("bool mask", "gradient"),
        ),
        Group(
            "float32",
            "keeps float32 (compared at 1e-4), and float64 with all its digits",
            0.0625,
        ),
        Group("views", "takes inputs that are not contiguous", 0.0625),
        Group("refuses", "raises an error when widths or numbers do not fit", 0.125),
        unchanged(0.125),
    ),
    cases=_function_cases,
    oracle=lambda q, k, v, attn_mask=None: sdpa(q, k, v, attn_mask),
    mistakes=(
        *mistakes_in(
            _function,
            in_softmax.SOFTMAX,
            in_softmax.NO_SOFTMAX,
            in_softmax.ROWS,
            in_softmax.BATCH,
            in_softmax.ANY_AXES,
            in_softmax.LARGE,
            in_softmax.MAXIMA,
            in_softmax.PRECISION,
            in_attention.SCALE,
            in_attention.SCALE_LATE,
            in_attention.SCALE_BY_FIRST_AXIS,
            in_attention.SCALE_BY_VALUES,
            in_attention.SCORES,
            in_attention.RESHAPED,
            in_attention.MIX,
            in_attention.RESULTS,
            in_attention.MASK,
            in_attention.FAR_BELOW,
            in_attention.FAR_ABOVE,
            in_attention.EMPTY_ROWS,
            in_attention.GRADIENTS,
            ROOT,
            ANY_FOR_ALL,
        ),
        Mistake(
            "mask-added",
            lambda q, k, v, attn_mask=None: sdpa(
                q, k, v, None if attn_mask is None else attn_mask.to(q.dtype)
            ),
            "A bool mask was added as 0s and 1s: blocked keys keep their weight.",
            "Look at `attn_mask.dtype`: a bool mask hides, a float mask is added.",
        ),
        Mistake(
            "float-mask-ignored",
            _ignores_float,
            "A float mask makes no difference to the answer.",
            "Add it to the scaled scores.",
        ),
        Mistake(
            "float-mask-as-bool",
            _float_as_bool,
            "A float mask is read as true and false: what is not 0 attends.",
            "Look at `attn_mask.dtype`: a bool mask hides, a float mask is added.",
        ),
        Mistake(
            "float-mask-hides-only",
            _float_mask(
                lambda mask, q, scores: (scores / q.shape[-1] ** 0.5).masked_fill(
                    mask == -torch.inf, -torch.inf
                )
            ),
            "The float mask hides keys where it is -inf, and its other numbers were left out.",
            "Add it to the scaled scores.",
        ),
        Mistake(
            "float-mask-multiplied",
            _float_mask(lambda mask, q, scores: scores / q.shape[-1] ** 0.5 * mask),
            "The float mask is multiplied with the scores.",
            "Add it to the scaled scores.",
        ),
        Mistake(
            "empty-row-is-nan",
            _float_mask(lambda mask, q, scores: scores / q.shape[-1] ** 0.5 + mask),
            "A query that a float mask leaves nothing gets NaN. A row of -inf is empty, whichever "
            "kind of mask has made it so.",
            "Ask the scores which rows are empty, not the mask.",
        ),
        Mistake(
            "float-mask-before-scale",
            _float_mask(lambda mask, q, scores: (scores + mask) / q.shape[-1] ** 0.5),
            "The float mask is scaled too: it was added before the division by √d_k.",
            "Scale the scores first, then add the mask.",
        ),
    ),
    pairs=pairs_in(_function, in_attention.SCALE, IN_WEIGHING, in_attention.MIX, in_attention.MASK),
    properties=SHARES,
    relations=(
        Relation(
            "a constant added to all scores of a row changes nothing",
            _shifted_rows,
            same,
            slug="row-offset",
            reason="Softmax depends on differences between scores alone.",
            remedy="Look at what happens to the scores between the mask and softmax.",
        ),
    ),
    fused_banned=True,
)


# SelfAttention -------------------------------------------------------------------------------


def _state(
    rng: np.random.Generator, d: int, d_k: int, d_v: int, bias: bool = False
) -> dict[str, Tensor]:
    state = {}
    for name, width in (("W_q", d_k), ("W_k", d_k), ("W_v", d_v)):
        state[f"{name}.weight"] = normal(rng, width, d, std=d**-0.5)
        if bias:
            state[f"{name}.bias"] = normal(rng, width)
    return state


def _module_cases(rng: np.random.Generator) -> Iterator[Case]:
    def layer(
        bias: bool = False, among: tuple[int, ...] = ()
    ) -> tuple[Tensor, tuple[Any, ...], dict[str, Tensor]]:
        b, n, d, d_k, d_v = among or sizes(rng, 5)
        given = (d, d_k, d_v, True) if bias else (d, d_k, d_v)
        return normal(rng, b, n, d), given, _state(rng, d, d_k, d_v, bias)

    for _ in range(2):
        x, given, state = layer()
        yield Case("values", (x,), sizes=given, state=state)
    for longer in (0, 1):
        x, given, state = layer()
        first = normal(rng, x.shape[0], x.shape[1] + longer, x.shape[2])
        yield Case("values", (x,), sizes=given, state=state, earlier=(first,), note=SECOND)
    b, *others = sizes(rng, 5)
    x, given, state = layer(among=(b, great_length(rng), *others[1:]))
    x[:, 0] = 0.0
    note = "there are many tokens, the first of them 0"
    yield Case("values", (x,), sizes=given, state=state, note=note)
    x, given, state = layer(bias=True)
    yield Case("bias", (x,), sizes=given, state=state, note="bias is True")
    for made, note in MADE.items():
        x, given, state = layer(bias=True)
        yield Case("again", (x,), sizes=given, state=state, made=made, note=note)
    first, given, state = layer()
    built: dict[str, Any] = {"sizes": given, "state": state, "made": EVALUATED}
    note = f"{MADE[EVALUATED]}, and {SECOND}"
    yield Case("again", (normal(rng, *first.shape),), earlier=(first,), note=note, **built)
    yield Case("again", (first,), gradient=True, note=MADE[EVALUATED], **built)
    for biased in (False, True):
        x, given, state = layer(biased)
        state["W_v.weight"] *= 1e5
        yield Case("gradient", (x,), sizes=given, state=state, gradient=True)
    x, given, state = layer()
    x[:, 1] = -x[:, 0]  # what is largest for one is smallest for the other
    note = "scores are in the thousands, and far apart"
    yield Case("large", (FAR**0.5 * x,), sizes=given, state=state, note=note)
    for sign, where in ((1, ""), (-1, " below 0")):
        x, given, state = _thousands(rng)
        state["W_k.weight"] *= sign
        note = f"scores are in the thousands{where}, and close together"
        yield Case("large", (x,), sizes=given, state=state, note=note)
    x, given, state = layer()
    state["W_v.weight"] *= 1e5
    note = "values are in the hundred thousands"
    yield Case("float32", (x,), sizes=given, state=state, note=note)
    x, given, state = layer()
    note = "x needs no gradient"
    yield Case("gradient", (x,), sizes=given, state=state, gradient=True, fixed=(0,), note=note)
    for one in ones_in_turn(rng, 5):
        x, given, state = layer(among=one)
        yield Case("single", (x,), sizes=given, state=state, note="one of the sizes is 1")
    x, given, state = layer()
    note = "x is not contiguous"
    yield Case("single", (x,), sizes=given, state=state, laid="views", note=note)
    for changed, how in zip(misfits(x, -1), ("narrower", "wider"), strict=True):
        note = f"x is {how} than d"
        yield Case("refuses", (changed,), sizes=given, state=state, raises=REFUSED, note=note)
    x, given, state = layer(among=one_size(rng, 5))
    yield Case("values", (x,), sizes=given, state=state, note=EQUAL)
    x, given, state = layer()
    single = {name: part.float() for name, part in state.items()}
    note = "the module and x are float32"
    yield Case(
        "float32", (x.float(),), sizes=given, state=single, note=note, tolerance=FLOAT32_TOLERANCE
    )


def _thousands(rng: np.random.Generator) -> tuple[Tensor, tuple[int, ...], dict[str, Tensor]]:
    """Scores in the thousands, much alike within a row."""
    n, d, d_k, d_v = sizes(rng, 4, 3)
    state = _state(rng, d, d_k, d_v)
    state["W_k.weight"] = state["W_q.weight"] + normal(rng, d_k, d, std=0.1 * d**-0.5)
    # No maximum fits two of them; e to the last's scores is not 0, and e to twice as much is.
    lengths = torch.tensor([1.0, 0.25, 0.025], dtype=torch.float64).sqrt()[:, None, None]
    x = lengths * (normal(rng, d) + 1e-4 * normal(rng, 3, n, d))
    q, k, _ = _project(state, x)
    scores = q @ k.mT / d_k**0.5
    return x * (2 * FAR / scores.abs().max()).sqrt(), (d, d_k, d_v), state


def _project(state: dict[str, Tensor], x: Tensor) -> tuple[Tensor, ...]:
    return tuple(
        F.linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))
        for name in ("W_q", "W_k", "W_v")
    )


def _module(recipe: Recipe) -> Callable[..., Any]:
    """The exercise's forward pass, made from a recipe."""

    def forward(state: dict[str, Tensor], x: Tensor) -> Any:
        q, k, v = _project(state, x)
        return recipe.compute(q, k, v, x)

    return forward


def _without_bias(state: dict[str, Tensor], x: Tensor) -> Any:
    return sdpa(*(x @ state[f"{name}.weight"].mT for name in ("W_q", "W_k", "W_v")))


def _shuffled(rng: np.random.Generator) -> tuple[Case, Case]:
    x, state = normal(rng, 2, 5, 6), _state(rng, 6, 4, 3)
    return (
        Case("values", (x,), sizes=(6, 4, 3), state=state),
        Case("values", (x[:, ORDER],), sizes=(6, 4, 3), state=state),
    )


MODULE = Exercise(
    name="SelfAttention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="nn.Module(d, d_k, d_v, bias=False) with forward(x) -> (out, weights)",
    axes=("… n d", "=d", "=k", "=v"),
    read="Attention as a module",
    returns=(Slot("out", "tensor", "B N d_v"), Slot("weights", "tensor", "B N N")),
    groups=(
        Group("values", "equals F.scaled_dot_product_attention with the same weights", 1.5, True),
        Group("bias", "has biases when bias=True, and adds them", 0.375),
        Group(
            "float32", "keeps float32 (compared at 1e-4), and float64 with all its digits", 0.0625
        ),
        Group("large", "is stable at scores in the thousands", 0.125, needs=("float32",)),
        Group(
            "gradient",
            "passes the right gradients to x, to all three matrices and to biases",
            0.4375,
            needs=("bias", "float32"),
        ),
        Group("single", "works for one token, sizes of 1 and strided inputs", 0.125),
        Group("again", AGAIN, 0.125, needs=("bias", "float32", "gradient")),
        Group("refuses", "raises an error when x is of another width", 0.125),
        unchanged(0.125),
    ),
    cases=_module_cases,
    oracle=lambda state, x: sdpa(*_project(state, x)),
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
            in_attention.SCALE_BY_INPUT,
            in_attention.SCALE_BY_VALUES,
            in_attention.SCORES,
            in_attention.RESHAPED,
            in_attention.SWAPPED,
            in_attention.PROJECTIONS,
            in_attention.MIX,
            in_attention.RESULTS,
            in_attention.GRADIENTS,
        ),
        *(
            detached(lambda state, x: sdpa(*_project(state, x)), 0, only=only)
            for only in ("", "weight", "bias")
        ),
        Mistake(
            "bias-ignored",
            _without_bias,
            "The biases exist and are not used.",
            "Call the linears, `self.W_q(x)`; their weights alone leave out the bias.",
        ),
    ),
    pairs=pairs_in(
        _module, in_attention.SCALE, IN_WEIGHING, in_attention.MIX, in_attention.SWAPPED
    ),
    properties=SHARES,
    relations=(equivariance_relation("permuting the tokens permutes the output", _shuffled),),
    fused_banned=True,
)

EXERCISES = (FUNCTION, MODULE)
