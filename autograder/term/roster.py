"""Who is in the class: `class/roster.csv`, which an instructor keeps.

    id,name,email,canvas,moodle,gradescope,due 06-causal-mask
    ada,Ada Lovelace,ada@example.org,1017,,,2026-11-30 18:00 UTC

The first line names the columns, in any order; `id`, what the student's folder is called, is the
only one that has to be there. `canvas`, `moodle` and `gradescope` are what each LMS calls them. A
column `due LESSON` has due dates of one's own, as nbgrader reads times.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from attnlab.ipynb.handed_in import in_nfc
from attnlab.ipynb.words import short
from attnlab.lessons import absent, slugs, today
from autograder import Problem
from autograder.submission.timestamps import time_of

NAME = "roster.csv"
LMS = ("canvas", "moodle", "gradescope")
_DUE = "due "
_BEGINS = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
_COLUMNS = ("id", "name", "email", *LMS)
_DELIMITERS = ",;\t"  # a spreadsheet's, in one country or another


@dataclass(frozen=True, slots=True)
class Student:
    """One line of the roster.

    Attributes:
        id: what the folder and the gradebook's row are called, in NFC.
        name, email: '' where the roster says none.
        lms: what each LMS calls the student, by its name in LMS.
        due: due dates of one's own in UTC, by lesson.
    """

    id: str
    name: str
    email: str
    lms: Mapping[str, str]
    due: Mapping[str, datetime]


def read(path: Path) -> list[Student]:
    """The students in the order of the file.

    Raises:
        Problem: it is not there, or something in it is amiss; the sentence says which line.
    """
    where = str(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise Problem(
            f"There is no {where}. Make it: a table as CSV, with a first line that names its "
            f"columns, {', '.join(_COLUMNS)}; only `id` has to be there."
        ) from None
    except OSError as error:
        raise Problem(f"{where} cannot be read: {error.strerror}.") from error
    return list(_students(_rows(text_of(data, where), where), where))


def text_of(data: bytes, where: str) -> str:
    """A table's text.

    Raises:
        Problem: it is in another encoding than UTF-8, or UTF-16 that says so.
    """
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Problem(
            f"{where}, line {line}, is not UTF-8. Save the table as CSV in UTF-8."
        ) from error


def _rows(text: str, where: str) -> list[tuple[int, dict[str, str]]]:
    """What each line says by column, with its number."""
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise Problem(f"{where}, line {reader.line_num}, is no CSV: {error}.") from error
    names = [" ".join(name.lower().split()) for name in lines[0][1]] if lines else []
    if "id" not in names:
        raise Problem(
            f"{where} has no column `id`: its first line names the columns, of which there are "
            f"{', '.join(_COLUMNS)} and `due LESSON`. It begins {short(first)!r}."
        )
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise Problem(f"{where} has two columns {twice[0]!r}: leave one.")
    for number, cells in lines[1:]:
        if any(cells[len(names) :]):
            raise Problem(
                f"{where}, line {number}, has {len(cells)} cells, and the first line names "
                f"{len(names)} columns. What has a {delimiter!r} in it stands in double quotes."
            )
    return [
        (number, dict(zip(names, [*cells, *[""] * len(names)], strict=False)))
        for number, cells in lines[1:]
        if any(cells)
    ]


def _students(rows: list[tuple[int, dict[str, str]]], where: str) -> Iterator[Student]:
    """Raises: Problem, at the first line that is amiss."""
    seen: dict[tuple[str, str], int] = {}
    columns = rows[0][1] if rows else {}
    lessons = {each: _lesson(each, where) for each in columns if each.startswith(_DUE)}
    for number, row in rows:
        at = f"{where}, line {number}"
        if not row["id"]:
            raise Problem(f"{at}, has no `id`.")
        if row.get("email") and "@" not in row["email"]:
            raise Problem(f"{at}, says {short(row['email'])!r} for an e-mail.")
        student = Student(
            in_nfc(row["id"]),
            row.get("name", ""),
            row.get("email", ""),
            {lms: row[lms] for lms in LMS if row.get(lms)},
            {lesson: _time(row[c], f"{at}, `{c}`") for c, lesson in lessons.items() if row[c]},
        )
        for column, value in (("id", student.id), *student.lms.items()):
            if (column, value) in seen:
                raise Problem(
                    f"{at}, has the {column} {short(value)!r}, which line {seen[column, value]} "
                    "has: nobody can have another's."
                )
            seen[column, value] = number
        yield student


def _lesson(column: str, where: str) -> str:
    """The lesson of a column, by the name that it has or had."""
    name = today(column.removeprefix(_DUE).strip())
    if name not in slugs():
        raise Problem(f"{where} has a column {short(column)!r}. {absent(name)}")
    return name


def _time(text: str, at: str) -> datetime:
    """Raises: Problem, also at what may be read in two ways, as 8.3.2026 is."""
    when = time_of(text.encode()) if _BEGINS.match(text) else None
    if when is None:
        raise Problem(
            f"{at} says {short(text)!r}. A due date has year, month, day and a time: write "
            "2026-11-30 18:00 UTC."
        )
    return when
