"""Lesson 13's `is_fair`: FlashAttention's own rule for what error is fair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from attnlab.checks.edits import edits
from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import Generator, normal, sizes

Tensor = torch.Tensor
Inputs = tuple[Tensor, Tensor, Tensor]
NAN, INFINITY = float("nan"), float("inf")


def _outputs(
    rng: Generator, ratio: float, axes: int = 4, own: float = 1.0, other: float = 1.0
) -> Inputs:
    """out, naive and exact: the largest error of out is ratio times naive's.

    All errors of out have one sign, and those of naive the other.

    Args:
        own, other: how large the rest of out's errors are, and of naive's, beside the largest.
    """
    exact, size = normal(rng, *sizes(rng, axes, 3)), 10 ** rng.uniform(-3, -2)
    sign, errors = rng.choice([-1, 1]), []
    for largest, rest in ((ratio * sign, own), (-sign, other)):
        error = torch.from_numpy(rng.uniform(0.1, 0.4, exact.shape)) * rest
        error.view(-1)[int(rng.integers(exact.numel()))] = 1.0
        errors.append(size * largest * error)
    return exact + errors[0], exact + errors[1], exact


def _near(rng: Generator) -> Inputs:
    return _outputs(rng, rng.uniform(0.6, 0.9))


def _ratios(rng: Generator, factor: float = 2.0) -> list[float]:
    """Of errors, some that are fair by this factor and some that are not, in any order."""
    fair = [factor * rng.uniform(0.55, 0.95) for _ in range(rng.integers(1, 3))]
    unfair = [factor * rng.uniform(1.05, 1.9) for _ in range(rng.integers(1, 3))]
    return [float(ratio) for ratio in rng.permutation([*fair, *unfair])]


def _some(parts: Inputs, rng: Generator, *changes: Callable[[Tensor], Any]) -> Inputs:
    """The same with other numbers in one place: of out, of naive, of exact; from exact's there."""
    place = int(rng.integers(parts[2].numel()))
    number = parts[2].view(-1)[place].clone()
    for part, change in zip(parts, changes, strict=True):
        part.view(-1)[place] = change(number)
    return parts


def _keep(number: Tensor) -> Tensor:
    return number


def _cases(rng: Generator) -> Iterator[Case]:
    for axes in rng.permutation(6):
        for ratio in _ratios(rng):
            yield Case("values", _outputs(rng, ratio, int(axes)), note=f"there are {axes} axes")
    for ratio in _ratios(rng):
        yield Case("values", _outputs(rng, ratio), laid="views", note="inputs are not contiguous")
    for ratio in _ratios(rng):
        one_far = _outputs(rng, ratio, own=0.01), _outputs(rng, ratio, other=0.01)
        for parts, name in zip(one_far, ("out", "naive"), strict=True):
            yield Case("values", parts, note=f"one number of {name} is far off")
    note = "out is off where exact is near 0, and naive where it is large"
    parts = _some(_near(rng), rng, lambda x: 1e-3 + 0.01, *[lambda x: 1e-3] * 2)
    parts = _some(parts, rng, lambda x: 100.0, lambda x: 100.0 - 0.02, lambda x: 100.0)
    yield Case("values", parts, note=note)
    parts = _some(_outputs(rng, 30.0), rng, *[lambda x: 100.0] * 3)
    yield Case("values", parts, note="the largest number of all three is the same")
    turned = _some(_near(rng), rng, lambda x: -2.0, lambda x: 2.0, lambda x: 2.0)
    yield Case("values", turned, note="one number of out has the wrong sign")
    turned = _some(_outputs(rng, 5.0), rng, lambda x: 2.0, lambda x: -2.0, lambda x: 2.0)
    yield Case("values", turned, note="one number of naive has the wrong sign")
    part = round(float(rng.integers(1, 4) + rng.uniform(0.3, 0.7)), 2)  # as no whole number is
    for factor in (1.0, 3.0, part):
        for ratio in (*_ratios(rng, factor), factor - 0.15, factor + 0.15):
            args, note = _outputs(rng, ratio), f"factor is {factor}"
            given = [((*args, factor), {}), (args, {"factor": factor})][rng.integers(2)]
            yield Case("values", *given, note=note)
    yield from _edges(rng)
    yield from _low_precision(rng)
    yield from _no_numbers(rng)


def _edges(rng: Generator) -> Iterator[Case]:
    """Errors that are whole numbers of halves, so that no rounding blurs what is exactly twice."""
    exact = normal(rng, *sizes(rng, 4)).round()
    one, other = (int(place) for place in rng.choice(exact.numel(), 2, replace=False))
    exact.view(-1)[one] = 0.0  # where no dtype loses 1e-12

    def off(own: float, others: float, note: str) -> Case:
        out, naive = exact.clone(), exact.clone()
        out.view(-1)[one] -= own
        naive.view(-1)[other] += others
        return Case("edges", (out, naive, exact), note=note)

    yield off(1.0, 0.5, "out is off by exactly twice as much")
    yield off(1.0 + 2.0**-40, 0.5, "out is off by more than twice as much, by one part in 10¹²")
    yield off(0.0, 0.0, "out and naive are both exact")
    for tiny in (1e-20, 1e-12, 1e-9, 1e-7):
        yield off(tiny, 0.0, f"naive is exact, and out is off by {tiny:.0e}")


def _low_precision(rng: Generator) -> Iterator[Case]:
    """float16 and float32 beside an exact float64: where exact is rounded, errors look smaller."""
    for dtype in (torch.float16, torch.float32):
        exact = normal(rng, *sizes(rng, 4)).clamp(-1.9, 1.9)
        step = torch.finfo(dtype).eps
        exact.view(-1)[0] = 1.25 + 0.45 * step  # naive is off by that, and by 0 if exact is rounded
        for more in rng.permutation([-1.0, 0.0, 1.0]):
            naive = exact.to(dtype)
            out = naive.clone()
            out.view(-1)[0] += more * step
            kind = str(dtype).removeprefix("torch.")
            note = f"out and naive are {kind}" if more else f"out is naive, in {kind}"
            yield Case("edges", (out, naive, exact), note=note)


def _no_numbers(rng: Generator) -> Iterator[Case]:
    """NaN in out or in naive, and an infinite number in out; else all would be fair."""
    for which, name in enumerate(("out", "naive")):
        for place in (0, int(rng.integers(1, 10)), -1, slice(None)):
            parts = _near(rng)
            parts[which].view(-1)[place] = NAN
            yield Case("nan", parts, note=f"there is NaN in {name}")
    parts = _some(_near(rng), rng, lambda x: INFINITY, _keep, _keep)
    yield Case("nan", parts, note="one number of out is infinite")
    for _ in range(rng.integers(1, 4)):
        yield Case("nan", _near(rng), note="all are numbers")


# The rule and other rules -------------------------------------------------------------------------


def _rule(out: Tensor, naive: Tensor, exact: Tensor, factor: float = 2.0) -> bool:
    one, two, exact = out.double(), naive.double(), exact.double()
    own, other = (one - exact).abs(), (two - exact).abs()
    return bool(own.amax() <= factor * other.amax())


def _no_nan(errors: Tensor) -> Tensor:
    return errors.nan_to_num(0.0, posinf=INFINITY).amax()


def _any_number(errors: Tensor) -> Tensor:
    """The largest, NaN only where there is nothing else."""
    return errors.amax() if errors.isnan().all() else _no_nan(errors)


def _pythons_max(errors: Tensor) -> float:
    """A NaN counts where it stands first, and only there."""
    return max(errors.flatten().tolist())


DOUBLES = "out.double(), naive.double(), exact.double()"
ERRORS = "(one - exact).abs(), (two - exact).abs()"
FAIR, NOT_MORE = "own.amax() <= factor * other.amax()", "not own.amax() > factor * other.amax()"


def _sized(own: str, other: str) -> str:
    return f"own.amax() -> {own}; other.amax() -> {other}"


def _with_nan() -> Iterator[str]:
    """Rules that let NaN by: in out and in naive, in one, or where it does not stand first."""
    yield f"{FAIR} -> not own.isnan().all() and {NOT_MORE}"
    sizes = (f"{name}({{}})" for name in ("_no_nan", "_any_number", "_pythons_max"))
    ways = (_sized(size.format("own"), size.format("other")) for size in sizes)
    for rule in (f"{FAIR} -> {NOT_MORE}", *ways):
        yield rule
        for part in ("out", "naive"):
            yield f"{rule}; return bool( -> return not {part}.isnan().any().item() and bool("


IS_FAIR = Exercise(
    name="is_fair",
    signature="(out, naive, exact, factor=2.0) -> bool",
    axes=(),
    read="What error is fair",
    returns=(Slot("fair", "bool"),),
    claims=promises(
        "compares the largest absolute errors, by the factor that is given",
        0.25,
        Claim(
            "edges", "takes errors in float64, exactly twice as fair, and forgives nothing", 0.25
        ),
        Claim("nan", "finds NaN unfair, in out and in naive, and infinity in out", 0.25),
        unchanged=0.25,
    ),
    cases=_cases,
    oracle=_rule,
    mistakes=edits(
        _rule,
        {
            "not-the-largest": tuple(
                _sized(f"own.{size}", f"other.{size}")
                for size in ("mean()", "square().mean().sqrt()", "flatten().median()")
            ),
            "relative-error": f"{ERRORS} -> *(((x - exact) / exact).abs() for x in (one, two)),",
            "steps-exchanged": (
                f"{ERRORS} -> one - exact, two - exact",
                f"{ERRORS} -> *((part.amax() - exact.amax()).abs() for part in (one, two)),",
                f"{ERRORS} -> *((part.abs() - exact.abs()).abs() for part in (one, two)),",
            ),
            "entry-by-entry": (
                f"{FAIR} -> (own <= factor * other).all()",
                f"{FAIR} -> (own.amax(-1) <= factor * other.amax(-1)).all()",
            ),
            "compared-with-naive": "one - exact -> one - two",
            "swapped-out-naive": "one, two, -> two, one,",
            "factor-not-as-given": tuple(
                f"factor * -> {other} *"
                for other in ("1", "2", "int(factor)", "round(factor)", "-(-factor // 1)")
            ),
            "factor-divided": "factor * -> 1 / factor *",
            "strictly-less": "<= -> <",
            "nearly-as-good": tuple(
                f"<= factor * other.amax() -> <= {times} * factor * other.amax() + {more}"
                for times, more in (
                    (1 + 1e-9, 0.0),
                    *((1.0, 10.0**-by) for by in (3, 5, 6, 8, 10, 15)),
                )
            ),
            "low-precision": tuple(
                f"{DOUBLES} -> *(part.to({dtype}).double() for part in (out, naive, exact)),"
                for dtype in ("out.dtype", "torch.float32")
            ),
            "nan-is-fair": tuple(_with_nan()),
            "always-the-same": (lambda *args, **kwargs: True, lambda *args, **kwargs: False),
            "negated": "bool( -> not bool(",
        },
    ),
)
