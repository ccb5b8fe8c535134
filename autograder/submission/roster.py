"""Who is in a class, and what each of them handed in.

Learners choose the names and the kinds of what lies in their folders. A file is opened by no name
that leaves the student's folder, never waited for, and never read past the limit; whatever is wrong
with it is that student's result, and nobody else's trouble.
"""

from __future__ import annotations

import difflib
import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from attnlab.ipynb.read import Unreadable, too_large, without_outputs
from attnlab.ipynb.words import few, printable, short
from attnlab.lessons import slugs
from autograder import Problem, Usage
from autograder.sandbox.limits import Limits

TIMESTAMP = "timestamp.txt"
BESIDE = (TIMESTAMP, "submission_secret.txt")  # nbgrader releases feedback by these
_SMALL = 1024  # bytes
# The grader's own trouble, not the file's.
_OURS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}
KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Not following the last link, and not waiting for somebody to write into a named pipe.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


@dataclass(frozen=True, slots=True)
class Submission:
    """What one student handed in for a lesson.

    Attributes:
        folder: name of the student's folder; bytes that are not UTF-8 are surrogates in it.
        content: the notebook's bytes, or why there are none.
        note: what the student should know besides, such as a second notebook that is not graded.
        beside: the small files that came with it, by name.
    """

    folder: str
    content: bytes | Unreadable
    note: str = ""
    beside: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def student(self) -> str:
        """The folder's name as text that can be printed, stored and sent anywhere."""
        return os.fsencode(self.folder).decode("utf-8", "backslashreplace")

    @property
    def fingerprint(self) -> str:
        """Changes whenever what is recorded may."""
        if isinstance(self.content, bytes):
            kind, content = b"notebook", self.content
        else:
            kind, content = b"unreadable", str(self.content).encode()
        digest = hashlib.sha256()
        parts = [kind, self.note.encode(), content]
        for name, data in sorted(self.beside.items()):
            parts += name.encode(), data
        for part in parts:
            digest.update(b"%d\0" % len(part))
            digest.update(part)
        return digest.hexdigest()


def students(submitted: Path, lesson: str) -> list[str]:
    """Names of the folders that hold something under the lesson's name, in order.

    Raises:
        Problem: the folder of submissions cannot be listed.
    """
    try:
        with os.scandir(submitted) as entries:
            folders = [entry.name for entry in entries if entry.is_symlink() or entry.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Problem(f"Cannot list {submitted}: {error.strerror}.") from error
    return sorted(name for name in folders if _has(submitted / name / lesson))


def misplaced(submitted: Path, lesson: str, names: Iterable[str]) -> Iterator[str]:
    """A sentence on each folder that is not graded, and may be meant to be.

    Args:
        names: the folders that are graded.
    """
    graded = set(names)
    wanted = f"{lesson}.ipynb"
    try:
        with os.scandir(submitted) as entries:
            others = sorted(
                entry.name
                for entry in entries
                if entry.name not in graded and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return
    for name in others:
        try:
            found = os.listdir(submitted / name)
        except OSError:
            continue
        meant = [file for file in found if is_named(file, lesson)]
        if meant:
            file = wanted if wanted in meant else min(meant)
            place = f"{short(name)}/{lesson}/{wanted}"
            yield f"{short(name)} is not graded: move its {short(file)} to {place}."
        elif not found:
            yield f"{short(name)} is not graded: its folder is empty."


def _has(path: Path) -> bool:
    """Whether something is there; what cannot be looked at counts, so that it gets a result."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def chosen(
    names: list[str], wanted: Iterable[str], lesson: str, does: str = "has handed in"
) -> list[str]:
    """Those of a class that are wanted, everyone if nobody is named.

    Raises:
        Usage: someone is not in the class.
    """
    wanted = set(wanted)
    for name in sorted(wanted - set(names)):
        near = difflib.get_close_matches(name, names, 1, 0.3)
        listed = ", ".join(few([short(name) for name in names]))
        raise Usage(
            f"No student {name!r} {does} {lesson}. "
            + (f"Do you mean {short(near[0])!r}? " if near else "")
            + (f"There are {len(names):,}: {listed}." if names else f"Nobody {does.split()[0]}.")
        )
    return [name for name in names if not wanted or name in wanted]


def collect(submitted: Path, student: str, lesson: str, limits: Limits) -> Submission:
    """What a student handed in, whatever is found in the student's folder.

    Raises:
        Problem: this process can open no more files.
    """
    from autograder.submission import timestamps  # here, for workers do without nbgrader

    submission, folder = _notebook(submitted, student, lesson, limits), submitted / student / lesson
    timestamps.put_aside(folder)
    told = " ".join(filter(None, [submission.note, timestamps.note(folder)]))
    return replace(submission, note=told, beside=small_files(folder))


def _notebook(submitted: Path, student: str, lesson: str, limits: Limits) -> Submission:
    try:
        names = _notebooks(submitted / student, lesson)
        taken, note = _choice(names, lesson)
        content = _read(submitted / student, Path(lesson, taken), limits)
        return Submission(student, content, note)
    except Unreadable as none:
        return Submission(student, none)
    except _Leaves as leaves:
        where = short(str(leaves))
        reason = f"`{where}` is a link out of the student's folder. Hand in the file itself."
        return Submission(student, Unreadable(reason))
    except OSError as error:
        if error.errno in _OURS:
            raise Problem(f"Cannot open submissions: {error.strerror}. Close programs.") from error
        reason = f"The submission cannot be opened: {os.strerror(error.errno or 0)}."
        return Submission(student, Unreadable(reason))


def _choice(names: list[str], lesson: str) -> tuple[str, str]:
    """Which of a folder's notebooks is graded, and what the student should know about that.

    Raises:
        Unreadable: none is.
    """
    wanted = f"{lesson}.ipynb"
    others = [name for name in names if name != wanted]
    listed = ", ".join(few([f"`{short(name)}`" for name in others]))
    are = "is" if len(others) == 1 else "are"
    if wanted in names:
        return wanted, f"Only `{wanted}` is graded, and {listed} {are} not." if others else ""
    if len(others) == 1 and is_named(others[0], lesson):
        return others[0], f"{listed} was taken for `{wanted}`."
    if not others:
        raise Unreadable(f"There is no `{wanted}`, nor any other notebook.")
    of_others = [slug for slug in slugs() if len(others) == 1 and is_named(others[0], slug)]
    if of_others:
        raise Unreadable(f"There is no `{wanted}`; {listed} is named as the one of {of_others[0]}.")
    which = "it" if len(others) == 1 else "the one that is to be graded"
    raise Unreadable(f"There is no `{wanted}`, but there {are} {listed}: rename {which}.")


def small_files(folder: Path) -> dict[str, bytes]:
    """What came with a submission that nbgrader reads again later, if it is what it should be.

    A learner may have made the folder: no link out of it is followed, nothing large or odd is read.
    """
    found: dict[str, bytes] = {}
    with opened(folder) as descriptor:
        for name in BESIDE if descriptor is not None else ():
            with suppress(OSError):  # such as a link
                handle = os.open(name, _FILE, dir_fd=descriptor)
                try:
                    if stat.S_ISREG(os.fstat(handle).st_mode):
                        data = os.read(handle, _SMALL + 1)
                        if len(data) <= _SMALL:
                            found[name] = data
                finally:
                    os.close(handle)
    return found


@contextmanager
def opened(folder: Path) -> Iterator[int | None]:
    """A submission's folder, open; None where there is none or it leaves the student's."""
    try:
        descriptor = _open_beneath(folder.parent, Path(folder.name), _FOLDER)
    except (_Leaves, OSError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_file(path: Path, limits: Limits) -> bytes | Unreadable:
    """One notebook that a person names; where that is a link, what it leads to.

    Raises:
        Usage: there is nothing to open.
    """
    try:
        descriptor = os.open(os.path.realpath(path), _FILE)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise Usage(f"Cannot open {printable(str(path))}: {reason}.") from error
    return _take(descriptor, path.name, limits)


class _Leaves(Exception):
    """A name that leads out of the student's folder."""


def _notebooks(home: Path, lesson: str) -> list[str]:
    """Names of the notebooks, or what is named as such, in a student's folder of the lesson."""
    descriptor = _open_beneath(home, Path(lesson), _FOLDER)
    try:
        return sorted(filter(_is_notebook, os.listdir(descriptor)))
    finally:
        os.close(descriptor)


def _is_notebook(name: str) -> bool:
    """Whether a file is named as one; hidden ones are editors' and archives' own."""
    return name.lower().endswith(".ipynb") and not name.startswith(".")


def is_named(name: str, lesson: str) -> bool:
    """Whether a notebook has the lesson in its name, as after a second download or from an LMS."""
    return _is_notebook(name) and lesson in name.lower()


def _read(home: Path, relative: Path, limits: Limits) -> bytes | Unreadable:
    descriptor = _open_beneath(home, relative, _FILE)
    return _take(descriptor, relative.name, limits)


def _take(descriptor: int, name: str, limits: Limits) -> bytes | Unreadable:
    """The bytes of an open file, and the end of it."""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            kind = next((kind for is_it, kind in KINDS if is_it(found.st_mode)), "no file")
            return Unreadable(f"`{short(name)}` is {kind}, not a file.")
        if found.st_size > limits.notebook_bytes:
            return Unreadable(too_large(found.st_size, limits))
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(limits.notebook_bytes + 1)  # it may grow while it is read
        return without_outputs(content, limits)  # or megabytes would wait, and travel, for nothing
    except Unreadable as reason:
        return reason
    finally:
        os.close(descriptor)


def _open_beneath(home: Path, relative: Path, flags: int) -> int:
    """Open what a name leads to, if that is inside `home`.

    Links inside the folder are followed by resolving them first, then opening step by step without
    following any: whoever swaps in a link meanwhile gets an error and not another's file.
    """
    base = Path(os.path.realpath(home.parent), home.name)
    real = Path(os.path.realpath(base / relative))
    if base.is_symlink() or not real.is_relative_to(base):
        raise _Leaves(home.name if base.is_symlink() else relative.name)
    descriptor = os.open(base, _FOLDER)
    try:
        *folders, last = real.relative_to(base).parts or (".",)
        for part in folders:
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        return os.open(last, flags, dir_fd=descriptor)
    finally:
        os.close(descriptor)
