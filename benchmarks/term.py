"""Before and after grading, for a class of hundreds or thousands, beside `nbgrader export`.

    python -m benchmarks.term 600 5000

A class hands in by a zip as Canvas gives it, in which each notebook is another one. What grading
records is made up, with a mistake for every second student, so that no time goes into that.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import Gradebook
from autograder.run import classes
from autograder.run.journal import NAME, Journal
from autograder.submission.folder import Submission
from tests import graded
from tests.graded import LESSON, make_course
from tests.lms import Handed, canvas_zip
from tests.small_class import environment

BATCH = 100


def answer(number: int) -> str:
    """One of as many ways to write it as there are students."""
    steps = "\n".join(f"    step{n} = x @ Wq * {n} + {number}" for n in range(9))
    return f"def attention(x, Wq, Wk, Wv):\n{steps}\n    return step1, step2\n"


def handed_in(folder: Path, students: int) -> Path:
    """A roster, and the zip of what its students handed in."""
    names = [f"Student {number:05} Family{number:05}" for number in range(students)]
    rows = [f"s{number:05},{name},{1000 + number}\n" for number, name in enumerate(names)]
    (folder / "class").mkdir(exist_ok=True)
    (folder / "class" / "roster.csv").write_text("id,name,canvas\n" + "".join(rows))
    notebook = json.loads((folder / "notebooks" / LESSON / f"{LESSON}.ipynb").read_bytes())
    hand_ins = []
    for number, name in enumerate(names):
        notebook["metadata"]["number"] = number
        files = {f"{LESSON}.ipynb": json.dumps(notebook).encode()}
        hand_ins.append(Handed(name, str(1000 + number), files))
    return canvas_zip(folder / "submissions.zip", LESSON, hand_ins)


def record(folder: Path, students: int) -> None:
    """Grade everyone, without a grader."""
    os.chdir(folder)
    path = folder / "class" / "runs" / LESSON / NAME
    with (
        Gradebook(Course.here()) as gradebook,
        Journal.begin(path, {"lesson": LESSON, "seed": 1, "begun": "1"}) as log,
    ):
        gradebook.prepare(LESSON)
        for start in range(0, students, BATCH):
            batch = [
                graded.grade(
                    f"s{number:05}",
                    {"attention": "FAIL"} if number % 2 else {},
                    code={"attention": answer(number)},
                )
                for number in range(start, min(start + BATCH, students))
            ]
            told = gradebook.record(batch)
            log.add(
                classes._line(Submission(one.result.student, b"1"), one, said) | {"stands": True}
                for one, said in zip(batch, told, strict=True)
            )


def exported(folder: Path, students: int) -> Path:
    """What Canvas's gradebook exports."""
    path = folder / "grades.csv"
    head = f"Student,ID,SIS Login ID,Section,{LESSON} (77),Final Score\n"
    points = f"    Points Possible,,,,{graded.MOST:g},(read only)\n"
    rows = (f'"Family, Student",{1000 + number},,A,,\n' for number in range(students))
    path.write_text(head + points + "".join(rows))
    return path


def timed(folder: Path, *command: str) -> float:
    """Seconds that a command takes, the start of Python counted."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - started


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.term", description=__doc__)
    parser.add_argument("students", nargs="*", type=int, default=[600])
    for students in parser.parse_args().students:
        with tempfile.TemporaryDirectory() as scratch:
            folder = make_course(Path(scratch))
            zipped = handed_in(folder, students)
            collected = timed(folder, "autograder", "collect", LESSON, str(zipped))
            record(folder, students)
            grades = str(exported(folder, students))
            times = {
                "collect": collected,
                "collect again": timed(folder, "autograder", "collect", LESSON, str(zipped)),
                "return --canvas": timed(
                    folder, "autograder", "return", LESSON, "--canvas", grades
                ),
                "return --csv": timed(folder, "autograder", "return", LESSON, "--csv"),
                "report": timed(folder, "autograder", "report", LESSON),
                "report --names": timed(folder, "autograder", "report", LESSON, "--names"),
            }
            other = timed(folder, "nbgrader", "export", "--to=all.csv")
        print(f"{students:,} students, nbgrader export {other:.1f} s")
        for name, seconds in times.items():
            print(f"  {name:16} {seconds:6.1f} s, {seconds / other:4.1f} times nbgrader export")
    return 0


if __name__ == "__main__":
    sys.exit(main())
