"""The image for CI: a checkout in which `make test` runs without a network, not as root."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.deploy import containers

pytestmark = pytest.mark.deploy
LESSON = "01-soft-lookup"


def test_ci_runs_the_quick_tests_of_a_lesson(note: Callable[[str], None]) -> None:
    if lacking := containers.lacking():
        pytest.skip(f"needs {lacking}")
    containers.make_base()
    image = containers.target("ci")
    told = containers.run(
        image,
        *("make", "test", f"LESSON={LESSON}", "FAST=1", "ARGS=-n 1 -q"),
        flags=("--shm-size", "512m", "--security-opt", "seccomp=unconfined"),
    )
    note(f"{containers.size(image)}; make test LESSON={LESSON} FAST=1: {told.splitlines()[-1]}")
    assert " passed" in told.splitlines()[-1]
