"""Which version of the course this is.

A clone asks git each time it runs, so that a pull is seen without an install; a wheel knows its
own. A version is known from 0.1.0 on: a clone without a version's tag, as a shallow one is, and a
tree without git say less.
"""

from __future__ import annotations

import tomllib
import warnings
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

FIRST = "0.1.0"
UNKNOWN = "0.0"
ROOT = Path(__file__).resolve().parents[2]


@cache
def version() -> str:
    """As PEP 440 has it: '0.2.0', '0.2.1.dev3+g1234abcd' three commits later."""
    if (ROOT / ".git").exists():
        # not installed, or git is not; it tells nothing; a tag's name is no version
        with suppress(ImportError, OSError, ValueError, LookupError):
            return _of_clone(ROOT)
    with suppress(metadata.PackageNotFoundError):
        return metadata.version("attnlab")
    return UNKNOWN


def _of_clone(root: Path) -> str:
    from setuptools_scm import get_version

    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a clone is shallow, which `is_known` tells
        return get_version(root, **tomllib.loads(text)["tool"]["setuptools_scm"])


def is_known(name: str) -> bool:
    """Whether it can be compared with others."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(name) >= Version(FIRST)
    except InvalidVersion:
        return False


def is_newer(name: str, than: str) -> bool:
    """Whether both are known, and the first is newer; which build it is does not count."""
    from packaging.version import Version

    public = [Version(Version(each).public) for each in (name, than) if is_known(each)]
    return len(public) == 2 and public[0] > public[1]
