"""A cell that calls an exercise not yet written says so in one line, and Run All goes on.

A learner who runs a whole lesson, to see what it holds, gets to its end. Without this, the first
cell that needs an exercise would stop with a traceback, and JupyterLab would run none after it.
"""

from __future__ import annotations

import traceback
from types import TracebackType
from typing import Any

from attnlab.ipynb.read import STUB


def go_on() -> None:
    """From now on, in the notebook that runs this; elsewhere it does nothing."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None and NotImplementedError not in shell.custom_exceptions:
        shell.set_custom_exc((NotImplementedError,), _told)
        shell.events.register("post_run_cell", _let_pass)


def said_of(error: BaseException | None) -> str:
    """Which exercise a cell needs that stopped with this error; '' for any other error."""
    if type(error) is not NotImplementedError or str(error) != STUB:
        return ""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    name = frame.f_code.co_qualname.partition(".")[0]
    return f"This cell needs `{name}`, which is not written yet. Write it, then run this again."


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
    """Let the notebook go on after such a cell."""
    if said_of(result.error_in_exec):
        result.error_in_exec = None
