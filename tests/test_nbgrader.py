"""A class of three through nbgrader's own commands: untouched, wrong in a named way, all right."""

from __future__ import annotations

import csv
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from attnlab.lessons import exercises_of
from tests.course import (
    SLUGS,
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
STUDENTS = ("right", "untouched", "wrong")

# One mistake a lesson, as a learner would make it: exercise, the mistake's name, the code.
WRONG = {
    "01-soft-lookup": (
        "softmax",
        "unstable-softmax",
        """
def softmax(scores):
    if not scores or max(scores) == -math.inf:
        raise ValueError("no scores")
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]
""",
    ),
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
    "04-scaling": (
        "entropy",
        "zero-log-zero",
        """
def entropy(p, axis=-1):
    return -(p * np.log(p)).sum(axis)
""",
    ),
    "05-pytorch": (
        "scaled_dot_product_attention",
        "float-mask-as-bool",
        """
def scaled_dot_product_attention(q, k, v, attn_mask=None):
    scores = q @ k.mT / k.shape[-1] ** 0.5
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask.bool(), -torch.inf)
    weights = torch.softmax(scores, -1).nan_to_num()
    return weights @ v, weights
""",
    ),
    "06-causal-mask": (
        "attention",
        "no-scale + mask-after-softmax",
        """
def attention(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    weights = F.softmax(q @ k.mT, -1).tril()
    return weights @ v, weights
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
    run("nbgrader", "generate_assignment", "--assignment=[0-9]*", cwd=course)
    for slug in SLUGS:
        written = {
            "right": right_notebook(slug),
            "untouched": read(released_path(slug)),
            "wrong": wrong_notebook(slug),
        }
        for student, notebook in written.items():
            path = course / "class" / "submitted" / student / slug / f"{slug}.ipynb"
            path.parent.mkdir(parents=True)
            nbformat.write(notebook, path)
        run("nbgrader", "autograde", slug, cwd=course)
    return course


@pytest.fixture(scope="module")
def scores(graded: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """Score and maximum by student and lesson, from `nbgrader export`."""
    run("nbgrader", "export", "--to=grades.csv", cwd=graded)
    with open(graded / "grades.csv", encoding="utf-8", newline="") as file:
        return {
            (row["student_id"], row["assignment"]): (float(row["score"]), float(row["max_score"]))
            for row in csv.DictReader(file)
        }


Scores = dict[tuple[str, str], tuple[float, float]]


def points(slug: str) -> float:
    return sum(exercise.points for exercise in exercises_of(slug).values())


def test_every_student_has_a_score_for_every_lesson(scores: Scores) -> None:
    assert set(scores) == {(student, slug) for student in STUDENTS for slug in SLUGS}


@pytest.mark.parametrize("slug", SLUGS)
def test_right_answers_get_all_points(scores: Scores, slug: str) -> None:
    assert scores["right", slug] == (points(slug), points(slug))


@pytest.mark.parametrize("slug", SLUGS)
def test_an_untouched_notebook_gets_none(scores: Scores, slug: str) -> None:
    assert scores["untouched", slug] == (0, points(slug))


def test_some_credit_is_partial(scores: Scores) -> None:
    assert any(0 < score < most for score, most in scores.values())


@pytest.mark.parametrize("slug", SLUGS)
def test_a_mistake_is_named_and_costs_points(graded: Path, scores: Scores, slug: str) -> None:
    name, mistake, _ = WRONG[slug]
    path = graded / "class" / "autograded" / "wrong" / slug / f"{slug}.ipynb"
    cards = {grading(cell).grade_id: cell for cell in code_cells(read(path)) if is_check(cell)}
    [output] = cards[f"{name}-check"].outputs
    assert mistake in output.data["text/html"]
    assert 0 <= float(output.data["text/plain"]) < exercises_of(slug)[name].points
    score, most = scores["wrong", slug]
    assert 0 < score < most


@pytest.mark.parametrize("slug", SLUGS)
def test_solutions_validate(graded: Path, slug: str) -> None:
    said = run("nbgrader", "validate", f"solutions/{slug}/{slug}.ipynb", cwd=graded)
    assert said.startswith("Success!")
