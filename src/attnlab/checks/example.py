"""One small call that shows what is wrong with an answer, so that it can be checked by eye.

It was made, on the learner's own function, and what came back differs from what is right by the
cause that the card names. Where no such call was found there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attnlab.calling.call import Call, Outcome
from attnlab.calling.observe import Array, Floats, Items, Scalar, Value, numbers_in
from attnlab.checks.arrays import np
from attnlab.checks.compare import Difference, Tried, examine
from attnlab.checks.diagnose import ESTABLISHED, equals_mistake, is_of_bank
from attnlab.checks.exercise import Exercise
from attnlab.checks.pose import Posed
from attnlab.checks.verdict import Diagnosis, Example

SEEN = ("values", "non-finite", "not-exactly-0", "wrong-shape", "not-raised", "raised")
MOST = 12  # numbers of a call that was tried, if no smaller one shows it
WIDEST = 110  # characters of a line, which may be folded once


def example(
    exercise: Exercise,
    ask: Callable[[Call], Outcome],
    tried: Sequence[Tried],
    shown: Tried,
    difference: Difference,
    diagnosis: Diagnosis | None,
) -> Example | None:
    """The smallest call, of small ones that are made now and of those that were tried.

    Args:
        ask: makes a call of the learner's function.
        tried: all cases.
        shown: the one that the card is about.
        difference: what is wrong with it.
        diagnosis: its likely cause.
    """
    if difference.slug not in SEEN or shown.posed.case.procedure:
        return None
    name = diagnosis.slug if diagnosis else ""
    named = is_of_bank(exercise, name)
    if name in ESTABLISHED or (difference.slug == "raised" and not named):
        return None  # it takes more than one call; or the line that raised says more
    for item in (*_asked(exercise, ask, shown), *_small_enough(tried, shown)):
        if item.difference is None or item.outcome.stopped:
            continue
        if named and not equals_mistake(exercise, item, name):
            continue
        if not named and item.difference.slug != difference.slug:
            continue
        if found := _in_words(item):
            return found
    return None


def _asked(exercise: Exercise, ask: Callable[[Call], Outcome], shown: Tried) -> Iterator[Tried]:
    if exercise.recorded:
        posed: Sequence[Posed] = exercise.recorded.small
    else:
        from attnlab.checks.small import small  # it computes, with NumPy and PyTorch

        posed = small(exercise)
    for each in posed:
        if each.case.claim == shown.posed.case.claim:
            yield examine(each, ask(each.call))


def _small_enough(tried: Sequence[Tried], shown: Tried) -> list[Tried]:
    """Of the claim that is shown, plain calls with few numbers, the smallest first."""
    alike = [
        item
        for item in tried
        if item.difference
        and item.posed.case.claim == shown.posed.case.claim
        and _is_plain(item.posed)
        and sum(map(numbers_in, item.posed.inputs.values())) <= MOST
    ]
    return sorted(alike, key=lambda item: item.posed.numbers)


def _is_plain(posed: Posed) -> bool:
    """Whether a case is one call with inputs that say all."""
    case = posed.case
    special = (case.procedure, case.gradient, case.earlier, case.built, case.laid, case.state)
    return not any(special) and case.sizes is None


def _in_words(item: Tried) -> Example | None:
    """A call, exactly, and both answers, if the lines are short and the answers look different."""
    if not all(map(_is_exact, item.posed.inputs.values())):
        return None
    given = ", ".join(f"{name} = {written(value)}" for name, value in item.posed.inputs.items())
    for gave, right in _answers(item):
        if gave != right and max(map(len, (given, gave, right))) <= WIDEST:
            return Example(given, gave, right)
    return None


def _answers(item: Tried) -> Iterator[tuple[str, str]]:
    """What came back and what is right, for each result."""
    expected, outcome, slots = item.posed.right, item.outcome, item.posed.slots
    names = [f"{slot.name} = " if slots[1:] else "" for slot in slots]
    returned, raised = outcome.returned, outcome.raised
    error = raised and f"an error, {raised.name}"
    if expected.raises:
        yield error or (written(returned) if returned else ""), f"an error, {expected.raises}"
        return
    parts: tuple[Any, ...] = (returned,) if len(slots) == 1 else getattr(returned, "items", ())
    if not raised and len(parts) != len(slots):
        return
    for at, (name, right) in enumerate(zip(names, expected.values, strict=True)):
        yield error or f"{name}{written(parts[at])}", f"{name}{written_array(right)}"


def written(value: Value) -> str:
    """A value with three digits of each number; whole ones without a point."""
    match value:
        case Floats(kind):
            return _listed(map(_number, value.numbers), kind)
        case Items(kind, items):
            return _listed(map(written, items), kind)
        case Array(_, dtype, shape, data):
            return written_array(np.frombuffer(data, dtype).reshape(shape))
        case Scalar(_, bool() | str() | None as plain):
            return repr(plain)
        case Scalar(_, int() | float() as number) if abs(number) < 1e12 or type(number) is float:
            return _number(number)
        case _:
            return "…" * WIDEST  # too long to be shown


def written_array(array: Any) -> str:
    return _nested(array.tolist())


def _nested(thing: Any) -> str:
    return _listed(map(_nested, thing), "list") if isinstance(thing, list) else _number(thing)


def _listed(parts: Iterator[str], kind: str) -> str:
    inside = ", ".join(parts)
    return f"({inside})" if kind == "tuple" else f"[{inside}]"


def _number(number: Any) -> str:
    if type(number) is float and not (number.is_integer() and abs(number) < 1e6):
        return f"{number:.3g}"
    return str(int(number)) if type(number) in (int, float) else repr(number)


def _is_exact(value: Value) -> bool:
    """Whether the digits that are written are all that there are."""
    match value:
        case Floats():
            return all(map(_is_short, value.numbers))
        case Items(_, items):
            return all(map(_is_exact, items))
        case Array(_, dtype, _, data):
            return all(map(_is_short, np.frombuffer(data, dtype).reshape(-1).tolist()))
        case Scalar(_, float() as number):
            return _is_short(number)
        case _:
            return True


def _is_short(number: Any) -> bool:
    return type(number) is not float or float(_number(number)) == number
