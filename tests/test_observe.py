"""Observing a learner's values: exact, complete, and without running a line of their code."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attnlab.calling.observe import (
    Array,
    Items,
    Large,
    Other,
    Scalar,
    describe,
    observe,
    rebuild,
)

DTYPES = st.one_of(
    hnp.floating_dtypes(endianness="="),
    hnp.integer_dtypes(endianness="="),
    hnp.unsigned_integer_dtypes(endianness="="),
    hnp.boolean_dtypes(),
    hnp.complex_number_dtypes(endianness="="),
)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.just(-0.0), st.just(10**400)
)
NESTED = st.recursive(
    st.one_of(SCALARS, ARRAYS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=12,
)


settings.register_profile("exact", deadline=None, derandomize=True)
settings.load_profile("exact")


class Caught(BaseException):
    """Raised wherever a learner's code is run that should not be."""


def _caught(*args: Any, **kwargs: Any) -> Any:
    raise Caught


METHODS = (
    "abs add and array array_finalize array_function array_interface array_priority array_struct "
    "array_ufunc array_wrap bool bytes call class_getitem complex contains copy deepcopy dir "
    "divmod enter eq exit float floordiv format ge getattr getattribute getitem getstate gt hash "
    "index instancecheck int invert iter le len length_hint lshift lt matmul missing mod mul ne "
    "neg next or pos pow radd reduce reduce_ex repr reversed rmul round sizeof str sub "
    "subclasscheck torch_function truediv trunc xor"
)
DUNDERS = {f"__{name}__": _caught for name in METHODS.split(" ")}
OF_CLASSES = (
    "eq ne hash repr str getattribute instancecheck subclasscheck len iter call bool contains or"
)
Meta = type("Meta", (type,), {f"__{name}__": _caught for name in OF_CLASSES.split(" ")})


class LyingText(str):
    """A string of a learner's own, such as a class may have for a name."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> str:
        raise Caught

    def __format__(self, spec: str) -> str:
        raise Caught

    def lower(self) -> str:
        raise Caught


def liar(base: type) -> Any:
    """An object of a subclass of `base` whose every method raises."""
    kind: Any = type("Liar", (base,), dict(DUNDERS))
    if issubclass(base, np.ndarray):
        del kind.__array_finalize__  # NumPy runs it to make the array
        array = np.ndarray.__new__(kind, (2, 3))
        kind.__array_finalize__ = _caught
        return array
    return base.__new__(kind)


@pytest.mark.parametrize(
    "base", [object, list, dict, float, int, str, set, np.ndarray, np.float64, Exception]
)
def test_no_method_of_a_learners_class_is_run(base: type) -> None:
    seen = observe(liar(base))
    assert isinstance(seen, Other)
    assert "Liar" in describe(seen)


def test_no_method_of_a_learners_class_is_run_inside_a_list() -> None:
    seen = observe([liar(float), (liar(list), 1.0)])
    assert isinstance(seen, Items)
    assert isinstance(seen.items[0], Other)


def test_no_method_of_a_learners_metaclass_is_run() -> None:
    kind: Any = type.__new__(Meta, "Liar", (), {})
    assert isinstance(observe(object.__new__(kind)), Other)


def test_metaclass_that_says_yes_to_everything_is_not_believed() -> None:
    class Agreeing(type):
        def __eq__(cls, other: object) -> bool:
            return True

        def __hash__(cls) -> int:
            return hash(float)

    class Number(metaclass=Agreeing):
        pass

    assert isinstance(observe(Number()), Other)


def test_class_named_by_a_lying_string_is_described() -> None:
    kind: Any = type(LyingText("Odd"), (), {})
    assert isinstance(describe(observe(kind())), str)


def test_subclass_says_what_it_derives_from() -> None:
    class Rows(list[float]):
        pass

    for thing, base in [
        (Rows(), "list"),
        (np.ma.array([1.0]), "ndarray"),
        (torch.nn.Parameter(torch.zeros(2)), "Tensor"),
    ]:
        seen = observe(thing)
        assert isinstance(seen, Other)
        assert seen.derives_from.rpartition(".")[2] == base


def test_a_tuple_of_a_kind_of_its_own_is_the_tuple_that_it_is() -> None:
    pair: Any = tuple.__new__(type("Liar", (tuple,), dict(DUNDERS)), (1.0, 2))
    assert observe(pair) == observe((1.0, 2))


@given(NESTED)
def test_rebuilding_gives_what_was_observed(thing: Any) -> None:
    seen = observe(thing)
    again = rebuild(seen)
    assert type(again) is type(thing)
    assert repr(observe(again)) == repr(seen)  # NaN is not equal to itself, its text is


@given(ARRAYS)
def test_rebuilt_arrays_share_no_memory(array: np.ndarray) -> None:
    again = rebuild(observe(array))
    assert not np.shares_memory(again, array)
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()
    assert again.flags.writeable


@given(ARRAYS, st.sampled_from(["F", "reversed", "strided"]))
def test_layout_in_memory_makes_no_difference(array: np.ndarray, layout: str) -> None:
    if layout == "F":
        other = np.asfortranarray(array)
    elif layout == "reversed":
        other = np.flip(np.flip(array).copy())
    else:
        other = np.repeat(array[..., None], 2, axis=-1)[..., 0]
    if array.ndim:
        assert observe(other) == observe(array)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_byte_order_makes_no_difference_to_numbers(dtype: str) -> None:
    swapped = np.array([1, 2.5, -3]).astype(np.dtype(dtype).newbyteorder(">"))
    rebuilt = rebuild(observe(swapped))
    assert (rebuilt == swapped).all()


@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, min_side=0)))
def test_tensors_are_observed_as_they_are(array: np.ndarray) -> None:
    tensor = torch.from_numpy(array.copy())
    seen = observe(tensor)
    assert seen == Array("tensor", "float32", array.shape, array.tobytes())
    assert torch.equal(rebuild(seen).nan_to_num(0.5), tensor.nan_to_num(0.5))


def test_tensors_that_need_gradients_are_observed() -> None:
    assert isinstance(observe(torch.ones(2, requires_grad=True) * 2), Array)


@pytest.mark.parametrize(
    "thing",
    [
        np.array([object()]),
        np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        np.array(["text"]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        torch.eye(2).to_sparse(),
        torch.ones(2, dtype=torch.bfloat16),
        complex(1, 2),
        {"weights": [1.0]},
        {1.0},
        range(3),
        b"bytes",
        (number for number in [1.0]),
        map(float, [1]),
        iter([1.0]),
        float,
        math,
        NotImplemented,
        ...,
        lambda: 1.0,
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_anything_else_is_known_by_its_type_alone(thing: object) -> None:
    seen = observe(thing)
    assert isinstance(seen, Other)
    assert describe(seen)
    with pytest.raises(TypeError):
        rebuild(seen)


def _escaped() -> list[torch.Tensor]:
    """The tensors that transforms hand to a function, kept past their end."""
    kept: list[torch.Tensor] = []

    def keep(row: torch.Tensor) -> torch.Tensor:
        kept.append(row)
        return row.sum()

    torch.func.vmap(keep)(torch.ones(2, 3))
    torch.func.grad(keep)(torch.ones(3))
    torch.func.functionalize(keep)(torch.ones(3))
    return kept


STRANGE = {
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(2, 3)]),
    "ragged": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "jagged": lambda: torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged),
    "csr": lambda: torch.eye(2).to_sparse_csr(),
    "mkldnn": lambda: torch.eye(2).to_mkldnn(),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8),
    "vmap": lambda: _escaped()[0],
    "grad": lambda: _escaped()[1],
    "functional": lambda: _escaped()[2],
}


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.filterwarnings("ignore")
def test_tensor_that_torch_cannot_read_is_written_down_all_the_same(strange: str) -> None:
    assert describe(observe(STRANGE[strange]()))


def test_generator_is_not_advanced() -> None:
    numbers: Iterator[int] = iter(range(3))
    observe(numbers)
    observe([numbers])
    assert list(numbers) == [0, 1, 2]


def test_list_that_contains_itself_is_cut_off() -> None:
    endless: list[Any] = [1.0]
    endless.append(endless)
    assert describe(observe(endless))
    wide: list[Any] = []
    wide += [wide] * 20
    assert describe(observe(wide))


def test_deep_nesting_is_cut_off() -> None:
    deep: Any = 0.0
    for _ in range(100_000):
        deep = [deep]
    assert describe(observe(deep))


def test_very_long_list_is_cut_off() -> None:
    seen = observe([0.0] * 1_000_001)
    assert isinstance(seen, Large)
    assert "1,000,001" in describe(seen)


def test_huge_int_is_described_in_few_words() -> None:
    for thing in (10**5000, -(10**5000), [10**5000], (10**5000,)):
        assert len(describe(observe(thing))) < 100


@given(NESTED)
def test_description_is_one_short_line(thing: Any) -> None:
    text = describe(observe(thing))
    assert 0 < len(text) < 120
    assert "\n" not in text


@given(st.one_of(st.floats(), st.integers(-(2**63), 2**63 - 1)))
def test_numpy_numbers_keep_their_kind(number: float) -> None:
    scalar = np.float64(number) if isinstance(number, float) else np.int64(number)
    seen = observe(scalar)
    assert isinstance(seen, Scalar)
    assert seen.kind == f"numpy.{scalar.dtype.name}"
    assert type(rebuild(seen)) is type(scalar)
