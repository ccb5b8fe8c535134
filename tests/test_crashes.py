"""What a beginner's exception is told: each is really raised here, by the installed libraries."""

# mypy: ignore-errors

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnlab.calling import timing, watching
from attnlab.calling.call import Call, Raised, perform
from attnlab.calling.deadline import Deadline
from attnlab.calling.sequences import rows_by_place
from attnlab.calling.torch_calls import WrongStructure, build
from attnlab.checks.crashes import CRASHES, explain, is_meant
from attnlab.checks.words import CHECKS, read, spoken

Row: Any = [1.0, 2.0]
Rows: Any = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
A: Any = np.ones((5, 7))
B3: Any = np.ones((2, 5, 4))
S: Any = np.ones((2, 5, 5))
T: Any = torch.ones(2, 5, 4)
LENGTHS: Any = torch.tensor([2, 3])
TURNED: Any = torch.ones(3, 5, 4).permute(2, 1, 0)
BY_PLACE: Any = rows_by_place(
    torch.eye(5), torch.ones(2, 1, 5, 5), torch.eye(4), 0.0, "as they are"
)
LAYER: Any = nn.Linear(4, 4)
TABLE: Any = nn.Embedding(5, 4)
Row3: Any = torch.ones(3)
NONE: Any = None
NUMBER: Any = 5.0
Both: Any = (T, T)


def elsewhere(q: Any, *_: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: q * 2).result()


def imports() -> None:
    import no_such_package_anywhere  # noqa: F401


class UsageError(Exception):
    """As IPython's."""


def unknown_magic() -> None:
    raise UsageError("Line magic function `%frobnicate` not found.")


def fails(*_: Any) -> None:
    raise OSError("no compiler")


def uncompiled() -> Any:
    return T + 1


def late(go: bool = False) -> float:
    if go:
        total = 0.0
    return total


def slip() -> float:
    return squared(2.0)  # noqa: F821


def one(scores: Any) -> Any:
    return scores


def built_in(scores: Any) -> Any:
    max = max(scores)  # noqa: F823
    return max


def built_in_sum(scores: Any) -> Any:
    sum = sum(scores)  # noqa: F823
    return sum


def halves(x: Any) -> Any:
    return x[: len(x) / 2]


def nothing_yet() -> Any:
    out: Any = None
    out[0] += 1.0
    return out


def no_return(n: int) -> Any:
    torch.ones(n)


def text_raised() -> Any:
    raise "KeyError"  # noqa: B016


def key_raised() -> Any:
    raise KeyError("no key " + Row)


def equals_none(mask: Any) -> Any:
    if mask == None:  # noqa: E711
        return 0


def halves_written(x: Any) -> None:
    x[..., 0::2] = x


def back_twice() -> None:
    loss = (T.clone().requires_grad_() ** 2).sum()
    loss.backward()
    loss.backward()


class NoSelf(nn.Module):
    def forward(x):
        return x


class NoSelfNorDefault(nn.Module):
    def forward(x, causal=False):
        return x.shape


class NoSelfRead(nn.Module):
    def forward(x, causal=False):
        return self.W_q(x)  # noqa: F821


def halved(module: Any) -> Any:
    for p in module.parameters():
        p *= 0.02


class Uninitialised(nn.Module):
    def __init__(self) -> None:
        self.W_q = nn.Linear(2, 2)


class Headed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.W_q, self.W_o = nn.Linear(12, 12), nn.Linear(12, 12)


def split(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


class Sized(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__(d)


class Assigned(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.W_q = nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        self.W_q = self.W_q(x)
        return self.W_q


class Reassigned(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.W_q = nn.Parameter(torch.ones(4, 3))
        self.W_q = self.W_q * 0.02


class AboveForward(nn.Module):
    def forward(self, x: Any) -> Any:
        return super().forward(x)


class Unprepared(nn.Module):
    def __init__(self) -> None:
        self.table = nn.Parameter(torch.ones(2))


class NoForward(nn.Module):
    def forwards(self, x: Any) -> Any:
        return x


def added_to(x: Any, y: Any) -> Any:
    x += y
    return x


def filled(C: Any) -> Any:
    C[0][0] = 1.0
    return C


def sizes(x: Any) -> Any:
    b, n, d = x.shape
    return b * n * d


def pairs() -> Any:
    return [a * b for a, b in Rows[0]]


def unzipped() -> Any:
    return [a * b for a, b in [(1, 2, 3)]]


def forgetful(x: Any) -> Any:
    return x - x.max(1)


def forgetful_tensors(x: Any) -> Any:
    return x / x.sum(-1)


def in_place(x: Any) -> Any:
    x /= 2
    return x


def written(x: Any) -> Any:
    x[0] = 1.0
    return x


def only_efficient() -> Any:
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(T, T, T)


def until_it_moves(fn: Callable[..., Any], clock: Callable[[], float]) -> float:
    start = clock()
    while clock() < start + 1:
        fn()
    return clock() - start


# What is run, and words that its reason or its remedy has to have.
CRASHED: dict[str, tuple[Callable[[], Any], str]] = {
    "each with each": (lambda: np.empty((10**8, 10**8)), "N² numbers"),
    "a value read before it is given": (late, "no value yet"),
    "a name of nothing": (slip, "Nothing here has defined `squared`"),
    "a number called": (lambda: NUMBER(3), "has the name of a function"),
    "a function indexed": (lambda: len[Row], "round brackets"),
    "no super().__init__()": (Uninitialised, "super().__init__()"),
    "no forward": (lambda: NoForward()(T), "`forward`"),
    "a built-in's name for a variable": (lambda: built_in(Row), "the variable another name"),
    "the name sum for a variable": (lambda: built_in_sum(Row), "`sum` is that variable"),
    "a matrix called": (lambda: T(T), "`x @ W_q` for a matrix"),
    "a parameter called": (lambda: nn.Parameter(T)(T), "`self.W_q(x)` for a layer"),
    "an array called": (lambda: A(1), "`x @ W_q` for a matrix"),
    ".T called": (lambda: T.mT(), "without brackets"),
    "a shape called": (lambda: T.shape(-1), "`x.shape[-1]`"),
    "a shape called in NumPy": (lambda: A.shape(-1), "`x.shape[-1]`"),
    "a module of Python called": (lambda: math(3), "of type module"),
    "a function's parameters": (lambda: next(one.parameters()), "only a module has `parameters`"),
    "a function's mode": (lambda: one.training, "only a module has `training`"),
    "a method not called": (lambda: T.sum - 1, "it was not called"),
    "a function for its mask": (lambda: T.masked_fill(one, 0.0), "`causal_mask(n)`"),
    "a function's length": (lambda: len(one), "it was not called"),
    "a method indexed": (lambda: T.size[-1], "round brackets"),
    "an argument too many": (lambda: one(1, 2), "`one` cannot take the arguments"),
    "an argument of no such name": (lambda: one(1, mask=0), "`one` cannot take the arguments"),
    "an argument by a wrong name": (lambda: one(1, axis=0), "knows no `axis`"),
    "axis for PyTorch": (lambda: nn.functional.softmax(T, axis=-1), "PyTorch's `dim`"),
    "dim for NumPy": (lambda: A.max(dim=-1), "NumPy's say `axis` and `keepdims`"),
    "keepdim for NumPy": (lambda: np.max(A, -1, keepdim=True), "NumPy's say `axis` and `keepdims`"),
    "axis for Python's sum": (lambda: sum(Rows, axis=0), "Python's own know none"),
    "softmax along nothing": (lambda: torch.softmax(T), "`torch.softmax(x, dim=-1)`"),
    "a method softmax along nothing": (lambda: T.softmax(), "`torch.softmax(x, dim=-1)`"),
    "transpose of no axes": (lambda: T.transpose(), "`x.transpose(-1, -2)`"),
    "unsqueeze of no axis": (lambda: T.unsqueeze(), "`x.unsqueeze(-1)`"),
    "an argument missing in NumPy": (lambda: np.outer(A), "`outer` cannot take"),
    "a tuple for two sizes": (lambda: nn.Linear((4, 3)), "`Linear.__init__` cannot take"),
    "tensors for sizes": (lambda: torch.ones(LENGTHS, LENGTHS), "another type"),
    "an array for a mask": (lambda: T.masked_fill(A > 0, 0.0), "`masked_fill` cannot take"),
    "super().__init__(d)": (lambda: Sized(3), "Write `super().__init__()`"),
    "a result put on its layer": (lambda: Assigned()(T), "`q = self.W_q(x)`"),
    "a result put on its parameter": (Reassigned, "put into `nn.Parameter(…)`"),
    "a parameter of sizes": (lambda: nn.Parameter(4, 3), "nn.Parameter(torch.randn(d, d_k))"),
    "a parameter of a list": (lambda: nn.Parameter(Row), "nn.Parameter(torch.randn(d, d_k))"),
    "@ with a layer": (lambda: T @ LAYER, "Write `self.W_q(x)`"),
    "matmul with a layer": (lambda: torch.matmul(T, LAYER), "Write `self.W_q(x)`"),
    "a layer's mT": (lambda: LAYER.mT, "Write `self.W_q(x)`"),
    "a layer indexed": (lambda: LAYER[T], "Write `self.W_q(x)`"),
    "an attribute of a layer, misspelt": (lambda: LAYER.wieght, "nothing called `wieght`"),
    "forward of a class that has none": (lambda: AboveForward()(T), "in the class named there"),
    "a name set to None": (nothing_yet, "may have been set to None"),
    "a mask that is None": (lambda: T.masked_fill(no_return(3), 0.0), "without a `return`"),
    "math of None": (lambda: math.exp(NONE), "without a `return`"),
    "a text plus a list": (key_raised, 'f"no key {key}"'),
    "a text raised": (text_raised, 'raise ValueError("…")'),
    "a loop over None": (lambda: list(NONE), "without a `return`"),
    "None times a number": (lambda: NONE * 2.0, "without a `return`"),
    "an attribute of None": (lambda: NONE.shape, "without a `return`"),
    "a list for a dict's key": (lambda: dict(zip(Rows, Row, strict=False)), "compare with `==`"),
    "a key that is not there": (lambda: {}["sleep"], "does not hold"),
    "a list times a float": (lambda: Row * 0.5, "repeats the list"),
    "a list times a list": (lambda: Row * Row, "pair by pair"),
    "a list minus a number": (lambda: Row - 1.0, "Python's lists do none"),
    "minus a list": (lambda: -Row, "Python's lists do none"),
    "a list below a number": (lambda: Row < 1.0, "Python's lists do none"),
    "a list plus a number": (lambda: Row + 1.0, "joins a list to a list"),
    "two indices of a list": (lambda: Rows[0, 1], "A[i][j]"),
    "an item for a place": (lambda: Row[1.0], "not their places"),
    "writing past the end": (lambda: written([]), "append"),
    "reading past the end": (lambda: Row[5], "exchanged"),
    "reading an empty list": (lambda: [][0], "or empty"),
    "an axis's size that is not there": (lambda: A.shape[2], "`x.shape[-1]`"),
    "a dict's method of a list": (lambda: Row.get(1), "`.keys()` to dicts"),
    "an array's method of a list": (lambda: Row.max(), "`max(row)`"),
    "exp of a list": (lambda: math.exp(Row), "one number"),
    "a list's shape": (lambda: Rows.shape, "plain list"),
    "a loop over a number": (lambda: list(Row[0]), "one level deeper"),
    "an index of a number": (lambda: Row[0][0], "one level deeper"),
    "len of a number": (lambda: len(Row[0]), "one level deeper"),
    "a loop over a tensor of one number": (lambda: list(torch.tensor(1.0)), "one level deeper"),
    "writing into a tuple": (lambda: written((1, 2)), "cannot be written into"),
    "max of nothing": (lambda: max([]), "nothing here"),
    "three sizes of a matrix": (lambda: sizes(A), "x.shape[-2:]"),
    "two names for three values": (unzipped, "`zip`"),
    "e to the 1000": (lambda: math.exp(1000), "largest score"),
    "a power too large": (lambda: math.e**1000, "largest score"),
    "divided by 0": (lambda: 1 / 0.0, "divides by 0"),
    "if with an array": (lambda: bool(A > 1), "`mask is None`"),
    "== None": (lambda: equals_none(A), "`mask is None`"),
    "Python's max of rows": (lambda: max(A), "`x.max(axis=-1)`"),
    "Python's max with a number": (lambda: max(A, 1e-12), "`np.maximum(x, floor)`"),
    "Python's max of a tensor": (lambda: max(T, 1e-12), "`x.clamp(min=floor)`"),
    "if with a tensor": (lambda: bool(T > 1), "`mask is None`"),
    "math.log of an array": (lambda: math.log(A), "of the same name"),
    "math.exp of an array": (lambda: math.exp(A), "np.exp"),
    "math.exp of a tensor": (lambda: math.exp(T), "torch.exp"),
    "item of many": (lambda: T.item(), "torch.exp"),
    "~ of floats in NumPy": (lambda: ~A, "mask is not bool"),
    "~ of floats in PyTorch": (lambda: ~T, "mask is not bool"),
    "1 - mask": (lambda: 1 - (T > 0), "~mask"),
    "- mask in PyTorch": (lambda: -(T > 0), "~mask"),
    "- mask in NumPy": (lambda: -(A > 0), "~mask"),
    "mask - mask in PyTorch": (lambda: (T > 0) - (T > 1), "a & ~b"),
    "mask - mask in NumPy": (lambda: (A > 0) - (A > 1), "a & ~b"),
    "masked_fill with numbers": (lambda: T.masked_fill(T, 0.0), "*bool* mask"),
    "max(dim) taken for values": (lambda: T - T.max(-1, keepdim=True), ".values"),
    "PyTorch's method of an array": (lambda: A.masked_fill(A > 0, 0), "np.where"),
    "NumPy's method of a tensor": (lambda: T.astype(float), ".to(dtype)"),
    "a slip in a tensor's method": (lambda: T.mask_fill(T > 0, 0.0), "`.masked_fill(mask, value)`"),
    "a slip in an array's method": (lambda: A.summ(), "a slip of the pen"),
    "a slip in NumPy": (lambda: np.ln(A), "ln is `log`"),
    "a slip in PyTorch": (lambda: torch.arrange(3), "`torch` has nothing called `arrange`"),
    "no such method": (lambda: np.random.default_rng(0).randn(3), "nothing called `randn`"),
    "torch.exp of a list": (lambda: torch.exp(Row), "this is a list"),
    "torch.exp of a float": (lambda: torch.exp(NUMBER), "For one number use `math`"),
    ".T of a batch in PyTorch": (lambda: torch.ones(2, 5, 4) @ torch.ones(3, 5, 4).T, "*all* axes"),
    ".T of a batch in NumPy": (lambda: B3 @ B3.T, "*all* axes"),
    ".t() of a batch": (lambda: T.t(), "`.mT`"),
    ".T of a batch, a line before": (lambda: T @ TURNED, "`.mT`"),
    "rows left out": (lambda: BY_PLACE(T[:, :2]), "a copy of all of x"),
    ".T of one axis": (lambda: torch.arange(4) < LENGTHS.T, "`x[:, None]`"),
    "keepdims forgotten": (lambda: forgetful(A), "keepdims=True"),
    "keepdim forgotten": (lambda: forgetful_tensors(T), "keepdim=True"),
    "factors exchanged": (lambda: torch.ones(5, 6) @ torch.ones(4, 3), "wrong order"),
    "heads that are not merged": (lambda: Headed().W_o(torch.ones(2, 3, 5, 4)), "d/H each"),
    "heads cut too early": (lambda: Headed().W_q(split(torch.ones(2, 5, 12), 3)), "cut what they"),
    "factors exchanged in a batch": (lambda: T @ torch.ones(2, 5, 4), "lacks its transpose"),
    "factors exchanged in NumPy": (lambda: A @ A, "lacks its transpose"),
    "shapes that do not broadcast": (lambda: T - torch.ones(2, 5), "from the last axis backwards"),
    "mT of a vector": (lambda: torch.ones(3).mT, "fewer than two axes"),
    "triu of one axis": (lambda: torch.triu(torch.ones(4), 1), "`torch.ones(n, n)`"),
    "bmm of matrices": (lambda: torch.bmm(T[0], T[0]), "Write `a @ b`"),
    "mm of batches": (lambda: torch.mm(T, T), "Write `a @ b`"),
    "permute of a matrix": (lambda: T[0].permute(0, 2, 1), "`.swapaxes(-1, -2)`"),
    "an axis that is not there": (lambda: np.ones(3).sum(axis=1), "-1 is the last axis"),
    "a dim that is not there": (lambda: T.sum(5), "-1 is the last axis"),
    "axes of a matrix for a batch": (lambda: A.transpose(0, 2, 1), "-1 is the last axis"),
    "an index beyond an axis": (lambda: T[5], "not there"),
    "an index too many": (lambda: np.ones(3)[0, 1], "not there"),
    "a bool index of another shape": (lambda: B3[np.ones(3) > 0], "broadcast"),
    "reshape for transpose": (lambda: A.reshape(3, 3), "transpose"),
    "view after a transpose": (lambda: T.mT.view(2, 20), "`reshape`, not `view`"),
    "complex numbers after a transpose": (
        lambda: torch.view_as_complex(torch.ones(2, 5).T),
        "`.contiguous()`",
    ),
    "cat of other sizes": (lambda: torch.cat([torch.ones(2), torch.ones(2, 2)]), "joined"),
    "tensors joined in no list": (lambda: torch.cat(T, T), "one list or tuple"),
    "arrays joined in no list": (lambda: np.concatenate(A, A), "one list or tuple"),
    "an array joined to a tensor": (lambda: torch.cat((T, B3)), "this is a numpy.ndarray"),
    "a letter of no factor": (lambda: torch.einsum("nd,md->nk", T[0], T[0]), "after the arrow"),
    "a factor missing": (lambda: torch.einsum("nd,md->nm", T[0]), "between the commas"),
    "a letter of two sizes": (lambda: np.einsum("nd,dm->nm", A, A), "one size"),
    "turned by T, with as many columns as rows": (lambda: S @ S.T, "*all* axes"),
    "einsum without its batch": (lambda: torch.einsum("nd,md->nm", T, T), "after the arrow"),
    "rows of different lengths": (lambda: np.array([[1, 2], [3]]), "different lengths"),
    "/= of whole numbers": (lambda: in_place(np.ones(3, int)), "x = x / total"),
    "softmax of whole numbers": (lambda: torch.softmax(torch.tensor([1, 2]), 0), ".float()"),
    "two precisions": (lambda: T.double() @ torch.ones(4, 3), "dtype=x.dtype"),
    "two precisions in a layer": (lambda: nn.Linear(4, 3)(T.double()), "dtype=x.dtype"),
    "whole numbers times floats": (lambda: T @ T.mT.long(), "or whole numbers and floats"),
    "two precisions in baddbmm": (
        lambda: torch.baddbmm(torch.ones(2, 5, 5), T.double(), T.mT.double()),
        "dtype=x.dtype",
    ),
    "too large for float16": (lambda: T.half().masked_fill(T > 0, -1e9), 'float("-inf")'),
    "inf among whole numbers": (lambda: T.long().masked_fill(T > 0, -math.inf), "no inf"),
    "two devices": (lambda: torch.ones(3, device="meta") + torch.ones(3), "x.device"),
    "a view that is read-only": (lambda: written(np.broadcast_to(1.0, (2, 2))), "Copy it"),
    "NumPy on what needs a gradient": (lambda: np.exp(T.clone().requires_grad_()), "Stay in"),
    "a size that is a float": (lambda: T.reshape(2, 5, 2, 4 / 2), "`//`"),
    "a place that is a float": (lambda: halves(Row), "`//`"),
    "a size of NumPy that is a float": (lambda: np.zeros(4 / 2), "`//`"),
    "an axis that is a float": (lambda: T.unsqueeze(2 / 2), "`//`"),
    "sizes that are a tensor": (
        lambda: torch.zeros(LENGTHS),
        "`torch.arange(m) < lengths[:, None]`",
    ),
    "repeated by a tensor": (lambda: torch.arange(4).repeat(LENGTHS), "several at once"),
    "a tensor among sizes": (lambda: torch.zeros((LENGTHS, 4)), "several at once"),
    "a list for a size": (lambda: range(Row), "`len(rows)`"),
    "a slice up to a tensor": (lambda: T[:LENGTHS], "`torch.arange(m) < lengths[:, None]`"),
    "sizes in no tuple": (lambda: np.zeros(4, 4), "as one tuple"),
    "random sizes in no tuple": (lambda: np.random.default_rng(0).normal(0, 1, 2.5), "`//`"),
    "sizes of a draw in no tuple": (
        lambda: np.random.default_rng(0).standard_normal(4, 3),
        "`rng.standard_normal((n, d))`",
    ),
    "+= on a smaller array": (lambda: added_to(np.ones(3), np.ones((2, 3))), "x = x + y"),
    "+= on a smaller tensor": (lambda: added_to(torch.ones(3), torch.ones(2, 3)), "x = x + y"),
    "lists multiplied by @": (lambda: Rows @ Rows, "Sum over products"),
    "rows that are not there yet": (lambda: filled([]), "append a row at a time"),
    "targets of a longer shape": (
        lambda: torch.nn.functional.cross_entropy(T, torch.zeros(2, 5, dtype=torch.long)),
        "flatten(0, -2)",
    ),
    "a draw from NaN": (lambda: torch.multinomial(T[0] * float("nan"), 1), "temperature 0"),
    "a parameter before super().__init__()": (Unprepared, "first line"),
    "a backend that does not take it": (only_efficient, "Catch the `RuntimeError`"),
    "waiting for no GPU": (torch.cuda.synchronize, "torch.cuda.is_available()"),
    "a tensor for no GPU": (lambda: T.cuda(), "nothing can be put on one"),
    "a clock that stands still": (
        lambda: timing.watch(until_it_moves, [0.0], 0.0, "clock", 0.0),
        "Count calls, not time",
    ),
    "numbers in a list where they are counted": (
        lambda: watching.holds(lambda q, *_: torch.tensor(q.tolist()), T, T, T, 2, False),
        "PyTorch's operators, on tensors",
    ),
    "numbers in another thread": (
        lambda: watching.holds(elsewhere, T, T, T, 2, False),
        "PyTorch's operators, on tensors",
    ),
    "a question to a learner": (lambda: input("n? "), "the function's arguments"),
    "a magic that there is not": (unknown_magic, "answers need no magic"),
    "a package that is not there": (imports, "Leave that import out"),
    "more items than there can be": (lambda: [0] * 10**20, "how many it is to get"),
    "a compiler that is not there": (
        lambda: torch.compile(uncompiled, backend=fails)(),  # which takes a second to load
        "under another name",
    ),
    "first values in place": (lambda: halved(LAYER), "`nn.init`"),
    "a loss of settings": (lambda: nn.CrossEntropyLoss(T[0], LENGTHS), "`F.cross_entropy(logits,"),
    "an activation of settings": (lambda: LAYER(nn.ReLU(T)), "are its settings"),
    "a method of settings": (lambda: nn.ReLU(T).mean(1), "are its settings"),
    "settings plus a number": (lambda: nn.ELU(T) + 1, "are its settings"),
    "forward without self": (lambda: NoSelf()(T), "Write `self` first"),
    "a module taken for x": (lambda: NoSelfNorDefault()(T), "`def` begins without `self`"),
    "no self to read": (lambda: NoSelfRead()(T), "Write `self` first"),
    "an embedding indexed": (lambda: TABLE[:3], "`self.table(torch.arange(n))`"),
    "an embedding of a number": (lambda: TABLE(3), "`torch.arange(n)`"),
    "an embedding of floats": (lambda: TABLE(torch.ones(2)), "`ids.long()`"),
    "an embedding too short": (lambda: TABLE(torch.tensor([7])), "`ids.max()`"),
    "floats for places": (lambda: T[torch.ones(1)], "`ids.long()`"),
    "a parameter of an array": (lambda: nn.Parameter(A), "`nn.Parameter` takes one tensor"),
    "NumPy's transpose": (lambda: T.transpose(0, 2, 1), "`x.permute(0, 2, 1, 3)`"),
    "nothing joined to a tensor": (lambda: torch.cat([NONE, T]), "ask first"),
    "a pair times a number": (lambda: T.max(-1) * 2.0, "values and places"),
    "a loop over a whole number": (lambda: [0 for _ in len(Row)], "`for i in range(n)`"),
    "a chain": (lambda: 0 <= T < 3, "brackets of its own"),
    "a chain by &": (lambda: T >= 0 & LENGTHS[0] < 3, "brackets of its own"),
    "a power by ^": (lambda: NUMBER ^ 2, "`n**2`"),
    "a power of a tensor by ^": (lambda: T ^ 2, "`n**2`"),
    "a tuple handed on": (lambda: LAYER((T, T)), "Take it apart first"),
    "a tuple added": (lambda: T + Both, "Take it apart first"),
    "a tuple added in place": (lambda: added_to(T, Both), "or pick one by its place"),
    "added to a tuple": (lambda: Both + T, "Take it apart first"),
    "multiplied by a tuple": (lambda: T @ Both, "Take it apart first"),
    "a tuple multiplied": (lambda: Both @ T, "Take it apart first"),
    "a parameter minus a tuple": (lambda: nn.Parameter(T) - Both, "Take it apart first"),
    "a tuple's mT": (lambda: Both.mT, "Take it apart first"),
    "targets for logits": (lambda: F.cross_entropy(LENGTHS, T[0]), "takes logits first"),
    "targets of floats": (lambda: F.cross_entropy(T[0], T[0, :, 0]), "`targets.long()`"),
    "a table shorter than x": (lambda: (T + T[:, :3]).mean(1), "from the last axis"),
    "written where too few fit": (lambda: halves_written(T.clone()), "from the last axis"),
    "a matrix and a vector": (lambda: T[0] @ Row3, "matrix product"),
    "two vectors": (lambda: Row3 @ T[0, 0], "matrix product"),
    "no way back": (lambda: T.sum().backward(), "nothing to go back along"),
    "back from many": (lambda: T.clone().requires_grad_().exp().backward(), "one number"),
    "back twice": (back_twice, "anew before each"),
    "a function in Sequential": (lambda: nn.Sequential(F.relu), "`nn.ReLU()` for `F.relu`"),
    "a median of nothing": (lambda: statistics.median([]), "may not have run"),
    "in place on a leaf": (lambda: in_place(T.clone().requires_grad_()), "new tensor"),
}


@cache
def raised_by(name: str) -> Raised:
    raised = perform(CRASHED[name][0], Call(()), Deadline(8)).raised
    assert raised is not None
    return raised


@pytest.mark.parametrize("name", CRASHED)
def test_a_crash_is_explained(name: str) -> None:
    found = explain(raised_by(name))
    assert found is not None, raised_by(name)
    said = [spoken(" ".join(found), stage) for stage in ("pure", "numpy", "torch")]
    assert any(CRASHED[name][1] in text for text in said), said


def test_every_line_of_the_table_is_the_answer_to_some_crash() -> None:
    assert len({explain(raised_by(name)) for name in CRASHED}) >= len(CRASHES)


def test_each_line_of_the_table_has_its_own_words() -> None:
    assert [crash.slug for crash in CRASHES] == list(read(CHECKS / "crashes.md"))


def test_what_nobody_has_thought_of_is_left_to_the_traceback() -> None:
    def unheard_of() -> None:
        return open("/no/such/file")

    raised = perform(unheard_of, Call(()), Deadline(8)).raised
    assert raised is not None
    assert explain(raised) is None


def test_a_crash_in_a_comprehension_or_a_lambda_is_in_the_function_around_it() -> None:
    def helper(rows: list[int]) -> list[float]:
        return [1 / row for row in rows]

    def answer() -> float:
        return (lambda: sum(helper([0])))()

    raised = perform(answer, Call(()), Deadline(8)).raised
    assert raised is not None
    assert (raised.line, raised.function) == ("return [1 / row for row in rows]", "helper")
    raised = perform(lambda: 1 / 0, Call(()), Deadline(8)).raised
    assert raised is not None
    assert raised.function == ""


MEANT = {
    "raise KeyError(query)": ("KeyError", "LookupError"),
    "raise errors.KeyError(query)": ("errors.KeyError", "KeyError"),
    "if len(q) != d: raise ValueError(len(q))": ("ValueError",),
    "if not keys: raise LookupError": ("LookupError",),
    "assert n == m": ("AssertionError",),
    "raise": ("ZeroDivisionError", "ArithmeticError"),
    "raise error": ("ZeroDivisionError", "ArithmeticError"),
}
NOT_MEANT = {
    "x = raised": ("KeyError",),
    "if q.shape[2] != d: raise ValueError(d)": ("IndexError", "LookupError"),
    "assert q.shape[2] == d": ("IndexError", "LookupError"),
    "raise KeyErorr(query)": ("NameError",),
    "raise KeyError('no key ' + query)": ("TypeError",),
}


@pytest.mark.parametrize("line", MEANT)
def test_a_raise_of_the_learners_own_is_known_as_such(line: str) -> None:
    assert is_meant(Raised((*MEANT[line], "Exception"), "", line))


@pytest.mark.parametrize("line", NOT_MEANT)
def test_what_a_line_with_a_raise_stumbles_over_is_not_meant(line: str) -> None:
    assert not is_meant(Raised((*NOT_MEANT[line], "Exception"), "", line))


def misspelt() -> Any:
    raise keyError("no key")  # noqa: F821


@pytest.mark.parametrize("crashing", [text_raised, key_raised, misspelt])
def test_a_raise_that_crashes_is_not_meant(crashing: Callable[[], Any]) -> None:
    raised = perform(crashing, Call(()), Deadline(8)).raised
    assert raised is not None
    assert raised.line.startswith("raise")
    assert not is_meant(raised)


class Shared(nn.Module):
    def __init__(self, apart: bool) -> None:
        super().__init__()
        self.W_q = nn.Linear(2, 2, bias=False)
        self.W_k = nn.Linear(2, 2, bias=False) if apart else self.W_q
        self.layers = nn.ModuleList([self.W_q, self.W_k])


def test_one_parameter_under_two_names_is_told_as_such() -> None:
    state = {name: torch.ones(2, 2) for name in ("W_q.weight", "W_k.weight")}
    with pytest.raises(WrongStructure, match="one parameter under two names"):
        build(Shared, [False], state)
    build(Shared, [True], state)  # layers that stand in a list as well are no parameters more
    with pytest.raises(WrongStructure, match="should not have: W_k"):
        build(Shared, [True], {"W_q.weight": torch.ones(2, 2)})
