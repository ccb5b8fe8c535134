"""What each kind of case rejects, and what nothing but it does: by this, cases are cut or stay.

`python -m tests.prove --kinds` asks all that we hold everything: wrong answers, the bank's formulas
and mutants of the solution. A line for each kind: how many it rejects, how many of these no other
kind of its claim does, its claim and what is said of it, and one that it alone rejects.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator

from attnlab.calling.call import Outcome, perform
from attnlab.calling.deadline import Deadline
from attnlab.checks.bank import bank
from attnlab.checks.compare import examine
from attnlab.checks.exercise import SEEDS, Exercise
from attnlab.checks.pose import Posed, pose
from tests.answers import Function, all_answers
from tests.mutants import defined, mutants
from tests.played import by_formula, can_be_played, outcome_of

SECONDS = 6.0  # for all cases of an answer; what takes longer tells nothing


def outcomes(function: Function, cases: Iterable[Posed]) -> Iterator[Outcome]:
    deadline = Deadline(SECONDS)
    for each in cases:
        yield perform(function, each.call, deadline)


def held(exercise: Exercise, cases: tuple[Posed, ...]) -> Iterator[tuple[str, Iterable[Outcome]]]:
    """All that is wrong, by its name, with what it makes of the cases."""
    for answer in all_answers(exercise.lesson):
        if answer.slug and answer.exercise == exercise.name:
            yield str(answer), outcomes(answer.function, cases)
    for mutant in mutants(exercise.lesson, exercise.name):
        if function := defined(mutant):
            yield mutant.change, outcomes(function, cases)
    if can_be_played(exercise):
        for mistake in bank(exercise):
            play = by_formula(mistake.answer)
            yield mistake.slug, (outcome_of(play(each), each) for each in cases)


def rejected(exercise: Exercise, seeds: tuple[int, ...] = SEEDS) -> dict[object, dict[str, bool]]:
    """For each kind, what it rejects, and whether it alone in its claim does."""
    cases = pose(exercise, seeds)
    found: dict[object, dict[str, bool]] = {each.kind: {} for each in cases}
    for at, (name, came) in enumerate(held(exercise, cases)):
        by_claim: dict[str, set[object]] = defaultdict(set)
        with contextlib.suppress(Exception):  # what is no function of these arguments
            for each, outcome in zip(cases, came, strict=False):
                tried = examine(each, outcome)
                if outcome.stopped:
                    by_claim.clear()
                    break
                if tried.difference or tried.mutation:
                    by_claim[each.case.claim].add(each.kind)
        for kinds in by_claim.values():
            for kind in kinds:
                found[kind][f"{name} ({at})"] = len(kinds) == 1
    return found


def table(exercise: Exercise) -> str:
    lines = [f"{exercise.lesson} {exercise.name}", f"{'rejects':>7} {'alone':>5}  kind"]
    for kind, names in rejected(exercise).items():
        alone = [name for name, only in names.items() if only]
        said = ", ".join(str(part) for part in kind if part not in (False, "[]"))  # type: ignore[attr-defined]
        lines.append(f"{len(names):7} {len(alone):5}  {said}  {alone[0] if alone else ''}".rstrip())
    return "\n".join(lines)
