"""What each LMS makes of a class's files: from names in an archive to hand-ins.

    canvas(members, lesson) -> hand-ins, and what is not Canvas's

Each function takes the files that the ones before it left, and opens none but Gradescope's table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from attnlab.ipynb.read import Unreadable
from autograder.submission.archive import Member, is_zip
from autograder.submission.folder import in_nfc, is_notebook, stem
from autograder.submission.timestamps import time_of

CANVAS, MOODLE, GRADESCOPE, PLAIN = "canvas", "moodle", "gradescope", ""
METADATA = "submission_metadata.yml"

_CANVAS = re.compile(
    r"(?:(?P<name>.*?)_(?P<late>LATE_)?(?P<id>[0-9]+)|(?P<too>LATE_)?(?P<code>anon_[^_]+))"
    r"_(?:(?P<number>[0-9]+)_(?P<called>.+)|(?:text|link)\.html)"
)
_MOODLE = re.compile(
    r"(?P<all>(?:.*/)?(?P<name>[^/]+)_(?P<id>[0-9]+))_assignsubmission_[a-z]+(?:_/|/|_)(?P<called>.+)"
)
_AGAIN = re.compile(r"-[0-9]+(?=\.[a-z]+\Z)")


@dataclass(frozen=True, slots=True)
class File:
    """One file of a hand-in.

    Attributes:
        called: what its owner called it, as far as the LMS kept that.
    """

    called: str
    member: Member


@dataclass(frozen=True, slots=True)
class HandIn:
    """What somebody handed in for the lesson, once.

    Attributes:
        lms: 'canvas', 'moodle', 'gradescope', or '' for plain files.
        files: all of it.
        known_as: what the LMS calls this one; '' if it says nothing.
        name: the person's, as the LMS writes it; '' if it says none.
        email: '' if it says none.
        ids: what may be the student's id in the roster.
        time: of handing in, in UTC and whole seconds; None if nothing tells.
        late: whether the LMS says so.
        number: grows with each file that is handed in; 0 if there is none. Beside a time: its
            microseconds.
        secret: by which nbgrader's exchange gives a page back; empty elsewhere.
        on_disk: when it was written, where that is not the time that it says.
    """

    lms: str
    files: tuple[File, ...]
    known_as: str = ""
    name: str = ""
    email: str = ""
    ids: tuple[str, ...] = ()
    time: datetime | None = None
    late: bool = False
    number: int = 0
    secret: bytes = b""
    on_disk: datetime | None = None

    @property
    def place(self) -> str:
        """The first file's name in what was given, for people to find it."""
        return self.files[0].member.name if self.files else self.known_as or self.name


Found = tuple[list[HandIn], list[Member]]


def canvas(members: list[Member], lesson: str) -> Found:
    """Canvas: `lovelaceada_LATE_1017_5551_06-causal-mask.ipynb`, all in one folder.

    The parts are the name to sort by in small letters and without anything else, LATE if it was,
    the user's and the attachment's number, and the file's own name, in which Canvas puts -1, -2, …
    before the ending where it had a file of that name. Where grading is anonymous there is no name,
    and `anon_` with a code of this assignment's is in the number's place. What was typed in ends in
    `_text.html` or `_link.html` after the user's number. The time of a member is when the zip was
    made, so it says nothing of handing in.

    Source: instructure/canvas-lms, lib/content_zipper.rb (add_upload_submission, get_filename,
        sanitize_file_name), and Attachment.make_unique_filename; read in November 2026.
    """
    found: dict[tuple[str, str], list[tuple[int, File, bool]]] = defaultdict(list)
    rest = []
    for member in members:
        said = _CANVAS.fullmatch(PurePosixPath(member.name).name)
        if said is None:
            rest.append(member)
            continue
        called = said["called"] or member.name
        plain = _AGAIN.sub("", called)
        if (stem(plain) or plain.rpartition(".")[0]) == lesson:
            called = plain
        file = File(called, member)
        key = said["id"] or said["code"], said["name"] or ""
        late = bool(said["late"] or said["too"])
        found[key].append((int(said["number"] or 0), file, late))
    hand_ins = []
    for (known_as, name), files in found.items():
        for attempt in _attempts(sorted(files, key=lambda each: each[0])):
            hand_ins.append(
                HandIn(
                    CANVAS,
                    tuple(file for _, file, _ in attempt),
                    known_as,
                    name,
                    late=any(late for _, _, late in attempt),
                    number=max(number for number, _, _ in attempt),
                )
            )
    return hand_ins, rest


def number_in(name: str) -> int:
    """The attachment's number in a name of Canvas's, 0 if there is none."""
    said = _CANVAS.fullmatch(PurePosixPath(name).name)
    return int(said["number"] or 0) if said else 0


def _attempts(files: list[tuple[int, File, bool]]) -> list[list[tuple[int, File, bool]]]:
    """Files in order, in as many parts as one of them was handed in under the same name."""
    parts: list[list[tuple[int, File, bool]]] = []
    for each in files:
        called = each[1].called
        free = (part for part in parts if called not in [file.called for _, file, _ in part])
        part = next(free, None)
        if part is None:
            parts.append([each])
        else:
            part.append(each)
    return parts


def moodle(members: list[Member], lesson: str) -> Found:
    """Moodle: `Ada Lovelace_123456_assignsubmission_file_/06-causal-mask.ipynb`.

    The parts are the full name, in which an underscore is a blank, the participant's number in this
    assignment alone, and how it was handed in. Newer versions have no underscore before the slash;
    without "Download submissions in folders" there is one in the slash's place. Where marking is
    blind the name is the word for participant in Moodle's language, and a group's is the group's.
    Times of members are when the zip was made, or the server's own, so none is taken.

    Source: moodle/moodle, mod/assign/classes/downloader.php (get_student_prefix,
        load_submissionplugin_filelist), files/classes/local/archive_writer/zip_writer.php; read in
        November 2026.
    """
    found: dict[tuple[str, str, str], list[File]] = defaultdict(list)
    rest = []
    for member in members:
        said = _MOODLE.fullmatch(member.name)
        if said is None:
            rest.append(member)
        else:
            found[said["all"], said["id"], said["name"]].append(File(said["called"], member))
    return [
        HandIn(MOODLE, tuple(files), known_as, name) for (_, known_as, name), files in found.items()
    ], rest


def gradescope(members: list[Member], lesson: str) -> Found:
    """Gradescope's export: `assignment_77_export/submission_4242/06-causal-mask.ipynb`.

    Beside these folders lies `submission_metadata.yml`, which has for each of them `:submitters:`
    with `:name:`, `:sid:` and `:email:`, several for a group, and `:created_at:`, when it was
    handed in. The export has each one's active submission alone.

    Source: Gradescope publishes no description of the export (of `submission_metadata.json`, which
        it hands to autograders, it does: gradescope-autograders.readthedocs.io). These are the keys
        that published programs read from it, looked at in November 2026.
    Raises:
        Unreadable: the table is not as that.
    """
    found = []
    for table in [each for each in members if PurePosixPath(each.name).name == METADATA]:
        folder = PurePosixPath(table.name).parent
        for name, said in _metadata(table).items():
            home = folder / str(name)
            files = tuple(
                File(str(PurePosixPath(each.name).relative_to(home)), each)
                for each in members
                if PurePosixPath(each.name).is_relative_to(home)
            )
            for submitter in _submitters(said):
                sid, email = _text(submitter.get(":sid")), _text(submitter.get(":email"))
                found.append(
                    HandIn(
                        GRADESCOPE,
                        files,
                        sid or email,
                        _text(submitter.get(":name")),
                        email,
                        tuple(filter(None, (sid, email))),
                        _time(said.get(":created_at")),
                    )
                )
    theirs = {id(file.member) for each in found for file in each.files}
    return found, [
        each
        for each in members
        if id(each) not in theirs and PurePosixPath(each.name).name != METADATA
    ]


def _metadata(table: Member) -> dict[Any, dict[str, Any]]:
    """What is said of each submission.

    Raises:
        Unreadable: it is no such table.
    """
    import yaml

    try:
        # libyaml's, where it was built in, takes a tenth of the time.
        found = yaml.load(table.read(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())[:100]
        raise Unreadable(f"Its {METADATA} cannot be read: {why}.") from error
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise Unreadable(f"Its {METADATA} does not say who handed in what.")
    return found


def _submitters(said: dict[str, Any]) -> list[dict[str, Any]]:
    listed = said.get(":submitters")
    if not isinstance(listed, list):
        listed = []
    nobody: dict[str, Any] = {}
    return [each for each in listed if isinstance(each, dict)] or [nobody]


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int) else ""


def _time(value: object) -> datetime | None:
    """A time in UTC and whole seconds; YAML's has no zone where it is UTC."""
    if isinstance(value, datetime):
        value = value.isoformat(sep=" ")
    when = time_of(value.encode()) if isinstance(value, str) else None
    return when and when.replace(microsecond=0)


def plain(members: list[Member], lesson: str, source: str, alone: bool) -> Found:
    """Files without an LMS: each is called by its student, or lies in a folder that is.

    `ada.ipynb`, `ada-06-causal-mask.ipynb`, `ada.zip`, `ada/06-causal-mask/06-causal-mask.ipynb`.

    Args:
        source: what the archive, without its ending, or the folder is called that they are from.
        alone: a single notebook may be called by whom the source is called by, or by its own name.
    """
    found: dict[str, list[File]] = defaultdict(list)
    rest = []
    theirs = [each for each in members if _is_hand_in(each.name)]
    for member in members:
        if not _is_hand_in(member.name):
            rest.append(member)
            continue
        who = student_of(member.name, lesson, source)
        found[who].append(File(PurePosixPath(member.name).name, member))
    whose = student_of(f"{source}.zip", lesson, "") if alone and len(theirs) == 1 else ""
    return [_called(whose or who, files, who) for who, files in found.items()], rest


def is_one_s_own(members: list[Member], lesson: str) -> bool:
    """Whether an archive is a single learner's, as `attnlab hand-in` makes it."""
    wanted = f"{lesson}.ipynb"
    return any(each.name in (wanted, f"{lesson}/{wanted}") for each in members)


def own(member: Member, lesson: str) -> HandIn:
    """A learner's own archive, which is called by its student."""
    return _called(student_of(member.name, lesson, ""), [File(member.name, member)])


def student_of(name: str, lesson: str, source: str) -> str:
    """Whom a file's name, or else the nearest folder's, names besides the lesson."""
    path = PurePosixPath(name)
    own = stem(path.name) or (path.stem if is_zip(path.name) else path.name)
    for part in (own, *reversed(path.parts[:-1]), PurePosixPath(source).name):
        who = in_nfc(part)
        if who.endswith(lesson):
            who = who.removesuffix(lesson).removesuffix("-")
        if who:
            return who
    return ""


def _called(who: str, files: list[File], too: str = "") -> HandIn:
    ids = tuple(dict.fromkeys(filter(None, (who, too))))
    return HandIn(PLAIN, tuple(files), "", who, who if "@" in who else "", ids)


def _is_hand_in(name: str) -> bool:
    last = PurePosixPath(name).name
    return is_notebook(last) or is_zip(last)


def from_lms(members: list[Member], lesson: str) -> Found:
    """All that is in the layout of one LMS or another, and the files that are in none.

    Raises:
        Unreadable: a table that says whose is whose cannot be read.
    """
    found: list[HandIn] = []
    for layout in (gradescope, moodle, canvas):
        theirs, members = layout(members, lesson)
        found += theirs
    return found, members
