"""tqdm while a notebook is graded: what it is given comes out again, and no bar is drawn."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from stand_in import StandIn

__all__ = ["tqdm", "trange"]


class tqdm(StandIn):
    """A loop's progress, which nobody sees."""

    def __init__(self, iterable: Iterable[Any] = (), *_: Any, **__: Any) -> None:
        object.__setattr__(self, "_iterable", iterable)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def __len__(self) -> int:
        return len(self._iterable)


def trange(*limits: int, **_: Any) -> tqdm:
    return tqdm(range(*limits))


for place in ("auto", "notebook", "std"):
    sys.modules[f"{__name__}.{place}"] = sys.modules[__name__]
