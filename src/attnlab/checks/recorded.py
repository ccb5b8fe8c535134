"""An exercise whose cases were posed beforehand, for where nothing can be: Python in a browser.

`python -m docs.browser` writes, with PyTorch, what is read here: a lesson's declared exercises, and
of each its cases with the right answer and what every mistake makes of them. The rest of a check is
the same. Of an answer with many numbers some are kept, at places where any two answers to the case
that a check tells apart still differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from attnlab.calling.call import Call
from attnlab.calling.observe import observe
from attnlab.checks.arrays import np
from attnlab.checks.exercise import Case, Claim, Exercise, Mistake, Recorded, Slot
from attnlab.checks.pose import Expected, Posed, Some

CASE = ("claim", "raises", "note", "kind", "tolerance", "exact_zeros", "only_zeros", "promise")
DECLARED = ("name", "lesson", "stage", "signature", "read", "banned", "tolerance")


def declared(told: Mapping[str, Any]) -> Exercise:
    """An exercise, without its cases."""
    return Exercise(
        **{name: told[name] for name in DECLARED},
        axes=tuple(told["axes"]),
        returns=tuple(Slot(*each) for each in told["returns"]),
        claims=tuple(
            Claim(name, text, worth, also=tuple(also)) for name, text, worth, also in told["claims"]
        ),
        recorded=Recorded((), ()),
    )


def with_cases(exercise: Exercise, told: Mapping[str, Any]) -> Exercise:
    """The exercise with its cases, and the answers of its mistakes."""
    module = import_module(told["module"]) if told["module"] else None
    if module is None:
        mistakes = tuple(Mistake(slug, partial(_not_here, slug)) for slug in told["mistakes"])
    else:  # its mistakes are seen in what comes back, and need no answers of their own
        own = next(
            each for each in vars(module).values() if getattr(each, "name", "") == told["name"]
        )
        mistakes = tuple(Mistake(slug, formula) for slug, formula in own.mistakes.items())
    posed, small = (
        tuple(
            _posed(exercise, case, mistakes, module.WAYS[case["claim"]] if module else None)
            for case in told[cases]
        )
        for cases in ("cases", "small")
    )
    return replace(exercise, recorded=Recorded(posed, mistakes, small))


def _not_here(slug: str, *_: Any, **__: Any) -> Any:
    raise LookupError(f"what {slug} makes of a case is recorded, and cannot be computed here")


def _posed(
    exercise: Exercise, told: Mapping[str, Any], mistakes: tuple[Mistake, ...], way: Any
) -> Posed:
    leaves: list[Any] = []
    given = _joined([told["args"], list(told["kwargs"].values())], dict(told["same"]), leaves)
    case = Case(
        **{name: told[name] for name in CASE},
        args=tuple(given[0]),
        kwargs=dict(zip(told["kwargs"], given[1], strict=True)),
        earlier=tuple(told["earlier"]),
        about=tuple(told["about"]),
        procedure=way,
    )
    args = tuple(map(observe, case.args))
    kwargs = {name: observe(arg) for name, arg in case.kwargs.items()}
    call = Call(
        args,
        kwargs,
        earlier=tuple(map(observe, case.earlier)),
        banned=exercise.banned,
        most=told["most"],
        by=way.name if way else "",
    )
    parts = [_part(told["groups"][group], numbers) for group, numbers in told["parts"]]
    answers = [(_answer(parts, each[1:]), each[0]) for each in told["answers"]]
    return Posed(
        told["seed"],
        case,
        call,
        Expected(tuple(np.asarray(each) for each in told["right"]), case.raises),
        exercise.slots(case),
        {**dict(zip(exercise.names(case), args, strict=False)), **kwargs},
        told["numbers"],
        told["turn"],
        {
            mistake.answer: answers[at]
            for mistake, at in zip(mistakes, told["mistaken"], strict=False)
        },
    )


def _answer(parts: list[Any], told: list[Any]) -> Expected:
    """What a mistake makes of a case: the name of an exception, or a part for each slot."""
    if told and isinstance(told[0], str):
        return Expected(raises=told[0])
    return Expected(tuple(parts[at] for at in told))


def _part(group: tuple[list[int], list[int]], numbers: list[Any]) -> Any:
    """An array, whole if no places are told."""
    shape, places = group
    if places:
        return Some(tuple(shape), tuple(places), np.asarray(numbers))
    return np.asarray(numbers).reshape(tuple(shape))


def _joined(thing: Any, same: Mapping[int, int], leaves: list[Any]) -> Any:
    """The same lists, in which what is told to be one object is one."""
    if isinstance(thing, list):
        return [_joined(each, same, leaves) for each in thing]
    leaves.append(leaves[same[len(leaves)]] if len(leaves) in same else thing)
    return leaves[-1]


def leaves_of(thing: Any) -> Iterator[Any]:
    """What stands in lists, in the order in which `same` counts."""
    if isinstance(thing, list | tuple):
        for each in thing:
            yield from leaves_of(each)
    else:
        yield thing
