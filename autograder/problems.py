"""What stops a whole run, as opposed to what is wrong with one learner's notebook.

Each carries a sentence for a person: what was wrong, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence


class Usage(Exception):
    """The command asks for something that is not there."""


class Problem(Exception):
    """The machine, the course's files or the cluster cannot do it."""


def plain(text: str) -> str:
    """Text of several lines, safe to print on a terminal: no escape sequence in it."""
    return "\n".join(printable(line) for line in text.expandtabs(4).split("\n"))


def printable(name: str) -> str:
    """A name that a learner chose, safe to print: no newline, no escape sequence."""
    return name if name.isprintable() else ascii(name)[1:-1]


def listed(items: Sequence[str], most: int = 5, separator: str = ", ") -> str:
    """The first few, and how many there are besides."""
    more = [f"and {len(items) - most} more"] if len(items) > most else []
    return separator.join([*items[:most], *more])
