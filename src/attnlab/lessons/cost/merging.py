"""Two halves of a softmax put together: the exercise `merge_softmax`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Relation,
    Slot,
    unchanged,
)
from attnlab.checks.inputs import EQUAL, FAR, one_size, ones_in_turn, sizes
from attnlab.checks.recipe import INFINITY, Tensor
from attnlab.lessons.cost import LESSON

Generator = np.random.Generator
Parts = tuple[Tensor, ...]


def _part(rng: Generator, *leading: int, d_v: int, std: float = 1.0) -> Parts:
    """A maximum and a sum (…), and an output (…, d_v) that is not divided by the sum yet."""
    m, o = rng.normal(0, std, leading), rng.normal(size=(*leading, d_v))
    return tuple(torch.from_numpy(np.asarray(part)) for part in (m, rng.uniform(1, 4, leading), o))


def _parts(rng: Generator, *leading: int, d_v: int, std: float = 1.0) -> Parts:
    """Two of them; in some rows the first has the larger maximum, in some the second."""
    one, other = (_part(rng, *leading, d_v=d_v, std=std) for _ in range(2))
    apart = np.abs(rng.normal(0, std, leading)) + 0.3
    signs = np.resize(rng.permutation([1.0, -1.0]), one[0].numel()).reshape(leading)
    return *one, one[0] + torch.from_numpy(np.asarray(apart * signs)), *other[1:]


def _emptied(part: Parts, rows: Any) -> Parts:
    """The same with nothing in these rows."""
    m, s, o = (each.clone() for each in part)
    m[rows], s[rows], o[rows] = -INFINITY, 0.0, 0.0
    return m, s, o


def _merge_cases(rng: Generator) -> Iterator[Case]:
    b, n, d_v = sizes(rng, 3, 3)
    yield Case("values", _parts(rng, b, n, d_v=d_v))
    b, n, d_v = sizes(rng, 3, 3)
    yield Case("values", _parts(rng, b, n, d_v=d_v))
    size, *_ = one_size(rng, 1)
    yield Case("values", _parts(rng, size, size, d_v=size), note=EQUAL)
    first = _part(rng, b, n, d_v=d_v)
    again = _part(rng, b, n, d_v=d_v)
    tied = (*first, first[0].clone(), *again[1:])
    yield Case("values", tied, note="both maxima are the same")

    b, h, n, d_v = sizes(rng, 4)
    yield Case("leading", _parts(rng, n, d_v=d_v), note="there is no batch axis")
    yield Case("leading", _parts(rng, d_v=d_v), note="there is one row, m and s are bare numbers")
    yield Case("leading", _parts(rng, b, h, n, d_v=d_v), note="there are batch and head axes")
    for one in ones_in_turn(rng, 3):
        yield Case("leading", _parts(rng, *one[:2], d_v=one[2]), note="one of the sizes is 1")

    for std, note in ((1.0, "close together"), (FAR, "far apart")):
        m1, s1, o1, m2, s2, o2 = _parts(rng, 4, n, d_v=d_v, std=std)
        far = torch.tensor([[FAR], [-FAR], [FAR / 3], [-FAR / 5]])[rng.permutation(4)]
        args = (m1 + far, s1, o1, m2 + far, s2, o2)
        yield Case("large", args, note=f"maxima are in the thousands, and {note}")

    parts = _parts(rng, b, 5, d_v=d_v)
    order = rng.permutation(5)
    rows = (slice(None), order[:2])
    for which, note in (((0,), "the first part"), ((1,), "the second part")):
        halves = [parts[:3], parts[3:]]
        for at in which:
            halves[at] = _emptied(halves[at], rows)
        note = f"in some rows {note} is empty: (−inf, 0, 0)"
        yield Case("empty", (*halves[0], *halves[1]), note=note, exact_zeros=True)
    both = (*_emptied(parts[:3], rows), *_emptied(parts[3:], (slice(None), order[1:4])))
    note = "in some rows the first part is empty, in some the second, in some both"
    yield Case("both empty", both, note=note, exact_zeros=True)
    nothing = _emptied(_part(rng, d_v=d_v), ...)
    note = "there is one row, and both parts are empty"
    yield Case("both empty", (*nothing, *nothing), note=note, exact_zeros=True)

    single = tuple(part.float() for part in _parts(rng, b, n, d_v=d_v))
    yield Case("float32", single, note="inputs are float32", tolerance=FLOAT32_TOLERANCE)
    yield Case("float32", _parts(rng, b, n, d_v=d_v), laid="views", note="inputs are views")


def _merge(m1: Tensor, s1: Tensor, o1: Tensor, m2: Tensor, s2: Tensor, o2: Tensor) -> Any:
    """Both parts stacked, and summed as the two items of one softmax."""
    maxima = torch.stack([m1, m2])
    m = maxima.amax(0)
    shares = (maxima - m).exp().masked_fill(maxima == -INFINITY, 0.0)
    s = torch.einsum("i...,i...->...", shares, torch.stack([s1, s2]))
    return m, s, torch.einsum("i...,i...v->...v", shares, torch.stack([o1, o2]))


Share = Callable[[Tensor, Tensor], Tensor]


def _shrink(old: Tensor, new: Tensor) -> Tensor:
    """e to the old maximum minus the new one, 0 for a part that is empty."""
    return torch.where(old == -INFINITY, 0.0, (old - new).exp())


def _merging(
    top: Callable[[Tensor, Tensor], Tensor] = torch.maximum,
    of_sum: Share = _shrink,
    of_out: Share = _shrink,
    first: Share | None = None,
    second: Share | None = None,
    end: Callable[[Tensor, Tensor, Tensor], Any] = lambda m, s, o: (m, s, o),
) -> Callable[..., Any]:
    """The exercise's function, with a part exchanged.

    Args:
        top: the new maximum.
        of_sum, of_out: what the sums and the outputs are multiplied by, from old and new maximum.
        first, second: both of these, of the first or the second part alone.
        end: what is returned.
    """

    def merge_softmax(m1: Any, s1: Any, o1: Any, m2: Any, s2: Any, o2: Any) -> Any:
        m = top(m1, m2)
        s = (first or of_sum)(m1, m) * s1 + (second or of_sum)(m2, m) * s2
        o = (first or of_out)(m1, m)[..., None] * o1 + (second or of_out)(m2, m)[..., None] * o2
        return end(m, s, o)

    return merge_softmax


def _as_it_is(old: Tensor, new: Tensor) -> Tensor:
    return torch.ones_like(old)


def _grow(old: Tensor, new: Tensor) -> Tensor:
    return (new - old).exp()


def _plainly(old: Tensor, new: Tensor) -> Tensor:
    return (old - new).exp()


def _whole_powers(m1: Any, s1: Any, o1: Any, m2: Any, s2: Any, o2: Any) -> Any:
    """e to each maximum, and divided by e to the larger one in the end."""
    m = torch.maximum(m1, m2)
    one, other, top = m1.exp(), m2.exp(), m.exp()
    o = one[..., None] * o1 + other[..., None] * o2
    return m, (one * s1 + other * s2) / top, o / top[..., None]


def _factors_swapped(m1: Any, s1: Any, o1: Any, m2: Any, s2: Any, o2: Any) -> Any:
    return _merging()(m2, s1, o1, m1, s2, o2)


def _swapped(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*args[3:], *args[:3])


def _either_way(rng: Generator) -> tuple[Case, Case]:
    b, n, d_v = sizes(rng, 3, 3)
    args = _parts(rng, b, n, d_v=d_v)
    return Case("values", args), Case("values", _swapped(args))


def _the_same(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    return all(np.allclose(a, b, 0, 1e-6) for a, b in zip(one, other, strict=True))


RESCALE = (
    "With m = max(m1, m2), part 1 is multiplied by e^(m1 − m) and part 2 by e^(m2 − m), its sum "
    "and its output alike."
)

MERGE_SOFTMAX = Exercise(
    name="merge_softmax",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(m1, s1, o1, m2, s2, o2) -> (m, s, o)",
    axes=("… n", "… n", "… n v", "… n", "… n", "… n v"),
    read="Softmax in parts",
    returns=(Slot("m", "tensor", "…"), Slot("s", "tensor", "…"), Slot("o", "tensor", "… d_v")),
    groups=(
        Group("values", "puts two parts together as if they had been one", 0.75, core=True),
        Group("leading", "takes any leading axes, or none", 0.25),
        Group("large", "is stable where maxima are in the thousands", 0.375),
        Group("empty", "leaves a part as it is where the other one is empty", 0.25),
        Group("both empty", "leaves two empty parts empty", 0.25),
        Group("float32", "keeps float32 (compared at 1e-4), and takes views", 0.0625),
        unchanged(0.0625),
    ),
    cases=_merge_cases,
    oracle=_merge,
    mistakes=(
        Mistake(
            "parts-not-rescaled",
            _merging(of_sum=_as_it_is, of_out=_as_it_is),
            "Sums and outputs are added as they are. They are measured against two different "
            "maxima.",
            RESCALE,
        ),
        Mistake(
            "sum-not-rescaled",
            _merging(of_sum=_as_it_is),
            "The outputs are rescaled and the sums are not.",
            RESCALE,
        ),
        Mistake(
            "output-not-rescaled",
            _merging(of_out=_as_it_is),
            "The sums are rescaled and the outputs are not.",
            RESCALE,
        ),
        Mistake(
            "one-part-rescaled",
            _merging(second=_as_it_is),
            "The first part is rescaled and the second is not. Either may have the smaller "
            "maximum.",
            RESCALE,
        ),
        Mistake(
            "one-part-rescaled",
            _merging(first=_as_it_is),
            "The second part is rescaled and the first is not. Either may have the smaller "
            "maximum.",
            RESCALE,
        ),
        Mistake(
            "rescaled-the-wrong-way",
            _merging(of_sum=_grow, of_out=_grow),
            "The factor is e^(m − m1), larger than 1, where it should shrink: the part with the "
            "smaller maximum counts less.",
            RESCALE,
        ),
        Mistake(
            "factors-swapped",
            _factors_swapped,
            "Each part is multiplied by the factor of the other.",
            RESCALE,
        ),
        Mistake(
            "smaller-maximum",
            _merging(torch.minimum, _plainly, _plainly),
            "The smaller of both maxima is taken. Then one factor is larger than 1, and overflows "
            "where the maxima are far apart.",
            "m is the larger of both, entry by entry.",
        ),
        Mistake(
            "maximum-of-first",
            _merging(lambda m1, m2: m1, _plainly, _plainly),
            "m is always the first part's. Where the second is larger, its factor overflows sooner "
            "or later.",
            "m is the larger of both, entry by entry.",
        ),
        Mistake(
            "maximum-of-second",
            _merging(lambda m1, m2: m2, _plainly, _plainly),
            "m is always the second part's. Where the first is larger, its factor overflows sooner "
            "or later.",
            "m is the larger of both, entry by entry.",
        ),
        Mistake(
            "maxima-added",
            _merging(lambda m1, m2: m1 + m2, _plainly, _plainly),
            "The maxima are added up.",
            "m is the larger of both, entry by entry.",
        ),
        Mistake(
            "maximum-of-all",
            _merging(lambda m1, m2: torch.maximum(m1, m2).max().expand_as(m1), _plainly, _plainly),
            "m is one number, the largest of all rows. Each row has a maximum of its own.",
            "Use `torch.maximum(m1, m2)`, which compares entry by entry.",
        ),
        Mistake(
            "divided-too-soon",
            _merging(end=lambda m, s, o: (m, s, o / s[..., None])),
            "o is divided by s. It stays undivided, so that it can be merged once more.",
            "Return o as the sum of both rescaled outputs.",
        ),
        Mistake(
            "parts-divided",
            lambda m1, s1, o1, m2, s2, o2: _merging()(
                m1, s1, o1 / s1[..., None], m2, s2, o2 / s2[..., None]
            ),
            "Both outputs are divided by their sums before they are added: each part counts the "
            "same, however much is in it.",
            "The outputs come undivided and stay so.",
        ),
        Mistake(
            "taken-for-averages",
            lambda m1, s1, o1, m2, s2, o2: _merging()(
                m1, s1, o1 * s1[..., None], m2, s2, o2 * s2[..., None]
            ),
            "Each output is multiplied by its sum, as if it were an average. It is a sum already.",
            "The outputs come undivided and stay so.",
        ),
        Mistake(
            "unstable-softmax",
            _whole_powers,
            "e is raised to the maxima themselves, which overflows from 710 on, and becomes 0 / 0 "
            "far below 0.",
            "Subtract first: only e^(m1 − m) and e^(m2 − m) are ever needed.",
        ),
        Mistake(
            "empty-part-is-nan",
            _merging(of_sum=_plainly, of_out=_plainly),
            "Where both parts are empty, both maxima are −inf, and −inf minus −inf is NaN.",
            "Let the factor of an empty part be 0: `torch.where`, or subtract 0 where m is −inf.",
        ),
        Mistake(
            "empty-maximum-lost",
            _merging(end=lambda m, s, o: (m.masked_fill(m == -INFINITY, 0.0), s, o)),
            "Two empty parts give a maximum of 0. It stays −inf: the next part would be measured "
            "against a score that nobody had.",
            "Replace −inf in what is subtracted, and return the maximum as it is.",
        ),
        Mistake(
            "swapped-results",
            _merging(end=lambda m, s, o: (s, m, o)),
            "Maximum and sum have changed places.",
            "Return m, s, o, in this order.",
        ),
        Mistake(
            "log-sum-for-maximum",
            _merging(end=lambda m, s, o: (m + s.log(), s, o)),
            "The first result is m + log s, the logarithm of the whole sum. s and o are measured "
            "against m alone.",
            "Return the larger maximum itself.",
        ),
    ),
    relations=(
        Relation(
            "the order of the two parts does not matter",
            _either_way,
            _the_same,
            slug="order-matters",
            reason="The two parts were exchanged, and the result is another one.",
            remedy=RESCALE,
        ),
    ),
)
