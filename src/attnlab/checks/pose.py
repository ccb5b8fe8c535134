"""The cases of an exercise: made from seeds, and posed, each as a call with its right answer."""

from __future__ import annotations

import copy
import functools
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from attnlab.calling.call import Call
from attnlab.calling.observe import ByName, Value, describe, numbers_in, observe, rebuild
from attnlab.checks.arrays import np
from attnlab.checks.exercise import Case, Exercise, Slot, State

# A wrong answer may have more numbers than the right one; what has many times more is known by its
# size alone.
TIMES, LEEWAY = 10, 1000
_SHAPE = re.compile(r"\(\d+,[\d, ]*\)")
READABLE, DIGITS = 12, 6  # numbers that are shown in full, and how many digits of each


class BrokenCheck(Exception):
    """An exercise's own declaration is at fault, not the learner."""


@dataclass(frozen=True, slots=True)
class Some:
    """Some of an array's numbers: what is kept of a large one that was recorded.

    Attributes:
        places: of the numbers, in C order.
    """

    shape: tuple[int, ...]
    places: tuple[int, ...]
    numbers: np.ndarray

    def of(self, array: np.ndarray) -> np.ndarray:
        """The numbers of another array at these places."""
        return array.reshape(-1)[list(self.places)]


@dataclass(frozen=True, slots=True)
class Expected:
    """What should happen in one case, or what a mistake would make happen.

    Attributes:
        values: an array for each slot; of a mistake's, some are Some.
        raises: instead of values, the name of an exception.
    """

    values: tuple[Any, ...] = ()
    raises: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Posed:
    """One case with its right answer: worked out once, and asked of every learner in a class.

    Attributes:
        call: the case as plain data.
        slots: what is compared.
        inputs: of the call, by parameter name.
        numbers: how many it has, in and out.
        turn: its place in the order in which all are asked, which tells nothing.
        mistaken: what mistakes make of it, by their functions, as far as that was asked, and
            whether that happens to be right.
    """

    seed: int
    case: Case
    call: Call
    right: Expected
    slots: tuple[Slot, ...]
    inputs: Mapping[str, Value]
    numbers: int = 0
    turn: int = 0
    mistaken: dict[Callable[..., Any], tuple[Expected, bool]] = field(default_factory=dict)

    @property
    def kind(self) -> object:
        """What it is one of: what is said of it, shapes aside, what it is told, and yes or no."""
        case, right = self.case, self.right.values
        args = (*case.args, *case.kwargs.values())
        told = tuple(arg for arg in args if isinstance(arg, (bool, ByName)))
        truths = [bool(value) for value in right if value.dtype == bool and not value.ndim]
        said = case.kind or _SHAPE.sub("", case.note)
        return case.claim, said, case.only_zeros, told, *truths


@lru_cache(maxsize=64)
def pose(exercise: Exercise, seeds: tuple[int, ...]) -> tuple[Posed, ...]:
    """All cases of an exercise, posed, by claim; within each, those with few numbers first.

    Raises:
        BrokenCheck: the oracle has no answer to one of its own cases.
    """
    if exercise.recorded:
        if not exercise.recorded.posed:
            raise BrokenCheck(f"the cases of {exercise.name} were not loaded")
        return exercise.recorded.posed
    order = [claim.name for claim in exercise.claims]
    posed = [pose_one(exercise, seed, case) for seed, case in generate(exercise, seeds)]
    posed.sort(key=lambda each: (order.index(each.case.claim), each.numbers))
    for turn, place in enumerate(_shuffled(posed)):
        posed[place] = replace(posed[place], turn=turn)
    return tuple(posed)


def generate(exercise: Exercise, seeds: tuple[int, ...]) -> Iterator[tuple[int, Case]]:
    """All cases of an exercise, in the order of its claims, seed by seed within each."""
    cases = [
        (seed, case)
        for seed in seeds
        for case in cases_of(exercise, seed)
        if seed == seeds[0] or not case.once
    ]
    order = [claim.name for claim in exercise.claims]
    yield from sorted(cases, key=lambda pair: order.index(pair[1].claim))


def cases_of(exercise: Exercise, seed: int) -> list[Case]:
    """The cases of one seed: those that are derived, then its own."""
    from attnlab.checks.cases import derived  # of NumPy's and PyTorch's kinds too

    rng = np.random.default_rng(seed)
    return [*derived(exercise, rng), *exercise.cases(rng)]


def _shuffled(posed: Sequence[Posed]) -> list[int]:
    """An order to ask cases in, by their seeds, so that no answer follows from a place."""
    rng = np.random.default_rng([each.seed for each in posed] + [len(posed)])
    return [int(place) for place in rng.permutation(len(posed))]


def pose_one(exercise: Exercise, seed: int, case: Case) -> Posed:
    """A case as a call, with its right answer.

    Raises:
        BrokenCheck: the oracle has none.
    """
    right = (
        Expected(raises=case.raises) if case.raises else answer_of(exercise.oracle_of(case), case)
    )
    if right.raises != case.raises:
        raise BrokenCheck(f"the oracle of {exercise.name} raised {right.raises}, seed {seed}")
    if any(values.dtype.kind == "f" and np.isnan(values).any() for values in right.values):
        when = f"seed {seed}, {case.note or 'an ordinary case'}"
        raise BrokenCheck(f"the oracle of {exercise.name} gives NaN: {when}")
    args = tuple(observe(arg) for arg in case.args)
    kwargs = {name: observe(arg) for name, arg in case.kwargs.items()}
    numbers = sum(map(numbers_in, (*args, *kwargs.values())))
    numbers += sum(values.size for values in right.values)
    call = Call(
        args,
        kwargs,
        None if case.sizes is None else tuple(observe(size) for size in case.sizes),
        {name: observe(tensor) for name, tensor in case.state.items()},
        case.gradient,
        case.fixed,
        tuple(map(observe, case.earlier)),
        exercise.banned,
        most=LEEWAY + TIMES * numbers,
        laid=case.laid,
        built=case.built,
        by=case.procedure.name if case.procedure else "",
    )
    inputs = {**dict(zip(exercise.names(case), args, strict=False)), **kwargs}
    return Posed(seed, case, call, right, exercise.slots(case), inputs, numbers)


def answer_of(function: Callable[..., Any], case: Case) -> Expected:
    """What an oracle or a mistake makes of a case.

    Args:
        function: takes the case's arguments; returns an array-like, or a tuple of them.
        case: its args are copied first, as mistakes may change them; what is to be made is made.
    """
    given = (case.args, dict(case.kwargs), dict(case.state))
    # PyTorch's deepcopy of a tensor takes more than ten times as long as its clone.
    things = [thing for part in (given[0], *map(dict.values, given[1:])) for thing in part]
    memo = {id(thing): thing.clone() for thing in things if hasattr(thing, "clone")}
    memo |= {id(thing): thing for thing in things if isinstance(thing, ByName)}  # made anew below
    args, kwargs, state = copy.deepcopy(given, memo)
    args = tuple(map(_come_true, args))
    kwargs = {name: _come_true(arg) for name, arg in kwargs.items()}
    target = function
    if case.sizes is not None:
        target = functools.partial(function, State(state, case.sizes))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if case.gradient:
                from attnlab.calling.torch_calls import gradients

                parameters = [tensor.requires_grad_() for tensor in state.values()]
                result = gradients(target, args, kwargs, parameters, case.fixed)
            else:
                result = target(*args, **kwargs)
    except Exception as error:
        return Expected(raises=type(error).__name__)
    parts = result if isinstance(result, tuple) else (result,)
    return Expected(values=tuple(np.asarray(part) for part in parts))


def _come_true(arg: Any) -> Any:
    """An argument in which what is to be made is made, in a list as well."""
    if isinstance(arg, list):
        return [_come_true(each) for each in arg] if _is_of_made(arg) else arg
    return rebuild(arg) if isinstance(arg, ByName) else arg


def _is_of_made(arg: list[Any]) -> bool:
    return bool(arg) and isinstance(arg[0], ByName)


def brief(case: Case, parameters: tuple[str, ...], hidden: bool = False) -> str:
    """The call of a case, short enough to read: small inputs in full, large ones by shape.

    Args:
        hidden: whether all lists, arrays and tensors are told by shape.
    """
    named = [*zip(parameters, case.args, strict=False), *case.kwargs.items()]
    full = {name: not hidden and _is_small(arg) for name, arg in named}
    shown = ", ".join(f"{name} = {_brief(arg, full[name])}" for name, arg in named)
    if any(full[name] and _is_cut(arg) for name, arg in named):
        shown += f" ({DIGITS} digits shown)"
    return f"when {case.note}: {shown}" if case.note else shown


def _brief(arg: object, full: bool) -> str:
    if isinstance(arg, ByName):
        return describe(arg)
    if isinstance(arg, list) and _is_of_made(arg):
        return f"[{', '.join(map(describe, arg))}]"
    if isinstance(arg, list) and not full:
        if not arg or not isinstance(arg[0], list):
            return f"{len(arg)} items"
        short, long = min(map(len, arg)), max(map(len, arg))
        return f"{len(arg)} lists of {short}" + (f" to {long}" if long > short else "")
    if hasattr(arg, "shape"):
        kind = f"{type(arg).__name__} {tuple(arg.shape)}"
        return f"{kind} {_rounded(_plain(arg))!r}" if full else kind
    text = repr(_rounded(arg))
    return text if full or len(text) <= 60 else text[:57] + "…"


def _is_small(arg: object) -> bool:
    """Whether it is numbers, or names, few enough to be read."""
    if hasattr(arg, "shape"):
        return _plain(arg) is not None and math.prod(arg.shape) <= READABLE
    return isinstance(arg, (list, float)) and numbers_in(observe(arg)) <= READABLE


def _is_cut(arg: object) -> bool:
    """Whether a number of it has more digits than are shown."""
    plain = _plain(arg)
    return repr(_rounded(plain)) != repr(plain)


def _plain(arg: Any) -> Any:
    """An array's numbers in lists; None on a device that has none."""
    if str(getattr(arg, "device", "")) == "meta":
        return None
    return arg.tolist() if hasattr(arg, "tolist") else arg


def _rounded(arg: object) -> object:
    if isinstance(arg, list):
        return [_rounded(item) for item in arg]
    return float(f"{arg:.{DIGITS}g}") if isinstance(arg, float) else arg
