"""Gradescope's table of an export, `submission_metadata.yml`: whose each folder is, and its time.

    submission_4242:
      :submitters:
      - :name: Ada Lovelace
        :sid: '1000'
        :email: ada@example.org
      :created_at: 2026-11-30 18:00:00.000000000 Z

Names in it are learners' own, and what their programs printed may stand further in. So it is not
read as YAML, in which a text can be anything. It is read line by line: a key counts at its column
alone, and what is not a plain text on that line is taken for unknown.

Source: Gradescope publishes no description of the export (of `submission_metadata.json`, which it
    hands to autograders, it does: gradescope-autograders.readthedocs.io). These are the keys that
    published programs read from it, looked at in November 2026.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from attnlab.ipynb.read import Unreadable

METADATA = "submission_metadata.yml"
_LINE = re.compile(
    r"(?P<indent> *)(?P<dash>- )?(?P<key>submission_[0-9]+|:\w+):(?: +(?P<value>.*))?"
)
_NOT_PLAIN = tuple("!&*|>[]{}%@`?,\"'")  # begins what is no plain text
_QUOTED = re.compile(r"'((?:[^']|'')*+)'")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\(?:["\\/]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}))*+)"')
_ESCAPE = re.compile(r"\\(?:x(..)|u(....)|(.))")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_NOTHING = ("~", "null")


@dataclass(slots=True)
class Submission:
    """What the table says of one folder.

    Attributes:
        people: of each submitter ':name', ':sid' and ':email', as far as they are said.
        time: in UTC and whole seconds; None if it says none.
    """

    people: list[dict[str, str]] = field(default_factory=list)
    time: datetime | None = None


def submissions(data: bytes) -> dict[str, Submission]:
    """What the table says of each folder, by the folder's name.

    Raises:
        Unreadable: it is no such table.
    """
    found: dict[str, Submission] = {}
    now, section, said, column = Submission(), "", {"": ""}, 0
    last = ""  # the key that was read last, in `said`
    for line in data.decode("utf-8", "replace").split("\n"):
        key = _LINE.fullmatch(line.rstrip())
        at = len(key["indent"] + (key["dash"] or "")) if key else len(line) - len(line.lstrip(" "))
        if key and at == 0 and key["key"] not in found and not key["value"]:
            now, section, said, last = Submission(), "", {}, ""
            found[key["key"]] = now
        elif key and at == 2 and not key["dash"]:
            section, said, last, column = key["key"], {}, "", 0
            if section == ":created_at":
                now.time = _time(key["value"] or "")
        elif key and section == ":submitters" and key["dash"] and (not column or at == column):
            said, last, column = {key["key"]: _text(key["value"])}, key["key"], at
            now.people.append(said)
        elif key and section == ":submitters" and at == column and key["key"] not in said:
            said[key["key"]], last = _text(key["value"]), key["key"]
        elif line.strip() in ("", "---"):
            continue
        elif at == 0:
            raise Unreadable(f"Its {METADATA} does not say who handed in what.")
        elif last:  # a text that goes on
            said[last] = ""
    if not found:
        raise Unreadable(f"Its {METADATA} does not say who handed in what.")
    return found


def _text(value: str | None) -> str:
    """A text on one line; '' for any other."""
    value = (value or "").strip()
    if quoted := _QUOTED.fullmatch(value):
        return quoted[1].replace("''", "'").strip()
    if quoted := _DOUBLE.fullmatch(value):
        return _ESCAPE.sub(_character, quoted[1]).strip()
    return "" if value.startswith(_NOT_PLAIN) or value in _NOTHING else value


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else escape[3]


def _time(value: str) -> datetime | None:
    said = _TIME.fullmatch(_text(value))
    if said is None:
        return None
    try:
        when = datetime.fromisoformat(
            f"{said[1]} {said[2]}{(said[3] or 'Z').replace('Z', '+00:00')}"
        )
        return when.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
