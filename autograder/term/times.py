"""When each of a class handed in, from a table: one of ours, or Moodle's grading worksheet.

    id,handed in
    ada,2026-11-30 18:00 UTC

In the column `id` stands an id, an e-mail or a name, as the roster has it. Moodle writes times as
whoever exported the worksheet sees them, and in which zone that is stands nowhere: so it is asked
for. They are read in English alone.

Source: moodle/moodle, mod/assign/gradingtable.php (col_timesubmitted: `userdate`, or `-`), read in
    November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from attnlab.ipynb.words import short
from autograder import Problem, Usage
from autograder.term.layouts import MOODLE, HandIn, named
from autograder.term.moodle import own
from autograder.term.sheets import Sheet
from autograder.term.tables import refuse_short

WORKSHEET = "Last modified (submission)"
_ID, _WHEN = "id", "handed in"
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?) ?(\S*)", re.ASCII)
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)", re.ASCII)
_WEEKDAY = re.compile(r"[A-Z][a-z]+day, ")
_MOODLE_S = ("%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M", "%B %d, %Y, %I:%M %p")


@dataclass(frozen=True, slots=True)
class Said:
    """What a table says of one person: who that is, in UTC when they handed in, and its line."""

    who: HandIn
    time: datetime
    where: str


def is_table(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def read(path: Path, zone: str = "") -> list[Said]:
    """All that a table says.

    Args:
        zone: of times that name none; '' where that was not said. Those of our table are then UTC.
    Raises:
        Usage: there is no such file or zone.
        Problem: it is no such table, or a time in it cannot be read or is in another zone.
    """
    try:
        sheet = Sheet(path.read_bytes(), path.name)
    except FileNotFoundError:
        raise Usage(f"There is no {str(path)!r}.") from None
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}.") from error
    if zone and _zone(zone) is None:
        raise Usage(f"There is no time zone {zone!r}. Write one such as Europe/Berlin or UTC.")
    header = [cell.strip() for cell in sheet.rows[0]]
    if WORKSHEET in header:
        return list(_moodle(sheet, header.index(WORKSHEET), zone))
    columns = [cell.lower() for cell in header]
    if not {_ID, _WHEN} <= set(columns):
        raise Problem(
            f"{sheet.where} is no table of times: its first line names `{_ID}` and `{_WHEN}`, or "
            f"{WORKSHEET!r} as in Moodle's grading worksheet, exported in English. It begins "
            f"{short(', '.join(header))!r}."
        )
    return list(_ours(sheet, columns.index(_ID), columns.index(_WHEN), zone))


def _rows(sheet: Sheet) -> Iterator[tuple[list[str], str]]:
    """Each row's cells, and where it stands."""
    for at, cells in enumerate(sheet.rows):
        if at and any(cells):
            refuse_short(sheet, at, len(sheet.rows[0]))
            yield [cell.strip() for cell in cells], f"{sheet.where}, line {sheet.lines[at]}"


def _ours(sheet: Sheet, who: int, when: int, zone: str) -> Iterator[Said]:
    zones: dict[str, str] = {}
    for cells, where in _rows(sheet):
        if not cells[when]:
            continue
        said = _TIME.fullmatch(cells[when])
        called = (said[3] if said else "") or zone or "UTC"
        zones.setdefault(called, where)
        if len(zones) > 1:
            (one, there), (other, here) = zones.items()
            raise Problem(
                f"{here}, has a time in {short(other)}, and {there.rpartition(', ')[2]} one in "
                f"{short(one)}. Write all of them in one zone."
            )
        of, time = _zone(called), None
        with suppress(ValueError):
            time = datetime.fromisoformat(f"{said[1]} {said[2]}") if said else None
        if time is None or of is None:
            raise Problem(
                f"{where}, says {short(cells[when])!r}. A time has year, month and day, and a zone "
                "such as UTC, +01:00 or Europe/Berlin: write 2026-11-30 18:00 UTC."
            )
        yield Said(named(cells[who], where), _utc(time, of, where), where)


def _moodle(sheet: Sheet, column: int, zone: str) -> Iterator[Said]:
    of = _zone(zone)
    if of is None:
        raise Problem(
            f"{sheet.where} does not say in which time zone its times are: that of your profile in "
            "Moodle. Say it, as in --zone Europe/Berlin."
        )
    for cells, where in _rows(sheet):
        if cells[column] in ("", "-"):
            continue
        text, time = _WEEKDAY.sub("", cells[column]), None
        for form in _MOODLE_S:
            with suppress(ValueError):
                time = datetime.strptime(text, form)
        if time is None:
            raise Problem(
                f"{where}, says {short(cells[column])!r}, and a time is read as Moodle writes it "
                "in English: Monday, 30 November 2026, 6:00 PM. Export the worksheet in English."
            )
        email = next((cell for cell in cells[2:column] if "@" in cell), "")
        who = HandIn(MOODLE, where, (), own(cells[0]), cells[1], email, tuple(cells[2:column]))
        yield Said(who, _utc(time, of, where), where)


def _utc(time: datetime, zone: tzinfo, where: str) -> datetime:
    try:
        return time.replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise Problem(f"{where}, says {time}, which is no time of a course.") from None


def _zone(name: str) -> tzinfo | None:
    """What a name of a zone means; None if it is none."""
    if name in ("UTC", "Z"):
        return UTC
    if offset := _OFFSET.fullmatch(name):
        sign = -1 if offset[1] == "-" else 1
        with suppress(ValueError):
            return timezone(sign * timedelta(hours=int(offset[2]), minutes=int(offset[3])))
    with suppress(ValueError, OSError, KeyError):
        return ZoneInfo(name)
    return None
