"""A check in a running notebook: which cell its function came from, and what it calls."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from tests.course import ROOT, tells
from tests.test_grade import by_name, grader_of, notebook

pytestmark = pytest.mark.slow  # a kernel
LESSON = "02-pure-python"
RIGHT = """
import math

def softmax_rows(S):
    shifted = [[math.exp(s - max(row)) for s in row] for row in S]
    return [[e / sum(row) for e in row] for row in shifted]
"""
WRONG = RIGHT.replace("e / sum(row)", "e")
CALLER = """
def matmul(A, B):
    if len(A[0]) != len(B):
        raise ValueError
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]

def attention_weights(Q, K):
    scores = matmul(Q, [list(column) for column in zip(*K)])
    return softmax_rows([[s / len(K[0]) ** 0.5 for s in row] for row in scores])
"""
CELLS = {
    "begin": f'from attnlab import begin, check\nbegin("{LESSON}")',
    "right": RIGHT,
    "check of right": "check(softmax_rows)",
    "a syntax error": "def softmax_rows(S:\n    return S",
    "check after it": "check(softmax_rows)",
    "right again": RIGHT,
    "check again": "check(softmax_rows)",
    "a name of nothing": "import numppy\n\ndef softmax_rows(S):\n    return S",
    "check after that": "check(softmax_rows)",
    "wrong": WRONG,
    "check of wrong": "check(softmax_rows)",
    "caller": CALLER,
    "check of caller": "check(attention_weights)",
    "mended": "_right = " + repr(RIGHT) + "\nexec(_right)",
    "check of made from text": "check(attention_weights)",
}


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What each cell showed, as text."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, allow_errors=True, resources=_HERE).execute()
    shown = {}
    for name, cell in zip(CELLS, notebook.cells, strict=True):
        data = [output.get("data", {}) for output in cell.outputs]
        shown[name] = "\n".join(part.get("text/html", "") for part in data)
    return shown


_HERE = {"metadata": {"path": str(ROOT)}}


@pytest.mark.parametrize("name", ["check of right", "check again"])
def test_an_answer_of_the_newest_cell_is_judged_without_a_word(
    said: dict[str, str], name: str
) -> None:
    assert "right" in said[name]
    assert "older" not in said[name]


def test_an_answer_of_an_older_cell_is_called_that(said: dict[str, str]) -> None:
    assert tells(said["check after that"], "newest cell", "softmax_rows", "stopped")


def test_of_a_cell_that_is_no_python_the_line_is_told_and_the_older_answer_is_not_judged(
    said: dict[str, str],
) -> None:
    card = said["check after it"]
    assert tells(card, "Nothing was checked", "softmax_rows", "def softmax_rows▸(S:")
    assert "bracket-not-closed" in card
    assert "claims" not in card


def test_what_a_wrong_answer_calls_is_blamed_first(said: dict[str, str]) -> None:
    assert "First" not in said["check of wrong"]
    assert tells(said["check of caller"], "softmax_rows", "fails its own check")


def test_a_function_made_from_text_is_neither_old_nor_to_blame(said: dict[str, str]) -> None:
    assert "First" not in said["check of made from text"]
    assert "right" in said["check of made from text"]


def test_the_grader_blames_what_an_exercise_calls_too() -> None:
    answers = {"softmax_rows": WRONG, "attention_weights": CALLER.partition("\n\n")[2]}
    with grader_of(LESSON) as grader:
        results = by_name(grader.grade(notebook(answers, slug=LESSON), "s"))
    caller = results["attention_weights"]
    assert caller.status == "FAIL"
    assert caller.message.startswith("This calls `softmax_rows`, which fails its own check")
    assert "calls `softmax_rows`" in results["self_attention"].message
    assert "This calls" not in results["softmax_rows"].message
