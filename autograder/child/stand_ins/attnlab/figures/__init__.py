"""Figures are not drawn while a notebook is graded."""

from __future__ import annotations

from anything import ANYTHING, Anything


def __getattr__(name: str) -> Anything:
    if name.startswith("__"):
        raise AttributeError(name)
    return ANYTHING
