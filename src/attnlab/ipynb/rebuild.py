"""A submission, put right: the released notebook's locked cells around a learner's own.

Order is the learner's, as in nbgrader. Locked cells get their released source and metadata back;
missing ones are put where they belong; of a cell that exists twice, the last one counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from attnlab.ipynb.read import Cell
from attnlab.ipynb.words import few, short


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A notebook that can be run.

    Attributes:
        cells: in the order in which they run.
        repaired: what had to be put right, 'softmax-check: source restored'.
    """

    cells: tuple[Cell, ...]
    repaired: tuple[str, ...]


def rebuild(
    submitted: list[Cell],
    released: list[Cell],
    unwritten: Collection[str] = (),
    removed: Collection[str] = (),
) -> Rebuilt:
    """Put a submission right.

    Args:
        submitted: a learner's cells.
        released: those of the notebook that learners were given.
        unwritten: solutions that are put back, too, where they are missing.
        removed: exercises of an earlier release. An answer to one becomes a text, which hides
            nothing that this release gives under the same name.
    """
    known = {cell.grade_id: cell for cell in released if cell.grade_id}
    repaired: list[str] = []
    submitted = [
        _as_answer(cell, repaired) if cell.exercise in removed else cell
        for cell in submitted
        if not (cell.is_check and cell.exercise in removed)
    ]
    cells = _without_doubles(_labelled(submitted, released, known, repaired), known, repaired)
    cells = [_restored(cell, known, repaired) for cell in cells]
    _put_back(cells, released, repaired, unwritten)
    return Rebuilt(tuple(_numbered(cells)), tuple(dict.fromkeys(repaired)))


def labels(submitted: list[Cell], released: list[Cell]) -> set[str]:
    """Names of a learner's cells, those included that they had when they were released."""
    return {cell.grade_id for cell in relabelled(submitted, released)} - {""}


def relabelled(submitted: list[Cell], released: list[Cell]) -> list[Cell]:
    """A learner's cells, those included that lost their labels."""
    known = {cell.grade_id: cell for cell in released if cell.grade_id}
    return _labelled(submitted, released, known, [])


def _labelled(
    submitted: list[Cell], released: list[Cell], known: dict[str, Cell], repaired: list[str]
) -> list[Cell]:
    """Give cells that lost their metadata their names back, by Jupyter's id or by their source."""
    present = {cell.grade_id for cell in submitted}
    missing = [cell for cell in released if cell.grade_id and cell.grade_id not in present]
    by_id = {cell.id: cell for cell in missing if cell.id}
    by_source = {squeezed(cell): cell for cell in missing if not cell.is_solution}
    found = []
    for cell in submitted:
        original = None
        if cell.grade_id not in known:
            original = by_id.get(cell.id) or by_source.get(squeezed(cell))
        if original is not None and original.kind == cell.kind:
            if cell.kind == "code":
                repaired.append(f"{original.grade_id}: metadata restored")
            cell = labelled(cell, original.nbgrader)
        found.append(cell)
    return found


def _without_doubles(cells: list[Cell], known: dict[str, Cell], repaired: list[str]) -> list[Cell]:
    """Of cells with the same name the last keeps it, as in nbgrader; the others are extra cells."""
    seen: set[str] = set()
    doubles: list[str] = []
    strange: list[str] = []
    kept = []
    for cell in reversed(cells):
        name = cell.grade_id
        if name in seen:
            doubles.append(f"{name}: was there twice, the last one counts")
            cell = unlabelled(cell)
        elif name and name not in known:
            strange.append(f"{short(name)}: is no cell of this lesson, label removed")
            cell = unlabelled(cell)
        elif cell.nbgrader and not name:
            cell = unlabelled(cell)
        elif name:
            seen.add(name)
        kept.append(cell)
    repaired += reversed(doubles)
    repaired += few(strange[::-1])
    return kept[::-1]


def _as_answer(cell: Cell, repaired: list[str]) -> Cell:
    """An answer that nobody asks for any more, to be read and not run."""
    name = cell.grade_id
    repaired.append(f"{name}: is no exercise any more, kept as text")
    return as_text(cell, f"Your answer to `{name}`, which this lesson does not ask for any more:")


def as_text(cell: Cell, said: str) -> Cell:
    """Code to be read and not run, below a line that says why."""
    fence = max([2, *map(len, re.findall(r"`+", cell.source))]) * "`" + "`"
    return Cell("markdown", f"{said}\n\n{fence}python\n{cell.source}\n{fence}", id=cell.id)


def labelled(cell: Cell, note: Mapping[str, Any]) -> Cell:
    return replace(cell, metadata={**cell.metadata, "nbgrader": note})


def unlabelled(cell: Cell) -> Cell:
    kept = {key: value for key, value in cell.metadata.items() if key != "nbgrader"}
    return replace(cell, metadata=kept)


def _restored(cell: Cell, known: dict[str, Cell], repaired: list[str]) -> Cell:
    """A cell as it was released, with a learner's source where that is theirs to write."""
    original = known.get(cell.grade_id)
    if original is None:
        return cell
    if cell.kind != original.kind:
        repaired.append(f"{cell.grade_id}: cell type restored")
    keys = ("grade", "solution", "locked", "task", "points")
    if any(cell.nbgrader.get(key) != original.nbgrader.get(key) for key in keys):
        repaired.append(f"{cell.grade_id}: metadata restored")
    if original.is_solution:
        return replace(original, source=cell.source, id=cell.id or original.id)
    if squeezed(cell) != squeezed(original):
        repaired.append(f"{cell.grade_id}: source restored")
    return replace(original, id=cell.id or original.id)


def _put_back(
    cells: list[Cell], released: list[Cell], repaired: list[str], unwritten: Collection[str]
) -> None:
    """Insert the locked cells that are missing, each after the one that it used to follow.

    A check whose solution cell is missing too goes after whatever defines its function. Solutions
    themselves are not put back unless told: an empty one would hide what a learner wrote elsewhere.
    """
    present = {cell.grade_id for cell in cells}
    previous = ""
    for original in (cell for cell in released if cell.grade_id):
        name = original.grade_id
        if name in present or (original.is_solution and name not in unwritten):
            if name not in present:
                repaired.append(f"{name}: solution cell is missing")
                continue
            previous = name
            continue
        place = _index(cells, previous) + 1
        if original.is_check and original.exercise not in present:
            place = max(place, last_definition(cells, original.exercise) + 1)
        cells.insert(place, replace(original))
        present.add(name)
        if original.kind == "code":
            repaired.append(f"{name}: put back")
        previous = name


def _index(cells: list[Cell], name: str) -> int:
    return next((at for at, cell in enumerate(cells) if name and cell.grade_id == name), -1)


def last_definition(cells: list[Cell], name: str) -> int:
    """Where a function is last defined, -1 if nowhere, as far as its text tells."""
    start = r"^[ \t]*"  # no line ends, of which there may be a million
    defined = rf"(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b"
    assigned = rf"{name}[ \t]*(?::[^=\n]*)?=(?!=)"
    pattern = re.compile(f"{start}(?:{defined}|{assigned})", re.MULTILINE)
    places = [
        at for at, cell in enumerate(cells) if cell.kind == "code" and pattern.search(cell.source)
    ]
    return places[-1] if places else -1


def _numbered(cells: list[Cell]) -> list[Cell]:
    """Give every cell an id that no other has, the same each time."""
    seen: set[str] = set()
    numbered = []
    for at, cell in enumerate(cells):
        valid = re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell.id)
        name = cell.id if valid and cell.id not in seen else f"cell-{at}"
        while name in seen:
            name += "-again"
        seen.add(name)
        numbered.append(replace(cell, id=name))
    return numbered


def squeezed(cell: Cell) -> str:
    """A cell's source without what front ends change: trailing blanks and line ends."""
    return "\n".join(line.rstrip() for line in cell.source.strip().splitlines())
