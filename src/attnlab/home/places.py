"""Where a learner's course lies: what was handed out, and what is theirs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from attnlab.home.progress import STATE


class NotHere(Exception):
    """There is no course in this folder; the sentence says what to do."""


@dataclass(frozen=True, slots=True)
class Course:
    """A course's folder.

    Attributes:
        root: it holds notebooks/, as handed out, and jupyter/.
        own: a learner's own copies, if not in its work/.
    """

    root: Path
    own: Path | None = None

    @property
    def released(self) -> Path:
        return self.root / "notebooks"

    @property
    def work(self) -> Path:
        """A learner's own copies."""
        return self.own or self.root / "work"

    @property
    def state(self) -> Path:
        """What attnlab keeps beside them."""
        return self.work / STATE

    @property
    def backups(self) -> Path:
        return self.work / "backups"

    @property
    def checks(self) -> Path:
        """The page of `attnlab check-mine`."""
        return self.work / "my-checks.html"

    def notebook(self, slug: str) -> Path:
        """A learner's own copy of a lesson."""
        return self.work / slug / f"{slug}.ipynb"

    def handed_in(self, slug: str) -> Path:
        """What was made of it to be handed in."""
        return self.work / "hand-in" / slug / f"{slug}.ipynb"


def course_at(folder: Path) -> Course:
    """The course that a folder is of, or is in.

    Raises:
        NotHere: it is in none.
    """
    for root in (folder, *folder.parents):
        if (root / "jupyter" / "lab_config.py").is_file() and (root / "notebooks").is_dir():
            return Course(root)
    raise NotHere(
        f"{folder} is not in the course's folder, which holds notebooks/ and jupyter/. "
        "Go there first, or name it: attnlab --course FOLDER …"
    )


def with_copies(course: Course) -> Course:
    """The course, once its learner has copies of their own.

    Raises:
        NotHere: there are none yet.
    """
    if not course.state.is_dir():
        raise NotHere("You have no copies of the lessons yet. Run `attnlab update` first.")
    return course
