"""Nothing is measured while a notebook is graded."""

from __future__ import annotations

import sys

from anything import ANYTHING, Anything, Submodules


def __getattr__(name: str) -> Anything:
    if name.startswith("__"):
        raise AttributeError(name)
    return ANYTHING


sys.meta_path.append(Submodules("attnlab.bench"))
