"""Cells of a learner's own, when their notebook is carried over to a newer release."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.ipynb.python import names
from attnlab.ipynb.read import STUB, Cell, read
from attnlab.ipynb.rebuild import squeezed
from attnlab.ipynb.upgrade import counterparts, upgraded
from attnlab.lessons import today
from tests.course import released_path, tells
from tests.test_former import COURSES, EARLIER


def earlier_lessons() -> dict[str, list[Cell]]:
    found = {}
    for course in COURSES:
        with ZipFile(EARLIER / f"{course}.zip") as archive:
            for path in archive.namelist():
                if path.endswith(".ipynb"):
                    found[f"{Path(path).stem}, {course}"] = read(archive.read(path))
    return found


LESSONS = earlier_lessons()


@cache
def of_today(slug: str) -> list[Cell]:
    return read(released_path(today(slug)).read_bytes())


def label(name: str, **note: object) -> dict[str, object]:
    return {"nbgrader": {"grade_id": name, "locked": "solution" not in note, **note}}


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_own_cells_stay_behind_their_neighbours_in_their_order(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([*LESSONS]))
    base, new = LESSONS[name], of_today(name.partition(",")[0])
    numbers = st.lists(st.integers(0, 2), min_size=len(base) + 1, max_size=len(base) + 1)
    now = counterparts(base, new)
    mine: list[Cell] = []
    behind: dict[int, list[str]] = {}
    place = -1
    for at, number in enumerate(data.draw(numbers), -1):  # -1: above the title
        mine += base[at : at + 1] if at >= 0 else []
        place = now.get(at, place)
        for each in range(number):
            kind = data.draw(st.sampled_from(["code", "markdown"]))
            mine.append(Cell(kind, f"own_{at}_{each}", id=f"own-{at}-{each}"))
            behind.setdefault(place, []).append(mine[-1].source)
    expected = behind.get(-1, [])
    for at, cell in enumerate(new):
        expected += [squeezed(cell), *behind.get(at, [])]
    assert [squeezed(cell) for cell in upgraded(mine, base, new)] == expected


@pytest.mark.parametrize("name", LESSONS)
def test_what_is_still_there_is_known_again(name: str) -> None:
    """An exercise's cells by their names, and a section by its heading."""
    base, new = LESSONS[name], of_today(name.partition(",")[0])
    now = counterparts(base, new)

    def telling(cell: Cell) -> set[str]:
        first = cell.source.partition("\n")[0]
        return {cell.exercise and cell.grade_id, first if first.startswith("#") else ""} - {""}

    there = [telling(cell) if cell.kind == "markdown" or cell.exercise else set() for cell in new]
    for at, cell in enumerate(base):
        names_of = telling(cell) if cell.kind == "markdown" or cell.exercise else set()
        if any(names_of & each for each in there):
            assert names_of & there[now[at]]
    assert len({*now.values()}) == len(now)


PLAIN = Cell("code", "def slope(x): ...  # write it, if you like", {}, "slope")
ASKED = Cell("code", f"def slope(x):\n    '''{STUB}'''", label("slope", solution=True), "slope")
CHECK = Cell("code", "check(slope)", label("slope-check", grade=True), "check")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (PLAIN.source, [ASKED.source]),
        ("def slope(x): return 3", ["def slope(x): return 3"]),
        ("print(3)", [ASKED.source, "print(3)"]),
    ],
    ids=["untouched", "answered", "something else"],
)
def test_a_cell_that_becomes_an_exercise(written: str, expected: list[str]) -> None:
    used = Cell("code", "print(slope(3))", label("compare"), "check")
    note = Cell("markdown", "Mine.", {}, "mine")
    mine = [Cell("code", written, {}, "slope"), used, note]
    found = upgraded(mine, [PLAIN, used], [ASKED, CHECK])
    assert [cell.source for cell in found] == [*expected, "check(slope)", "Mine."]
    assert [cell.grade_id for cell in found if cell.grade_id] == ["slope", "slope-check"]


def test_a_cell_that_needs_what_is_gone_becomes_text_and_so_do_those_that_need_it() -> None:
    gone = Cell("code", "def given(): return 1", label("given"), "given")
    kept = Cell("code", "def kept(): return 2", label("kept"), "kept")
    own = [
        "a = given()",
        "b = a + 1",
        "def through(): return b",
        "c = kept()",
        "d = never_there()",
        "given = 3\nprint(given)",
        "e = given",
    ]
    mine = [gone, kept, *(Cell("code", text, {}, f"own-{at}") for at, text in enumerate(own))]
    _, *found = upgraded(mine, [gone, kept], [kept])
    assert [cell.kind for cell in found] == ["markdown"] * 3 + ["code"] * 4
    assert [text in cell.source for text, cell in zip(own, found, strict=True)] == [True] * 7
    assert tells(found[0].source, "Your cell", "`given`", "not in this lesson")


@pytest.mark.parametrize(
    ("source", "needs", "leaves"),
    [
        ("x = x + y", "x y", "x"),
        ("x = 1\nprint(x)", "print", "x"),
        ("import a.b as c\nfrom d import e", "", "c e"),
        ("def f(p: T = q):\n    r = p\n    return g(r)", "T q g", "f"),
        ("class K(B):\n    w = 1\n    v = w\n    def m(self): return self.w, h", "B h", "K"),
        ("def f(): return g()\ndef g(): return f()", "", "f g"),
        ("x.linear = k(linear=3)", "x k", ""),
        ("[a for a in z]", "z", ""),
        ("%timeit -n 10 f(x)", "f x", ""),
        ("%%time\nf(x)", "f x", ""),
        ("await f()", "f", ""),
        ("f(", "", ""),
        ("x = '\0'", "", ""),
    ],
)
def test_names_are_told_as_python_looks_them_up(source: str, needs: str, leaves: str) -> None:
    found = names(source)
    assert {name for name in found[0] if not name.startswith("__")} == {*needs.split()}
    assert {*found[1]} == {*leaves.split()}
