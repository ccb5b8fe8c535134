"""matplotlib while a notebook is graded: every plot can be made, none is drawn."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from stand_in import STAND_IN, Submodules

__version__ = "3.10.0"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "pyplot":  # of the submodules the one that has `subplots`
        return importlib.import_module("matplotlib.pyplot")
    return STAND_IN


sys.meta_path.append(Submodules("matplotlib"))
