"""A submission put right: locked cells as released, a learner's own as they are, in their order."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.ipynb.read import Cell, read
from attnlab.ipynb.rebuild import Rebuilt, rebuild
from autograder.sandbox.limits import Limits
from tests.course import SLUGS, released_path, tells


def locked(name: str, source: str, kind: str = "code", **more: object) -> Cell:
    flags = {"grade": False, "solution": False, "locked": True, "task": False, "schema_version": 3}
    nbgrader = {"grade_id": name, **flags, **more}
    return Cell(kind, source, {"editable": False, "nbgrader": nbgrader}, f"id-{name}")


SETUP = locked("setup", "import math")
PROSE = locked("prose", "# Softmax", "markdown")
SOLUTION = locked(
    "softmax", "def softmax(x):\n    raise NotImplementedError", solution=True, locked=False
)
CHECK = locked("softmax-check", "check(softmax)", grade=True, points=2)
SHOW = locked("see", "print(softmax([1]))")
LOOKUP = locked(
    "lookup", "def lookup(x):\n    raise NotImplementedError", solution=True, locked=False
)
LOOKUP_CHECK = locked("lookup-check", "check(lookup)", grade=True, points=1)
RELEASED = [SETUP, PROSE, SOLUTION, CHECK, SHOW, LOOKUP, LOOKUP_CHECK]
ANSWER = replace(SOLUTION, source="def softmax(x):\n    return x")
OWN = Cell("code", "x = 1", {}, "own")


def put_right(*cells: Cell) -> Rebuilt:
    return rebuild(list(cells), RELEASED)


def names(rebuilt: Rebuilt) -> list[str]:
    return [cell.grade_id or cell.source for cell in rebuilt.cells]


def without(*cells: Cell) -> list[Cell]:
    return [cell for cell in RELEASED if cell not in cells]


def bare(cell: Cell, **changed: object) -> Cell:
    """A cell as a front end leaves it that knows no metadata."""
    return replace(cell, metadata={}, **changed)  # type: ignore[arg-type]


ALL = [cell.grade_id for cell in RELEASED]


@pytest.mark.parametrize("slug", SLUGS)
def test_released_notebook_needs_no_repair(slug: str) -> None:
    released = read(released_path(slug).read_bytes(), Limits())
    rebuilt = rebuild(released, released)
    assert rebuilt == Rebuilt(tuple(released), ())


def test_answers_and_extra_cells_stay_where_they_are() -> None:
    cells = [OWN, SETUP, PROSE, ANSWER, replace(OWN, id="b"), CHECK, SHOW, LOOKUP, LOOKUP_CHECK]
    assert put_right(*cells) == Rebuilt(tuple(cells), ())


def test_order_is_the_learners() -> None:
    cells = [LOOKUP, SETUP, LOOKUP_CHECK, SHOW, SOLUTION, PROSE, CHECK]
    assert put_right(*cells) == Rebuilt(tuple(cells), ())


@pytest.mark.parametrize(
    "source", ["import math\n\n", "import math   ", "\nimport math", "import math\t"]
)
def test_trailing_blanks_and_line_ends_are_no_repair(source: str) -> None:
    rebuilt = put_right(replace(SETUP, source=source), *RELEASED[1:])
    assert rebuilt == Rebuilt(tuple(RELEASED), ())


def test_front_ends_own_metadata_is_no_repair() -> None:
    cells = [replace(cell, metadata={**cell.metadata, "vscode": {}}) for cell in RELEASED]
    assert put_right(*cells) == Rebuilt(tuple(RELEASED), ())


@pytest.mark.parametrize("cell", [SETUP, PROSE, CHECK, SHOW])
def test_source_of_a_locked_cell_is_restored(cell: Cell) -> None:
    edited = [replace(item, source="0") if item is cell else item for item in RELEASED]
    rebuilt = put_right(*edited)
    assert rebuilt == Rebuilt(tuple(RELEASED), (f"{cell.grade_id}: source restored",))


@pytest.mark.parametrize(
    ("flag", "value"),
    [("grade", False), ("points", 100), ("points", None), ("solution", True), ("locked", False)],
)
def test_metadata_of_a_check_is_restored(flag: str, value: object) -> None:
    nbgrader = CHECK.nbgrader | {flag: value}
    edited = replace(CHECK, metadata={"nbgrader": nbgrader})
    rebuilt = put_right(SETUP, PROSE, ANSWER, edited, SHOW, LOOKUP, LOOKUP_CHECK)
    assert rebuilt.repaired == ("softmax-check: metadata restored",)
    assert rebuilt.cells[3] == CHECK


def test_solution_cell_called_a_check_is_a_solution_again() -> None:
    edited = replace(ANSWER, metadata={"nbgrader": ANSWER.nbgrader | {"grade": True}})
    rebuilt = put_right(SETUP, PROSE, edited, CHECK, SHOW, LOOKUP, LOOKUP_CHECK)
    assert rebuilt.cells[2] == ANSWER
    assert rebuilt.repaired == ("softmax: metadata restored",)


@pytest.mark.parametrize("kind", ["markdown", "raw"])
@pytest.mark.parametrize("cell", [ANSWER, CHECK])
def test_type_of_a_cell_is_restored(cell: Cell, kind: str) -> None:
    answered = [ANSWER if item is SOLUTION else item for item in RELEASED]
    edited = [replace(item, kind=kind) if item is cell else item for item in answered]
    rebuilt = put_right(*edited)
    assert rebuilt.cells == tuple(answered)
    assert rebuilt.repaired == (f"{cell.grade_id}: cell type restored",)


@pytest.mark.parametrize("cell", [SETUP, CHECK, SHOW, LOOKUP_CHECK])
def test_locked_code_that_is_missing_is_put_back_where_it_was(cell: Cell) -> None:
    rebuilt = put_right(*without(cell))
    assert names(rebuilt) == ALL
    assert rebuilt.repaired == (f"{cell.grade_id}: put back",)


def test_missing_prose_is_put_back_without_a_word() -> None:
    assert put_right(*without(PROSE)) == Rebuilt(tuple(RELEASED), ())


def test_cells_that_follow_each_other_are_put_back_in_their_order() -> None:
    rebuilt = put_right(SETUP, PROSE, ANSWER, OWN, LOOKUP, LOOKUP_CHECK)
    assert names(rebuilt) == [
        "setup", "prose", "softmax", "softmax-check", "see", "x = 1", "lookup", "lookup-check"
    ]  # fmt: skip
    assert rebuilt.repaired == ("softmax-check: put back", "see: put back")


def test_empty_notebook_gets_all_but_the_solutions() -> None:
    rebuilt = put_right()
    assert names(rebuilt) == ["setup", "prose", "softmax-check", "see", "lookup-check"]
    assert "softmax: solution cell is missing" in rebuilt.repaired
    assert "softmax-check: put back" in rebuilt.repaired


@pytest.mark.parametrize(
    "code",
    [
        "def softmax(x): return x",
        "async def softmax(x): return x",
        "class softmax: pass",
        "softmax = abs",
        "softmax: object = abs",
        "if True:\n    def softmax(x): return x",
    ],
)
def test_check_put_back_follows_the_function_that_was_written_elsewhere(code: str) -> None:
    elsewhere = [Cell("code", "y = 2"), Cell("code", code), Cell("code", "softmax([1]) == 2")]
    rebuilt = put_right(SETUP, PROSE, SHOW, LOOKUP, LOOKUP_CHECK, *elsewhere)
    assert names(rebuilt)[-3:] == [code, "softmax-check", "softmax([1]) == 2"]
    assert rebuilt.repaired == ("softmax: solution cell is missing", "softmax-check: put back")


def test_check_put_back_looks_for_definitions_in_code_alone() -> None:
    prose = Cell("markdown", "softmax = …")
    rebuilt = put_right(SETUP, PROSE, SHOW, LOOKUP, LOOKUP_CHECK, prose)
    assert names(rebuilt)[:3] == ["setup", "prose", "softmax-check"]


def test_million_blank_lines_are_looked_through_at_once() -> None:
    cells = [
        Cell("code", "\n" * 500_000),
        Cell("code", " " * 500_000),
        Cell("code", "def\n" * 9999),
    ]
    assert put_right(*cells).repaired[0] == "setup: put back"


# the same cell more than once -----------------------------------------------------------------


def test_last_of_two_solutions_counts_and_the_first_is_an_extra_cell() -> None:
    first = replace(ANSWER, source="first", id="first")
    rebuilt = put_right(SETUP, PROSE, first, ANSWER, CHECK, SHOW, LOOKUP, LOOKUP_CHECK)
    assert tells(" ".join(rebuilt.repaired), "softmax", "twice", "last")
    assert rebuilt.cells[2].nbgrader == {}
    assert (rebuilt.cells[2].source, rebuilt.cells[3]) == ("first", ANSWER)


def test_unknown_label_is_removed() -> None:
    stray = locked("sof\ntmax2", "x", solution=True)
    rebuilt = put_right(*RELEASED, stray)
    assert rebuilt.repaired == (r"sof\ntmax2: is no cell of this lesson, label removed",)
    assert rebuilt.cells[-1] == Cell("code", "x", {"editable": False}, "cell-7")


def test_what_was_put_right_is_told_in_few_words_however_often_it_was() -> None:
    strange = [locked(f"{number}" + "x" * 10_000, "x") for number in range(500)]
    doubled = [replace(ANSWER, id=f"double-{number}") for number in range(500)]
    same_id = [bare(SHOW, id=LOOKUP.id) for _ in range(500)]
    rebuilt = put_right(*strange, *without(LOOKUP), *doubled, *same_id)
    assert tells(" ".join(rebuilt.repaired), "softmax", "twice", "last")
    assert "lookup: metadata restored" in rebuilt.repaired
    assert "and 495 more" in rebuilt.repaired
    assert len(rebuilt.repaired) < 15
    assert max(map(len, rebuilt.repaired)) < 150


def test_label_without_a_name_is_removed() -> None:
    nameless = Cell("code", "x", {"nbgrader": {"grade": True, "points": 5}}, "n")
    rebuilt = put_right(*RELEASED, nameless)
    assert rebuilt == Rebuilt((*RELEASED, Cell("code", "x", {}, "n")), ())


# metadata lost ----------------------------------------------------------------------------------


def test_cells_without_metadata_are_known_by_their_id() -> None:
    answered = [bare(ANSWER if cell is SOLUTION else cell) for cell in RELEASED]
    rebuilt = put_right(*answered)
    assert [cell.grade_id for cell in rebuilt.cells] == ALL
    assert rebuilt.cells[2] == ANSWER
    code = [cell.grade_id for cell in RELEASED if cell.grade_id and cell.kind == "code"]
    assert rebuilt.repaired == tuple(f"{name}: metadata restored" for name in code)


def test_a_changed_label_is_put_right_and_reported() -> None:
    check = next(cell for cell in RELEASED if cell.grade_id == "softmax-check")
    other = replace(check, metadata={"nbgrader": {**check.nbgrader, "grade_id": "x"}})
    rebuilt = put_right(*[other if cell is check else cell for cell in RELEASED])
    assert rebuilt == Rebuilt(tuple(RELEASED), ("softmax-check: metadata restored",))


def test_cells_without_metadata_or_id_are_known_by_their_source() -> None:
    answered = [bare(ANSWER if cell is SOLUTION else cell, id="") for cell in RELEASED]
    rebuilt = put_right(*answered)
    assert names(rebuilt) == [
        "setup",
        "prose",
        ANSWER.source,
        "softmax-check",
        "see",
        LOOKUP.source,
        "lookup-check",
    ]
    known = ("setup", "softmax-check", "see", "lookup-check")
    assert set(rebuilt.repaired) == {
        "softmax: solution cell is missing",
        "lookup: solution cell is missing",
        *(f"{name}: metadata restored" for name in known),
    }


def test_locked_cell_without_metadata_is_put_right_too() -> None:
    rebuilt = put_right(SETUP, PROSE, ANSWER, bare(CHECK, source="2.0"), SHOW, LOOKUP, LOOKUP_CHECK)
    assert rebuilt.cells[3] == CHECK
    assert "softmax-check: source restored" in rebuilt.repaired


def test_id_of_another_kind_of_cell_is_no_match() -> None:
    prose = Cell("markdown", "softmax", {}, CHECK.id)
    rebuilt = put_right(*without(CHECK), prose)
    assert "softmax-check: put back" in rebuilt.repaired


def test_own_cell_with_a_check_in_it_is_no_check_where_the_check_is_there() -> None:
    extra = Cell("code", "check(softmax)", {}, "mine")
    rebuilt = put_right(OWN, extra, *RELEASED)
    assert rebuilt == Rebuilt((OWN, extra, *RELEASED), ())


# ids --------------------------------------------------------------------------------------------


def test_ids_are_unique_valid_and_the_same_each_time() -> None:
    cells = [replace(OWN, id=name) for name in ("", "", "a b", "cell-1", "cell-1", "é", "ok", "ok")]
    once, again = put_right(*cells), put_right(*cells)
    ids = [cell.id for cell in once.cells]
    assert once == again
    assert len(set(ids)) == len(ids)
    assert all(name.replace("-", "").isalnum() and name.isascii() for name in ids)


# whatever comes ---------------------------------------------------------------------------------


@st.composite
def mangled(draw: st.DrawFn) -> list[Cell]:
    cells = draw(st.lists(st.sampled_from([*RELEASED, ANSWER, OWN]), max_size=12))
    changed = []
    for cell in cells:
        fields = draw(st.fixed_dictionaries({}, optional={
            "kind": st.sampled_from(["code", "markdown", "raw"]),
            "source": st.sampled_from(["", "x", "check(softmax)", "def softmax(x): pass"]),
            "id": st.sampled_from(["", "id-softmax", "id-see", "\ud800", "x"]),
            "metadata": st.sampled_from([{}, {"nbgrader": {"grade_id": "see"}}, SETUP.metadata]),
        }))  # fmt: skip
        changed.append(replace(cell, **fields))
    return changed


@settings(max_examples=200)
@given(mangled())
def test_whatever_was_done_to_it_every_check_is_there_once_as_released(cells: list[Cell]) -> None:
    rebuilt = rebuild(cells, RELEASED)
    for original in RELEASED:
        found = [cell for cell in rebuilt.cells if cell.grade_id == original.grade_id]
        if original.is_solution:
            assert len(found) <= 1
        else:
            assert [replace(cell, id="") for cell in found] == [replace(original, id="")]
    checks = [cell.exercise for cell in rebuilt.cells if cell.is_check]
    assert sorted(checks) == ["lookup", "softmax"]
    mine = [cell.source for cell in rebuilt.cells if cell.is_theirs]
    assert len(mine) <= len(cells)


def test_rebuilding_leaves_its_inputs_as_they_were() -> None:
    cells = [ANSWER, CHECK, replace(SETUP, source="0")]
    copies = [dataclasses.replace(cell) for cell in cells]
    put_right(*cells)
    assert cells == copies
