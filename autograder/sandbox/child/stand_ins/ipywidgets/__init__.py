"""ipywidgets while a notebook is graded: no widget is shown, and nobody moves one."""

from __future__ import annotations

import sys
from typing import Any

from stand_in import STAND_IN, Submodules


def interact(function: Any = None, *_: Any, **__: Any) -> Any:
    """The function itself, also where it is decorated."""
    return function or interact


interact_manual = interact


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return STAND_IN


sys.meta_path.append(Submodules("ipywidgets"))
