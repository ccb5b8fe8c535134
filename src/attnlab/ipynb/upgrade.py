"""A learner's notebook, carried over to a newer release: the new cells around their own.

Three notebooks meet: `mine`, what a learner has; `base`, the release it was copied from; `new`, the
release to come. What is mine and not base is the learner's. Labelled cells are put right by
`rebuild`, as in the grader; prose has no label, and is lent one here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from attnlab.ipynb.read import Cell
from attnlab.ipynb.rebuild import labelled, last_definition, rebuild, squeezed, unlabelled

_PROSE = "prose "  # no label of nbgrader has a space in it


def same(some: list[Cell], others: list[Cell], *, labels: bool = False) -> bool:
    """Whether two notebooks have the same cells, whatever a front end noted beside them.

    Args:
        labels: nbgrader's notes count, too.
    """

    def told(cells: list[Cell]) -> list[tuple[object, ...]]:
        return [(cell.kind, squeezed(cell), labels and cell.nbgrader) for cell in cells]

    return told(some) == told(others)


def upgraded(
    mine: list[Cell], base: list[Cell], new: list[Cell], removed: Collection[str] = ()
) -> list[Cell]:
    """The cells of `new`, with those in `mine` that are a learner's own.

    Answers stay in their cells, other cells of a learner's after the cell that they followed. The
    order is the new release's, unless the learner has moved cells about: then it is theirs. An
    answer to an exercise of `base` that `new` has not, or to one of `removed`, is kept as text.
    What stands in an open cell that `new` asks for is an answer.
    """
    asked_now = {cell.id: cell for cell in new if cell.id and cell.is_solution}
    base, mine = ([_asked_for(cell, asked_now) for cell in cells] for cells in (base, mine))
    new = [_lent(cell, cell) for cell in new]
    prose = _prose(new)
    base = [_lent(cell, _alike(cell, prose, set()) or cell) for cell in base]
    mine = _recognised(mine, base, new)
    mine = [cell for cell in mine if not _is_gone(cell, base, new)]
    mine = _in_order([_with_new_stub(cell, base, new) for cell in mine], base, new)
    kept = {cell.grade_id for cell in mine if cell.nbgrader.get("solution") == _PROSE}
    written = [cell for cell in mine if cell.is_theirs]
    present = {cell.grade_id for cell in mine}
    missing = {
        cell.grade_id
        for cell in new
        if cell.is_solution
        and cell.grade_id not in present
        and last_definition(written, cell.grade_id) < 0
    }
    had = {cell.exercise for cell in base} - {cell.exercise for cell in new} - {""}
    asked = [_open(cell) if cell.grade_id in kept else cell for cell in new]
    return [_returned(cell) for cell in rebuild(mine, asked, missing, had | {*removed}).cells]


def _asked_for(cell: Cell, asked: Mapping[str, Cell]) -> Cell:
    """A cell that was open to write in, with the label of the exercise that it is now."""
    original = None if cell.grade_id else asked.get(cell.id)
    if original is None or original.kind != cell.kind:
        return cell
    return labelled(cell, original.nbgrader)


def _lent(cell: Cell, original: Cell) -> Cell:
    """A cell without a label is lent one, after the cell whose counterpart it is."""
    if cell.grade_id:
        return cell
    name = original.grade_id or f"{_PROSE}{original.id or hash(squeezed(original))}"
    return labelled(cell, {"grade_id": name})


def _open(cell: Cell) -> Cell:
    """A piece of prose that its reader has rewritten: `rebuild` leaves their text in it."""
    return labelled(cell, {"grade_id": cell.grade_id, "solution": True})


def _returned(cell: Cell) -> Cell:
    """Without the label that was lent."""
    return unlabelled(cell) if cell.grade_id.startswith(_PROSE) else cell


def _prose(cells: list[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.grade_id.startswith(_PROSE)]


def _alike(cell: Cell, prose: list[Cell], taken: set[str]) -> Cell | None:
    """The piece of prose that is this one: by Jupyter's id, else by its text."""
    text = squeezed(cell)
    tests: tuple[Callable[[Cell], bool], ...] = (
        lambda other: bool(cell.id) and other.id == cell.id,
        lambda other: squeezed(other) == text,
    )
    found = (other for test in tests for other in prose if test(other) and other.kind == cell.kind)
    return next((other for other in found if other.grade_id not in taken), None)


def _recognised(mine: list[Cell], base: list[Cell], new: list[Cell]) -> list[Cell]:
    """A learner's cells, with their labels where they are the course's prose."""
    taken: set[str] = set()
    texts = {cell.grade_id: squeezed(cell) for cell in new}
    prose = _prose([*base, *new])  # after an upgrade that was cut short, a text may be new already
    found = []
    for cell in mine:
        original = None if cell.grade_id else _alike(cell, prose, taken)
        if original is not None:
            name = original.grade_id
            was = {squeezed(each) for each in prose if each.grade_id == name}
            if squeezed(cell) in was:
                cell = _lent(cell, original)
                taken.add(name)
            elif texts.get(name) == squeezed(original):  # rewritten here, and not by the course
                cell = labelled(cell, {"grade_id": name, "solution": _PROSE})
                taken.add(name)
            else:
                cell = replace(cell, id="")  # both stay: the course's, and then the learner's
        found.append(cell)
    return found


def _is_gone(cell: Cell, base: list[Cell], new: list[Cell]) -> bool:
    """Whether it is a cell of the old release alone, as it was there."""
    if not cell.grade_id or cell.grade_id in {each.grade_id for each in new}:
        return False
    return any(each.grade_id == cell.grade_id and squeezed(each) == squeezed(cell) for each in base)


def _with_new_stub(cell: Cell, base: list[Cell], new: list[Cell]) -> Cell:
    """An exercise that is not begun, as it is handed out now."""
    for each in base:
        if each.is_solution and each.grade_id == cell.grade_id and squeezed(each) == squeezed(cell):
            now = (other for other in new if other.grade_id == cell.grade_id)
            return replace(cell, source=next(now, cell).source)
    return cell


def _in_order(mine: list[Cell], base: list[Cell], new: list[Cell]) -> list[Cell]:
    """The new release's order, each of a learner's cells staying behind the one it followed."""
    old = {cell.grade_id: at for at, cell in enumerate(base)}
    places = {cell.grade_id: at for at, cell in enumerate(new)}
    walked = [old[cell.grade_id] for cell in mine if cell.grade_id in old]
    if walked != sorted(walked):
        return mine
    blocks: list[list[Cell]] = [[]]
    for cell in mine:
        if cell.grade_id in places:
            blocks.append([])
        blocks[-1].append(cell)
    first, *others = blocks
    others.sort(key=lambda block: places[block[0].grade_id])
    return [*first, *(cell for block in others for cell in block)]
