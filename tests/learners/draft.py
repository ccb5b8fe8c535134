"""A learner's notebook while it is being written."""

from __future__ import annotations

import random
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell


@dataclass(slots=True)
class Draft:
    """The released notebook, with what a learner has done to it so far.

    Attributes:
        lesson: slug.
        stage: what the lesson is written with: 'pure', 'numpy' or 'torch'.
        rng: where to put things, and which to choose.
    """

    lesson: str
    stage: str
    notebook: NotebookNode
    rng: random.Random

    @property
    def cells(self) -> list[NotebookNode]:
        return self.notebook.cells

    @property
    def exercises(self) -> list[str]:
        return [name_of(cell) for cell in self.cells if is_exercise(cell)]

    def place_of(self, grade_id: str) -> int:
        """Where the last cell with an nbgrader name is."""
        places = [i for i, cell in enumerate(self.cells) if name_of(cell) == grade_id]
        return places[-1]

    def cell(self, grade_id: str) -> NotebookNode:
        return self.cells[self.place_of(grade_id)]

    def choose(self) -> str:
        """One of the exercises."""
        return self.rng.choice(self.exercises)

    def written(self) -> str:
        """One of the exercises whose cell defines something, any of them if none does."""
        defined = [name for name in self.exercises if f"def {name}" in self.cell(name).source]
        return self.rng.choice(defined or self.exercises)

    def insert(self, place: int, *sources: str) -> None:
        """Add code cells."""
        self.cells[place:place] = [self._new(source) for source in sources]

    def before(self, grade_id: str, *sources: str) -> None:
        self.insert(self.place_of(grade_id), *sources)

    def after(self, grade_id: str, *sources: str) -> None:
        self.insert(self.place_of(grade_id) + 1, *sources)

    def anywhere(self, *sources: str) -> None:
        """Add code cells below the set-up cell."""
        self.insert(self.rng.randrange(self.place_of("setup") + 1, len(self.cells) + 1), *sources)

    def append(self, *sources: str) -> None:
        self.insert(len(self.cells), *sources)

    def _new(self, source: str) -> NotebookNode:
        return new_code_cell(source, id=f"{self.rng.getrandbits(32):08x}")


def grading(cell: NotebookNode) -> NotebookNode:
    return cell.metadata.get("nbgrader", NotebookNode())


def name_of(cell: NotebookNode) -> str:
    """A cell's name for nbgrader, '' if it has none."""
    return grading(cell).get("grade_id", "")


def is_exercise(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(grading(cell).get("solution"))


def is_check(cell: NotebookNode) -> bool:
    return bool(grading(cell).get("grade"))


def is_demonstration(cell: NotebookNode) -> bool:
    """Whether a cell is ours to show something: locked code that is neither set-up nor check."""
    ours = cell.cell_type == "code" and bool(grading(cell).get("locked"))
    return ours and not is_check(cell) and name_of(cell) != "setup"
