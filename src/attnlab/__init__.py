"""attnlab: what the lessons import.

    from attnlab import begin, check, figures, quiz

`begin("01-soft-lookup")` opens a lesson, `check(function)` checks an exercise, `figures` draws,
`quiz("recall")` asks, `summary()` sums a lesson up, `solution("softmax")` helps who is stuck.
Everything is loaded when it is first used, so that a pure-Python lesson starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnlab import figures
    from attnlab.home.stuck import solution
    from attnlab.home.summary import summary
    from attnlab.lesson import begin, quiz
    from attnlab.notebook import check

    __version__: str

__all__ = ["begin", "check", "figures", "quiz", "solution", "summary"]

_HOMES = {
    "begin": "attnlab.lesson",
    "check": "attnlab.notebook",
    "quiz": "attnlab.lesson",
    "solution": "attnlab.home.stuck",
    "summary": "attnlab.home.summary",
}


def __getattr__(name: str) -> Any:
    if name == "figures":
        return import_module("attnlab.figures")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "__version__":
        return import_module("attnlab.version").version()
    raise AttributeError(f"attnlab has no {name!r}; it has {', '.join(__all__)}")
