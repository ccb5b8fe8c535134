"""A course folder of its own, whose class either nbgrader or our grader grades."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tests.learners.submissions import Submission

from .memory import Peaks, Watch

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
ALL = "[0-9]*"  # nbgrader's pattern for every lesson


class Failed(Exception):
    """A command failed; the text is its last lines."""


class Course:
    """The course's settings and lessons in another folder, which is made if need be.

    Args:
        home: the folder; what an earlier run left there is gone on with.
        environment: what commands see besides the usual variables.
        like: another such course, not graded yet, to copy.
    """

    def __init__(
        self, home: Path, environment: dict[str, str] | None = None, like: Course | None = None
    ) -> None:
        self.home = home.resolve()
        self.environment = environment or {}
        if (self.home / "class" / "gradebook.db").exists():
            return
        if like is not None:
            shutil.copytree(like.home, self.home, dirs_exist_ok=True)
            return
        self.home.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "nbgrader_config.py", self.home)
        hidden = shutil.ignore_patterns(".*", "*.py")
        shutil.copytree(ROOT / "solutions", self.home / "solutions", ignore=hidden)
        self.run("nbgrader", "generate_assignment", f"--assignment={ALL}")

    def hand_in(self, submissions: Iterable[Submission]) -> None:
        for each in submissions:
            folder = self.home / "class" / "submitted" / each.student / each.lesson
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{each.lesson}.ipynb").write_bytes(each.text.encode())

    def autograde(self, lesson: str = ALL) -> float:
        """Grade as plain nbgrader does; the seconds that it took.

        A notebook on which it fails is no error here: it has no score, and the others have theirs.
        """
        return self.run("nbgrader", "autograde", f"--assignment={lesson}", may_fail=True)

    def grade(self, lesson: str, *options: str) -> float:
        """Grade with our grader; the seconds that it took."""
        return self.run("python", "-m", "autograder", "grade", lesson, *options)

    def watch_grading(self, lesson: str, *options: str) -> Peaks:
        """Grade with our grader and see how much memory that takes."""
        command = [str(BIN / "python"), "-m", "autograder", "grade", lesson, *options]
        with (
            open(self.home / "graded.log", "w+", encoding="utf-8") as log,
            subprocess.Popen(
                command, cwd=self.home, env=self._environment(), stdout=log, stderr=log, text=True
            ) as process,
            Watch(process) as peaks,
        ):
            if process.wait():
                log.seek(0)
                raise Failed(f"{' '.join(command)}\n{log.read()[-3000:]}")
        return peaks

    def run(self, command: str, *arguments: str, may_fail: bool = False) -> float:
        """Run one of the environment's commands in the folder; the seconds that it took."""
        begun = time.perf_counter()
        done = subprocess.run(
            [str(BIN / command), *arguments],
            cwd=self.home,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if done.returncode and not may_fail:
            raise Failed(f"{command} {' '.join(arguments)}\n{done.stdout[-3000:]}")
        return time.perf_counter() - begun

    def _environment(self) -> dict[str, str]:
        ours = {
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
            "PYTHONWARNINGS": "ignore",
        }
        return {**os.environ, **ours, **self.environment}

    def scores(self, lesson: str) -> dict[str, dict[str, float | None]]:
        """Student → exercise → score, from the gradebook; None where nothing was graded."""
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{self.home / 'class' / 'gradebook.db'}") as gradebook:
            return {
                submission.student_id: {
                    grade.name.removesuffix("-check"): (
                        None if grade.auto_score is None else grade.score
                    )
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                }
                for submission in gradebook.assignment_submissions(lesson)
            }
