"""What a running notebook knows of a function: its name, the cell it came from, what it calls."""

from __future__ import annotations

import contextlib
import linecache
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

from attnlab.calling.observe import type_name

_CHECKED = re.compile(r"\bcheck\(\s*(\w+)")


def name_of(function: object) -> str:
    """Its own name; that of its type if it has none. Raises nothing, whatever it is."""
    try:
        name = getattr(function, "__name__", "")
    except BaseException:  # an object may answer to any question with any error
        name = ""
    return name if type(name) is str and name else type_name(type(function))


def name_here(function: object, known: Collection[str]) -> str:
    """The one of these names that is this very object's in the notebook, '' if that says nothing.

    A lambda, a partial, or what a decorator without `functools.wraps` made has another `__name__`;
    and one function may have the names of two exercises.
    """
    names = vars(sys.modules["__main__"])
    bound = [name for name in known if name in names and names[name] is function]
    cells = _cells()
    asked = _CHECKED.findall(cells[-1]) if cells else []
    meant = [name for name in bound if name in asked]
    if len(meant) == 1:
        return meant[0]
    return bound[0] if len(bound) == 1 and name_of(function) not in known else ""


def newer_than(function: object, name: str) -> str:
    """The newest cell that defines this name, where it did not get as far as doing so; else ''.

    After a cell with an error in it, the name still means what an older cell has made of it.
    """
    defines = re.compile(rf"^(?:async )?(?:def|class) {re.escape(name)}\b", re.MULTILINE)
    defining = [cell for cell in _cells()[:-1] if defines.search(cell)]
    homes = {_plain("".join(linecache.getlines(code.co_filename))) for code in _codes(function)}
    known = bool(homes & set(map(_plain, defining)))
    return defining[-1] if known and _plain(defining[-1]) not in homes else ""


def called_by(function: object, known: Collection[str]) -> dict[str, Any]:
    """Functions of the notebook that this one calls by one of these names, and by others' ways."""
    names = vars(sys.modules["__main__"])
    found: dict[str, Any] = {}
    waiting = [function]
    while waiting:
        for code in _codes(waiting.pop()):
            for name in code.co_names:
                thing = names.get(name)
                if name not in found and _codes(thing) and thing is not function:
                    found[name] = thing
                    waiting.append(thing)
    return {name: thing for name, thing in found.items() if name in known}


@contextlib.contextmanager
def exchanged(functions: Mapping[str, Any]) -> Iterator[None]:
    """Put others in the place of a notebook's functions, in the block."""
    names = vars(sys.modules["__main__"])
    own = {name: names[name] for name in functions}
    names.update(functions)
    try:
        yield
    finally:
        names.update(own)


def _cells() -> list[str]:
    """Sources of all cells so far, as IPython keeps them; the last is the one that runs."""
    cells = vars(sys.modules["__main__"]).get("In")
    return [cell for cell in cells if type(cell) is str] if type(cells) is list else []


def _codes(thing: object) -> list[CodeType]:
    """The code of a function or of a class's methods, with that of what is defined inside."""
    if isinstance(thing, type) and thing.__module__ == "__main__":
        return [code for part in vars(thing).values() for code in _codes(part)]
    return list(_with_inner(thing.__code__)) if isinstance(thing, FunctionType) else []


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)


def _plain(text: str) -> str:
    """Without what saving or running a cell may change."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
