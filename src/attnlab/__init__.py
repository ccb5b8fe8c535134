"""attnlab: what the lessons import.

    from attnlab import begin, check, figures, quiz

`begin("01-soft-lookup")` opens a lesson, `check(function)` checks an exercise, `figures` draws,
`quiz("recall")` asks, `summary()` sums a lesson up, `solution("softmax")` helps who is stuck.
Everything is loaded when it is first used, so that a pure-Python lesson starts at once.

One answer's way through the folders, each of which opens with a page like this one: a learner's
cell says `check(softmax)`, and `notebook` finds the exercise by the list of `lessons`. What was
declared there becomes cases, calls and a verdict in `checks`; `calling` makes each call and writes
down what came of it. The card is shown, and `work` notes it, where `home` reads it, which also
makes the zip to hand in. `autograder.term` takes an LMS's archive of these apart; `ipynb` reads a
notebook and puts it right; then `autograder.run` does the same with `checks` and `calling`, each on
its side of a wall, and `autograder.gradebook` writes the points. Imports go one way:
`tests/test_house.py` draws them.
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
