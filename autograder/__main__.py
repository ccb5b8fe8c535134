"""The grader's command line: `python -m autograder COMMAND`, see --help.

Exit status: 0 where everything asked for was graded, also where submissions are INVALID; 1 where
the machine or the course's files cannot do it, or not all that was collected could be placed; 2 for
a wrong command; 128 + the signal's number where it was stopped.
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
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from attnlab.ipynb.files import NotWritten
from autograder import Told, Usage
from autograder.sandbox.isolation import IsolationError, require_linux

if TYPE_CHECKING:
    from autograder.gradebook.course import Course

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
        help="which hand-in of a student counts; if it is not said, as the course's settings do",
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

    back = commands.add_parser("return", help="scores and pages back to an LMS, or into a table")
    back.add_argument("lesson", metavar="LESSON", help="such as 06-causal-mask")
    to = back.add_mutually_exclusive_group(required=True)
    to.add_argument("--canvas", type=Path, metavar="FILE", help="what Canvas's gradebook exported")
    to.add_argument("--moodle", type=Path, metavar="FILE", help="Moodle's grading worksheet")
    to.add_argument(
        "--csv", type=Path, nargs="?", const=Path(), metavar="FILE", help="a table of our own"
    )
    back.add_argument("--column", default="", metavar="NAME", help="where scores go in that file")

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

    collect = commands.add_parser(
        "collect", help="bring an LMS's download of hand-ins to where they are graded"
    )
    collect.add_argument("lesson", metavar="LESSON", help="such as 06-causal-mask")
    collect.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="a zip of Canvas, Moodle or Gradescope, a notebook, a folder of these, or a table of "
        "times as CSV",
    )
    collect.add_argument(
        "--zone", default="", metavar="ZONE", help="of a table's times, such as Europe/Berlin"
    )

    rename = commands.add_parser("rename", help="let a class follow lessons that were renamed")
    rename.add_argument("--yes", action="store_true", help="do not ask first")

    history = commands.add_parser("history", help="say how often a student was graded, and how")
    history.add_argument("student", metavar="STUDENT")
    history.add_argument("lesson", nargs="?", default="", metavar="LESSON")

    forget = commands.add_parser("forget", help="remove every trace of a student from the class")
    forget.add_argument("student", metavar="STUDENT")
    forget.add_argument("--yes", action="store_true", help="do not ask first")

    away = commands.add_parser("archive", help="put a class away, with all that graded it")
    away.add_argument("name", metavar="NAME", help="such as 2026-spring")

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
        if asked.command != "doctor":
            require_linux()
        return COMMANDS[asked.command](asked)
    except Usage as wrong:
        return _failed(wrong, 2)
    except (Told, NotWritten, IsolationError) as error:
        return _failed(error, 1)
    except KeyboardInterrupt:
        return _failed(KeyboardInterrupt("Stopped."), STOPPED + signal.SIGINT)
    except BrokenPipeError:  # whoever read what is printed has had enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return STOPPED + signal.SIGPIPE


def _grade(asked: argparse.Namespace) -> int:
    from autograder.run import pool
    from autograder.submission.lessons import known

    lesson = known(asked.lesson)  # before all that takes seconds to load
    if not asked.scheduler:
        pool.load_ahead()
    gc.disable()  # what is being imported is no garbage, now or when this process ends
    from autograder.gradebook.course import Course
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
    return 0


def _grade_file(asked: argparse.Namespace) -> int:
    from autograder.run.one_file import grade_file
    from autograder.submission.lessons import known

    lesson = known(asked.lesson) if asked.lesson else ""
    grade_file(asked.notebook, lesson, asked.seed, asked.json)
    return 0


def _feedback(asked: argparse.Namespace) -> int:
    lesson, course = _lesson_here(asked)
    from autograder.run.fill import fill_pages

    fill_pages(course, lesson, asked.student)
    return 0


def _collect(asked: argparse.Namespace) -> int:
    lesson, course = _lesson_here(asked)
    from autograder.term.collect import collect

    told = collect(course, lesson, asked.files, asked.zone)
    _say(told.lines())
    return 1 if told.trouble else 0


def _return(asked: argparse.Namespace) -> int:
    lesson, course = _lesson_here(asked)
    from autograder.term.give_back import Order, give_back

    lms = "canvas" if asked.canvas else "moodle" if asked.moodle else ""
    file = asked.canvas or asked.moodle or asked.csv
    order = Order(lesson, lms, None if file == Path() else file, asked.column)
    return _say(give_back(course, order))


def _report(asked: argparse.Namespace) -> int:
    lesson, course = _lesson_here(asked)
    from autograder.term.class_report import write_report

    return _say(write_report(course, lesson, asked.names))


def _rename(asked: argparse.Namespace) -> int:
    from autograder.gradebook.course import Course
    from autograder.gradebook.rename import rename
    from autograder.run.lock import sole_grader

    course = Course.here()
    lock = course.submitted(".", ".").parent / "runs" / "lock"
    try:
        with sole_grader(lock, "this class", partial(print, file=sys.stderr)):
            return _say(rename(course, partial(_agreed, asked)))
    except OSError as error:
        return _failed(error, 1)


def _history(asked: argparse.Namespace) -> int:
    from autograder.gradebook.course import Course
    from autograder.run.history import history

    return _say(history(Course.here(), asked.student, asked.lesson))


def _forget(asked: argparse.Namespace) -> int:
    from autograder.gradebook.course import Course
    from autograder.term.forget import forget

    return _say(forget(Course.here(), asked.student, partial(_agreed, asked)))


def _archive(asked: argparse.Namespace) -> int:
    from autograder.gradebook.course import Course
    from autograder.term.archive import archive

    return _say(archive(Course.here(), asked.name))


def _doctor(asked: argparse.Namespace) -> int:
    from autograder import doctor

    return doctor.main()


COMMANDS = {
    "collect": _collect,
    "grade": _grade,
    "feedback": _feedback,
    "return": _return,
    "report": _report,
    "grade-file": _grade_file,
    "rename": _rename,
    "history": _history,
    "forget": _forget,
    "archive": _archive,
    "doctor": _doctor,
}


def _lesson_here(asked: argparse.Namespace) -> tuple[str, Course]:
    """The lesson that a command is about, looked at before nbgrader is loaded, and the course."""
    from autograder.submission.lessons import known

    lesson = known(asked.lesson)
    from autograder.gradebook.course import Course

    return lesson, Course.here()


def _say(lines: Iterable[str]) -> int:
    for line in lines:
        print(line, flush=True)
    return 0


def _agreed(asked: argparse.Namespace, question: str) -> bool:
    if asked.yes:
        return True
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


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
