"""Names and texts that somebody else chose, safe to print or to show, names in a line at most."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Browsers add .json or .txt to what they save, and a number where there is one of the name.
_NOTEBOOK = re.compile(
    r"(?!\.)(.+)\.ipynb(?:(?: ?\(\d+\)|-\d+)?\.(?:json|txt))?", re.IGNORECASE | re.DOTALL
)
_START, _END = 50, 25  # characters of a long name
# For the head of a page that shows such texts: whatever got through runs, loads and sends nothing.
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
)
CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 160)], "\ufffd")


def stem(name: str) -> str:
    """What a notebook's file is called without its ending; '' if it is not named as one.

    Hidden files are editors' and archives' own.
    """
    found = _NOTEBOOK.fullmatch(name)
    return found[1] if found else ""


def printable(name: str) -> str:
    """A name that a learner chose, safe to print: no newline, no escape sequence."""
    return name if name.isprintable() else ascii(name)[1:-1]


def short(name: str) -> str:
    """A name or a text that a learner chose, safe to print, and of no more than a line."""
    if len(name) > _START + _END:
        name = f"{name[:_START]}…{name[-_END:]}"
    return printable(name)


def few(items: Sequence[str], most: int = 5) -> list[str]:
    """The first few, and how many more there are: of what learners chose there may be any."""
    more = len(items) - most
    return [*items[:most], f"and {more:,} more"] if more > 1 else [*items]


def plain(text: str) -> str:
    """Text of several lines, safe to print on a terminal: no escape sequence in it."""
    return "\n".join(printable(line) for line in text.expandtabs(4).split("\n"))
