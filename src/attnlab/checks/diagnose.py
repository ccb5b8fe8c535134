"""Why is it wrong? An answer is named after the one mistake that it equals, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnlab.calling.call import Outcome, Raised
from attnlab.calling.observe import Array, Floats, Items, Scalar, Value
from attnlab.checks.arrays import np
from attnlab.checks.compare import Difference, Tried
from attnlab.checks.crashes import explain, is_meant
from attnlab.checks.exercise import TOLERANCE, Case, Exercise, Formula, Mistake
from attnlab.checks.pose import Expected, Posed, Some, answer_of
from attnlab.checks.verdict import Diagnosis
from attnlab.checks.words import Words, known, words

ARITHMETIC = ("OverflowError", "ZeroDivisionError")
LOST = 1e12  # what is larger comes of dividing by next to nothing
COARSE = 1e-2  # where scores are so large that rounding reaches the weights
TRACE = 1e-40  # below it float32 has no digits left
ROUNDED = 1e-5  # of the largest number, by which float32 may be off
SEVERAL = 3  # right sizes, where one and the same came back
TEXT = 100  # characters of text that is compared with a mistake's

# What was found by another call, and has no numbers of its own.
ESTABLISHED = (
    *("mutated-input", "nondeterministic"),
    *("remembers-a-call", "only-in-training", "shared-by-modules"),
)

Parts = tuple[np.ndarray | None, ...]  # of what came back


def diagnose(
    exercise: Exercise, tried: Sequence[Tried], shown: Tried, difference: Difference
) -> Diagnosis | None:
    """The likely cause of what a card shows, if one is certain.

    Args:
        tried: all cases, in their order.
        shown: the one that is shown.
        difference: what is wrong with it.
    """
    if difference.slug == "stopped" and shown.outcome.stopped == "time":
        return Diagnosis("still-running", *known(exercise.lesson)["still-running"])
    if difference.slug == "stopped":
        found = explain(shown.outcome.raised) if shown.outcome.raised else None
        return Diagnosis("out-of-memory", *found) if found else None
    named, way = difference.slug not in ESTABLISHED, shown.posed.case.procedure
    if named and way and way.missed:
        if slug := made(exercise, tried, shown):
            return Diagnosis(slug, *words(slug, exercise.lesson))
    elif named:
        wrong = [item for item in tried if item.difference]
        of_claim = [item for item in wrong if item.posed.case.claim == shown.posed.case.claim]
        if len({item.posed.seed for item in of_claim}) > 1:
            wrong = of_claim  # else it is at an edge there, and elsewhere may be plain
        for kind in dict.fromkeys(map(kind_of, (shown, *wrong))):
            mistake = _mistake(exercise, tried, kind)
            if mistake and (kind == kind_of(shown) or _shows(mistake, tried, shown)):
                return Diagnosis(mistake.slug, *words(mistake.slug, exercise.lesson))
        if _in_float32(tried, shown):
            return Diagnosis("computed-in-float32", *words("computed-in-float32", exercise.lesson))
    if difference.slug == "wrong-shape" and (size := _one_size(tried)):
        said = known(exercise.lesson)["hard-coded-size"].about(str(size))
        return Diagnosis("hard-coded-size", *said)
    if shown.mutation and difference.slug == "values":
        difference = shown.mutation
    return without_numbers(exercise, shown, difference)


def _bank(exercise: Exercise) -> tuple[Mistake, ...]:
    """The mistakes that can be named."""
    if exercise.recorded:
        return exercise.recorded.mistakes
    from attnlab.checks.bank import bank  # it computes them, with PyTorch

    return bank(exercise)


def made(exercise: Exercise, tried: Sequence[Tried], shown: Tried) -> str:
    """Which mistake was made in all that failed, where many answers are right; '' for none."""
    claim = shown.posed.case.claim
    failed = [item for item in tried if item.difference and item.posed.case.claim == claim]
    if not failed or any(item.arrays is None for item in failed):
        return ""
    given = [(*item.posed.case.args, *(item.arrays or ())) for item in failed]
    way = shown.posed.case.procedure
    with np.errstate(all="ignore"):
        if not (way and way.missed and all(way.missed(*args) for args in given)):
            return ""  # a number is wrong of which one alone is right
        slugs = (each.slug for each in _bank(exercise) if all(each.answer(*args) for args in given))
        return next(slugs, "")


def _in_float32(tried: Sequence[Tried], shown: Tried) -> bool:
    """Whether an answer has the digits of float32, and none after them.

    Wherever digits were tried and found wrong, on two seeds or more, and in what is shown, a result
    has no number that float32 has not. By chance one number in 500 million is like that.
    """
    wrong = (item for item in tried if item.difference)
    asked = [item for item in wrong if asks_for_digits(item.posed.case)]
    if len({item.posed.seed for item in asked}) < 2 or not all(map(_is_near, asked)):
        return False
    return all(map(_has_float32, [*asked, shown]))


def asks_for_digits(case: Case) -> bool:
    """Whether a case tries how exact an answer is."""
    return case.promise.split()[:1] == ["precision"]


def _is_near(item: Tried) -> bool:
    """Whether an answer is off by no more than float32's rounding."""
    pairs = zip(item.arrays or (), item.posed.right.values, strict=False)
    return item.arrays is not None and all(
        np.abs(got - right).max(initial=0) <= ROUNDED * np.abs(right).max(initial=0)
        for got, right in pairs
    )


def _has_float32(item: Tried) -> bool:
    """Whether a result in float64 has numbers of float32 alone; whole ones tell nothing."""
    if item.difference and item.difference.slug == "wrong-dtype":
        return False
    return any(
        bool((got == got.astype(np.float32)).all() and (got % 1 != 0).any())
        for got, right in zip(item.arrays or (), item.posed.right.values, strict=False)
        if right.dtype == np.float64
    )


def _one_size(tried: Sequence[Tried]) -> int:
    """The size that one axis has whatever comes in, where all others are right; else 0."""
    whole = [item for item in tried if len(_parts(item)) == len(item.posed.right.values) > 0]
    for place in range(min((len(_parts(item)) for item in whole), default=0)):
        found = [(_parts(item)[place], item.posed.right.values[place].shape) for item in whole]
        shapes = [(part.shape, right) for part, right in found if part is not None]
        depths = {len(shape) for pair in shapes for shape in pair}
        for axis in range(depths.pop() if len(depths) == 1 else 0):
            sizes = {given[axis] for given, _ in shapes}
            wanted = {right[axis] for _, right in shapes}
            fits = all(_but(axis, given) == _but(axis, right) for given, right in shapes)
            if fits and len(sizes) == 1 and len(wanted) >= SEVERAL and max(sizes) > 1:
                return max(sizes)  # 1 is what a sum leaves of an axis
    return 0


def _but(axis: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def without_numbers(exercise: Exercise, shown: Tried, difference: Difference) -> Diagnosis | None:
    """The cause, as far as it can be told without comparing numbers."""
    if difference.slug == "raised" and shown.outcome.raised:
        return Diagnosis("raised", *_of_a_crash(exercise, shown, shown.outcome.raised))
    key = difference.advice or difference.slug
    if shown.outcome.returned == Scalar("NoneType", None) and key != "not-raised":
        key = "nothing-returned"
    said = known(exercise.lesson).get(key)
    return Diagnosis(difference.slug, *said) if said else None


def _of_a_crash(exercise: Exercise, shown: Tried, raised: Raised) -> Words:
    """Why it raised, and what to try."""
    said = known(exercise.lesson)
    if shown.posed.right.raises and is_meant(raised):
        return said["wrong-error"]
    if shown.posed.right.raises:
        slip = explain(raised) if "raise " in raised.line else None  # in the refusal itself
        return slip or said["stumbled"]
    if is_meant(raised) and raised.function in ("", exercise.name, "forward", "__init__"):
        return said["refused"]
    if is_meant(raised):
        return said["helper-refused"].about(raised.function)
    by_call = raised.name == "TypeError" and explain(raised)  # with other arguments than it takes
    if shown.posed.case.gradient and not raised.function and not by_call:
        in_place = "modified by an inplace operation" in raised.message
        return said["changed-in-place" if in_place else "no-way-back"]
    return explain(raised) or said["raised"]


def _shows(mistake: Mistake, tried: Sequence[Tried], shown: Tried) -> bool:
    """Whether a mistake, found in other cases, is what a card shows as well, and all like it."""
    if not _has_numbers(shown):
        return False
    alike = (item for item in tried if item.difference and kind_of(item) == kind_of(shown))
    whole = (item for item in alike if item.arrays is not None and _has_numbers(item))
    asked = [(item, _parts(item)) for item in (shown, *whole)]
    return _equal_in_all(mistake, asked)


def _mistake(exercise: Exercise, tried: Sequence[Tried], kind: tuple[str, str]) -> Mistake | None:
    """The mistake that a wrong answer equals; None if none does, or several do."""
    found = fitting(exercise, tried, kind, _bank(exercise))
    return found[0] if len({mistake.slug for mistake in found}) == 1 else None


def fitting(
    exercise: Exercise, tried: Sequence[Tried], kind: tuple[str, str], among: Sequence[Mistake]
) -> list[Mistake]:
    """The mistakes that a wrong answer equals.

    Args:
        tried: all cases, in the order of their claims.
        kind: of cases that failed.
        among: those that are looked at.
    Returns:
        Mistakes whose answers equal the learner's in all cases of that kind, on two seeds or more,
        in the rest of their claim and in the claims before it, and which differ from the right
        answer in those that failed. A mistake that would have got wrong what came out right is
        another one, though both give NaN now. Where several fit, the other cases that failed
        decide.
    """
    tried = [item for item in tried if _has_numbers(item)]
    failed = [item for item in tried if kind_of(item) == kind]
    telling = (item for item in failed if not _is_accident(item.outcome))
    if len({item.posed.seed for item in telling if not _has_right_numbers(item)}) < 2:
        return []  # no mistake could tell, so none is computed
    if not any(item.outcome.returned or _lost_in(item.outcome) for item in tried):
        return []  # the type of an exception alone is no evidence
    first = next(at for at, item in enumerate(tried) if kind_of(item)[0] == kind[0])
    passed = [item for item in tried[:first] if not item.posed.case.raises]
    # First a case of the core, if it passed: there most mistakes go wrong, without gradients.
    then = sorted((*failed, *passed[1:]), key=lambda item: _rank(item, kind))
    asked = [(item, _parts(item)) for item in (*passed[:1], *then)]
    found = [each for each in among if _equal_in_all(each, asked) and _tells(each, failed)]
    rest = [item for item in tried[first:] if kind_of(item) != kind and not item.posed.case.raises]
    right = [
        (item, _parts(item))
        for item in rest
        if item.difference is None and not item.posed.case.procedure  # a formula is no function
    ]
    found = [mistake for mistake in found if _equal_in_all(mistake, right)]
    alike = [
        (item, _parts(item))
        for item in rest
        if item.difference and kind_of(item)[0] == kind[0] and item.arrays is not None
    ]
    found = [mistake for mistake in found if _equal_in_all(mistake, alike)]
    if len({mistake.slug for mistake in found}) > 1:
        wrong = [(item, _parts(item)) for item in rest if item.difference]
        found = [mistake for mistake in found if _equal_in_all(mistake, wrong)]
    return found


def _has_numbers(item: Tried) -> bool:
    """Whether certain numbers are right in a case; not if many are, or if it is on meta."""
    case = item.posed.case
    many = case.procedure is not None and case.procedure.missed is not None
    return not many and case.laid != "meta"


def kind_of(item: Tried) -> tuple[str, str]:
    """The claim that a case belongs to, and what of it the case tries."""
    return item.posed.case.claim, item.posed.case.promise


def _equal_in_all(mistake: Mistake, asked: Sequence[tuple[Tried, Parts]]) -> bool:
    """Whether an answer equals a mistake in all cases; those whose numbers are known tell first."""
    in_turn = sorted(asked, key=lambda pair: mistake.answer not in pair[0].posed.mistaken)
    return all(
        equals(item, parts, mistaken(mistake.answer, item.posed)[0]) for item, parts in in_turn
    )


def _tells(mistake: Mistake, tried: Sequence[Tried]) -> bool:
    """Whether a mistake shows, by more than an accident, on two seeds or more."""
    seeds: set[int] = set()
    for item in tried:
        seed = item.posed.seed
        if seed in seeds or len(seeds) == 2 or _is_accident(item.outcome):
            continue  # nothing is computed that is not asked for
        if not mistaken(mistake.answer, item.posed)[1]:
            seeds.add(seed)
    return len(seeds) == 2


def _rank(item: Tried, kind: tuple[str, str]) -> tuple[bool, bool, int]:
    """In which turn a mistake is compared in a case: where it is likely to differ, and few numbers.

    What failed comes first, as most mistakes show nothing there; then the rest of its claim.
    """
    is_right = item.difference is None or kind_of(item) != kind
    return is_right, kind_of(item)[0] != kind[0], item.posed.numbers


def _has_right_numbers(item: Tried) -> bool:
    """Whether no number is wrong: what failed is a type, say, and no mistake shows in that."""
    if item.posed.case.only_zeros or item.outcome.raised:
        return False
    return _is_right(Expected(_parts(item)), item.posed)


def _lost_in(outcome: Outcome) -> bool:
    """Whether it raised where numbers were too large, which tells as much as NaN."""
    return outcome.raised is not None and outcome.raised.name in ARITHMETIC


def _is_accident(outcome: Outcome) -> bool:
    """Whether it raised what anything may raise, which tells nothing."""
    raised = outcome.raised
    return raised is not None and raised.name not in ARITHMETIC and not is_meant(raised)


def is_of_bank(exercise: Exercise, slug: str) -> bool:
    """Whether a name is that of a mistake with a formula."""
    return any(mistake.slug == slug for mistake in _bank(exercise))


def equals_mistake(exercise: Exercise, item: Tried, slug: str) -> bool:
    """Whether what came back is what a mistake of this name makes of the case."""
    alike = (mistake for mistake in _bank(exercise) if mistake.slug == slug)
    return any(equals(item, _parts(item), mistaken(each.answer, item.posed)[0]) for each in alike)


def mistaken(formula: Formula, posed: Posed) -> tuple[Expected, bool]:
    """What a mistake makes of a case, and whether a check would let that pass."""
    if formula not in posed.mistaken:
        answer = answer_of(formula, posed.case)
        posed.mistaken[formula] = answer, _is_right(answer, posed)
    return posed.mistaken[formula]


def equals(item: Tried, parts: Parts, answer: Expected) -> bool:
    """Whether an outcome has an answer's numbers, or its exception.

    NaN equals NaN here, and so does what is too large to be anything but a division by next to
    nothing; where NumPy and PyTorch give such numbers, Python may raise.
    """
    raised = item.outcome.raised
    if item.outcome.stopped:
        return False
    if raised:
        if raised.name in ARITHMETIC and any(_lost(_known(v)).any() for v in answer.values):
            return True
        return raised.name.rpartition(".")[2] == answer.raises
    if answer.raises or len(parts) != len(answer.values):
        return False
    return all(
        _close(part, values, *limits)
        for part, values, limits in zip(parts, answer.values, limits_of(item.posed), strict=False)
    )


def limits_of(posed: Posed) -> list[tuple[float, bool]]:
    """For each slot how far numbers may be apart, and whether 0 has to be in the same places."""
    case = posed.case
    tolerance = COARSE if case.only_zeros else case.tolerance
    return [(tolerance, case.exact_zeros and not slot.averages) for slot in posed.slots]


def _parts(item: Tried) -> Parts:
    """What came back, an array for each slot, whatever its container; None for what is none."""
    returned = item.outcome.returned
    if returned is None:
        return ()
    one = len(item.posed.slots) == 1
    return tuple(map(_loose_array, (returned,) if one else getattr(returned, "items", ())))


def _loose_array(value: Value) -> np.ndarray | None:
    match value:
        case Array(_, dtype, shape, data):
            return np.frombuffer(data, dtype).reshape(shape)
        case Scalar(_, int() | float() as number):
            return np.asarray(number)
        case Scalar(_, str() as text) if len(text) <= TEXT:
            return np.asarray(text)  # all are as wide as the longest
        case Floats():
            return np.asarray(value.numbers)
        case Items(_, items):
            arrays = [_loose_array(item) for item in items]
            shapes = {None if array is None else array.shape for array in arrays}
            return np.array(arrays) if len(shapes) < 2 and None not in shapes else None
        case _:
            return None


def _is_right(answer: Expected, posed: Posed) -> bool:
    right, zeros = posed.right, posed.case.exact_zeros
    if answer.raises or right.raises or len(answer.values) != len(right.values):
        return answer.raises == right.raises != ""
    return all(
        _close(one, other, posed.case.tolerance, zeros and not slot.averages, share=0)
        for one, other, slot in zip(answer.values, right.values, posed.slots, strict=True)
    )


@np.errstate(all="ignore")
def _close(
    a: np.ndarray | None, b: Any, tolerance: float, zeros: bool, share: float = 1e-9
) -> bool:
    """Whether numbers agree; where exact zeros are asked, so do the places of 0.

    Args:
        share: of a number, by which two ways to the same mistake may differ besides; a check
            allows none.
    """
    if a is None or (a.shape != b.shape and a.size + _known(b).size):
        return False  # a list of no rows does not say how long they would be
    if isinstance(b, Some):
        a, b = b.of(a), b.numbers
    if not a.size:
        return True
    if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        return a.dtype.kind == b.dtype.kind and bool((a == b).all())
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if zeros and not _same_traces(a, b):
        return False
    near = np.abs(a - b) <= tolerance + share * np.abs(b)
    if near.all():
        return True
    lost = _lost(a)
    return bool((lost == _lost(b)).all() and (near | lost).all())


def _known(values: Any) -> np.ndarray:
    """All of its numbers that are known."""
    return values.numbers if isinstance(values, Some) else values


def _same_traces(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether 0 stands in the same places, and what is nearly 0 agrees by its ratio."""
    near = (np.abs(a) < TOLERANCE) & (np.abs(b) < TOLERANCE)
    alike = ((a == 0) == (b == 0)) & (np.abs(a - b) <= 1e-3 * np.abs(b) + TRACE)
    return bool(alike[near].all())


def _lost(values: np.ndarray) -> np.ndarray:
    """Where there is no number, or one of which rounding has left nothing."""
    if values.dtype.kind not in "fiub":
        return np.zeros(values.shape, dtype=bool)
    return ~(np.abs(values) < LOST)
