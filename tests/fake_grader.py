"""A Grader that grades nothing: quick, predictable, and it dies when a notebook tells it to.

It stands in for the real one where a test is about the run around it.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from attnlab.ipynb.read import Unreadable, read
from autograder import Problem
from autograder.run.marking import Job
from autograder.sandbox.limits import Limits
from autograder.submission.results import ExerciseResult, Graded, Result


class FakeGrader:
    """Scores depend on the seed and on the notebook's bytes alone, or are what it orders."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._points = {
            cell.grade_id.removesuffix("-check"): float(cell.nbgrader["points"])
            for cell in read(job.released.encode(), Limits())
            if cell.nbgrader.get("grade")
        }

    @property
    def lesson(self) -> str:
        return self._job.lesson

    @property
    def points(self) -> float:
        return sum(self._points.values())

    def grade(self, data: bytes | Unreadable, student: str, seed: int | None = None) -> Graded:
        most, seed = self.points, self._job.seed if seed is None else seed
        try:
            if isinstance(data, Unreadable):
                raise data
            read(data, self._job.limits)
        except Unreadable as reason:
            return Graded(Result(student, self.lesson, "INVALID", str(reason), 0.0, most))
        _follow_orders(data)
        exercises = tuple(
            self._exercise(name, points, data, seed) for name, points in self._points.items()
        )
        score = sum(exercise.score for exercise in exercises)
        result = Result(student, self._job.lesson, "GRADED", "", score, most, (), (), exercises)
        return Graded(result, data.decode())

    def _exercise(self, name: str, points: float, data: bytes, seed: int) -> ExerciseResult:
        orders: dict[str, Any] = json.loads(data)["metadata"].get("fake", {})
        if "statuses" in orders:
            status = orders["statuses"].get(name, "PASS")
            score = points if status == "PASS" else 0.0
            return ExerciseResult(name, status, score, points, None, "as ordered", 0.0)
        drawn = hashlib.sha256(f"{seed} {name} ".encode() + data).digest()[0] % 3
        if drawn == 0:
            return ExerciseResult(name, "PASS", points, points, None, "", 0.0)
        status = "FAIL" if drawn == 1 else "POLICY"
        return ExerciseResult(name, status, 0.0, points, None, f"drawn {drawn}", 0.0)


def _follow_orders(data: bytes) -> None:
    """What the notebook's `fake` metadata asks for."""
    orders: dict[str, Any] = json.loads(data)["metadata"].get("fake", {})
    time.sleep(orders.get("sleep", 0.0))
    if marker := orders.get("die_once"):
        if not Path(marker).exists():
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if orders.get("die"):
        os.kill(os.getpid(), signal.SIGKILL)


def open_refused(job: Job) -> NoReturn:
    raise Problem("This machine cannot isolate.")


def open_and_die(job: Job) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@contextmanager
def open_fake(job: Job) -> Iterator[FakeGrader]:
    yield FakeGrader(job)
