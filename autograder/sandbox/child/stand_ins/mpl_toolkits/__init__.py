"""mpl_toolkits while a notebook is graded: nothing is drawn, in three dimensions neither."""

from __future__ import annotations

import sys
from typing import Any

from stand_in import STAND_IN, Submodules


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return STAND_IN


sys.meta_path.append(Submodules("mpl_toolkits"))
