"""Lesson 12's first exercise: self-attention by PyTorch's own call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Slot,
    Way,
    unchanged,
)
from attnlab.checks.inputs import EQUAL, SECOND, Generator, one_size, ones_in_turn, sizes
from attnlab.checks.recipe import Tensor, detached
from attnlab.lessons.gpu_sdpa import LESSON
from attnlab.lessons.pytorch.exercises import REFUSED, normal

HALF_TOLERANCE = 0.02  # float16 keeps three digits
MADE = "is PyTorch's call made"
Inputs = tuple[Tensor, ...]


def _sentence(rng: Generator, b: int, n: int, d: int, d_k: int, d_v: int) -> Inputs:
    x = normal(rng, b, n, d)
    return x, *(normal(rng, d, width, std=d**-0.5) for width in (d_k, d_k, d_v))


def _some(rng: Generator, low: int = 2) -> Inputs:
    return _sentence(rng, *sizes(rng, 5, low, 9))


def _far(rng: Generator) -> Inputs:
    x, *matrices = _some(rng)
    return x * 60, *matrices


def _cases(rng: Generator) -> Iterator[Case]:
    yield Case("values", _some(rng, 3))  # so many weights that dropout never draws the same twice
    among = sizes(rng, 5, 2, 9)
    first, second = _sentence(rng, *among), _sentence(rng, *among)
    yield Case("values", second, earlier=first, note=SECOND)
    yield Case("values", (*_some(rng), False), note="causal is False")
    n, d, d_v = sizes(rng, 3, 3, 9)
    square = _sentence(rng, 2, n, d, d, d_v)
    yield Case("values", square, note="keys are as wide as x")
    yield Case("values", _sentence(rng, *one_size(rng, 5)), note=EQUAL)
    yield Case("causal", (*_some(rng, 3), True), note="causal is True")
    yield Case("causal", _some(rng, 3), {"causal": True}, note="causal is given by name")
    way = Way(
        "fused.ask",
        (Slot("the answer", "bool"),),
        lambda *args: True,
        ("question", "x", "Wq", "Wk", "Wv", "causal"),
    )
    for causal in (False, True):
        yield Case("asks", (MADE, *_some(rng), causal), way=way)
    *others, Wv = _some(rng)
    yield Case("gradient", (*others, Wv * 1e5), gradient=True)
    *others, Wv = _some(rng)
    given, note = (*others, Wv * 1e5, True), "causal is True"
    yield Case("gradient", given, gradient=True, note=note)
    note = "x needs no gradient"
    yield Case("gradient", _some(rng), gradient=True, fixed=(0,), note=note)
    for one in ones_in_turn(rng, 5):
        yield Case("single", _sentence(rng, *one), note="one of the sizes is 1")
    one = (2, 1, *sizes(rng, 3))
    yield Case("single", (*_sentence(rng, *one), True), note="there is one token, and it is causal")
    yield Case("single", _some(rng), laid="views", note="inputs are not contiguous")
    note = "scores are in the thousands"
    yield Case("single", _far(rng), note=note)
    single = tuple(part.float() for part in _some(rng))
    yield Case("dtype", single, note="inputs are float32", tolerance=FLOAT32_TOLERANCE)
    half = tuple(part.half() for part in _some(rng))
    yield Case("dtype", half, note="inputs are float16", tolerance=HALF_TOLERANCE)
    *others, Wv = _some(rng)
    yield Case("dtype", (*others, Wv * 1e5), note="values are in the hundred thousands")
    x, *matrices = _sentence(rng, *sizes(rng, 5, 3, 9))
    for place, name in enumerate(("Wq", "Wk", "Wv")):
        matrix = matrices[place]
        for wrong, how in ((matrix[:-1], "few"), (torch.cat([matrix, matrix[:1]]), "many")):
            changed = [*matrices[:place], wrong, *matrices[place + 1 :]]
            note = f"{name} has a row too {how} for x"
            yield Case("refuses", (x, *changed), raises=REFUSED, note=note)
    Wq, Wk, Wv = matrices
    for wide, how in ((Wk[:, :-1], "narrower"), (torch.cat([Wk, Wk[:, :1]], -1), "wider")):
        note = f"Wk is {how} than Wq"
        yield Case("refuses", (x, Wq, wide, Wv), raises=REFUSED, note=note)


def _parts(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Inputs:
    return x @ Wq, x @ Wk, x @ Wv


def _is_causal(n: int, causal: bool) -> dict[str, Any]:
    return {"is_causal": causal}


def _called(
    parts: Callable[..., Inputs] = _parts,
    how: Callable[[int, bool], dict[str, Any]] = _is_causal,
    scale: Callable[..., float | None] = lambda x, Wq, Wv: None,
) -> Callable[..., Any]:
    """PyTorch's call, with exchangeable arguments.

    Args:
        parts: queries, keys and values.
        how: arguments that make it causal or not, from N.
        scale: the factor of the scores, from x, Wq and Wv.
    """

    def sdpa_attention(*args: Any, causal: bool = False) -> Any:
        if isinstance(args[0], str):
            return True
        x, Wq, Wk, Wv, causal = (*args, causal)[:5]
        given = how(x.shape[-2], causal)
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
            q, k, v = parts(x, Wq, Wk, Wv)
            return F.scaled_dot_product_attention(q, k, v, scale=scale(x, Wq, Wv), **given)

    return sdpa_attention


def _masked(mask: Callable[[Tensor], Tensor]) -> Callable[[int, bool], dict[str, Any]]:
    """Causal by a mask that is made of ones (N, N), True = attend."""
    return lambda n, causal: {"attn_mask": mask(torch.ones(n, n)).bool()} if causal else {}


def _by_hand(*args: Any, causal: bool = False) -> Any:
    return False if isinstance(args[0], str) else _called()(*args, causal=causal)


def _heads_last(*args: Any, causal: bool = False) -> Any:
    """What the call makes of (B, N, 1, d): N heads with a token each, which sees itself alone."""
    return True if isinstance(args[0], str) else args[0] @ args[3]


def _x_cut_off(*args: Any, causal: bool = False) -> Any:
    first, *others = args
    first = first if isinstance(first, str) else first.detach()
    return _called()(first, *others, causal=causal)


SDPA = Exercise(
    name="sdpa_attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(x, Wq, Wk, Wv, causal=False) -> out",
    axes=("b n d", "d k", "d k", "d v", "?"),
    read="One call",
    returns=(Slot("out", "tensor", "B N d_v"),),
    groups=(
        Group("values", "gives what softmax(QKᵀ/√d_k) V is", 0.5, core=True),
        Group("causal", "hides the future where causal is True", 0.125),
        Group("asks", "leaves it to F.scaled_dot_product_attention", 0.0625),
        Group(
            "gradient",
            "passes the right gradients to x and to all three matrices",
            0.0625,
            needs=("causal",),
        ),
        Group(
            "single",
            "works for sizes of 1, for views and at scores in the thousands",
            0.0625,
            needs=("causal",),
        ),
        Group("dtype", "keeps float16, float32 and float64", 0.0625),
        Group("refuses", "raises an error when widths do not fit", 0.0625),
        unchanged(0.0625),
    ),
    cases=_cases,
    oracle=_called(),
    mistakes=(
        Mistake(
            "causal-ignored",
            _called(how=lambda n, causal: {}),
            "Each token sees the future also where causal is True.",
            "Hand causal on to the call: `is_causal=causal`.",
        ),
        *(
            Mistake(
                "causal-uncalled-for",
                _called(how=how),
                "The future is hidden where causal is False.",
                "Let `is_causal=causal` alone hide it, as it is, with no `attn_mask`.",
            )
            for how in (
                lambda n, causal: {"is_causal": True},
                lambda n, causal: {"is_causal": not causal},
            )
        ),
        Mistake(
            "mask-inverted",
            _called(how=_masked(lambda ones: ones.triu(1))),
            "Tokens see the future alone, and the last one nothing. In this call's `attn_mask` "
            "True means *attend*.",
            "Write `is_causal=causal`, or turn the mask round.",
        ),
        *(
            Mistake(
                "mask-off-by-one",
                _called(how=_masked(mask)),
                "The mask begins at the wrong diagonal.",
                "Write `is_causal=causal`, which makes the mask itself.",
            )
            for mask in (lambda ones: ones.tril(-1), lambda ones: ones.tril(1))
        ),
        Mistake(
            "mask-transposed",
            _called(how=_masked(lambda ones: ones.triu())),
            "The wrong triangle is open: each token sees itself and the future.",
            "Write `is_causal=causal`, which makes the mask itself.",
        ),
        Mistake(
            "scaled-twice",
            _called(scale=lambda x, Wq, Wv: 1 / Wq.shape[1]),
            "The scores are divided by d_k as a whole: by √d_k twice, if you scale the queries and "
            "the call scales again.",
            "Leave the scale to the call: it divides by √d_k by itself.",
        ),
        Mistake(
            "no-scale",
            _called(scale=lambda x, Wq, Wv: 1.0),
            "The scores are not scaled.",
            "Leave `scale` out: the call then divides by √d_k.",
        ),
        Mistake(
            "scale-multiplied",
            _called(scale=lambda x, Wq, Wv: Wq.shape[1] ** 0.5),
            "The scores are multiplied by √d_k. `scale` is the factor itself, not what is divided "
            "by.",
            "Leave `scale` out: the call then divides by √d_k.",
        ),
        Mistake(
            "scale-by-sqrt-d",
            _called(scale=lambda x, Wq, Wv: Wq.shape[0] ** -0.5),
            "The scores are divided by √d, the width of x. They are products of queries and keys, "
            "which are d_k wide.",
            "Leave `scale` out: the call takes d_k from the queries.",
        ),
        Mistake(
            "swapped-q-k",
            _called(lambda x, Wq, Wk, Wv: (x @ Wk, x @ Wq, x @ Wv)),
            "Queries and keys have changed places.",
            "The call takes queries, keys and values, in this order: Wq makes the first.",
        ),
        Mistake(
            "keys-from-w-q",
            _called(lambda x, Wq, Wk, Wv: (x @ Wq, x @ Wq, x @ Wv)),
            "Keys are made with Wq too.",
            "Make keys with Wk.",
        ),
        Mistake(
            "queries-from-w-k",
            _called(lambda x, Wq, Wk, Wv: (x @ Wk, x @ Wk, x @ Wv)),
            "Queries are made with Wk too.",
            "Make queries with Wq.",
        ),
        Mistake(
            "keys-as-values",
            _called(lambda x, Wq, Wk, Wv: (x @ Wq, x @ Wk, x @ Wk)),
            "Keys are averaged in the place of values.",
            "The call's third argument is the values, x @ Wv.",
        ),
        Mistake(
            "values-not-projected",
            _called(lambda x, Wq, Wk, Wv: (x @ Wq, x @ Wk, x)),
            "x itself is averaged in the place of values.",
            "The call's third argument is the values, x @ Wv.",
        ),
        Mistake(
            "not-projected",
            _called(lambda x, Wq, Wk, Wv: (x, x, x @ Wv)),
            "x itself asks and is asked: Wq and Wk do nothing.",
            "Make queries with Wq and keys with Wk.",
        ),
        Mistake(
            "batch-attends",
            _called(
                lambda x, Wq, Wk, Wv: tuple(part.transpose(0, 1) for part in _parts(x, Wq, Wk, Wv))
            ),
            "Sentences attend to each other, token by token: the call takes the last axis but one "
            "for the tokens.",
            "Hand over (B, N, d_k), or (B, 1, N, d_k) with an axis for one head.",
        ),
        Mistake(
            "heads-after-tokens",
            _heads_last,
            "The values come back as they were: each token attended to itself alone. In "
            "(B, N, 1, d_k) the call finds N heads, with one token each.",
            "Put the axis for the head before the tokens: `[:, None]`, not `[:, :, None]`.",
        ),
        Mistake(
            "no-scaled-call",
            _by_hand,
            "The numbers are right, and you made them yourself. The fused kernels stay unused.",
            "Hand queries, keys and values to `F.scaled_dot_product_attention`.",
        ),
        detached(_called(), 1, 2, 3),
        Mistake(
            "no-gradient",
            _x_cut_off,
            "The numbers are right, and `.data` or `.detach()` cuts x off.",
            "Use x as it is given.",
        ),
    ),
)
