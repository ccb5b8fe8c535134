"""Solutions with one thing changed are rejected: every fifth here, all by `make prove`."""

from __future__ import annotations

import pytest

from attnlab.checks.exercise import SEEDS
from attnlab.lessons import exercises_of, slugs
from tests.mutants import judged, mutants, reviewed, survives
from tests.readme import README, of_mutants, replaced

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


def test_every_review_is_of_a_mutant_and_gives_its_reason() -> None:
    made = {str(mutant) for home in HOMES for mutant in mutants(*home)}
    assert not set(reviewed()) - made
    assert all(reviewed().values())


@pytest.mark.lessons(*slugs())
def test_readme_states_how_many_there_are() -> None:
    text = README.read_text(encoding="utf-8")
    assert replaced(text, "mutants", of_mutants()) == text, "make readme"
