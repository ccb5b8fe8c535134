"""Lesson 12's third exercise: FlashAttention's own rule for what error is fair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from attnlab.checks.exercise import Case, Exercise, Group, Mistake, Slot, unchanged
from attnlab.checks.inputs import Generator, sizes
from attnlab.checks.recipe import Tensor
from attnlab.lessons.gpu_sdpa import LESSON
from attnlab.lessons.pytorch.exercises import normal

Inputs = tuple[Tensor, ...]
NAN = float("nan")


def _outputs(rng: Generator, ratio: float, axes: int = 4, **how: Any) -> Inputs:
    """out, naive and exact, with so many axes: the largest error of out is ratio times naive's.

    It is a negative one of out and a positive one of naive, or the other way round, so that whoever
    forgets their absolute values sees neither. It sits on the smallest number of exact.
    """
    exact = normal(rng, *sizes(rng, axes))
    return (*_with_errors(rng, exact, ratio, **how), exact)


def _with_errors(
    rng: Generator, exact: Tensor, ratio: float, spread: float = 1.0, other: float = 1.0
) -> Inputs:
    """out and naive.

    Args:
        spread: of the other errors of out, in parts of its largest one.
        other: of those of naive.
    """
    size, sign = 10 ** rng.uniform(-3, -2), int(rng.choice([-1, 1]))
    errors = []
    for largest, rest, turn in ((ratio, spread, sign), (1.0, other, -sign)):
        error = torch.from_numpy(rng.uniform(0.1, 0.4, exact.shape)) * rest * turn
        error.view(-1)[int(rng.integers(exact.numel()))] = turn
        errors.append(size * largest * error)
    return exact + errors[0], exact + errors[1]


def _cases(rng: Generator) -> Iterator[Case]:
    for low, high, note in (
        (0.6, 0.9, "out is nearer than naive"),
        (1.1, 1.9, "out is off by less than twice as much"),
        (2.2, 3.5, "out is off by more than twice as much"),
        (5.0, 50.0, "out is far off"),
    ):
        yield Case("largest", _outputs(rng, rng.uniform(low, high)), note=note)
    note = "one number of out is far off, and the others are near"
    yield Case("largest", _outputs(rng, rng.uniform(3, 4), spread=0.01), note=note)
    note = "one number of naive is far off, and the others are near"
    yield Case("largest", _outputs(rng, rng.uniform(1.2, 1.8), other=0.01), note=note)
    yield Case("largest", _on_small(rng), note="naive is far off where exact is large")
    yield Case("largest", _turned(rng, 0, 0.7), note="one number of out has the wrong sign")
    yield Case("largest", _turned(rng, 1, 5.0), note="one number of naive has the wrong sign")
    note = "out is far off, but for its largest number"
    yield Case("largest", _but_the_largest(rng), note=note)
    yield from _all_over(rng)
    yield from _edges(rng)
    part = round(float(rng.integers(4) + rng.uniform(0.3, 0.7)), 2)  # as no whole number is
    near = (part, part - 0.2), (part, part + 0.2)
    for factor, ratio in ((3.0, 2.6), (1.0, 1.4), (1.0, 0.7), (4.0, 4.5), *near):
        args, note = _outputs(rng, ratio), f"factor is {factor}"
        yield Case("factor", (*args, factor), note=note)
        yield Case("factor", args, {"factor": factor}, note=f"{note}, by name")
    yield from _low_precision(rng)
    yield from _no_numbers(rng)
    for axes in (0, 1, 2, 3, 5):
        for low, high in ((1.1, 1.9), (2.2, 3.5)):
            note = f"there are {axes} axes" if axes > 1 else ("one number", "one axis")[axes]
            yield Case("shapes", _outputs(rng, rng.uniform(low, high), axes), note=note)


def _no_numbers(rng: Generator) -> Iterator[Case]:
    """NaN in out or in naive, and an infinite number in out."""
    for which, name in enumerate(("out", "naive")):
        for place in ("first", "last"):
            for ratio in (0.5, 3.0):
                parts = _outputs(rng, ratio)
                parts[which].view(-1)[0 if place == "first" else -1] = NAN
                yield Case("nan", parts, note=f"the {place} number of {name} is NaN")
        parts = _outputs(rng, 0.5)
        parts[which].fill_(NAN)
        yield Case("nan", parts, note=f"{name} is all NaN")
    out, naive, exact = _outputs(rng, 0.5)
    out.view(-1)[int(rng.integers(out.numel()))] = float("inf")
    yield Case("nan", (out, naive, exact), note="one number of out is infinite")


def _turned(rng: Generator, which: int, ratio: float) -> Inputs:
    """The largest number of out, or of naive, has the other sign, and keeps its size."""
    parts = _outputs(rng, ratio)
    exact = parts[2].view(-1)
    place = exact.abs().argmax()
    parts[which].view(-1)[place] = -exact[place]
    return parts


def _on_small(rng: Generator) -> Inputs:
    """The largest error of out is on a number near 0, and naive's, which is larger, on a far one.

    Measured in parts of the right number, out would be far worse.
    """
    b, h, n, d = sizes(rng, 4)
    exact = normal(rng, b, h, n, d)
    flat = exact.view(-1)
    one, other = rng.choice(flat.numel(), 2, replace=False)
    flat[one], flat[other] = 1e-3, 100.0
    out, naive = exact.clone(), exact.clone()
    out.view(-1)[one] += 0.01
    naive.view(-1)[other] -= 0.02
    return out, naive, exact


def _but_the_largest(rng: Generator) -> Inputs:
    """The largest number of all three is the same, which makes the difference of maxima 0."""
    out, naive, exact = _outputs(rng, rng.uniform(5, 50))
    place = int(rng.integers(exact.numel()))
    for part in (out, naive, exact):
        part.view(-1)[place] = 100.0
    return out, naive, exact


def _all_over(rng: Generator) -> Iterator[Case]:
    """Errors that tell the largest from the mean, its square's root and the median."""
    b, h, n, d = sizes(rng, 4, 3)
    exact = normal(rng, b, h, n, d)
    size, many = float(10 ** rng.uniform(-3, -2)), exact.numel()
    naive = exact + size
    one, some = torch.zeros(many), (torch.arange(many) % 5 < 2) * 6.0
    one[int(rng.integers(many))] = 3 * many**0.5
    for error, note in (
        (one, "one number of out is far off, and all others are exact"),
        (some, "two numbers of out in five are off, and all others are exact"),
        (torch.full((many,), 1.5), "each number of out is off half as much again"),
        (torch.full((many,), 0.3), "each number of out is nearer"),
    ):
        yield Case("largest", (exact - size * error.view_as(exact), naive, exact), note=note)


def _edges(rng: Generator) -> Iterator[Case]:
    """Errors that are whole numbers of halves, so that no rounding blurs what is exactly twice."""
    b, h, n, d = sizes(rng, 4)
    exact = torch.from_numpy(rng.integers(-9, 9, (b, h, n, d)).astype(float))
    out, naive = exact.clone(), exact.clone()
    one, other = rng.choice(exact.numel(), 2, replace=False)
    exact.view(-1)[one] = out.view(-1)[one] = naive.view(-1)[one] = (
        0.0  # no dtype loses 1e-12 there
    )
    out.view(-1)[one] -= 1.0
    naive.view(-1)[other] += 0.5
    yield Case("edges", (out, naive, exact), note="out is off by exactly twice as much")
    more = out.clone()
    more.view(-1)[one] -= 2.0**-40
    note = "out is off by more than twice as much, by one part in 10¹²"
    yield Case("edges", (more, naive, exact), note=note)
    same = exact.clone()
    yield Case("edges", (exact.clone(), same, exact), note="out and naive are both exact")
    for tiny in (1e-20, 1e-12, 1e-9, 1e-7):
        near = exact.clone()
        near.view(-1)[one] += tiny
        note = f"naive is exact, and out is off by {tiny:.0e}"
        yield Case("edges", (near, same, exact), note=note)


def _low_precision(rng: Generator) -> Iterator[Case]:
    """float16 and float32 beside an exact float64: where exact is rounded, errors look smaller."""
    for dtype in (torch.float16, torch.float32):
        b, h, n, d = sizes(rng, 4)
        exact = normal(rng, b, h, n, d).clamp(-1.9, 1.9)
        exact.view(-1)[0] = 1.25  # the steps are as wide as can be there
        step = torch.finfo(dtype).eps
        exact.view(-1)[0] += 0.45 * step
        naive = exact.to(dtype)  # off by less than half a step: by nothing, if exact is rounded
        for more, note in ((0.0, "out is naive"), (1.0, "out is a step off"), (-1.0, "")):
            out = naive.clone()
            out.view(-1)[0] += more * step
            said = note or "out is a step off, the other way"
            kind = str(dtype).removeprefix("torch.")
            yield Case("precision", (out, naive, exact), note=f"{said}, in {kind}")


def _errors(out: Tensor, naive: Tensor, exact: Tensor) -> Inputs:
    return tuple((part.double() - exact.double()).abs() for part in (out, naive))


def _rule(
    size: Callable[[Tensor], Any] = torch.amax,
    fits: Callable[[Any, Any, float], Any] = lambda own, other, factor: own <= factor * other,
    errors: Callable[[Tensor, Tensor, Tensor], Inputs] = _errors,
) -> Callable[..., bool]:
    """The rule, with exchangeable parts.

    Args:
        size: of errors, one number.
        fits: whether that of out is fair, given that of naive and the factor.
        errors: of out and of naive.
    """

    def is_fair(out: Tensor, naive: Tensor, exact: Tensor, factor: float = 2.0) -> bool:
        own, other = errors(out, naive, exact)
        return bool(fits(size(own), size(other), factor))

    return is_fair


def _swapped(out: Tensor, naive: Tensor, exact: Tensor) -> Inputs:
    own, other = _errors(out, naive, exact)
    return other, own


def _against_naive(out: Tensor, naive: Tensor, exact: Tensor) -> Inputs:
    return (out.double() - naive.double()).abs(), _errors(out, naive, exact)[1]


def _in(dtype: Callable[[Tensor], torch.dtype]) -> Callable[..., Inputs]:
    def errors(out: Tensor, naive: Tensor, exact: Tensor) -> Inputs:
        low = dtype(out)
        return tuple((part.to(low) - exact.to(low)).abs().double() for part in (out, naive))

    return errors


def _relative(out: Tensor, naive: Tensor, exact: Tensor) -> Inputs:
    own, other = _errors(out, naive, exact)
    return own / exact.double().abs(), other / exact.double().abs()


def _signed(out: Tensor, naive: Tensor, exact: Tensor) -> Inputs:
    return out.double() - exact.double(), naive.double() - exact.double()


def _of_largest(out: Tensor, naive: Tensor, exact: Tensor) -> Inputs:
    return tuple(abs(part.double().amax() - exact.double().amax()) for part in (out, naive))


def _floor(floor: float) -> Callable[[Any, Any, float], Any]:
    return lambda own, other, factor: own <= factor * other + floor


def _of_sizes(out: Tensor, naive: Tensor, exact: Tensor) -> Inputs:
    return _errors(out.abs(), naive.abs(), exact.abs())


def _not_more(own: Any, other: Any, factor: float) -> bool:
    return not own > factor * other


def _guarded(**how: Any) -> Callable[..., bool]:
    """A rule that asks whether there is NaN in out, and does not ask of naive."""
    rule = _rule(**how)
    return lambda out, *rest, **named: not out.isnan().any().item() and rule(out, *rest, **named)


def _out_alone(size: Callable[[Tensor], Any]) -> Callable[..., bool]:
    """A rule that takes the errors of out in a way of its own."""
    return _rule(lambda errors: errors, lambda own, other, by: size(own) <= by * other.amax())


def _whole(whole: Callable[[float], int]) -> Callable[[Any, Any, float], Any]:
    return lambda own, other, factor: own <= whole(factor) * other


def _no_nan(errors: Tensor) -> Tensor:
    return errors.nan_to_num(0.0, posinf=float("inf")).amax()


def _any_number(errors: Tensor) -> Tensor:
    """The largest, NaN only where there is nothing else."""
    return errors.amax() if errors.isnan().all() else _no_nan(errors)


def _pythons_max(errors: Tensor) -> float:
    """A NaN counts where it stands first, and only there."""
    return max(errors.flatten().tolist())


def _unless_all_nan(own: Tensor, other: Tensor, factor: float) -> bool:
    return not own.isnan().all() and not own.amax() > factor * other.amax()


def _mean(errors: Tensor) -> Tensor:
    return errors.mean()


FAIR = Exercise(
    name="is_fair",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(out, naive, exact, factor=2.0) -> bool",
    axes=("b h n d", "b h n d", "b h n d", "?"),
    read="What error is fair",
    returns=(Slot("fair", "bool"),),
    groups=(
        Group("largest", "compares the largest absolute errors, by a factor of 2", 0.5, core=True),
        Group("factor", "goes by the factor that is given", 0.0625),
        Group("precision", "takes the errors in float64", 0.125),
        Group("edges", "takes exactly twice as fair, and forgives nothing besides", 0.125),
        Group("nan", "finds NaN unfair, in out and in naive, and infinity in out", 0.0625),
        Group("shapes", "takes any shape, one number's too", 0.0625),
        unchanged(0.0625),
    ),
    cases=_cases,
    oracle=_rule(),
    mistakes=(
        Mistake(
            "mean-error",
            _rule(_mean),
            "Mean errors were compared. One number that is far off disappears in a mean.",
            "Take the largest: `.abs().max()`.",
        ),
        Mistake(
            "summed-error",
            _rule(lambda errors: errors.square().mean().sqrt()),
            "Root-mean-square errors were compared, or a norm. One number that is far off counts "
            "for too little.",
            "Take the largest: `.abs().max()`.",
        ),
        Mistake(
            "median-error",
            _rule(lambda errors: errors.flatten().median()),
            "Median errors were compared, which do not see the largest at all.",
            "Take the largest: `.abs().max()`.",
        ),
        Mistake(
            "relative-error",
            _rule(errors=_relative),
            "Errors were divided by the right number, so that next to 0 they become huge.",
            "The rule is about absolute errors.",
        ),
        Mistake(
            "sign-kept",
            _rule(errors=_signed),
            "Errors kept their sign, so that an error downwards counts as none.",
            "Take the absolute value first, the maximum then.",
        ),
        Mistake(
            "maxima-compared",
            _rule(errors=_of_largest, size=lambda error: error),
            "The difference of the largest numbers was taken. The largest of the differences is "
            "meant.",
            "Subtract first, then take the maximum.",
        ),
        Mistake(
            "sizes-compared",
            _rule(errors=_of_sizes),
            "Numbers lost their sign before they were subtracted, so that a number with the wrong "
            "sign counts as right.",
            "Subtract first, then take the absolute value.",
        ),
        *(
            Mistake(
                "entry-by-entry",
                _rule(size=size, fits=lambda own, other, factor: (own <= factor * other).all()),
                "Errors of out were held to naive's in the same places, one by one or row by row. "
                "There naive may be right by luck.",
                "Take the largest error of all first, of each, then compare two numbers.",
            )
            for size in (
                lambda errors: errors,
                lambda errors: errors.amax(-1),
                lambda errors: errors.amax((-2, -1)),
            )
        ),
        Mistake(
            "compared-with-naive",
            _rule(errors=_against_naive),
            "How far out is from *naive* was compared. Naive is wrong as well.",
            "Measure both against exact.",
        ),
        Mistake(
            "swapped-out-naive",
            _rule(errors=_swapped),
            "out and naive have changed places: it says whether *naive* is fair.",
            "The error of out is to be the small one.",
        ),
        Mistake(
            "better-only",
            _rule(fits=lambda own, other, factor: own <= other),
            "The factor is missing: out has to be at least as good as naive.",
            "Multiply naive's error by the factor.",
        ),
        Mistake(
            "factor-divided",
            _rule(fits=lambda own, other, factor: factor * own <= other),
            "The factor is on the wrong side: out has to be twice as good as naive.",
            "Multiply naive's error by the factor.",
        ),
        Mistake(
            "factor-ignored",
            _rule(fits=lambda own, other, factor: own <= 2 * other),
            "A factor of 2 stands in the code, whichever is given.",
            "Use the argument `factor`.",
        ),
        *(
            Mistake(
                "factor-rounded",
                _rule(fits=_whole(whole)),
                "The factor was made a whole number.",
                "Use it as it is given: it may be 1.5.",
            )
            for whole in (int, round, math.ceil)
        ),
        Mistake(
            "strictly-less",
            _rule(fits=lambda own, other, factor: own < factor * other),
            "Exactly twice is unfair here, and so is no error at all beside none.",
            "At most means `<=`.",
        ),
        Mistake(
            "nearly-as-good",
            _rule(fits=lambda own, other, factor: own <= factor * other * (1 + 1e-9)),
            "What is a little more than is fair passes, as if the numbers were compared by "
            "`isclose`.",
            "Compare by `<=` alone.",
        ),
        *(
            Mistake(
                "floor",
                _rule(fits=_floor(floor)),
                "A small number was added to what is fair. Where naive is exact, out has to be so, "
                "too.",
                "Compare with factor times naive's error, and with nothing added.",
            )
            for floor in (1e-3, 1e-5, 1e-6, 1e-8, 1e-10, 1e-15)
        ),
        Mistake(
            "low-precision",
            _rule(errors=_in(lambda out: out.dtype)),
            "exact was rounded to the precision of out before it was subtracted, and its digits "
            "are what the errors are made of.",
            "Turn all three into float64 first: `.double()`.",
        ),
        Mistake(
            "low-precision",
            _rule(errors=_in(lambda out: torch.float32)),
            "The errors were taken in float32, which rounds exact.",
            "Turn all three into float64 first: `.double()`.",
        ),
        Mistake(
            "nan-is-fair",
            _rule(fits=_not_more),
            "NaN passes: `>` is False with it, so `not (… > …)` is True.",
            "Ask the other way round: `error <= factor * other`, which NaN fails.",
        ),
        Mistake(
            "nan-is-fair",
            _rule(size=lambda errors: errors, fits=_unless_all_nan),
            "A NaN among numbers passes: `>` is False with it, so `not (… > …)` is True.",
            "Ask the other way round: `error <= factor * other`, which NaN fails.",
        ),
        *(
            Mistake(
                "nan-is-fair",
                rule,
                "NaN was dropped before the maximum was taken.",
                "Let NaN be: PyTorch's `.max()` gives NaN then, and a comparison with it is False.",
            )
            for dropped in (_no_nan, _any_number)
            for rule in (_rule(dropped), _out_alone(dropped))
        ),
        Mistake(
            "nan-is-fair",
            _rule(size=_pythons_max),
            "NaN passes: Python's `max` keeps it where it stands first, and skips it elsewhere.",
            "Take PyTorch's `.max()`, which gives NaN wherever it stands.",
        ),
        *(
            Mistake(
                "nan-in-naive",
                rule,
                "NaN in out is found, and NaN in naive passes.",
                "Ask `error <= factor * limit`, with PyTorch's `.max()` in both: a comparison with "
                "NaN is False.",
            )
            for rule in (
                _guarded(fits=_not_more),
                _guarded(size=_any_number),
                _guarded(size=_pythons_max),
            )
        ),
        Mistake(
            "always-fair",
            lambda *args, **kwargs: True,
            "Everything is fair.",
            "Compare the two largest errors.",
        ),
        Mistake(
            "never-fair",
            lambda *args, **kwargs: False,
            "Nothing is fair.",
            "Compare the two largest errors.",
        ),
        Mistake(
            "negated",
            lambda *args, **kwargs: not _rule()(*args, **kwargs),
            "It is the other way round: fair is False, and unfair is True.",
            "Leave out the `not`, or turn the comparison round.",
        ),
    ),
)
