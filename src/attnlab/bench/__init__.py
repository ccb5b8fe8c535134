"""Ways of computing attention, measured side by side: time and memory over the sequence's length.

    python -m attnlab.bench --help

    from attnlab.bench import measure, plot, slope
    rows = measure({"naive": naive, "tiled": tiled}, [512, 1024, 2048], d=64)
    slope(rows, "tiled", of="bytes")
    plot(rows)

For learners: lessons 11 to 13 call it. `ways` are those that the command compares, and `tiled`
takes one of them from a lesson; `attnlab.one_run` measures a run, `rows` many; `report` says what
was found, and `drawn` shows it. Begin at `rows.measure`. Nothing is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnlab.bench.drawn import plot
    from attnlab.bench.rows import Row, measure, slope

__all__ = ["Row", "measure", "plot", "slope"]

_HOMES = {"Row": "rows", "measure": "rows", "plot": "drawn", "slope": "rows"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"attnlab.bench.{_HOMES[name]}"), name)
    raise AttributeError(f"attnlab.bench has no {name!r}; it has {', '.join(__all__)}")
