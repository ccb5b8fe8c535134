"""What an LMS gives is brought to where it is graded; nobody's place is guessed, nothing lost."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

import pytest
from nbgrader import api
from nbgrader.api import Gradebook

from autograder import Problem, Usage
from autograder.__main__ import main
from autograder.gradebook.course import Course
from autograder.run.marking import open_grader
from autograder.sandbox.limits import Limits
from autograder.submission import collected
from autograder.term import sources
from autograder.term.collect import Outcome, collect
from autograder.term.placing import ways_to_write
from tests import gradebooks
from tests.course import tells
from tests.lms import Handed, canvas_zip, gradescope_zip, moodle_zip
from tests.small_class import LESSON, grade, notebook

FILE = f"{LESSON}.ipynb"
NAMES = {
    "ada": "Ada Lovelace",
    "grace": "Grace Brewster Hopper",
    "edsger": "Edsger Wybe Dijkstra",
    "conor": "Conor O'Brien-Smith",
    "jose": "José Núñez",
    "li": "Li",
}
HEAD = "id,name,email,canvas,moodle,gradescope"
IDS = {student: str(1000 + number) for number, student in enumerate(NAMES)}
Pack = Callable[..., Path]
PACKS: dict[str, Pack] = {
    "canvas": canvas_zip,
    "moodle": moodle_zip,
    "gradescope": gradescope_zip,
}


def enlist(course: Path, head: str = HEAD, lines: Sequence[str] | None = None) -> None:
    """Write the roster: names and e-mails alone, if nothing else is said."""
    if lines is None:
        lines = [f"{who},{name},{who}@example.org,,," for who, name in NAMES.items()]
    path = course / "class" / "roster.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


def work(who: str) -> bytes:
    return notebook({"number": who})


def handed(who: str, **more: object) -> Handed:
    said = {"name": NAMES[who], "id": IDS[who], "files": {FILE: work(who)}} | more
    return Handed(**said)  # type: ignore[arg-type]


def run(*files: Path) -> Outcome:
    return collect(Course.here(), LESSON, files)


def there(course: Path) -> dict[str, bytes]:
    """What is in everyone's folder."""
    top = course / "class" / "submitted"
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


def whole(course: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of the class but for the gradebook and the lock, with when it was written."""
    top = course / "class"
    return {
        str(path.relative_to(top)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(top.rglob("*"))
        if path.is_file() and path.parent.name != "runs" and "gradebook" not in path.name
    }


def of(*students: str) -> dict[str, bytes]:
    return {f"{who}/{LESSON}/{FILE}": work(who) for who in students}


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def zip_bytes(files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


@pytest.fixture
def class_(course: Path) -> Path:
    enlist(course)
    return course


# Each layout


@pytest.mark.parametrize("lms", ["canvas", "moodle", "gradescope"])
@pytest.mark.parametrize("by", ["name", "id"])
def test_everyone_of_an_lms_s_zip_is_placed(course: Path, lms: str, by: str) -> None:
    column = list(PACKS).index(lms)
    if by == "name":
        enlist(course)
    else:  # names that are no help
        ids = {who: ["", "", ""] for who in NAMES}
        for who in NAMES:
            ids[who][column] = IDS[who]
        enlist(course, lines=[f"{who},Somebody,,{','.join(ids[who])}" for who in NAMES])
    path = PACKS[lms](course / "given.zip", LESSON, [handed(who) for who in NAMES])
    told = run(path)
    assert (told.new, told.trouble, told.absent) == (list(NAMES), [], [])
    found = there(course)
    if lms == "gradescope":
        for who in NAMES:
            assert found.pop(f"{who}/{LESSON}/timestamp.txt") == b"2026-11-30 18:00:00 UTC\n"
        assert not told.untimed
    else:
        assert told.untimed == {lms: len(NAMES)}
    assert found == of(*NAMES)
    [ada, *_] = collected.read(course / "class" / "collected" / f"{LESSON}.json")
    assert (ada.student, ada.lms, ada.known_as) == ("ada", lms, IDS["ada"])
    assert ada.name in zipfile.ZipFile(path).namelist()


@pytest.mark.parametrize("between", ["/", "_/", "_"])
def test_moodle_s_folders_and_flat_names(class_: Path, between: str) -> None:
    given = moodle_zip(class_ / "m.zip", LESSON, [handed(who) for who in NAMES], between)
    assert run(given).new == list(NAMES)


def test_gradescope_s_people_are_known_by_e_mail_too(class_: Path) -> None:
    one = handed("ada", name="A. L.", id="", email="ADA@example.org")
    other = handed("grace", name="", id="grace")
    assert run(gradescope_zip(class_ / "g.zip", LESSON, [one, other])).new == ["ada", "grace"]


def test_canvas_s_late_and_its_numbered_names(class_: Path) -> None:
    late = handed("ada", late=True, files={f"{LESSON}-2.ipynb": work("ada")})
    told = run(canvas_zip(class_ / "c.zip", LESSON, [late, handed("li")]))
    assert (told.new, told.late) == (["ada", "li"], ["ada"])
    assert "Canvas says late: ada" in told.lines()


def test_anonymous_hand_ins_of_canvas_are_nobody_s(class_: Path) -> None:
    given = [handed("ada", id="x7Yz1", late=True)]
    told = run(canvas_zip(class_ / "c.zip", LESSON, given, anonymous=True))
    assert told.new == []
    [said] = told.trouble
    assert said.startswith("LATE_anon_x7Yz1_")
    assert tells(said, "Canvas", "names")


def test_plain_files_a_learner_s_own_zip_and_folders(class_: Path) -> None:
    mail = class_ / "mail"
    (mail / "edsger" / LESSON).mkdir(parents=True)
    (mail / "ada.ipynb").write_bytes(work("ada"))
    (mail / f"grace-{LESSON}.ipynb").write_bytes(work("grace"))
    (mail / "edsger" / LESSON / FILE).write_bytes(work("edsger"))
    zipped(mail / "conor.zip", {f"{LESSON}/{FILE}": work("conor"), f"{LESSON}/a.csv": b"1"})
    more = canvas_zip(class_ / "more.zip", LESSON, [handed("jose")])
    own = zipped(class_ / f"li-{LESSON}.zip", {"mine.ipynb": work("li")})
    (mail / "read me.txt").write_text("hello")
    told = run(mail, more, own)
    assert (told.new, told.trouble) == (list(NAMES), [])
    assert told.beside == ["read me.txt"]
    assert there(class_) == of(*NAMES)


def test_an_archive_that_was_unpacked_is_the_same(class_: Path) -> None:
    given = gradescope_zip(class_ / "g.zip", LESSON, [handed(who) for who in NAMES])
    zipfile.ZipFile(given).extractall(class_ / "unpacked")
    assert run(class_ / "unpacked").new == list(NAMES)
    assert run(given).same == list(NAMES)


def test_a_zip_handed_in_at_an_lms_is_looked_into(class_: Path) -> None:
    inner = zip_bytes({f"{LESSON}/{FILE}": work("ada"), f"{LESSON}/picture.png": b"x"})
    told = run(moodle_zip(class_ / "m.zip", LESSON, [handed("ada", files={"work.zip": inner})]))
    assert there(class_) == of("ada")
    assert told.trouble == []


@pytest.mark.parametrize("added", [".json", ".txt", " (1).json"])
@pytest.mark.parametrize("lms", PACKS)
def test_what_a_browser_adds_to_a_name_costs_nothing(class_: Path, lms: str, added: str) -> None:
    files = {f"{FILE}{added}": work("ada")}
    told = run(PACKS[lms](class_ / "given.zip", LESSON, [handed("ada", files=files)]))
    assert (told.new, told.trouble, told.beside) == (["ada"], [], [])
    found = there(class_)
    assert found[f"ada/{LESSON}/{FILE}"] == work("ada")


@pytest.mark.parametrize("added", ["", ".json", ".txt"])
def test_plain_files_are_their_students_whatever_a_browser_adds(class_: Path, added: str) -> None:
    names = ("ada.ipynb", f"grace-{FILE}", f"edsger/{FILE}", f"conor/{LESSON}/{FILE}")
    files = {f"{name}{added}": work(re.split("[-./]", name)[0]) for name in names}
    own = zipped(class_ / "jose.zip", {f"{FILE}{added}": work("jose")})
    told = run(zipped(class_ / "all.zip", files), own)
    assert there(class_) == of("ada", "grace", "edsger", "conor", "jose")
    assert (told.trouble, told.beside, told.absent) == ([], [], ["li"])


def test_nobody_of_whom_something_was_found_handed_in_nothing(class_: Path) -> None:
    given = [handed("ada", files={"report.pdf": b"x"}), handed("li")]
    files = {
        "grace/essay.docx": b"x",
        "edsger.pdf": b"x",
        f"conor/a-{FILE}": b"1",
        f"conor/b-{FILE}": b"2",
    }
    told = run(canvas_zip(class_ / "c.zip", LESSON, given), zipped(class_ / "plain.zip", files))
    assert told.new == ["li"]
    assert told.absent == ["jose"]
    assert "5 have handed in" in told.lines()[0]


def test_a_notebook_of_another_name_is_taken_if_it_is_the_only_one(class_: Path) -> None:
    files = {"homework 3.ipynb": work("ada"), "notes.pdf": b"x"}
    assert run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada", files=files)])).new == ["ada"]
    files = {"a.ipynb": work("li"), "b.ipynb": work("li")}
    told = run(canvas_zip(class_ / "d.zip", LESSON, [handed("li", files=files)]))
    assert tells(told.trouble[0], "`a.ipynb`", "`b.ipynb`", "rename")


def test_who_handed_in_no_notebook_is_told(class_: Path) -> None:
    given = [handed("ada", files={"report.pdf": b"x"}), handed("li")]
    told = run(canvas_zip(class_ / "c.zip", LESSON, given))
    assert told.new == ["li"]
    assert tells(told.trouble[0], "of ada", "no `03-numpy.ipynb`")
    assert "report.pdf" in told.trouble[0]


# Whose it is


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Ada Lovelace", "lovelaceada"),
        ("Lovelace, Ada", "adalovelace"),
        ("Conor O'Brien-Smith", "obriensmithconor"),
        ("Ludwig van Beethoven", "vanbeethovenludwig"),
        ("Jose\u0301 Nu\u0301n\u0303ez", "núñezjosé"),
        ("İlkay Şahin", "şahini\u0307lkay"),
        ("李 小龙", "小龙李"),
    ],
)
def test_the_ways_to_write_a_name(name: str, written: str) -> None:
    assert unicodedata.normalize("NFC", written) in ways_to_write(name)


def test_nobody_is_guessed(class_: Path) -> None:
    given = [handed("ada", name="Ada Lovelance", id="7"), handed("grace")]
    told = run(canvas_zip(class_ / "c.zip", LESSON, given))
    assert told.new == ["grace"]
    [said] = told.trouble
    where = "lovelanceada_7_5550_03-numpy.ipynb: "
    assert tells(said, where, "'lovelanceada', '7'", "Nearest", "ada (Ada Lovelace)")
    assert there(class_) == of("grace")


def test_two_of_one_name_are_told_apart_by_id_alone(course: Path) -> None:
    enlist(course, lines=["a1,Ada Lovelace,,11,,", "a2,Ada Lovelace,,,,", "g,Grace H,,,,"])
    one = handed("ada", id="11")
    told = run(canvas_zip(course / "c.zip", LESSON, [one, handed("ada", id="12")]))
    # The second is not a1's, whom Canvas knows by another number, so it is a2's.
    assert (told.new, told.trouble) == (["a1", "a2"], [])
    enlist(course, lines=["b1,Ada Lovelace,,,,", "b2,Ada Lovelace,,,,"])
    told = run(canvas_zip(course / "d.zip", LESSON, [one]))
    assert "b1 or b2" in told.trouble[0]


def test_an_id_and_a_name_of_two_people_are_nobody_s(course: Path) -> None:
    enlist(course, lines=["ada,Ada Lovelace,,11,,", "grace,Grace Hopper,,,,"])
    told = run(
        canvas_zip(course / "c.zip", LESSON, [handed("grace", name="Grace Hopper", id="11")])
    )
    assert told.new == []
    assert "ada or grace" in told.trouble[0]


@pytest.mark.parametrize("lms", PACKS)
def test_an_id_that_two_people_have_is_nobody_s(class_: Path, lms: str) -> None:
    given = [handed("ada", id="7"), handed("grace", id="7"), handed("li")]
    told = run(PACKS[lms](class_ / "given.zip", LESSON, given))
    assert told.new == ["li"]
    assert len(told.trouble) == 2
    assert all(tells(said, "'7'", "id of") for said in told.trouble)


@pytest.mark.parametrize(
    ("pack", "typed"),
    [
        (canvas_zip, "lovelaceada_LATE_{0}_text.html"),
        (canvas_zip, "lovelaceada_{0}_link.html"),
        (moodle_zip, "Ada Lovelace_{0}_assignsubmission_onlinetext/onlinetext.html"),
        (moodle_zip, "Ada Lovelace_{0}_assignsubmission_comments_comments.html"),
    ],
)
def test_what_was_typed_in_is_told_by_its_student(
    class_: Path, pack: Callable[..., Path], typed: str
) -> None:
    ada = handed("ada")
    typed = typed.format(ada.id)
    told = run(zipped(class_ / "alone.zip", {typed: b"<p>Hello</p>"}))
    assert told.typed == ["ada"]
    assert tells(told.trouble[0], "of ada", "no `03-numpy.ipynb`")
    assert any(tells(line, "Typed", "ada") for line in told.lines())
    both = pack(class_ / "both.zip", LESSON, [ada, handed("li")])
    with zipfile.ZipFile(both, "a") as archive:
        archive.writestr(typed, b"<p>Hello</p>")
    told = run(both)
    assert (told.typed, told.new, told.trouble) == (["ada"], ["ada", "li"], [])


def test_a_zip_that_is_called_by_a_student_is_theirs_whatever_is_in_it(class_: Path) -> None:
    given = zipped(class_ / "ada.zip", {"grace.ipynb": work("ada")})
    assert run(given).new == ["ada"]
    given = zipped(class_ / "mails.zip", {"grace.ipynb": work("grace")})
    assert run(given).new == ["grace"]


def test_a_number_of_moodle_s_that_changed_says_nothing(course: Path) -> None:
    enlist(course, lines=["ada,Ada Lovelace,,,999,", "li,Somebody,,,Li,"])
    told = run(moodle_zip(course / "m.zip", LESSON, [handed("ada"), handed("li")]))
    assert told.new == ["ada", "li"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_both_spellings_of_a_name_are_one(course: Path, form: Literal["NFC", "NFD"]) -> None:
    spelled = unicodedata.normalize("NFC" if form == "NFD" else "NFD", "josé")
    enlist(course, lines=[f"{spelled},José Núñez,,,,"])
    path = course / unicodedata.normalize(form, f"josé-{FILE}")
    path.write_bytes(work("jose"))
    assert run(path).new == ["josé"]
    named = handed("jose", name=unicodedata.normalize(form, NAMES["jose"]))
    for number, pack in enumerate(PACKS.values()):
        assert run(pack(course / f"{number}.zip", LESSON, [named])).trouble == []


# Which one


def test_the_newest_of_several_is_taken(class_: Path) -> None:
    early = handed("ada", number=10, files={FILE: b"1"})
    late = handed("ada", number=20, files={f"{LESSON}-1.ipynb": b"2"})
    old = canvas_zip(class_ / "old.zip", LESSON, [early])
    new = canvas_zip(class_ / "new.zip", LESSON, [late])
    told = run(new, old)
    assert (told.new, told.several) == (["ada"], {"ada": 2})
    assert there(class_) == {f"ada/{LESSON}/{FILE}": b"2"}
    assert run(old).older == ["ada"]
    assert there(class_) == {f"ada/{LESSON}/{FILE}": b"2"}


def test_a_file_attached_twice_at_once(class_: Path) -> None:
    files = {FILE: b"1", f"{LESSON}-1.ipynb": b"2"}
    told = run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada", files=files)]))
    assert told.several == {"ada": 2}
    assert there(class_) == {f"ada/{LESSON}/{FILE}": b"2"}


def test_times_decide_where_they_are_known(class_: Path) -> None:
    early = handed("ada", id="ada", files={FILE: b"1"}, time=datetime(2026, 11, 1))
    late = handed("ada", id="ada", files={FILE: b"2"}, time=datetime(2026, 11, 2))
    given = gradescope_zip(class_ / "g.zip", LESSON, [late, early])
    assert run(given).new == ["ada"]
    stamp = b"2026-11-02 00:00:00 UTC\n"
    want = {f"ada/{LESSON}/{FILE}": b"2", f"ada/{LESSON}/timestamp.txt": stamp}
    assert there(class_) == want
    assert run(gradescope_zip(class_ / "h.zip", LESSON, [early])).older == ["ada"]
    assert there(class_) == want


def test_where_nothing_says_which_is_newest_neither_is_taken(class_: Path) -> None:
    one = moodle_zip(class_ / "m.zip", LESSON, [handed("ada", files={FILE: b"1"})])
    two = moodle_zip(class_ / "n.zip", LESSON, [handed("ada", files={FILE: b"2"})])
    told = run(one, two)
    assert told.new == []
    assert tells(told.trouble[0], "Nothing", "newest")
    assert (run(one).new, run(two).unknown) == (["ada"], ["ada"])


def twice(class_: Path, lms: str) -> list[list[Path]]:
    """What Ada handed in first and last, each as one collects it, with what that LMS tells."""
    found: list[list[Path]] = []
    for which in (1, 2):
        data, day = str(which).encode(), datetime(2020, 11, which)
        own = "ada" if lms == "gradescope" else IDS["ada"]
        ada = handed("ada", id=own, files={FILE: data}, time=day, number=10 * which)
        home = class_ / f"{lms}{which}"
        home.mkdir()
        if lms == "moodle":
            found.append([moodle_zip(home / "m.zip", LESSON, [ada], made=day)])
        elif lms in PACKS:
            found.append([PACKS[lms](home / "x.zip", LESSON, [ada])])
        else:
            (home / "ada.ipynb").write_bytes(data)
            times = [table(home, f"ada,2020-11-0{which} 12:00 UTC")] if lms == "table" else []
            found.append([home / "ada.ipynb", *times])
    return found


@pytest.mark.parametrize("lms", [*PACKS, "table"])
def test_the_newest_counts_in_either_order(class_: Path, lms: str) -> None:
    first, last = twice(class_, lms)
    path = class_ / "class" / "submitted" / "ada" / LESSON / FILE
    assert (run(*first).new, run(*last).replaced, run(*first).older) == (["ada"],) * 3
    assert path.read_bytes() == b"2"
    path.with_name("timestamp.txt").unlink(missing_ok=True)
    path.unlink()
    (class_ / "class" / "collected" / f"{LESSON}.json").unlink()
    assert (run(*last).new, run(*first).older, run(*last).same) == (["ada"],) * 3
    assert path.read_bytes() == b"2"


def test_what_is_not_known_to_be_newer_is_left_and_said(class_: Path) -> None:
    """A plain file says nothing, and of two LMSs neither says what the other does."""
    run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada", number=10, files={FILE: b"0"})]))
    for given in (*twice(class_, "plain"), twice(class_, "moodle")[1]):
        told = run(*given)
        assert (told.unknown, told.written) == (["ada"], False)
        assert any(tells(line, "Left", "nothing says") for line in told.lines())
    assert there(class_) == {f"ada/{LESSON}/{FILE}": b"0"}


def test_an_older_zip_of_moodle_s_with_the_same_in_it_makes_nothing_older(class_: Path) -> None:
    def made(day: int, data: bytes) -> Path:
        ada = [handed("ada", files={FILE: data})]
        return moodle_zip(class_ / f"{day}.zip", LESSON, ada, made=datetime(2020, 11, day))

    run(made(9, b"2"))
    assert run(made(1, b"2")).same == ["ada"]
    assert run(made(5, b"1")).older == ["ada"]


# Times from a table


def table(home: Path, *lines: str, head: str = "id,handed in") -> Path:
    path = home / "times.csv"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


def released_in_2020(course: Path) -> None:
    when = datetime(2020, 1, 1).timestamp()
    os.utime(course / "notebooks" / LESSON / f"{LESSON}.ipynb", (when, when))


WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments"
)


def worksheet(home: Path, **when: str) -> Path:
    """Moodle's, of those who have a time in it."""
    lines = [
        f'Participant {IDS[who]},{NAMES[who]},{who}@example.org,Submitted,,11.00,Yes,"{time}",-,'
        for who, time in when.items()
    ]
    return table(home, *lines, head=WORKSHEET)


def stamps(course: Path) -> dict[str, str]:
    return {
        name.partition("/")[0]: data.decode().strip()
        for name, data in there(course).items()
        if name.endswith("timestamp.txt")
    }


@pytest.mark.parametrize("together", [True, False])
def test_moodle_s_worksheet_says_when(class_: Path, together: bool) -> None:
    released_in_2020(class_)
    given = moodle_zip(class_ / "m.zip", LESSON, [handed(who) for who in ("ada", "jose", "li")])
    sheet = worksheet(
        class_,
        ada="Monday, 30 November 2020, 6:00 PM",
        jose="Wednesday, 1 July 2020, 08:05 AM",
        li="-",
    )
    if not together:
        run(given)
    told = collect(Course.here(), LESSON, [given, sheet] if together else [sheet], "Europe/Berlin")
    assert (told.timed, told.strange, told.trouble) == (["ada", "jose"], [], [])
    want = {"ada": "2020-11-30 17:00:00 UTC", "jose": "2020-07-01 06:05:00 UTC"}
    assert stamps(class_) == want
    assert run(given).same == ["ada", "jose", "li"]
    assert stamps(class_) == want, "the zip alone takes nothing back"


def test_a_time_that_a_person_wrote_stays(class_: Path) -> None:
    """Whatever comes after it that says no time; and that of a table goes with its hand-in."""
    for who in ("ada", "li"):
        run(canvas_zip(class_ / "c.zip", LESSON, [handed(who, number=10, late=True)]))
    stamp = class_ / "class" / "submitted" / "ada" / LESSON / "timestamp.txt"
    stamp.write_text("2020-11-03 18:00:00 UTC")
    run(table(class_, "li,2020-11-02 18:00 UTC"))
    told = run(table(class_, "ada@example.org,2020-11-04 18:00 UTC"))
    assert (told.timed, told.own_time) == ([], ["ada (2020-11-03 18:00:00 UTC)"])
    again = [handed(who, number=20, late=True, files={FILE: b"2"}) for who in ("ada", "li")]
    told = run(canvas_zip(class_ / "d.zip", LESSON, again))
    assert told.replaced == ["ada", "li"]
    assert told.own_time == ["ada (2020-11-03 18:00:00 UTC)"]
    assert told.late_when == ["li"]
    assert stamps(class_) == {"ada": "2020-11-03 18:00:00 UTC"}


def test_whom_canvas_calls_late_has_to_be_looked_at_until_a_time_is_known(class_: Path) -> None:
    def summary() -> str:
        grade(class_, seed=1)
        return " ".join((class_ / "class/runs" / LESSON / "summary.txt").read_text().split())

    run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada", late=True), handed("li")]))
    assert summary().count("late by what the LMS says") == 1
    run(table(class_, "ada,2020-11-03 18:00"))
    assert "late by what the LMS says" not in summary()


def test_whom_a_table_names_in_vain_and_what_cannot_be_right_is_told(class_: Path) -> None:
    released_in_2020(class_)
    run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada"), handed("li")]))
    lines = ["ada,2019-11-30 18:00", "adam,2020-11-30 18:00", "li,9000-11-30 18:00"]
    told = run(table(class_, *lines))
    [sentence] = told.trouble
    assert tells(sentence, "times.csv, line 3: ", "'adam'", "nobody")
    assert told.strange == ["ada (2019-11-30 18:00:00 UTC)", "li (9000-11-30 18:00:00 UTC)"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["ada,2020-11-30 18:00 UTC", "li,2020-11-30 18:00 +01:00"],
            ("line 3", "+01:00", "line 2", "UTC"),
        ),
        (["ada,30.11.2020 18:00"], ("line 2", "'30.11.2020 18:00'", "year, month")),
        (["ada,2020-11-31 18:00"], ("line 2", "'2020-11-31 18:00'", "year, month")),
        (["ada,2020-11-30 18:00 ../../x"], ("line 2", "'2020-11-30 18:00 ../../x'", "year, month")),
        (["ada,2020-11-30 18:00", "ada,2020-11-30 19:00"], ("line 3", "another time", "ada")),
        (["ada"], ("line 2", "1 cells", "2 columns")),
    ],
)
def test_a_table_of_times_that_is_wrong_stops_it(
    class_: Path, lines: list[str], said: tuple[str, ...]
) -> None:
    run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada"), handed("li")]))
    with pytest.raises(Problem) as raised:
        run(table(class_, *lines))
    assert tells(str(raised.value), *said)
    assert stamps(class_) == {}


def test_a_worksheet_needs_a_zone_and_english(class_: Path) -> None:
    with pytest.raises(Problem, match=r"time zone .*--zone Europe/Berlin"):
        run(worksheet(class_, ada="Monday, 30 November 2020, 6:00 PM"))
    german = worksheet(class_, ada="Montag, 30. November 2020, 18:00")
    with pytest.raises(Problem, match=r"'Montag, 30. November 2020, 18:00'"):
        collect(Course.here(), LESSON, [german], "Z")
    with pytest.raises(Problem, match=r"no table of times.*`id`"):
        run(table(class_, head="Kennung,Zuletzt geändert (Abgabe)"))
    with pytest.raises(Usage, match="no time zone 'Berlin'"):
        collect(Course.here(), LESSON, [table(class_)], "Berlin")


def test_the_same_again_changes_nothing(class_: Path) -> None:
    given = [
        canvas_zip(class_ / "c.zip", LESSON, [handed("ada"), handed("grace")]),
        gradescope_zip(class_ / "g.zip", LESSON, [handed("li", id="li")]),
    ]
    run(*given)
    before = whole(class_)
    told = run(*given)
    assert (told.same, told.new, told.written) == (["ada", "grace", "li"], [], False)
    assert any("No file was changed" in line for line in told.lines())
    assert whole(class_) == before


def test_what_somebody_mended_by_hand_stays(class_: Path) -> None:
    given = canvas_zip(class_ / "c.zip", LESSON, [handed("ada", number=10)])
    run(given)
    path = class_ / "class" / "submitted" / "ada" / LESSON / FILE
    path.write_bytes(b"mended")
    assert run(given).changed == ["ada"]
    assert path.read_bytes() == b"mended"
    path.unlink()
    assert run(given).new == ["ada"]


def test_an_older_one_does_not_replace_what_somebody_mended(class_: Path) -> None:
    old = handed("ada", number=10, files={FILE: b"1"})
    run(canvas_zip(class_ / "new.zip", LESSON, [handed("ada", number=20)]))
    path = class_ / "class" / "submitted" / "ada" / LESSON / FILE
    path.write_bytes(b"mended")
    assert run(canvas_zip(class_ / "old.zip", LESSON, [old])).older == ["ada"]
    new = handed("ada", number=30, files={FILE: b"3"})
    assert run(canvas_zip(class_ / "newest.zip", LESSON, [new])).replaced == ["ada"]
    assert path.read_bytes() == b"3"


def test_a_plain_copy_does_not_undo_what_an_lms_said(class_: Path) -> None:
    run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada")]))
    (class_ / "ada.ipynb").write_bytes(work("ada"))
    told = run(class_ / "ada.ipynb")
    assert (told.same, told.written) == (["ada"], False)


def test_a_run_that_was_killed_goes_on(class_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = canvas_zip(class_ / "c.zip", LESSON, [handed(who) for who in NAMES])
    replace, left = Path.replace, iter([True, True, True])

    def killed(part: Path, path: Path) -> Path:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return replace(part, path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            run(given)
    assert there(class_) == of("ada", "grace", "edsger")
    told = run(given)
    assert (told.same, told.new) == (["ada", "grace", "edsger"], ["conor", "jose", "li"])
    records = collected.read(class_ / "class" / "collected" / f"{LESSON}.json")
    assert len(records) == len(NAMES)


def test_records_of_others_stay(class_: Path) -> None:
    run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada")]))
    run(moodle_zip(class_ / "m.zip", LESSON, [handed("li")]))
    records = collected.read(class_ / "class" / "collected" / f"{LESSON}.json")
    assert [(each.student, each.lms) for each in records] == [("ada", "canvas"), ("li", "moodle")]


# Bad input


def cut(path: Path, pack: Pack) -> Path:
    whole = pack(path, LESSON, [handed(who) for who in NAMES]).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


@pytest.mark.parametrize("lms", PACKS)
def test_a_zip_that_is_cut_short_is_told_and_the_rest_is_placed(class_: Path, lms: str) -> None:
    good = moodle_zip(class_ / "good.zip", LESSON, [handed("li")])
    told = run(cut(class_ / "cut.zip", PACKS[lms]), good)
    assert told.new == ["li"]
    assert tells(told.trouble[0], "cut.zip: ", "no zip")


def test_names_that_lead_out_and_links_are_not_taken(class_: Path) -> None:
    link = zipfile.ZipInfo("li.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = class_ / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../../ada.ipynb", "/tmp/grace.ipynb", "..\\edsger.ipynb", "conor.ipynb"):
            archive.writestr(name, work("ada"))
        archive.writestr(link, "/etc/passwd")
    told = run(path)
    assert told.new == ["conor"]
    assert len(told.trouble) == 4
    assert list(there(class_)) == list(of("conor"))
    assert not (class_.parent / "ada.ipynb").exists()


def test_what_is_larger_than_a_notebook_is_told(
    class_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(notebook_bytes=1 << 20)
    monkeypatch.setattr("autograder.term.collect.Limits", lambda: limits)
    bomb = handed("ada", files={FILE: bytes(1 << 22)})
    inner = handed("grace", files={"w.zip": zip_bytes({FILE: bytes(1 << 22)})})
    told = run(canvas_zip(class_ / "c.zip", LESSON, [bomb, inner, handed("li")]))
    assert told.new == ["li"]
    assert all("1 MB" in said for said in told.trouble)
    assert len(told.trouble) == 2


def test_too_many_members_are_told(class_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.ipynb.handed_in.MEMBERS", 3)
    monkeypatch.setattr(sources, "_MANY", 3)
    given = canvas_zip(class_ / "c.zip", LESSON, [handed(who) for who in NAMES])
    (class_ / "mail").mkdir()
    for who in NAMES:
        (class_ / "mail" / f"{who}.ipynb").write_bytes(work(who))
    trouble = run(given, class_ / "mail").trouble
    assert [tells(said, ": ", "more than 3 files") for said in trouble] == [True] * 2


def test_a_password_and_damage_are_told(class_: Path) -> None:
    path = canvas_zip(class_ / "c.zip", LESSON, [handed("ada"), handed("li")])
    data = path.read_bytes()
    locked = bytearray(data)
    locked[data.index(b"PK\1\2") + 8] |= 1
    (class_ / "locked.zip").write_bytes(locked)
    assert "password" in run(class_ / "locked.zip").trouble[0]
    damaged = bytearray(data)
    damaged[data.index(b"ipynb") + 200] ^= 255
    (class_ / "damaged.zip").write_bytes(damaged)
    told = run(class_ / "damaged.zip")
    assert told.new == ["li"]
    assert "damaged" in told.trouble[0]


def test_odd_things_in_a_folder_are_not_waited_for(class_: Path) -> None:
    mail = class_ / "mail"
    mail.mkdir()
    os.mkfifo(mail / "ada.ipynb")
    (mail / "grace.ipynb").symlink_to("/dev/zero")
    os.mkfifo(mail / "edsger.zip")
    (mail / "li.ipynb").write_bytes(work("li"))
    told = run(mail)
    assert told.new == ["li"]
    assert len(told.trouble) == 3


@pytest.mark.parametrize(
    "table",
    ["", "[1, 2]", "a: b", "a: [", "a: !!python/object/apply:os.system [x]", "a: 2026-99-99"],
)
def test_a_table_of_gradescope_s_that_is_none(class_: Path, table: str) -> None:
    home = "assignment_1_export"
    given = {f"{home}/submission_metadata.yml": table.encode(), f"{home}/submission_1/{FILE}": b""}
    told = run(zipped(class_ / "g.zip", given))
    assert told.new == []
    assert "submission_metadata.yml" in told.trouble[0]


@pytest.mark.parametrize("when", ["9999-12-31 23:59:59 -12:00", "soon", "2026-11-30", "[]", "7"])
def test_a_time_of_gradescope_s_that_is_none_is_not_written(class_: Path, when: str) -> None:
    home = "assignment_1_export"
    table = f"submission_1:\n  :submitters:\n  - :sid: ada\n  :created_at: {when}\n"
    given = {f"{home}/submission_metadata.yml": table.encode(), f"{home}/submission_1/{FILE}": b"1"}
    told = run(zipped(class_ / "g.zip", given))
    assert told.untimed == {"gradescope": 1}
    assert there(class_) == {f"ada/{LESSON}/{FILE}": b"1"}


def test_a_folder_s_name_that_is_no_text_is_recorded(class_: Path) -> None:
    folder = class_ / "mail" / "ada" / "odd"
    folder.mkdir(parents=True)
    (folder / "mine.ipynb").write_bytes(work("ada"))
    os.rename(folder, os.fsencode(folder) + b"\xff")
    assert run(class_ / "mail").new == ["ada"]
    assert run(class_ / "mail").written is False
    [record] = collected.read(class_ / "class" / "collected" / f"{LESSON}.json")
    assert record.name == "ada/odd\\udcff/mine.ipynb"


def test_a_group_of_gradescope_s_hands_in_for_each(class_: Path) -> None:
    home = "assignment_1_export"
    both = "  - :name: Ada Lovelace\n    :sid: 1\n  - :name: Li\n    :sid: 2\n"
    when = "  :created_at: 2026-11-30 18:00:00.500000000 Z\n"
    table = f"---\nsubmission_1:\n  :submitters:\n{both}{when}"
    given = {
        f"{home}/submission_metadata.yml": table.encode(),
        f"{home}/submission_1/{FILE}": work("ada"),
    }
    assert run(zipped(class_ / "g.zip", given)).new == ["ada", "li"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, ("There is no ", "roster.csv")),
        (b"", ("no column `id`",)),
        (b"ada,Ada\n", ("no column `id`",)),
        (b"id,name\nada,Ada\nada,Bob\n", ("line 3", "id 'ada'", "line 2")),
        (b"id,canvas\nada,1\nbob,1\n", ("line 3", "canvas '1'", "line 2")),
        ("id,name\nada,Núñez\n".encode("latin-1"), ("line 2", "not UTF-8")),
        (b"id\n=ada\n", ("spreadsheet", "formula")),
        (b"id\n../ada\n", ("not the name of a folder",)),
        ("id\na\u200bda\n".encode(), ("not seen",)),
        (b"id,name\nada,Lovelace, Ada\n", ("line 2", "3 cells", "2")),
        (b"id,name,email\nada,Lovelace, Ada\n", ("line 2", "'Ada'", "e-mail")),
        (b"id,due 99-none\nada,2026-12-01\n", ("no lesson '99-none'",)),
        (b"id,due 03-numpy\nada,soon\n", ("'soon'", "due date", "year, month, day")),
    ],
)
def test_a_roster_that_is_wrong_stops_it(
    course: Path, text: bytes | None, said: tuple[str, ...]
) -> None:
    (course / "class").mkdir(exist_ok=True)
    if text is not None:
        (course / "class" / "roster.csv").write_bytes(text)
    (course / "ada.ipynb").write_bytes(work("ada"))
    with pytest.raises(Problem) as raised:
        run(course / "ada.ipynb")
    assert tells(str(raised.value), *said)
    assert "\n" not in str(raised.value)
    assert there(course) == {}


def test_a_roster_of_a_spreadsheet_is_read(course: Path) -> None:
    text = "ID;Name;E-mail\nada;Lovelace, Ada;\n"
    (course / "class").mkdir(exist_ok=True)
    (course / "class" / "roster.csv").write_bytes(text.encode("utf-16"))
    assert run(canvas_zip(course / "c.zip", LESSON, [handed("ada")])).new == ["ada"]


@pytest.mark.parametrize("text", ["hello", "3", '[{"student": "ada"}]', "[" * 5000, "[7]", '["a"]'])
def test_a_record_that_was_changed_stops_it(text: str, class_: Path) -> None:
    path = class_ / "class" / "collected" / f"{LESSON}.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(Problem, match="is not as `collect` wrote it"):
        run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada")]))
    assert there(class_) == {}


def test_a_file_that_is_not_there_stops_it(class_: Path) -> None:
    given = canvas_zip(class_ / "c.zip", LESSON, [handed("ada")])
    with pytest.raises(Usage, match=r"There is no .*nowhere\.zip"):
        run(given, class_ / "nowhere.zip")
    assert there(class_) == {}


@pytest.mark.parametrize("text", ["8.3.2026 18:00", "2026-03-08", "18:00 2026-03-08", "3/8/2026"])
def test_a_date_that_can_be_read_in_two_ways_stops_it(text: str, course: Path) -> None:
    enlist(course, f"{HEAD},due {LESSON}", [f"ada,Ada Lovelace,,,,,{text}"])
    with pytest.raises(Problem, match=r"due date .*write 2026-"):
        run(canvas_zip(course / "c.zip", LESSON, [handed("ada")]))
    assert there(course) == {}


def test_a_due_date_that_nbgrader_alone_knows_counts_at_once(course: Path) -> None:
    """The gradebook is new: nothing was released into it, and nobody graded."""
    enlist(course, f"{HEAD},due {LESSON}", ["ada,Ada Lovelace,,,,,2026-12-01 18:00 UTC"])
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment("02-pure-python", duedate="2026-11-29 18:00:00 UTC")
        gradebook.remove_assignment("02-pure-python")
        gradebook.remove_assignment(LESSON)
        gradebook.update_or_create_assignment(LESSON, duedate="2026-11-29 18:00:00 UTC")
    told = run(canvas_zip(course / "c.zip", LESSON, [handed("ada")]))
    assert told.extended == ["ada (2026-12-01 18:00 UTC)"]


def test_another_lesson_s_hand_ins_are_not_placed(course: Path, class_: Path) -> None:
    other = "07-multi-head" if not LESSON.startswith("07") else "06-causal-mask"
    hand_in = Handed("Ada Lovelace", "1000", {f"{other}.ipynb": b"{}"})
    told = run(canvas_zip(class_ / "c.zip", LESSON, [hand_in]))
    assert told.new == []
    assert tells(told.trouble[0], "named", other)


def test_nothing_is_written_through_a_link(class_: Path) -> None:
    other = class_ / "other"
    other.mkdir()
    submitted = class_ / "class" / "submitted"
    submitted.mkdir(parents=True)
    (submitted / "ada").symlink_to(other)
    told = run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada"), handed("li")]))
    assert told.new == ["li"]
    assert tells(told.trouble[0], "is a link", "nothing")
    assert list(other.iterdir()) == []


def test_a_full_disk_leaves_what_there_was(class_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(canvas_zip(class_ / "c.zip", LESSON, [handed("ada", number=1)]))
    before = there(class_)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    again = handed("ada", number=9, files={FILE: b"2"})
    given = canvas_zip(class_ / "d.zip", LESSON, [again, handed("li", number=12)])
    with monkeypatch.context() as patch:
        patch.setattr(os, "chmod", full)
        assert main(["collect", LESSON, str(given)]) == 1
    assert there(class_) == before


# What is said, and what nbgrader knows


def test_the_command_says_what_came_of_it(class_: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {FILE: work("ada"), "notes.txt": b"hello"}
    given = [handed("ada", files=files, late=True), handed("grace")]
    path = canvas_zip(class_ / "c.zip", LESSON, given)
    assert main(["collect", LESSON, str(path)]) == 0
    out = capsys.readouterr().out
    assert tells(out, f"{LESSON}: 2 new, 0 replaced, 0 left", "Of 6", "2 have")
    assert "Canvas says late: ada" in out
    assert tells(out, "For you to do", "late by what Canvas says")
    assert "Handed in nothing: 4 (edsger, conor, jose, li)" in out
    assert out.count("No time of handing in is known") == 1
    (class_ / "nobody.ipynb").write_bytes(work("ada"))
    assert main(["collect", LESSON, str(class_ / "nobody.ipynb")]) == 1
    assert tells(capsys.readouterr().out, "Not placed: 1\n  nobody.ipynb: ", "'nobody'")
    assert main(["collect", "99-nothing", str(path)]) == 2
    assert "no lesson '99-nothing'" in capsys.readouterr().err


def open_gradebook(course: Path) -> Gradebook:
    return gradebooks.open_book(course)


def test_nbgrader_knows_the_class(course: Path) -> None:
    lines = ["ada,Ada King Lovelace,ada@example.org,1000,,", 'li,"Li, Xiao",,,,', "bob,,,,,"]
    enlist(course, lines=lines)
    with open_gradebook(course) as gradebook:
        gradebook.add_student("bob", first_name="Bob")
    run(canvas_zip(course / "c.zip", LESSON, [handed("ada")]))
    with open_gradebook(course) as gradebook:
        said = {
            each.id: (each.first_name, each.last_name, each.email, each.lms_user_id)
            for each in gradebook.students
        }
    assert said["ada"] == ("Ada King", "Lovelace", "ada@example.org", "1000")
    assert said["li"][:2] == ("Xiao", "Li")
    assert said["bob"][0] == "Bob", "what the roster does not say stays"


def test_a_due_date_of_one_s_own_is_respected_when_it_is_graded(course: Path) -> None:
    """Ada and Li hand in at six; it was due at four, for Ada at seven."""
    lines = [
        "ada,Ada Lovelace,,,,,2026-11-30 19:00 UTC",
        "li,Li,,,,,",
        "bob,Bob,,,,,2026-12-24 18:00",
    ]
    enlist(course, f"{HEAD},due {LESSON}", lines)
    given = [handed("ada", id=""), handed("li", id="")]
    path = gradescope_zip(course / "g.zip", LESSON, given)
    told = run(path)
    assert (told.waiting, told.extended) == (["ada"], [])
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate="2026-11-30 16:00:00 UTC")
    told = run(path)
    assert (told.same, told.waiting, told.extended) == (
        ["ada", "li"],
        [],
        ["ada (2026-11-30 19:00 UTC)"],
    )
    (course / "nbgrader_config.py").open("a").write(
        '\nc.LateSubmissionPlugin.penalty_method = "zero"\n'
    )
    grade(course, seed=1)  # by which Li has points to lose
    with open_gradebook(course) as gradebook:
        late = {
            each.student_id: each.total_seconds_late
            for each in gradebook.db.query(api.SubmittedAssignment)
        }
        rows = {who: gradebook.find_submission(LESSON, who) for who in ("ada", "li")}
        lost = {who: row.late_submission_penalty for who, row in rows.items()}
    assert late == {"ada": 0, "li": 7200}, "Bob handed in nothing, and has no submission"
    assert lost["ada"] == 0 < lost["li"]


@pytest.mark.slow
def test_what_was_collected_is_graded(course: Path) -> None:
    """One real notebook, by the real grader, with an extension."""
    enlist(course, f"{HEAD},due {LESSON}", ["ada,Ada Lovelace,,,,,2026-12-01 18:00 UTC"])
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate="2026-11-29 18:00:00 UTC")
    run(gradescope_zip(course / "g.zip", LESSON, [handed("ada", id="")]))
    [result] = grade(course, opens=open_grader, seed=1)
    assert (result["student"], result["status"]) == ("ada", "GRADED")
    with open_gradebook(course) as gradebook:
        row = gradebook.find_submission(LESSON, "ada")
        assert (row.total_seconds_late, str(row.timestamp)) == (0, "2026-11-30 18:00:00")
        assert len(row.notebooks) == 1


def test_a_class_of_sixty(course: Path) -> None:
    people = {f"s{number:02}": f"Given{number} Family{number % 7} Name" for number in range(60)}
    enlist(course, lines=[f"{who},{name},,,," for who, name in people.items()])
    given = [
        Handed(name, str(n), {FILE: work(who)}) for n, (who, name) in enumerate(people.items())
    ]
    for pack in PACKS.values():
        told = run(pack(course / "given.zip", LESSON, given))
        assert told.trouble == []
        assert len(told.new) + len(told.same) == 60
    assert json.loads(there(course)[f"s59/{LESSON}/{FILE}"])["metadata"]["fake"]["number"] == "s59"
