"""Where notebook, checks and gradebook disagree on points or exercises: how one goes on from there.

Nothing is graded until they agree: half a class would have the one points, and half the others.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from sqlalchemy.engine import make_url

from attnlab.ipynb.read import Unreadable, read
from attnlab.lessons import name_of
from autograder import Disagree
from autograder.gradebook.course import Course
from autograder.pages.summary import from_here
from autograder.submission.lessons import points_in


def ways_on(course: Course, lesson: str, found: Disagree) -> str:
    """What to type, to keep the release that there was or to grade by the notebook as it is."""
    notebook, grade = course.released(lesson), f"python -m autograder grade {lesson}"
    folder = quote(str(from_here(notebook.parent)))
    commit = _commit_with(notebook, found.points)
    if found.of_gradebook:
        whose, back, again = "gradebook is", f"git switch --detach {commit}", grade
        follow = "To grade everyone by this notebook; an exercise that is gone takes along what a "
        follow += "person set in it:"
        first = _copy(course.directory.db_url)
    else:
        whose, back = "checks are", f"git checkout {commit} -- {folder}"
        again = f"{grade} --regrade"
        file = f"src/attnlab/lessons/{name_of(lesson)}/exercises.py"
        follow = f"To grade by this notebook, give {file} its exercises and points, then:"
        first = "make release"
    if not commit:
        back = f"# put {folder} back as it was; what `make release` replaced is in build/"
    keep = f"To keep the release that the {whose} for:"
    return "\n".join(map("\n  ".join, ([keep, back, again], [follow, first, f"{grade} --regrade"])))


def _copy(address: str) -> str:
    url = make_url(address)
    if url.get_backend_name() != "sqlite" or not url.database:
        return "# first, a copy of the gradebook"
    path = quote(str(from_here(Path(url.database))))
    return f"cp {path} {path}.before"


def _commit_with(notebook: Path, points: Mapping[str, float]) -> str:
    """The latest commit in which a released notebook has these points, '' if git knows of none."""

    def git(*arguments: str) -> bytes:
        command = ["git", *arguments]
        return subprocess.run(command, cwd=notebook.parent, capture_output=True, check=True).stdout

    try:
        for commit in git("log", "-n100", "--format=%h", "--", notebook.name).decode().split():
            try:
                if points_in(read(git("show", f"{commit}:./{notebook.name}"))) == points:
                    return commit
            except (Unreadable, subprocess.CalledProcessError):  # it is not there in that commit
                continue
    except (OSError, subprocess.CalledProcessError):  # no git, or no repository
        pass
    return ""
