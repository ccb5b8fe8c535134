"""Figures of the lessons, one module a lesson; `picture` holds what they share.

Each figure is a function that takes numbers and returns a Picture: an image with its alternative
text. Numbers come from the lesson's own code, so that a picture shows what was computed. Those in
`live` can be touched: `figures.live.WhoListens(weights, tokens)`.
"""

from importlib import import_module
from typing import Any

_LESSONS = ("soft_lookup", "pure_python", "numpy_arrays", "scaling", "tensors", "causal")
_PARTS = (*_LESSONS, "live")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f"attnlab.figures.{name}")
    raise AttributeError(f"attnlab.figures has no {name!r}; it has {', '.join(_PARTS)}")
