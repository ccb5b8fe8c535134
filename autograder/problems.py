"""What stops a whole run, as opposed to what is wrong with one learner's notebook.

Each carries a sentence for a person: what was wrong, where, and what to do.
"""

from __future__ import annotations

from attnlab.ipynb.words import few as few
from attnlab.ipynb.words import printable as printable
from attnlab.ipynb.words import short as short


class Usage(Exception):
    """The command asks for something that is not there."""


class Problem(Exception):
    """The machine, the course's files or the cluster cannot do it."""


def plain(text: str) -> str:
    """Text of several lines, safe to print on a terminal: no escape sequence in it."""
    return "\n".join(printable(line) for line in text.expandtabs(4).split("\n"))
