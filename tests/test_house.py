"""In the package imports go one way: no module comes back to one that imports it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from attnlab import figures, lessons
from tests.course import ROOT

HOME = ROOT / "src" / "attnlab"
FLOW = ("pose", "compare", "diagnose", "example", "judge")  # as a case passes them


def modules() -> dict[str, Path]:
    """The package's modules, by the name that they are imported under."""
    found = {}
    for path in sorted(HOME.rglob("*.py")):
        parts = path.relative_to(HOME.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """What a module imports of its own package, in whatever line."""
    return imports_in(parsed(path), known)


def imports_in(tree: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                if inner in known or node.module in known:
                    yield inner if inner in known else node.module


def at_run_time(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The same without types alone, and with modules that are named, to be imported later."""
    tree = parsed(path)
    types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and _asks_for_types(node)]
    skipped = {id(inner) for node in types for inner in ast.walk(node)}
    rest = [node for node in ast.walk(tree) if id(node) not in skipped]
    for node in rest:
        if isinstance(node, ast.Constant) and node.value in known and node.value != "attnlab":
            yield str(node.value)
    kept = ast.Module([node for node in rest if isinstance(node, ast.Import | ast.ImportFrom)], [])
    yield from imports_in(kept, known)


def _asks_for_types(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def room(module: str) -> str:
    """The folder of a module, or the module itself where it stands in none.

    The list of lessons is no lesson: whoever asks it for one by name gets it, and it imports none.
    A command is at home nowhere: it may call whatever it likes, and nobody imports it.
    """
    parts = module.split(".")
    if parts[-1] == "__main__":
        return f"the command {module}"
    return "the list of lessons" if parts == ["attnlab", "lessons"] else ".".join(parts[:2])


def picture(known: dict[str, Path]) -> dict[str, set[str]]:
    """The rooms of the package, and what each of them imports."""
    rooms: dict[str, set[str]] = defaultdict(set)
    for name, path in known.items():
        rooms[room(name)] |= {room(other) for other in at_run_time(path, known)} - {room(name)}
    return rooms


def ordered(graph: dict[str, set[str]]) -> list[str]:
    """From what imports nothing to what nothing imports.

    Raises:
        AssertionError: there is a circle, so that one of its arrows runs back up.
    """
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(f"a circle: {' imports '.join(reversed(error.args[1]))}") from None


def below(graph: dict[str, set[str]], start: str) -> set[str]:
    """All that a room imports, and what that imports."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_imports_make_no_circle() -> None:
    known = modules()
    graph = {name: set(imported(path, known)) - {name} for name, path in known.items()}
    assert len(ordered(graph)) == len(known) > 20


def test_the_picture_of_the_rooms_has_no_arrow_back_up() -> None:
    rooms = picture(modules())
    assert len(ordered(rooms)) == len(rooms) > 10
    for low in ("attnlab.calling", "attnlab.checks"):
        assert below(rooms, low) <= {"attnlab.calling", "attnlab.checks", "attnlab.ipynb"} | {
            "the list of lessons"
        }
    later = {"attnlab.lessons", "attnlab.home", "attnlab.bench"}
    assert not below(rooms, "attnlab.figures") & later


@pytest.mark.parametrize("back", ["from attnlab import figures", 'LATER = "attnlab.figures"'])
def test_an_arrow_back_up_would_be_seen(back: str, tmp_path: Path) -> None:
    known = modules()
    known["attnlab.checks.card"] = tmp_path / "card.py"
    known["attnlab.checks.card"].write_text(back, encoding="utf-8")
    with pytest.raises(AssertionError, match=r"a circle: .*attnlab\.figures"):
        ordered(picture(known))


def test_older_copies_find_a_lessons_figures_where_they_were() -> None:
    """The only way up: `figures.soft_lookup`, by the list of lessons, when it is asked for."""
    assert figures.soft_lookup is lessons.figures_of("01-soft-lookup")


def test_what_stands_beside_learners_code_imports_nothing_else_of_the_course() -> None:
    known = modules()
    calling = {name for name in known if name.startswith("attnlab.calling.")}
    assert len(calling) >= 5
    for name in calling:
        assert set(imported(known[name], known)) <= calling | {"attnlab.calling"}, name


def test_each_folder_opens_with_a_page_that_leads_into_it() -> None:
    """A newcomer follows an answer by these pages: they name modules that are there."""
    folders = [
        each.parent for top in (HOME, ROOT / "autograder") for each in top.rglob("__init__.py")
    ]
    slips = []
    for folder in folders:
        if folder.parent == HOME / "lessons" or "stand_ins" in folder.parts:
            continue  # a lesson's folder is what the lesson says of itself
        page = ast.get_docstring(parsed(folder / "__init__.py")) or ""
        there = {path.stem for path in folder.iterdir() if not path.name.startswith("_")}
        led = {name for name in re.findall(r"`([a-z_]+)", page) if name in there}
        if len(page.splitlines()) < 5 or len(led) < min(len(there) - 1, 2):
            slips.append(f"{folder.relative_to(ROOT)}: {len(page.splitlines())} lines, {led}")
    assert len(folders) > 15
    assert slips == []


def test_judging_imports_no_lesson_and_flows_in_its_order() -> None:
    known = modules()
    for position, name in enumerate(FLOW):
        found = set(imported(known[f"attnlab.checks.{name}"], known))
        later = {f"attnlab.checks.{other}" for other in (*FLOW[position + 1 :], "card")}
        assert not found & later, name
        assert not any(other.startswith("attnlab.lessons") for other in found), name


def test_the_grader_has_rooms_and_imports_go_one_way_through_them() -> None:
    """A module of the top floor is where a command begins; no room imports of a later one."""
    grader = ROOT / "autograder"
    rooms = ("sandbox", "submission", "pages", "gradebook", "run", "term")
    assert {path.name for path in grader.glob("*.py")} == {
        "__init__.py",
        "__main__.py",
        "doctor.py",
    }
    assert {path.parent.name for path in grader.glob("*/__init__.py")} == set(rooms)
    for position, room in enumerate(rooms):
        for path in (grader / room).glob("*.py"):
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = node.module.split(".") + [name.name for name in node.names]
                    if names[0] == "autograder":
                        assert not set(rooms[position + 1 :]) & set(names[1:2]), path
