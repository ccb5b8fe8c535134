"""The end of a term: a class put away, together with all that graded it.

`class/course/` gets the course as it stands, whatever is committed of it or not: `course.tar.gz`,
made by git without a commit or a change to its index; settings and the rule for late hand-ins once
more, to be read as they are; and `course.txt`, which says which version that is, what was changed
since, and what was graded by other code than this. Then the folder gets a name of its own.
"""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attnlab.ipynb.files import NotWritten
from attnlab.ipynb.words import few, printable
from attnlab.version import version
from autograder import Problem, Usage
from autograder.gradebook.course import Course
from autograder.pages.summary import from_here
from autograder.run import code
from autograder.run.history import journals, read
from autograder.run.lock import sole_grader
from autograder.submission.lessons import solution_text

FOLDER, TREE, TOLD = "course", "course.tar.gz", "course.txt"
LARGEST = 10_000_000  # bytes of a file that git does not know yet: larger is data, no course


def archive(course: Course, name: str) -> Iterator[str]:
    """Put the class away as `class-<name>`; a line for what was done.

    Raises:
        Usage: the name is none, or taken.
        Problem, NotWritten: it cannot be done; the class is where it was.
    """
    home = course.submitted(".", ".").parent
    if not name.isprintable() or name in ("", "..") or Path(name).name != name:
        raise Usage(f"{printable(name)!r} is no name for an archive. One is: 2026-spring")
    target = home.with_name(f"{home.name}-{name}")
    if target.exists():
        raise Usage(f"{from_here(target)} is there. Choose another name.")
    if not home.is_dir():
        raise Usage(f"There is no class: no folder {from_here(home)}.")
    with sole_grader(home / "runs" / "lock", "this class", _say):
        folder = home / FOLDER
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            left = _tree(Path.cwd(), folder / TREE)
            for path in _settings(course):
                place = "" if path.parent.resolve() == Path.cwd() else path.parent.name.strip(".")
                shutil.copy(path, folder / "-".join(filter(None, [place, path.name])))
            told = [*_told(Path.cwd()), *left, *_graded(course)]
            (folder / TOLD).write_text("\n".join(told) + "\n", encoding="utf-8")
            yield from told
            home.rename(target)
        except OSError as error:
            raise NotWritten(folder, error) from error
    yield f"{from_here(home)} is {from_here(target)} now, with all that graded it in {FOLDER}/."


def _tree(root: Path, path: Path) -> list[str]:
    """Write the course's files as they stand, changed ones and new ones too; what was left out.

    Raises:
        Problem: git cannot tell them.
    """
    with tempfile.TemporaryDirectory() as scratch:
        own = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        if _git(root, "rev-parse", "--show-toplevel", **own) != str(root.resolve()):
            raise Problem(f"{root} is no clone of its own: git does not know the course in it.")
        _git(root, "read-tree", "HEAD", **own)
        _git(root, "add", "--update", ".", **own)
        new = _git(root, "ls-files", "-z", "--others", "--exclude-standard", **own).split("\0")
        large = [each for each in filter(None, new) if (root / each).lstat().st_size > LARGEST]
        small = [each for each in filter(None, new) if each not in large]
        if small:
            _git(root, "--literal-pathspecs", "add", "--", *small, **own)
        tree = _git(root, "write-tree", **own)
        _git(root, "archive", "--prefix=course/", f"--output={path}", tree, **own)
    return [f"Left out, as too large: {printable(', '.join(few(large)))}"] if large else []


def _settings(course: Course) -> list[Path]:
    """nbgrader's settings, those of the person's own too, and the rule for late hand-ins."""
    found = list(map(Path, course.directory.parent.loaded_config_files))
    rule = type(course.penalties)
    if course.penalties and not rule.__module__.startswith("nbgrader."):
        with suppress(TypeError):  # it stands in the settings
            found.append(Path(inspect.getfile(rule)))
    return found


def _told(root: Path) -> Iterator[str]:
    """Which course this is."""
    yield f"attnlab {version()}, commit {_git(root, 'rev-parse', 'HEAD')}"
    if changed := _git(root, "status", "--short", "--untracked-files=all").splitlines():
        yield "Changed since that commit, or not in it:"
        yield from changed


def _graded(course: Course) -> Iterator[str]:
    """For each lesson how many were graded last, and how many of them not as it would be now."""
    now = code.digest()
    for path in journals(course):
        lesson = path.parent.name
        digests = {
            "code": now,
            "released": code.of_notebook(solution_text(course.released(lesson))),
            "solution": code.of_notebook(solution_text(course.solution(lesson))),
        }
        last = {line["folder"]: line for line in read(path)}
        other = [
            line
            for line in last.values()
            if any(line.get(name, digest) != digest for name, digest in digests.items())
        ]
        said = f"{lesson}: {len(last)} graded"
        if other:
            newest = max(line.get("at") or line["begun"] for line in other)[:10]
            said += f", {len(other)} of them by checks or a lesson of before, last on {newest}"
        yield said


def _git(root: Path, *arguments: str, **environment: str) -> str:
    try:
        ran = subprocess.run(
            ["git", *arguments],
            cwd=root,
            env=os.environ | environment,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=True,
        )
    except FileNotFoundError:
        raise Problem("git is not installed, and the course's version is in it.") from None
    except subprocess.CalledProcessError as error:
        raise Problem(f"git does not tell which course this is: {error.stderr.strip()}") from None
    return ran.stdout.rstrip("\n\0")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
