"""Moodle: an assignment's grading worksheet, and the names of pages that it takes back.

Read in Moodle's source (mod/assign/gradingtable.php, mod/assign/feedback/offline/ and
mod/assign/feedback/file/importziplib.php of moodle/moodle, as stored in November 2026):

- The first line's words are in the language of whoever exported it. The first column is a word and
  the participant's number, `Participant 123456`, which is another in each assignment; then name
  and e-mail, unless marking is blind, status, the grade, the maximum grade, and more.
- Next to the grade, on its right, stands the maximum, the same in each row; where grades are words
  of a scale, those words. Decimals are written as in the language; so they are read.
- A grade is taken if it is between 0 and the maximum, and if Moodle's own was not changed after
  the time in the last column but comments, unless one ticks that it may be: so that time stays.
- A page comes back to whom its folder says, `Full name_123456_assignsubmission_file_`: by the
  number and the last two words. What follows is the page's own name.
"""

from __future__ import annotations

import re

from attnlab.ipynb.words import few, short
from autograder import Problem
from autograder.term.layouts import moodle_name
from autograder.term.sheets import Sheet
from autograder.term.tables import Row, Table, number, refuse_short, refuse_two

UPLOAD = "in the assignment's submissions, *Upload multiple feedback files in a zip*"
ALLOW = (
    "A grade that was changed in Moodle after the worksheet was downloaded stays there, unless you "
    "tick that records may be updated which were modified more recently in Moodle."
)
_NUMBER = re.compile(r"\D.*?(\d+)")


def table(sheet: Sheet, lesson: str, column: str) -> Table:
    """What a grading worksheet says.

    Args:
        column: the grade's header, if its place does not find it.
    Raises:
        Problem: it is none, or has no such column.
    """
    del lesson  # a worksheet is of one assignment, and does not say of which
    header, body = sheet.rows[0], [at for at, row in enumerate(sheet.rows) if at and any(row)]
    if not body or not all(_NUMBER.fullmatch(sheet.rows[at][0].strip()) for at in body):
        raise Problem(
            f"{sheet.where} is no grading worksheet of Moodle's: in its first column each cell is "
            f"a word and a number, as in Participant 123456. This begins "
            f"{short(', '.join(header))!r}."
        )
    for at in body:
        refuse_short(sheet, at, len(header))
    found = _column(sheet, body, column)
    rows = tuple(_row(sheet, at, found) for at in body)
    refuse_two(sheet, rows)
    most = sheet.rows[body[0]][found + 1] if found + 1 < len(header) else ""
    written = [most, *(sheet.rows[at][found] for at in body)]
    return Table(rows, found, number(most), any("," in text for text in written))


def _row(sheet: Sheet, at: int, column: int) -> Row:
    cells = sheet.rows[at]
    return Row(at, cells[1], own(cells[0]), tuple(filter(None, cells[2:column])))


def own(text: str) -> str:
    """A participant's number."""
    found = _NUMBER.fullmatch(text.strip())
    return found[1] if found else text.strip()


def _column(sheet: Sheet, body: list[int], wanted: str) -> int:
    """Raises: Problem, none is it or more than one."""
    header = sheet.rows[0]
    if wanted:
        found = [at for at, name in enumerate(header) if at and name == wanted]
    else:
        found = [at for at in range(1, len(header) - 1) if _is_grade(sheet, body, at)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(few([f"{short(name)!r}" for name in header[1:]], 30))
    raise Problem(
        f"Which column of {sheet.where} has the grades cannot be told: that is the one before the "
        f"maximum grade, a number that is the same in each row. There are {listed}. Say which "
        "with --column NAME."
    )


def _is_grade(sheet: Sheet, body: list[int], at: int) -> bool:
    """Whether a column holds grades, and the next one what they are at most."""
    [most, *others] = {sheet.rows[row][at + 1].strip() for row in body}
    worth = None if others else number(most)
    if worth is None or worth <= 0:
        return False
    grades = [sheet.rows[row][at].strip() for row in body]
    return all(not text or 0 <= (number(text) or 0.0) <= worth for text in grades) and not any(
        text and number(text) is None for text in grades
    )


def page_in(name: str, lesson: str, page: bytes) -> tuple[str, bytes] | None:
    """What to give back for a file downloaded by this name; None where it does not tell."""
    said = moodle_name(name)
    return (f"{said.before}{said.joint}{lesson}.html", page) if said else None
