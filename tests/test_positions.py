"""No answer follows from the place of a case: what is right is not known before it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from attnlab.checks.exercise import Exercise
from attnlab.checks.judge import in_turn, judge
from attnlab.checks.pose import Expected, Posed, generate, pose
from tests.exercises import EXERCISES, named
from tests.played import outcome_of

SEEDS = [(30_000 + 2 * at, 30_001 + 2 * at) for at in range(51)]
SOME = 16  # of them, where all are asked by `make prove`
# Elsewhere what is right is drawn anew in every number.
FEW = [each for each in EXERCISES if any(slot.kind == "bool" for slot in each.returns)]


def asked(exercise: Exercise, seeds: tuple[int, ...]) -> list[Posed]:
    """The cases, in the order in which a learner's function gets them."""
    posed = pose(exercise, seeds)
    first, others = in_turn(posed, seeds[0])
    return [posed[place] for place in (*first, *others)]


def key(answer: Expected) -> tuple[object, ...]:
    return (answer.raises, *((value.shape, value.tobytes()) for value in answer.values))


def _no_table_earns(exercise: Exercise, pairs: Sequence[tuple[int, int]]) -> None:
    *before, last = pairs
    places: dict[int, Counter[tuple[object, ...]]] = {}
    known: dict[tuple[object, ...], Expected] = {}
    for seeds in before:
        for place, each in enumerate(asked(exercise, seeds)):
            places.setdefault(place, Counter())[key(each.right)] += 1
            known.setdefault(key(each.right), each.right)
    full = [counts for counts in places.values() if counts.total() == len(before)]
    assert all(len(counts) > 1 for counts in full), "an answer is the same at one place"
    order, posed = iter(range(10_000)), asked(exercise, last)

    def perform(calls: object) -> object:
        for _ in calls:  # type: ignore[attr-defined]
            place = next(order)
            counts = places.get(place) or places[0]
            answer = known[counts.most_common(1)[0][0]]
            yield outcome_of(answer, posed[min(place, len(posed) - 1)])

    assert judge(exercise, perform, last).score == 0.0  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("exercise", FEW, ids=named)
def test_no_table_of_some_seeds_earns_a_point_where_answers_are_few(exercise: Exercise) -> None:
    _no_table_earns(exercise, SEEDS[:SOME])


@pytest.mark.prove
@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_no_table_of_fifty_seeds_earns_a_point(exercise: Exercise) -> None:
    procedures = [each.case.procedure for each in pose(exercise, SEEDS[0])]
    if all(procedure and procedure.missed for procedure in procedures):
        pytest.skip("it is judged by what comes of an answer: none is right before it is read")
    _no_table_earns(exercise, SEEDS)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_each_claim_is_tried_before_anything_goes_wrong(exercise: Exercise) -> None:
    """Of a right answer no more is asked; a claim that was not tried would earn it nothing."""
    for seeds in SEEDS[:3]:
        drawn: Any = [
            SimpleNamespace(seed=of, case=case, kind=(case.claim, case.kind or case.note), turn=0)
            for of, case in generate(exercise, seeds)
        ]
        first, others = in_turn(drawn, seeds[0])
        assert sorted((*first, *others)) == list(range(len(drawn)))
        assert {drawn[at].case.claim for at in first} == {each.case.claim for each in drawn}
