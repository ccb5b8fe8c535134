"""One submission graded: each exercise gets what it deserves, whatever the others do."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from attnlab.calling.observe import ByName
from attnlab.checks.card import as_html, as_text
from attnlab.checks.pose import cases_of
from attnlab.checks.words import spoken, words
from attnlab.ipynb.read import Unreadable
from attnlab.lessons import exercises_of, lesson, slugs
from autograder import Disagree
from autograder.run.grade import Grader
from autograder.sandbox.limits import Limits
from autograder.submission.results import ExerciseResult, Graded, Result
from tests.course import SLUGS, released_path, solution_path, tells

pytestmark = pytest.mark.slow

SLUG = "01-soft-lookup"
TORCH = "06-causal-mask"
LIMITS = Limits(cell_seconds=1, call_seconds=1, grace_seconds=0.5)
WORTH = {"hard_lookup": 1.0, "softmax": 2.0, "soft_lookup": 3.0}


def grader_of(slug: str, seed: int = 7, limits: Limits = LIMITS) -> Grader:
    return Grader(slug, released_path(slug).read_text(encoding="utf-8"), seed, limits)


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with grader_of(SLUG) as grader:
        yield grader


@pytest.fixture(scope="module")
def torch_grader() -> Iterator[Grader]:
    with grader_of(TORCH, limits=Limits()) as grader:
        yield grader


def cells_of(slug: str, solved: bool) -> list[dict[str, Any]]:
    path = solution_path(slug) if solved else released_path(slug)
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        cell["source"] = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return cells


def name_of(cell: Mapping[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def notebook(
    changed: Mapping[str, str] | None = None,
    after: Mapping[str, str] | None = None,
    slug: str = SLUG,
) -> bytes:
    """The solution of a lesson.

    Args:
        changed: exercises with another answer.
        after: extra cells, by the name of the cell that they follow.
    """
    cells = []
    for cell in cells_of(slug, solved=True):
        name = name_of(cell)
        if name in (changed or {}):
            cell["source"] = (changed or {})[name]
        cells.append(cell)
        if name and name in (after or {}):
            extra: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": []}
            cells.append(extra | {"id": f"extra-{name}", "source": (after or {})[name]})
    return as_file(cells)


def as_file(cells: list[dict[str, Any]]) -> bytes:
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    return json.dumps(whole).encode()


def by_name(graded: Graded) -> dict[str, ExerciseResult]:
    return {exercise.name: exercise for exercise in graded.result.exercises}


def softmax(grader: Grader, source: str) -> ExerciseResult:
    """The result of one answer to softmax, where the others are right."""
    results = by_name(grader.grade(notebook({"softmax": source}), "s"))
    assert results["hard_lookup"].status == "PASS"
    return results["softmax"]


def untimed(result: Result) -> Result:
    exercises = tuple(replace(exercise, seconds=0.0) for exercise in result.exercises)
    return replace(result, exercises=exercises)


# every lesson -----------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", SLUGS)
def test_solution_gets_full_marks_and_the_released_notebook_none(slug: str) -> None:
    with grader_of(slug, limits=Limits()) as grader:
        right = grader.grade(notebook(slug=slug), "s").result
        untouched = grader.grade(released_path(slug).read_bytes(), "s").result
    assert {exercise.status for exercise in right.exercises} == {"PASS"}
    assert (right.score, right.status, right.repaired) == (right.max_score, "GRADED", ())
    assert {exercise.status for exercise in untouched.exercises} == {"MISSING"}
    assert (untouched.score, untouched.max_score) == (0.0, right.max_score)
    assert untouched.repaired == ()


def test_a_library_that_shows_a_model_is_neither_loaded_nor_missed() -> None:
    slug, name = "14-real-model", "without_heads"
    answer = (
        "from transformers import AutoModelForCausalLM\nfrom attnlab.small import measure\n"
        "def without_heads(out, heads):\n"
        "    return out * torch.tensor([float(h not in heads) for h in range(out.shape[2])])"
        "[:, None].to(out.dtype)\n"
    )
    cell = "import transformers\nprint(transformers.__name__, mine, written(theirs, 'the dogs'))"
    with grader_of(slug, limits=Limits()) as grader:
        graded = grader.grade(notebook({name: answer}, {"transcript": cell}, slug), "s")
    assert {exercise.status for exercise in graded.result.exercises} == {"PASS"}
    assert '"output_type": "error"' not in graded.notebook


# statuses ---------------------------------------------------------------------------------------

ANSWERS = {
    "def softmax(scores):\n    return scores": "FAIL",
    "def softmax(scores):\n    return [1 / len(scores)] * len(scores)": "FAIL",
    "def softmax(scores):\n    return None": "FAIL",
    "def softmax(scores):\n    raise RuntimeError('no')": "ERROR",
    "def softmax(scores):\n    raise SystemExit": "ERROR",
    "def softmax(scores):\n    print('x' * 100_000)": "ERROR",
    "print('x' * 2_000_000)\ndef softmax(scores): return scores": "FAIL",
    "1 / 0\ndef softmax(scores): pass": "ERROR",
    "def softmax(scores:": "ERROR",
    "def softmax(scores):\n    while True: pass": "TIMEOUT",
    "import itertools\ndef softmax(scores):\n    sum(itertools.repeat(0))": "TIMEOUT",
    "while True: pass\ndef softmax(scores): pass": "TIMEOUT",
    "import itertools\nsum(itertools.repeat(0))\ndef softmax(scores): pass": "TIMEOUT",
    "def softmax(scores):\n    return [0.0] * 10**11": "OOM",
    "x = bytearray(10**11)\ndef softmax(scores): pass": "OOM",
    "import os\ndef softmax(scores):\n    os._exit(0)": "CRASH",
    "import os\nos._exit(0)\ndef softmax(scores): pass": "CRASH",
    "import ctypes\ndef softmax(scores):\n    ctypes.string_at(0)": "CRASH",
    "import numpy\ndef softmax(scores):\n    return numpy.exp(scores)": "POLICY",
    "def softmax(scores):\n    import numpy\n    return scores": "POLICY",
    "def softmax(scores):\n    return __import__('numpy').exp(scores)": "POLICY",
    "def softmax(scores):\n    import pandas": "POLICY",
    "try:\n    import numpy as np\nexcept ImportError:\n    pass\n"
    "def softmax(scores):\n    return np.exp(scores)": "ERROR",
    "import maths\ndef softmax(scores): pass": "ERROR",
    "": "MISSING",
    "softmax = 5": "MISSING",
    "def softmax(scores):\n    raise NotImplementedError": "MISSING",
    "def soft_max(scores):\n    return scores": "MISSING",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_answer_has_its_status_and_no_points(grader: Grader, answer: str) -> None:
    result = softmax(grader, answer)
    assert result.status == ANSWERS[answer]
    assert result.score < WORTH["softmax"]
    assert result.message
    if result.status != "FAIL":
        assert result.score == 0.0


UNREAD = {
    "def softmax(scores)\n    return scores": ("no-colon", "line 1, at ▸: `def softmax(scores)▸`"),
    "def softmax(scores):\nreturn 1": ("nothing-indented", "line 2, at ▸: `▸return 1`"),
    "def softmax(scores):\n    return\0 1": ("null-character", "line 2, at ▸: `return▸␀ 1`"),
    "%%time\ndef softmax(scores:\n    pass": ("bracket-not-closed", "line 2, at ▸: `def softmax▸("),
}


@pytest.mark.parametrize("answer", UNREAD)
def test_an_answer_that_is_no_python_is_told_in_its_own_line(grader: Grader, answer: str) -> None:
    """And what calls it is told the same, and not that it has to run a cell."""
    slug, said = UNREAD[answer]
    results = by_name(grader.grade(notebook({"softmax": answer}), "s"))
    for name in ("softmax", "soft_lookup"):
        result = results[name]
        assert (result.status, result.score, result.diagnosis) == ("ERROR", 0.0, slug)
        assert tells(result.message, "no `softmax`", said)
        assert "compile" not in result.message
        assert "Run the cell" not in result.message


LEFT = 'raise NotImplementedError("This exercise is not written yet.")'


@pytest.mark.parametrize("place", ["above", "below"])
def test_a_raise_left_in_an_answer_is_told_with_its_line_wherever_it_costs(
    grader: Grader, place: str
) -> None:
    lines = ["def softmax(scores):", "    weights = scores", f"    {LEFT}", "    return weights"]
    if place == "below":
        lines = [lines[0], lines[1], "", lines[2]]
    results = by_name(grader.grade(notebook({"softmax": "\n".join(lines)}), "s"))
    number = lines.index(f"    {LEFT}") + 1
    there = f"stops at line {number} of its cell, the `raise` that it was handed out with."
    assert results["softmax"].status == "MISSING"
    assert results["softmax"].message.startswith(f"`softmax` {there} If your answer is written")
    assert f"`soft_lookup` calls `softmax`, which {there}" in results["soft_lookup"].message


@pytest.mark.parametrize(
    ("line", "library"),
    [
        ("from google.colab import drive", "google.colab"),
        ("import jaxtyping", "jaxtyping"),
        ("from jaxtyping import Float", "jaxtyping"),
        ("import maths.soft as soft", "maths.soft"),
    ],
)
def test_an_import_that_cannot_be_had_is_named_with_what_it_cost(
    grader: Grader, line: str, library: str
) -> None:
    """Also where it stands in a cell above, which gives what an answer uses."""
    own = f"def softmax(scores):\n    return [SMALL for score in scores]\n{line}"
    above = {"hard_lookup": f"{line}\nSMALL = 1e-9"}
    for graded in (
        grader.grade(notebook({"softmax": f"{line}\n{own}"}), "s"),
        grader.grade(notebook({"softmax": own.rpartition("\n")[0]}, above), "s"),
    ):
        results = by_name(graded)
        assert results["hard_lookup"].status == "PASS"
        assert results["softmax"].status == results["soft_lookup"].status == "ERROR"
        for name in ("softmax", "soft_lookup"):
            assert tells(results[name].message, f"`{line}`", f"no `{library}`")
        assert graded.result.message == (
            f"`{line}` ended its cell, as there is no `{library}` where answers are graded. That "
            "cost `softmax`, `soft_lookup`."
        )


@pytest.mark.parametrize("above", ["%time 1", "%matplotlib inline"])
def test_a_stub_below_a_magic_is_not_written_yet(grader: Grader, above: str) -> None:
    answer = f"{above}\ndef softmax(scores):\n    weights = 0\n    {LEFT}"
    results = by_name(grader.grade(notebook({"softmax": answer}), "s"))
    assert results["softmax"].status == "MISSING"


def test_an_import_that_costs_nothing_is_no_matter(grader: Grader) -> None:
    graded = grader.grade(notebook(after={"softmax": "import jaxtyping"}), "s")
    assert graded.result.message == ""
    assert graded.result.score == graded.result.max_score


def test_partly_right_answer_is_a_fail_with_points_and_a_diagnosis(grader: Grader) -> None:
    result = softmax(
        grader,
        "def softmax(scores):\n    exps = [math.exp(s) for s in scores]\n"
        "    return [e / sum(exps) for e in exps]",
    )
    assert result.status == "FAIL"
    assert 0 < result.score < WORTH["softmax"]
    assert result.diagnosis is not None
    why_and_what_to_try = spoken(" ".join(words(result.diagnosis, SLUG)), "pure")
    assert result.message.endswith(f". {why_and_what_to_try}")


BODY = (
    "    if not scores or max(scores) == -math.inf: raise ValueError\n"
    "    exps = [math.exp(s - max(scores)) for s in scores]\n"
    "    return [e / sum(exps) for e in exps]\n"
)
ALTERNATES = {
    "lambda": f"def mine(scores):\n{BODY}softmax = lambda scores: mine(scores)",
    "partial": f"from functools import partial\ndef mine(base, scores):\n{BODY}"
    "softmax = partial(mine, 2)",
    "callable object": "class Softmax:\n    def __call__(self, scores):\n"
    + BODY.replace("    ", "        ", 1).replace("\n    ", "\n        ")
    + "\nsoftmax = Softmax()",
    "decorated": "def quiet(f):\n    return lambda *a: f(*a)\n"
    f"@quiet\ndef softmax(scores):\n{BODY}",
    "cached": "from functools import cache\nexp = cache(math.exp)\n"
    + f"def softmax(scores):\n{BODY}".replace("math.exp", "exp"),
    "with magics": f"%matplotlib inline\n%time x = 1\ndef softmax(scores):\n{BODY}",
    "with a flood below it": f"def softmax(scores):\n{BODY}print('x' * 2_000_000)",
    "that prints": f"def softmax(scores):\n    print('called')\n{BODY}",
}


@pytest.mark.parametrize("how", ALTERNATES)
def test_right_answer_in_another_form_gets_full_marks(grader: Grader, how: str) -> None:
    result = softmax(grader, ALTERNATES[how])
    assert (result.status, result.score) == ("PASS", WORTH["softmax"]), result.message


# cells in order ---------------------------------------------------------------------------------


def test_redefinition_after_the_check_does_not_count(grader: Grader) -> None:
    graded = grader.grade(notebook(after={"softmax-check": "def softmax(s): return s"}), "s")
    assert by_name(graded)["softmax"].status == "PASS"


def test_redefinition_before_the_check_counts(grader: Grader) -> None:
    graded = grader.grade(notebook(after={"softmax": "def softmax(s): return s"}), "s")
    assert by_name(graded)["softmax"].status == "FAIL"


def test_helper_between_function_and_check_counts(grader: Grader) -> None:
    answer = {"softmax": "def softmax(scores):\n    return helper(scores)"}
    helper = f"def helper(scores):\n{BODY}"
    graded = grader.grade(notebook(answer, {"softmax": helper}), "s")
    assert by_name(graded)["softmax"].status == "PASS"
    late = by_name(grader.grade(notebook(answer, {"softmax-check": helper}), "s"))["softmax"]
    assert (late.status, late.score) == ("ERROR", 0.0)
    assert "helper" in late.message


def test_name_from_a_locked_cell_can_be_used(grader: Grader) -> None:
    answer = {"softmax": f"assert len(BOOKS) == 4\ndef softmax(scores):\n    BOOKS[0]\n{BODY}"}
    assert by_name(grader.grade(notebook(answer), "s"))["softmax"].status == "PASS"


def test_function_in_a_cell_of_ones_own_counts(grader: Grader) -> None:
    cells = [cell for cell in cells_of(SLUG, solved=True) if name_of(cell) != "softmax-check"]
    for cell in cells:
        if name_of(cell) == "softmax":
            cell["metadata"], cell["id"] = {}, "mine"
    graded = grader.grade(as_file(cells), "s")
    assert by_name(graded)["softmax"].status == "PASS"
    assert graded.result.repaired == (
        "softmax: solution cell is missing",
        "softmax-check: put back",
    )


def test_edited_check_changes_nothing_but_the_report(grader: Grader) -> None:
    cells = cells_of(SLUG, solved=False)
    for cell in cells:
        if name_of(cell) == "softmax-check":
            cell["source"] = "2.0"
    graded = grader.grade(as_file(cells), "s")
    assert graded.result.score == 0.0
    assert graded.result.repaired == ("softmax-check: source restored",)


def without(released: str) -> str:
    notebook = json.loads(released)
    cells = notebook["cells"]
    notebook["cells"] = [cell for cell in cells if not name_of(cell).startswith("soft_lookup")]
    return json.dumps(notebook)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"points": 3', '"points": 1'), "`soft_lookup` has 1 in the"),
        (without, "`soft_lookup` has none in the notebook, 3 in its check"),
        (
            lambda text: text.replace('"softmax-check"', '"essay"'),
            "`essay` has 2 in the",
        ),
    ],
    ids=["points", "one less", "another"],
)
def test_a_notebook_that_disagrees_with_its_checks_is_graded_for_nobody(
    change: Callable[[str], str], said: str
) -> None:
    released = released_path(SLUG).read_text(encoding="utf-8")
    assert change(released) != released
    with pytest.raises(
        Disagree, match=f"{SLUG} disagree, so nothing was graded: .*{said}"
    ) as found:
        Grader(SLUG, change(released), 7, LIMITS)
    assert found.value.points == WORTH
    sent = pickle.loads(pickle.dumps(found.value))
    assert (str(sent), sent.points) == (str(found.value), WORTH)


# one exercise and the others ----------------------------------------------------------------------

STUB = "\ndef hard_lookup(query, keys, values):\n    raise NotImplementedError\n"
HARM = {
    "process ended": "import os\nos._exit(0)",
    "process ended when called": "import os\ndef hard_lookup(query, keys, values): os._exit(0)",
    "process hung": "import itertools\nsum(itertools.repeat(0))",
    "process hung when called": "import itertools\ndef hard_lookup(query, keys, values):\n"
    "    sum(itertools.repeat(0))",
    "memory kept": "hoard = []\ndef hard_lookup(query, keys, values):\n"
    "    while True: hoard.append(bytearray(10**8))",
    "output closed": "import sys\nsys.stdout = None\nsys.stderr = None" + STUB,
    "cell too long": "#" * 200_001 + STUB,
    "too many statements": "0\n" * 6000 + STUB,
}


@pytest.mark.parametrize("how", HARM)
def test_harm_done_by_one_exercise_costs_that_one_alone(grader: Grader, how: str) -> None:
    results = by_name(grader.grade(notebook({"hard_lookup": HARM[how]}), "s"))
    assert results["hard_lookup"].score == 0.0
    assert results["hard_lookup"].status not in ("PASS", "POLICY")
    for other in ("softmax", "soft_lookup"):
        assert (results[other].status, results[other].score) == ("PASS", WORTH[other])


def test_a_flood_of_output_is_cut_and_costs_no_points() -> None:
    flood = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "print('\\x01' * 5000)"}
    many = [flood | {"id": f"flood-{number}"} for number in range(20)]
    dies = flood | {"id": "dies", "source": "import os; os._exit(1)"}  # and all are run again
    with grader_of(SLUG, limits=replace(LIMITS, output_bytes=200_000)) as grader:
        bare = grader.grade(notebook(), "s")
        graded = grader.grade(as_file([*many, dies, *cells_of(SLUG, solved=True), *many]), "s")
    assert graded.result.score == graded.result.max_score
    assert graded.notebook.count("cut here: no more than") == 1
    assert 150_000 < len(graded.notebook) - len(bare.notebook) < 215_000, "with 41 cells' own bytes"


def test_harm_done_by_an_extra_cell_costs_nothing(grader: Grader) -> None:
    harm = "import os\nos._exit(0)"
    assert grader.grade(notebook(after={"setup": harm}), "s").result.score == sum(WORTH.values())


def test_locked_cells_that_fail_without_an_answer_fail_no_one(grader: Grader) -> None:
    uses = {"soft_lookup-check": "print(answer, soft_salt([1, 2]))"}
    graded = grader.grade(notebook({"hard_lookup": ""}, uses), "s")
    assert by_name(graded)["soft_lookup"].status == "PASS"
    for cell in json.loads(graded.notebook)["cells"]:
        errors = [out for out in cell.get("outputs", ()) if out["output_type"] == "error"]
        assert not errors or not name_of(cell)


# what is told -----------------------------------------------------------------------------------


def test_same_seed_gives_the_same_result_and_notebook(grader: Grader) -> None:
    data = notebook({"softmax": "def softmax(scores):\n    return scores"})
    one = grader.grade(data, "s")
    two = grader.grade(data, "s")
    with grader_of(SLUG) as another:
        three = another.grade(data, "s")
    assert untimed(one.result) == untimed(two.result) == untimed(three.result)
    assert one.notebook == two.notebook == three.notebook


def test_another_seed_draws_other_cases(grader: Grader) -> None:
    data = notebook({"softmax": "def softmax(scores):\n    return scores"})
    with grader_of(SLUG, seed=8) as another:
        results = [by_name(one.grade(data, "s"))["softmax"] for one in (grader, another)]
    assert results[0].message != results[1].message
    assert {result.status for result in results} == {"FAIL"}


@pytest.mark.parametrize(
    "answer",
    [
        "def softmax(scores):\n    return scores",
        "def softmax(scores):\n    return [float('nan')] * len(scores)",
        "def softmax(scores):\n    return [0.5] * len(scores)",
        "def softmax(scores):\n    return scores[1:]",
    ],
)
def test_no_right_number_is_told(grader: Grader, answer: str) -> None:
    graded = grader.grade(notebook({"softmax": answer}), "s")
    card = graded.cards["softmax"]
    for text in (card.message, as_text(card), as_html(card), graded.notebook):
        assert not re.search(r"should be -?[0-9]", text)
    assert "differ, by up to" not in graded.notebook
    assert card.inputs == {}


def test_addresses_are_masked(grader: Grader) -> None:
    for source in ("raise ValueError(object())", "print(object())\n    return [object()]"):
        graded = grader.grade(notebook({"softmax": f"def softmax(scores):\n    {source}"}), "s")
        for text in (by_name(graded)["softmax"].message, as_text(graded.cards["softmax"])):
            assert not re.search("0x[0-9a-f]{4}", text)
    raised = softmax(grader, "raise ValueError(object())\ndef softmax(s): pass")
    assert "0x…" in raised.message


def test_autograded_notebook_has_cards_and_what_cells_did(grader: Grader) -> None:
    extra = {"softmax-check": "print('mine')\n1 / 0"}
    graded = grader.grade(notebook({"hard_lookup": ""}, extra), "s")
    cells = json.loads(graded.notebook)["cells"]
    outputs = {name_of(cell) or cell["id"]: cell.get("outputs", []) for cell in cells}
    assert outputs["softmax-check"][0]["data"]["text/plain"] == "2.0"
    assert "softmax: right" in outputs["softmax-check"][0]["data"]["text/html"]
    assert outputs["hard_lookup-check"][0]["data"]["text/plain"] == "0.0"
    printed, error = outputs["extra-softmax-check"]
    assert (printed["text"], error["ename"]) == ("mine\n", "ZeroDivisionError")


def test_invalid_submission_has_a_reason_and_no_exercises(grader: Grader) -> None:
    for data, said in ((b"{}", "not a notebook"), (Unreadable("It is a link."), "a link")):
        graded = grader.grade(data, "s")
        result = graded.result
        assert (result.status, result.score, result.exercises) == ("INVALID", 0.0, ())
        assert result.max_score == sum(WORTH.values())
        assert said in result.message
        assert graded.notebook == ""


def test_result_has_the_fields_of_a_line_of_json_in_their_order(grader: Grader) -> None:
    line = grader.grade(notebook(), "s").result.as_json()
    assert json.loads(json.dumps(line)) == line
    assert list(line) == [
        "student", "lesson", "status", "message", "score", "max_score", "repaired", "flags",
        "exercises",
    ]  # fmt: skip
    assert list(line["exercises"][0]) == [
        "name", "status", "score", "max_score", "diagnosis", "message", "seconds",
    ]  # fmt: skip


# PyTorch ----------------------------------------------------------------------------------------


def test_a_slip_in_an_import_that_the_stage_allows_is_no_offence(torch_grader: Grader) -> None:
    slip = "import torch.nn.functionnal as F\ndef causal_mask(n, device=None): pass"
    inside = "def padding_mask(lengths, max_len):\n    import numpy.linag"
    answers = {"causal_mask": slip, "padding_mask": inside}
    found = by_name(torch_grader.grade(notebook(answers, slug=TORCH), "s"))
    for name, module in (("causal_mask", "torch.nn.functionnal"), ("padding_mask", "numpy.linag")):
        assert found[name].status == "ERROR"
        assert f"No module named '{module}'" in found[name].message


def test_the_compiler_is_loaded_before_a_call_needs_it(torch_grader: Grader) -> None:
    """By the first optimizer, by the first operator on the meta device; and where one grades."""
    for slug in slugs():
        needs = any(
            case.laid == "meta" or any(map(makes_an_optimizer, case.args))
            for exercise in exercises_of(slug).values()
            for case in cases_of(exercise, 20)
        )
        assert needs == ("torch._dynamo" in lesson(slug).loads), slug
    loaded = "import sys\nassert 'torch._dynamo' in sys.modules\n"
    data = notebook({"attention": loaded + written("attention")}, slug=TORCH)
    assert by_name(torch_grader.grade(data, "s"))["attention"].status == "PASS"


def makes_an_optimizer(arg: object) -> bool:
    ours = [f"training.{name}" for name in ("sgd", "momentum", "adam")]
    return isinstance(arg, ByName) and arg.name in ours


def written(name: str, slug: str = TORCH) -> str:
    [source] = (cell["source"] for cell in cells_of(slug, solved=True) if name_of(cell) == name)
    return str(source)


@pytest.mark.parametrize(
    "source",
    [
        "{}\nattention = torch.compile(attention)",
        "from tqdm import tqdm, trange\n{}\nwith tqdm(total=3) as bar: bar.update(len(trange(3)))",
        "from tqdm.auto import tqdm\n{}\nassert list(tqdm([1, 2], desc='a')) == [1, 2]",
        "import math\nhelp(math.exp)\n{}",
        "{}\nhelp(attention)\nhelp(torch.softmax)",
    ],
)
def test_a_compiler_a_progress_bar_and_help_cost_nothing(torch_grader: Grader, source: str) -> None:
    changed = {"attention": source.format(written("attention"))}
    result = torch_grader.grade(notebook(changed, slug=TORCH), "s").result
    assert (result.score, result.flags) == (result.max_score, ())


@pytest.mark.parametrize("source", ["import rich\n{}", "{0}\ndef attention(*given): import rich"])
def test_a_package_that_is_not_there_says_how_to_go_on(torch_grader: Grader, source: str) -> None:
    changed = {"attention": source.format(written("attention"))}
    found = by_name(torch_grader.grade(notebook(changed, slug=TORCH), "s"))["attention"]
    assert found.status == "ERROR"
    assert "No module named 'rich'" in found.message
    assert "Leave that import out" in found.message


def test_a_cell_that_ran_and_could_not_be_read_is_flagged(torch_grader: Grader) -> None:
    odd = {"attention": "/print 1", "causal_mask": "def f(:", "padding_mask": "%time 1"}
    result = torch_grader.grade(notebook(None, odd, TORCH), "s").result
    assert result.score == result.max_score
    [flag] = result.flags
    assert re.fullmatch(r"cell \d+ ran and could not be read", flag)


def test_no_other_language_of_a_notebook_is_flagged(torch_grader: Grader) -> None:
    odd = {
        "attention": "files = !ls\n!pwd",
        "causal_mask": "%%bash\nfor f in *; do echo $f; done",
        "padding_mask": "%%html\n<p>The mask.</p>",
    }
    result = torch_grader.grade(notebook(None, odd, TORCH), "s").result
    assert (result.score, result.flags) == (result.max_score, ())


def test_a_name_of_the_short_list_is_flagged_and_costs_nothing(torch_grader: Grader) -> None:
    odd = {
        "attention": "import sys\nframe = sys._getframe",
        "padding_mask": "frame = getattr(sys, chr(95) + 'getframe')",  # all it takes
    }
    result = torch_grader.grade(notebook(None, odd, TORCH), "s").result
    assert result.score == result.max_score
    [flag] = result.flags
    assert re.fullmatch(r"cell \d+ names _getframe", flag)


def test_a_comparison_in_a_cell_of_ones_own_is_not_flagged(torch_grader: Grader) -> None:
    source = (
        "x, W = torch.rand(1, 3, 4), torch.eye(4)\n"
        "want = F.scaled_dot_product_attention(x, x, x, is_causal=True)\n"
        "print((attention(x, W, W, W)[0] - want).abs().max())"
    )
    result = torch_grader.grade(notebook(None, {"attention": source}, TORCH), "s").result
    assert (result.score, result.flags) == (result.max_score, ())


def test_a_set_has_the_same_order_in_every_process() -> None:
    """Two zygotes, one after the other, as of two runs."""
    source = (
        "def softmax(scores):\n    raise RuntimeError(' '.join({'tides', 'moss', 'glass', 'owls'}))"
    )
    messages = set()
    for _ in range(3):
        with grader_of(SLUG) as grader:
            messages.add(softmax(grader, source).message)
    assert len(messages) == 1


def test_an_answer_below_its_check_is_told_so(grader: Grader) -> None:
    moved = {"softmax": "# moved to the end"}
    late = {"softmax-check": "def softmax(scores):\n    return scores"}
    result = by_name(grader.grade(notebook(moved, after=late), "s"))["softmax"]
    assert (result.status, result.message) == (
        "MISSING",
        "There is no `softmax` in the cells above its check.",
    )
