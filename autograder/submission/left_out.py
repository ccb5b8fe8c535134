"""What lies among the submissions and is not graded: everything there, by name, with the reason.

Learners chose the names, and an LMS the folders. Nothing is opened, and no link is followed.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from attnlab.ipynb.handed_in import below, in_nfc, is_notebook
from attnlab.ipynb.words import few, short
from attnlab.lessons import lesson as lesson_named
from attnlab.lessons import slugs

TWICE = "handed in under several spellings of one name, this is {}: keep one of them"
OTHERWISE = "another spelling of {}, who is graded; this is {}: keep one of them, or rename this"


def left_out(submitted: Path, lesson: str, graded: Collection[str]) -> dict[str, str]:
    """Why each entry that is not graded is not; '' for who has other lessons alone.

    Args:
        graded: names of the folders that are.
    """
    try:
        with os.scandir(submitted) as entries:
            others = [entry for entry in entries if entry.name not in graded]
    except OSError:
        return {}
    return {
        entry.name: _why(entry, lesson, graded)
        for entry in sorted(others, key=lambda entry: entry.name)
        if not (entry.name.startswith(".") and entry.is_file(follow_symlinks=False))
    }


def _why(entry: os.DirEntry[str], lesson: str, graded: Collection[str]) -> str:
    folder, name = Path(entry.path), short(entry.name)
    if not entry.is_dir(follow_symlinks=False):
        return "it is no folder, and each student has one"
    try:
        os.listdir(folder)
    except OSError as error:
        return f"its folder cannot be opened ({error.strerror})"
    here = below(folder)
    if f"{lesson}/" in here:
        one = in_nfc(entry.name)
        told = OTHERWISE.format(ascii(one), ascii(entry.name))
        return told if one in graded else TWICE.format(ascii(entry.name))
    if not here:
        return "its folder is empty"
    former = [each for each in lesson_named(lesson).former if each not in slugs()]
    if called := [each for each in former if f"{each}/" in here]:
        return f"its {called[0]} is called {lesson} now. Run: python -m autograder rename"
    if meant := [name for name in here if lesson in Path(name).name.lower()]:
        meant.sort(key=lambda name: not is_notebook(Path(name).name))
        whose = "STUDENT" if entry.name in slugs() else name
        place = f"{whose}/{lesson}/" + f"{lesson}.ipynb" * is_notebook(meant[0])
        return f"move its {short(meant[0])} to {place}"
    strange = [path for path in here if "/" not in path[:-1] and path[:-1] not in slugs()]
    listed = ", ".join(few([short(path) for path in strange]))
    return f"it holds {listed}, and nothing of {lesson}" if strange else ""
