"""A course with other lessons than before: what a learner and a class have of it follows.

`tests/earlier/` holds what learners were given when the course had twelve lessons, and on the last
day before a course knew its version.
"""

from __future__ import annotations

import fcntl
import io
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import nbformat
import pytest

from attnlab import lessons
from attnlab.home.page import Links, home
from attnlab.home.report import report
from attnlab.home.standing import standings
from attnlab.ipynb.files import NotWritten
from attnlab.ipynb.read import STUB, Cell
from attnlab.ipynb.rebuild import rebuild
from attnlab.ipynb.zipped import zipped
from attnlab.lesson import begin
from attnlab.lessons import today
from attnlab.work import places, progress
from attnlab.work.places import Course
from autograder.__main__ import main
from autograder.gradebook.course import Course as Class
from autograder.gradebook.gradebook import Gradebook
from tests.course import ROOT, SLUGS, released_path, tells
from tests.graded import grade, make_course
from tests.home import cells_of, find, label, own, save, source, updated
from tests.test_home_copies import stopping_at

pytestmark = pytest.mark.slow
EARLIER = Path(__file__).parent / "earlier"
COURSES = ("twelve_lessons", "fourteen_lessons")
every_course = pytest.mark.parametrize("name", COURSES)
GPU, NOW = "12-gpu-sdpa", "13-gpu-sdpa"


def an_earlier_course(folder: Path, name: str = COURSES[0]) -> Course:
    """A course as it was handed out once, with a learner's copies."""
    with ZipFile(EARLIER / f"{name}.zip") as archive:
        archive.extractall(folder)
    (folder / "jupyter").mkdir()
    (folder / "jupyter" / "lab_config.py").touch()
    course = Course(folder)
    updated(course)
    return course


def released_today(course: Course) -> None:
    """Today's notebooks in place of those, as a newer bundle brings them."""
    shutil.rmtree(course.released)
    shutil.copytree(ROOT / "notebooks", course.released)


def answer(slug: str, name: str) -> str:
    return f"def {name}(*given):\n    return 'mine, of {slug}'"


def answered(course: Course, every: int) -> dict[tuple[str, str], str]:
    """Write into every so manieth exercise; what was written, by lesson and exercise."""
    found = {}
    for path in sorted(course.work.glob("*/*.ipynb")):
        cells = cells_of(path)
        asked = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("solution")]
        for cell in asked[::every]:
            cell["source"] = found[path.stem, label(cell)] = answer(path.stem, label(cell))
        save(path, cells)
    return found


def whole(course: Course) -> None:
    """Every lesson of today is there, a valid notebook with each of its cells."""
    for slug in SLUGS:
        path = course.notebook(slug)
        nbformat.validate(nbformat.read(path, as_version=4))
        wanted = [label(cell) for cell in cells_of(released_path(slug)) if label(cell)]
        assert [label(cell) for cell in cells_of(path) if label(cell)] == wanted
    assert not (course.work / GPU).exists()


def test_names_of_old_mean_todays_lessons() -> None:
    assert today(GPU) == today(GPU, "benchmark") == NOW
    assert today("11-cost") == today("11-cost", "KVCache") == "11-cost"
    assert today("11-cost", "linear_attention") == "12-shortcuts"
    assert today("08-cross-attention", "CrossAttention") == "08-cross-attention"
    assert today("99-nothing") == "99-nothing"


@every_course
def test_untouched_copies_become_todays(name: str, tmp_path: Path) -> None:
    course = an_earlier_course(tmp_path, name)
    released_today(course)
    updated(course)
    whole(course)
    for slug in SLUGS:
        assert course.notebook(slug).read_bytes() == released_path(slug).read_bytes()
    assert updated(course) == []


@pytest.mark.parametrize("every", [2, 1], ids=["half done", "done"])
@every_course
def test_each_answer_stands_where_it_is_asked_for_today(
    name: str, every: int, tmp_path: Path
) -> None:
    course = an_earlier_course(tmp_path, name)
    written = answered(course, every)
    released_today(course)
    said = "\n".join(updated(course))
    whole(course)
    assert (f"{GPU} is called {NOW} now" in said) == (name == "twelve_lessons")
    removed = set()
    for (slug, asked_for), text in written.items():
        cells = cells_of(course.notebook(today(slug, asked_for)))
        asked = next((cell for cell in cells if label(cell) == asked_for), None)
        if asked is None:
            removed.add(asked_for)
            [kept] = [cell for cell in cells if text in source(cell)]
            assert kept["cell_type"] == "markdown"
        else:
            assert source(asked) == text
    assert removed <= {"CrossAttention"}
    assert updated(course) == []


@pytest.mark.parametrize("number", range(0, 24, 3))
def test_an_update_that_is_killed_midway_goes_on(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = an_earlier_course(tmp_path)
    written = answered(course, 1)
    released_today(course)
    with monkeypatch.context() as patched:
        patched.setattr(places, "write_whole", stopping_at(number))
        with pytest.raises(NotWritten):
            updated(course)
    updated(course)
    whole(course)
    everything = "".join(source(cell) for slug in SLUGS for cell in cells_of(course.notebook(slug)))
    assert all(text in everything for text in written.values())


def with_own_cells(course: Course) -> list[str]:
    """A cell of a learner's own behind each cell; what stands in them."""
    found: list[str] = []
    for path in sorted(course.work.glob("*/*.ipynb")):
        cells: list[dict[str, Any]] = []
        for cell in cells_of(path):
            found.append(f"own_{path.stem[:2]}_{len(found)} = 1")
            cells += [cell, own(found[-1])]
        save(path, cells)
    return found


def beside(course: Course, slug: str, name: str, *texts: str) -> None:
    """Cells of a learner's own behind the one of this name."""
    path = course.notebook(slug)
    cells = cells_of(path)
    at = [label(cell) for cell in cells].index(name)
    cells[at + 1 : at + 1] = map(own, texts)
    save(path, cells)


def behind(course: Course, slug: str, name: str, number: int) -> list[str]:
    cells = cells_of(course.notebook(slug))
    at = [label(cell) for cell in cells].index(name)
    return [source(cell) for cell in cells[at + 1 : at + 1 + number]]


@pytest.mark.parametrize("every", [0, 2, 1], ids=["nothing written", "half done", "done"])
def test_own_cells_behind_every_cell_of_every_lesson_follow(every: int, tmp_path: Path) -> None:
    course = an_earlier_course(tmp_path)
    if every:
        answered(course, every)
    mine = with_own_cells(course)
    moved = {
        name: behind(course, "11-cost", name, 1)
        for name in ("sliding_window_mask-check", "linear_attention", "linear_attention-check")
    }
    stays = {name: behind(course, "11-cost", name, 1) for name in ("KVCache-check", "summary")}
    released_today(course)
    updated(course)
    whole(course)
    code = [
        source(cell)
        for slug in SLUGS
        for cell in cells_of(course.notebook(slug))
        if cell["cell_type"] == "code" and source(cell).startswith("own_")
    ]
    assert sorted(code) == sorted(mine)
    for name, texts in moved.items():
        assert behind(course, "12-shortcuts", name, 1) == texts
    for name, texts in stays.items():
        assert behind(course, "11-cost", name, 1) == texts
    assert updated(course) == []


def test_what_calls_a_moved_answer_goes_with_it_or_is_text_and_what_both_need_is_copied(
    tmp_path: Path,
) -> None:
    course = an_earlier_course(tmp_path)
    answer = "def linear_attention(q, k, v):\n    return helped(q, k, v)"
    files = {"my data/π.csv": b"1,2", "other.csv": b"3", "mine.py": b"a = 1"}
    for name, data in files.items():
        path = course.work / "11-cost" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    cells = cells_of(course.notebook("11-cost"))
    find(cells, "linear_attention")["source"] = answer
    save(course.notebook("11-cost"), cells)
    helper = "import mine\ndef helped(*given): ..."
    tried, later = "linear_attention(1, 2, open('my data/π.csv'))", "helped()"
    beside(course, "11-cost", "merge_softmax-check", helper)
    beside(course, "11-cost", "linear_attention-check", tried)
    beside(course, "11-cost", "summary", f"{tried} # again", later)
    released_today(course)
    said = "\n".join(updated(course))
    assert tells(said, "12-shortcuts", "11-cost", "linear_attention", "1 cell of your own")
    assert tells(said, "copies", "work/11-cost", "mine.py, π.csv")
    stays, has = (
        {name for name in files if (course.work / slug / name).exists()}
        for slug in ("11-cost", "12-shortcuts")
    )
    assert (stays, has) == ({*files}, {"my data/π.csv", "mine.py"})
    assert behind(course, "12-shortcuts", "linear_attention-check", 1) == [tried]
    assert helper in map(source, cells_of(course.notebook("12-shortcuts")))
    assert behind(course, "11-cost", "merge_softmax-check", 1) == [helper]
    kept, still = behind(course, "11-cost", "summary", 2)
    assert kept.startswith("Your cell, which needs `linear_attention`")
    assert still == later
    assert STUB in "".join(map(source, cells_of(course.notebook("12-shortcuts"))))  # not written


@every_course
def test_there_and_back_and_there_again_loses_nothing(name: str, tmp_path: Path) -> None:
    course = an_earlier_course(tmp_path, name)
    written = answered(course, 1)
    mine = with_own_cells(course)
    earlier = tmp_path / "earlier"
    shutil.copytree(course.released, earlier)
    for back in (False, True, False):
        shutil.rmtree(course.released)
        shutil.copytree(earlier if back else ROOT / "notebooks", course.released)
        updated(course)
        now = "".join(
            source(cell) for path in course.work.glob("*/*.ipynb") for cell in cells_of(path)
        )
        assert [text for text in (*written.values(), *mine) if text not in now] == []
    whole(course)
    assert updated(course) == []


def test_what_was_made_to_hand_in_follows(tmp_path: Path) -> None:
    course = an_earlier_course(tmp_path)
    made = course.handed_in(GPU)
    made.parent.mkdir(parents=True)
    made.write_bytes(zipped({f"{GPU}/{GPU}.ipynb": b"mine"}))
    released_today(course)
    updated(course)
    assert course.handed_in(NOW).read_bytes() == zipped({f"{NOW}/{NOW}.ipynb": b"mine"})
    assert not made.exists()


def test_files_beside_a_renamed_lesson_follow(tmp_path: Path) -> None:
    course = an_earlier_course(tmp_path)
    files = {"data.csv": "1, 2", "pictures/a.svg": "<svg/>", f"{GPU}-Copy1.ipynb": "{}"}
    homes = course.work, course.hand_ins
    for folder in homes:
        for name, text in files.items():
            (folder / GPU / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / GPU / name).write_text(text)
    released_today(course)
    updated(course)
    whole(course)
    for folder in homes:
        assert not (folder / GPU).exists()
        assert {name: (folder / NOW / name).read_text() for name in files} == files
    assert updated(course) == []


def test_a_file_whose_place_is_taken_is_left_and_told_of(tmp_path: Path) -> None:
    course = an_earlier_course(tmp_path)
    for slug in (GPU, NOW):
        (course.work / slug).mkdir(exist_ok=True)
        (course.work / slug / "data.csv").write_text(slug)
    released_today(course)
    assert any(tells(line, f"work/{GPU}/data.csv", "left") for line in updated(course))
    assert (course.work / GPU / "data.csv").read_text() == GPU
    assert (course.work / NOW / "data.csv").read_text() == NOW


def test_what_is_no_hand_in_of_ours_stays_where_it_is(tmp_path: Path) -> None:
    course = an_earlier_course(tmp_path)
    made = course.handed_in(GPU)
    made.parent.mkdir(parents=True)
    made.write_bytes(b"mine")
    released_today(course)
    updated(course)
    assert made.read_bytes() == b"mine"
    assert not course.handed_in(NOW).exists()


def test_what_a_link_leads_to_is_not_moved(tmp_path: Path) -> None:
    course = an_earlier_course(tmp_path / "course")
    (course.work / GPU).rename(tmp_path / "elsewhere")
    (course.work / GPU).symlink_to(tmp_path / "elsewhere")
    released_today(course)
    updated(course)
    assert (tmp_path / "elsewhere" / f"{GPU}.ipynb").is_file()
    assert course.notebook(NOW).read_bytes() == released_path(NOW).read_bytes()


def test_a_folder_of_an_earlier_release_is_not_copied_again(tmp_path: Path) -> None:
    """As where a newer course was unpacked over the older one."""
    course = an_earlier_course(tmp_path)
    shutil.copytree(ROOT / "notebooks", course.released, dirs_exist_ok=True)
    for _ in range(2):
        updated(course)
        assert not (course.work / GPU).exists()


def test_an_answer_that_is_asked_for_no_more_is_text_and_is_never_run() -> None:
    given = Cell("code", "class Given: ...", {"nbgrader": {"grade_id": "given", "locked": True}})
    label = {"nbgrader": {"grade_id": "Given", "solution": True, "locked": False}}
    checked = {"nbgrader": {"grade_id": "Given-check", "grade": True, "locked": True}}
    mine = Cell("code", "class Given:\n    '''```'''\n    mine = True", label, "own")
    handed_in = [given, mine, Cell("code", "check(Given)", checked)]
    found = rebuild(handed_in, [given], removed=["Given"])
    assert [cell.kind for cell in found.cells] == ["code", "markdown"]
    assert mine.source in found.cells[1].source
    assert "````python\n" in found.cells[1].source
    assert found.repaired == ("Given: is no exercise any more, kept as text",)


# progress ----------------------------------------------------------------------------------------


@pytest.fixture
def noted(tmp_path: Path) -> Course:
    """What a learner of the twelve lessons had passed."""
    course = an_earlier_course(tmp_path)
    passed = [
        (GPU, "benchmark", 2.0),
        (GPU, "is_fair", 1.0),
        ("11-cost", "linear_attention", 2.0),
        ("11-cost", "KVCache", 3.0),
        ("08-cross-attention", "CrossAttention", 3.0),
        ("04-scaling", "score_std", 1.0),
    ]
    lines = [
        {"v": 1, "when": "2026-11-23T10:00:00+00:00", "lesson": slug, "exercise": name}
        | {"status": "PASS", "score": points, "points": points, "mistake": "", "why": ""}
        for slug, name, points in passed
    ]
    course.progress.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    released_today(course)
    updated(course)
    return course


def test_points_follow_and_those_of_another_contract_are_earlier_ones(noted: Course) -> None:
    found = standings(noted, progress.read(noted).records)
    said = {(each.lesson.slug, one.name): one for each in found for one in each.exercises}
    assert said[NOW, "is_fair"].passed
    assert said["12-shortcuts", "linear_attention"].passed
    assert said["11-cost", "KVCache"].passed
    for earlier in (said[NOW, "benchmark"], said["04-scaling", "score_std"]):
        assert (earlier.passed, earlier.score) == (False, 0.0)
        assert tells(earlier.said, "earlier", "something else now")
    assert ("08-cross-attention", "CrossAttention") not in said
    [gone] = [one for each in found for one in each.gone]
    assert gone.name == "CrossAttention"
    assert tells(gone.said, "3 points earlier", "not ask")


def test_points_that_go_are_said_once_by_the_update_and_then_wherever_points_are(
    tmp_path: Path,
) -> None:
    course = an_earlier_course(tmp_path)
    asked = ("08-cross-attention", "CrossAttention", 3.0), ("04-scaling", "score_std", 0.5)
    lines = [
        {"v": 1, "when": "2026-11-23T10:00:00+00:00", "lesson": slug, "exercise": name}
        | {"status": "PASS", "score": points, "points": points, "mistake": "", "why": ""}
        for slug, name, points in (*asked, ("11-cost", "linear_attention", 2.0))
    ]
    course.progress.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    released_today(course)
    scaling, cross = [line for line in updated(course) if line.startswith("Points in ")]
    assert tells(scaling, "04-scaling", "`score_std`", "0.5 points earlier", "something else now")
    assert tells(cross, "08-cross-attention", "`CrossAttention`", "3 points earlier", "not ask")
    assert updated(course) == []
    for shown in ("\n".join(report(course)), home(course, Links())):
        shown = shown.replace("<code>", "").replace("</code>", "")
        assert "CrossAttention: 3 points earlier" in shown
        assert "score_std: 0.5 points earlier" in shown


def test_what_passes_now_counts(noted: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(noted.work)
    assert progress.note("04-scaling", "score_std", "PASS", 1.0, 1.0)
    found = standings(noted, progress.read(noted).records)
    [scaling] = [each for each in found if each.lesson.slug == "04-scaling"]
    assert scaling.exercises[0].passed


def test_a_notebook_of_old_begins_todays_lesson() -> None:
    assert tells(begin(GPU), f"was {GPU}", "`attnlab update`")
    assert tells(lessons.absent(GPU), f"no lesson {GPU!r}", f"mean {NOW}?")


# a class -----------------------------------------------------------------------------------------


@pytest.fixture
def class_of_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class that was graded in lesson 13 when it was called otherwise."""
    folder = tmp_path / "course"
    folder.mkdir()
    make_course(folder, NOW)
    monkeypatch.chdir(folder)
    handed_in = folder / "class" / "submitted" / "s001" / NOW
    handed_in.mkdir(parents=True)
    (handed_in / f"{NOW}.ipynb").write_text("{}")
    with Gradebook(Class.here()) as gradebook:
        gradebook.prepare(NOW)
        gradebook.record([grade("s001", lesson=NOW)])
    for step in ("submitted", "autograded", "feedback"):
        place = folder / "class" / step / "s001" / NOW
        for path in [*place.glob(f"{NOW}.*")]:
            path.rename(path.with_name(path.name.replace(NOW, GPU)))
        place.rename(place.with_name(GPU))
    (folder / "class" / "runs" / GPU).mkdir(parents=True)
    (folder / "class" / "runs" / GPU / "journal.jsonl").write_text("what was graded")
    with closing(sqlite3.connect(folder / "class" / "gradebook.db")) as connection:
        for table in ("assignment", "notebook"):
            connection.execute(f"update {table} set name = ? where name = ?", (GPU, NOW))
        connection.commit()
    return folder


def names(folder: Path) -> tuple[set[Any], set[str]]:
    """Lessons in the gradebook, and files of the class."""
    with closing(sqlite3.connect(folder / "class" / "gradebook.db")) as connection:
        tables = ("assignment", "notebook")
        rows = {row for each in tables for row in connection.execute(f"select name from {each}")}
    files = {path.relative_to(folder).as_posix() for path in folder.glob("class/*/s001/*/*")}
    return {name for (name,) in rows}, files


def test_a_class_follows_once_its_instructor_agrees(
    class_of_old: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = names(class_of_old)
    assert before[0] == {GPU}
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert main(["rename"]) == 0
    assert tells(capsys.readouterr().out, GPU, NOW, "4 folders")
    assert names(class_of_old) == before

    def agree() -> str:
        with (class_of_old / "class" / "runs" / "lock").open() as lock:
            with pytest.raises(BlockingIOError):  # no run writes meanwhile
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return "yes\n"

    monkeypatch.setattr("sys.stdin", SimpleNamespace(readline=agree))
    assert main(["rename"]) == 0
    now = names(class_of_old)
    assert now == ({NOW}, {path.replace(GPU, NOW) for path in before[1]})
    journal = class_of_old / "class" / "runs" / NOW / "journal.jsonl"
    assert journal.read_text() == "what was graded"
    with Gradebook(Class.here()) as gradebook:
        gradebook.prepare(NOW)
        standing = gradebook.standings(NOW)["s001"]
    assert standing is not None
    assert standing.earned > 0
    assert main(["rename", "--yes"]) == 0  # nothing is left to rename
    assert names(class_of_old) == now


def test_a_rename_that_was_stopped_goes_on(class_of_old: Path) -> None:
    before = names(class_of_old)
    (class_of_old / "class" / "submitted" / "s001" / NOW).mkdir()
    assert main(["rename", "--yes"]) == 1
    (class_of_old / "class" / "submitted" / "s001" / NOW).rmdir()
    assert main(["rename", "--yes"]) == 0
    assert names(class_of_old) == ({NOW}, {path.replace(GPU, NOW) for path in before[1]})


def test_rows_under_both_names_are_refused(
    class_of_old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Gradebook(Class.here()) as gradebook:
        gradebook.prepare(NOW)
    before = names(class_of_old)
    assert main(["rename", "--yes"]) == 1
    assert f"has rows of {GPU} and of {NOW}" in capsys.readouterr().err
    assert names(class_of_old) == before
