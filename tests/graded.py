"""Submissions as the grader hands them over to be recorded, without running a grader."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnlab.calling.observe import Scalar
from attnlab.checks import card
from attnlab.checks.verdict import Diagnosis, Line, Verdict
from attnlab.ipynb.read import read
from attnlab.lessons import exercises_of
from autograder.pages.report import written_in
from autograder.submission.results import ExerciseResult, Graded, Result
from tests import gradebooks
from tests.course import ROOT, released_path

LESSON = "06-causal-mask"
MOST = sum(exercise.points for exercise in exercises_of(LESSON).values())


def make_course(folder: Path, *lessons: str) -> Path:
    """A course's folder with released lessons, and no gradebook yet."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    gradebooks.configure(folder)
    for lesson in lessons or (LESSON,):
        shutil.copytree(ROOT / "notebooks" / lesson, folder / "notebooks" / lesson)
    return folder


def verdict(name: str, status: str, score: float, worth: float, **said: Any) -> Verdict:
    """What a check found, with a line that holds and, unless it passed, one that does not."""
    lines = [Line("it has the right shape", True, score, worth / 2)]
    if status not in ("PASS", "MISSING"):
        lines.append(Line("it agrees with PyTorch", False, 0.0, worth / 2))
        said.setdefault("message", "entry [0, 1] is 0.5 too large")
        said.setdefault("diagnosis", Diagnosis("no-scale", "No √d.", "Divide by `sqrt(d_k)`."))
    said.setdefault("inputs", {"n": Scalar("int", 4)})
    return Verdict(name, LESSON, status, score, worth, tuple(lines), read="The causal mask", **said)


def grade(
    student: str,
    statuses: Mapping[str, str] | None = None,
    scores: Mapping[str, float] | None = None,
    lesson: str = LESSON,
    verdicts: Mapping[str, Verdict] | None = None,
    code: Mapping[str, str] | None = None,
    repaired: tuple[str, ...] = (),
) -> Graded:
    """A graded submission.

    Args:
        statuses: of exercises that are no PASS.
        scores: of those that earned something else than all for a PASS, nothing otherwise.
        verdicts: shown instead of the usual ones.
        code: what the student wrote, by exercise; the stub for a MISSING one.
    """
    statuses, scores = statuses or {}, scores or {}
    results, cards = [], {}
    for name, exercise in exercises_of(lesson).items():
        status = statuses.get(name, "PASS")
        score = scores.get(name, exercise.points if status == "PASS" else 0.0)
        shown = (verdicts or {}).get(name) or verdict(name, status, score, exercise.points)
        cards[name] = shown
        slug = shown.diagnosis.slug if shown.diagnosis else None
        results.append(
            ExerciseResult(name, status, score, exercise.points, slug, shown.message, 0.01)
        )
    total = sum(item.score for item in results)
    most = sum(item.max_score for item in results)
    result = Result(student, lesson, "GRADED", "", total, most, repaired, (), tuple(results))
    notebook = autograded(lesson, cards, code or {})
    written = written_in(tuple(read(notebook.encode(errors="backslashreplace"))), {})
    return Graded(result, notebook, written, cards)


def invalid(student: str, message: str, lesson: str = LESSON) -> Graded:
    """A submission that is no notebook."""
    most = sum(exercise.points for exercise in exercises_of(lesson).values())
    return Graded(Result(student, lesson, "INVALID", message, 0.0, most))


def autograded(lesson: str, cards: Mapping[str, Verdict], code: Mapping[str, str]) -> str:
    """The released notebook with answers and cards in it."""
    notebook = json.loads(released_path(lesson).read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        grading = cell["metadata"].get("nbgrader", {})
        name = grading.get("grade_id", "")
        if grading.get("solution") and cards[name].status != "MISSING":
            cell["source"] = code.get(name, f"def {name}(*anything):\n    return 0 < 1")
        if grading.get("grade"):
            shown = cards[name.removesuffix("-check")]
            data = {"text/plain": repr(shown.score), "text/html": card.as_html(shown)}
            cell["execution_count"] = 1
            cell["outputs"] = [
                {
                    "output_type": "execute_result",
                    "execution_count": 1,
                    "metadata": {},
                    "data": data,
                }
            ]
    return json.dumps(notebook, indent=1, ensure_ascii=False)
