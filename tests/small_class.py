"""A small class in a folder of its own, for tests of the runs over it."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import Gradebook
from autograder.run import classes
from autograder.run.marking import OpensGrader
from tests import gradebooks
from tests.course import ROOT, read, released_path
from tests.fake_grader import open_fake

LESSON = "03-numpy"
Results = list[dict[str, Any]]


def make_course(folder: Path, lesson: str = LESSON) -> Path:
    """A course with one lesson, nobody in it, and a gradebook that nbgrader has made."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    gradebooks.configure(folder)
    shutil.copytree(released_path(lesson).parent, folder / "notebooks" / lesson)
    with chdir(folder), Gradebook(Course.here()) as gradebook:
        gradebook.prepare(lesson)
    return folder


def environment() -> dict[str, str]:
    """For processes that are to find the checkout from elsewhere."""
    there = os.environ.get("PYTHONPATH", "")
    path = filter(None, [str(ROOT), str(ROOT / "src"), there])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def notebook(fake: dict[str, Any] | None = None, lesson: str = LESSON) -> bytes:
    """The lesson as it was released, with orders for the fake grader."""
    found = read(released_path(lesson))
    found.metadata["fake"] = fake or {}
    return json.dumps(found).encode()


def hand_in(course: Path, student: str, content: bytes, lesson: str = LESSON) -> Path:
    """Write a student's submission."""
    path = course / "class" / "submitted" / student / lesson / f"{lesson}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def grade(course: Path, opens: OpensGrader = open_fake, **order: Any) -> Results:
    """Grade the class; the results without how long they took."""
    path = course / "results.jsonl"
    asked: dict[str, Any] = {"lesson": LESSON, "json": str(path)} | order
    classes.grade_class(classes.Order(**asked), Course.here(), opens)
    return results_in(path)


def results_in(path: Path) -> Results:
    """The lines of a JSON file, less how long anything took."""
    results = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
    for result in results:
        for exercise in result["exercises"]:
            del exercise["seconds"]
    return results


def recorded(course: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What the gradebook says, in nbgrader's words: no ids, nothing that depends on order."""
    questions = {
        "scores": """
            select s.student_id, a.name, c.name, g.auto_score, g.manual_score, g.needs_manual_grade
            from grade g join base_cell c on c.id = g.cell_id
            join submitted_notebook n on n.id = g.notebook_id
            join submitted_assignment s on s.id = n.assignment_id
            join assignment a on a.id = s.assignment_id""",
        "comments": """
            select s.student_id, a.name, c.name, m.auto_comment, m.manual_comment
            from comment m join base_cell c on c.id = m.cell_id
            join submitted_notebook n on n.id = m.notebook_id
            join submitted_assignment s on s.id = n.assignment_id
            join assignment a on a.id = s.assignment_id""",
        "students": "select id from student",
        "submissions": "select student_id, timestamp from submitted_assignment",
    }
    with gradebooks.connected(course) as connection:
        return {
            name: sorted(map(tuple, connection.exec_driver_sql(question)), key=repr)
            for name, question in questions.items()
        }


def written(course: Path) -> dict[str, bytes]:
    """Every file that grading has left in nbgrader's folders."""
    return {
        str(path.relative_to(course)): path.read_bytes()
        for step in ("autograded", "feedback")
        for path in sorted((course / "class" / step).rglob("*"))
        if path.is_file()
    }
