"""As much of NumPy as it takes to judge lists of numbers, in Python alone: for `arrays`.

Names and meanings are NumPy's; what is not here, no check of a pure lesson asks for.
"""

from __future__ import annotations

import builtins
import contextlib
import itertools
import math
import operator
from array import array as _packed
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

Shape = tuple[int, ...]
_NAMES = {"f": "float64", "i": "int64", "b": "bool", "U": "str", "O": "object"}
_OF = {"f": float, "i": int, "b": bool, "U": str}
_MOST = 2**63  # what an int64 is below
float64, float32 = "float64", "float32"


class dtype:
    """What an array holds: floats, ints, truths or texts."""

    itemsize = 8

    def __init__(self, kind: str) -> None:
        self.kind, self.name = kind, _NAMES[kind]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, dtype):
            return self.kind == other.kind
        return other in (_OF.get(self.kind), self.name)

    def __hash__(self) -> int:
        return hash(self.kind)

    def __str__(self) -> str:
        return self.name


class ndarray:
    """Things of one kind in a row, with a shape."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, shape: Iterable[int], data: list[Any], kind: str) -> None:
        self.shape, self._data, self.dtype = tuple(shape), data, dtype(kind)

    @property
    def size(self) -> int:
        return len(self._data)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        [only] = self._data
        return bool(only)

    def __float__(self) -> float:
        [only] = self._data
        return float(only)

    def tolist(self) -> Any:
        found = self._data
        for length in reversed(self.shape[1:]):
            rows = range(0, len(found), length) if length else ()
            found = [found[at : at + length] for at in rows] or [[] for _ in range(self.shape[0])]
        return list(found) if self.shape else found[0]

    def astype(self, kind: Any) -> ndarray:
        if kind == float32:  # in float64 again, as nothing else is asked of it
            return self._like(_packed("f", self._data).tolist(), "f")
        return self._like(list(map(kind, self._data)), dtype_of(kind))

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, list):
            return ndarray((len(at),), [self._data[place] for place in at], self.dtype.kind)
        if isinstance(at, ndarray):
            kept = list(itertools.compress(self._data, at._data))
            return ndarray((len(kept),), kept, self.dtype.kind)
        places = at if isinstance(at, tuple) else (at,)
        start, length = 0, self.size
        for place, axis in zip(places, self.shape, strict=False):
            length //= axis
            start += (place % axis) * length
        rest = self.shape[len(places) :]
        part = self._data[start : start + length]
        return ndarray(rest, part, self.dtype.kind) if rest else part[0]

    def reshape(self, shape: int | Shape) -> ndarray:
        whole = (self.size,) if isinstance(shape, int) else shape
        return ndarray(whole, self._data, self.dtype.kind)

    def all(self, axis: int | None = None, keepdims: bool = False) -> Any:
        if axis is None:
            return builtins.all(self._data)
        assert (axis, keepdims) == (-1, True)
        width = self.shape[-1]
        rows = math.prod(self.shape[:-1])
        found = [builtins.all(self._data[n * width : (n + 1) * width]) for n in range(rows)]
        return ndarray((*self.shape[:-1], 1), found, "b")

    def any(self) -> bool:
        return builtins.any(self._data)

    def argmax(self) -> int:
        return self._data.index(builtins.max(self._data))

    def sum(self) -> Any:
        return builtins.sum(self._data)

    def max(self, initial: float) -> Any:
        return max(self, initial)

    def _like(self, data: list[Any], kind: str) -> ndarray:
        return ndarray(self.shape, data, kind)

    def _with(self, other: Any, combine: Callable[[Any, Any], Any], kind: str = "") -> ndarray:
        """Entry by entry; sizes of 1 are stretched."""
        one, two = self, other if isinstance(other, ndarray) else asarray(other)
        if one.shape == two.shape:
            shape, pairs = one.shape, (one._data, two._data)
        elif two.size == 1 and two.ndim <= one.ndim:
            shape, pairs = one.shape, (one._data, two._data * one.size)
        else:
            shape = _common(one.shape, two.shape)
            pairs = (_stretched(one, shape), _stretched(two, shape))
        data = list(map(combine, *pairs))
        return ndarray(shape, data, kind or _kind_of(data))

    def __eq__(self, other: object) -> Any:
        return self._with(other, operator.eq, "b")

    def __ne__(self, other: object) -> Any:
        return self._with(other, operator.ne, "b")

    def __lt__(self, other: Any) -> ndarray:
        return self._with(other, operator.lt, "b")

    def __le__(self, other: Any) -> ndarray:
        return self._with(other, operator.le, "b")

    def __and__(self, other: Any) -> ndarray:
        return self._with(other, lambda x, y: x and y, "b")

    def __or__(self, other: Any) -> ndarray:
        return self._with(other, lambda x, y: x or y, "b")

    def __invert__(self) -> ndarray:
        return self._like([not each for each in self._data], "b")

    def __add__(self, other: Any) -> ndarray:
        return self._with(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> ndarray:
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> ndarray:
        return self._with(other, operator.mul)

    __rmul__ = __mul__

    def __mod__(self, other: Any) -> ndarray:
        return self._with(other, lambda x, y: x % y if math.isfinite(x) else math.nan)


def asarray(thing: Any, dtype: Any = None) -> ndarray:
    """An array of numbers, lists of them, or arrays of one shape.

    Raises:
        ValueError: rows differ in length.
    """
    if isinstance(thing, ndarray):
        return thing if dtype is None else thing.astype(dtype)
    shape, data = _flat(thing)
    kind = _kind_of(data) if dtype is None else dtype_of(dtype)
    return ndarray(shape, data if kind == "O" else list(map(_OF[kind], data)), kind)


array = asarray


def _flat(thing: Any) -> tuple[Shape, list[Any]]:
    if isinstance(thing, ndarray):
        return thing.shape, thing._data
    if not isinstance(thing, list | tuple | _packed):
        return (), [thing]
    if isinstance(thing, _packed):
        return (len(thing),), list(thing)
    parts = [_flat(each) for each in thing]
    shapes = {shape for shape, _ in parts} or {()}
    if len(shapes) > 1:
        raise ValueError("inhomogeneous shape")
    return (len(parts), *shapes.pop()), [each for _, data in parts for each in data]


def dtype_of(kind: Any) -> str:
    """The letter of a Python type."""
    return next(letter for letter, each in _OF.items() if kind is each)


def _kind_of(data: Sequence[Any]) -> str:
    kinds = set(map(type, data)) or {float}
    if int in kinds and builtins.any(type(n) is int and not -_MOST <= n < _MOST for n in data):
        return "O"
    return next(letter for letter in "Ufib" if _OF[letter] in kinds)


def _common(one: Shape, two: Shape) -> Shape:
    pairs = itertools.zip_longest(one[::-1], two[::-1], fillvalue=1)
    found = []
    for a, b in pairs:
        if a != b and 1 not in (a, b):
            raise ValueError(f"operands could not be broadcast together: {one} {two}")
        found.append(b if a == 1 else a)
    return tuple(found[::-1])


def _stretched(one: ndarray, shape: Shape) -> list[Any]:
    own = (1,) * (len(shape) - one.ndim) + one.shape
    steps = [0 if size == 1 else math.prod(own[axis + 1 :]) for axis, size in enumerate(own)]
    places = itertools.product(*map(range, shape))
    return [one._data[builtins.sum(map(operator.mul, place, steps))] for place in places]


def abs(one: ndarray) -> ndarray:
    return one._like(list(map(builtins.abs, one._data)), one.dtype.kind)


def isfinite(one: ndarray) -> ndarray:
    return one._like(list(map(math.isfinite, one._data)), "b")


def nan_to_num(one: ndarray, nan: float) -> ndarray:
    """Only NaN is changed: what is asked afterwards is whether it is 0."""
    return one._like([nan if each != each else each for each in one._data], one.dtype.kind)


def where(mask: ndarray, one: Any, other: Any) -> ndarray:
    parts = (_stretched(asarray(each), mask.shape) for each in (one, other))
    data = [a if yes else b for yes, a, b in zip(mask._data, *parts, strict=True)]
    return ndarray(mask.shape, data, _kind_of(data))


def unravel_index(place: int, shape: Shape) -> Shape:
    return next(itertools.islice(itertools.product(*map(range, shape)), place, None))


def max(one: ndarray, initial: float = -math.inf) -> Any:
    """NaN where there is one."""
    found = next((each for each in one._data if each != each), None)
    return builtins.max(one._data, default=initial) if found is None else found


def zeros(shape: Shape, dtype: Any = float) -> ndarray:
    return ndarray(shape, [dtype(0)] * math.prod(shape), dtype_of(dtype))


def allclose(one: ndarray, other: ndarray, rtol: float, atol: float, equal_nan: bool) -> bool:
    assert (rtol, equal_nan) == (0, True)
    return all(
        a == b or (a != a and b != b) or builtins.abs(a - b) <= atol
        for a, b in zip(one._data, other._data, strict=True)
    )


@contextlib.contextmanager
def errstate(**_: str) -> Iterator[None]:
    """Python's floats warn of nothing."""
    yield
