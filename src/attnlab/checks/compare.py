"""Is this the right answer? Type and shape first, then finite, then every single number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from attnlab.calling.call import PRINT_LIMIT, Outcome, Raised
from attnlab.calling.observe import (
    ELSEWHERE,
    Array,
    ByName,
    Floats,
    Items,
    Large,
    Other,
    Scalar,
    Value,
    describe,
)
from attnlab.checks.arrays import np
from attnlab.checks.exercise import Slot
from attnlab.checks.pose import Expected, Posed


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that is wrong with an answer, in words a learner can act on.

    Attributes:
        slug: 'values', or the name of a mistake that no formula is needed for: 'wrong-type',
            'wrong-shape', 'wrong-dtype', 'non-finite', 'raised', 'not-raised', 'stopped'.
        text: what differed.
        advice: key of what to say of it in `mistakes.md`, if that is not the slug.
        untold: `text` without the right number, where it has one: for cases that stay hidden.
    """

    slug: str
    text: str
    advice: str = ""
    untold: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """One case, tried: all that is known of what came back.

    Attributes:
        difference: what is wrong with the answer, None if nothing is.
        arrays: the results as arrays, None if their types or shapes are wrong. Where numbers are
            right, numbers they are, floats all of them float64; where a mask is, bool.
        mutation: which input was changed, None if none was.
        again: what differed when the same call was made again, if it was.
    """

    posed: Posed
    outcome: Outcome
    difference: Difference | None
    arrays: tuple[np.ndarray, ...] | None
    mutation: Difference | None
    again: Difference | None = None


def examine(posed: Posed, outcome: Outcome) -> Tried:
    """Compare what a call gave with what is right, and its inputs with what they were."""
    case = posed.case
    if case.laid == "meta":
        return Tried(posed, outcome, _on_meta(outcome, posed.right, posed.slots), None, None)
    if case.procedure and case.procedure.missed:
        difference, arrays = _achieved(posed, outcome, case.procedure.missed)
    else:
        difference, arrays = compare(
            outcome, posed.right, posed.slots, case.tolerance, case.exact_zeros
        )
        if case.only_zeros and arrays is not None:
            difference = _weight_on_blocked(posed, arrays)
    return Tried(posed, outcome, difference, arrays, changed_input(posed.inputs, outcome.after))


@np.errstate(all="ignore")
def compare(
    outcome: Outcome,
    expected: Expected,
    slots: tuple[Slot, ...],
    tolerance: float,
    exact_zeros: bool = False,
) -> tuple[Difference | None, tuple[np.ndarray, ...] | None]:
    """What is wrong with an outcome, and its results as arrays: see `Tried`.

    Args:
        outcome: what the learner's function did.
        expected: what it should have done.
        slots: names, kinds and axes of what it returns.
        tolerance: largest |difference| of two numbers that is still right.
        exact_zeros: where the right number is 0, the tolerance is 0.
    """
    if outcome.stopped or outcome.raised:
        return _abnormal(outcome, expected), None
    assert outcome.returned is not None
    if expected.raises:
        text = f"no {expected.raises} was raised: it returned {describe(outcome.returned)}"
        return Difference("not-raised", text), None
    parts = _split(outcome.returned, slots)
    if isinstance(parts, Difference):
        return parts, None
    differences: list[Difference | None] = []
    arrays: list[np.ndarray] = []
    for part, right, slot in zip(parts, expected.values, slots, strict=True):
        got = _shaped(part, right, slot)
        if isinstance(got, Difference):
            differences.append(got)
            continue
        if got.dtype.kind in ("b" if right.dtype == bool else "fiu"):
            as_float = "f" in (got.dtype.kind, right.dtype.kind)
            arrays.append(got.astype(float) if as_float else got)
        limit = math.inf if slot.any else tolerance
        differences.append(_different(got, right, slot, limit, exact_zeros))
    first = next(filter(None, differences), None)
    return first, tuple(arrays) if len(arrays) == len(slots) else None


def _achieved(
    posed: Posed, outcome: Outcome, missed: Callable[..., str]
) -> tuple[Difference | None, tuple[np.ndarray, ...] | None]:
    """What is wrong with what comes of an outcome, of whose numbers many are right."""
    difference, arrays = compare(outcome, posed.right, posed.slots, posed.case.tolerance)
    if difference or arrays is None:
        return difference and replace(difference, text=difference.untold or difference.text), arrays
    with np.errstate(all="ignore"):
        text = missed(*posed.case.args, *arrays)
    return (Difference("values", text) if text else None), arrays


def _on_meta(outcome: Outcome, expected: Expected, slots: tuple[Slot, ...]) -> Difference | None:
    """What is wrong with an outcome on the meta device, as far as there it can be told."""
    if outcome.raised and "device" not in outcome.raised.message:
        return None  # it asked for a number, and there is none
    if outcome.stopped or outcome.raised:
        return _abnormal(outcome, expected)
    assert outcome.returned is not None
    parts = _split(outcome.returned, slots)
    if isinstance(parts, Difference):
        return parts
    for part, right, slot in zip(parts, expected.values, slots, strict=True):
        if not isinstance(part, Large):
            text = f"{slot.name} is {describe(part)} on the CPU, and another device was given"
            return Difference("wrong-device", text)
        if part.shape != right.shape:
            return _wrong_shape(slot, right.shape, part.shape)
        if part.dtype != right.dtype.name:
            text = f"{slot.name} should have dtype {right.dtype} and has {part.dtype}"
            return Difference("wrong-dtype", text)
    return None


def changed_input(before: Mapping[str, Value], after: tuple[Value, ...]) -> Difference | None:
    """Which input, if any, is no longer what it was before the call."""
    for (name, was), now in zip(before.items(), after, strict=False):
        if not _is_as_it_was(was, now):
            text = f"your function changed its input {name}, which the caller still needs"
            return Difference("mutated-input", text)
    return None


def _is_as_it_was(was: Value, now: Value) -> bool:
    match was, now:
        case ByName(), _:
            return True  # a generator is there to be used
        case Items(kind, items), Items(other, others) if ByName in map(type, items):
            return kind == other and len(items) == len(others)
        case _:
            return was == now


def _split(returned: Value, slots: tuple[Slot, ...]) -> tuple[Value, ...] | Difference:
    """Take a returned value apart into one part for each slot."""
    if len(slots) == 1:
        return (returned,)
    names = ", ".join(slot.name for slot in slots)
    if not isinstance(returned, Items | Floats):
        text = f"it should return ({names}) and returned {describe(returned)}"
        return Difference("wrong-type", text, "results-missing")
    if len(returned.items) != len(slots):
        text = f"it should return ({names}) and returned {describe(returned)}"
        return Difference("wrong-type", text, "results-missing")
    return returned.items


def _to_array(value: Value, slot: Slot) -> np.ndarray | Difference:
    """A slot's value as a NumPy array, or what keeps it from being one.

    Accepts exact types alone: list and float or int for 'list', numpy.ndarray for 'ndarray',
    torch.Tensor for 'tensor', a Python or NumPy number for 'float' and 'int', True or False for
    'bool'.
    """
    match slot.kind:
        case "list":
            return _list_to_array(value, slot)
        case "ndarray" | "tensor":
            if isinstance(value, Array) and value.kind == slot.kind:
                return np.frombuffer(value.data, value.dtype).reshape(value.shape)
            if slot.kind == "ndarray" and isinstance(value, Scalar) and _is_numpy_float(value):
                return np.asarray(value.value, value.kind.removeprefix("numpy."))
            if isinstance(value, Other) and value.kind.startswith(ELSEWHERE):
                text = f"{slot.name} is {describe(value)}, and its inputs are on the CPU"
                return Difference("wrong-device", text)
        case "float" | "int":
            if isinstance(value, Array) and value.shape == ():
                if value.dtype.startswith(slot.kind):
                    return np.frombuffer(value.data, value.dtype).reshape(())
            elif isinstance(value, Scalar) and _is_number(value, whole=slot.kind == "int"):
                return np.asarray(_within_float(value.value))
        case "bool" if isinstance(value, Scalar) and value.kind == "bool":
            return np.asarray(value.value)
    return _wrong_type(slot.name, slot, value)


def _wrong_type(place: str, slot: Slot, value: Value) -> Difference:
    text = f"{place} should be {_wanted(slot)} and is {describe(value)}"
    array = slot.kind == "list" and (
        isinstance(value, Array | Large)
        or (isinstance(value, Scalar) and value.kind.startswith("numpy."))
    )
    return Difference("wrong-type", text, "array-for-list" if array else "")


def _wanted(slot: Slot) -> str:
    """What a slot should be, in words."""
    if slot.kind == "list":
        depth = len(slot.axes.split())
        return ["a float", "a list of floats", "a list of lists of floats"][depth]
    return {
        "ndarray": "a NumPy array",
        "tensor": "a torch.Tensor",
        "float": "a float",
        "int": "an int",
        "bool": "a bool",
    }[slot.kind]


def _is_numpy_float(value: Scalar) -> bool:
    """NumPy gives a scalar where an array loses its last axis."""
    return value.kind.startswith("numpy.float")


def _is_number(value: Scalar, whole: bool) -> bool:
    name = value.kind.removeprefix("numpy.")
    return name.startswith("int") or (not whole and name.startswith("float"))


def _list_to_array(value: Value, slot: Slot) -> np.ndarray | Difference:
    depth = len(slot.axes.split())
    problem = _list_problem(value, depth, slot, "")
    if problem:
        return problem
    return np.array(_plain(value), dtype=float)


def _within_float(number: Any) -> float | int:
    """A number, or inf for an int that is larger than any float."""
    try:
        float(number)
    except OverflowError:
        return float("inf")
    return number if abs(number) < 2**63 else float(number)


def _plain(value: Value) -> object:
    if isinstance(value, Floats):
        return value.numbers
    if isinstance(value, Items):
        return [_plain(item) for item in value.items]
    assert isinstance(value, Scalar)
    return float(_within_float(value.value))


def _list_problem(value: Value, depth: int, slot: Slot, where: str) -> Difference | None:
    place = slot.name + where
    if depth == 0:
        if isinstance(value, Scalar) and value.kind in ("float", "int"):
            return None
        return _wrong_type(place, Slot(slot.name, "list", ""), value)
    if not isinstance(value, Items | Floats) or value.kind != "list":
        return _wrong_type(
            place, Slot(slot.name, "list", " ".join(slot.axes.split()[-depth:])), value
        )
    if depth == 1 and isinstance(value, Floats):
        return None
    for index, item in enumerate(value.items):
        problem = _list_problem(item, depth - 1, slot, f"{where}[{index}]")
        if problem:
            return problem
    if depth == 2:
        return _ragged(value, place)
    return None


def _ragged(rows: Items | Floats, place: str) -> Difference | None:
    widths = [len(row.items) for row in rows.items if isinstance(row, Items | Floats)]
    for index, width in enumerate(widths):
        if width != widths[0]:
            text = (
                f"{place} is ragged: {place}[0] has {widths[0]} entries, {place}[{index}] {width}"
            )
            return Difference("wrong-shape", text)
    return None


def _shaped(part: Value, right: np.ndarray, slot: Slot) -> np.ndarray | Difference:
    """A slot's value as an array of the right shape, or what keeps it from being one."""
    if isinstance(part, Large) and part.kind == slot.kind:
        if part.shape == right.shape:
            text = f"{slot.name} is on the meta device, where it has a shape and no numbers"
            return Difference("wrong-device", text)
        return _wrong_shape(slot, right.shape, part.shape)
    got = _to_array(part, slot)
    if isinstance(got, Difference) or got.shape == right.shape:
        return got
    return _wrong_shape(slot, right.shape, got.shape)


def _different(
    got: np.ndarray,
    right: np.ndarray,
    slot: Slot,
    tolerance: float,
    exact_zeros: bool,
) -> Difference | None:
    if slot.kind in ("ndarray", "tensor", "float") and not _dtype_fits(got, right, slot.kind):
        if slot.kind == "float":  # which is a float64 wherever Python has one
            text = f"{slot.name} should be a float and is a single {got.dtype}"
            return Difference("wrong-type", text)
        text = f"{slot.name} should have dtype {right.dtype} and has {got.dtype}"
        return Difference("wrong-dtype", text)
    if wrong := _compare_numbers(got, right, slot.name, tolerance):
        return wrong
    if not exact_zeros or not (nearly := _zeros(right, slot) & (got != 0)).any():
        return None
    trace = f"{slot.name}{_at(_first(nearly))} is {got[nearly][0]:.6g}"
    text, untold = f"{trace}, should be exactly 0", f"{trace}, which is not right"
    return Difference("not-exactly-0", text, untold=untold)


def _zeros(right: np.ndarray, slot: Slot) -> np.ndarray:
    """Where 0 is meant: a weight of 0, or outputs that are all 0; one may be 0 by chance."""
    zeros = np.asarray(right == 0)
    return zeros.all(-1, keepdims=True) & zeros if slot.averages else zeros


def _weight_on_blocked(posed: Posed, arrays: tuple[np.ndarray, ...]) -> Difference | None:
    """Where the right number is exactly 0, and another one came back; NaN is no weight."""
    for got, right, slot in zip(arrays, posed.right.values, posed.slots, strict=True):
        if (bad := _zeros(right, slot) & (np.nan_to_num(got, nan=0.0) != 0)).any():
            text = f"{slot.name}{_at(_first(bad))} is {got[bad][0]:.6g}, should be exactly 0"
            return Difference("not-exactly-0", text)
    return None


def _wrong_shape(slot: Slot, right: tuple[int, ...], shape: tuple[int, ...]) -> Difference:
    axes = f" ({', '.join(slot.axes.split())})" if slot.axes else ""
    text = f"{slot.name} should have shape {right}{axes} and has {shape}"
    return Difference("wrong-shape", text)


def _dtype_fits(got: np.ndarray, right: np.ndarray, kind: str) -> bool:
    """Arrays may be wider than asked, as NumPy's √d_k is a float64; a tensor keeps its dtype."""
    if right.dtype.kind in "biu":
        same = got.dtype == right.dtype if kind == "tensor" else got.dtype.kind == right.dtype.kind
        return bool(same)
    if kind == "float" and got.dtype.kind == "i":
        return True  # a plain 0 or 1 where a single float is asked for
    if kind == "tensor":
        return got.dtype == right.dtype
    return got.dtype.kind == "f" and got.dtype.itemsize >= right.dtype.itemsize


def _compare_numbers(
    got: np.ndarray, right: np.ndarray, name: str, limit: float
) -> Difference | None:
    if got.size == 0:
        return None
    if got.dtype == right.dtype == np.float64 and limit < math.inf:
        if (np.abs(got - right) <= limit).all():
            return None  # NaN is not
    left, correct = got.astype(float), right.astype(float)
    bad = ~np.isfinite(left) & np.isfinite(correct)
    if bad.any():
        index = _first(bad)
        text = f"{name}{_at(index)} is {_versus(left[index], correct[index])}"
        untold = f"{name}{_at(index)} is {left[index]:.6g}, should be a finite number"
        return Difference("non-finite", text, untold=untold)
    error = np.where(left == correct, 0.0, np.abs(left - correct))
    right_enough = error <= limit  # NaN is not
    if right_enough.all():
        return None
    index = _first(~right_enough)
    wrong = int((~right_enough).sum())
    share, by = "", ""
    if error.size > 1:
        share = f"; {wrong} of {error.size} numbers {'differs' if wrong == 1 else 'differ'}"
        worst = float(np.max(error[~right_enough]))
        by = f", by {'' if wrong == 1 else 'up to '}{worst:.3g}"
    place = f"{name}{_at(index)}"
    if got.dtype == right.dtype == bool:
        text = f"{place} is {got[index]}, should be {right[index]}{share}"
        untold = f"{place} is {got[index]}, which is not right{share}"
        return Difference("values", text, untold=untold)
    text = f"{place} is {_versus(left[index], correct[index])}{share}{by}"
    same = _same_digits(left[index], correct[index])
    but = f" after its first {same} digits" if same else ""
    untold = f"{place} is {left[index]:.{max(same + 3, SIX)}g}, which is not right{but}{share}"
    return Difference("values", text, untold=untold)


def _first(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(mask.argmax(), mask.shape)))


def _at(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


SIX = 6  # digits that are shown


def _versus(wrong: float, right: float) -> str:
    """Both numbers, so that one sees that they differ."""
    wrong, right, same = float(wrong), float(right), _same_digits(wrong, right)
    shown = min(same + 3, 17) if same else SIX
    alike = f", the same to {same} digits" if same else ""
    return f"{wrong:.{shown}g}, should be {right:.{shown}g}{alike}"


def _same_digits(wrong: float, right: float) -> int:
    """To how many digits two numbers are the same, if to six or more; else 0."""
    digits = SIX
    while digits < 17 and f"{wrong:.{digits}g}" == f"{right:.{digits}g}":
        digits += 1
    return digits - 1 if digits > SIX else 0


_RAISED = {
    "RecursionError": "endless-recursion",
    "NoGradient": "no-gradient",
    "WrongStructure": "wrong-structure",
    "SharedResult": "shared-result",
}
_STOPPED = {
    "time": "it was still running when the time was up, so it was stopped",
    "output": f"it printed more than {PRINT_LIMIT:,} characters, so it was stopped",
    "memory": "it ran out of memory, so it was stopped: is something huge built?",
    "interrupt": "it was interrupted before it returned",
}


def _place(raised: Raised | None) -> str:
    """Where a learner's code was; '' if that cannot be told."""
    if raised is None or not raised.line:
        return ""
    function = f" of `{raised.function}`" if raised.function else ""
    return f", at the line `{raised.line}`{function}"


def _abnormal(outcome: Outcome, expected: Expected) -> Difference | None:
    if outcome.stopped:
        where = _place(outcome.raised) if outcome.stopped == "time" else ""
        return Difference("stopped", f"{_STOPPED[outcome.stopped]}{where}")
    raised = outcome.raised
    assert raised is not None
    if expected.raises and any(name in raised.names for name in expected.raises.split(" or ")):
        return None
    where = _place(raised)
    message = raised.message.partition("\n\n")[0]  # what comes after it is for PyTorch's makers
    said = f": {message.rstrip('.')}" if message else ""
    instead = f", where {expected.raises} is asked for" if expected.raises else ""
    slug = _RAISED.get(raised.name.rpartition(".")[2], "raised")
    if slug != "raised" and not raised.line:  # a way of calling says so, no line of the learner's
        return Difference(slug, raised.message)
    return Difference(slug, f"it raised {raised.name}{said}{where}{instead}")
