"""Messages between the grader and a child: plain JSON and raw bytes, checked on arrival.

A message is a JSON object and one block of bytes, which numbers that come in bulk are kept in. The
calls of an exercise are one message, and each of them is answered by one of its own. A child's
messages are a stranger's: `read_outcome` and `read_ran` accept what is complete and valid,
and raise Malformed for anything else. Nothing is ever unpickled or evaluated.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple

from attnlab.calling.call import Call, Outcome, Raised
from attnlab.calling.observe import (
    DEPTH_LIMIT,
    Array,
    ByName,
    Floats,
    Items,
    Large,
    Other,
    Scalar,
    Value,
)

UNLIMITED = 1 << 62
LENGTHS = struct.Struct(">QQ")  # of the JSON and of the bytes
CHUNK = 1 << 20
AHEAD = 1 << 16  # bytes that are taken at once, whether or not they belong to the next message
TEXTS_BYTES = 256 << 10  # of a reply, for all that is no number: names, messages, what was printed
NUMBER_BYTES = 64  # of the JSON or of the bytes that a number takes
SIZES = {
    "bool": 1,
    **{f"{kind}{bits}": bits // 8 for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": bits // 8 for bits in (16, 32, 64, 128)},
    **{f"complex{bits}": bits // 8 for bits in (64, 128, 256)},
}
PLAIN: dict[str, tuple[type, ...]] = {
    "float": (float,),
    "int": (int,),
    "bool": (bool,),
    "str": (str,),
    "NoneType": (type(None),),
}
DIMENSIONS = 64  # NumPy's own limit
TEXT = 2000  # characters of any text that is shown
NAMES = 20  # of any list of names
NAME = 100  # characters of the name of an exception


class Malformed(Exception):
    """A message is not one that a well-behaved child would send."""


class Gone(Exception):
    """The other side has closed the channel."""


class Late(Exception):
    """No complete message came in time, or nobody waits for it any more."""


class Ran(NamedTuple):
    """What running a cell did.

    Attributes:
        printed: the first of what it printed.
        shown: its last expression's repr, '' if there was none.
        stopped: '' or 'time'.
    """

    raised: Raised | None
    printed: str
    shown: str
    stopped: str


# --- frames ---


def send(channel: socket.socket, message: dict[str, Any], block: bytes = b"") -> None:
    """Send one message.

    Raises:
        Gone: nobody listens.
        Late: the channel's timeout passed before all was taken.
    """
    send_text(channel, json.dumps(message).encode(), block)


def send_text(channel: socket.socket, text: bytes, block: bytes = b"") -> None:
    """Send one message that is JSON already.

    Raises:
        Gone, Late: as above.
    """
    try:
        channel.sendall(b"".join((LENGTHS.pack(len(text), len(block)), text, block)))
    except TimeoutError as error:
        raise Late from error
    except OSError as error:
        raise Gone from error


def reply_bytes(most: int = 0) -> int:
    """How long a reply may be: no longer than the right answer warrants.

    Args:
        most: numbers that are looked at, see `Call`.
    """
    return TEXTS_BYTES + NUMBER_BYTES * most


def receive(
    channel: socket.socket,
    limit: int,
    seconds: float = math.inf,
    ahead: bytearray | None = None,
) -> tuple[dict[str, Any], bytes]:
    """Receive one message.

    Args:
        limit: bytes that it may have; once read, JSON takes up to thirty times as much memory.
        seconds: for all of it.
        ahead: what had come of the next message with the one before, and will have with this one.
    Raises:
        Gone: the other side is not there any more.
        Late: time is up.
        Malformed: too large, or no JSON object.
    """
    until = time.monotonic() + seconds
    there = bytearray() if ahead is None else ahead
    _fill(channel, there, LENGTHS.size, until)
    text_length, block_length = LENGTHS.unpack_from(there)
    if text_length + block_length > limit:
        raise Malformed(f"a message of {text_length + block_length:,} bytes")
    begin = LENGTHS.size + text_length
    end = begin + block_length
    _fill(channel, there, end, until)
    text, block = bytes(there[LENGTHS.size : begin]), bytes(there[begin:end])
    del there[:end]
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed("no JSON") from error
    if type(message) is not dict:
        raise Malformed("no JSON object")
    return message, block


def _fill(channel: socket.socket, there: bytearray, length: int, until: float) -> None:
    """Wait until so many bytes are there; a few more may come along."""
    while len(there) < length:
        left = until - time.monotonic()
        if left <= 0:
            raise Late
        channel.settimeout(None if left == math.inf else left)
        try:
            part = channel.recv(max(AHEAD, min(CHUNK, length - len(there))))
        except TimeoutError:
            raise Late from None
        except OSError as error:
            raise Gone from error
        if not part:
            raise Gone
        there += part


# --- writing ---


def write_value(value: Value, block: bytearray) -> list[Any]:
    """A value as JSON, its numbers in bulk appended to `block`."""
    match value:
        case Array(kind, dtype, shape, data) if dtype in SIZES:
            block += data
            return ["array", kind, dtype, list(shape), len(block) - len(data)]
        case Array(kind, dtype):
            return ["other", f"{kind} of dtype {dtype}", ""]
        case Floats(kind, data):
            block += b"\0" * (-len(block) % 8)
            block += data
            return ["floats", kind, len(data) // 8, len(block) - len(data)]
        case Items(kind, items):
            return ["items", kind, [write_value(item, block) for item in items]]
        case Scalar(kind, int() as whole) if type(whole) is int and abs(whole) >= 1 << 63:
            return ["big", kind, hex(whole)]
        case Scalar(kind, content):
            if content is not None and type(content) not in (float, int, bool, str):
                return ["other", kind, ""]
            return ["scalar", kind, content]
        case Large(kind, shape, dtype):
            return ["large", kind, list(shape), dtype]
        case ByName(name, args):
            return ["name", name, [write_value(arg, block) for arg in args]]
        case Other(kind, base):
            return ["other", kind[:TEXT], base[:TEXT]]


def write_call(call: Call) -> tuple[dict[str, Any], bytes]:
    """A call as JSON, without what is as usual, and bytes."""
    block = bytearray()

    def listed(values: Iterable[Value]) -> list[Any]:
        return [write_value(value, block) for value in values]

    def named(values: Mapping[str, Value]) -> dict[str, Any]:
        return {name: write_value(value, block) for name, value in values.items()}

    unusual = {
        "kwargs": named(call.kwargs),
        "state": named(call.state),
        "gradient": call.gradient,
        "fixed": call.fixed,
        "earlier": listed(call.earlier),
        "banned": call.banned,
        "laid": call.laid,
        "built": call.built,
        "by": call.by,
    }
    message = {"args": listed(call.args), "most": call.most}
    if call.sizes is not None:
        message["sizes"] = listed(call.sizes)
    return message | {name: what for name, what in unusual.items() if what}, bytes(block)


class Written(NamedTuple):
    """A call as it is sent.

    Attributes:
        text: JSON.
        banned: as the call's own.
    """

    text: bytes
    block: bytes
    banned: str


def written(call: Call) -> Written:
    message, block = write_call(call)
    return Written(json.dumps(message).encode(), block, call.banned)


def write_calls(calls: Sequence[Written], number: int) -> tuple[bytes, bytes]:
    """A request to make calls one after the other, as JSON and bytes."""
    blocks = [len(call.block) for call in calls]
    each = {call.banned for call in calls}
    banned = each.pop() if len(each) == 1 else ""  # in all of them, or by each call itself
    head = json.dumps({"do": "calls", "number": number, "blocks": blocks, "banned": banned})
    texts = b", ".join(call.text for call in calls)
    whole = b"".join((head[:-1].encode(), b', "calls": [', texts, b"]}"))
    return whole, b"".join(call.block for call in calls)


def write_outcome(
    outcome: Outcome, most: int, before: Sequence[Value] = ()
) -> tuple[dict[str, Any], bytes]:
    """An outcome as JSON and bytes; of values too large for a reply only that they are.

    Args:
        before: the inputs as they were; of one that still is so nothing but that is said.
    """
    block = bytearray()
    message = {
        "returned": None if outcome.returned is None else write_value(outcome.returned, block),
        "raised": write_raised(outcome.raised),
        "after": [
            None if value == was else write_value(value, block)
            for value, was in zip_longest(outcome.after, before)
        ],
        "printed": outcome.printed[:TEXT],
        "stopped": outcome.stopped,
        "fused": [name[:TEXT] for name in outcome.fused[:NAMES]],
    }
    if len(block) + len(json.dumps(message)) < reply_bytes(most) - TEXT:
        return message, bytes(block)
    if outcome.returned is not None and not isinstance(outcome.returned, Other):
        cut = replace(outcome, returned=_too_large(outcome.returned))
        return write_outcome(cut, most, before)
    return write_outcome(replace(outcome, after=tuple(map(_too_large, outcome.after))), most)


def _too_large(value: Value) -> Value:
    if isinstance(value, ByName):
        return value
    return Other(f"{value.kind.removeprefix('nd')} too large to be compared")


def write_raised(raised: Raised | None) -> dict[str, Any] | None:
    if raised is None:
        return None
    return {
        "names": [name[:NAME] for name in raised.names[:NAMES]],
        "message": raised.message[:TEXT],
        "line": raised.line[:TEXT],
        "function": raised.function[:TEXT],
        "left": raised.left,
    }


# --- reading ---


def read_calls(message: dict[str, Any], block: bytes) -> Iterator[Call]:
    """The other way of `write_calls`, one call after the other."""
    start = 0
    for call, length in zip(message["calls"], message["blocks"], strict=True):
        yield read_call(call, block[start : start + length])
        start += length


def read_call(message: dict[str, Any], block: bytes) -> Call:
    """The other way of `write_call`."""
    reader = _Reader(block, UNLIMITED)

    def listed(name: str) -> tuple[Value, ...]:
        return tuple(map(reader.value, message.get(name, ())))

    def named(name: str) -> dict[str, Value]:
        return {key: reader.value(item) for key, item in message.get(name, {}).items()}

    return Call(
        listed("args"),
        named("kwargs"),
        listed("sizes") if "sizes" in message else None,
        named("state"),
        message.get("gradient", False),
        tuple(message.get("fixed", ())),
        listed("earlier"),
        message.get("banned", ""),
        message["most"],
        message.get("laid", ""),
        message.get("built", ""),
        message.get("by", ""),
    )


def read_outcome(message: dict[str, Any], block: bytes, call: Call) -> Outcome:
    """What a child says that a call did.

    Args:
        call: whose inputs must be given back as they are now.
    Raises:
        Malformed: it is not exactly what `write_outcome` writes.
    """
    inputs = (*call.args, *call.kwargs.values())
    reader = _Reader(block, (len(inputs) + 1) * (call.most + 1))
    returned, raised = message.get("returned"), _raised(message.get("raised"))
    stopped = _one_of(message.get("stopped"), ("", "time", "output", "memory", "interrupt"))
    # Out of memory and the end of its time are raised; all else is one or the other.
    apart = raised is not None and stopped not in ("memory", "time")
    endings = (returned is not None, apart, bool(stopped))
    if sum(endings) != 1:
        raise Malformed("a call has one ending")
    after = _list(message.get("after"), len(inputs))
    if len(after) != len(inputs):
        raise Malformed("inputs are missing")
    return Outcome(
        None if returned is None else reader.value(returned),
        raised,
        tuple(
            was if item is None else reader.value(item)
            for item, was in zip(after, inputs, strict=True)
        ),
        text_of(message.get("printed")),
        stopped,
        tuple(text_of(name) for name in _list(message.get("fused"), NAMES)),
    )


def read_ran(message: dict[str, Any]) -> Ran:
    """What a child says that a cell did.

    Raises:
        Malformed: as above.
    """
    return Ran(
        _raised(message.get("raised")),
        text_of(message.get("printed"), 20_000),
        text_of(message.get("shown"), 20_000),
        _one_of(message.get("stopped"), ("", "time")),
    )


class _Reader:
    """Reads values, and counts, so that few bytes cannot stand for many items or arrays."""

    def __init__(self, block: bytes, most: int) -> None:
        self._block = block
        self._unread = len(block)
        self._budget = most
        self._kinds: dict[str, Callable[..., Value]] = {
            "scalar": self._scalar,
            "big": self._big,
            "floats": self._floats,
            "array": self._array,
            "large": self._large,
            "other": self._other,
        }

    def value(self, item: Any, depth: int = DEPTH_LIMIT + 1) -> Value:
        if type(item) is not list or not item or type(item[0]) is not str or depth < 0:
            raise Malformed("no value")
        tag, *rest = item
        try:
            if tag in ("items", "name"):
                return {"items": self._items, "name": self._by_name}[tag](depth, *rest)
            return self._kinds[tag](*rest)
        except (TypeError, ValueError, LookupError, OverflowError) as error:
            raise Malformed("no such value") from error

    def _scalar(self, kind: Any, content: Any) -> Value:
        if kind in PLAIN:
            if type(content) not in PLAIN[kind]:
                raise Malformed(f"a {kind} that is none")
            if type(content) is int and abs(content) >= 1 << 63:
                raise Malformed("a large int is sent as text")
            return Scalar(kind, content)
        library, _, name = text_of(kind).partition(".")
        wanted: type[float] = bool if name == "bool" else float if "float" in name else int
        if library != "numpy" or name not in SIZES or name.startswith("complex"):
            raise Malformed("no such number")
        if type(content) is not wanted:
            raise Malformed(f"a {kind} that is none")
        return Scalar(kind, content)

    def _big(self, kind: Any, text: Any) -> Value:
        return Scalar(_one_of(kind, ("int", "numpy.uint64")), int(text_of(text), 16))

    def _items(self, depth: int, kind: Any, items: Any) -> Value:
        items = _list(items, self._budget)
        self._spend(len(items))
        return Items(
            _one_of(kind, ("list", "tuple")), tuple(self.value(item, depth - 1) for item in items)
        )

    def _floats(self, kind: Any, count: Any, start: Any) -> Value:
        self._spend(_whole(count))
        return Floats(_one_of(kind, ("list", "tuple")), bytes(self._bytes(start, 8 * count)))

    def _array(self, kind: Any, dtype: Any, shape: Any, start: Any) -> Value:
        axes = _axes(shape)
        self._spend(math.prod(axes))
        size = math.prod(axes) * SIZES[_one_of(dtype, tuple(SIZES))]
        return Array(
            _one_of(kind, ("ndarray", "tensor")), dtype, axes, bytes(self._bytes(start, size))
        )

    def _large(self, kind: Any, shape: Any, dtype: Any) -> Value:
        if kind in ("list", "tuple") and len(axes := _axes(shape)) == 1 and dtype == "":
            return Large(kind, axes)
        return Large(
            _one_of(kind, ("ndarray", "tensor")), _axes(shape), _one_of(dtype, tuple(SIZES))
        )

    def _by_name(self, depth: int, name: Any, args: Any) -> Value:
        args = _list(args, self._budget)
        self._spend(len(args))
        return ByName(text_of(name), tuple(self.value(arg, depth - 1) for arg in args))

    def _other(self, kind: Any, base: Any) -> Value:
        return Other(text_of(kind), text_of(base))

    def _bytes(self, start: Any, length: int) -> bytes:
        if not 0 <= _whole(start) <= start + length <= len(self._block):
            raise Malformed("bytes are missing")
        self._unread -= length
        if self._unread < 0:
            raise Malformed("bytes are there for one value each")
        return self._block[start : start + length]

    def _spend(self, items: int) -> None:
        self._budget -= items
        if self._budget < 0:
            raise Malformed("too many items")


def _raised(message: Any) -> Raised | None:
    if message is None:
        return None
    if type(message) is not dict:
        raise Malformed("no exception")
    names = tuple(text_of(name, NAME) for name in _list(message.get("names"), NAMES))
    if not names:
        raise Malformed("an exception without a name")
    text, line, function = (
        text_of(message.get("message")),
        text_of(message.get("line")),
        text_of(message.get("function")),
    )
    left = message.get("left")
    if type(left) is not int or not 0 <= left < UNLIMITED:
        raise Malformed("no line's number")
    return Raised(names, text, line, function, left)


def text_of(text: Any, limit: int = TEXT) -> str:
    """A short text, or Malformed."""
    if type(text) is not str or len(text) > limit:
        raise Malformed("no text, or too much")
    return text.encode("utf-8", "replace").decode()  # a lone surrogate could not be written


def _axes(shape: Any) -> tuple[int, ...]:
    axes = tuple(_whole(length) for length in _list(shape, DIMENSIONS))
    if math.prod(max(1, length) for length in axes) >= 1 << 48:
        raise Malformed("no array is so large, not even an empty one")
    return axes


def _whole(number: Any) -> int:
    if type(number) is not int or not 0 <= number < 1 << 62:
        raise Malformed("no count")
    return number


def _list(items: Any, limit: int) -> list[Any]:
    if type(items) is not list or len(items) > limit:
        raise Malformed("no list, or too long")
    return items


def _one_of(text: Any, allowed: tuple[str, ...]) -> str:
    if type(text) is not str or text not in allowed:
        raise Malformed("not one of those known")
    return text
