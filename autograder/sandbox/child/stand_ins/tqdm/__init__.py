"""tqdm while a notebook is graded: what it is given comes out again, and no bar is drawn."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from stand_in import StandIn

__all__ = ["tnrange", "tqdm", "tqdm_notebook", "trange"]


class tqdm(StandIn):
    """A loop's progress, which nobody sees."""

    def __init__(self, iterable: Iterable[Any] = (), *_: Any, **__: Any) -> None:
        object.__setattr__(self, "_iterable", iterable)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def __len__(self) -> int:
        return len(self._iterable)

    @staticmethod
    def write(s: str, file: TextIO | None = None, end: str = "\n", **_: Any) -> None:
        print(s, file=file, end=end)


def trange(*limits: int, **_: Any) -> tqdm:
    return tqdm(range(*limits))


tqdm_notebook, tnrange = tqdm, trange
auto = autonotebook = notebook = std = sys.modules[__name__]
for place in ("auto", "autonotebook", "notebook", "std"):
    sys.modules[f"{__name__}.{place}"] = sys.modules[__name__]
