"""Beside a learner's code: runs its cells in order, and calls its functions when asked to.

A child does what the grader says, one message at a time, and tells what happened. It knows the
inputs of an exercise's calls, and nothing of what would be right.
"""

from __future__ import annotations
import __future__

import ast
import asyncio
import builtins
import contextlib
import importlib
import inspect
import linecache
import marshal
import math
import pkgutil
import random
import site
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from attnlab import calling
from attnlab.calling.call import Call, Printed, Raised, note, perform, quiet
from attnlab.calling.deadline import Deadline, Overrun
from attnlab.calling.observe import describe, found, observe
from autograder.sandbox.child import wire
from autograder.sandbox.child.wire import Ran

REQUEST_BYTES = 1 << 30  # the grader's own messages are as large as they need to be
SHOWN = 10_000  # characters of a cell's output that are kept
WITHOUT_TORCH = ("modules", "memory")  # modules of `attnlab.calling`
CUT = "\n… (cut here)\n"
OURS = str(Path(__file__).resolve().parents[3])  # where this course's code lies in a child
AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
FUTURE = __future__.annotations.compiler_flag  # the only future import that still changes anything
WARM = """
import matplotlib.pyplot as plt
from attnlab import begin, check, figures
plt.subplots()
%time 1
!true
"""
WARM_NUMPY = """
import numpy as np
x = np.random.default_rng(0).standard_normal((2, 3))
np.einsum("nd,md->nm", x, x, optimize=True), np.linalg.norm(np.exp(x @ x.T)), np.triu(x)
"""
WARM_TORCH = """
import torch
from torch import nn
q = torch.ones(2, 3, dtype=torch.float64).requires_grad_()
layer = nn.Linear(3, 4).double()
weights = torch.softmax(layer(q) @ layer(q).transpose(-2, -1) / 2, dim=-1)
weights = weights.masked_fill(torch.ones(2, 2).triu(1).bool(), 0) + torch.einsum("nd,md->nm", q, q)
torch.autograd.grad(weights.sum(), [q])
"""


def serve(channel: socket.socket, stage: str) -> None:
    """Answer until the grader closes the channel.

    Args:
        channel: to the grader.
        stage: 'pure', 'numpy' or 'torch'.
    """
    notebook = Notebook()
    while True:
        try:
            message, block = wire.receive(channel, REQUEST_BYTES)
            for answer, answer_block in notebook.do(message, block):
                wire.send(channel, answer | {"number": message["number"]}, answer_block)
        except wire.Gone:
            return


def warm_up(stage: str) -> None:
    """Pay once, before any child is forked, for what the first use of a library costs.

    What uses an answer is loaded here as well: as it is before a learner's first line.

    Starts no thread: a fork would lose it.

    Args:
        stage: 'pure', 'numpy' or 'torch'.
    """
    for module in pkgutil.iter_modules(calling.__path__):
        if stage == "torch" or module.name in WITHOUT_TORCH:
            importlib.import_module(f"{calling.__name__}.{module.name}")
    notebook = Notebook()
    notebook.run(WARM, "<warm-up>", 60)
    if stage != "pure":
        notebook.run(WARM_NUMPY, "<warm-up>", 60)
    if stage == "torch":
        from attnlab.calling import banned

        with banned.refusing():
            notebook.run(WARM_TORCH, "<warm-up>", 60)
        banned.keep_kernels()
    linecache.clearcache()
    sys.modules.pop("__main__")


class Notebook:
    """A learner's notebook while it runs."""

    def __init__(self) -> None:
        from IPython import get_ipython
        from IPython.display import display

        _same_chance_for_all()
        site.sethelper()  # help; a zygote is started without them
        site.setcopyright()  # copyright, credits, license
        vars(builtins).update(get_ipython=get_ipython, display=display, __IPYTHON__=True)
        self.main = ModuleType("__main__")
        self.names = self.main.__dict__
        self.names.update(get_ipython=get_ipython, exit=sys.exit, quit=sys.exit, open=open)
        self.names.update(_="", __="", ___="", _dh=[Path.cwd()], __builtin__=builtins)
        self.names["Out"] = self.names["_oh"] = {}
        sys.modules["__main__"] = self.main
        if "" not in sys.path:
            sys.path.append("")  # a notebook finds modules that it wrote itself
        self._future = 0
        self.history = [""]
        self.function: Any = None
        self.deadline = Deadline(0)
        self._banned = ""
        self._refused: Sequence[str] | None = None
        self._refusing = contextlib.ExitStack()

    def do(self, message: dict[str, Any], block: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Do what a message asks for, and answer it: with one message, or with one a call."""
        self._refuse(message["banned"] if message["do"] == "calls" else "")
        match message["do"]:
            case "run":
                ran = self.run(message["source"], message["name"], message["seconds"])
                yield ran._asdict() | {"raised": wire.write_raised(ran.raised)}, b""
            case "bind":
                yield {"bound": self.bind(message["name"], message["seconds"])}, b""
            case "give":
                self.give(message["name"], block)
                yield {}, b""
            case "calls":
                yield from self._make(wire.read_calls(message, block))

    def _refuse(self, banned: str) -> None:
        """Refuse what is banned until a message asks for something else.

        To begin takes longer than most calls, and of one exercise there are several messages.
        """
        if banned != self._banned:
            self._refusing.close()
            self._banned, self._refused = banned, None
            if banned:
                self._refused = self._refusing.enter_context(found("banned.refusing")(banned))

    def _make(self, calls: Iterable[Call]) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Make calls until one is stopped."""
        for at, call in enumerate(calls):
            outcome = perform(self.function, call, self.deadline, self._refused)
            inputs = (*call.args, *call.kwargs.values())
            answer, block = wire.write_outcome(outcome, call.most, inputs)
            yield answer | {"at": at}, block
            if outcome.stopped:
                return

    def run(self, source: str, name: str, seconds: float) -> Ran:
        """Run a cell as a notebook does: the last expression is shown, an error ends the cell."""
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        printed, shown, stopped = Printed(math.inf, SHOWN), "", ""
        raised: Raised | None = None
        deadline = Deadline(seconds)
        try:
            with quiet(printed), deadline:
                shown = self._execute(source, name)
        except Overrun:
            deadline.release()
            stopped = "time"
        except BaseException as error:  # a learner's cell may raise anything, SystemExit included
            raised = note(error, OURS)
        cut = CUT if printed.length > SHOWN else ""
        return Ran(raised if not stopped else None, printed.kept + cut, shown, stopped)

    def bind(self, name: str, seconds: float) -> str:
        """Find the function that the coming calls are for, and start their clock.

        Returns:
            '' if there is one; 'nothing', or what else has its name.
        """
        self.deadline = Deadline(seconds)
        self.function = self.names.get(name)
        if name not in self.names:
            return "nothing"
        return "" if callable(self.function) else describe(observe(self.function))

    def give(self, name: str, code: bytes) -> None:
        """Put a function that is not the learner's in the place of theirs.

        It looks its names up in a namespace of its own, so that none of theirs changes it.

        Args:
            code: the grader's, compiled: there is no source to read.
        """
        own: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
        exec(marshal.loads(code), own)
        self.names[name] = own[name]

    def _execute(self, source: str, name: str) -> str:
        before = ["", "", *self.history]
        self.history.append(source)
        self.names["In"] = self.names["_ih"] = [*self.history]
        self.names.update(_i=before[-1], _ii=before[-2], _iii=before[-3])
        self.names[f"_i{len(self.history) - 1}"] = source
        tree = _parse(source, name, self._future)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        code = _compiled(tree, name, "exec", self._future)
        self._future |= code.co_flags & FUTURE  # in a notebook it holds for the cells that follow
        self._run_code(code)
        if not isinstance(last, ast.Expr):
            return ""
        expression = ast.Expression(last.value)
        value = self._run_code(_compiled(expression, name, "eval", self._future))
        if value is None or source.rstrip().endswith(";"):
            return ""
        self._remember(value)
        return repr(value)[:SHOWN]

    def _remember(self, value: Any) -> None:
        """Keep what a cell showed under the names that IPython gives it."""
        number = len(self.history) - 1
        out = self.names.get("Out")
        if type(out) is dict:  # a learner may have another use for the name
            out[number] = value
        self.names["___"], self.names["__"] = self.names.get("__"), self.names.get("_")
        self.names["_"] = self.names[f"_{number}"] = value

    def _run_code(self, code: CodeType) -> Any:
        if code.co_flags & inspect.CO_COROUTINE:
            return asyncio.run(eval(code, self.names))
        return eval(code, self.names)


def _parse(source: str, name: str, future: int) -> ast.Module:
    """Python, or IPython's dialect of it."""
    flags = ast.PyCF_ONLY_AST | future
    try:
        return _compiled(source, name, "exec", flags)
    except SyntaxError:
        from IPython import get_ipython

        return _compiled(get_ipython().transform(source), name, "exec", flags)


def _compiled(source: str | ast.Module | ast.Expression, name: str, mode: str, flags: int) -> Any:
    """Code as it stands: this module's own future imports are none of a learner's."""
    return compile(source, name, mode, flags | AWAIT, dont_inherit=True)


def _same_chance_for_all() -> None:
    """Seed what is random, so that grading twice gives the same."""
    random.seed(0)
    # Of PyTorch's generators the CPU's: to seed the others' too takes as long as running a cell.
    for library, seed in (("numpy", "random.seed"), ("torch", "default_generator.manual_seed")):
        found: Any = sys.modules.get(library)
        if found is not None:
            for part in seed.split("."):
                found = getattr(found, part)
            found(0)
