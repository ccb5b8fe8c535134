"""A cell that calls an exercise not yet written says so in one line, and Run All goes on.

A learner who runs a whole lesson, to see what it holds, gets to its end. Without this, the first
cell that needs an exercise would stop with a traceback, and JupyterLab would run none after it. A
cell that needs what such a cell would have made needs the same exercise.
"""

from __future__ import annotations

import ast
import traceback
from types import TracebackType
from typing import Any

from attnlab.ipynb.read import STUB

STOPS = (NotImplementedError, NameError)
_made_by: dict[str, str] = {}  # the exercise that a name waits for


def go_on() -> None:
    """From now on, in the notebook that runs this; elsewhere it does nothing."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None and NotImplementedError not in shell.custom_exceptions:
        shell.set_custom_exc(STOPS, _told)
        shell.events.register("post_run_cell", _let_pass)


def said_of(error: BaseException | None) -> str:
    """Which exercise a cell needs that stopped with this error; '' for any other error."""
    if not (name := _needed(error)):
        return ""
    return f"This cell needs `{name}`, which is not written yet. Write it, then run this again."


def _needed(error: BaseException | None) -> str:
    if type(error) is NameError:
        return _made_by.get(error.name or "", "")
    if type(error) is not NotImplementedError or str(error) != STUB:
        return ""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code.co_qualname.partition(".")[0]


def _told(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Say which exercise a cell needs; anything else is shown as ever."""
    if said := said_of(error):
        print(said)
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _let_pass(result: Any) -> None:
    """Let the notebook go on after such a cell, and note what it has not made."""
    name = _needed(result.error_in_exec)
    for made in _names_made(result.info.transformed_cell):
        _made_by.pop(made, None)
        if name:
            _made_by[made] = name
    if name:
        result.error_in_exec = None


def _names_made(source: str | None) -> set[str]:
    """Names that a cell gives values to."""
    try:
        nodes = ast.walk(ast.parse(source or ""))
    except SyntaxError:  # it has said so itself
        return set()
    names = (node for node in nodes if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}
