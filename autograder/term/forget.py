"""A student removed from a class: rows, also of backups, folders, and what runs have written.

Stopped in between, the same command goes on: the journal's lines go last, so that a student of whom
anything is left is still known.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import shutil
import sqlite3
import stat
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from nbgrader import api
from sqlalchemy import select
from sqlalchemy.engine import URL, make_url

from attnlab.ipynb.files import write_whole
from attnlab.ipynb.handed_in import in_nfc
from attnlab.ipynb.words import few, printable, short
from attnlab.lessons import slugs
from autograder import Problem
from autograder.gradebook.course import Course
from autograder.gradebook.database import Database
from autograder.gradebook.rows import find_ids, remarks_of, remove_student
from autograder.pages.summary import Remarks, from_here, summarise
from autograder.run import journal
from autograder.run.history import journals, students
from autograder.run.journal import Journal
from autograder.run.lock import sole_grader
from autograder.submission import collected
from autograder.submission.handed_in import chosen
from autograder.submission.left_out import left_out
from autograder.term.give_back import FOLDER as RETURNED


def forget(course: Course, student: str, agreed: Callable[[str], bool]) -> Iterator[str]:
    """Remove every trace of a student, waiting for a run in progress; a line for what was removed.

    Args:
        agreed: is told in a sentence what would be removed; nothing is where it says no.
    Raises:
        Usage: nobody of that name is in the class.
        GradebookError, NotWritten: it cannot go on; what was removed stays so.
        Problem: the same; or something that is not the grader's still has the name.
    """
    home, student, spelled = _home(course), in_nfc(student), defaultdict[str, set[str]](set)
    for name in _names(course):
        spelled[in_nfc(name)].add(name)
    chosen(sorted(spelled), [student], "this class", "is in")
    who, names = short(student), sorted(spelled[student])
    what = "rows in the gradebook and its copies, hand-ins, pages and history"
    if not agreed(f"Remove all of {who} from {from_here(home)}/, for good: {what}?"):
        yield f"{who}: left as it is."
        return
    with sole_grader(home / "runs" / "lock", "this class", _say), _gradebooks(course) as books:
        for book in books:
            with book.transaction() as session:
                rows = sum(remove_student(session, name) for name in names if _is_text(name))
            book.vacuum()
            if rows:
                yield f"{book}: {rows} rows."
        for step in _steps(course):
            for name in sorted(set(names).intersection(_in(step))):
                _remove(step / name)
                yield f"{printable(str(from_here(step / name)))}: all of it."
        for folder, command in _of_everyone(course):
            _remove(folder)
            yield f"{from_here(folder)}: all of it. `{command}` writes it again, without them."
        for name in sorted(_in(home / collected.FOLDER)):
            path = home / collected.FOLDER / name
            if path.suffix == ".json" and collected.forget(path, student):
                yield f"{from_here(path)}: 1 line."
        for path in journals(course):
            if _summarise(course, path, student, books):
                yield f"{from_here(path.with_name(journal.SUMMARY))}: written without them."
        for path in journals(course):
            if count := journal.forget(path, student):
                yield f"{from_here(path)}: {count} lines."
    left = [printable(str(from_here(path))) for path in _naming(course, names)]
    if left:
        raise Problem(
            f"{who} may still be named in what is not the grader's: {', '.join(few(left))}. "
            "Look at it yourself."
        )


def _home(course: Course) -> Path:
    return course.submitted(".", ".").parent


def _names(course: Course) -> set[str]:
    """Whoever is in the class, graded or not."""
    names = students(journals(course)) | {name for step in _steps(course) for name in _in(step)}
    with _gradebooks(course) as books:
        for book in books:
            with book.transaction() as session:
                names.update(session.scalars(select(api.Student.id)))
    return names


def _steps(course: Course) -> list[Path]:
    """The folders that hold a folder for each student."""
    return [place(".", ".") for place in (course.submitted, course.autograded, course.feedback)]


def _of_everyone(course: Course) -> Iterator[tuple[Path, str]]:
    """Folders and files that may say something of anybody, each with the command that writes it."""
    for lesson in slugs():
        for folder, command in (
            (course.reports(lesson), "report"),
            (_home(course) / RETURNED / lesson, "return"),
            (_home(course) / collected.FOLDER / f"{lesson}.txt", "collect"),
        ):
            if folder.exists():
                yield folder, command


def _in(folder: Path) -> list[str]:
    """Names in a folder: none of them leads out of it."""
    with contextlib.suppress(FileNotFoundError):
        return os.listdir(folder)
    return []


def _is_text(name: str) -> bool:
    """Whether a database can hold it: a folder's name may be any bytes."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _remove(path: Path) -> None:
    """Remove a folder, following no link."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        place = error.filename or path
        raise Problem(
            f"{printable(str(place))} could not be removed: {error.strerror}. Put that right, then "
            "run this again."
        ) from error


@contextmanager
def _gradebooks(course: Course) -> Iterator[list[Database]]:
    """The course's own, if there is one, then each copy of it below the class."""
    url = make_url(course.directory.db_url)
    copies = [path.resolve() for path in _files(course) if _is_gradebook(path)]
    urls = [url]
    if url.get_backend_name() == "sqlite" and url.database:
        own = Path(url.database).resolve()
        urls = urls if own.exists() else []
        copies = [path for path in copies if path != own]
    urls += [URL.create("sqlite", database=str(path)) for path in copies]
    with ExitStack() as stack:
        books = [Database(each, course.directory.course_id, 30.0, make=False) for each in urls]
        for book in books:
            stack.callback(book.close)
        yield books


def _is_gradebook(path: Path) -> bool:
    """Whether a file is a database of nbgrader's; it is not changed."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            table = "select 1 from sqlite_master where name = 'submitted_assignment'"
            return database.execute(table).fetchone() is not None
    except sqlite3.Error:
        return False


def _files(course: Course) -> Iterator[Path]:
    """Whatever lies below the class, but for students' folders and what runs write."""
    steps, home = set(_steps(course)), _home(course)
    written = {home / "runs" / "lock"}
    for path in journals(course):
        written |= {path, path.with_name(journal.SUMMARY)}
    for folder, folders, files in os.walk(home):
        folders[:] = sorted(name for name in folders if Path(folder, name) not in steps)
        for path in (Path(folder, name) for name in sorted(files)):
            if stat.S_ISREG(path.lstat().st_mode) and path not in written:
                yield path


def _naming(course: Course, names: Iterable[str]) -> Iterator[Path]:
    """Files that have a student's name or are called by it, as a word of its own."""
    spelled = b"|".join(re.escape(os.fsencode(name)) for name in names)
    word = re.compile(rb"(?<![\w-])(?:" + spelled + rb")(?![\w-])")
    home, gradebook = _home(course), Path(make_url(course.directory.db_url).database or "").name
    ours = [*{path.parent for path in journals(course)}, home / "runs", home]
    for path in _files(course):
        is_gradebook = _is_gradebook(path)
        name = path.name.removeprefix(gradebook) if is_gradebook else path.name
        # The grader's own part of a path names nobody, whatever it is called.
        folder = next(path.parent.relative_to(at) for at in ours if path.is_relative_to(at))
        if word.search(os.fsencode(os.path.join(*folder.parts, name))):
            yield path
        elif path.stat().st_size and not is_gradebook:
            with open(path, "rb") as file:
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    if word.search(content):
                        yield path


def _summarise(course: Course, path: Path, student: str, books: list[Database]) -> bool:
    """Write a lesson's summary without one student; whether it may have named them."""
    summary, lesson = path.with_name(journal.SUMMARY), path.parent.name
    try:
        words = summary.read_text(encoding="utf-8", errors="replace").split()
    except FileNotFoundError:
        return False
    if " ".join(printable(student).split()) not in " ".join(words):  # a name may have been wrapped
        return False
    remarks = Remarks()
    if books:
        with books[0].transaction() as session:
            ids = find_ids(session, lesson)
            remarks = remarks_of(session, ids) if ids else remarks
    with Journal(path) as log:
        others = [name for name in log.folders if not journal.is_of(log.latest(name), student)]
        remarks = replace(remarks, worse=log.worse(others))
        submitted, autograded = course.submitted(".", "."), course.autograded(".", ".")
        left = left_out(submitted, lesson, others)
        text = summarise(lesson, map(log.result, others), remarks, left, submitted, autograded)
    write_whole(summary, text.written.encode(errors="backslashreplace"))
    return True


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
