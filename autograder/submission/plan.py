"""What to do with a rebuilt notebook: which cells to run, and where to check.

Locked cells that show something are ours and cost time; only those are run that give a value to a
name which a learner's code looks up.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from attnlab.checks.exercise import Exercise
from attnlab.ipynb.read import Cell
from attnlab.ipynb.rebuild import Rebuilt
from autograder.sandbox.limits import Limits
from autograder.submission import lookups

LOOKS_UP_ANYTHING = frozenset({"globals", "locals", "vars", "eval", "exec", "get_ipython"})


@dataclass(frozen=True, slots=True)
class Step:
    """Run a cell, or check an exercise where its check cell stands.

    Attributes:
        index: of the cell.
        ours: whether the cell is locked.
        exercise: to check, None for a cell to run.
    """

    index: int
    source: str
    ours: bool
    exercise: Exercise | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How a notebook is graded.

    Attributes:
        homes: index of the cell where an exercise's function should be.
        helpers: for each exercise, the other ones that its function calls, as far as reading tells.
        made_by: and the statements that make its function, or may.
        unread: a learner's cells whose names could not be read.
    """

    exercises: Mapping[str, Exercise]
    steps: tuple[Step, ...]
    homes: Mapping[str, int]
    helpers: Mapping[str, frozenset[str]]
    made_by: Mapping[str, list[lookups.Statement]]
    unread: frozenset[int]


def make_plan(rebuilt: Rebuilt, exercises: Mapping[str, Exercise], limits: Limits) -> Plan:
    """Read a notebook's code and plan its run.

    Args:
        rebuilt: the learner's notebook.
        exercises: of the lesson, by name.
    """
    code = [(index, cell) for index, cell in enumerate(rebuilt.cells) if cell.kind == "code"]
    read, unread = _read_cells(code, limits)
    shown = _needed_locked_cells(code, read)
    steps: list[Step] = []
    program: list[lookups.Statement] = []
    helpers: dict[str, frozenset[str]] = {}
    made_by: dict[str, list[lookups.Statement]] = {}
    for index, cell in code:
        exercise = exercises.get(cell.exercise) if cell.is_check else None
        if exercise is not None:
            steps.append(Step(index, "", True, exercise))
            with suppress(lookups.TooLong):
                names, parts = lookups.made_of(exercise.name, program)
                parts += [part for part in program if part.uses & LOOKS_UP_ANYTHING]
                made_by[exercise.name] = parts
                helpers[exercise.name] = (names & exercises.keys()) - {exercise.name}
        elif cell.is_theirs or index in shown:
            steps.append(Step(index, cell.source, not cell.is_theirs))
            program += read.get(index, ())
    return Plan(
        exercises,
        tuple(steps),
        {cell.exercise: index for index, cell in code if cell.is_solution},
        helpers,
        made_by,
        frozenset(unread),
    )


def _read_cells(
    code: list[tuple[int, Cell]], limits: Limits
) -> tuple[dict[int, tuple[lookups.Statement, ...]], set[int]]:
    """The statements of each cell, and a learner's cells that could not be read.

    A cell that is not Python has no statements; one that is too long is left out.
    """
    read: dict[int, tuple[lookups.Statement, ...]] = {}
    unread: set[int] = set()
    characters = total = 0
    for index, cell in code:
        if not cell.is_theirs:
            read[index] = tuple(replace(part, cell=index) for part in _of_locked(cell.source))
            continue
        try:
            characters += len(cell.source)
            if len(cell.source) > limits.cell_bytes or characters > limits.read_bytes:
                raise lookups.TooLong
            if total > limits.statements:
                raise lookups.TooLong
            read[index] = tuple(lookups.statements(index, cell.source))
            total += len(read[index])
        except lookups.Unparsed:
            read[index] = ()
            unread.add(index)
        except lookups.TooLong:
            unread.add(index)
    return read, unread


def _needed_locked_cells(
    code: list[tuple[int, Cell]],
    read: Mapping[int, tuple[lookups.Statement, ...]],
) -> Set[int]:
    """Locked cells that give a value to a name which a learner's code looks up, or such a cell.

    Args:
        read: the statements of each cell.
    """
    locked = {index for index, cell in code if not cell.is_theirs}
    program: list[lookups.Statement] = []
    asked_for: list[tuple[str, int]] = []
    anywhere: set[str] = set()  # by what IPython alone can read
    for index, cell in code:
        if cell.is_check:
            asked_for.append((cell.exercise, len(program)))
            continue
        if cell.is_theirs:
            if index not in read:  # too long: it may look up anything
                return locked
            looked_up = lookups.free_names(cell.source, read[index])
            if looked_up & LOOKS_UP_ANYTHING:
                return locked
            if not read[index]:
                anywhere |= looked_up
                asked_for += [(name, len(program)) for name in looked_up]
        program += read.get(index, ())
    asked_for += [(name, len(program)) for name in anywhere]
    try:
        return lookups.relied_on(program, read.keys() - locked, asked_for)
    except lookups.TooLong:
        return locked


@lru_cache(maxsize=1000)
def _of_locked(source: str) -> tuple[lookups.Statement, ...]:
    """Statements of a locked cell: the same in every notebook of a class, wherever it stands."""
    return tuple(lookups.statements(0, source))
