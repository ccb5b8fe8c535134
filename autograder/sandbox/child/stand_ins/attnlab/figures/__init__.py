"""Figures are not drawn while a notebook is graded."""

from __future__ import annotations

from stand_in import STAND_IN, StandIn


def __getattr__(name: str) -> StandIn:
    if name.startswith("__"):
        raise AttributeError(name)
    return STAND_IN
