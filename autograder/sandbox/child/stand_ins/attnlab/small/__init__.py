"""The small model is not asked while a notebook is graded."""

from __future__ import annotations

import sys
from typing import Any

from stand_in import STAND_IN, Submodules


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return STAND_IN


sys.meta_path.append(Submodules("attnlab.small"))
