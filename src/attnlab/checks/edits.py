"""A mistake is an edit: what is right is written once, and a mistake says what it has instead.

`edited(summed, "a + b -> a - b")` is the function that `summed` would be with the one text in the
place of the other. A text that does not stand there exactly once is an error when the module is
loaded, so no edit outlives what it edits. Several edits of one text are parted by `; `.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

Formula = Callable[..., Any]
Way = str | Formula  # an edit, or what stands for itself


@cache
def text_of(original: Formula) -> str:
    """The text of a function or class, without its decorators."""
    source = textwrap.dedent(inspect.getsource(original))
    [node] = ast.parse(source).body
    return "".join(source.splitlines(keepends=True)[node.lineno - 1 :])


def edited(original: Formula, edit: str) -> Any:
    """A function or class, with parts of its text exchanged: "old -> new; old -> new"."""
    text = text_of(original)
    for each in edit.split("; "):
        old, _, new = each.partition(" -> ")
        if text.count(old) != 1:
            raise ValueError(f"{original.__name__} has {old!r} {text.count(old)} times, not once")
        text = text.replace(old, new)
    where = f"<{original.__module__}.{original.__name__}: {edit}>"
    linecache.cache[where] = len(text), None, text.splitlines(keepends=True), where
    made: dict[str, Any] = {}
    exec(compile(text, where, "exec"), vars(sys.modules[original.__module__]), made)
    return made[original.__name__]


def edits(
    original: Formula, mistakes: Mapping[str, Way | tuple[Way, ...]]
) -> dict[str, tuple[Formula, ...]]:
    """An exercise's mistakes, each by its edits; a function among them stays as it is."""
    return {
        slug: tuple(
            edited(original, way) if isinstance(way, str) else way
            for way in (ways if isinstance(ways, tuple) else (ways,))
        )
        for slug, ways in mistakes.items()
    }
