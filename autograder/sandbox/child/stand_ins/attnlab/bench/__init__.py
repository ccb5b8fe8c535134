"""Nothing is measured while a notebook is graded."""

from __future__ import annotations

import sys

from stand_in import STAND_IN, StandIn, Submodules


def __getattr__(name: str) -> StandIn:
    if name.startswith("__"):
        raise AttributeError(name)
    return STAND_IN


sys.meta_path.append(Submodules("attnlab.bench"))
