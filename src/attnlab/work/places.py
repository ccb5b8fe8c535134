"""Where a learner's course lies: what was handed out, and what is theirs.

What lies in work/ may have come from anywhere. A `Course` is the one door to it: what it reads is a
regular file, opened without waiting and read to a limit, as the grader opens what is handed in;
what it writes is there whole or not at all; and in work/ no link is followed either way.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from attnlab.ipynb.files import NotWritten, link_on, open_file, taken, write_whole
from attnlab.ipynb.read import Cell, Sizes, Unreadable, read

STATE = ".attnlab"
PACKAGED = Path(__file__).resolve().parents[1] / "course"  # in a wheel; a clone has none


class Refused(Exception):
    """This cannot be done; the sentence says why, and what to do."""


class NotThere(Unreadable):
    """There is no such file."""


def lesson_path(slug: str) -> Path:
    """Where a lesson lies in each folder that has it: notebooks/, work/ and what is in there."""
    return Path(slug, f"{slug}.ipynb")


@dataclass(frozen=True, slots=True)
class Course:
    """A course's folder.

    Attributes:
        root: it holds work/, and in a clone notebooks/, as handed out, and jupyter/.
        own: a learner's own copies, if not in its work/.
    """

    root: Path
    own: Path | None = None

    @property
    def released(self) -> Path:
        """What was handed out: in the package, where that is a wheel."""
        return (PACKAGED if PACKAGED.is_dir() else self.root) / "notebooks"

    @property
    def settings(self) -> Path:
        """JupyterLab's, for the course."""
        return self.released.parent / "jupyter" / "lab_config.py"

    @property
    def work(self) -> Path:
        """A learner's own copies."""
        return self.own or self.root / "work"

    @property
    def state(self) -> Path:
        """What attnlab keeps beside them."""
        return self.work / STATE

    @property
    def progress(self) -> Path:
        """What their checks found, see `attnlab.work.progress`."""
        return self.state / "progress.jsonl"

    @property
    def copied(self) -> Path:
        """What was handed out, as it was when it was copied."""
        return self.state / "released"

    @property
    def made_by(self) -> Path:
        """The version of attnlab that brought the copies up to date last."""
        return self.state / "version"

    @property
    def hand_ins(self) -> Path:
        return self.work / "hand-in"

    @property
    def backups(self) -> Path:
        return self.work / "backups"

    @property
    def checks(self) -> Path:
        """The page of `attnlab check-mine`."""
        return self.work / "my-checks.html"

    @property
    def keepsake(self) -> Path:
        """The page of `attnlab keepsake`; its picture is beside it, as an SVG."""
        return self.work / "keepsake.html"

    def read(self, path: Path) -> bytes:
        """The bytes of a file, a learner's or one that was handed out.

        Raises:
            NotThere: it is not, nor a folder for it.
            Unreadable: it is something else than a file, too large, or may not be read.
        """
        try:
            file = open_file(path, self.work if path.is_relative_to(self.work) else None)
            return taken(file, path.name, Sizes().notebook_bytes)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                raise NotThere("It is not there.") from error
            raise Unreadable(f"{error.strerror}.") from error

    def text(self, path: Path) -> str:
        """What a text says, '' where it cannot be read."""
        with suppress(Unreadable, UnicodeError):
            return self.read(path).decode()
        return ""

    def handed_out(self, slug: str) -> list[Cell]:
        """The cells of a lesson as it was handed out; raises Unreadable."""
        return read(self.read(self.released / lesson_path(slug)))

    def write(self, path: Path, data: bytes) -> None:
        """Write a file in work/, whole.

        Raises:
            NotWritten: it could not be, or a link leads there.
        """
        if link := link_on(path, self.work):
            raise NotWritten(link, OSError(errno.ELOOP, os.strerror(errno.ELOOP)))
        write_whole(path, data)

    def move(self, old: Path, new: Path) -> None:
        """Rename a file or a folder in work/.

        Raises:
            NotWritten: it could not be.
        """
        try:
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)
        except OSError as why:
            raise NotWritten(new, why) from why

    def append(self, path: Path, line: bytes) -> None:
        """Add a line to a file in work/, in one write: two notebooks at once lose none."""
        handle = open_file(path, self.work, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            if os.fstat(handle).st_size:
                os.lseek(handle, -1, os.SEEK_END)
                if os.read(handle, 1) != b"\n":  # one was cut short: it shall not spoil this one
                    line = b"\n" + line
            os.write(handle, line)
        finally:
            os.close(handle)

    def make_work(self) -> None:
        """Make work/, if it is not there.

        Raises:
            Refused: it cannot be made.
        """
        try:
            self.work.mkdir(exist_ok=True)
        except OSError as why:
            raise Refused(
                f"Your copies of the lessons would lie in {self.work}, which cannot be made: "
                f"{why.strerror}. Go to a folder of your own, and run this again."
            ) from why

    def in_the_way(self, path: Path) -> Path | None:
        """What is in the place of a file in work/: a link on the way to it, itself, or nothing."""
        found = link_on(path, self.work) or path
        return found if os.path.lexists(found) else None

    def notebook(self, slug: str) -> Path:
        """A learner's own copy of a lesson."""
        return self.work / lesson_path(slug)

    def handed_in(self, slug: str) -> Path:
        """What was made of it to be handed in: a zip that holds <lesson>/<lesson>.ipynb."""
        return self.hand_ins / f"{slug}.zip"


def course_at(folder: Path) -> Course:
    """The course that a folder is of, or is in; where a wheel brings it, any folder may become one.

    Raises:
        Refused: it is in none.
    """
    roots = (folder, *folder.parents)
    if PACKAGED.is_dir():
        return Course(next((root for root in roots if Course(root).state.is_dir()), folder))
    for root in roots:
        if (root / "jupyter" / "lab_config.py").is_file() and (root / "notebooks").is_dir():
            return Course(root)
    raise Refused(
        f"{folder} is not in the course's folder, which holds notebooks/ and jupyter/. "
        "Go there first, or name it: attnlab --course FOLDER …"
    )


def with_copies(course: Course) -> Course:
    """The course, once its learner has copies of their own.

    Raises:
        Refused: there are none yet.
    """
    if not course.state.is_dir():
        raise Refused("You have no copies of the lessons yet. Run `attnlab update` first.")
    return course
