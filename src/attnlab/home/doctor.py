"""`attnlab doctor`: what is wrong with an installation, and the command that mends it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from attnlab.home.copies import Amiss, own_copy
from attnlab.home.report import aside, problems
from attnlab.ipynb.files import unwritable, writable
from attnlab.ipynb.read import Unreadable
from attnlab.lesson import PYTHON
from attnlab.lessons import slugs
from attnlab.version import is_known, version
from attnlab.work.places import PACKAGED, Course, lesson_path
from attnlab.work.progress import read

NEEDED = ("torch", "numpy", "matplotlib", "anywidget", "jupyterlab", "ipykernel", "nbclient")
SECONDS = 120  # for a first import of PyTorch on a slow disk


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        what: was looked at, and how it is.
        mend: the command or the step that puts it right, '' if all is well.
    """

    what: str
    mend: str = ""


def findings(course: Course) -> Iterator[Finding]:
    """All that is looked at, in the order in which it is worth mending."""
    looks: tuple[Callable[[Course], Iterator[Finding]], ...] = (
        python,
        release,
        package,
        packages,
        torch,
        kernel,
        lessons,
        writing,
        progress,
    )
    for look in looks:
        yield from look(course)


def python(course: Course) -> Iterator[Finding]:
    version = sys.version.split()[0]
    wanted = ".".join(map(str, PYTHON))
    if sys.version_info < PYTHON:
        yield Finding(f"Python {version}; {wanted} or newer is needed", "install a newer Python")
    else:
        yield Finding(f"Python {version}")
    if sys.prefix == sys.base_prefix and "CONDA_PREFIX" not in os.environ:
        yield Finding(f"no virtual environment: this is {sys.prefix}, which other programs use")


def release(course: Course) -> Iterator[Finding]:
    """Which version of the course this is, if it can be told."""
    if is_known(now := version()):
        yield Finding(f"attnlab {now}")
    else:
        yield Finding(
            "attnlab, of a version that cannot be told: whether your copies are of a newer one is "
            "not looked at (in a clone, `git fetch --tags` brings the names of versions)"
        )


def package(course: Course) -> Iterator[Finding]:
    """Whether the package that is installed is the one that came with this folder, in a wheel."""
    text = course.text(course.root / "requirements.txt")
    if wheel := re.search(r"^\./attnlab-([^-\s]+)-", text, re.MULTILINE):
        found = importlib.metadata.version("attnlab")
        if found != wheel[1]:
            mend = f"cd {shlex.quote(str(course.root))}; {_python()} -m pip install "
            what = f"attnlab {found} is installed, and this folder is of attnlab {wheel[1]}"
            yield Finding(what, f"{mend}-r requirements.txt")


def packages(course: Course) -> Iterator[Finding]:
    """What is missing, and what is of another version than the course is tested with."""
    lists = [course.text(course.root / f"{name}.txt") for name in ("constraints", "requirements")]
    pinned = dict(re.findall(r"^([\w.-]+)==([\w.]+)", lists[0] or lists[1], re.MULTILINE))
    wrong = []
    for name in NEEDED:
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = f"=={pinned[name]}" if name in pinned else ""
            yield Finding(f"{name} is missing", f'{_python()} -m pip install "{name}{version}"')
            continue
        if name in pinned and found.partition("+")[0] != pinned[name]:
            wrong.append(f"{name} {found}, tested with {pinned[name]}")
    if wrong:
        yield Finding(
            f"other versions than the course is tested with, which may do: {'; '.join(wrong)}"
        )
    else:
        yield Finding("packages are those that the course is tested with")


def torch(course: Course) -> Iterator[Finding]:
    """Whether PyTorch can be loaded, in a process of its own: a broken one may end it."""
    if importlib.util.find_spec("torch") is None:
        return  # said already
    code = "import torch; print(torch.ones(2) @ torch.ones(2))"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS
        )
        said = done.stderr.strip().splitlines()
        why = "" if done.returncode == 0 else (said[-1] if said else f"status {done.returncode}")
    except subprocess.TimeoutExpired:
        why = f"it did not load within {SECONDS} seconds"
    if why:
        command = f"{_python()} -m pip install --force-reinstall torch"
        yield Finding(f"PyTorch does not work: {why}", command)
    else:
        yield Finding("PyTorch loads and computes")


def kernel(course: Course) -> Iterator[Finding]:
    """Whether a notebook's kernel is this very Python."""
    if importlib.util.find_spec("jupyter_client") is None:
        return
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    mend = f"{_python()} -m ipykernel install --sys-prefix"
    try:
        command = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        yield Finding("there is no kernel for Python in Jupyter", mend)
        return
    # Jupyter takes its own Python for a name without a folder.
    unplaced = command in ("python", "python3", "python.exe")
    if unplaced or Path(command).parent.absolute() == Path(sys.executable).parent.absolute():
        yield Finding("notebooks run in this Python")
    else:
        yield Finding(f"notebooks run in another Python: {command}", mend)


def lessons(course: Course) -> Iterator[Finding]:
    """Whether what was handed out is whole, and what a learner has of it."""
    copied, looked_at = course.state.is_dir(), 0
    for slug in slugs():
        if PACKAGED.is_dir() and not (course.released / lesson_path(slug)).exists():
            continue  # a hand-out may have some lessons alone
        looked_at += 1
        try:
            course.handed_out(slug)
        except Unreadable as why:
            mend = "git checkout notebooks, or unpack the course again over this folder"
            yield Finding(f"notebooks/{slug} cannot be read: {why}", mend)
            continue
        try:
            if copied:
                own_copy(course, slug)
        except Amiss as why:
            away = aside(course, course.notebook(slug))
            yield Finding(str(why), "; ".join(filter(None, (away, "attnlab update"))))
    yield Finding(f"{looked_at} lessons were looked at")


def writing(course: Course) -> Iterator[Finding]:
    """Whether files can be made where they have to be."""
    if not course.state.is_dir():
        yield Finding("you have no copies of the lessons yet", "attnlab update")
        return
    for folder in (course.work, course.state):
        if error := unwritable(folder):
            why = f"nothing can be written in {folder}: {error.strerror}"
            yield Finding(why, writable(folder, error))
        else:
            yield Finding(f"{folder.name} can be written in")


def progress(course: Course) -> Iterator[Finding]:
    """Whether progress is kept, and what of it can be read."""
    told = [Finding(*each) for each in problems(course, read(course))]
    yield from told or [Finding("progress can be read")]


def _python() -> str:
    return shlex.quote(sys.executable)
