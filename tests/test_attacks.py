"""The hostile class: no attack earns points, costs somebody else's, survives, or leaves a trace."""

from __future__ import annotations

import sys

import pytest

from tests.attacks import Attack, catalogue
from tests.attacks.hostile_class import Run, run
from tests.attacks.judged import lost, problems
from tests.course import fail_for

pytestmark = pytest.mark.slow
CATALOGUE = catalogue()
# Each family, and the one of it that `make test` tries. `make prove` tries all.
FAMILIES = {
    "claims": "closure-looked-into",
    "damages": "time-bomb",
    "exits": "os-exit-in-a-call",
    "files": "link-to-the-solution",
    "floods": "fork-bomb",
    "forgery": "on-every-descriptor",
    "fused": "below-dispatch",
    "hooks": "replaced-check",
    "lies": "patched-comparisons",
    "loops": "in-a-call",
    "network": "loopback",
    "notebook": "deleted-checks",
    "notes": "lock-on-a-stream",
    "reading": "solutions",
    "stages": "numpy-in-a-pure-lesson",
}
FEW = [attack for attack in CATALOGUE if FAMILIES.get(attack.family) == attack.name]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(FEW, id="one of each family"),
        pytest.param(CATALOGUE, id="all", marks=pytest.mark.prove),
    ],
)
def tried(request: pytest.FixtureRequest) -> list[Attack]:
    return list(request.param)


@pytest.fixture(scope="module")
def done(tried: list[Attack], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The whole class, graded once."""
    if sys.platform != "linux":
        pytest.skip("learners' code is isolated on Linux alone")
    from autograder.sandbox.limits import Limits
    from autograder.sandbox.sandbox import IsolationError, Sandbox

    try:
        Sandbox("pure", Limits()).close()
    except IsolationError as error:
        pytest.skip(str(error))
    jobs = 1 if tried == FEW else 2  # a second one would mostly start
    return run(tried, tmp_path_factory.mktemp("hostile"), jobs)


def test_every_family_has_attacks_of_different_names() -> None:
    assert {attack.family for attack in CATALOGUE} == FAMILIES.keys()
    assert len({attack.name for attack in CATALOGUE}) == len(CATALOGUE) >= 50
    assert [attack.family for attack in FEW] == sorted(FAMILIES)


def test_an_attack_gets_what_it_deserves_and_costs_no_other_exercise(
    done: Run, tried: list[Attack]
) -> None:
    told = ((attack, problems(attack, done)) for attack in tried)
    fail_for(f"{attack}: {'; '.join(wrong)}" for attack, wrong in told if wrong)


def test_every_lesson_is_graded_to_the_end(done: Run) -> None:
    assert done.failed == []


def test_honest_students_among_attackers_keep_all_their_points(done: Run) -> None:
    assert done.honest
    assert [lost(result) for result in done.honest if lost(result)] == []


def test_no_process_survives(done: Run) -> None:
    assert done.survivors == []


def test_no_file_is_left_behind(done: Run) -> None:
    assert done.left == []


def test_nothing_of_the_course_is_changed(done: Run) -> None:
    assert done.changed == []


def test_nobody_is_called_over_the_network(done: Run) -> None:
    assert done.callers == 0
