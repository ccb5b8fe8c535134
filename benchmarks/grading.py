"""Grading: ours beside `nbgrader autograde`, on the same notebooks and the same machine.

    python -m benchmarks.grading
    python -m benchmarks.grading --memory 100 5000

nbgrader grades a few notebooks of each lesson, ours the same ones handed in by as many students as
a class has. Both write the gradebook and the autograded notebooks; ours runs learners' code
isolated, and writes feedback too. What a command takes to start is counted on both sides. Ours
grades the class several times with one job and two in turn, for a machine's speed drifts, and the
fastest of each counts.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path

from tests.learners.submissions import LESSONS, Submission, names, the_class

from .memory import MIB, Peaks
from .side_by_side import Course

SEED = 1
VERSIONS = ("nbgrader", "ipykernel", "numpy", "torch")


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds that one notebook of a lesson took."""

    lesson: str
    nbgrader: float
    one_job: float
    two_jobs: float


def sample(lesson: str, each: int) -> list[Submission]:
    """The first few notebooks of a lesson that nbgrader can grade."""
    able = (each for each in the_class(3 * each + 3, [lesson], SEED) if not each.breaks_nbgrader)
    return list(islice(able, each))


def repeated(submissions: Sequence[Submission], students: int) -> list[Submission]:
    """The same notebooks, handed in by a class."""
    return [
        replace(submission, student=student)
        for student, submission in zip(names(students), cycle(submissions), strict=False)
    ]


def measure(lesson: str, each: int, students: int, repeat: int, scratch: Path) -> Speed:
    """Grade the same notebooks with both."""
    few = sample(lesson, each)
    plain = Course(scratch / "nbgrader")
    plain.hand_in(few)
    new = Course(scratch / "ours")
    new.hand_in(repeated(few, students))
    took: dict[str, list[float]] = {"1": [], "2": []}
    for number in range(repeat):
        for jobs, times in took.items():
            ours = Course(scratch / f"{lesson}-{jobs}-{number}", like=new)
            times.append(ours.grade(lesson, "--jobs", jobs) / students)
            shutil.rmtree(ours.home)
    return Speed(lesson, plain.autograde(lesson) / each, min(took["1"]), min(took["2"]))


def phases(lesson: str, each: int) -> dict[str, float]:
    """Mean milliseconds of one notebook by phase, in a grader that has started."""
    from autograder.gradebook.course import Course as Settings
    from autograder.run.grade import Grader
    from autograder.sandbox.limits import Limits
    from autograder.submission.lessons import released_text

    released = released_text(Settings.here().released(lesson))
    taken: defaultdict[str, float] = defaultdict(float)
    with Grader(lesson, released, SEED, Limits()) as grader:
        notebooks = [submission.text.encode() for submission in sample(lesson, each)]
        grader.grade(notebooks[0], "first")  # what is loaded once
        for notebook in notebooks:
            begun = time.perf_counter()
            graded = grader.grade(notebook, "student")
            whole = time.perf_counter() - begun
            taken["process"] += 1000 * (whole - sum(graded.seconds.values())) / each
            for phase, seconds in graded.seconds.items():
                taken[phase] += 1000 * seconds / each
    return taken


def memory(students: int, scratch: Path, lesson: str) -> Peaks:
    """Peak memory while a class of some size is graded with two jobs."""
    ours = Course(scratch / f"memory-{students}")
    ours.hand_in(repeated(sample(lesson, 5), students))
    return ours.watch_grading(lesson, "--jobs", "2")


def heading(each: int, students: int) -> str:
    return (
        f"nbgrader on {each} notebooks of each lesson, ours on a class of {students} that hands in "
        "the same.\n"
        f"{'':<16} {'notebooks a minute':^26}\n"
        f"{'lesson':<16} {'nbgrader':>8} {'1 job':>8} {'2 jobs':>8} {'times':>6} {'2 : 1':>6}"
    )


def speed_line(speed: Speed) -> str:
    plain, one, two = speed.nbgrader, speed.one_job, speed.two_jobs
    return (
        f"{speed.lesson:<16} {60 / plain:>8.1f} {60 / one:>8.0f} {60 / two:>8.0f} "
        f"{plain / two:>6.1f} {one / two:>6.2f}"
    )


def mean(speeds: Sequence[Speed]) -> Speed:
    def of(side: str) -> float:
        return sum(getattr(speed, side) for speed in speeds) / len(speeds)

    return Speed("all", of("nbgrader"), of("one_job"), of("two_jobs"))


def phases_as_text(taken: dict[str, dict[str, float]]) -> str:
    order = list(dict.fromkeys(phase for found in taken.values() for phase in found))
    lines = [
        "Milliseconds of one notebook by phase; `process` is starting a child and ending it.",
        f"{'lesson':<16} " + " ".join(f"{phase:>8}" for phase in [*order, "all"]),
    ]
    for lesson, found in taken.items():
        numbers = [*(found.get(phase, 0.0) for phase in order), sum(found.values())]
        lines.append(f"{lesson:<16} " + " ".join(f"{number:>8.1f}" for number in numbers))
    return "\n".join(lines)


def memory_as_text(peaks: dict[int, Peaks], lesson: str) -> str:
    roles = ("main", "workers", "zygotes", "children")
    lines = [
        f"Peak memory in MiB, {lesson}, two jobs; shared pages are counted once (PSS).",
        f"{'notebooks':>9} {'all':>8} "
        + " ".join(f"{role:>8}" for role in roles)
        + f" {'main RSS':>8}",
    ]
    for students, peak in peaks.items():
        sizes = [peak.total, *(peak.by_role[role] for role in roles), peak.main]
        lines.append(f"{students:>9} " + " ".join(f"{size / MIB:>8.0f}" for size in sizes))
    return "\n".join(lines)


def machine() -> str:
    """What it was measured on."""
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
        memory_kib = int(Path("/proc/meminfo").read_text().split()[1])
        size = f", {memory_kib / 1024**2:.0f} GiB"
    except OSError:  # not Linux
        size = ""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in VERSIONS)
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return (
        f"{model}, {os.cpu_count()} cores{size}, {platform.system()} {platform.release()}{load}\n"
        f"Python {platform.python_version()}, {versions}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grading", description=__doc__)
    parser.add_argument("--lesson", choices=LESSONS, action="append", help="all if left out")
    parser.add_argument("--each", type=int, default=3, help="notebooks of a lesson for nbgrader")
    parser.add_argument("--students", type=int, default=200, help="in our class")
    parser.add_argument("--repeat", type=int, default=3, help="runs of ours with one job and two")
    parser.add_argument(
        "--memory", type=int, nargs="*", default=[100, 400], metavar="N", help="class sizes"
    )
    arguments = parser.parse_args()
    lessons = arguments.lesson or list(LESSONS)
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        print("\n" + heading(arguments.each, arguments.students), flush=True)
        speeds = []
        for lesson in lessons:
            each, students = arguments.each, arguments.students
            speeds.append(measure(lesson, each, students, arguments.repeat, Path(scratch)))
            print(speed_line(speeds[-1]), flush=True)
        print(speed_line(mean(speeds)))
        taken = {lesson: phases(lesson, arguments.each) for lesson in lessons}
        print("\n" + phases_as_text(taken), flush=True)
        peaks = {size: memory(size, Path(scratch), lessons[-1]) for size in arguments.memory}
        if peaks:
            print("\n" + memory_as_text(peaks, lessons[-1]))


if __name__ == "__main__":
    main()
