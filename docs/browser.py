"""What lessons in a browser are made of: the course as a zip, and of each lesson what it asks.

    python -m docs.browser FOLDER

Cases are posed here, and every mistake is asked what it makes of them, with PyTorch: a browser has
neither that nor NumPy. `attnlab.checks.recorded` reads what is written, and `attnlab.browser` says
which files there are.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
import symtable
import sys
import zipfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import attnlab
from attnlab.browser.shown import Figure, Figures
from attnlab.calling.observe import rebuild
from attnlab.checks.bank import bank
from attnlab.checks.diagnose import _close, _lost, limits_of, mistaken
from attnlab.checks.exercise import SEEDS, Exercise
from attnlab.checks.pose import Posed, pose
from attnlab.checks.recorded import CASE, DECLARED, leaves_of
from attnlab.checks.small import small
from attnlab.lessons import exercises_of, lesson, name_of, slugs
from attnlab.small import SUBJECT

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "attnlab"
STAGE = "pure"
_ABSENT = re.compile(
    r"^(?:import|from) (?:numpy|torch|matplotlib|anywidget|traitlets|jupyter\w*|nb\w+)\b", re.M
)
_HEADING = re.compile(r"^#{1,3} +(.+)$", re.MULTILINE)
PLACES = 4  # numbers of a large answer that are kept at least
FIRST = (1980, 1, 1, 0, 0, 0)  # a zip's own beginning of time: the same files, the same zip


def write(folder: Path) -> None:
    """Write all files into a folder, which may hold others."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "course.zip").write_bytes(course())
    for slug in (each for each in slugs() if lesson(each).stage == STAGE):
        (folder / slug).mkdir(exist_ok=True)
        for name, told in files_of(slug):
            (folder / slug / f"{name}.json").write_text(as_json(told), encoding="utf-8")


def as_json(told: Any) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def files_of(slug: str) -> Iterator[tuple[str, Any]]:
    """A lesson's files by name: the lesson itself, then each of its exercises."""
    yield (
        "lesson",
        {
            "lesson": slug,
            "exercises": [*map(_declared, exercises_of(slug).values())],
            "cells": [*_cells(slug)],
            "figures": _figures(slug),
        },
    )
    for name, exercise in exercises_of(slug).items():
        yield name, recorded(exercise)


def _declared(exercise: Exercise) -> dict[str, Any]:
    return {
        **{name: getattr(exercise, name) for name in DECLARED},
        "axes": exercise.axes,
        "returns": [(each.name, each.kind, each.axes, each.any) for each in exercise.returns],
        "claims": [(each.name, each.text, each.worth, each.also) for each in exercise.claims],
    }


# cells ------------------------------------------------------------------------------------------


def _cells(slug: str) -> Iterator[dict[str, Any]]:
    """The code cells that are handed out: what they are called by, and the names that they make."""
    under = ""
    for cell in _notebook("notebooks", slug):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            under = (_HEADING.findall(source) or [under])[-1]
        if cell["cell_type"] == "code":
            begins = next(line for line in source.splitlines() if line and line[0] != "#")
            table = symtable.symtable(source, "cell", "exec")
            names = [each.get_name() for each in table.get_symbols() if _is_made(each)]
            yield {"id": cell["id"], "under": under, "begins": begins, "names": names}


def _is_made(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported()


def _notebook(folder: str, slug: str) -> list[dict[str, Any]]:
    path = ROOT / folder / slug / f"{slug}.ipynb"
    return list(json.loads(path.read_text(encoding="utf-8"))["cells"])


def _figures(slug: str) -> list[dict[str, Any]]:
    """What each figure of a lesson is given by the solution's cells, which are run for it."""
    found: list[dict[str, Any]] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    put = {"figures": Figures(), "begin": str, "quiz": str, "check": lambda *_, **__: None}
    kept = {name: vars(attnlab).get(name) for name in put}
    vars(attnlab).update(put)
    try:
        for cell in _notebook("solutions", slug):
            tree = ast.parse("".join(cell["source"])) if cell["cell_type"] == "code" else None
            if tree is None or "nbval-ignore-output" in cell["metadata"].get("tags", ()):
                continue  # it measures time
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(tree, slug, "exec"), names)
                if isinstance(last, ast.Expr):
                    value = eval(compile(ast.Expression(last.value), slug, "eval"), names)
                    if isinstance(value, Figure):
                        told = {"cell": cell["id"], "figure": value.name, "given": value.given}
                        found.append(told)
    finally:
        for name, thing in kept.items():
            if thing is None:
                del vars(attnlab)[name]
            else:
                setattr(attnlab, name, thing)
    return found


# cases ------------------------------------------------------------------------------------------


def recorded(exercise: Exercise) -> dict[str, Any]:
    """An exercise's cases, posed and asked of its mistakes."""
    posed = pose(exercise, SEEDS)
    judged = any(each.case.procedure and each.case.procedure.missed for each in posed)
    return {
        "name": exercise.name,
        "module": _module_of(exercise) if judged else "",
        "mistakes": [] if judged else [mistake.slug for mistake in bank(exercise)],
        "cases": [_case(exercise, each, judged) for each in posed],
        "small": [_case(exercise, each, judged) for each in small(exercise)],
    }


def _module_of(exercise: Exercise) -> str:
    """Where the formulas of its mistakes are."""
    formula: Any = next(iter(exercise.mistakes.values()))
    return str(formula.__module__)


def _case(exercise: Exercise, posed: Posed, judged: bool) -> dict[str, Any]:
    case = posed.case
    args, kwargs = ([*map(rebuild, posed.call.args)], dict(case.kwargs))
    groups: list[Any] = []
    parts: list[Any] = []
    answers: list[Any] = []
    found: list[tuple[Any, bool]] = []
    if not judged:
        found = [mistaken(mistake.answer, posed) for mistake in bank(exercise)]
    places = _places(posed, [answer.values for answer, _ in found])
    made = [
        _kept(answers, [is_right, answer.raises])
        if answer.raises
        else _kept(answers, [is_right, *_parts(answer.values, places, groups, parts)])
        for answer, is_right in found
    ]
    leaves = [*leaves_of([case.args, list(kwargs.values())])]
    first: dict[int, int] = {}
    same = [
        (at, first[id(leaf)])
        for at, leaf in enumerate(leaves)
        if first.setdefault(id(leaf), at) < at
    ]
    return {
        **{name: getattr(case, name) for name in CASE},
        "seed": posed.seed,
        "turn": posed.turn,
        "numbers": posed.numbers,
        "most": posed.call.most,
        "args": args,
        "kwargs": kwargs,
        "same": same,
        "earlier": case.earlier,
        "about": case.about,
        "right": [values.tolist() for values in posed.right.values],
        "groups": groups,
        "parts": parts,
        "answers": answers,
        "mistaken": made,
    }


def _kept(things: list[Any], thing: Any) -> int:
    """The place of a thing, which is put there if it has none yet."""
    if thing not in things:
        things.append(thing)
    return things.index(thing)


def _parts(
    values: Sequence[np.ndarray], places: Any, groups: list[Any], parts: list[Any]
) -> Iterator[int]:
    for slot, array in enumerate(values):
        kept = places[slot, array.shape]
        group = _kept(groups, [list(array.shape), kept])
        yield _kept(parts, [group, (array.ravel()[kept] if kept else array.ravel()).tolist()])


def _places(posed: Posed, answers: Sequence[Sequence[np.ndarray]]) -> dict[Any, list[int]]:
    """For each slot and shape, the numbers that are kept of an answer; [] for all of them."""
    alike: dict[Any, list[np.ndarray]] = {}
    for values in (posed.right.values, *answers):
        for slot, array in enumerate(values):
            alike.setdefault((slot, array.shape), []).append(array)
    return {home: _telling(arrays, posed, home[0]) for home, arrays in alike.items()}


def _telling(arrays: list[np.ndarray], posed: Posed, slot: int) -> list[int]:
    """Places by which arrays of one shape are told apart as by all of their numbers."""
    size, limits = arrays[0].size, limits_of(posed)[min(slot, len(posed.slots) - 1)]
    if size <= PLACES or any(array.dtype.kind not in "fiub" for array in arrays):
        return []
    rng = np.random.default_rng([posed.seed, posed.turn, size])
    flat = np.array(list({array.tobytes(): array.ravel() for array in arrays}.values()), float)
    lost = _lost(flat)
    places = {0, size - 1, *rng.choice(size, PLACES - 2, replace=False).tolist()}
    places |= set(lost.argmax(-1)[lost.any(-1)].tolist())
    for one, other in _alike(flat[:, sorted(places)], limits[0]):
        for place in _farthest_apart(flat[one], flat[other]):
            few, whole = (
                _close(flat[one][kept], flat[other][kept], *limits)
                for kept in (sorted(places), slice(None))
            )
            if few == whole:
                break
            places.add(place)
    return sorted(places) if len(places) < size else []


def _alike(rows: np.ndarray, tolerance: float) -> list[tuple[int, int]]:
    """Pairs of rows that `_close` may take for the same."""
    with np.errstate(all="ignore"):
        near = np.abs(rows[:, None] - rows) <= tolerance + 1e-9 * np.abs(rows)
    same = (near | (_lost(rows)[:, None] & _lost(rows))).all(-1)
    return [(one, other) for one, other in np.argwhere(same).tolist() if one != other]


def _farthest_apart(one: np.ndarray, other: np.ndarray) -> list[int]:
    with np.errstate(all="ignore"):
        apart = np.abs(one - other)
    apart[(_lost(one) != _lost(other)) | ((one == 0) != (other == 0))] = np.inf
    return [int(place) for place in np.argsort(-np.nan_to_num(apart, nan=0.0))]


# the course -------------------------------------------------------------------------------------


def course() -> bytes:
    """The package as far as a browser needs it, and what it needs beside it, as a zip."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as zipped:
        for name, path in sorted(_files()):
            zipped.writestr(zipfile.ZipInfo(name, FIRST), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _files() -> Iterator[tuple[str, Path]]:
    for path in SOURCE.rglob("*"):
        if (path.suffix in (".py", ".md") and _is_of_use(path)) or path.name == SUBJECT:
            yield f"attnlab/{path.relative_to(SOURCE).as_posix()}", path
    for file in metadata.files("mistune") or ():
        if file.suffix == ".py" or file.name == "LICENSE":
            yield file.as_posix(), Path(str(file.locate()))


def _is_of_use(path: Path) -> bool:
    """Whether it is no other lesson's, and needs no package that a browser has not."""
    room, *rest = path.relative_to(SOURCE).parts
    if room == "lessons" and len(rest) == 2 and rest[1] != "__init__.py":
        if rest[0] not in {name_of(slug) for slug in slugs() if lesson(slug).stage == STAGE}:
            return False
    return not (path.suffix == ".py" and _ABSENT.search(path.read_text(encoding="utf-8")))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.browser", description=__doc__)
    parser.add_argument("folder", type=Path)
    write(parser.parse_args().folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
