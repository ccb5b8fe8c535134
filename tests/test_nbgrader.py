"""A class of three through nbgrader's own commands: untouched, wrong in a named way, all right.

For one lesson. That others are scored alike is in `test_honest_class.py`, what their checks say in
`test_answers.py` and `test_notebooks.py`.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from attnlab.lessons import exercises_of
from tests import gradebooks
from tests.course import (
    code_cells,
    copy_to,
    grading,
    is_check,
    is_exercise,
    read,
    released_path,
    run,
    solution_path,
)

pytestmark = pytest.mark.slow
LESSON = "03-numpy"

# A mistake as a learner would make it: exercise, the mistake's name, the code. For the two lessons
# that tests of whole runs hand in, here, in `test_dask` and `test_resume`; another needs none.
WRONG = {
    "02-pure-python": (
        "attention_weights",
        "no-scale",
        """
def attention_weights(Q, K):
    return softmax_rows(matmul(Q, transpose(K)))
""",
    ),
    "03-numpy": (
        "scaled_dot_product_attention",
        "mask-inverted",
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    top = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(top), 0.0, top))
    total = weights.sum(-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return weights @ V, weights
""",
    ),
}


def wrong_notebook(slug: str) -> NotebookNode:
    """Right but for one exercise, and for those that build on it."""
    name, _, source = WRONG[slug]
    notebook = right_notebook(slug)
    [cell] = [
        cell for cell in notebook.cells if is_exercise(cell) and grading(cell).grade_id == name
    ]
    cell.source = source.strip()
    return notebook


def right_notebook(slug: str) -> NotebookNode:
    """The release, with the solutions typed in."""
    notebook = read(released_path(slug))
    solved = {
        grading(cell).grade_id: cell.source
        for cell in filter(is_exercise, read(solution_path(slug)).cells)
    }
    for cell in filter(is_exercise, notebook.cells):
        cell.source = solved[grading(cell).grade_id]
    return notebook


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course with three students, autograded."""
    course = copy_to(tmp_path_factory.mktemp("class"))
    run("nbgrader", "generate_assignment", LESSON, cwd=course)
    written = {
        "right": right_notebook(LESSON),
        "untouched": read(released_path(LESSON)),
        "wrong": wrong_notebook(LESSON),
    }
    for student, notebook in written.items():
        path = course / "class" / "submitted" / student / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    run("nbgrader", "autograde", LESSON, cwd=course)
    return course


def test_right_answers_get_all_points_an_untouched_notebook_none_and_a_wrong_one_some(
    graded: Path,
) -> None:
    points = sum(exercise.points for exercise in exercises_of(LESSON).values())
    with gradebooks.open_book(graded) as gradebook:
        rows = gradebook.student_dicts()
    earned = {row["id"]: row["score"] for row in rows}
    assert earned == {"right": points, "untouched": 0, "wrong": earned["wrong"]}
    assert 0 < earned["wrong"] < points
    assert {row["max_score"] for row in rows} == {points}


def test_a_mistake_is_named_and_costs_points(graded: Path) -> None:
    name, mistake, _ = WRONG[LESSON]
    path = graded / "class" / "autograded" / "wrong" / LESSON / f"{LESSON}.ipynb"
    cards = {grading(cell).grade_id: cell for cell in code_cells(read(path)) if is_check(cell)}
    [output] = cards[f"{name}-check"].outputs
    assert mistake in output.data["text/html"]
    assert 0 <= float(output.data["text/plain"]) < exercises_of(LESSON)[name].points
