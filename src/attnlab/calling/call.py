"""Calling a learner's function with one case, and writing down all that happened.

This module and `observe` are the only parts of a check that stand next to a learner's code. They
know inputs, and nothing of what the right answer is.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import io
import linecache
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attnlab.calling.deadline import Deadline, Overrun, first_of
from attnlab.calling.observe import (
    ITEM_LIMIT,
    Other,
    Value,
    found,
    lay,
    observe,
    rebuild,
    type_name,
)
from attnlab.calling.settings import usual_settings

PRINT_LIMIT = 64 * 1024  # characters a function may print in one call
PRINT_SHOWN = 400  # of which a card shows the first
NOBODY = "input() waits for somebody to type"
UNWRITTEN = re.compile(r"\braise\s+\w*NotImplemented")  # how a stub says that it is one
NO_MEMORY = re.compile("can't allocate memory|not enough memory|bad_alloc|into an index-sized")


@dataclass(frozen=True, slots=True)
class Call:
    """One call to make: the inputs, and for PyTorch exercises what to do with them.

    Attributes:
        args: positional arguments.
        kwargs: named ones.
        sizes: if the learner wrote a module: what its constructor is given.
        state: and the parameters to load into it.
        gradient: take gradients with respect to args and parameters, instead of the result.
        fixed: positions of args that need no gradient.
        earlier: arguments of a call that is made before, with other numbers in the parameters, and
            whose result is not looked at.
        banned: what of PyTorch's own is refused while the call lasts: '' for nothing, 'attention',
            or 'backward' for softmax's own way back.
        most: numbers that are looked at in what it returns, and in each input afterwards.
        laid: how arrays and tensors come: '' as usual, 'views' that are not contiguous, or on the
            'meta' device, where they have a shape and no numbers.
        built: the function of this package that makes a module of its class and sizes, if it is not
            made as usual: 'modules.in_evaluation'.
        by: the procedure of this package that uses the function, 'modules.construct', if it takes
            more than one call; it gets the function, then args and kwargs.
    """

    args: tuple[Value, ...]
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    sizes: tuple[Value, ...] | None = None
    state: Mapping[str, Value] = field(default_factory=dict)
    gradient: bool = False
    fixed: tuple[int, ...] = ()
    earlier: tuple[Value, ...] = ()
    banned: str = ""
    most: int = ITEM_LIMIT
    laid: str = ""
    built: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that came out of a learner's function.

    Attributes:
        names: the exception's class and its bases, nearest first.
        line: the line of the learner's code that raised, '' if it cannot be told.
        function: the learner's function that this line is in, '' if it was in none.
        left: the line's number in its cell, where it is a `raise NotImplementedError` that was left
            in a function with more in it; else 0.
    """

    names: tuple[str, ...]
    message: str
    line: str = ""
    function: str = ""
    left: int = 0

    @property
    def name(self) -> str:
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call did: it returned, raised, or ran out of time or of room to print."""

    returned: Value | None = None
    raised: Raised | None = None
    after: tuple[Value, ...] = ()  # the inputs, as the call left them
    printed: str = ""
    stopped: str = ""  # 'time', 'output', 'memory' (both of which were raised) or 'interrupt'
    fused: tuple[str, ...] = ()  # what was refused and called all the same


class TooMuchOutput(BaseException):
    """Raised inside a learner's print; not an Exception, so that `except Exception` lets it by."""


class SharedResult(Exception):
    """Two calls gave back the same thing, so that the second changed what the first returned."""


class Printed(io.TextIOBase):
    """Keeps the first of what is printed.

    Args:
        limit: characters that may be printed; more raise TooMuchOutput.
        shown: characters that are kept.
    """

    def __init__(self, limit: float = PRINT_LIMIT, shown: int = PRINT_SHOWN) -> None:
        self.kept, self.length = "", 0
        self._limit, self._shown = limit, shown

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.length += len(text)
        if len(self.kept) < self._shown:
            self.kept += text[: self._shown - len(self.kept)]
        if self.length > self._limit:
            raise TooMuchOutput
        return len(text)


def perform(
    function: Callable[..., Any],
    call: Call,
    deadline: Deadline,
    refused: Sequence[str] | None = None,
) -> Outcome:
    """Call a function with fresh copies of a case's inputs and observe the rest.

    Args:
        function: the learner's.
        call: the inputs.
        deadline: shared by all calls of one check.
        refused: what of PyTorch's own a block around all calls has refused so far. None
            if there is no such block: then this call has its own.
    Returns:
        The outcome. Nothing that the function raises comes out of here.
    """
    printed = Printed()
    returned: Value | None = None
    raised: Raised | None = None
    stopped = ""
    fused: Sequence[str] = ()
    with usual_settings():
        args = [lay(rebuild(value), call.laid) for value in call.args]
        kwargs = {name: lay(rebuild(value), call.laid) for name, value in call.kwargs.items()}
        # What is looked at afterwards: tuples, which cannot be changed by way of a frame.
        inputs = (*args, *kwargs.values())
        try:
            # Refusing goes outermost: it gives back what it replaced whatever is interrupted.
            with _refusing(call, refused) as fused, quiet(printed), deadline:
                try:
                    returned = observe(_make(function, call, args, kwargs), call.most)
                except (Overrun, TooMuchOutput, KeyboardInterrupt):
                    raise
                except BaseException as error:  # a learner's code may raise SystemExit, too
                    raised = note(error)  # in here, as its message may print, or never end
                    stopped = "memory" if out_of_memory(raised) else ""
        except Overrun as over:
            deadline.release()
            stopped, raised = "time", note(first_of(over))
        except TooMuchOutput:
            stopped = "output"
        except KeyboardInterrupt:  # the learner's own wish to stop
            stopped = "interrupt"
    if printed.length > PRINT_LIMIT:
        stopped = "output"
    if stopped:  # it may have come to an end as well, as time ran out
        returned, raised = None, raised if stopped in ("memory", "time") else None
    after = tuple(_observe_again(thing, call.most) for thing in inputs)
    return Outcome(returned, raised, after, printed.kept, stopped, tuple(fused))


def _observe_again(thing: Any, most: int) -> Value:
    """What an input is after the call; a learner may have put into it what cannot be observed."""
    try:
        return observe(thing, most)
    except Exception as error:  # out of memory, or a dtype that only PyTorch has
        return Other(f"{type_name(type(thing))} that cannot be read ({type(error).__name__})")


@usual_settings()
def repeat(function: Callable[..., Any], call: Call) -> Any:
    """Make a call again as `perform` made it, and let out what it returns, prints or raises."""
    args = [lay(rebuild(value), call.laid) for value in call.args]
    kwargs = {name: lay(rebuild(value), call.laid) for name, value in call.kwargs.items()}
    return _make(function, call, args, kwargs)


def _make(function: Callable[..., Any], call: Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Make the call, on a module, for gradients or by a procedure if that is what it asks."""
    if call.built:
        function = functools.partial(found(call.built), function)
    if call.by:
        function = functools.partial(found(call.by), function)
    target, parameters = function, []
    if call.sizes is not None:
        state = {name: rebuild(value) for name, value in call.state.items()}
        built_with = [rebuild(size) for size in call.sizes]
        banned = call.banned == "attention"
        target = found("torch_calls.build")(function, built_with, state, banned)
        if call.earlier or call.gradient:
            parameters = found("torch_calls.named")(target, state)
    if call.earlier:
        return _after_another(target, call, args, kwargs, parameters)
    if call.gradient:
        return found("torch_calls.gradients")(target, args, kwargs, parameters, call.fixed)
    return target(*args, **kwargs)


def _after_another(
    target: Callable[..., Any],
    call: Call,
    args: list[Any],
    kwargs: dict[str, Any],
    parameters: Sequence[Any],
) -> Any:
    """Make the call after an earlier one, for which parameters have other numbers: they learn.

    What the earlier one raises is for another case to tell.

    Raises:
        SharedResult: it changed what the earlier one returned.
    """
    for parameter in parameters:
        parameter.data.neg_()
    first = None
    with contextlib.suppress(Exception):
        first = target(*map(rebuild, call.earlier))
    for parameter in parameters:
        parameter.data.neg_()
    before = observe(first, call.most)
    result = target(*args, **kwargs)
    if observe(first, call.most) != before:
        raise SharedResult("a second call changed what the first one had returned")
    return result


def _refusing(
    call: Call, refused: Sequence[str] | None
) -> contextlib.AbstractContextManager[Sequence[str]]:
    if refused is not None:
        return contextlib.nullcontext(refused)
    if not call.banned:
        return contextlib.nullcontext(())
    refusing: contextlib.AbstractContextManager[list[str]] = found("banned.refusing")(call.banned)
    return refusing


@contextlib.contextmanager
def quiet(printed: Printed) -> Iterator[None]:
    """Send what is printed or warned of to `printed`: nbgrader scores a check with stderr as 0.

    And nobody is asked to type: nobody would, where answers are graded.
    """
    with (
        replaced(builtins, "input", nobody_types),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def nobody_types(prompt: object = "", /) -> str:
    raise EOFError(NOBODY)


@contextlib.contextmanager
def replaced(module: Any, name: str, other: Any) -> Iterator[None]:
    """A name of a module's, meaning something else for a while."""
    own = getattr(module, name)
    setattr(module, name, other)
    try:
        yield
    finally:
        setattr(module, name, own)


def out_of_memory(raised: Raised) -> bool:
    """Whether an exception says that there is no memory left; PyTorch has no class for it."""
    return "MemoryError" in raised.names or bool(NO_MEMORY.search(raised.message))


def note(error: BaseException, ours: str = "") -> Raised:
    """Write down what is known of an exception. Raises nothing but Overrun and TooMuchOutput.

    Args:
        ours: a folder, whose code is no learner's either.
    """
    kinds = type.__dict__["__mro__"].__get__(type(error))
    names = tuple(type_name(base) for base in kinds if base is not object)
    try:
        message = str.__str__(str(error))  # it may be a str's subclass
    except (Overrun, TooMuchOutput):
        raise
    except BaseException as broken:  # a learner's __str__ may raise anything, too
        message = f"(its message could not be read: {type_name(type(broken))})"
    try:
        place = _place_of(error, ours)
    except Exception:  # as may a loader, which is asked for the lines of its code
        place = "", "", 0
    return Raised(names, message[:500], *place)


def _place_of(error: BaseException, ours: str) -> tuple[str, str, int]:
    """The last line of the learner's own code in a traceback, its function, and `Raised.left`."""
    here = os.path.dirname(__file__)
    libraries = (here, sys.prefix + os.sep, os.path.dirname(os.__file__), *filter(None, [ours]))
    line, function, left = "", "", 0
    # A recursion without end has thousands of frames, all alike: the first hundred are enough.
    frames = BaseException.__dict__["__traceback__"].__get__(error)
    for frame in traceback.extract_tb(frames, limit=100):
        if frame.filename.startswith((*libraries, "<frozen ")):
            continue
        if frame.line or not line:  # code that was made from text has no lines to show
            line = (frame.line or "").strip()
            # A comprehension, which is a frame up to Python 3.11, and a lambda are in a function.
            function = function if frame.name.startswith("<") else frame.name
            left = _left_in(frame) if UNWRITTEN.search(line) else 0
    return line[:200], function, left


def _left_in(frame: traceback.FrameSummary) -> int:
    """The line of a `raise` that was handed out, if its function says more than that; else 0."""
    number = frame.lineno or 0
    try:
        tree = ast.parse("".join(linecache.getlines(frame.filename)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a cell with a magic in it, say
        return 0
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= number <= (node.end_lineno or 0)
    ]
    own = max(around, key=lambda node: node.lineno, default=ast.Module([], []))
    written = [each for each in own.body if not isinstance(each, ast.Expr | ast.Pass | ast.Raise)]
    return number if written else 0
