"""A course folder of its own, whose class either nbgrader or our grader grades."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.child import kernel
from autograder.demo_class import folder as demo
from autograder.demo_class.learners import Submission

from .memory import Peaks, Watch, children_of

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
PR_SET_CHILD_SUBREAPER = 36
MOMENT_SECONDS = 10.0
ALL = "[0-9]*"  # nbgrader's pattern for every lesson


class Failed(Exception):
    """A command failed; the text is its last lines."""


@dataclass(frozen=True, slots=True)
class Took:
    """What a command took, its child processes included, in seconds.

    Attributes:
        wall: by the clock.
        cpu: of work on all cores, which a busy machine changes less.
    """

    wall: float
    cpu: float

    def each(self, notebooks: int) -> Took:
        return Took(self.wall / notebooks, self.cpu / notebooks)


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
        if (self.home / "autograder" / "gradebook.db").exists():
            return
        if like is not None:
            shutil.copytree(like.home, self.home, dirs_exist_ok=True)
            return
        self.home.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "nbgrader_config.py", self.home)
        hidden = shutil.ignore_patterns(".*", "*.py")
        shutil.copytree(ROOT / "solutions", self.home / "solutions", ignore=hidden)
        self.run("nbgrader", "generate_assignment", f"--assignment={ALL}")

    def hand_in(self, submissions: Iterable[Submission], seed: int) -> None:
        for submission in submissions:
            demo.write(self.home / "autograder" / "submitted", submission, seed)

    def autograde(self, lesson: str = ALL) -> Took:
        """Grade as plain nbgrader does.

        A notebook on which it fails is no error here: it has no score, and the others have theirs.
        """
        return self.run("nbgrader", "autograde", f"--assignment={lesson}", may_fail=True)

    def grade(self, lesson: str, *options: str) -> Took:
        """Grade with our grader."""
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

    def run(self, command: str, *arguments: str, may_fail: bool = False) -> Took:
        """Run one of the environment's commands in the folder, and say what it took."""
        begun, worked = time.perf_counter(), _cpu_of_children()
        if sys.platform == "linux":
            adopt_orphans()
        others = children_of(os.getpid())
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
        took = time.perf_counter() - begun
        for pid in children_of(os.getpid()) - others:
            _collect(pid)
        return Took(took, _cpu_of_children() - worked)

    def _environment(self) -> dict[str, str]:
        ours = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
        return {**os.environ, **ours, **self.environment}

    def scores(self, lesson: str) -> dict[str, dict[str, float | None]]:
        """Student → exercise → score, from the gradebook; None where nothing was graded."""
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{self.home / 'autograder' / 'gradebook.db'}") as gradebook:
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


def adopt_orphans() -> None:
    """Become the parent of processes below that lose theirs, so that their work is counted."""
    kernel.prctl(PR_SET_CHILD_SUBREAPER, 1)


def _collect(pid: int) -> None:
    """Wait for a process that outlives its command by a moment."""
    until = time.monotonic() + MOMENT_SECONDS
    while os.waitpid(pid, os.WNOHANG) == (0, 0) and time.monotonic() < until:
        time.sleep(0.01)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
