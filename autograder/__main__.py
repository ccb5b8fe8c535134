"""The grader's command line: `python -m autograder COMMAND`, see --help.

Exit status: 0 where everything asked for was graded, also where submissions are INVALID; 1 where
the machine or the course's files cannot do it; 2 for a wrong command; 128 + the signal's number
where it was stopped.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

from autograder import Problem, Usage
from autograder.sandbox.isolation import IsolationError, require_linux

STOPPED = 128


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    whole = argparse.ArgumentParser(
        prog="python -m autograder", description="Grades notebooks, isolated from the course."
    )
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")

    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--seed", type=_seed, metavar="S", help="of the cases; the same one gives the same results"
    )
    shared.add_argument(
        "--json", default="", metavar="FILE", help="write results there; - is standard output"
    )

    grade = commands.add_parser("grade", parents=[shared], help="grade all who handed in a lesson")
    grade.add_argument("lesson", metavar="LESSON", help="such as 06-causal-mask")
    grade.add_argument(
        "--student",
        action="append",
        default=[],
        metavar="ID",
        help="grade this one alone; may be said again for more",
    )
    grade.add_argument(
        "--jobs", type=_jobs, default=os.cpu_count() or 1, metavar="N", help="worker processes"
    )
    grade.add_argument(
        "--keep",
        choices=["latest", "best"],
        default="",
        help="which hand-in of a student counts; the latest if it is not said",
    )
    grade.add_argument(
        "--resume", action="store_true", help="go on with the last run, which was stopped"
    )
    grade.add_argument(
        "--scheduler", default="", metavar="ADDRESS", help="a Dask cluster's, tcp://host:port"
    )

    grade.add_argument(
        "--regrade",
        action="store_true",
        help="the gradebook follows the notebook's points and exercises",
    )

    pages = commands.add_parser("feedback", help="write the gradebook's scores into the pages")
    pages.add_argument("lesson", metavar="LESSON", help="such as 06-causal-mask")
    pages.add_argument(
        "--student",
        action="append",
        default=[],
        metavar="ID",
        help="this one's page alone; may be said again for more",
    )

    report = commands.add_parser("report", help="write a page and a table about a graded class")
    report.add_argument("lesson", metavar="LESSON", help="such as 06-causal-mask")
    report.add_argument(
        "--names",
        action="store_true",
        help="the teacher's page, with names; without it the one that can be shown in class",
    )

    one = commands.add_parser("grade-file", parents=[shared], help="grade one notebook")
    one.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    one.add_argument("--lesson", default="", help="if neither its name nor its cells tell")

    rename = commands.add_parser("rename", help="let a class follow lessons that were renamed")
    rename.add_argument("--yes", action="store_true", help="do not ask first")

    history = commands.add_parser("history", help="say how often a student was graded, and how")
    history.add_argument("student", metavar="STUDENT")
    history.add_argument("lesson", nargs="?", default="", metavar="LESSON")

    forget = commands.add_parser("forget", help="remove every trace of a student from the class")
    forget.add_argument("student", metavar="STUDENT")
    forget.add_argument("--yes", action="store_true", help="do not ask first")

    commands.add_parser("doctor", help="say how well this machine isolates, and what is missing")
    return whole


def _seed(text: str) -> int:
    seed = _whole(text)
    if not 0 <= seed < 2**63:
        raise argparse.ArgumentTypeError("a seed is a whole number from 0 to 2^63 - 1")
    return seed


def _jobs(text: str) -> int:
    jobs = _whole(text)
    if jobs < 1:
        raise argparse.ArgumentTypeError("at least one process is needed")
    return jobs


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    asked = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # cards have marks that not all can show
    try:
        if asked.command == "doctor":
            from autograder import doctor

            return doctor.main()
        require_linux()
        if asked.command == "grade-file":
            return _grade_file(asked)
        if asked.command == "rename":
            return _rename(asked)
        if asked.command == "feedback":
            return _feedback(asked)
        if asked.command == "report":
            return _report(asked)
        if asked.command == "history":
            return _history(asked)
        if asked.command == "forget":
            return _forget(asked)
        return _grade(asked)
    except Usage as wrong:
        return _failed(wrong, 2)
    except IsolationError as error:
        return _failed(error, 1)
    except KeyboardInterrupt:
        return _failed(KeyboardInterrupt("Stopped."), STOPPED + signal.SIGINT)


def _grade(asked: argparse.Namespace) -> int:
    from autograder.run import pool
    from autograder.submission.lessons import known

    lesson = known(asked.lesson)  # before all that takes seconds to load
    if not asked.scheduler:
        pool.load_ahead()
    gc.disable()  # what is being imported is no garbage, now or when this process ends
    from attnlab.ipynb.files import NotWritten
    from autograder.gradebook.course import Course, CourseError
    from autograder.gradebook.database import GradebookError
    from autograder.run.classes import Order, Stopped, grade_class

    gc.freeze()
    gc.enable()
    order = Order(
        lesson=lesson,
        students=tuple(asked.student),
        jobs=asked.jobs,
        seed=asked.seed,
        keep=asked.keep,
        resume=asked.resume,
        json=asked.json,
        scheduler=asked.scheduler,
        regrade=asked.regrade,
    )
    try:
        grade_class(order, Course.here())
    except Stopped as stopped:
        return _failed(stopped, STOPPED + stopped.signal)
    except (Problem, CourseError, GradebookError, NotWritten) as error:
        return _failed(error, 1)
    return 0


def _feedback(asked: argparse.Namespace) -> int:
    from autograder.submission.lessons import known

    lesson = known(asked.lesson)
    from attnlab.ipynb.files import NotWritten
    from autograder.gradebook.course import Course, CourseError
    from autograder.gradebook.database import GradebookError
    from autograder.run.fill import fill_pages

    try:
        fill_pages(Course.here(), lesson, asked.student)
    except (CourseError, GradebookError, NotWritten) as error:
        return _failed(error, 1)
    return 0


def _report(asked: argparse.Namespace) -> int:
    from autograder.submission.lessons import known

    lesson = known(asked.lesson)
    from attnlab.ipynb.files import NotWritten
    from autograder.gradebook.course import Course, CourseError
    from autograder.gradebook.database import GradebookError
    from autograder.term.class_report import write_report

    try:
        for line in write_report(Course.here(), lesson, asked.names):
            print(line)
    except (Problem, CourseError, GradebookError, NotWritten) as error:
        return _failed(error, 1)
    return 0


def _rename(asked: argparse.Namespace) -> int:
    from autograder.gradebook.course import Course, CourseError
    from autograder.gradebook.database import GradebookError
    from autograder.gradebook.rename import rename

    try:
        for line in rename(Course.here(), partial(_agreed, asked)):
            print(line)
    except (CourseError, GradebookError, OSError) as error:
        return _failed(error, 1)
    return 0


def _agreed(asked: argparse.Namespace, question: str) -> bool:
    if asked.yes:
        return True
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _history(asked: argparse.Namespace) -> int:
    from autograder.gradebook.course import Course, CourseError
    from autograder.run.history import history

    try:
        for line in history(Course.here(), asked.student, asked.lesson):
            print(line)
    except (Problem, CourseError) as error:
        return _failed(error, 1)
    return 0


def _forget(asked: argparse.Namespace) -> int:
    from attnlab.ipynb.files import NotWritten
    from autograder.gradebook.course import Course, CourseError
    from autograder.gradebook.database import GradebookError
    from autograder.run.forget import forget

    try:
        for line in forget(Course.here(), asked.student, partial(_agreed, asked)):
            print(line, flush=True)
    except (Problem, CourseError, GradebookError, NotWritten) as error:
        return _failed(error, 1)
    return 0


def _grade_file(asked: argparse.Namespace) -> int:
    from attnlab.ipynb.files import NotWritten
    from autograder.run.one_file import grade_file
    from autograder.submission.lessons import known

    lesson = known(asked.lesson) if asked.lesson else ""
    try:
        grade_file(asked.notebook, lesson, asked.seed, asked.json)
    except (Problem, NotWritten) as error:
        return _failed(error, 1)
    return 0


def _failed(error: BaseException, status: int) -> int:
    for sentence in [str(error), *getattr(error, "__notes__", [])]:
        print(sentence, file=sys.stderr)
    return status


def _leave(status: int) -> NoReturn:
    """End at once: all is written, and to take the libraries apart would take a while."""
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError):  # nobody listens
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    _leave(main())
