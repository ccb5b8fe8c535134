"""What each student wrote, by exercise: from the autograded notebooks."""

from __future__ import annotations

from pathlib import Path

from attnlab.ipynb.files import open_file, taken
from attnlab.ipynb.read import Sizes, Unreadable, read


def answers_in(path: Path) -> dict[str, str]:
    """The text of each exercise's cell; nothing where the notebook is gone or is none.

    Learners' code is in it: whatever it holds, it is text.
    """
    limits = Sizes()
    try:
        cells = read(taken(open_file(path), path.name, limits.notebook_bytes), limits)
    except (OSError, Unreadable, ValueError):  # a path with a null character is a ValueError
        return {}
    theirs = (cell for cell in cells if cell.kind == "code" and cell.is_solution)
    return {cell.grade_id: cell.source for cell in theirs}
