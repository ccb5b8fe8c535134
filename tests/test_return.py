"""Scores and pages that go back to an LMS, or into a table."""

from __future__ import annotations

import csv
import io
import zipfile
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader import api
from nbgrader.plugins.export import CsvExportPlugin

from attnlab.ipynb.zipped import zipped
from autograder import Problem
from autograder.__main__ import main
from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import Gradebook
from autograder.pages import feedback
from autograder.submission.collected import Collected
from autograder.submission.collected import write as write_collected
from autograder.term import canvas, moodle, plain
from autograder.term.give_back import Order, give_back
from autograder.term.sheets import Sheet
from autograder.term.tables import harmless
from tests import gradebooks
from tests.course import tells
from tests.graded import LESSON, MOST, grade, make_course

BOM = b"\xef\xbb\xbf"

# --- a sheet ---

cell = st.text(st.sampled_from('ab,;\t"\r\n é=\u2028'), max_size=6)
one_delimiter = st.text(st.sampled_from('ab,"\r\n é=\u2028'), max_size=6)


@st.composite
def files(draw: st.DrawFn, cells: st.SearchStrategy[str] = cell, delimiters: str = ",;\t") -> bytes:
    """A table as some program might write it."""
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=draw(st.sampled_from(delimiters)),
        lineterminator=draw(st.sampled_from(["\n", "\r\n", "\r"])),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
    )
    writer.writerow(["Name", "Grade"])
    writer.writerows(
        draw(st.lists(st.lists(cells, min_size=2, max_size=4), min_size=1, max_size=5))
    )
    written = text.getvalue()
    if draw(st.booleans()):
        written = written.rstrip("\r\n") if not written.rstrip("\r\n").endswith('"') else written
    mark, codec = draw(st.sampled_from([(b"", "utf-8"), (BOM, "utf-8"), (b"", "utf-16")]))
    return mark + written.encode(codec)


@given(files())
def test_where_nothing_is_replaced_not_a_byte_is_another(data: bytes) -> None:
    assert bytes(Sheet(data, "grades.csv")) == data


@given(files(one_delimiter, ","), one_delimiter, st.randoms(use_true_random=False))
def test_a_cell_that_is_replaced_is_read_so_and_no_other_is(
    data: bytes, text: str, random: Random
) -> None:
    sheet = Sheet(data, "grades.csv")
    rows = [[*row] for row in sheet.rows]
    row = random.randrange(len(rows))
    column = random.randrange(len(rows[row]))
    sheet.put(row, column, text)
    rows[row][column] = text
    assert sheet.rows == rows
    assert Sheet(bytes(sheet), "grades.csv").rows == rows


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'a,b\n"c,d\n', "line 2, is no CSV"),
        (b'a,b\nc,"d"e\n', "line 2, is no CSV"),
        ("a,b\nJürgen,2\n".encode("cp1252"), "line 2, is not UTF-8"),
        (b"PK\x03\x04\x14\x00\xff\xfe", "is not UTF-8"),
    ],
)
def test_what_is_no_table_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(Problem, match=said):
        Sheet(data, "grades.csv")


# --- a class ---


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five students: two with scores, one who waits, one not graded, one who handed nothing in."""
    folder = make_course(tmp_path_factory.mktemp("course"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with Gradebook(Course.here()) as gradebook:
            gradebook.prepare(LESSON)
            half = grade("bob", {"attention": "FAIL"}, {"attention": 2.5})
            graded = [grade("ada"), half, grade("waits")]
            gradebook.record([replace(one, page=feedback.render(one)) for one in graded])
    with closing(gradebook_of(folder)) as db:
        db.update_or_create_student("nobody", first_name="No", last_name="Body")
        db.update_or_create_student("ungraded", email="un@example.org")
        db.update_or_create_submission(LESSON, "ungraded")
        mine = db.find_submission(LESSON, "bob")
        mine.notebooks[0].late_submission_penalty = 1.25
        mine.timestamp = datetime(2026, 3, 1, 12)
        attention = db.find_grade("attention-check", LESSON, LESSON, "ada")
        attention.manual_score, attention.extra_credit = 3.0, 0.5
        db.find_grade("attention-check", LESSON, LESSON, "waits").needs_manual_grade = True
        db.db.commit()
    return folder


ADA, BOB = MOST - 5 + 3.5, MOST - 2.5 - 1.25


def gradebook_of(folder: Path) -> api.Gradebook:
    return gradebooks.open_book(folder)


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copied = gradebooks.copy(made, tmp_path / "course")
    monkeypatch.chdir(copied)
    (copied / "class" / "roster.csv").write_text(
        "id,name,email,canvas,moodle\n"
        "ada,Ada Lovelace,ada@example.org,1017,\n"
        'bob,"=HYPERLINK(""x"")",bob@example.org,,\n'
        "waits,Wai Ts,waits@example.org,1019,\n"
        "gone,Gone Away,gone@example.org,1020,\n"
    )
    return copied


def returned(folder: Path) -> Path:
    return folder / "class" / "returned" / LESSON


def run(lms: str, data: bytes, column: str = "", name: str = "grades.csv") -> list[str]:
    """What is said of a table that is filled."""
    Path(name).write_bytes(data)
    try:
        return list(give_back(Course.here(), Order(LESSON, lms, Path(name), column)))
    finally:
        assert Path(name).read_bytes() == data, "it is never written to"


def in_a_line(said: list[str], *facts: object) -> bool:
    return any(tells(line, *facts) for line in said)


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,Week 6 (501),06 Causal Mask (502),"
    "Final Score\r\n"
    ",,,,,,,Manual Posting,\r\n"
    "    Points Possible,,,,,,5.00,11.00,(read only)\r\n"
    '"Lovelace, Ada",1017,,ada@school.example,A,"kept, as ""is""",4.00,,44.4\r\n'
    "Builder é,1018,,Bob@Example.org,A,,,,\r\n"
    '"Ts, Wai",1019,,x,A,,,1.00,\r\n'
    "Stranger,9999,,stranger,A,,,7.00,\r\n"
    '"Student, Test",1,,0f9a,A,,,,\r\n'
)


@pytest.mark.slow
def test_canvas_gets_its_scores_and_keeps_every_other_byte(folder: Path) -> None:
    for mark in (b"", BOM):
        said = run("canvas", mark + CANVAS.encode())
        expected = CANVAS.replace("4.00,,44.4", f"4.00,{ADA:g},44.4")
        expected = expected.replace("org,A,,,,\r", f"org,A,,,{BOB:g},\r")
        assert (returned(folder) / "grades-filled.csv").read_bytes() == mark + expected.encode()
    path = f"class/returned/{LESSON}/grades-filled.csv"
    assert tells(said[0], "2 scores", "'06 Causal Mask (502)'", path)
    assert in_a_line(said, "formgrader", ": Wai Ts (waits).")
    assert in_a_line(said, "not graded", ": ungraded.")
    assert in_a_line(said, "nothing", ": Gone Away (gone), No Body (nobody).")
    assert in_a_line(said, "In grades.csv", "not found", ": Stranger (9999).")
    assert not in_a_line(said, "Look at")


def test_scores_are_those_of_nbgrader_s_export(folder: Path) -> None:
    run("canvas", CANVAS.encode())
    with closing(gradebook_of(folder)) as db:
        CsvExportPlugin(to="all.csv").export(db)
    with open("all.csv", encoding="utf-8", newline="") as file:
        exported = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert (exported["ada"], exported["bob"]) == (ADA, BOB)


def test_a_semicolon_and_names_in_two_columns_are_canvas_too(folder: Path) -> None:
    text = "LastName;FirstName;ID;SIS Login ID;Section;Causal mask (2)\nL;Ada;1017;ada;A;\n"
    run("canvas", text.encode())
    filled = (returned(folder) / "grades-filled.csv").read_bytes()
    assert filled == text.replace("ada;A;", f"ada;A;{ADA:g}").encode()


def test_who_is_excused_or_has_not_the_assignment_stays_so(folder: Path) -> None:
    text = CANVAS.replace("4.00,,44.4", "4.00,EX,44.4")
    said = run("canvas", text.encode())
    assert "4.00,EX,44.4" in (returned(folder) / "grades-filled.csv").read_text()
    assert in_a_line(said, "excused", ": Lovelace, Ada (1017).")


def test_points_that_differ_are_told(folder: Path) -> None:
    said = run("canvas", CANVAS.replace("11.00", "100.00").encode())
    assert in_a_line(said, "Look at", "points", f"{MOST:g},", "Canvas", "100")


@pytest.mark.parametrize("column", ["Week 6 (501)", "Week 6", "501"])
def test_a_column_may_be_named(column: str, folder: Path) -> None:
    assert "Week 6 (501)" in run("canvas", CANVAS.encode(), column)[0]


TWO = CANVAS.replace("Week 6 (501)", "06-causal-mask again (501)")
NONE = CANVAS.replace("06 Causal Mask (502)", "Essay (502)")
TWICE = CANVAS + "Another,1017,,ada2,A,,,,\r\n"


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        (TWO, "", "more than one assignment has .*'06-causal-mask again .501.', '06 Causal Mask"),
        (NONE, "", r"no assignment has .*'Week 6 \(501\)', 'Essay \(502\)'\. Say which"),
        (CANVAS, "Final Score", "no assignment is called 'Final Score'"),
        (CANVAS, "Section", "no assignment is called 'Section'"),
        (TWICE, "", "lines 4 and 9, are both of 1017"),
        (CANVAS + "Ada,5,,ada,A,,,,\r\n", "", "lines 4 and 9, are both of ada, by the roster"),
        (CANVAS + "Short,5\r\n", "", "line 9, has 2 cells"),
        ("a,b\n1,2\n", "", "is no export of Canvas's gradebook"),
        ("", "", "is no export of Canvas's gradebook"),
        (CANVAS.replace("101", "771").replace("Bob@", "x"), "", "None of the 4 students"),
    ],
)
def test_what_cannot_be_filled_is_refused_and_nothing_is_written(
    text: str, column: str, said: str, folder: Path
) -> None:
    with pytest.raises(Problem, match=said):
        run("canvas", text.encode(), column)
    assert not returned(folder).exists()


def collect(folder: Path, lms: str, names: dict[str, tuple[str, str]]) -> None:
    """Write what was collected: what the LMS calls each student, and the file's name."""
    path = folder / "class" / "collected" / f"{LESSON}.json"
    found = [Collected(one, lms, known, name, "", "") for one, (known, name) in names.items()]
    write_collected(path, found)


def test_what_was_collected_says_whose_a_row_is_before_the_roster_does(folder: Path) -> None:
    collect(folder, "canvas", {"bob": ("1017", "b_1017_7_x.zip")})
    said = run("canvas", CANVAS.encode())
    assert f"4.00,{BOB:g},44.4" in (returned(folder) / "grades-filled.csv").read_text()
    named = in_a_line(said, "not found", ": Builder é (1018)")
    assert named, "whose login is his, and not the number"
    assert in_a_line(said, "not in grades.csv: Ada Lovelace (ada).")


def test_an_anonymous_hand_in_is_found_by_the_roster(folder: Path) -> None:
    collect(folder, "canvas", {"ada": ("Ab1018", "anon_Ab1018_77_x.ipynb")})
    run("canvas", CANVAS.encode())
    assert f"4.00,{ADA:g},44.4" in (returned(folder) / "grades-filled.csv").read_text()
    with zipfile.ZipFile(returned(folder) / "pages-canvas.zip") as archive:
        assert archive.namelist() == ["anon_Ab1018_77_x.html"]


def test_a_worksheet_of_another_assignment_is_refused(folder: Path) -> None:
    numbers = {"ada": ("77", ""), "bob": ("78", ""), "waits": ("79", "")}
    collect(folder, "moodle", numbers)
    with pytest.raises(Problem, match="another course"):
        run("moodle", MOODLE.encode())


def test_pages_go_back_to_canvas_under_the_names_they_came_with(folder: Path) -> None:
    names = {
        "ada": ("1017", f"lovelaceada_1017_77_{LESSON}.zip"),
        "bob": ("1018", f"builderbob_LATE_1018_78_{LESSON}.ipynb"),
        "waits": ("1019", f"tswai_1019_79_{LESSON}.ipynb"),
    }
    collect(folder, "canvas", names)
    assert in_a_line(run("canvas", CANVAS.encode()), "2 pages", "pages-canvas.zip")
    with zipfile.ZipFile(returned(folder) / "pages-canvas.zip") as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    zip_name = f"lovelaceada_1017_77_{LESSON}.zip"
    page_name = f"builderbob_LATE_1018_78_{LESSON}.html"
    assert sorted(found) == sorted([zip_name, page_name])
    with zipfile.ZipFile(io.BytesIO(found[zip_name])) as inner:
        assert inner.namelist() == [f"{LESSON}.html"]
        assert f"Score: {ADA:g} of {MOST:g}" in inner.read(f"{LESSON}.html").decode()
    assert f"Score: {BOB:g} of {MOST:g}".encode() in found[page_name], "with what is new"


def test_who_has_no_page_or_no_name_is_told(folder: Path) -> None:
    collect(folder, "canvas", {"bob": ("1018", "b_1018_7_x.ipynb")})
    Course.here().feedback("bob", LESSON).joinpath(f"{LESSON}.html").unlink()
    said = run("canvas", CANVAS.encode())
    assert in_a_line(said, "grading", ": =HYPERLINK")
    assert in_a_line(said, "not collected: Ada Lovelace (ada).")
    assert not (returned(folder) / "pages-canvas.zip").exists()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ada_1_2_x.ipynb", "ada_1_2_x.html"),
        ("anon_Ab3_2_x.ipynb", "anon_Ab3_2_x.html"),
        ("group 7_1_2_x.y.ipynb", "group 7_1_2_x.y.html"),
        ("group_7_ada_1_2_x.y.ipynb", None),
        ("submissions/ada_1_2_x.ipynb", None),
        ("ada_1_link.html", None),
        ("x.ipynb", None),
        ("", None),
    ],
)
def test_a_name_of_canvas_s_has_two_numbers(name: str, expected: str | None) -> None:
    found = canvas.page_in(name, LESSON, b"page")
    assert (found and found[0]) == expected


# --- Moodle ---

MOODLE = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 301","Ada Lovelace",ada@example.org,"Submitted for grading - ",,11.00,Yes,'
    '"Monday, 2 March 2026, 10:00 AM",-,\n'
    '"Participant 302",Bob,other@example.org,,3.00,11.00,Yes,-,"Monday, 2 March 2026, 9:00 AM",'
    '"<p>kept, ""so""</p>"\n'
    '"Participant 399",Stranger,s@example.org,,,11.00,Yes,-,-,\n'
)
GERMAN = (
    "ID;Vollständiger Name;Status;Bewertung;Bestwertung;Bewertung kann geändert werden;x\r\n"
    "Teilnehmer/in301;Ada;;;11,00;Ja;-\r\n"
    "Teilnehmer/in302;Bob;;3,00;11,00;Ja;-\r\n"
)


def test_moodle_gets_its_scores_and_keeps_every_other_byte(folder: Path) -> None:
    collect(folder, "moodle", {"bob": ("302", f"Bob_302_assignsubmission_file_/{LESSON}.ipynb")})
    said = run("moodle", BOM + MOODLE.encode(), name="Grades-x.csv")
    expected = MOODLE.replace('- ",,11', f'- ",{ADA:g},11').replace("3.00", f"{BOB:g}")
    assert (returned(folder) / "Grades-x-filled.csv").read_bytes() == BOM + expected.encode()
    assert in_a_line(said, "not found", ": Stranger (399).")
    assert moodle.ALLOW in said
    with zipfile.ZipFile(returned(folder) / "pages-moodle.zip") as archive:
        assert archive.namelist() == [f"Bob_302_assignsubmission_file_/{LESSON}.html"]


def test_moodle_s_languages_have_commas_and_other_words(folder: Path) -> None:
    collect(folder, "moodle", {"bob": ("302", ""), "ada": ("Teilnehmer/in301", "")})
    run("moodle", GERMAN.encode())
    filled = (returned(folder) / "grades-filled.csv").read_bytes().decode()
    ada, bob = (f"{score:g}".replace(".", ",") for score in (ADA, BOB))
    assert filled == GERMAN.replace("Ada;;;", f"Ada;;{ada};").replace(";3,00;", f";{bob};")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MOODLE.replace("11.00", "Good"), "cannot be told.*'Full name', .*Say which"),
        (MOODLE.replace(",Yes,", ",,"), None),
        (MOODLE.replace("3.00", "B"), "cannot be told"),
        (MOODLE.replace("Participant 302", "Participant 301"), "lines 2 and 3, are both of 301"),
        (MOODLE.replace("Participant 302", "Bob"), "is no grading worksheet"),
        (MOODLE.split("\n")[0], "is no grading worksheet"),
        (CANVAS, "is no grading worksheet"),
        (MOODLE.replace("ada@", "x@"), "None of the 3 students"),
    ],
)
def test_a_worksheet_that_is_not_sure_is_refused(text: str, said: str | None, folder: Path) -> None:
    if said is None:
        run("moodle", text.encode())
        return
    with pytest.raises(Problem, match=said):
        run("moodle", text.encode())
    assert not returned(folder).exists()


def test_a_worksheet_s_column_may_be_named(folder: Path) -> None:
    text = MOODLE.replace("3.00", "B")
    assert "'Grade'" in run("moodle", text.encode(), "Grade")[0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A B_12_assignsubmission_file_/x.ipynb", "A B_12_assignsubmission_file_/{}.html"),
        ("A B_12_assignsubmission_file/x/y.ipynb", "A B_12_assignsubmission_file/{}.html"),
        ("A B_12_assignsubmission_file_x_y.ipynb", "A B_12_assignsubmission_file_{}.html"),
        ("all/A_12_assignsubmission_file_/x.ipynb", None),
        ("A B/x.ipynb", None),
        ("", None),
    ],
)
def test_a_page_for_moodle_lies_in_the_folder_that_came(name: str, expected: str | None) -> None:
    found = moodle.page_in(name, LESSON, b"page")
    assert (found and found[0]) == (expected and expected.format(LESSON))


# --- a plain table ---


def test_a_plain_table_has_everyone_and_each_exercise(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collect(folder, "gradescope", {"ada": ("", "submission_1/x.ipynb")})
    assert main(["return", LESSON, "--csv"]) == 0
    told = capsys.readouterr().out
    assert tells(told, "Gradescope", "no scores", "no pages")
    with open(returned(folder) / f"{LESSON}.csv", encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["ada", "bob", "waits", "gone", "nobody", "ungraded"]
    bob = rows["bob"]
    assert bob["name"] == '\'=HYPERLINK("x")'
    assert (bob["score"], bob["max_score"]) == (f"{BOB:g}", f"{MOST:g}")
    assert (bob["late_penalty"], bob["handed_in"]) == ("1.25", "2026-03-01 12:00:00 UTC")
    assert (bob["attention"], rows["ada"]["attention"]) == ("2.5", "3.5")
    statuses = [row["status"] for row in rows.values()]
    assert statuses == ["graded", "graded", "waits for manual grading", *["nothing handed in"] * 2,
                        "not graded"]  # fmt: skip
    assert (rows["waits"]["attention"], rows["ungraded"]["attention"]) == ("5", "")
    assert rows["waits"]["score"] == rows["gone"]["score"] == rows["ungraded"]["score"] == ""
    assert main(["return", LESSON, "--csv", "mine.csv"]) == 0
    assert Path("mine.csv").read_bytes() == (returned(folder) / f"{LESSON}.csv").read_bytes()


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=x", "\r@x", "＝1"])
def test_no_text_of_ours_is_a_formula(text: str) -> None:
    """In the plain table as in the report's: one function says what is harmless."""
    assert vars(plain)["harmless"] is harmless
    plainly = text.replace("\t", " ").replace("\r", " ")
    assert harmless(text) == f"'{plainly}"
    assert harmless(f"x{text}") == f"x{plainly}"


# --- the command ---


def test_a_lesson_that_nobody_handed_in_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(gradebook_of(folder)) as db:
        for student in ("ada", "bob", "waits", "ungraded"):
            db.remove_submission(LESSON, student)
    assert main(["return", LESSON, "--csv"]) == 1
    assert tells(capsys.readouterr().err, "Nobody", LESSON)
    assert main(["return", "07-multi-head", "--csv"]) == 1
    assert tells(capsys.readouterr().err, "nothing", "07-multi-head")


def test_a_file_that_is_not_there_or_a_folder_that_is_a_file_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["return", LESSON, "--canvas", "none.csv"]) == 1
    assert tells(capsys.readouterr().err, "none.csv", "No such file")
    (folder / "class" / "returned").write_text("a file")
    Path("grades.csv").write_text(CANVAS)
    assert main(["return", LESSON, "--canvas", "grades.csv"]) == 1
    assert "could not be written" in capsys.readouterr().err


def test_files_of_the_same_bytes_are_a_zip_of_the_same_bytes() -> None:
    files = {"é/a.html": b"1" * 1000, "b": b""}
    assert zipped(files) == zipped(dict(files))
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
