"""A learner's own copies: made once, upgraded around what they wrote, never lost."""

from __future__ import annotations

import copy
import errno
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attnlab.home import copies, doctor
from attnlab.home.check_mine import check_all
from attnlab.home.commands import main
from attnlab.home.hand_in import hand_in
from attnlab.ipynb.files import NotWritten, write_whole
from attnlab.ipynb.read import STUB
from attnlab.work import places
from attnlab.work.places import Course, Refused
from tests.course import ROOT, SLUGS, released_path, tells
from tests.home import (
    ANSWER,
    OTHER,
    SLUG,
    cells_of,
    files_under,
    find,
    label,
    make_copies,
    make_home,
    own,
    save,
    source,
    updated,
    write,
)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course whose lessons have been copied."""
    return make_copies(tmp_path, SLUG, OTHER)


def release_again(course: Course, slug: str = SLUG) -> list[dict[str, Any]]:
    """A newer release: prose and a check changed, a new exercise, a cell gone and one moved."""
    path = course.released / slug / f"{slug}.ipynb"
    cells = cells_of(path)
    cells[0]["source"] = [*cells[0]["source"], "\n\nNewer."]
    find(cells, "softmax-check")["source"] = ["check(softmax)  # newer"]
    stub = find(cells, "softmax")
    stub["source"] = ["# newer stub\n", *stub["source"]]
    twin = copy.deepcopy(stub)
    twin |= {"id": "new-exercise", "source": [f"def fresh():\n    raise X('{STUB}')"]}
    twin["metadata"]["nbgrader"]["grade_id"] = "fresh"
    cells.insert(cells.index(stub), twin)
    cells.remove(find(cells, "see-the-shelf"))
    cells.append(cells.pop(cells.index(find(cells, "see-overflow"))))
    save(path, cells)
    return cells


# copied once ------------------------------------------------------------------------------------


def test_each_lesson_and_the_glossary_are_copied_once(tmp_path: Path) -> None:
    course = make_home(tmp_path, SLUG, OTHER)
    assert updated(course) == []
    released = files_under(course.released)
    found = files_under(course.work)
    assert {name: found[name] for name in released} == released
    assert updated(course) == []
    assert files_under(course.work) == found


def test_what_is_written_stays_while_nothing_newer_is_released(course: Course) -> None:
    write(course.notebook(SLUG), "softmax", ANSWER)
    before = files_under(course.work)
    assert updated(course) == []
    assert files_under(course.work) == before


def test_the_command_does_it_from_any_folder_of_the_course(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course.notebook(SLUG).unlink()
    monkeypatch.chdir(course.work / OTHER)
    assert main(["update"]) == 0
    assert course.notebook(SLUG).exists()
    monkeypatch.chdir("/")
    assert main(["update"]) == 1
    assert "is not in the course's folder" in capsys.readouterr().err
    assert main(["--course", str(course.root), "update"]) == 0


# taken home from the site -----------------------------------------------------------------------


@pytest.mark.parametrize("beside", [True, False], ids=["beside work", "in work"])
def test_a_lesson_that_was_taken_home_is_gone_on_with(course: Course, beside: bool) -> None:
    release_again(course)  # the site's is the release before
    brought = (course.root if beside else course.work) / f"{SLUG} (1).ipynb"
    shutil.copyfile(course.notebook(SLUG), brought)
    write(brought, "softmax", ANSWER)
    moved, *upgrade = updated(course)
    assert tells(moved, f"{SLUG} (1).ipynb", "moved", f"work/{SLUG}/{SLUG}.ipynb")
    assert len(upgrade) == 1
    cells = cells_of(course.notebook(SLUG))
    assert source(find(cells, "softmax")) == ANSWER
    assert source(find(cells, "softmax-check")).endswith("newer")
    assert not brought.exists()
    assert updated(course) == []


def test_it_does_not_replace_what_is_written(course: Course) -> None:
    brought = course.work / f"{SLUG}.ipynb"
    shutil.copyfile(course.notebook(SLUG), brought)
    write(brought, "softmax", ANSWER)
    write(course.notebook(SLUG), "hard_lookup", "def hard_lookup(query, keys, values): ...")
    before = files_under(course.work)
    [said] = updated(course)
    assert tells(said, f"{SLUG}.ipynb", "left where it is", "yours")
    assert files_under(course.work) == before


# upgraded ---------------------------------------------------------------------------------------


def test_a_lesson_that_was_not_touched_is_replaced(course: Course) -> None:
    release_again(course)
    assert updated(course) == []
    new = (course.released / SLUG / f"{SLUG}.ipynb").read_bytes()
    assert course.notebook(SLUG).read_bytes() == new
    assert not course.backups.exists()


def test_a_touched_lesson_is_upgraded_around_what_was_written(course: Course) -> None:
    path = course.notebook(SLUG)
    cells = cells_of(path)
    find(cells, "softmax")["source"] = ANSWER
    added = [own("x = 1"), own("A note.", "markdown", attachments={"a.png": {}})]
    at = cells.index(find(cells, "softmax-check"))
    cells[at + 1 : at + 1] = added
    card = {"output_type": "execute_result", "data": {"text/plain": "6"}, "metadata": {}}
    find(cells, "hard_lookup-check")["outputs"] = [card | {"execution_count": 7}]
    cells.insert(0, own("My lesson.", "markdown"))
    save(path, cells)
    before = path.read_bytes()
    new = release_again(course)

    [line] = updated(course)
    [kept] = course.backups.iterdir()
    assert tells(line, f"{SLUG} is upgraded around what you wrote", f"work/backups/{kept.name}")
    assert kept.read_bytes() == before

    now = cells_of(path)
    assert source(find(now, "softmax")) == ANSWER
    assert STUB in source(find(now, "fresh"))
    assert source(find(now, "softmax-check")) == "check(softmax)  # newer"
    assert find(now, "hard_lookup-check")["outputs"][0]["data"] == card["data"]
    at = now.index(find(now, "softmax-check"))
    assert [source(cell) for cell in now[at + 1 : at + 3]] == ["x = 1", "A note."]
    assert now[at + 2]["attachments"] == {"a.png": {}}
    assert source(now[0]) == "My lesson."
    theirs = [
        source(cell) for cell in now if source(cell) not in ("x = 1", "A note.", "My lesson.")
    ]
    expected = [ANSWER if label(cell) == "softmax" else source(cell) for cell in new]
    assert theirs == expected  # the new release, in its order, and nothing twice
    assert updated(course) == []


def test_copies_of_a_newer_course_are_left_to_it(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    release_again(course)
    course.write(course.made_by, b"10.0.1+c12345678\n")
    before = files_under(course.work)
    for older in ("9.12.3", "10.0.0+cffffffff", "0.1.0", "10.0.1.dev7+gffffffff"):
        monkeypatch.setattr(copies, "version", lambda older=older: older)
        [said] = copies.update(course)
        assert tells(said, "10.0.1+c12345678", older, "older")
        assert files_under(course.work) == before
    monkeypatch.setattr(copies, "version", lambda: "10.0.2.dev1+g00000000")
    assert [*copies.update(course)] == []
    assert course.notebook(SLUG).read_bytes() != before[f"{SLUG}/{SLUG}.ipynb"]
    assert course.text(course.made_by) == "10.0.2.dev1+g00000000\n"


def test_prose_that_a_learner_rewrote_stays_theirs(course: Course) -> None:
    path = course.notebook(SLUG)
    cells = cells_of(path)
    plain = [cell for cell in cells if cell["cell_type"] == "markdown" and not label(cell)]
    plain[0]["source"] = "My title."  # which the course changes too
    plain[3]["source"] = "My words."  # which it does not
    save(path, cells)
    new = release_again(course)
    updated(course)
    now = [source(cell) for cell in cells_of(path)]
    assert now[:2] == [source(new[0]), "My title."]
    assert now.count("My words.") == 1
    assert len(now) == len(new) + 1


def test_cells_that_a_learner_moved_stay_where_they_put_them(course: Course) -> None:
    path = course.notebook(SLUG)
    cells = cells_of(path)
    cells.insert(2, cells.pop(cells.index(find(cells, "soft_lookup"))))
    save(path, cells)
    release_again(course)
    updated(course)
    assert label(cells_of(path)[2]) == "soft_lookup"


def test_an_answer_to_an_exercise_that_is_gone_is_kept_as_text(course: Course) -> None:
    write(course.notebook(SLUG), "hard_lookup", "def hard_lookup(): return 'mine'")
    path = course.released / SLUG / f"{SLUG}.ipynb"
    save(path, [cell for cell in cells_of(path) if not label(cell).startswith("hard_lookup")])
    updated(course)
    now = cells_of(course.notebook(SLUG))
    [kept] = [cell for cell in now if "def hard_lookup(): return 'mine'" in source(cell)]
    assert kept["cell_type"] == "markdown"
    assert "hard_lookup" not in map(label, now)


def test_what_is_written_in_an_open_cell_is_the_answer_once_it_is_asked_for(tmp_path: Path) -> None:
    course = make_home(tmp_path, SLUG)
    path = course.released / SLUG / f"{SLUG}.ipynb"
    asked = cells_of(path)
    open_cells = [cell for cell in copy.deepcopy(asked) if label(cell) != "softmax-check"]
    del find(open_cells, "softmax")["metadata"]["nbgrader"]
    save(path, open_cells)
    assert updated(course) == []
    at = [label(cell) for cell in asked].index("softmax")
    mine = cells_of(course.notebook(SLUG))
    mine[at]["source"] = ANSWER
    save(course.notebook(SLUG), mine)
    save(path, asked)
    updated(course)
    now = cells_of(course.notebook(SLUG))
    assert [label(cell) for cell in now] == [label(cell) for cell in asked]
    assert source(find(now, "softmax")) == ANSWER
    assert find(now, "softmax")["metadata"] == find(asked, "softmax")["metadata"]
    assert updated(course) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_every_lesson_can_be_upgraded_with_all_its_exercises_written(
    slug: str, tmp_path: Path
) -> None:
    course = make_copies(tmp_path, slug)
    path = course.notebook(slug)
    cells = cells_of(path)
    for cell in cells:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = f"{label(cell)} = 'mine'"
    save(path, cells)
    released = course.released / slug / f"{slug}.ipynb"
    newer = cells_of(released)
    newer[0]["source"] = "# Newer"
    save(released, newer)
    [line] = updated(course)
    expected = [source(cell) for cell in cells]
    assert [source(cell) for cell in cells_of(path)] == ["# Newer", *expected[1:]]
    assert line.startswith(f"{slug} is upgraded around")


def test_a_lesson_that_was_only_run_is_upgraded_with_a_backup(course: Course) -> None:
    path = course.notebook(SLUG)
    cells = cells_of(path)
    find(cells, "setup")["execution_count"] = 1
    save(path, cells)
    release_again(course)
    [line] = updated(course)
    assert tells(line, f"{SLUG} is upgraded.", "work/backups/")


def test_an_upgrade_from_an_unknown_release_loses_nothing(course: Course) -> None:
    write(course.notebook(SLUG), "softmax", ANSWER)
    shutil.rmtree(course.state)
    release_again(course)
    updated(course)
    now = cells_of(course.notebook(SLUG))
    assert source(find(now, "softmax")) == ANSWER
    assert source(find(now, "softmax-check")) == "check(softmax)  # newer"


def test_a_glossary_with_notes_in_it_is_kept_when_a_newer_one_comes(course: Course) -> None:
    (course.work / "glossary.md").write_text("my notes")
    (course.released / "glossary.md").write_text("newer")
    [line] = updated(course)
    [kept] = course.backups.iterdir()
    assert kept.read_text() == "my notes"
    assert kept.name in line
    assert (course.work / "glossary.md").read_text() == "newer"


# left alone -------------------------------------------------------------------------------------


def test_renamed_moved_and_copied_notebooks_are_left_and_told_of(course: Course) -> None:
    path = course.notebook(SLUG)
    renamed = path.rename(path.with_name("mine.ipynb"))
    copied = shutil.copy(renamed, path.with_name("mine-Copy1.ipynb"))
    moved = course.notebook(OTHER).rename(course.work / "moved.ipynb")
    before = [Path(each).read_bytes() for each in (renamed, copied, moved)]
    release_again(course)
    *gone, line = updated(course)
    names = f"{SLUG}/mine-Copy1.ipynb, {SLUG}/mine.ipynb, moved.ipynb"
    copies = f"work/{SLUG}/mine-Copy1.ipynb, work/{SLUG}/mine.ipynb."
    for said, place, others in (
        (gone[0], f"work/{SLUG}/{SLUG}.ipynb", copies),
        (gone[1], f"work/{OTHER}/{OTHER}.ipynb", "work/moved.ipynb."),
    ):
        assert tells(said, place, "gone", "fresh copy", others, "move it", place)
    assert len(gone) == 2
    assert tells(line, "Left as they are", names)
    assert [Path(each).read_bytes() for each in (renamed, copied, moved)] == before
    assert path.exists()  # a fresh one


@pytest.mark.parametrize("data", [b"", b"<<<<<<< HEAD\n{", b"\xff\xfe", b"[]", b'{"cells": 3}'])
def test_a_broken_notebook_is_left_and_told_of(data: bytes, course: Course) -> None:
    course.notebook(SLUG).write_bytes(data)
    release_again(course)
    [line] = updated(course)
    assert line.startswith(f"Left as it is: work/{SLUG}/{SLUG}.ipynb cannot be read: ")
    assert course.notebook(SLUG).read_bytes() == data


def test_answers_in_notebooks_are_taken_along_and_no_release(tmp_path: Path) -> None:
    course = make_home(tmp_path)
    released = course.released / SLUG / f"{SLUG}.ipynb"
    clean = released.read_bytes()
    write(released, "softmax", ANSWER)
    [line] = updated(course)
    assert tells(line, f"notebooks/{SLUG}/{SLUG}.ipynb", "copied", "work/")
    released.write_bytes(clean)
    release_again(course)
    updated(course)
    now = cells_of(course.notebook(SLUG))
    assert source(find(now, "softmax")) == ANSWER
    assert source(find(now, "softmax-check")) == "check(softmax)  # newer"
    write(released, "softmax", "def softmax(): ...")
    assert "Your copy in work/ counts" in updated(course)[0]
    assert source(find(cells_of(course.notebook(SLUG)), "softmax")) == ANSWER


def test_a_release_with_conflict_markers_is_not_copied(course: Course) -> None:
    (course.released / SLUG / f"{SLUG}.ipynb").write_text("<<<<<<< HEAD")
    before = course.notebook(SLUG).read_bytes()
    [line] = updated(course)
    assert "cannot be read, and was not copied" in line
    assert course.notebook(SLUG).read_bytes() == before


# told alike ------------------------------------------------------------------------------------


def another(course: Course) -> str:
    shutil.copy(course.notebook(OTHER), course.notebook(SLUG))
    return f"holds lesson {OTHER}."


def emptied(course: Course) -> str:
    save(course.notebook(SLUG), [])
    return "has none of its lesson's cells."


def broken(course: Course) -> str:
    course.notebook(SLUG).write_text("<<<<<<<")
    return "cannot be read: Git wrote two versions into the file"


@pytest.mark.parametrize("spoil", [another, emptied, broken], ids=lambda spoil: spoil.__name__)
def test_whatever_looks_at_a_copy_says_the_same_of_it_and_names_an_older_one(
    spoil: Callable[[Course], str], course: Course
) -> None:
    write(course.notebook(SLUG), "softmax", ANSWER)
    hand_in(course, SLUG)
    kept = copies.back_up(course, course.notebook(SLUG), course.notebook(SLUG).read_bytes())
    wrong = f"work/{SLUG}/{SLUG}.ipynb {spoil(course)}"
    before = files_under(course.work)
    with pytest.raises(Refused) as refused:
        hand_in(course, SLUG)
    [checked] = check_all(course, [SLUG])
    told = [*updated(course), checked.said, str(refused.value)]
    told += [found.what for found in doctor.lessons(course) if SLUG in found.what and found.mend]
    assert len(told) == 4
    for line in told:
        assert wrong in line
        assert tells(line, "Older", kept, f"work/hand-in/{SLUG}.zip")
    assert files_under(course.work) == before


# cut short --------------------------------------------------------------------------------------


def stopping_at(number: int) -> Any:
    """`write_whole`, but the disk is full from this file on."""
    calls: Iterator[int] = iter(range(100))

    def write_or_stop(path: Path, data: bytes) -> None:
        if next(calls) >= number:
            raise NotWritten(path, OSError(errno.ENOSPC, "No space left on device"))
        write_whole(path, data)

    return write_or_stop


@pytest.mark.parametrize("number", range(6))
def test_an_upgrade_that_is_cut_short_loses_nothing_and_ends_well_the_next_time(
    number: int, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = course.notebook(SLUG)
    write(path, "softmax", ANSWER)
    write(course.notebook(OTHER), "matmul", "def matmul(): return 'mine'")
    before = [path.read_bytes(), course.notebook(OTHER).read_bytes()]
    new = release_again(course)
    other = course.released / OTHER / f"{OTHER}.ipynb"
    save(other, [own("# Newer", "markdown"), *cells_of(other)])
    with monkeypatch.context() as patched:
        patched.setattr(places, "write_whole", stopping_at(number))
        with pytest.raises(NotWritten, match="The disk is full"):
            updated(course)
    kept = [*files_under(course.work).values()]
    assert all(data in kept for data in before)
    updated(course)
    assert all(data in files_under(course.work).values() for data in before)
    now = cells_of(path)
    assert [label(cell) for cell in now] == [label(cell) for cell in new]
    assert source(find(now, "softmax")) == ANSWER
    assert source(find(cells_of(course.notebook(OTHER)), "matmul")).endswith("'mine'")
    assert updated(course) == []


def test_an_upgrade_that_is_told_of_is_not_done_yet(course: Course) -> None:
    path = course.notebook(SLUG)
    write(path, "softmax", ANSWER)
    before = path.read_bytes()
    release_again(course)
    line = next(copies.update(course))  # killed here, it tells again
    assert path.read_bytes() == before
    assert updated(course)[0][:40] == line[:40]


def test_a_notebook_saved_while_it_is_upgraded_is_left(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = course.notebook(SLUG)
    write(path, "softmax", ANSWER)
    release_again(course)
    back_up = copies.back_up

    def save_meanwhile(*given: Any) -> str:
        kept = back_up(*given)
        write(path, "softmax", "the newest")
        return kept

    monkeypatch.setattr(copies, "back_up", save_meanwhile)
    assert "start again" in updated(course)[-1]
    assert source(find(cells_of(path), "softmax")) == "the newest"


def test_a_full_disk_is_said_in_one_sentence(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    release_again(course)
    monkeypatch.setattr(places, "write_whole", stopping_at(0))
    monkeypatch.chdir(course.root)
    assert main(["update"]) == 1
    assert tells(capsys.readouterr().err, "disk is full", "again")


# the stub ---------------------------------------------------------------------------------------


def test_the_stub_is_the_one_that_is_handed_out() -> None:
    assert STUB in (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    for slug in SLUGS:
        for cell in cells_of(released_path(slug)):
            if cell["metadata"].get("nbgrader", {}).get("solution"):
                assert STUB in source(cell)


def test_an_upgraded_notebook_is_a_valid_one(course: Course) -> None:
    import nbformat

    write(course.notebook(SLUG), "softmax", ANSWER)
    release_again(course)
    updated(course)
    nbformat.validate(json.loads(course.notebook(SLUG).read_text(encoding="utf-8")))
