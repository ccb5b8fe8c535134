"""In the package imports go one way: no module comes back to one that imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from tests.course import ROOT

HOME = ROOT / "src" / "attnlab"
FLOW = ("pose", "compare", "diagnose", "judge")  # as a case passes them


def modules() -> dict[str, Path]:
    """The package's modules, by the name that they are imported under."""
    found = {}
    for path in sorted(HOME.rglob("*.py")):
        parts = path.relative_to(HOME.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """What a module imports of its own package, in whatever line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                if inner in known or node.module in known:
                    yield inner if inner in known else node.module


def test_imports_make_no_circle() -> None:
    known = modules()
    graph = {name: set(imported(path, known)) - {name} for name, path in known.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(known) > 20


def test_what_stands_beside_learners_code_imports_nothing_else_of_the_course() -> None:
    known = modules()
    calling = {name for name in known if name.startswith("attnlab.calling.")}
    assert len(calling) >= 5
    for name in calling:
        assert set(imported(known[name], known)) <= calling | {"attnlab.calling"}, name


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
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = node.module.split(".") + [name.name for name in node.names]
                    if names[0] == "autograder":
                        assert not set(rooms[position + 1 :]) & set(names[1:2]), path
