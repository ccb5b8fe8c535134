"""Whether a cell is Python at all: asked before it is run, where nobody runs it."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

_EMPTY = re.compile(r"\A(?:[ \t]*\n)+")  # lines before the first that says something
_AROUND = re.compile(r"\A[ \t]*%%(?:time|timeit|capture|prun)\b.*")  # the rest of the cell runs


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
