"""What is said of a mistake: Markdown, a section for each slug.

    ## no-scale
    The scores are not scaled, …

    **Try** Divide the scores by √d_k before softmax.

What only one lesson says stands in its own `mistakes.md`, and what all may say in the one beside
this module. A paragraph is one line. A title, and an introduction, may come before the first
section.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

CHECKS = Path(__file__).parent
LESSONS = CHECKS.parent / "lessons"

_SECTION = re.compile(r"^## +(.*)$", re.MULTILINE)
_SAID = re.compile(r"(\S.*)\n\n\*\*Try\*\* (\S.*)")
_CHOICE = re.compile("«([^«»]*)»")


class Words(NamedTuple):
    """Why something is wrong, and one thing to try."""

    reason: str
    remedy: str

    def about(self, *names: str) -> Words:
        """The same, with names for {0}, {1}."""
        return Words(self.reason.format(*names), self.remedy.format(*names))


def words(slug: str, lesson: str) -> Words:
    """What a lesson says of a mistake.

    Raises:
        LookupError: neither the lesson's own file nor the shared one has a section for it.
    """
    if slug not in known(lesson):
        own, shared = of_lesson(lesson), CHECKS / "mistakes.md"
        raise LookupError(f"{slug} has no words: neither {own} nor {shared} has a section for it")
    return known(lesson)[slug]


@cache
def known(lesson: str) -> dict[str, Words]:
    """All that a lesson may say: its own words before those that are shared."""
    own = of_lesson(lesson)
    return read(CHECKS / "mistakes.md") | (read(own) if own.is_file() else {})


def of_lesson(lesson: str) -> Path:
    """Where a lesson's own words are: the folder of '03-numpy' is called numpy."""
    return LESSONS / lesson.partition("-")[2].replace("-", "_") / "mistakes.md"


@cache
def read(path: Path) -> dict[str, Words]:
    """The sections of a file, by slug.

    Raises:
        ValueError: a section has another form, or there are two for one slug.
    """
    _, *parts = _SECTION.split(path.read_text(encoding="utf-8"))
    found: dict[str, Words] = {}
    for slug, text in zip(parts[::2], parts[1::2], strict=True):
        said = _SAID.fullmatch(text.strip())
        if not said:
            raise ValueError(f"{path}: {slug} is not a line that says why, and one with **Try**")
        if slug in found:
            raise ValueError(f"{path}: {slug} stands there twice")
        found[slug] = Words(*said.groups())
    return found


def spoken(text: str, stage: str) -> str:
    """A text in the words of a stage: of «lists|arrays|tensors» one is said.

    Where there are two, as in «lists and arrays|tensors», the first is for both.
    """

    def chosen(found: re.Match[str]) -> str:
        options = found[1].split("|")
        return options[{"pure": 0, "numpy": len(options) - 2, "torch": -1}[stage]]

    return _CHOICE.sub(chosen, text)
