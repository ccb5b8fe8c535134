"""A class to try the grader with: `python -m tests.demo_class --students 30`.

    solutions/ and tests/answers/ → mistakes, gaps, cells that were changed → class/submitted/

The same seed gives the same class, and a larger class begins with the smaller one. Nothing is
written where there is anything else: that is a real class.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader import api
from nbgrader.preprocessors import ClearOutput, ClearSolutions
from sqlalchemy import select
from sqlalchemy.engine import make_url

from attnlab.ipynb.files import NotWritten, write_whole
from attnlab.ipynb.handed_in import TIMESTAMP
from attnlab.ipynb.read import CHECK
from attnlab.ipynb.words import printable
from attnlab.lessons import slugs
from autograder import Problem
from autograder.gradebook.course import Course, CourseError
from autograder.gradebook.database import Database, GradebookError
from tests.learners.answers import Written, bank, unfinished

RECORD = ".demo-class.sha256"  # a line for every file ever written, as `sha256sum` prints it
DUE = datetime(2026, 2, 1, 18, tzinfo=UTC)
# What students do besides making mistakes, in turn. A loop takes the grader seconds: once a lesson.
HABITS = (
    *("solves all", "makes mistakes", "leaves an error", "edits a check", "makes mistakes"),
    *("is late", "downloads it twice", "deletes a check", "does nothing", "makes mistakes"),
    *("loops", "hands in no notebook"),
)


def cell_of(written: Written) -> str:
    """An answer that we hold as a cell, with what it needs."""
    return "\n\n\n".join(
        filter(None, ["\n".join(written.imports), *written.helpers, written.source])
    )


class Lesson:
    """A lesson as it is handed out, and its solutions by exercise."""

    def __init__(self, course: Course, slug: str) -> None:
        folder = course.directory.format_path(course.directory.source_directory, ".", slug)
        notebook = nbformat.read(Path(folder) / f"{slug}.ipynb", as_version=4)
        notebook.metadata.pop("jupytext", None)
        self.slug = slug
        self.answers = {
            cell.metadata.nbgrader.grade_id: "\n".join(
                line for line in cell.source.splitlines() if not line.strip().startswith("###")
            )
            for cell in notebook.cells
            if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
        }
        for step in (ClearSolutions, ClearOutput):
            notebook, _ = step(parent=course.directory.parent).preprocess(notebook, {})
        self.released: NotebookNode = notebook

    def handed_in(self, number: int, seed: int) -> Iterator[tuple[str, bytes]]:
        """The files of student 1, 2, … by their paths below the folder of submissions."""
        home = f"demo-{number:03}/{self.slug}"
        rng = random.Random(f"{seed}/{home}")
        turn = number - 1 + slugs().index(self.slug)  # nobody does the same in every lesson
        habit = HABITS[turn % len(HABITS)]
        if habit == "loops" and number > len(HABITS):
            habit = "makes mistakes"
        early = timedelta(days=-2) if habit == "is late" else timedelta(minutes=rng.randrange(4000))
        yield f"{home}/{TIMESTAMP}", f"{DUE - early:%Y-%m-%d %H:%M:%S} UTC\n".encode()
        text = "I lost my notebook, sorry.\n"
        if habit != "hands in no notebook":
            text = nbformat.writes(self._notebook(habit, rng)) + "\n"
        name = f"{self.slug} (1)" if habit == "downloads it twice" else self.slug
        yield f"{home}/{name}.ipynb", text.encode()

    def _notebook(self, habit: str, rng: random.Random) -> NotebookNode:
        notebook = copy.deepcopy(self.released)
        cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
        if habit == "does nothing":
            return notebook
        ability = 1.0 if habit == "solves all" else rng.uniform(0.2, 0.7)
        for name, answer in self.answers.items():
            if rng.random() < ability:
                cells[name].source = answer
                continue
            made = [each for each in bank(self.slug) if each.exercise == name and each.made]
            wrong = made if rng.random() < 0.75 else []
            chosen = rng.choice(wrong or unfinished(name, cells[name].source))
            cells[name].source = cell_of(chosen)
        name = rng.choice(list(self.answers))
        if habit == "leaves an error":
            notebook.cells.append(new_code_cell(f"{name}(1, 2, 3)[4]", id="tried-out"))
        elif habit == "edits a check":
            cells[name + CHECK].source = "100  # per cent"
        elif habit == "deletes a check":
            notebook.cells.remove(cells[name + CHECK])
        elif habit == "loops":
            cells[name].source += "\n\n\nwhile True:\n    pass"
        return notebook


def fill(folder: Path, files: Iterable[tuple[str, bytes]], graded: set[str]) -> None:
    """Write a class, unless there is anything else.

    Args:
        files: by their paths below the folder.
        graded: students whom the folder's gradebook knows.
    Raises:
        Problem: a real class is there, and nothing was written.
        NotWritten: a file could not be written.
    """
    record = _read_record(folder)
    theirs = list(_foreign(folder, record))
    theirs += [f"{name} (gradebook)" for name in sorted(graded - record.keys())]
    if theirs:
        more = f" and {len(theirs) - 5} more" if len(theirs) > 5 else ""
        raise Problem(
            f"More than an untouched demo class is in {folder} or its gradebook: "
            f"{', '.join(map(printable, theirs[:5]))}{more}. Nothing was written: move that away, "
            "or name another folder with --to FOLDER."
        )
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / RECORD, "a", encoding="utf-8") as lines:
        lines.write("\n")  # a killed run may have left half a line
        for path, content in files:
            digest = _digest(content)
            if digest not in record.get(path, ()):
                lines.write(f"{digest}  {path}\n")
                lines.flush()
            write_whole(folder / path, content)


def _read_record(folder: Path) -> dict[str, set[str]]:
    """Digests of all that was ever written in each place; none for a folder."""
    record: dict[str, set[str]] = {".": set()}
    if (folder / RECORD).exists():
        for line in (folder / RECORD).read_text(encoding="utf-8", errors="replace").splitlines():
            digest, _, path = line.partition("  ")
            record.setdefault(path, set()).add(digest)
            record |= {str(parent): set() for parent in PurePosixPath(path).parents}
    return record


def _foreign(folder: Path, record: dict[str, set[str]]) -> Iterator[str]:
    """What no demo class wrote, or somebody changed; not what is in a folder that is named."""
    for path in sorted(folder.rglob("*")):
        place = PurePosixPath(path.relative_to(folder).as_posix())
        # A part is what a killed run had begun to write.
        part = path.name.startswith(".") and path.name.endswith(".part")
        if str(place) == RECORD or part or str(place.parent) not in record:
            continue
        digests = record.get(str(place))
        if digests is not None and not path.is_symlink():
            if path.is_dir() or (path.is_file() and _digest(path.read_bytes()) in digests):
                continue
        yield str(place)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _graded(course: Course) -> set[str]:
    """Students whom the course's gradebook knows; it is not made where there is none."""
    url = make_url(course.directory.db_url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        return set()
    database = Database(
        course.directory.db_url, course.directory.course_id, wait_seconds=5.0, make=False
    )
    with database.transaction() as session:
        return set(session.scalars(select(api.Student.id)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.demo_class", description="Fills a folder with a synthetic class."
    )
    parser.add_argument("--students", type=int, default=30, metavar="N")
    parser.add_argument("--lesson", choices=slugs(), help="one lesson; all of them if left out")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="the same gives the same class"
    )
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="class/submitted if left out")
    asked = parser.parse_args(arguments)
    if asked.students < 1:
        parser.error("a class has at least one student: --students 1")
    try:
        course = Course.here()
        submitted = course.submitted(".", ".")
        folder = asked.to or submitted
        lessons = [Lesson(course, slug) for slug in slugs() if asked.lesson in (None, slug)]
        files = (
            file
            for number in range(1, asked.students + 1)
            for lesson in lessons
            for file in lesson.handed_in(number, asked.seed)
        )
        at_home = folder.resolve() == submitted.resolve()
        fill(folder, files, _graded(course) if at_home else set())
    except (CourseError, GradebookError, NotWritten, OSError, Problem) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"A class of {asked.students} is in {folder}.")
    print(f"One is late if formgrader says that it was due on {DUE:%Y-%m-%d %H:%M} UTC.")
    print(f"To grade it: make grade LESSON={lessons[0].slug}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
