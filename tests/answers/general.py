"""Slips that can be made in any exercise: a right answer, wrapped.

What is tried follows from what an exercise is given and what it returns, so that every exercise of
every registered lesson is tried with all that apply to it, and none can be forgotten.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks.exercise import SEEDS, Case, Exercise
from attnlab.checks.pose import generate

Function = Callable[..., Any]
Change = Callable[[Any], Any]
Around = Callable[[Callable[[], Any], tuple[Any, ...]], Any]
Slip = tuple[str, str, Function]  # slug, label, the wrong answer


class OwnList(list):
    """A list by another name."""


class OwnTuple(tuple):
    """A tuple by another name, as one with names for its items is."""


class OwnFloat(float):
    """A float by another name."""


class OwnArray(np.ndarray):
    """An array by another name."""


class OwnTensor(torch.Tensor):
    """A tensor by another name."""


def slips(exercise: Exercise, right: Function) -> Iterator[Slip]:
    """All slips that can be made in an exercise.

    Args:
        right: an answer to it, a function or a module's class.
    """
    for slug, label, change in (*_of_values(exercise), *_of_results(exercise)):
        yield slug, label, _returning(right, change)
    yield "raised", "raises an error", _calling(right, _raises)
    yield "raised", "uses a name that is not there", _calling(right, _unknown_name)
    cases = [case for _, case in generate(exercise, SEEDS[:1])]
    if any(case.raises for case in cases):
        yield "not-raised", "refuses nothing", _calling(right, _catches, _catches)
        other = _calling(right, _another_error, _another_error)
        yield "raised", "refuses with another error", other
    if isinstance(right, type) and cases[0].sizes is not None:
        yield from _of_modules(right)
    if _hides(exercise, cases):
        at = [slot.name for slot in exercise.returns].index("weights")
        traces = _at(at, len(exercise.returns), _with_traces)
        yield "not-exactly-0", "weights are 1e-9 at least", _returning(right, traces)
    if exercise.parameters and any(_changeable(arg) for arg in cases[0].args):
        yield "mutated-input", "changes an input", _calling(right, _changes_input)
    yield "", "prints what it does", _calling(right, _prints)
    if len(exercise.returns) > 1:
        yield "", "returns a tuple by another name", _returning(right, OwnTuple)


def _of_modules(right: type) -> Iterator[Slip]:
    """What shows in a module that is called again, that is evaluated or that is not alone."""

    class ByShape(right):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            asked = str([getattr(arg, "shape", arg) for arg in (*args, *kwargs.values())])
            kept = self.__dict__.setdefault("kept", {})
            if asked not in kept:
                kept[asked] = super().forward(*args, **kwargs)
            return kept[asked]

    class InTraining(right):
        def forward(self, x: Any, *args: Any, **kwargs: Any) -> Any:
            return super().forward(x if self.training else 2.0 * x, *args, **kwargs)

    class OfTheLatest(right):
        latest: tuple[Any, ...] = ()

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.mine = OfTheLatest.latest = args

        def forward(self, x: Any, *args: Any, **kwargs: Any) -> Any:
            by = OfTheLatest.latest[0] / self.mine[0]
            return super().forward(x if by == 1 else by * x, *args, **kwargs)

    yield "remembers-a-call", "keeps its answers by shape", ByShape
    yield "only-in-training", "doubles x in evaluation", InTraining
    yield "shared-by-modules", "uses the latest one's sizes", OfTheLatest


def _of_results(exercise: Exercise) -> Iterator[tuple[str, str, Change]]:
    """What can go wrong with all that is returned together."""
    yield "wrong-type", "returns None", lambda results: None
    yield "wrong-type", "returns text", repr
    if exercise.returns[0].kind != "bool":  # which is as likely to come out as it was
        yield "nondeterministic", "adds noise", _each(exercise, _noise)
    if len(exercise.returns) > 1:
        yield "wrong-type", "returns the first result alone", lambda results: results[0]
        yield "wrong-type", "returns a result too many", lambda results: (*results, results[0])
        yield "wrong-type", "returns a dictionary", lambda results: dict(enumerate(results))


def _of_values(exercise: Exercise) -> Iterator[tuple[str, str, Change]]:
    """What can go wrong with one result: the first, and the last if there are several."""
    kinds = {0: exercise.returns[0], len(exercise.returns) - 1: exercise.returns[-1]}
    for at, slot in kinds.items():
        which = f"{slot.name}: " if len(exercise.returns) > 1 else ""
        for slug, label, change in _OF_KIND[slot.kind]:
            if slug == "wrong-shape" and label == "flat" and len(slot.axes.split()) < 2:
                continue
            yield slug, f"{which}{label}", _at(at, len(exercise.returns), change)


def _at(position: int, number: int, change: Change) -> Change:
    if number == 1:
        return change
    return lambda results: tuple(
        change(part) if index == position else part for index, part in enumerate(results)
    )


def _each(exercise: Exercise, change: Change) -> Change:
    if len(exercise.returns) == 1:
        return change
    return lambda results: tuple(map(change, results))


def _noise(value: Any) -> Any:
    if isinstance(value, list):
        return [_noise(item) for item in value]
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bool:
            return value ^ (torch.rand(value.shape) > 0.5)
        if not value.is_floating_point():
            return value + torch.randint(1, 10**6, value.shape)
        return value + torch.rand(value.shape).to(value)
    if isinstance(value, int):
        return value + random.randrange(1, 10**6)
    if isinstance(value, float):
        return value + random.random()
    return value + np.random.default_rng().random(np.shape(value))


def _with_infinity(value: Any) -> Any:
    """The same with an infinite number at the end."""
    if isinstance(value, list):
        return [*value[:-1], _with_infinity(value[-1])]
    if isinstance(value, torch.Tensor | np.ndarray):
        last = np.zeros(value.shape)
        last.reshape(-1)[-1:] = np.inf
        return value + (torch.from_numpy(last) if isinstance(value, torch.Tensor) else last)
    return value + float("inf")


def _other_float(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(torch.float32 if value.dtype == torch.float64 else torch.float64)
    return np.asarray(value).astype(np.float32 if value.dtype == np.float64 else np.float16)


def _as_floats(value: torch.Tensor) -> torch.Tensor:
    return value.double() if value.dtype == torch.bool else _other_float(value)


def _whole(value: torch.Tensor) -> torch.Tensor:
    """Whole numbers; where those are right, true and false."""
    return value.bool() if value.dtype == torch.long else value.long()


def _hides(exercise: Exercise, cases: list[Case]) -> bool:
    """Whether it returns weights that are tensors or arrays, of which some have to be 0."""
    weights = any(s.name == "weights" and s.kind in ("tensor", "ndarray") for s in exercise.returns)
    return weights and any(case.exact_zeros for case in cases)


def _with_traces(weights: Any) -> Any:
    return weights.clip(min=1e-9)


def _flat(value: list[Any]) -> list[Any]:
    return [number for row in value for number in row]


_OF_KIND: dict[str, tuple[tuple[str, str, Change], ...]] = {
    "list": (
        ("wrong-type", "a tuple", tuple),
        ("wrong-type", "a generator", iter),
        ("wrong-type", "a list of its own kind", OwnList),
        ("wrong-type", "flat", lambda value: _flat(value) if _is_nested(value) else value[0]),
        ("wrong-type", "an extra axis", lambda value: [value]),
        ("wrong-shape", "one too few", lambda value: value[:-1]),
        ("non-finite", "one number is infinite", _with_infinity),
    ),
    "ndarray": (
        ("wrong-type", "a list", lambda value: np.asarray(value).tolist()),
        ("wrong-type", "an array of its own kind", lambda value: np.asarray(value).view(OwnArray)),
        ("wrong-type", "a tensor", lambda value: torch.as_tensor(value)),
        ("wrong-dtype", "another dtype", _other_float),
        ("wrong-dtype", "whole numbers", lambda value: np.asarray(value).astype(int)),
        ("wrong-shape", "an extra axis", lambda value: np.asarray(value)[None]),
        ("wrong-shape", "flat", lambda value: value.ravel()),
        ("non-finite", "one number is infinite", _with_infinity),
    ),
    "tensor": (
        ("wrong-type", "a list", lambda value: value.tolist()),
        ("wrong-type", "an array", lambda value: value.detach().numpy()),
        ("wrong-type", "a tensor of its own kind", lambda value: value.as_subclass(OwnTensor)),
        ("wrong-dtype", "another dtype", _as_floats),
        ("wrong-dtype", "whole numbers", _whole),
        ("wrong-shape", "an extra axis", lambda value: value[None]),
        ("wrong-shape", "flat", lambda value: value.flatten()),
    ),
    "float": (
        ("wrong-type", "a list", lambda value: [value]),
        ("wrong-type", "an array of one", lambda value: np.array([value])),
        ("wrong-type", "text", str),
        ("wrong-type", "a float of its own kind", OwnFloat),
        ("non-finite", "infinite", _with_infinity),
    ),
    "int": (
        ("wrong-type", "a float", float),
        ("wrong-type", "a list", lambda value: [value]),
        ("wrong-type", "text", str),
    ),
    "bool": (
        ("wrong-type", "a tensor", torch.tensor),
        ("wrong-type", "a NumPy bool", np.bool_),
        ("wrong-type", "a whole number", int),
        ("wrong-type", "text", str),
    ),
}


def _is_nested(value: list[Any]) -> bool:
    return bool(value) and isinstance(value[0], list)


def _returning(right: Function, change: Change) -> Function:
    return _calling(right, lambda call, args: change(call()))


def _plainly(call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
    return call()


def _calling(right: Function, around: Around, making: Around = _plainly) -> Any:
    """A right answer, with something around each call; of a module, around its forward.

    Args:
        making: what is around a module's constructor.
    """
    if not isinstance(right, type):
        return lambda *args, **kwargs: around(lambda: right(*args, **kwargs), args)

    class Wrapped(right):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            making(lambda: super(Wrapped, self).__init__(*args, **kwargs), args)

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return around(lambda: super(Wrapped, self).forward(*args, **kwargs), args)

        def append(self, *args: Any) -> Any:  # what a cache is called by
            return around(lambda: super(Wrapped, self).append(*args), args)

    return Wrapped


def _raises(call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
    raise RuntimeError("this is as far as it goes")


def _unknown_name(call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
    return call() + reslut  # type: ignore[name-defined]  # noqa: F821


def _catches(call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
    try:
        return call()
    except Exception:
        return None


def _another_error(call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
    try:
        return call()
    except Exception as error:
        raise ArithmeticError("it does not fit") from error


def _changeable(arg: Any) -> bool:
    return isinstance(arg, np.ndarray | torch.Tensor) or (isinstance(arg, list) and bool(arg))


def _changes_input(call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
    result = call()
    arg = next(filter(_changeable, args), None)
    if isinstance(arg, list):
        arg.append(arg[0])
    elif isinstance(arg, torch.Tensor):
        arg.data += 1
    elif arg is not None:
        arg += 1
    return result


def _prints(call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
    print("called with", *map(type, args))  # to print large tensors takes seconds
    result = call()
    print("returns", type(result))
    return result
