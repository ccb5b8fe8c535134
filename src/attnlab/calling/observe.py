"""Values as plain data: what a learner's function took and gave, with nothing left to trust.

A check never touches a learner's objects. It looks at what `observe` wrote down about them: exact
type, shape, dtype and bytes. `rebuild` is the way back, and makes a fresh object each time. Both
are standard library alone, so that they also run where NumPy and PyTorch are absent.
"""

from __future__ import annotations

import functools
import importlib
import math
import sys
from array import array
from dataclasses import dataclass
from typing import Any

DEPTH_LIMIT = 6
ITEM_LIMIT = 1_000_000  # numbers that are looked at where nobody says how many are worth it
TEXT_LIMIT = 10_000  # characters of a str
BITS_LIMIT = 4096  # of an int; the largest float has 1,024
ELSEWHERE = "torch tensor on device "  # and which; on none that is looked at
PLAIN_DTYPES = frozenset(
    f"{kind}{bits}" for kind in ("float", "int", "uint", "complex") for bits in (8, 16, 32, 64, 128)
) | {"bool"}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A Python float, int, bool, str or None, or a NumPy number.

    `kind` is the exact type: 'float', 'int', 'bool', 'str', 'NoneType', or 'numpy.float64' and
    the like.
    """

    kind: str
    value: float | int | bool | str | None


@dataclass(frozen=True, slots=True)
class Items:
    """A list or tuple, but for those of floats alone; `kind` says which."""

    kind: str
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Floats:
    """A list or tuple of floats alone, one at least; `kind` says which.

    `data` has eight bytes for each, as the machine orders them: a hundredth of the time of Items.
    """

    kind: str
    data: bytes

    @property
    def items(self) -> tuple[Scalar, ...]:
        return tuple(Scalar("float", number) for number in self.numbers)

    @property
    def numbers(self) -> array[float]:
        return array("d", self.data)


@dataclass(frozen=True, slots=True)
class Array:
    """A numpy.ndarray ('ndarray') or torch.Tensor ('tensor') as C-ordered bytes.

    `dtype` is NumPy's name for it, without the library's prefix: 'float64', 'bool'.
    """

    kind: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class Large:
    """A list, tuple, array or tensor whose items are not looked at, known by its size.

    There are too many; or it is on the meta device, where there are none.

    `shape` is a list's or tuple's length alone; `dtype` is '' for them.
    """

    kind: str
    shape: tuple[int, ...]
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """Anything else, known by the name of its type and, for a subclass, by what it derives from."""

    kind: str
    derives_from: str = ""


@dataclass(frozen=True, slots=True)
class ByName:
    """What no bytes can stand for, a generator, a function or a model, sent by how it is made.

    Each rebuilding makes a fresh one.

    Attributes:
        name: of a function in this package that makes it, with its module: 'training.sgd'.
        args: what that is called with.
    """

    name: str
    args: tuple[Value, ...] = ()


Value = Scalar | Items | Floats | Array | Large | ByName | Other


def by_name(name: str, *args: Any) -> ByName:
    """A thing by how it is made: `by_name("training.sgd", 0.5)`."""
    return ByName(name, tuple(map(observe, args)))


def found(name: str) -> Any:
    """A function of this package, by its module and name.

    Raises:
        ImportError, AttributeError: there is none.
    """
    module, _, function = name.partition(".")
    return getattr(importlib.import_module(f"{__package__}.{module}"), function)


def observe(thing: Any, most: int = ITEM_LIMIT) -> Value:
    """Write down what a thing is. Runs none of its methods unless its type is exactly known.

    Args:
        thing: anything at all.
        most: numbers that are looked at, in all of it.
    Returns:
        A Value. What has more numbers becomes Large; lists nested deeper than 6 become Other.
    """
    return _observe(thing, DEPTH_LIMIT, [most])


def _observe(thing: Any, depth: int, budget: list[int]) -> Value:
    kind = type(thing)
    if kind is float:
        return Scalar("float", thing)  # of a list, most things are
    if kind is ByName:
        return thing
    if _is_one_of(kind, _SCALARS) or thing is None:
        if kind is str and len(thing) > TEXT_LIMIT:
            return Other(f"str of {len(thing):,} characters")
        if kind is int and thing.bit_length() > BITS_LIMIT:
            return Other(f"int of {thing.bit_length():,} bits")
        return Scalar(kind.__name__, thing)
    if _is_one_of(kind, _LISTS):
        budget[0] -= len(thing)
        if depth == 0:
            return Other(f"{kind.__name__} nested more than {DEPTH_LIMIT} deep")
        if budget[0] < 0:
            return Large(kind.__name__, (len(thing),))
        things = tuple(thing)  # which no other thread changes
        if things and set(map(id, map(type, things))) == {id(float)}:
            return Floats(kind.__name__, array("d", things).tobytes())
        return Items(kind.__name__, tuple(_observe(item, depth - 1, budget) for item in things))
    library = _library_of(kind)
    if library == "numpy":
        return _observe_numpy(thing, budget)
    if library == "torch":
        return _observe_torch(thing, budget)
    base = _plain_base(kind)
    if base == "tuple":  # with names for its items; what it is as a tuple, whatever it says
        return _observe(tuple.__getitem__(thing, slice(None)), depth, budget)
    return Other(type_name(kind), base)


def rebuild(value: Value) -> Any:
    """Make a fresh, independent object that `observe` would write down as this value.

    Raises:
        TypeError: the value is an Other, which stands for something that cannot be remade.
    """
    match value:
        case Floats(kind):
            return tuple(value.numbers) if kind == "tuple" else value.numbers.tolist()
        case Scalar(kind, content) if kind.startswith("numpy."):
            import numpy

            return numpy.dtype(kind.removeprefix("numpy.")).type(content)
        case Scalar(_, content):
            return content
        case ByName(name, args):
            return found(name)(*map(rebuild, args))
        case Items("tuple", items):
            return tuple(rebuild(item) for item in items)
        case Items(_, items):
            return [rebuild(item) for item in items]
        case Array(kind, dtype, shape, data):
            import numpy

            fresh = numpy.frombuffer(data, dtype=dtype).reshape(shape).copy()
            if kind == "ndarray":
                return fresh
            import torch

            return torch.from_numpy(fresh)
        case _:
            raise TypeError(f"cannot rebuild {value}")


def lay(thing: Any, how: str) -> Any:
    """An array or tensor laid out in another way; all else as it is.

    Args:
        how: 'views' for one whose memory runs along its first axis first, so that no two axes can
            be joined without a copy; 'meta' for that device, '' for no change.
    """
    shape = getattr(thing, "shape", ())
    if how == "views" and len(shape) > 1:
        axes = tuple(reversed(range(len(shape))))
        if hasattr(thing, "permute"):
            return thing.permute(axes).contiguous().permute(axes)
        return thing.transpose(axes).copy("C").transpose(axes)
    return thing.to("meta") if how == "meta" and hasattr(thing, "to") else thing


def numbers_in(value: Value) -> int:
    """How many numbers a value holds."""
    match value:
        case Items(_, items):
            return sum(map(numbers_in, items))
        case Floats(_, data):
            return len(data) // 8
        case Array(_, _, shape) | Large(_, shape):
            return math.prod(shape)
        case _:
            return 1


def describe(value: Value) -> str:
    """Say in a few words what a value is: 'a list of 3 lists', 'a float64 array of shape …'."""
    match value:
        case Scalar("NoneType"):
            return "None"
        case Scalar(kind, int() as whole) if abs(whole) >= 10**40:
            return f"{_article(kind)} {kind} of {whole.bit_length():,} bits"
        case Large(kind, (length,), ""):
            return f"a {kind} of {length:,} items"
        case Scalar(kind, content):
            text = repr(content)
            shown = text if len(text) <= 40 else text[:37] + "…"
            return f"{_article(kind)} {kind} ({shown})"
        case Floats(kind, data):
            return f"a {kind} of {len(data) // 8} floats"
        case Items(kind, items) if not items:
            return f"an empty {kind}"
        case Items(kind, items):
            inner = {_kind_of(item) for item in items}
            of = f"{inner.pop()}s" if len(inner) == 1 else "items of different types"
            return f"a {kind} of {len(items)} {of}"
        case Array(kind, dtype, shape) | Large(kind, shape, dtype):
            noun = {"ndarray": "array", "tensor": "tensor"}[kind]
            return f"{_article(dtype)} {dtype} {noun} of shape {shape}"
        case ByName(name, args):
            return f"{name.partition('.')[2]}({', '.join(map(_given, args))})"
        case Other(kind, base):
            return f"{_article(kind)} {kind}" + (f", a subclass of {base}" if base else "")


def _given(value: Value) -> str:
    """An argument of what is made, as it would be typed."""
    return repr(value.value) if isinstance(value, Scalar) else describe(value)


def type_name(kind: type) -> str:
    """A type's name as a learner would write it, read without running the type's own code."""
    name = str.__str__(type.__dict__["__name__"].__get__(kind))  # it may be a str's subclass
    module = type.__dict__["__dict__"].__get__(kind).get("__module__")
    if type(module) is not str or module in ("builtins", "__main__"):
        return name
    return f"{module.partition('.')[0]}.{name}"


_SCALARS, _LISTS = frozenset(map(id, (float, int, bool, str))), frozenset(map(id, (list, tuple)))


def _is_one_of(kind: type, kinds: frozenset[int]) -> bool:
    """Like `in`, which would ask a metaclass whether it is equal; kinds by their ids."""
    return id(kind) in kinds


def _kind_of(value: Value) -> str:
    if isinstance(value, ByName):
        return value.name.partition(".")[2]
    return "None" if value == Scalar("NoneType", None) else value.kind


def _article(noun: str) -> str:
    return "an" if noun[:1].lower() in "aeiou" else "a"


def _plain_base(kind: type) -> str:
    """The built-in container, array or tensor that a type derives from, if any."""
    for base in type.__dict__["__mro__"].__get__(kind)[1:]:
        if _is_one_of(base, _LISTS | _SCALARS | {id(dict)}):
            return base.__name__
        if _library_of(base):
            return type_name(base)
    return ""


def _library_of(kind: type) -> str:
    """'numpy' or 'torch' where the type is exactly one of that library's plain ones, else ''."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and id(kind) in _kinds_of(numpy):
        return "numpy"
    if torch is not None and kind is torch.Tensor:
        return "torch"
    return ""


@functools.cache
def _kinds_of(numpy: Any) -> frozenset[int]:
    """What NumPy's plain types are known by; all of them stay as long as it does."""
    return frozenset(map(id, (numpy.ndarray, *numpy.sctypeDict.values())))


def _observe_numpy(thing: Any, budget: list[int]) -> Value:
    import numpy

    name = thing.dtype.name
    if isinstance(thing, numpy.ndarray):
        if name not in PLAIN_DTYPES:
            return Other(f"numpy array of dtype {name}")
        budget[0] -= thing.size
        if budget[0] < 0:
            return Large("ndarray", thing.shape, name)
        native = thing.astype(thing.dtype.newbyteorder("="), copy=False)
        return Array("ndarray", name, thing.shape, native.tobytes())
    if name not in PLAIN_DTYPES:
        return Other(f"numpy.{name}")
    return Scalar(f"numpy.{name}", thing.item())


def _observe_torch(thing: Any, budget: list[int]) -> Value:
    try:
        return _numbers_of(thing, budget)
    except RuntimeError:  # nested, or wrapped by a transform: torch itself cannot read those
        return Other("torch tensor whose numbers cannot be read")


def _numbers_of(thing: Any, budget: list[int]) -> Value:
    dtype = str(thing.dtype).removeprefix("torch.")
    if thing.device.type == "meta":
        return Large("tensor", tuple(thing.shape), dtype)
    if thing.device.type != "cpu":  # where the inputs are
        return Other(f"{ELSEWHERE}{thing.device.type}")
    if dtype not in PLAIN_DTYPES or thing.layout.__repr__() != "torch.strided":
        return Other(f"torch tensor of dtype {dtype}")
    budget[0] -= thing.numel()
    if budget[0] < 0:
        return Large("tensor", tuple(thing.shape), dtype)
    native = thing.detach().resolve_conj().resolve_neg().contiguous().numpy()
    return Array("tensor", dtype, tuple(thing.shape), native.tobytes())
