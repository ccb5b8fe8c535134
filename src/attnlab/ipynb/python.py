"""What a cell is as Python, asked where nobody runs it: any at all, and which names it needs."""

from __future__ import annotations

import ast
import dis
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType

_EMPTY = re.compile(r"\A(?:[ \t]*\n)+")  # lines before the first that says something
_AROUND = re.compile(r"\A[ \t]*%%(?:time|timeit|capture|prun)\b.*")  # the rest of the cell runs
_BEFORE = re.compile(r"(?m)^([ \t]*)%(?:time|timeit|prun)\b(?:[ \t]+-\w+(?:[ \t]*\d+)?)*[ \t]*")


@dataclass(frozen=True, slots=True)
class Stop:
    """Where Python cannot go on reading.

    Attributes:
        kind: of the error, 'IndentationError'.
        message: Python's own, which is another one in another version.
        row, column: the place, from 0.
        is_read: whether all was read, and what it says cannot be done, as a `return` outside of a
            function.
    """

    kind: str
    message: str
    row: int
    column: int
    is_read: bool


def _as_python(source: str) -> str:
    """A cell without IPython's magics, where there is IPython to have any."""
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ModuleNotFoundError:
        return f"{source}\n"
    return TransformerManager().transform_cell(source)


def stop_in(source: str) -> Stop | None:
    """Where a code cell is not what IPython runs, magics and all; None if it can be run."""
    body = _EMPTY.sub("", source)
    skipped = source.count("\n") - body.count("\n")
    is_read = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd escape sequence, say
            text = _as_python(_AROUND.sub("#", body))
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            compile(text, "cell", "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
            is_read = True
            compile(text, "cell", "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        row, column = (error.lineno or 1) - 1, max((error.offset or 1) - 1, 0)
        return Stop(type(error).__name__, error.msg, skipped + row, column, is_read)
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte, nested too deeply
        kind = type(error).__name__
        return Stop(kind, str(error) or kind, skipped, 0, is_read)
    return None


@cache
def names(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a code cell needs of what ran before it, and those that it leaves behind.

    As Python's compiler sees them: a call inside of a function counts, an attribute does not. A
    cell that is no Python needs and leaves nothing.
    """
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = _as_python(_BEFORE.sub(r"\1", _AROUND.sub("#", _EMPTY.sub("", source))))
            code = compile(text, "cell", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(), frozenset()
    needs: set[str] = set()
    leaves: set[str] = set()
    for name, is_left in _named(code):
        if is_left:
            leaves.add(name)
        elif name not in leaves:
            needs.add(name)
    for inner in _inside(code):
        own: set[str] = set()  # what the body of a class binds
        for name, is_left in _named(inner):
            if is_left:
                own.add(name)
            elif name not in own | leaves:
                needs.add(name)
    return frozenset(needs), frozenset(leaves)


def _named(code: CodeType) -> Iterator[tuple[str, bool]]:
    """Names of the notebook that are looked up here, and bound, in this order."""
    for step in dis.get_instructions(code):
        verb, _, where = step.opname.partition("_")
        if where in ("NAME", "GLOBAL", "FROM_DICT_OR_GLOBALS") and verb in ("LOAD", "STORE"):
            yield step.argval, verb == "STORE"


def _inside(code: CodeType) -> Iterator[CodeType]:
    """The functions and classes in there, at any depth."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _inside(inner)
