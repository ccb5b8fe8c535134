"""What each LMS makes of a class's files: from names in an archive to hand-ins, and back.

    hand_ins(members, lesson, source) -> hand-ins, what is none, what is to be told

The LMS is decided once for each archive. Whose a file is says the outermost part of its path, in
the form which that LMS writes; all below is the learner's, whatever it is called. `canvas_name` and
`moodle_name` read that part for what comes and for the pages that go back.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from attnlab.ipynb.handed_in import Member, in_nfc, is_notebook, is_zip
from attnlab.ipynb.words import stem
from autograder.term.gradescope import METADATA, Submission, submissions

CANVAS, MOODLE, GRADESCOPE, PLAIN = "canvas", "moodle", "gradescope", ""

_CANVAS = re.compile(
    r"(?:(?P<name>[^_/]*)_(?P<late>LATE_)?(?P<id>[0-9]+)|(?P<too>LATE_)?(?P<code>anon_[^_/]+))"
    r"_(?:(?P<number>[0-9]+)_(?P<called>[^/]+)|(?:text|link)\.html)"
)
_MOODLE = re.compile(
    r"(?P<all>(?P<name>[^_/]+)_(?P<id>[0-9]+)_assignsubmission_[a-z]+)"
    r"(?P<joint>_?/|_)(?P<called>.+)",
    re.DOTALL,
)
_GRADESCOPE = re.compile(
    r"(?P<home>(?:assignment_[0-9]+_export/)?)(?:(?P<folder>submission_[0-9]+)/(?P<called>.+)"
    rf"|{re.escape(METADATA)})",
    re.DOTALL,
)
_AGAIN = re.compile(r"-[0-9]+(?=\.[a-z]+\Z)")


@dataclass(frozen=True, slots=True)
class HandIn:
    """What somebody handed in for the lesson, once.

    Attributes:
        lms: 'canvas', 'moodle', 'gradescope', or '' for plain files.
        place: the first file's name in what was given, for people to find it.
        files: all of it, by what their owner called them, as far as the LMS kept that.
        known_as: what the LMS calls this one; '' if it says nothing.
        name: the person's, as the LMS writes it; '' if it says none.
        email: '' if it says none.
        ids: what may be the student's id in the roster.
        time: of handing in, in UTC and whole seconds; None if nothing tells.
        late: whether the LMS says so.
        number: grows with each file that is handed in; 0 if there is none. Beside a time: its
            microseconds.
        secret: by which nbgrader's exchange gives a page back; empty elsewhere.
        on_disk: when it was last written, where that is not the time that it says.
        made: when Moodle made the archive, in the server's time; '' if that is not known.
        typed: whether something was typed into the LMS's own page: a text, a link, a comment.
    """

    lms: str
    place: str
    files: tuple[Member, ...]
    known_as: str = ""
    name: str = ""
    email: str = ""
    ids: tuple[str, ...] = ()
    time: datetime | None = None
    late: bool = False
    number: int = 0
    secret: bytes = b""
    on_disk: datetime | None = None
    made: str = ""
    typed: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """What an LMS's name for a file says.

    Attributes:
        known_as, name: whose it is: the LMS's number or code, and the person's name.
        called: what its owner called it.
        number: of Canvas's attachment.
        before: of Moodle's, all before the owner's own name; and what joins the two.
    """

    known_as: str
    name: str
    called: str
    late: bool = False
    number: int = 0
    before: str = ""
    joint: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What is in one archive or folder.

    Attributes:
        rest: files that are no hand-in.
        strange: of an LMS's, what is not named as that one names a hand-in.
    """

    hand_ins: list[HandIn]
    rest: list[Member]
    strange: Sequence[str] = ()


def hand_ins(members: Sequence[Member], lesson: str, source: str) -> Found:
    """The hand-ins in one archive or folder.

    It is an LMS's if most of what may be a hand-in is named as that one names it; else its files
    and folders are named after students.

    Args:
        source: what it is called, without its ending.
    Raises:
        Unreadable: a table that says whose is whose cannot be read.
    """
    layouts: tuple[tuple[re.Pattern[str], Callable[..., list[HandIn]]], ...] = (
        (_GRADESCOPE, _gradescope),
        (_MOODLE, _moodle),
        (_CANVAS, _canvas),
    )
    for form, layout in layouts:
        theirs = [each for each in members if form.fullmatch(each.name)]
        others = [each for each in members if not form.fullmatch(each.name)]
        if form is _GRADESCOPE and len(_tables(theirs)) != 1:
            continue
        strange = _tops(each for each in others if "/" in each.name or _may_be(each.name))
        if len(_tops(theirs)) > len(strange):
            rest = [each for each in others if "/" not in each.name and not _may_be(each.name)]
            return Found(layout(theirs, lesson), rest, strange)
    return _plain(members, lesson, source)


def _tops(members: Iterable[Member]) -> list[str]:
    """The outermost parts of paths, each once."""
    return list(dict.fromkeys(each.name.partition("/")[0] for each in members))


def canvas_name(name: str) -> Name | None:
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
    said = _CANVAS.fullmatch(name)
    if said is None:
        return None
    return Name(
        said["id"] or said["code"],
        said["name"] or "",
        said["called"] or name,
        bool(said["late"] or said["too"]),
        int(said["number"] or 0),
    )


def moodle_name(name: str) -> Name | None:
    """Moodle: `Ada Lovelace_123456_assignsubmission_file_/06-causal-mask.ipynb`.

    The parts are the full name, in which an underscore is a blank, the participant's number in this
    assignment alone, and how it was handed in. Newer versions have no underscore before the slash;
    without "Download submissions in folders" there is one in the slash's place. Where marking is
    blind the name is the word for participant in Moodle's language, and a group's is the group's.
    Times of members say nothing of handing in. In newer versions they are when the zip was made, in
    older ones when the server first stored such a file: so the last of them grows from one download
    to the next, and tells which of two is the newer.

    Source: moodle/moodle, mod/assign/classes/downloader.php (get_student_prefix,
        load_submissionplugin_filelist), files/classes/local/archive_writer/zip_writer.php; read in
        November 2026.
    """
    said = _MOODLE.fullmatch(name)
    if said is None:
        return None
    return Name(said["id"], said["name"], said["called"], before=said["all"], joint=said["joint"])


def _canvas(members: Sequence[Member], lesson: str) -> list[HandIn]:
    found: dict[tuple[str, str], list[tuple[Name, Member, str]]] = defaultdict(list)
    for member in members:
        said = canvas_name(member.name)
        assert said
        plain = _AGAIN.sub("", said.called)
        called = plain if (stem(plain) or plain.rpartition(".")[0]) == lesson else said.called
        found[said.known_as, said.name].append((said, Member(called, member.read), member.name))
    return [
        HandIn(
            CANVAS,
            attempt[0][2],
            tuple(member for _, member, _ in attempt),
            known_as,
            name,
            late=any(said.late for said, _, _ in attempt),
            number=max(said.number for said, _, _ in attempt),
            typed=any(not said.number for said, _, _ in attempt),
        )
        for (known_as, name), files in found.items()
        for attempt in _attempts(sorted(files, key=lambda each: each[0].number))
    ]


def _attempts(files: list[tuple[Name, Member, str]]) -> list[list[tuple[Name, Member, str]]]:
    """Files in order, in as many parts as one of them was handed in under the same name."""
    parts: list[list[tuple[Name, Member, str]]] = []
    for each in files:
        called = each[1].name
        free = (part for part in parts if called not in [file.name for _, file, _ in part])
        part = next(free, None)
        if part is None:
            parts.append([each])
        else:
            part.append(each)
    return parts


def _moodle(members: Sequence[Member], lesson: str) -> list[HandIn]:
    found: dict[tuple[str, str], list[Member]] = defaultdict(list)
    places: dict[tuple[str, str], str] = {}
    typed = set()
    for member in members:
        said = moodle_name(member.name)
        assert said
        whose = said.known_as, said.name
        if not said.before.endswith("_file"):
            typed.add(whose)
        places.setdefault(whose, member.name)
        found[whose].append(Member(said.called, member.read))
    last = max((each.made for each in members), default=())
    made = "{:04}-{:02}-{:02} {:02}:{:02}:{:02}".format(*last) if last else ""
    return [
        HandIn(MOODLE, places[whose], tuple(files), *whose, made=made, typed=whose in typed)
        for whose, files in found.items()
    ]


def _gradescope(members: Sequence[Member], lesson: str) -> list[HandIn]:
    """Gradescope's export: `assignment_77_export/submission_4242/06-causal-mask.ipynb`.

    Beside these folders lies the table. The export has each one's active submission alone.

    Raises:
        Unreadable: the table is not as that.
    """
    [table] = _tables(members)
    said_of = submissions(table.read())
    files: dict[str, list[Member]] = {folder: [] for folder in said_of}
    places: dict[str, str] = {}
    for member in members:
        said = _GRADESCOPE.fullmatch(member.name)
        if said and said["folder"] and f"{said['home']}{METADATA}" == table.name:
            files.setdefault(said["folder"], []).append(Member(said["called"], member.read))
            places.setdefault(said["folder"], member.name)
    found = []
    for folder, theirs in files.items():
        said_here = said_of.get(folder, Submission())
        for person in said_here.people or [{}]:
            sid, email, name = (person.get(key, "") for key in (":sid", ":email", ":name"))
            ids = tuple(filter(None, (sid, email)))
            place, when = places.get(folder, folder), said_here.time
            handed = HandIn(GRADESCOPE, place, tuple(theirs), sid or email, name, email, ids, when)
            found.append(handed)
    return found


def _tables(members: Sequence[Member]) -> list[Member]:
    """The tables that lie where Gradescope puts its own."""
    return [
        each
        for each in members
        if (said := _GRADESCOPE.fullmatch(each.name)) and said["folder"] is None
    ]


def _plain(members: Sequence[Member], lesson: str, source: str) -> Found:
    """Files without an LMS: each is called by its student, or lies in a folder that is.

    `ada.ipynb`, `ada-06-causal-mask.ipynb`, `ada.zip`, `ada/06-causal-mask/06-causal-mask.ipynb`.
    What is called by the lesson alone is of whom the archive or the folder is called by.
    """
    found: dict[str, list[tuple[str, Member]]] = defaultdict(list)
    rest = []
    for member in members:
        if not _may_be(member.last):
            rest.append(member)
            continue
        top, _, below = member.name.partition("/")
        own = top if below else stem(top) or PurePosixPath(top).stem
        who = student_of(own, lesson) or student_of(source, lesson)
        found[who].append((member.name, Member(below or top, member.read)))
    called = [
        named(who, files[0][0], tuple(member for _, member in files))
        for who, files in found.items()
    ]
    return Found(called, rest)


def named(who: str, place: str, files: tuple[Member, ...] = ()) -> HandIn:
    """A hand-in of which nothing is known but whom its file or folder is named after."""
    return HandIn(PLAIN, place, files, "", who, who if "@" in who else "", (who,) if who else ())


def student_of(name: str, lesson: str) -> str:
    """Whom a name names besides the lesson."""
    who = in_nfc(name)
    return who.removesuffix(lesson).removesuffix("-") if who.endswith(lesson) else who


def _may_be(name: str) -> bool:
    return is_notebook(name) or is_zip(name)
