"""Canvas: the table that its gradebook exports, and the names of pages that it takes back.

Read in Canvas's source (lib/gradebook_exporter.rb, lib/gradebook_importer.rb and
app/models/abstract_assignment.rb of instructure/canvas-lms, as stored in November 2026):

- The first line is `Student`, or `LastName` and `FirstName`, then `ID` to `Section`, then columns
  that a teacher has made, then assignments, each `Title (12345)`, then totals. Headers are English
  in every language; the delimiter may be a semicolon.
- Before the students stand a row with nothing or `Manual Posting` in each cell, if any assignment
  is posted so, and one that begins `Points Possible`, which says `(read only)` of some columns.
- A score is `EX` for who is excused, and `N/A` for whom the assignment is not. Numbers with a point
  are read in every language.
- A page comes back to whom its name says: what stands between underscores and is a number is first
  the student's, then the attachment's; anonymous ones are `anon_…_<attachment>_…`. The rest of the
  name, and its ending, is not looked at. It is shown under the name of what was handed in.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from attnlab.ipynb.words import few, short
from attnlab.ipynb.zipped import zipped
from attnlab.lessons import lesson as lesson_of
from autograder import Problem
from autograder.term.layouts import canvas_name
from autograder.term.sheets import Sheet
from autograder.term.tables import Row, Table, number, refuse_short, refuse_two

UPLOAD = "in the assignment, *Upload Submissions*"
_LAST = "Section"
_ASSIGNMENT = re.compile(r"(.*\S)\s*\((\d+)\)")
_POINTS = "Points Possible"
_READ_ONLY = re.compile(r"read\s+only")
_NO_STUDENT = re.compile(r"\s*((Muted|Manual Posting.*)\s*)?", re.IGNORECASE)
_KEPT = {"EX": "excused there", "N/A": "not assigned to them there"}
_TEST_STUDENT = ("Student, Test", "Test Student")  # a teacher's view of the course


def table(sheet: Sheet, lesson: str, column: str) -> Table:
    """What a gradebook's export says.

    Args:
        column: its header, title or number, if the lesson's name does not find it.
    Raises:
        Problem: it is none, or the column is not found.
    """
    header = sheet.rows[0]
    if _LAST not in header or "ID" not in header or not {"Student", "LastName"} & set(header[:1]):
        raise Problem(
            f"{sheet.where} is no export of Canvas's gradebook: that begins with the columns "
            f"Student, ID, …, {_LAST}. This begins {short(', '.join(header))!r}."
        )
    section = header.index(_LAST)
    points = next((row for row in sheet.rows if _POINTS in row[0]), [])
    open_to = [
        at
        for at in range(section + 1, len(header))
        if not (at < len(points) and _READ_ONLY.search(points[at]))
    ]
    found = _column(sheet, open_to, lesson, column)
    rows = tuple(_rows(sheet, section, found))
    refuse_two(sheet, rows)
    return Table(rows, found, number(points[found]) if found < len(points) else None)


def _rows(sheet: Sheet, section: int, column: int) -> list[Row]:
    header = sheet.rows[0]
    rows = []
    for at, cells in enumerate(sheet.rows):
        if at == 0 or _POINTS in cells[0] or all(map(_NO_STUDENT.fullmatch, cells)):
            continue
        refuse_short(sheet, at, max(section, column) + 1)
        of = dict(zip(header[:section], cells, strict=False))
        name = of.get("Student") or " ".join([of.get("FirstName", ""), of.get("LastName", "")])
        if name.strip() in _TEST_STUDENT:
            continue
        others = tuple(of[key] for key in ("SIS User ID", "SIS Login ID") if of.get(key))
        rows.append(Row(at, name, of["ID"], others, _KEPT.get(cells[column].strip().upper(), "")))
    return rows


def _column(sheet: Sheet, open_to: list[int], lesson: str, wanted: str) -> int:
    """Raises: Problem, none is it or more than one."""
    header = sheet.rows[0]
    titles: dict[int, tuple[str, str]] = {}
    for at in open_to:
        if of := _ASSIGNMENT.fullmatch(header[at]):
            titles[at] = of[1], of[2]
    if wanted:
        found = [at for at in open_to if header[at] == wanted]
        found = found or [at for at, names in titles.items() if wanted in names]
        what = f"is called {wanted!r}"
    else:
        title = lesson_of(lesson).title
        found = [at for at, (name, _) in titles.items() if _plain(lesson) in _plain(name)]
        found = found or [at for at, (name, _) in titles.items() if _plain(title) in _plain(name)]
        what = f"has {lesson} or {title!r} in its title"
    if len(found) == 1:
        return found[0]
    listed = [f"{short(header[at])!r}" for at in found or titles]
    raise Problem(
        f"In {sheet.where} {'more than one' if found else 'no'} assignment {what}. "
        + (f"There are {', '.join(few(listed, 30))}. " if listed else "There is no assignment. ")
        + "Say which with --column NAME."
    )


def _plain(text: str) -> str:
    """Words without what stands between them: '06 causal mask'."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def page_in(name: str, lesson: str, page: bytes) -> tuple[str, bytes] | None:
    """What to give back for a file that was downloaded by this name; None where it does not tell.

    For a zip it is a zip, under its very name: a learner opens it by that.
    """
    said = canvas_name(name)
    if said is None or not said.number or (said.late and not said.name):
        return None
    if name.lower().endswith(".zip"):
        return name, zipped({f"{lesson}.html": page})
    return f"{PurePosixPath(name).stem}.html", page
