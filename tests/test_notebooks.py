"""Released notebooks run from top to bottom: what needs an exercise says which, and goes on.

The solutions themselves are run by nbval against their stored outputs.
"""

from __future__ import annotations

import re

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from attnlab.lessons import exercises_of
from tests.course import (
    SHORT,
    SLUGS,
    code_cells,
    grading,
    is_check,
    read,
    released_path,
    solution_path,
)

pytestmark = pytest.mark.slow

CELL_SECONDS = 120
# What is trained and measured at length is so where nbval runs it.
QUICK = {"range(400)": "range(4)", "seconds=5.0": "seconds=0.1"}


@pytest.fixture(scope="module", params=SLUGS)
def untouched(request: pytest.FixtureRequest) -> tuple[str, NotebookNode]:
    """A lesson, and its released notebook after all cells were run."""
    slug = request.param
    notebook = read(released_path(slug))
    for cell in code_cells(notebook):
        for long, quick in QUICK.items():
            cell.source = cell.source.replace(long, quick)
    if slug in SHORT:
        notebook.cells.insert(0, new_code_cell(SHORT[slug]))
    NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(released_path(slug).parent)}},
    ).execute()
    return slug, notebook


Untouched = tuple[str, NotebookNode]


def test_an_empty_lesson_runs_to_its_end(untouched: Untouched) -> None:
    """No cell stops it: what needs an exercise says which in one line, and all else runs."""
    slug, notebook = untouched
    errors = [
        (cell.source, output.ename, output.evalue)
        for cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "error"
    ]
    assert errors == []
    needed = re.findall(
        r"^This cell needs `(\w+)`, which is not written yet\.",
        "\n".join(
            output.text
            for cell in code_cells(notebook)
            for output in cell.outputs
            if output.output_type == "stream"
        ),
        re.MULTILINE,
    )
    assert set(needed) <= set(exercises_of(slug))
    assert needed


def test_each_check_says_that_the_exercise_is_not_written_yet(untouched: Untouched) -> None:
    slug, notebook = untouched
    checks = [cell for cell in code_cells(notebook) if is_check(cell)]
    assert len(checks) == len(exercises_of(slug))
    for cell in checks:
        [output] = cell.outputs
        name = grading(cell).grade_id.removesuffix("-check")
        assert float(output.data["text/plain"]) == 0
        assert f"{name}: not written yet" in output.data["text/html"]


def test_nothing_goes_to_stderr(untouched: Untouched) -> None:
    _, notebook = untouched  # nbgrader gives no points to a check that writes to stderr
    for cell in code_cells(notebook):
        assert all(output.get("name") != "stderr" for output in cell.outputs), cell.source


@pytest.mark.parametrize("slug", SLUGS)
def test_every_check_of_a_solution_is_stored_with_all_points(slug: str) -> None:
    """Where a check breaks, a run agrees with itself, and nbval sees nothing."""
    checks = [cell for cell in code_cells(read(solution_path(slug))) if is_check(cell)]
    shown = {
        grading(cell).grade_id: [output.data["text/plain"] for output in cell.outputs][-1:]
        for cell in checks
    }
    assert shown == {grading(cell).grade_id: [f"{grading(cell).points:.1f}"] for cell in checks}
