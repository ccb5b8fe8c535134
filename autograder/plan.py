"""What to do with a rebuilt notebook: which cells to run, and where to check.

Locked cells that show something are ours and cost time; only those are run that give a value to a
name which a learner's code looks up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from attnlab.exercise import Exercise
from attnlab.ipynb.read import Cell
from attnlab.ipynb.rebuild import Rebuilt, exercise_of, is_check, is_solution
from autograder import lookups
from autograder.limits import Limits

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
class Part:
    """What a second look at an exercise takes from a cell.

    Attributes:
        index: of the cell.
        needed: those of its statements that the exercise's function is made of.
        source: what is run: of a learner's extra cell everything, of others what is needed.
    """

    index: int
    needed: str
    source: str


@dataclass(frozen=True, slots=True)
class Plan:
    """How a notebook is graded.

    Attributes:
        homes: index of the cell where an exercise's function should be.
        needs: for each exercise whose function was found by reading, the code for a second look.
        reaches_out: whether a learner's code might change what other cells rely on.
        unread: a learner's cells whose names could not be read.
    """

    stage: str
    exercises: Mapping[str, Exercise]
    steps: tuple[Step, ...]
    homes: Mapping[str, int]
    needs: Mapping[str, tuple[Part, ...]]
    reaches_out: bool
    unread: frozenset[int]

    @property
    def sources(self) -> dict[int, str]:
        """Source of each cell that is run, by its index."""
        return {step.index: step.source for step in self.steps if step.exercise is None}


def make_plan(
    rebuilt: Rebuilt,
    released: list[Cell],
    exercises: Mapping[str, Exercise],
    stage: str,
    limits: Limits,
) -> Plan:
    """Read a notebook's code and plan its run.

    Args:
        rebuilt: the learner's notebook.
        released: cells of the notebook that learners were given.
        exercises: of the lesson, by name.
        stage: of the lesson.
    """
    code = [(index, cell) for index, cell in enumerate(rebuilt.cells) if cell.kind == "code"]
    untouched = {cell.source for cell in released}
    read, unread = _read_cells(code, limits)
    theirs = [cell.source for index, cell in code if _is_theirs(cell) and index in read]
    shown = _needed_locked_cells(code, read, exercises)
    steps: list[Step] = []
    program: list[lookups.Statement] = []
    needs: dict[str, tuple[Part, ...]] = {}
    extra = {index for index, cell in code if not cell.grade_id}
    for index, cell in code:
        exercise = exercises.get(exercise_of(cell)) if is_check(cell) else None
        if exercise is not None:
            steps.append(Step(index, "", True, exercise))
            with suppress(lookups.TooLong):
                if parts := lookups.needed(exercise.name, program):
                    needs[exercise.name] = _second_look(program, parts, extra)
        elif _is_theirs(cell) or index in shown:
            steps.append(Step(index, cell.source, not _is_theirs(cell)))
            program += read.get(index, ())
    return Plan(
        stage,
        exercises,
        tuple(steps),
        {exercise_of(cell): index for index, cell in code if is_solution(cell)},
        needs,
        any(lookups.reaches_out(source) for source in theirs if source not in untouched),
        frozenset(unread),
    )


def _is_theirs(cell: Cell) -> bool:
    return not cell.grade_id or is_solution(cell)


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
        if not _is_theirs(cell):
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
    exercises: Iterable[str],
) -> Set[int]:
    """Locked cells that give a value to a name which a learner's code looks up, or such a cell.

    Args:
        read: the statements of each cell.
        exercises: names that the checks look up.
    """
    locked = {index for index, cell in code if not _is_theirs(cell)}
    program = [part for index, cell in code if not is_check(cell) for part in read.get(index, ())]
    wanted = set(exercises)
    for index, cell in code:
        if not _is_theirs(cell):
            continue
        if index not in read:  # too long: it may look up anything
            return locked
        looked_up = lookups.free_names(cell.source, read[index])
        if looked_up & LOOKS_UP_ANYTHING:
            return locked
        if not read[index]:
            wanted |= looked_up
    try:
        return lookups.relied_on(program, read.keys() - locked, wanted)
    except lookups.TooLong:
        return locked


@lru_cache(maxsize=1000)
def _of_locked(source: str) -> tuple[lookups.Statement, ...]:
    """Statements of a locked cell: the same in every notebook of a class, wherever it stands."""
    return tuple(lookups.statements(0, source))


def _second_look(
    program: list[lookups.Statement], parts: list[lookups.Statement], extra: set[int]
) -> tuple[Part, ...]:
    """Source by cell: without what changes a module, for that is everyone's.

    Extra cells are run as they are: what a learner sets there, NumPy's errors for one, is meant.
    So are all imports, which they may rely on.
    """
    needed = {id(part) for part in parts}
    modules = frozenset().union(*(part.binds for part in program if part.imports))
    sources: dict[int, tuple[list[str], list[str]]] = {}
    for part in program:
        wanted = id(part) in needed or part.cell in extra or part.is_import
        if part.alters & modules or not wanted:
            continue
        fewest, most = sources.setdefault(part.cell, ([], []))
        most.append(part.source)
        if id(part) in needed:
            fewest.append(part.source)
    return tuple(
        Part(index, "\n".join(fewest), "\n".join(most)) for index, (fewest, most) in sources.items()
    )
