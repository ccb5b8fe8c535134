"""The comparator and the case generator: what counts as right, and what is asked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch.nn.attention import SDPBackend

from attnlab.calling.call import Outcome
from attnlab.calling.observe import (
    Array,
    ByName,
    Floats,
    Items,
    Other,
    Scalar,
    Value,
    observe,
    rebuild,
)
from attnlab.checks.compare import Difference, changed_input, compare
from attnlab.checks.exercise import SEEDS, Case, Exercise, Slot
from attnlab.checks.pose import Expected, answer_of, generate
from attnlab.lessons import exercises_of, slugs
from tests.exercises import named

pytestmark = pytest.mark.slow

settings.register_profile("exact", deadline=None, derandomize=True)
settings.load_profile("exact")

TOLERANCE = 1e-6
ARRAY = (Slot("weights", "ndarray", "N M"),)
ROWS = (Slot("weights", "list", "N M"),)
ROW = (Slot("weights", "list", "M"),)
FLOAT = (Slot("spread", "float"),)
INT = (Slot("count", "int"),)
PAIR = (Slot("out", "ndarray", "N d_v"), Slot("weights", "ndarray", "N M"))

NUMBERS = st.floats(-1e6, 1e6)
SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=5)
RIGHT = hnp.arrays(float, SHAPES, elements=NUMBERS)
LARGE_SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=5)


def difference(
    returned: object,
    right: np.ndarray | tuple[np.ndarray, ...],
    slots: tuple[Slot, ...] = ARRAY,
    exact_zeros: bool = False,
) -> Difference | None:
    values = right if isinstance(right, tuple) else (right,)
    outcome = Outcome(returned=observe(returned))
    return compare(outcome, Expected(values), slots, TOLERANCE, exact_zeros)[0]


def slug(*args: Any, **kwargs: Any) -> str:
    found = difference(*args, **kwargs)
    return found.slug if found else ""


# numbers -------------------------------------------------------------------------------------


@given(RIGHT)
def test_right_numbers_are_right_in_every_container(right: np.ndarray) -> None:
    assert difference(right.copy(), right) is None
    assert difference(np.asfortranarray(right), right) is None
    assert difference(right.tolist(), right, ROWS) is None
    assert difference(right[0].tolist(), right[0], ROW) is None
    assert difference((right, right), (right, right), PAIR) is None
    assert difference([right, right], (right, right), PAIR) is None


@given(RIGHT, st.data())
def test_first_wrong_number_is_pointed_at(right: np.ndarray, data: st.DataObject) -> None:
    flat = data.draw(st.integers(0, right.size - 1))
    index = tuple(int(i) for i in np.unravel_index(flat, right.shape))
    step = data.draw(st.floats(1e-3, 10)) * data.draw(st.sampled_from([-1, 1]))
    wrong = right.copy()
    wrong[index] += step
    found = difference(wrong, right)
    assert found is not None
    assert found.slug == "values"
    assert f"weights[{index[0]}, {index[1]}] is " in found.text
    assert (f"1 of {right.size} numbers differs, by" in found.text) == (right.size > 1)
    assert difference(wrong.tolist(), right, ROWS) == found


@given(hnp.arrays(float, SHAPES, elements=st.floats(-1, 1)), st.floats(-0.9, 0.9))
def test_differences_below_the_tolerance_are_forgiven(right: np.ndarray, part: float) -> None:
    assert difference(right + part * TOLERANCE, right) is None


@given(RIGHT, st.sampled_from([np.nan, np.inf, -np.inf]), st.data())
def test_nan_and_infinity_are_never_right(
    right: np.ndarray, bad: float, data: st.DataObject
) -> None:
    wrong = right.copy()
    wrong.flat[data.draw(st.integers(0, right.size - 1))] = bad
    assert slug(wrong, right) == "non-finite"
    assert slug(wrong.tolist(), right, ROWS) == "non-finite"


@given(SHAPES)
def test_all_nan_is_not_right(shape: tuple[int, ...]) -> None:
    assert slug(np.full(shape, np.nan), np.zeros(shape)) == "non-finite"


@pytest.mark.parametrize("tiny", [1e-7, -1e-7, 1e-300, 5e-324])
def test_where_zeros_are_exact_nothing_else_will_do(tiny: float) -> None:
    right = np.array([[0.0, 1.0], [0.5, 0.5]])
    near = right + np.array([[tiny, 0], [0, 0]])
    assert slug(near, right, exact_zeros=True) == "not-exactly-0"
    assert slug(near * 2, right, exact_zeros=True) == "values"
    assert slug(near, right) == ""
    assert slug(right * -1.0 * -1.0, right, exact_zeros=True) == ""
    assert slug(np.where(right == 0, -0.0, right), right, exact_zeros=True) == ""


@pytest.mark.parametrize("tiny", [1e-7, 1e-9, 1e-17, 1e-300])
def test_text_shows_that_the_numbers_differ(tiny: float) -> None:
    found = difference(np.array([[tiny, 1.0]]), np.array([[0.0, 1.0]]), exact_zeros=True)
    assert found is not None
    assert "weights[0, 0] is 0," not in found.text


def test_text_tells_numbers_apart_that_look_alike() -> None:
    found = difference(np.array([[54373.9956, 1.0]]), np.array([[54374.0012, 1.0]]))
    assert found is not None
    assert "is 54373.9956, should be 54374.0012, the same to 7 digits; 1 of 2" in found.text
    assert "is 54373.9956, which is not right after its first 7 digits; 1 of 2" in found.untold


@given(st.integers(400, 1200))
def test_int_too_large_for_a_float_is_not_finite(digits: int) -> None:
    assert slug([10**digits, 0.0], np.zeros(2), ROW) == "non-finite"
    assert slug([-(10**digits), 0.0], np.zeros(2), ROW) == "non-finite"


@given(st.integers(5000, 6000))
def test_huge_int_in_the_wrong_place_is_a_wrong_type(digits: int) -> None:
    assert slug(10**digits, np.zeros(2), ROW) == "wrong-type"
    assert slug([[10**digits]], np.zeros(2), ROW) == "wrong-type"


# shapes --------------------------------------------------------------------------------------


@given(LARGE_SHAPES)
def test_shapes_that_would_broadcast_are_wrong(shape: tuple[int, int]) -> None:
    n, m = shape
    right = np.zeros(shape)
    for wrong in [(1, m), (n, 1), (m,), (1,), (1, n, m), (n, m, 1), (1, 1), ()]:
        assert slug(np.zeros(wrong), right) == "wrong-shape"
    assert slug([[0.0] * m], right, ROWS) == "wrong-shape"
    assert slug([[0.0]] * n, right, ROWS) == "wrong-shape"


@given(SHAPES, SHAPES)
def test_shape_is_asked_before_numbers(shape: tuple[int, ...], other: tuple[int, ...]) -> None:
    assume(shape != other)
    found = difference(np.full(other, np.nan), np.zeros(shape))
    assert found is not None
    assert found.slug == "wrong-shape"
    assert str(shape) in found.text
    assert str(other) in found.text


@given(st.lists(st.lists(NUMBERS, max_size=4), min_size=2, max_size=5))
def test_ragged_lists_are_a_wrong_shape(rows: list[list[float]]) -> None:
    assume(len({len(row) for row in rows}) > 1)
    found = difference(rows, np.zeros((len(rows), len(rows[0]))), ROWS)
    assert found is not None
    assert found.slug == "wrong-shape"
    assert "ragged" in found.text


@pytest.mark.parametrize("empty", [[], [[]], [[], []]])
def test_empty_lists_are_a_wrong_shape(empty: list[Any]) -> None:
    assert slug(empty, np.zeros((2, 3)), ROWS) == "wrong-shape"


def test_empty_array_is_not_right_for_want_of_a_wrong_number() -> None:
    assert slug(np.zeros((0, 3)), np.zeros((2, 3))) == "wrong-shape"
    assert slug([], np.zeros(3), ROW) == "wrong-shape"


# types ---------------------------------------------------------------------------------------


class Rows(list[Any]):
    """A list that claims to be anything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Any:
        return iter([[0.0, 0.0]] * 2)

    __hash__ = None


class Numbers(np.ndarray):
    """An array that is equal to anything."""

    def __eq__(self, other: object) -> Any:
        return True

    __hash__ = None


class Number(float):
    """A float that is close to anything."""

    def __sub__(self, other: object) -> float:
        return 0.0

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


ZEROS = np.zeros((2, 2))
NOT_ARRAYS: list[object] = [
    None,
    0.0,
    "0.0",
    ZEROS.tolist(),
    tuple(map(tuple, ZEROS.tolist())),
    ZEROS.view(Numbers),
    np.ma.array(ZEROS),
    ZEROS.view(np.recarray),
    ZEROS.astype(object),
    np.zeros((2, 2), dtype=[("a", float)]),
    np.full((2, 2), "0"),
    memoryview(bytes(4)),
    (row for row in ZEROS),
    {"weights": ZEROS},
    np.nditer(ZEROS),
    type,
]
NOT_ROWS: list[object] = [
    None,
    0.0,
    "00",
    ZEROS,
    Rows(),
    tuple(ZEROS.tolist()),
    [(0.0, 0.0), (0.0, 0.0)],
    [Rows(), Rows()],
    [[Number(0), Number(0)]] * 2,
    [[0.0, False], [0.0, 0.0]],
    [[0.0, None], [0.0, 0.0]],
    [[0.0, "0.0"], [0.0, 0.0]],
    [[0.0, 0j], [0.0, 0.0]],
    [[0.0, np.float64(0.0)], [0.0, 0.0]],
    [[0.0, [0.0]], [0.0, 0.0]],
    [0.0, 0.0],
    [ZEROS[0], ZEROS[1]],
    map(list, ZEROS.tolist()),
    (row for row in ZEROS.tolist()),
    [(number for number in row) for row in ZEROS.tolist()],
    range(2),
    {0: [0.0, 0.0], 1: [0.0, 0.0]},
]


@pytest.mark.parametrize("thing", NOT_ARRAYS, ids=lambda thing: type(thing).__name__)
def test_what_is_not_an_array_is_a_wrong_type(thing: object) -> None:
    assert slug(thing, ZEROS) == "wrong-type"


@pytest.mark.parametrize("thing", NOT_ROWS, ids=lambda thing: type(thing).__name__)
def test_what_is_not_rows_of_floats_is_a_wrong_type(thing: object) -> None:
    assert slug(thing, ZEROS, ROWS) == "wrong-type"


def test_list_that_contains_itself_is_a_wrong_type() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert slug(endless, ZEROS, ROWS) == "wrong-type"


@given(hnp.arrays(int, SHAPES, elements=st.integers(-9, 9)))
def test_ints_in_lists_are_as_good_as_floats(right: np.ndarray) -> None:
    assert difference(right.tolist(), right.astype(float), ROWS) is None


@given(hnp.arrays(int, SHAPES, elements=st.integers(0, 1)))
@pytest.mark.parametrize(
    "dtype", ["int64", "int8", "uint16", "bool", "float32", "float16", "complex128"]
)
def test_arrays_of_another_dtype_are_named_so(dtype: str, right: np.ndarray) -> None:
    assert slug(right.astype(dtype), right.astype(float)) == "wrong-dtype"


def test_wider_floats_than_asked_are_right() -> None:
    right = np.ones((2, 3), np.float32)
    assert difference(right.astype(float), right) is None
    assert slug(right.astype(np.float16), right) == "wrong-dtype"


@pytest.mark.parametrize("one", [1.0, 1, np.float64(1), np.array(1.0)])
def test_one_number_may_come_in_several_ways(one: object) -> None:
    assert difference(one, np.asarray(1.0), FLOAT) is None


@pytest.mark.parametrize("one", [True, "1", None, [1.0], np.array([1.0]), 1 + 0j, Number(1)])
def test_what_is_not_one_number_is_a_wrong_type(one: object) -> None:
    assert slug(one, np.asarray(1.0), FLOAT) in ("wrong-type", "wrong-shape")


@pytest.mark.parametrize("count", [5, np.int64(5), np.int32(5), np.array(5)])
def test_count_may_come_as_any_integer(count: object) -> None:
    assert difference(count, np.asarray(5), INT) is None


@pytest.mark.parametrize("count", [5.0, np.float64(5), np.array(5.0), True, "5", None, [5]])
def test_count_that_is_not_an_integer_is_a_wrong_type(count: object) -> None:
    assert slug(count, np.asarray(5), INT) == "wrong-type"


@pytest.mark.parametrize(
    "returned", [None, ZEROS, (), (ZEROS,), (ZEROS, ZEROS, ZEROS), {"out": ZEROS}, iter([ZEROS])]
)
def test_pair_needs_two_parts(returned: object) -> None:
    assert slug(returned, (ZEROS, ZEROS), PAIR) == "wrong-type"


@given(
    st.recursive(
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(-(10**700), 10**700),
            st.floats(),
            st.text(max_size=3),
            st.complex_numbers(),
            hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(min_dims=0, min_side=0, max_side=3)),
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple)
        ),
        max_leaves=8,
    ),
    st.sampled_from([ARRAY, ROWS, ROW, FLOAT, INT, PAIR]),
)
@settings(max_examples=200)
def test_anything_at_all_is_compared_without_an_error(
    returned: object, slots: tuple[Slot, ...]
) -> None:
    shapes = {0: (), 1: (3,), 2: (2, 3)}
    right = tuple(np.full(shapes[len(slot.axes.split())], 0.123) for slot in slots)
    found = difference(returned, right, slots)
    assert found is not None
    assert found.text
    assert len(found.text) < 300


# exceptions ----------------------------------------------------------------------------------


def test_value_where_an_error_is_asked_is_not_raised() -> None:
    outcome = Outcome(returned=observe([1.0]))
    found, _ = compare(outcome, Expected(raises="ValueError"), ROW, TOLERANCE)
    assert found is not None
    assert found.slug == "not-raised"


@pytest.mark.parametrize("after", [[1.0, 3.0], [1, 2.0], (1.0, 2.0), [1.0], [1.0, 2.0, 3.0]])
def test_changed_input_is_named(after: object) -> None:
    before = {"query": observe(1.0), "keys": observe([1.0, 2.0])}
    found = changed_input(before, (observe(1.0), observe(after)))
    assert found is not None
    assert found.slug == "mutated-input"
    assert "keys" in found.text


@pytest.mark.parametrize("same", [[1.0, float("nan")], np.array([np.nan, -0.0])])
def test_unchanged_input_is_not_called_changed(same: object) -> None:
    again = (observe(rebuild(observe(same))),)
    assert changed_input({"keys": observe(same)}, again) is None


# cases ---------------------------------------------------------------------------------------

ASKED = [exercise for slug in slugs() for exercise in exercises_of(slug).values()]
CASE_SEEDS = (*SEEDS, *range(100, 117), 2**32 - 1)
Cases = dict[int, list[tuple[Case, tuple[Value, ...]]]]


def shape_of(arg: Any) -> tuple[int, ...]:
    if isinstance(arg, list):
        return (len(arg), *(shape_of(arg[0]) if arg else ()))
    return np.shape(arg)


def sizes_of(case: Case, axes: tuple[str, ...]) -> dict[str, int]:
    """The size that each letter stands for in a case: in its arguments, then in its `sizes`."""
    sizes: dict[str, int] = {}
    for arg, letters in zip([*case.args, *(case.sizes or ())], axes, strict=False):
        if letters == "?" or len(letters.split()[-1]) > 1:  # no sizes of its own, or a mask
            continue
        if letters.startswith("="):
            sizes[letters[1:]] = arg
            continue
        names, shape = letters.split(), shape_of(arg)
        if names[-1] == "…":
            names, shape = names[:-1], shape[: len(names) - 1]
        elif names[0] == "…":
            names = [f"b{i}" for i in range(len(shape) - len(names) + 1)] + names[1:]
        for name, size in zip(names, shape, strict=False):
            if sizes.setdefault(name, size) != size:
                return {}  # what does not fit, on purpose
    return sizes


def observed(case: Case) -> tuple[Value, ...]:
    return (*map(observe, case.args), *map(observe, case.kwargs.values()))


def leaves(value: Value) -> list[Value]:
    if isinstance(value, Items | Floats):
        return [leaf for item in value.items for leaf in leaves(item)]
    return [value]


def made(exercise: Exercise, seed: int) -> list[tuple[Case, tuple[Value, ...]]]:
    """Cases of a seed, each with its inputs as they are sent."""
    return [(case, observed(case)) for _, case in generate(exercise, (seed,))]


@pytest.fixture(scope="module", params=ASKED, ids=named)
def exercise(request: pytest.FixtureRequest) -> Exercise:
    asked: Exercise = request.param
    return asked


@pytest.fixture(scope="module")
def cases(exercise: Exercise) -> Cases:
    """Cases of each seed, made once for all that is asked of them."""
    return {seed: made(exercise, seed) for seed in CASE_SEEDS}


def every_case(cases: Cases) -> Iterator[tuple[Case, tuple[Value, ...]]]:
    return itertools.chain.from_iterable(cases.values())


def test_some_core_case_has_sizes_that_all_differ(exercise: Exercise, cases: Cases) -> None:
    core = exercise.claims[0].name
    for pairs in cases.values():
        distinct = []
        for case in (case for case, _ in pairs if case.claim == core):
            sizes = list(sizes_of(case, exercise.axes).values())
            distinct.append(len(set(sizes)) == len(sizes) and min(sizes, default=2) > 1)
        assert any(distinct) or not exercise.axes


def test_cases_are_made_again_from_their_seed(exercise: Exercise, cases: Cases) -> None:
    for seed in CASE_SEEDS[:5]:
        again = [(case.claim, values) for case, values in made(exercise, seed)]
        assert again == [(case.claim, values) for case, values in cases[seed]]


def test_each_seed_makes_a_set_of_cases_of_its_own(cases: Cases) -> None:
    sets = {tuple(values for _, values in pairs) for pairs in cases.values()}
    assert len(sets) >= len(CASE_SEEDS) - 2


def test_right_answers_are_finite_numbers(exercise: Exercise, cases: Cases) -> None:
    for seed in CASE_SEEDS[:8]:  # answers take longer than all else
        for case, _ in cases[seed]:
            if case.raises:
                continue
            right = answer_of(exercise.oracle_of(case), case)
            assert not right.raises
            assert len(right.values) == len(exercise.slots(case))
            for values in right.values:  # the maximum of nothing is −inf
                assert not (np.isnan(values) | (values == np.inf)).any()


def test_what_is_one_less_is_not_stretched_to_fit(exercise: Exercise, cases: Cases) -> None:
    for case, _ in every_case(cases):
        if not exercise.stretched and " is one less in " in case.note:
            name = case.note.split(" is one less in ")[1].partition(",")[0]
            axes = dict(zip(exercise.parameters, exercise.axes, strict=False))[name].split()
            shape = shape_of(case.args[exercise.parameters.index(name)])
            letters = {exercise.called(axis): at - len(axes) for at, axis in enumerate(axes)}
            assert shape[letters[case.note.partition(" is ")[0]]] > 1


def test_inputs_can_be_sent_to_another_process(cases: Cases) -> None:
    for _, values in every_case(cases):
        for value in values:
            assert not any(isinstance(leaf, Other) for leaf in leaves(value))
            is_made = [leaf for leaf in leaves(value) if isinstance(leaf, ByName)]
            for leaf in is_made:
                new = rebuild(leaf)  # anew, but for a backend's name, which is there once
                assert isinstance(new, SDPBackend) or new is not rebuild(leaf)
            assert is_made or observe(rebuild(value)) == value


def test_inputs_are_of_their_stage(exercise: Exercise, cases: Cases) -> None:
    for _, values in every_case(cases):
        for leaf in itertools.chain.from_iterable(map(leaves, values)):
            if exercise.stage == "pure":
                assert isinstance(leaf, Scalar)
                assert not leaf.kind.startswith("numpy.")
            elif exercise.stage == "numpy":
                assert not (isinstance(leaf, Array) and leaf.kind == "tensor")
            else:
                assert not isinstance(leaf, Array) or leaf.kind == "tensor"


def test_every_group_has_a_case_on_each_seed(exercise: Exercise, cases: Cases) -> None:
    groups = {claim.name for claim in exercise.claims}
    for pairs in cases.values():
        asked = {case.claim for case, _ in pairs}
        assert asked | groups & {"unchanged"} == groups
