"""What a child of each stage is shown: which libraries there are, and where Python keeps them.

Stage by absence: in a pure child there is no NumPy to import, in a numpy child no torch. That holds
because `/site` in the child has these packages and no others, and because every other folder of
packages on the way is masked.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from importlib.machinery import PathFinder
from pathlib import Path

from autograder.sandbox.child.view import ADAPTER, SCRATCH, SITE, View

STAGES: dict[str, tuple[str, ...]] = {"pure": (), "numpy": ("numpy",), "torch": ("torch", "numpy")}

# Imported before a child is forked, so that no child pays for it.
STANDARD = (
    "bisect", "collections.abc", "contextlib", "copy", "dataclasses", "decimal", "enum",
    "fractions", "functools", "heapq", "inspect", "io", "itertools", "json", "math", "operator",
    "pprint", "random", "re", "statistics", "string", "textwrap", "time", "timeit", "traceback",
    "types", "typing", "warnings",
)  # fmt: skip
IMPORTS: dict[str, tuple[str, ...]] = {
    "pure": STANDARD,
    "numpy": (*STANDARD, "numpy", "numpy.linalg", "numpy.random"),
    "torch": (
        *STANDARD,
        "numpy",
        "torch",
        "torch.nn",
        "torch.nn.functional",
        "torch._dynamo",  # which torch.func and forward mode load, for most of a second
    ),
}
PACKAGE_FOLDERS = ("site-packages", "dist-packages")
SYSTEM_FOLDERS = ("/lib", "/lib32", "/lib64", "/usr/lib32", "/usr/lib64")
STORES = ("/nix/store", "/gnu/store")  # where some systems keep every library


class NotInstalled(Exception):
    """A library that a stage is made of cannot be found."""


def view_of(stage: str, adapter: Mapping[str, str | Path]) -> View:
    """What a child of a stage is shown.

    Args:
        stage: 'pure', 'numpy' or 'torch'.
        adapter: what /adapter holds, by path in it.
    Raises:
        NotInstalled: the stage needs a library that is not there.
    """
    shown, links, masked = _python()
    return View(
        shown=shown,
        links=links,
        masked=masked,
        packages=packages(STAGES[stage]),
        adapter={name: os.fspath(file) for name, file in adapter.items()},
        path=[entry for entry in sys.path if _is_standard(entry)],
    )


@functools.cache
def packages(names: tuple[str, ...]) -> dict[str, str]:
    """Folders and modules of some distributions and of all that they require, by name."""
    found: dict[str, str] = {}
    todo, done = list(names), set()
    while todo:
        name = todo.pop()
        if (key := _normal(name)) in done:
            continue
        done.add(key)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if name in names:
                raise NotInstalled(f"{name} is not installed: pip install {name}") from None
            continue  # required on other systems only, or left out on purpose
        found |= _top_level(distribution)
        for requirement in distribution.requires or ():
            needed, _, condition = requirement.partition(";")
            if "extra" not in condition:
                todo.append(re.split(r"[\s\[(<>=!~]", needed.strip())[0])
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _top_level(distribution: importlib.metadata.Distribution) -> dict[str, str]:
    tops = {file.parts[0] for file in distribution.files or ()}
    tops -= {"..", "__pycache__", "bin"}
    found = {top: str(distribution.locate_file(top)) for top in tops}
    if not found:  # some systems keep no list of a package's files
        name = distribution.metadata["Name"]
        spec = PathFinder.find_spec(_normal(name).replace("-", "_"))
        if spec is None or spec.origin is None:
            raise NotInstalled(f"{name} is installed, but its files cannot be found")
        origin = Path(spec.origin)
        place = origin.parent if spec.submodule_search_locations else origin
        found = {place.name: os.fspath(place)}
    return {top: path for top, path in found.items() if not top.endswith(".pth")}


@functools.cache
def _python() -> tuple[list[str], dict[str, str], list[str]]:
    """Folders that Python and its shared libraries need; links among them; what to mask there."""
    folders = [entry for entry in sys.path if _is_standard(entry)]
    if sys.base_prefix != "/usr":
        folders.append(os.path.join(sys.base_prefix, "lib"))
    multiarch = sysconfig.get_config_var("MULTIARCH") or "none"
    debian = f"/usr/lib/{multiarch}"
    # Where libraries have a folder of their own, a child does not need the rest of /usr/lib.
    folders.append(debian if os.path.isdir(debian) else "/usr/lib")
    links = {folder: os.readlink(folder) for folder in SYSTEM_FOLDERS if os.path.islink(folder)}
    folders += [folder for folder in SYSTEM_FOLDERS if folder not in links]
    folders += [store for store in STORES if sys.base_prefix.startswith(store)]
    shown = _outermost(os.path.normpath(f) for f in folders if os.path.isdir(f))
    if any(_is_below(folder, place) for folder in shown for place in (SCRATCH, ADAPTER, SITE)):
        raise NotInstalled(f"Python must not be installed in {SCRATCH}: a child has its own there")
    masked = [found for folder in shown for found in _package_folders(folder)]
    if os.path.exists("/etc/ld.so.cache"):
        shown.append("/etc/ld.so.cache")
    return shown, links, masked


def _is_standard(entry: str) -> bool:
    """Whether an entry of sys.path is the standard library's."""
    parts = Path(entry).parts
    return (
        os.path.isabs(entry)
        and _is_below(entry, os.path.normpath(sys.base_prefix))
        and not any(folder in parts for folder in PACKAGE_FOLDERS)
        and (parts[-1] == "lib-dynload" or os.path.exists(os.path.join(entry, "os.py")))
    )


def _outermost(folders: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for folder in sorted(folders):
        if not any(_is_below(folder, other) for other in kept):
            kept.append(folder)
    return kept


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _package_folders(folder: str) -> list[str]:
    found = []
    for place, folders, _ in os.walk(folder):
        for name in [name for name in folders if name in PACKAGE_FOLDERS]:
            found.append(os.path.join(place, name))
            folders.remove(name)
    return found
