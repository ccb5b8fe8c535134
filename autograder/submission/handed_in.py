"""Who is in a class, and what each of them handed in.

Learners choose the names and the kinds of what lies in their folders. What of it counts, and how it
is opened, `attnlab.ipynb.handed_in` says; whatever is wrong with it is that student's result, and
nobody else's trouble.
"""

from __future__ import annotations

import difflib
import errno
import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from attnlab.ipynb.handed_in import in_folder, in_nfc
from attnlab.ipynb.read import Unreadable, without_outputs
from attnlab.ipynb.words import few, short
from autograder import Problem, Usage
from autograder.sandbox.limits import Limits
from autograder.submission import timestamps
from autograder.submission.folder import Submission, small_files

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
    try:
        content, note = in_folder(home, folder, lesson, limits)
        return Submission(home.name, without_outputs(content, limits), note)
    except Unreadable as none:
        return Submission(home.name, none)
    except OSError as error:
        if error.errno in _OURS:
            raise Problem(f"Cannot open submissions: {error.strerror}. Close programs.") from error
        reason = f"The submission cannot be opened: {os.strerror(error.errno or 0)}."
        return Submission(home.name, Unreadable(reason))
