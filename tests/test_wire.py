"""Messages: what is sent arrives, and whatever else arrives is refused or does no harm."""

from __future__ import annotations

import json
import math
import socket
import struct
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.calling.call import Call, Outcome, Raised
from attnlab.calling.observe import (
    Array,
    ByName,
    Items,
    Other,
    Scalar,
    Value,
    describe,
    observe,
)
from attnlab.checks.exercise import Exercise
from attnlab.checks.judge import judge
from attnlab.checks.pose import pose
from attnlab.checks.verdict import Verdict
from autograder.sandbox.child import wire
from autograder.sandbox.child.wire import Gone, Late, Malformed, Ran
from tests.exercises import EXERCISES

MOST = 10_000
REPLY = wire.reply_bytes(MOST)
SEEDS = (3, 4)

# values ---------------------------------------------------------------------------------------

NUMPY_INTS = [f"numpy.{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
scalars: st.SearchStrategy[Scalar] = st.one_of(
    st.builds(Scalar, st.just("float"), st.floats()),
    st.builds(Scalar, st.just("int"), st.integers()),
    st.builds(Scalar, st.just("int"), st.integers(-(10**400), 10**400)),
    st.builds(Scalar, st.just("bool"), st.booleans()),
    st.builds(Scalar, st.just("str"), st.text(st.characters(codec=None), max_size=9)),
    st.just(Scalar("NoneType", None)),
    st.builds(Scalar, st.sampled_from(["numpy.float16", "numpy.float64"]), st.floats()),
    st.builds(Scalar, st.sampled_from(NUMPY_INTS), st.integers(0, 2**63 - 1)),
    st.builds(Scalar, st.just("numpy.uint64"), st.integers(2**63, 2**64 - 1)),
    st.builds(Scalar, st.just("numpy.bool"), st.booleans()),
)


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=4)))
    if 0 in shape and draw(st.booleans()):
        shape = (*shape, 2**40)
    dtype = draw(st.sampled_from(sorted(wire.SIZES)))
    size = math.prod(shape) * wire.SIZES[dtype]
    data = draw(st.binary(min_size=min(size, 8), max_size=min(size, 8)))
    return Array(draw(st.sampled_from(["ndarray", "tensor"])), dtype, shape, _filled(data, size))


def _filled(data: bytes, size: int) -> bytes:
    return (data * (size // max(1, len(data)) + 1))[:size]


names = st.text(max_size=9).filter(lambda text: text == text.encode("utf-8", "replace").decode())
floats = st.lists(st.floats(), min_size=1, max_size=4).map(observe)
leaves = st.one_of(scalars, arrays(), floats, st.builds(Other, names, names))
values: st.SearchStrategy[Value] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(
            Items, st.sampled_from(["list", "tuple"]), st.lists(inner, max_size=4).map(tuple)
        ),
        st.builds(ByName, names, st.lists(inner, max_size=4).map(tuple)),
    ),
    max_leaves=8,
)
raised = st.builds(Raised, st.lists(names, min_size=1, max_size=3).map(tuple), names, names, names)


def there_and_back(message: dict[str, Any]) -> dict[str, Any]:
    read = json.loads(json.dumps(message))
    assert isinstance(read, dict)
    return read


def asked(inputs: int, most: int = MOST) -> Call:
    """A call with so many inputs."""
    return Call((Scalar("int", 1),) * inputs, most=most)


def same(one: object, other: object) -> bool:
    """Equal, where NaN equals NaN."""
    return repr(one) == repr(other)


@given(values, st.lists(values, max_size=3), raised, names)
def test_every_outcome_survives_a_round_trip(
    value: Value, after: list[Value], error: Raised, printed: str
) -> None:
    for outcome in (
        Outcome(value, None, tuple(after), printed, "", ("a",)),
        Outcome(None, error, tuple(after), printed),
        Outcome(None, None, tuple(after), printed, "time"),
    ):
        message, block = wire.write_outcome(outcome, MOST)
        read = wire.read_outcome(there_and_back(message), block, asked(len(after)))
        assert same(read, outcome)


@given(st.lists(values, max_size=3), st.dictionaries(names, values, max_size=3), st.booleans())
def test_every_call_survives_a_round_trip(
    args: list[Value], named: dict[str, Value], flag: bool
) -> None:
    for sizes in (None, tuple(args)):
        call = Call(tuple(args), named, sizes, named, flag, (1,), tuple(args), "backward" * flag)
        message, block = wire.write_call(call)
        assert same(wire.read_call(there_and_back(message), block), call)


@given(st.lists(st.lists(values, max_size=2), min_size=1, max_size=4), st.integers(0, 2**60))
def test_calls_that_travel_together_survive_a_round_trip(
    inputs: list[list[Value]], number: int
) -> None:
    calls = [Call(tuple(args), banned="attention", most=at) for at, args in enumerate(inputs)]
    text, block = wire.write_calls([wire.written(call) for call in calls], number)
    message = json.loads(text)
    assert (message["do"], message["number"], message["banned"]) == ("calls", number, "attention")
    read = wire.read_calls(message, block)
    assert all(same(one, other) for one, other in zip(read, calls, strict=True))


def test_attention_is_refused_around_all_calls_only_where_it_is_in_each() -> None:
    calls = [wire.written(Call((), banned=banned)) for banned in ("attention", "")]
    assert json.loads(wire.write_calls(calls[:1], 1)[0])["banned"] == "attention"
    assert json.loads(wire.write_calls(calls, 1)[0])["banned"] == ""


@given(st.lists(values, max_size=3), st.lists(st.booleans(), min_size=3, max_size=3))
def test_of_inputs_that_stay_nothing_is_sent_but_that(
    args: list[Value], changes: list[bool]
) -> None:
    call = Call(tuple(args), most=MOST)
    after = tuple(
        Other("gone") if changed else arg for arg, changed in zip(args, changes, strict=False)
    )
    message, block = wire.write_outcome(Outcome(None, None, after, stopped="time"), MOST, call.args)
    assert same(wire.read_outcome(there_and_back(message), block, call).after, after)
    stays = [arg == now for arg, now in zip(args, after, strict=True)]
    assert [sent is None for sent in message["after"]] == stays


@given(st.one_of(st.none(), raised), names, names, st.sampled_from(["", "time"]))
def test_every_cell_that_ran_survives_a_round_trip(
    error: Raised | None, printed: str, shown: str, stopped: str
) -> None:
    ran = Ran(error, printed, shown, stopped)
    message = ran._asdict() | {"raised": wire.write_raised(error)}
    assert wire.read_ran(there_and_back(message)) == ran


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (np.zeros((20, 30)), "a float64 array of shape (20, 30)"),
        (list(range(600)), "a list of 600 items"),
        ("a" * 50_000, "a str of 50,000 characters"),
        (1 << 50_000, "an int of 50,001 bits"),
        ([["a" * 9_000] * 90], "a list too large to be compared"),
    ],
    ids=["array", "list of ints", "text", "int", "texts"],
)
def test_answer_too_large_for_a_reply_is_named(thing: object, said: str) -> None:
    small = observe([1.0])
    message, block = wire.write_outcome(Outcome(observe(thing, 500), None, (small,)), 500)
    outcome = wire.read_outcome(there_and_back(message), block, asked(1, 500))
    assert outcome.returned is not None
    assert (describe(outcome.returned), outcome.after) == (said, (small,))
    assert len(json.dumps(message)) + len(block) <= wire.reply_bytes(500)


def test_input_grown_too_large_for_a_reply_counts_as_changed() -> None:
    grown = observe(["a" * 9_000] * 90)
    message, block = wire.write_outcome(Outcome(observe(1.0), None, (grown,)), 500)
    outcome = wire.read_outcome(there_and_back(message), block, asked(1, 500))
    assert outcome.after == (Other("list too large to be compared"),)


def test_long_names_are_cut_before_they_are_sent() -> None:
    error = Raised(("E" * 9999,) * 200, "m" * 9999, "l" * 9999, "f" * 9999)
    outcome = Outcome(None, error, (), "p" * 9999, "", ("x" * 9999,) * 99)
    message, block = wire.write_outcome(outcome, 0)
    assert wire.read_outcome(message, block, asked(0)).raised is not None


# a reader that is lied to ---------------------------------------------------------------------

TAGS = ("scalar", "big", "floats", "array", "large", "items", "seed", "other", "__class__", "")
KINDS = ("list", "tuple", "ndarray", "tensor", "float", "int", "bool", "NoneType", "str")
DTYPES = ("numpy.float64", "numpy.bool", "float64", "uint64", "complex128", "float128", "\ud800")
words = st.sampled_from((*TAGS, *KINDS, *DTYPES))
numbers = st.one_of(
    st.integers(-2, 9), st.sampled_from([2**31, 2**62, 2**64, -(2**63), 10**300, True]), st.floats()
)
atoms = st.one_of(st.none(), words, numbers, st.text(max_size=4))
junk: st.SearchStrategy[Any] = st.recursive(
    atoms,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(words, inner, max_size=3)),
    max_leaves=12,
)
near_values = st.one_of(
    junk,
    st.tuples(words, words, junk, junk, numbers).map(list),
    st.tuples(st.just("array"), words, words, st.lists(numbers, max_size=3), numbers).map(list),
    st.tuples(st.just("large"), words, st.lists(numbers, max_size=3), words).map(list),
    st.tuples(st.just("floats"), words, numbers, numbers).map(list),
    st.tuples(st.just("items"), words, st.lists(junk, max_size=3)).map(list),
    st.tuples(st.sampled_from(["scalar", "big", "other"]), words, atoms).map(list),
)


@pytest.mark.slow
@settings(max_examples=500)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "returned": near_values,
            "raised": st.one_of(st.none(), junk),
            "after": st.one_of(junk, st.lists(near_values, max_size=2)),
            "printed": atoms,
            "stopped": st.one_of(st.just(""), atoms),
            "fused": st.one_of(st.just([]), junk),
        },
    ),
    st.binary(max_size=40),
    st.integers(0, 2),
)
def test_reader_gives_an_outcome_or_malformed(
    message: dict[str, Any], block: bytes, inputs: int
) -> None:
    defaults = {"after": [["scalar", "int", 1]] * inputs, "printed": "", "stopped": "", "fused": []}
    for sent in (message, defaults | message):
        try:
            outcome = wire.read_outcome(there_and_back(sent), block, asked(inputs))
        except Malformed:
            continue
        _assert_well_formed(outcome, inputs)


def _assert_well_formed(outcome: Outcome, inputs: int) -> None:
    assert len(outcome.after) == inputs
    assert (outcome.returned is None) + (outcome.raised is None) + (not outcome.stopped) == 2
    for value in (outcome.returned, *outcome.after):
        if value is not None:
            describe(value)
            _assert_arrays_are_true(value)
    outcome.printed.encode()


def _assert_arrays_are_true(value: Value) -> None:
    if isinstance(value, Array):
        np.frombuffer(value.data, value.dtype).reshape(value.shape)
    elif isinstance(value, Items):
        for item in value.items:
            _assert_arrays_are_true(item)


@given(st.dictionaries(st.sampled_from(["raised", "printed", "shown", "stopped"]), junk))
def test_reader_of_cells_gives_what_ran_or_malformed(message: dict[str, Any]) -> None:
    blank = {"raised": None, "printed": "", "shown": "", "stopped": ""}
    for sent in (message, blank | message):
        try:
            assert isinstance(wire.read_ran(there_and_back(sent)), Ran)
        except Malformed:
            continue


LIES: dict[str, Any] = {
    "shape larger than its bytes": ["array", "ndarray", "float64", [2], 0],
    "shape of one axis too many": ["array", "ndarray", "bool", [1] * 65, 0],
    "huge empty shape": ["array", "ndarray", "bool", [0, 2**60], 0],
    "huge shape": ["array", "ndarray", "bool", [2**61, 8], 0],
    "negative axis": ["array", "ndarray", "bool", [-1, -8], 0],
    "start before the block": ["array", "ndarray", "bool", [1], -1],
    "object dtype": ["array", "ndarray", "object", [1], 0],
    "dtype with fields": ["array", "ndarray", "i4,i4", [1], 0],
    "another library's array": ["array", "cupy", "bool", [1], 0],
    "more floats than bytes": ["floats", "list", 2, 0],
    "more floats than items allowed": ["floats", "list", 2**40, 0],
    "unknown tag": ["__class__", "list", []],
    "unhashable tag": [["items"], "list", []],
    "unknown container": ["items", "dict", []],
    "large int as a number": ["scalar", "int", 2**70],
    "float called int": ["scalar", "int", 1.0],
    "bool called int": ["scalar", "int", True],
    "text called NumPy": ["scalar", "numpy.float64", "1"],
    "unhashable kind": ["scalar", ["float"], 1.0],
    "dotted dtype": ["scalar", "numpy.linalg.norm", 1],
    "big int that is none": ["big", "int", "0x0x"],
    "large of a negative length": ["large", "list", [-1], ""],
    "large of no library": ["large", "cupy", [9], "float64"],
    "large list of no length": ["large", "list", [], ""],
    "large list of three axes": ["large", "list", [3, 3, 3], ""],
    "large list with a dtype": ["large", "list", [3], "float64"],
    "large without a dtype": ["large", "tensor", [9], ""],
    "nothing": None,
    "empty": [],
    "dict": {"items": []},
}


@pytest.mark.parametrize("lie", LIES)
def test_lie_is_malformed(lie: str) -> None:
    message = {"returned": LIES[lie], "after": [], "printed": "", "stopped": "", "fused": []}
    with pytest.raises(Malformed):
        wire.read_outcome(message, b"\0" * 8, asked(0))


def test_deep_nesting_is_malformed() -> None:
    value: Any = ["scalar", "int", 1]
    for _ in range(9):
        value = ["items", "list", [value]]
    message = {"returned": value, "after": [], "printed": "", "stopped": "", "fused": []}
    with pytest.raises(Malformed):
        wire.read_outcome(message, b"", asked(0))


def test_bytes_cannot_be_read_twice() -> None:
    once = ["array", "ndarray", "bool", [600], 0]
    message: dict[str, Any] = {"returned": None, "printed": "", "stopped": "time", "fused": []}
    assert wire.read_outcome(message | {"after": [once]}, b"\0" * 1000, asked(1))
    with pytest.raises(Malformed, match="one value"):
        wire.read_outcome(message | {"after": [once, once]}, b"\0" * 1000, asked(2))


def test_items_are_counted_across_all_values() -> None:
    values = [
        ["floats", "list", 400, 0],
        ["items", "list", [["scalar", "int", 1]] * 400],
        ["array", "ndarray", "bool", [400], 3200],
    ]
    message: dict[str, Any] = {"returned": None, "printed": "", "stopped": "time", "fused": []}
    assert wire.read_outcome(message | {"after": values}, bytes(8000), asked(3, 300))
    with pytest.raises(Malformed, match="items"):
        wire.read_outcome(message | {"after": values}, bytes(8000), asked(3, 298))


# frames ---------------------------------------------------------------------------------------


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


Ends = tuple[socket.socket, socket.socket]


def frame(text: bytes, block: bytes = b"") -> bytes:
    return struct.pack(">QQ", len(text), len(block)) + text + block


def test_message_and_bytes_arrive(ends: Ends) -> None:
    ours, theirs = ends
    wire.send(theirs, {"a": ["\ud800", math.inf]}, b"\1\2")
    assert wire.receive(ours, REPLY, 5) == ({"a": ["\ud800", math.inf]}, b"\1\2")


def test_messages_that_come_together_are_taken_one_by_one(ends: Ends) -> None:
    ours, theirs = ends
    sent = [({"number": number}, bytes(9 * number)) for number in range(20)]
    theirs.sendall(b"".join(frame(json.dumps(message).encode(), block) for message, block in sent))
    ahead = bytearray()
    assert [wire.receive(ours, REPLY, 5, ahead) for _ in sent] == sent
    assert not ahead
    with pytest.raises(Late):
        wire.receive(ours, REPLY, 0.05, ahead)


def test_each_of_several_messages_has_a_limit_of_its_own(ends: Ends) -> None:
    ours, theirs = ends
    theirs.sendall(frame(b"{}") + frame(b"{}", bytes(100)) + frame(b"{}"))
    ahead = bytearray()
    assert wire.receive(ours, 50, 5, ahead) == ({}, b"")
    with pytest.raises(Malformed):
        wire.receive(ours, 50, 5, ahead)


def test_no_more_is_taken_ahead_than_one_read(ends: Ends) -> None:
    ours, theirs = ends
    flood = threading.Thread(target=theirs.sendall, args=(frame(b"{}") * 20_000,))
    flood.start()
    ahead = bytearray()
    for _ in range(20_000):
        wire.receive(ours, REPLY, 5, ahead)
        assert len(ahead) < wire.AHEAD
    flood.join()


@pytest.mark.parametrize("kept", [0, 7, 16, 20])
def test_cut_message_is_gone(ends: Ends, kept: int) -> None:
    ours, theirs = ends
    theirs.sendall(frame(b'{"number": 1}')[:kept])
    theirs.close()
    with pytest.raises(Gone):
        wire.receive(ours, REPLY, 5)


@pytest.mark.parametrize("kept", [0, 7, 16, 20])
def test_message_that_does_not_end_is_late(ends: Ends, kept: int) -> None:
    ours, theirs = ends
    theirs.sendall(frame(b'{"number": 1}')[:kept])
    with pytest.raises(Late):
        wire.receive(ours, REPLY, 0.05)


def test_trickle_is_late_though_each_byte_comes_in_time(ends: Ends) -> None:
    ours, theirs = ends
    stop = threading.Event()

    def trickle() -> None:
        for byte in frame(b'{"number": 1}' + b" " * 1000):
            if stop.wait(0.02):
                return
            theirs.sendall(bytes([byte]))

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        with pytest.raises(Late):
            wire.receive(ours, REPLY, 0.2)
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize(("text", "block"), [(2**64 - 1, 2**64 - 1), (2, REPLY), (REPLY + 1, 0)])
def test_message_that_is_too_long_is_refused_before_it_is_read(
    ends: Ends, text: int, block: int
) -> None:
    ours, theirs = ends
    theirs.sendall(struct.pack(">QQ", text, block))
    with pytest.raises(Malformed):
        wire.receive(ours, REPLY, 5)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"1",
        b"null",
        b'{"a"',
        b"\xff\xfe{",
        b"\x80",
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b"\xef\xbb\xbf[]",
    ],
)
def test_what_is_no_json_object_is_malformed(ends: Ends, text: bytes) -> None:
    ours, theirs = ends
    theirs.sendall(frame(text))
    with pytest.raises(Malformed):
        wire.receive(ours, REPLY, 5)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(frame(data))
        theirs.close()
        try:
            message, _ = wire.receive(ours, REPLY, 5)
        except (Malformed, Gone):
            return
        assert type(message) is dict


def test_nobody_there_to_take_a_message_is_gone(ends: Ends) -> None:
    ours, theirs = ends
    theirs.close()
    with pytest.raises(Gone):
        wire.send(ours, {})


def test_message_that_is_not_taken_is_late(ends: Ends) -> None:
    ours, _ = ends
    ours.settimeout(0.05)
    with pytest.raises(Late):
        wire.send(ours, {}, b"\0" * 10_000_000)


# what a valid message may lie about -------------------------------------------------------------

Form = Callable[[tuple[np.ndarray, ...], Exercise], Value]


def _in(dtype: str, byte: int | None = None) -> Form:
    """The right shapes, in another dtype; `byte` fills the data."""

    def form(right: tuple[np.ndarray, ...], exercise: Exercise) -> Value:
        parts = []
        for array, slot in zip(right, exercise.returns, strict=False):
            kind = "tensor" if slot.kind == "tensor" else "ndarray"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data = array.astype(dtype).tobytes()
            filled = data if byte is None else bytes([byte]) * len(data)
            parts.append(Array(kind, dtype, array.shape, filled))
        return parts[0] if len(parts) == 1 else Items("tuple", tuple(parts))

    return form


def _listed(scalar: Scalar) -> Form:
    """The right shapes as lists, of one item."""

    def nest(shape: tuple[int, ...]) -> Value:
        if not shape:
            return scalar
        return Items("list", (nest(shape[1:]),) * shape[0])

    def form(right: tuple[np.ndarray, ...], exercise: Exercise) -> Value:
        parts = tuple(nest(array.shape) for array in right)
        return parts[0] if len(parts) == 1 else Items("tuple", parts)

    return form


FORMS: dict[str, Form] = {
    **{dtype: _in(dtype) for dtype in wire.SIZES},
    **{f"{dtype} of {byte:#x}": _in(dtype, byte) for dtype in wire.SIZES for byte in (7, 0xFF)},
    "NaN": _listed(Scalar("float", math.nan)),
    "inf": _listed(Scalar("float", -math.inf)),
    "huge ints": _listed(Scalar("int", -(10**400))),
    "bools": _listed(Scalar("bool", True)),
    "text": _listed(Scalar("str", "0.5")),
    "half": _listed(Scalar("numpy.float16", 1e300)),
    "quadruple": _listed(Scalar("numpy.float128", 1e300)),
    "large unsigned": _listed(Scalar("numpy.uint64", -(2**70))),
}


# One exercise for each kind of result; `make prove` asks all.
FIRST = {each.returns[0].kind: each for each in reversed(EXERCISES)}.values()
LIED_TO = [
    pytest.param(
        each, id=f"{each.lesson}-{each.name}", marks=[] if each in FIRST else [pytest.mark.prove]
    )
    for each in EXERCISES
]


@settings(max_examples=6, deadline=None)
@given(
    st.lists(
        st.one_of(st.sampled_from(sorted(FORMS)), values, raised, st.sampled_from(["", "time"])),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
@pytest.mark.parametrize("exercise", LIED_TO)
def test_judge_survives_every_valid_lie(exercise: Exercise, told: list[Any], changes: bool) -> None:
    numbers = iter(range(10**6))
    rights = {_inputs(posed.call): posed.right.values for posed in pose(exercise, SEEDS)}

    def perform(calls: Sequence[Call]) -> Iterator[Outcome]:
        return map(told_of, calls)

    def told_of(call: Call) -> Outcome:
        lie = told[next(numbers) % len(told)]
        if isinstance(lie, str) and lie in FORMS:
            right = rights[_inputs(call)]
            lie = FORMS[lie](right, exercise) if right else Other("nothing")
        inputs = (*call.args, *call.kwargs.values())
        after = (Other("gone"),) * len(inputs) if changes else inputs
        if isinstance(lie, Raised):
            outcome = Outcome(None, lie, after)
        elif isinstance(lie, str):
            outcome = Outcome(None, None, after, stopped=lie or "output")
        else:
            outcome = Outcome(lie, None, after)
        message, block = wire.write_outcome(outcome, call.most, inputs)
        return wire.read_outcome(there_and_back(message), block, call)

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a grader's terminal is no place for a learner's numbers
        verdict = judge(exercise, perform, SEEDS, hidden=True)
    assert isinstance(verdict, Verdict)
    assert 0 <= verdict.score <= exercise.points
    assert verdict.status == "PASS" or verdict.score < exercise.points


def _inputs(call: Call) -> tuple[int, int]:
    """What a call has in common with itself when it is asked again without the call before."""
    return id(call.args), id(call.kwargs)
