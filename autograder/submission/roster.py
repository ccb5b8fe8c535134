"""Who is in a class, and what each of them handed in.

Learners choose the names and the kinds of what lies in their folders. A file is opened by no name
that leaves the student's folder, never waited for, and never read past the limit; whatever is wrong
with it is that student's result, and nobody else's trouble.
"""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import few, short
from attnlab.lessons import slugs
from autograder import Problem, Usage
from autograder.sandbox.limits import Limits
from autograder.submission import timestamps
from autograder.submission.folder import (
    FILE,
    FOLDER,
    Leaves,
    Submission,
    is_named,
    is_notebook,
    open_beneath,
    small_files,
    take,
)

# The grader's own trouble, not the file's.
_OURS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}


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
    except Leaves as leaves:
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


def _notebooks(home: Path, lesson: str) -> list[str]:
    """Names of the notebooks, or what is named as such, in a student's folder of the lesson."""
    descriptor = open_beneath(home, Path(lesson), FOLDER)
    try:
        return sorted(filter(is_notebook, os.listdir(descriptor)))
    finally:
        os.close(descriptor)


def _read(home: Path, relative: Path, limits: Limits) -> bytes | Unreadable:
    descriptor = open_beneath(home, relative, FILE)
    return take(descriptor, relative.name, limits)
