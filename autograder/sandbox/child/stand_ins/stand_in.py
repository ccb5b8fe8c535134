"""An object that lets everything be done to it: it takes the place of plots and displays."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import opcode
import sys
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

UNPACK = opcode.opmap["UNPACK_SEQUENCE"]


class StandIn:
    """Has every attribute, takes every call, and is empty, but unpacks into as many as asked."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols that it does not know stay unknown
            raise AttributeError(name)
        return self

    def __setattr__(self, name: str, value: Any) -> None: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __setitem__(self, key: Any, value: Any) -> None: ...

    def __iter__(self) -> Iterator[Any]:
        return iter([self] * _asked_for(sys._getframe(1)))

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return True

    def __float__(self) -> float:
        return 0.0

    def __int__(self) -> int:
        return 0

    def __lt__(self, other: object) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *details: Any) -> None: ...

    def __repr__(self) -> str:
        return "(not drawn while grading)"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def _same(self, *args: Any) -> Any:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __truediv__ = __rtruediv__ = __neg__ = __or__ = __and__ = _same


STAND_IN = StandIn()


class Grid(StandIn):
    """Axes of a plot: as many as were asked for, row by row."""

    def __init__(self, items: list[Any]) -> None:
        object.__setattr__(self, "_items", items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def flat(self) -> Grid:
        rows = [item if isinstance(item, Grid) else [item] for item in self]
        return Grid([axes for row in rows for axes in row])

    def ravel(self) -> Grid:
        return self.flat

    flatten = ravel


def subplots(nrows: int = 1, ncols: int = 1, **options: Any) -> tuple[StandIn, StandIn]:
    """A figure and its axes, in the form in which matplotlib's `subplots` gives them."""
    if nrows == 1 and ncols == 1 and options.get("squeeze", True):
        return STAND_IN, STAND_IN
    if 1 in (nrows, ncols) and options.get("squeeze", True):
        return STAND_IN, Grid([STAND_IN] * (nrows * ncols))
    return STAND_IN, Grid([Grid([STAND_IN] * ncols) for _ in range(nrows)])


class Submodule(ModuleType):
    """A part of a library for showing things, such as `matplotlib.pyplot`."""

    __all__ = ("subplots",)
    subplots = staticmethod(subplots)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return STAND_IN


class Submodules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every part of a library that has no file of its own here."""

    def __init__(self, library: str) -> None:
        self._start = library + "."

    def find_spec(
        self, name: str, path: Any, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith(self._start):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Submodule(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


def _asked_for(frame: FrameType) -> int:
    """How many names a value is being unpacked into, as in `line, = plot(x)`; 0 if it is not."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at + 1] if code[at] == UNPACK else 0
