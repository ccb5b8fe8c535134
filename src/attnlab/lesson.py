"""Beginning a lesson: what it needs, and which one `check` is about."""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
import re
import sys

LESSONS = {
    "01-soft-lookup": "A dictionary you can differentiate",
    "02-pure-python": "Every index visible",
    "03-numpy": "One einsum per arrow",
    "04-scaling": "Why √d_k",
    "05-pytorch": "Batched, with gradients",
    "06-causal-mask": "No looking ahead",
}
PLANNED = (
    "07-multi-head",
    "08-cross-attention",
    "09-position",
    "10-training",
    "11-cost",
    "12-gpu-sdpa",
)
PYTHON = (3, 11)
# Import name, distribution and the oldest version that the course is tested to work with.
NEEDED = {"numpy": ("numpy", (1, 26)), "torch": ("torch", (2, 5))}
SHOWN = {"matplotlib": ("matplotlib", (3, 8))}

_current = ""


def begin(slug: str) -> str:
    """Begin a lesson: look for what it needs, and let `check` know which lesson this is.

    Args:
        slug: '01-soft-lookup'.
    Returns:
        One line to read: ready, or what is missing and the command that mends it.
    """
    global _current
    if slug not in LESSONS:
        return absent(slug)
    _current = slug
    problem = missing_for_checks() or _first_problem(SHOWN)
    return problem or f"Lesson {slug} is ready: {LESSONS[slug]}."


def current() -> str:
    """Slug of the lesson that was begun last, '' if none was."""
    return _current


def slugs() -> tuple[str, ...]:
    """All lessons, in their order."""
    return tuple(LESSONS)


def absent(name: str) -> str:
    """What to say to a name that is no lesson's: which one is meant, as far as that can be told."""
    meant = _meant(str(name))
    if meant in PLANNED:
        said = f"Lesson {meant} is planned and not there yet."
    else:
        said = f"There is no lesson {name!r}." + (f" Do you mean {meant}?" if meant else "")
    return f"{said} The lessons are {', '.join(LESSONS)}."


def _meant(name: str) -> str:
    """The lesson whose number or words these are, else one that is spelled alike, else ''."""
    words = re.findall(r"[^\W\d_]+|[0-9]+", name.lower())
    wanted = "-".join(word.zfill(2) if word.isdigit() else word for word in words)
    lessons = [*LESSONS, *PLANNED]
    [first, *others] = [slug for slug in lessons if wanted in slug or slug in wanted] or [""]
    if first and not others:
        return first
    return next(iter(difflib.get_close_matches(wanted, lessons, 1, 0.5)), "")


def missing_for_checks() -> str:
    """What keeps checks from running and the command that mends it, '' if nothing does."""
    if sys.version_info < PYTHON:
        wanted = ".".join(map(str, PYTHON))
        return (
            f"This course needs Python {wanted} or newer, and this is {sys.version.split()[0]}. "
            f"Install a newer Python, then set up the course again as its README says."
        )
    return _first_problem(NEEDED)


def _first_problem(needed: dict[str, tuple[str, tuple[int, int]]]) -> str:
    for module, (distribution, oldest) in needed.items():
        wanted = ".".join(map(str, oldest))
        mend = f'Mend it with: {sys.executable} -m pip install "{distribution}>={wanted}"'
        if importlib.util.find_spec(module) is None:
            return f"The package {distribution} is missing. {mend}"
        version = importlib.metadata.version(distribution)
        found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if found < oldest:
            return f"{distribution} {version} is too old; {wanted} or newer is needed. {mend}"
    return ""
