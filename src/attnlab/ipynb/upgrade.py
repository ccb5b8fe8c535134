"""A learner's notebook, carried over to a newer release: the new cells around their own.

Three notebooks meet: `mine`, what a learner has; `base`, the release it was copied from; `new`, the
release to come. What is mine and not base is the learner's. A cell of theirs follows the
cell of the course that it stood behind, wherever that went, or, where that is gone, the nearest one
before it that is not. Labelled cells are put right by `rebuild`, as in the grader; prose has no
label, and is lent one here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from attnlab.ipynb.python import names
from attnlab.ipynb.read import Cell
from attnlab.ipynb.rebuild import (
    as_text,
    labelled,
    last_definition,
    rebuild,
    relabelled,
    squeezed,
    unlabelled,
)

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
    mine: list[Cell],
    base: list[Cell],
    new: list[Cell],
    removed: Collection[str] = (),
    ran: Sequence[Cell] | None = None,
) -> list[Cell]:
    """The cells of `new`, with those in `mine` that are a learner's own.

    Answers stay in their cells, other cells of a learner's behind the cell that they followed. The
    order is the new release's, unless the learner has moved cells about: then it is theirs. What
    cannot be run any more is kept as text: an answer to an exercise of `base` that `new` has not,
    or to one of `removed`, and a cell that needs something that no cell above it defines now.

    Args:
        ran: the notebook that `mine` is a part of, if it is not the whole.
    """
    new = [_lent(cell) for cell in new]
    known = {cell.grade_id for cell in new}
    blocks: list[list[Cell]] = [[]]
    for cell in _recognised(mine, base, new):
        if cell.grade_id in known:
            blocks.append([])
        blocks[-1].append(cell)
    blocks = _with_missing(_in_order(blocks, base, new), new)
    cells = [cell for block in blocks for cell in block]
    kept = {cell.grade_id for cell in cells if cell.nbgrader.get("solution") == _PROSE}
    asked = [_open(cell) if cell.grade_id in kept else cell for cell in new]
    had = {cell.exercise for cell in base} - {cell.exercise for cell in new} - {""}
    found = rebuild(cells, asked, removed=had | {*removed}).cells
    return _still_run([_returned(cell) for cell in found], mine if ran is None else ran)


def moved(mine: list[Cell], base: list[Cell], new: list[Cell], other: list[Cell]) -> list[Cell]:
    """Those cells of `mine` that follow a part of its lesson into another one.

    Args:
        other: what was handed out of the lesson that has cells now which `new` has not.
    """
    here, there = counterparts(base, new), counterparts(base, other)
    found, goes = [], False
    for cell, at in zip(mine, _of_course(mine, base), strict=True):
        if at in here or at in there:  # else it follows the one before it
            goes = at not in here
        if goes:
            found.append(cell)
    return found


def with_helpers(goes: list[Cell], mine: list[Cell], other: list[Cell]) -> list[Cell]:
    """Cells that are moved, and copies of a learner's other ones that these need to run there."""
    given = {name for cell in other if cell.kind == "code" for name in names(cell.source)[1]}
    needed: set[str] = set()
    helpers: list[Cell] = []
    for cell in filter(_runs, reversed(mine)):
        needs, leaves = names(cell.source)
        is_moved = any(cell is each for each in goes)
        if is_moved or (needed & leaves and not cell.grade_id):
            needed = (needed - leaves) | (needs - given)
            helpers += [] if is_moved else [cell]
    return [*goes[:1], *reversed(helpers), *goes[1:]]


def _runs(cell: Cell) -> bool:
    return cell.kind == "code" and cell.is_theirs


def _lent(cell: Cell) -> Cell:
    """A cell without a label is lent one."""
    if cell.grade_id:
        return cell
    return labelled(cell, {"grade_id": f"{_PROSE}{cell.id or hash(squeezed(cell))}"})


def _open(cell: Cell) -> Cell:
    """A piece of prose that its reader has rewritten: `rebuild` leaves their text in it."""
    return labelled(cell, {"grade_id": cell.grade_id, "solution": True})


def _returned(cell: Cell) -> Cell:
    """Without the label that was lent."""
    return unlabelled(cell) if cell.grade_id.startswith(_PROSE) else cell


def _heading(cell: Cell) -> str:
    """'### Exercise: `softmax`', where a text begins with one."""
    first = squeezed(cell).partition("\n")[0]
    return first if cell.kind == "markdown" and first.startswith("#") else ""


_BY_NAME: tuple[Callable[[Cell], str], ...] = (lambda cell: cell.grade_id, lambda cell: cell.id)


def _pairs(
    some: list[Cell], others: list[Cell], alike: Sequence[Callable[[Cell], str]]
) -> dict[int, int]:
    """Which of the others each of some is, each once, the surest likeness first."""
    found: dict[int, int] = {}
    for key in alike:
        left: dict[tuple[str, str], int] = {}
        for at, cell in reversed([*enumerate(others)]):
            if at not in found.values() and key(cell):
                left[cell.kind, key(cell)] = at
        for at, cell in enumerate(some):
            if at not in found and (other := left.pop((cell.kind, key(cell)), None)) is not None:
                found[at] = other
    return found


def counterparts(base: list[Cell], new: list[Cell]) -> dict[int, int]:
    """Where a release's cells are in another: by heading, else label, Jupyter's id, text."""
    found = _pairs(base, new, [_heading, *_BY_NAME, squeezed])
    return {
        at: other
        for at, other in found.items()
        if not base[at].exercise or base[at].exercise == new[other].exercise
    }


def _of_course(mine: list[Cell], base: list[Cell]) -> list[int | None]:
    """Which cell of the release each of a learner's is, None for their own."""
    known = {cell.grade_id: at for at, cell in enumerate(base) if cell.grade_id}
    mine = relabelled(mine, base)
    plain = [at for at, cell in enumerate(mine) if cell.grade_id not in known]
    prose = [at for at, cell in enumerate(base) if not cell.grade_id]
    alike = _pairs([mine[at] for at in plain], [base[at] for at in prose], [*_BY_NAME, squeezed])
    found: list[int | None] = [known.get(cell.grade_id) for cell in mine]
    for at, other in alike.items():
        found[plain[at]] = prose[other]
    return found


def _recognised(mine: list[Cell], base: list[Cell], new: list[Cell]) -> list[Cell]:
    """A learner's cells, those of the course with their labels of today; without what is gone."""
    now = counterparts(base, new)
    were, anew = _of_course(mine, base), _of_course(mine, [_returned(cell) for cell in new])
    found: list[Cell] = []
    for cell, was, there in zip(mine, were, anew, strict=True):
        old = base[was] if was is not None else None
        at = there if was is None else now.get(was)
        untouched = old is not None and squeezed(cell) == squeezed(old)
        if at is None:
            if not untouched:  # a learner's own, or theirs by now
                found.append(cell if old is None or cell.grade_id else replace(cell, id=""))
            continue
        today = new[at]
        is_prose = today.grade_id.startswith(_PROSE)
        is_locked = bool(cell.grade_id or (old and old.grade_id))
        if today.is_solution and untouched:
            found.append(today)
        elif today.is_solution:
            asked = old is None or old.is_solution or cell.is_solution
            answers = asked or last_definition([cell], today.exercise) >= 0
            both = [today, replace(cell, id="")]
            found += [labelled(cell, today.nbgrader)] if answers else both
        elif untouched or is_locked or squeezed(cell) == squeezed(today):
            found.append(labelled(cell, today.nbgrader))  # `rebuild` puts its text right
        elif old is not None and squeezed(today) == squeezed(old) and is_prose:
            found.append(labelled(cell, {"grade_id": today.grade_id, "solution": _PROSE}))
        else:  # both stay: the course's, and then the learner's
            found += [today, replace(cell, id="")]
    return found


def _in_order(blocks: list[list[Cell]], base: list[Cell], new: list[Cell]) -> list[list[Cell]]:
    """The new release's order, where the learner's is the old one's still."""
    places = {cell.grade_id: at for at, cell in enumerate(new)}
    now = counterparts(base, new)
    old = {new[other].grade_id: at for at, other in now.items()}
    first, *others = blocks
    walked = [old[block[0].grade_id] for block in others if block[0].grade_id in old]
    if walked == sorted(walked):
        others.sort(key=lambda block: places[block[0].grade_id])
    return [first, *others]


def _with_missing(blocks: list[list[Cell]], new: list[Cell]) -> list[list[Cell]]:
    """Also what is new or was deleted, each behind the one that it follows and a learner's there.

    A check goes behind whatever defines its function. An exercise that is answered elsewhere is not
    put back: its stub would hide the answer.
    """
    found, before = [*blocks], 0
    written = [cell for block in blocks for cell in block if cell.is_theirs]
    present = {cell.grade_id for block in blocks for cell in block}
    for cell in new:
        name, exercise = cell.grade_id, cell.exercise
        elsewhere = exercise and exercise not in present and last_definition(written, exercise) >= 0
        if name in present:
            before = next(at for at, block in enumerate(found) if name in _label(block))
        elif not (elsewhere and cell.is_solution):
            if elsewhere:
                of = [at for at, block in enumerate(found) if last_definition(block, exercise) >= 0]
                before = max(before, *of)
            before += 1
            found.insert(before, [cell])
    return found


def _label(block: list[Cell]) -> list[str]:
    return [cell.grade_id for cell in block[:1]]


def _still_run(cells: list[Cell], ran: Sequence[Cell]) -> list[Cell]:
    """With a learner's own cells as text that need what was above them, and is not any more."""
    needed: dict[str, frozenset[str]] = {}
    above: frozenset[str] = frozenset()
    for cell in ran:
        if cell.kind == "code":
            needs, leaves = names(cell.source)
            needed.setdefault(squeezed(cell), needs & above)
            above |= leaves
    found, above = [], frozenset()
    for cell in cells:
        if cell.kind == "code":
            gone = frozenset() if cell.grade_id else needed.get(squeezed(cell), frozenset()) - above
            if gone:
                what = " and ".join(f"`{name}`" for name in sorted(gone))
                cell = as_text(cell, f"Your cell, which needs {what}, not in this lesson any more:")
            else:
                above |= names(cell.source)[1]
        found.append(cell)
    return found
