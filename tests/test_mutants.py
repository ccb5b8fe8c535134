"""Solutions with one thing changed are rejected: every fifth here, all by `make prove`."""

from __future__ import annotations

import pytest

from attnlab.checks.exercise import SEEDS
from attnlab.lessons import exercises_of, slugs
from tests.mutants import judged, mutants, reviewed, survives

HOMES = [(slug, name) for slug in slugs() for name in exercises_of(slug)]
EVERY = 5


# A mutant that never ends is interrupted wherever it is, in what ends an object too.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "exercise"), HOMES, ids=map("-".join, HOMES))
def test_mutants_are_rejected_or_reviewed(lesson: str, exercise: str) -> None:
    some = list(mutants(lesson, exercise))[::EVERY]
    assert some
    known = reviewed()
    assert [
        str(each) for each in some if survives(judged(each, SEEDS)) and str(each) not in known
    ] == []


@pytest.mark.slow
def test_every_review_is_of_a_mutant_and_gives_its_reason() -> None:
    homes = {tuple(name.partition(":")[0].split()) for name in reviewed()}
    made = {str(mutant) for home in homes & set(HOMES) for mutant in mutants(*home)}
    assert not set(reviewed()) - made
    assert all(reviewed().values())
