"""Lesson 11's exercises: what attention costs, and exact ways to pay less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks.edits import edits
from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import FAR, sizes
from attnlab.lessons.cost.cache import KV_CACHE
from attnlab.lessons.cost.tiles import TILED_ATTENTION

Generator = np.random.Generator
Tensor = torch.Tensor
INFINITY = float("inf")


# attention_cost -----------------------------------------------------------------------------------


def _counting(
    flops: Callable[[int, int, int], int] = lambda n, d, size: 4 * n * n * d,
    scores: Callable[[int, int, int], int] = lambda n, d, size: n * n * size,
    moved: Callable[[int, int, int], int] = lambda n, d, size: 4 * n * d * size,
    order: tuple[int, ...] = (0, 1, 2),
    default: int = 2,
) -> Callable[..., Any]:
    """The exercise's function, with a part exchanged."""

    def attention_cost(n: int, d: int, bytes_per_element: int = default) -> Any:
        counts = [count(n, d, bytes_per_element) for count in (flops, scores, moved)]
        return tuple(counts[at] for at in order)

    return attention_cost


def _with_softmax(each: int) -> Callable[..., Any]:
    return _counting(lambda n, d, size: 4 * n * n * d + each * n * n)


def _counted(rng: Generator) -> Iterator[Case]:
    yield Case("values", sizes(rng, 2, 200, 900), note="bytes_per_element is left out")
    for size in (4, 8, 1):
        yield Case("bytes", (*sizes(rng, 2, 5, 200), size), note=f"a number has {size} bytes")
    how = {"bytes_per_element": 4}
    yield Case("bytes", sizes(rng, 2, 50, 200), how, note="a number has 4 bytes")


ATTENTION_COST = Exercise(
    name="attention_cost",
    signature="(n, d, bytes_per_element=2) -> (flops, score_bytes, io_bytes)",
    axes=("=n", "=d", "?"),
    read="Count before you measure",
    returns=(Slot("flops", "int"), Slot("score_bytes", "int"), Slot("io_bytes", "int")),
    claims=promises(
        "counts operations and bytes",
        0.5,
        Claim("bytes", "multiplies by the bytes of a number", 0.25),
        Claim("shapes", "counts one token, and one number a token", 0.25),
    ),
    cases=_counted,
    oracle=_counting(),
    mistakes={
        "products-miscounted": (
            _counting(lambda n, d, size: 2 * n * n * d),
            _counting(lambda n, d, size: n * n * d),
            _counting(lambda n, d, size: 4 * n * d),
            _counting(lambda n, d, size: 4 * n * d * d),
            _counting(lambda n, d, size: 2 * n * n * d + 2 * n * d * d),
        ),
        "more-than-products-counted": (
            _counting(lambda n, d, size: 4 * n * n * d + 6 * n * d * d),
            _counting(lambda n, d, size: 4 * n * n * d + 8 * n * d * d),
            *map(_with_softmax, (1, 2, 3, 4, 5)),
        ),
        "one-addition-less": (
            _counting(lambda n, d, size: 2 * n * n * (2 * d - 1)),
            _counting(lambda n, d, size: n * n * (2 * d - 1) + n * d * (2 * n - 1)),
        ),
        "flops-times-bytes": _counting(lambda n, d, size: 4 * n * n * d * size),
        "bytes-always-2": (
            lambda n, d, bytes_per_element=2: _counting()(n, d),
            _counting(moved=lambda n, d, size: 8 * n * d),
        ),
        "bytes-not-multiplied": (
            _counting(scores=lambda n, d, size: n * n, moved=lambda n, d, size: 4 * n * d),
            _counting(scores=lambda n, d, size: n * n),
            _counting(moved=lambda n, d, size: 4 * n * d),
        ),
        "scores-miscounted": (
            _counting(scores=lambda n, d, size: n * d * size),
            _counting(scores=lambda n, d, size: 2 * n * n * size),
        ),
        "matrices-miscounted": (
            _counting(moved=lambda n, d, size: 3 * n * d * size),
            _counting(moved=lambda n, d, size: n * d * size),
            _counting(moved=lambda n, d, size: 8 * n * d * size),
            _counting(moved=lambda n, d, size: (4 * n * d + n * n) * size),
            _counting(moved=lambda n, d, size: (4 * n * d + 2 * n * n) * size),
        ),
        "swapped-results": (_counting(order=(0, 2, 1)), _counting(order=(1, 0, 2))),
        "another-default": _counting(default=4),
    },
)


# merge_softmax ------------------------------------------------------------------------------------


def _shrink(old: Tensor, new: Tensor) -> Tensor:
    """e to the old maximum minus the new one, 0 for a part that is empty."""
    return torch.where(old == -INFINITY, 0.0, (old - new).exp())


def _merge(m1: Any, s1: Any, o1: Any, m2: Any, s2: Any, o2: Any) -> Any:
    m = torch.maximum(m1, m2)
    a, b = _shrink(m1, m), _shrink(m2, m)
    s, o = a * s1 + b * s2, a[..., None] * o1 + b[..., None] * o2
    return m, s, o


def _whole_powers(m1: Any, s1: Any, o1: Any, m2: Any, s2: Any, o2: Any) -> Any:
    """e to each maximum, and divided by e to the larger one in the end."""
    m = torch.maximum(m1, m2)
    one, other, top = m1.exp(), m2.exp(), m.exp()
    o = one[..., None] * o1 + other[..., None] * o2
    return m, (one * s1 + other * s2) / top, o / top[..., None]


def _merged(m1: Any, s1: Any, o1: Any, m2: Any, s2: Any, o2: Any) -> Any:
    """Both parts stacked, and summed as the two items of one softmax."""
    maxima = torch.stack([m1, m2])
    m = maxima.amax(0)
    shares = (maxima - m).exp().masked_fill(maxima == -INFINITY, 0.0)
    s = torch.einsum("i...,i...->...", shares, torch.stack([s1, s2]))
    return m, s, torch.einsum("i...,i...v->...v", shares, torch.stack([o1, o2]))


def _part(rng: Generator, *leading: int, d_v: int) -> tuple[Tensor, ...]:
    """A maximum, a sum and an output (…, d_v) that is not divided by the sum yet."""
    drawn = rng.normal(size=leading), rng.uniform(1, 4, leading), rng.normal(size=(*leading, d_v))
    return tuple(torch.from_numpy(np.asarray(each)) for each in drawn)


def _emptied(part: tuple[Tensor, ...], rows: Any) -> tuple[Tensor, ...]:
    """The same with nothing in these rows."""
    m, s, o = (each.clone() for each in part)
    m[rows], s[rows], o[rows] = -INFINITY, 0.0, 0.0
    return m, s, o


def _parts(rng: Generator) -> Iterator[Case]:
    b, n, d_v = sizes(rng, 3, 5)
    bare = *_part(rng, d_v=d_v), *_part(rng, d_v=d_v)
    yield Case("shapes", bare, note="there is one row, m and s are bare numbers")
    for apart, note in ((1.0, "alike in both parts"), (FAR, "far apart")):
        one, other = _part(rng, 4, n, d_v=d_v), _part(rng, 4, n, d_v=d_v)
        far = torch.tensor([[FAR], [-FAR], [FAR / 3], [-FAR / 5]])[rng.permutation(4)]
        args = (apart * one[0] + far, *one[1:], apart * other[0] + far, *other[1:])
        yield Case("far", args, note=f"maxima are in the thousands, and {note}", about=("shapes",))
    one, other = _part(rng, b, n, d_v=d_v), _part(rng, b, n, d_v=d_v)
    rows = rng.permutation(n)
    first, second = (slice(None), rows[:2]), (slice(None), rows[1:3])
    how: dict[str, Any] = {"exact_zeros": True}
    note = "in some rows {} part is empty: (−inf, 0, 0)"
    yield Case("one", (*_emptied(one, first), *other), note=note.format("the first"), **how)
    yield Case("one", (*one, *_emptied(other, first)), note=note.format("the second"), **how)
    both = *_emptied(one, first), *_emptied(other, second)
    note = "in some rows the first part is empty, in some the second, in some both"
    yield Case("both", both, note=note, **how)
    nothing = _emptied(_part(rng, d_v=d_v), ...)
    note = "there is one row, and both parts are empty"
    yield Case("both", (*nothing, *nothing), note=note, **how)


def _sum(rng: Generator, at: Any) -> Tensor:
    return torch.from_numpy(rng.uniform(1, 4, (*at["…"], at["n"])))


FACTORS = "_shrink(m1, m), _shrink(m2, m)"
PLAINLY = f"{FACTORS} -> (m1 - m).exp(), (m2 - m).exp()"
MERGE_SOFTMAX = Exercise(
    name="merge_softmax",
    signature="(m1, s1, o1, m2, s2, o2) -> (m, s, o)",
    axes=("… n", "… n", "… n v", "… n", "… n", "… n v"),
    drawn={"s1": _sum, "s2": _sum},
    read="Softmax in parts",
    returns=(Slot("m", "tensor", "…"), Slot("s", "tensor", "…"), Slot("o", "tensor", "… d_v")),
    claims=promises(
        "puts two parts together as if they had been one",
        0.75,
        Claim("far", "is stable where maxima are in the thousands", 0.25),
        Claim("one", "leaves a part as it is where the other one is empty", 0.25),
        Claim("both", "leaves two empty parts empty", 0.25),
        shapes_and_precision=0.25,
        gradient_and_unchanged=0.25,
    ),
    cases=_parts,
    oracle=_merged,
    mistakes=edits(
        _merge,
        {
            "not-rescaled": f"{FACTORS} -> torch.ones_like(m1), torch.ones_like(m2)",
            "half-rescaled": (
                "a * s1 + b * s2 -> s1 + s2",
                "a[..., None] * o1 + b[..., None] * o2 -> o1 + o2",
            ),
            "one-part-rescaled": (
                "_shrink(m2, m) -> torch.ones_like(m2)",
                "_shrink(m1, m) -> torch.ones_like(m1)",
            ),
            "rescaled-the-wrong-way": f"{FACTORS} -> (m - m1).exp(), (m - m2).exp()",
            "factors-swapped": f"{FACTORS} -> _shrink(m2, m), _shrink(m1, m)",
            "not-the-larger-maximum": tuple(
                f"torch.maximum(m1, m2) -> {top}; {PLAINLY}"
                for top in (
                    *("torch.minimum(m1, m2)", "m1 + m2", "m1", "m2"),
                    "torch.maximum(m1, m2).max().expand_as(m1)",
                )
            ),
            "divided-too-soon": "return m, s, o -> return m, s, o / s[..., None]",
            "taken-for-averages": tuple(
                f"* o1 -> * (o1 {by} s1[..., None]); * o2 -> * (o2 {by} s2[..., None])"
                for by in "*/"
            ),
            "unstable-softmax": _whole_powers,
            "empty-part-is-nan": PLAINLY,
            "empty-maximum-lost": "return m, -> return m.masked_fill(m == -INFINITY, 0.0),",
            "swapped-results": ("return m, s, -> return s, m,", "return m, s, o -> return m, o, s"),
            "log-sum-for-maximum": "return m, -> return m + s.log(),",
            "no-gradient": (
                "(m1, m) -> (m1, m).detach(); (m2, m) -> (m2, m).detach()",
                "(m1, m) -> (m1, m).detach()",
                "(m2, m) -> (m2, m).detach()",
                "a[..., None] -> a[..., None].detach(); b[..., None] -> b[..., None].detach()",
                "torch.maximum(m1, m2) -> torch.maximum(m1, m2).detach()",
                "return m, -> return m.detach(),",
                "return m, s, -> return m, s.detach(),",
                "return m, s, o -> return m.detach(), s.detach(), o.detach()",
            ),
        },
    ),
)

EXERCISES = (
    ATTENTION_COST,
    MERGE_SOFTMAX,
    TILED_ATTENTION,
    KV_CACHE,
)
