"""Who is in a class, and what each of them handed in.

Learners choose the names and the kinds of what lies in their folders. A file is opened by no name
that leaves the student's folder, never waited for, and never read past the limit; whatever is wrong
with it is that student's result, and nobody else's trouble.
"""

from __future__ import annotations

import difflib
import errno
import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from attnlab.ipynb.files import taken
from attnlab.ipynb.read import Unreadable, without_outputs
from attnlab.ipynb.words import few, short
from attnlab.lessons import slugs
from autograder import Problem, Usage
from autograder.sandbox.limits import Limits
from autograder.submission import timestamps
from autograder.submission.archive import is_zip, notebook_in
from autograder.submission.folder import (
    BESIDE,
    FILE,
    FOLDER,
    Leaves,
    Submission,
    in_nfc,
    is_named,
    is_notebook,
    open_beneath,
    small_files,
)
from autograder.submission.left_out import below

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


def composed(submitted: Path, lesson: str, names: Iterable[str]) -> list[str]:
    """The folders, each called by its name as Unicode composes it (NFC).

    A Mac writes *ü* as two characters, other systems as one: nobody is to be in a class twice. So
    what lies under another spelling is moved. Where something lies under the composed name too,
    that alone is taken: nobody keeps others from being graded by a name that is theirs once
    composed. Of several other spellings none is taken, as nothing says whose the name is. What
    cannot be moved keeps its name, which no gradebook takes.
    """
    found = set(names)
    spellings = Counter(map(in_nfc, found))
    for name in sorted(found):
        one = in_nfc(name)
        if one == name:
            continue
        home, new = submitted / name, submitted / one
        if spellings[one] > 1:
            found.remove(name)
        elif not (home.is_symlink() or new.is_symlink()):
            with suppress(OSError):
                new.mkdir(exist_ok=True)
                (home / lesson).rename(new / lesson)
                found = found - {name} | {one}
                home.rmdir()  # unless it holds other lessons
    return sorted(found)


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
    wanted = set(map(in_nfc, wanted))
    for name in sorted(wanted - set(map(in_nfc, names))):
        near = difflib.get_close_matches(name, names, 1, 0.3)
        listed = ", ".join(few([short(name) for name in names]))
        raise Usage(
            f"No student {name!r} {does} {lesson}. "
            + (f"Do you mean {short(near[0])!r}? " if near else "")
            + (f"There are {len(names):,}: {listed}." if names else f"Nobody {does.split()[0]}.")
        )
    return [name for name in names if not wanted or in_nfc(name) in wanted]


def found(submitted: Path, student: str, lesson: str, limits: Limits) -> Submission:
    """What a student handed in, whatever is found in the student's folder.

    Raises:
        Problem: this process can open no more files.
    """
    folder = submitted / student / lesson
    submission = opened_in(submitted / student, lesson, lesson, limits)
    timestamps.put_aside(folder)
    told = " ".join(filter(None, [submission.note, timestamps.note(folder)]))
    return replace(submission, note=told, beside=small_files(folder))


def opened_in(home: Path, folder: str, lesson: str, limits: Limits) -> Submission:
    """The notebook in one folder of a student's, whatever is there.

    Args:
        home: the student's; no link out of it is followed.
        folder: in there; '.' is `home` itself.
    Raises:
        Problem: this process can open no more files.
    """
    student, choose = home.name, partial(choice, lesson)
    try:
        names = _names(home, folder)
        chosen, note = _only_zip(names), ""
        if not chosen:
            chosen, note = choose(names)
        opened = open_beneath(home, Path(folder, chosen), FILE)
        content = taken(opened, chosen, limits.notebook_bytes)
        if is_zip(chosen):
            content, note = notebook_in(content, chosen, choose, limits)
        return Submission(student, without_outputs(content, limits), note)
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


def choice(lesson: str, names: list[str]) -> tuple[str, str]:
    """Which of the notebooks among some files is graded, and what the student should know of that.

    Raises:
        Unreadable: none is.
    """
    wanted = f"{lesson}.ipynb"
    others = [name for name in names if is_notebook(name) and name != wanted and "/" not in name]
    listed = ", ".join(few([f"`{short(name)}`" for name in others]))
    are = "is" if len(others) == 1 else "are"
    if wanted in names:
        return wanted, f"Only `{wanted}` is graded, and {listed} {are} not." if others else ""
    if len(others) == 1 and is_named(others[0], lesson):
        return others[0], f"{listed} was taken for `{wanted}`."
    if not others:
        there = [f"`{short(name)}`" for name in names if name not in BESIDE]
        found = f"What is there: {', '.join(few(there))}." if there else "Nothing is there."
        raise Unreadable(
            f"There is no `{wanted}`, nor any other notebook. {found} Hand in `{wanted}` itself."
        )
    of_others = [slug for slug in slugs() if len(others) == 1 and is_named(others[0], slug)]
    if of_others:
        raise Unreadable(f"There is no `{wanted}`; {listed} is named as the one of {of_others[0]}.")
    which = "it" if len(others) == 1 else "the one that is to be graded"
    raise Unreadable(f"There is no `{wanted}`, but there {are} {listed}: rename {which}.")


def _only_zip(names: list[str]) -> str:
    """The zip that stands for a notebook, '' where there is a notebook or not one zip."""
    zips = [name for name in names if is_zip(name)]
    return zips[0] if len(zips) == 1 and not any(map(is_notebook, names)) else ""


def _names(home: Path, folder: str) -> list[str]:
    """What is in a folder of a student's, hidden files aside.

    Where that is no notebook and no zip, what is in the folders inside it as well.
    """
    descriptor = open_beneath(home, Path(folder), FOLDER)
    try:
        names = sorted(name for name in os.listdir(descriptor) if not name.startswith("."))
    finally:
        os.close(descriptor)
    return names if any(map(is_notebook, names)) or _only_zip(names) else below(home / folder)
