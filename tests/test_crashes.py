"""What a beginner's exception is told: each is really raised here, by the installed libraries."""

# mypy: disable-error-code="attr-defined, call-arg, call-overload, index, operator, arg-type, misc"

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from attnlab.calling import clock
from attnlab.calling.call import Call, perform
from attnlab.calling.deadline import Deadline
from attnlab.judging.advice import spoken
from attnlab.judging.crashes import CRASHES, explain, is_meant

Row: Any = [1.0, 2.0]
Rows: Any = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
A: Any = np.ones((5, 7))
B3: Any = np.ones((2, 5, 4))
T: Any = torch.ones(2, 5, 4)
NONE: Any = None
NUMBER: Any = 5.0


def late(go: bool = False) -> float:
    if go:
        total = 0.0
    return total


def slip() -> float:
    return squared(2.0)  # type: ignore[name-defined]  # noqa: F821


def one(scores: Any) -> Any:
    return scores


class Uninitialised(nn.Module):
    def __init__(self) -> None:
        self.W_q = nn.Linear(2, 2)


class Headed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.W_o = nn.Linear(12, 12)


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


def no_clock() -> None:
    raise clock.NoClock


def other_arguments() -> None:
    raise clock.OtherArguments


# What is run, and words that its reason or its remedy has to have.
CRASHED: dict[str, tuple[Callable[[], Any], str]] = {
    "each with each": (lambda: np.empty((10**8, 10**8)), "N² numbers"),
    "a value read before it is given": (late, "no value yet"),
    "a name of nothing": (slip, "Nothing here has defined `squared`"),
    "a number called": (lambda: NUMBER(3), "another name"),
    "a function indexed": (lambda: len[Row], "round brackets"),
    "no super().__init__()": (Uninitialised, "super().__init__()"),
    "no forward": (lambda: NoForward()(T), "`forward`"),
    "an argument too many": (lambda: one(1, 2), "`one` was called with other arguments"),
    "an argument by a wrong name": (lambda: one(1, axis=0), "`one` was called"),
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
    "a list plus a number": (lambda: Row + 1.0, "joins two lists"),
    "two indices of a list": (lambda: Rows[0, 1], "A[i][j]"),
    "an item for a place": (lambda: Row[1.0], "not their places"),
    "writing past the end": (lambda: written([]), "append"),
    "reading past the end": (lambda: Row[5], "exchanged"),
    "exp of a list": (lambda: math.exp(Row), "one number"),
    "a list's shape": (lambda: Rows.shape, "plain lists"),
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
    "if with an array": (lambda: bool(A > 1), "compare with None"),
    "if with a tensor": (lambda: bool(T > 1), "compare with None"),
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
    "no such method": (lambda: np.random.default_rng(0).randn(3), "nothing called `randn`"),
    "torch.exp of a list": (lambda: torch.exp(Row), "this is a list"),
    "torch.exp of a float": (lambda: torch.exp(NUMBER), "For one number use `math`"),
    ".T of a batch in PyTorch": (lambda: torch.ones(2, 5, 4) @ torch.ones(3, 5, 4).T, "*all* axes"),
    ".T of a batch in NumPy": (lambda: B3 @ B3.T, "*all* axes"),
    "keepdims forgotten": (lambda: forgetful(A), "keepdims=True"),
    "keepdim forgotten": (lambda: forgetful_tensors(T), "keepdim=True"),
    "factors exchanged": (lambda: torch.ones(5, 6) @ torch.ones(4, 3), "wrong order"),
    "heads that are not merged": (lambda: Headed().W_o(torch.ones(2, 3, 5, 4)), "d/H each"),
    "factors exchanged in a batch": (lambda: T @ torch.ones(2, 5, 4), "lacks its transpose"),
    "factors exchanged in NumPy": (lambda: A @ A, "lacks its transpose"),
    "shapes that do not broadcast": (lambda: T - torch.ones(2, 5), "from the last axis backwards"),
    "mT of a vector": (lambda: torch.ones(3).mT, "fewer than two axes"),
    "an axis that is not there": (lambda: np.ones(3).sum(axis=1), "from the end"),
    "a dim that is not there": (lambda: T.sum(5), "from the end"),
    "axes of a matrix for a batch": (lambda: A.transpose(0, 2, 1), "from the end"),
    "an index too many": (lambda: np.ones(3)[0, 1], "not there"),
    "a bool index of another shape": (lambda: B3[np.ones(3) > 0], "broadcast"),
    "reshape for transpose": (lambda: A.reshape(3, 3), "transpose"),
    "view after a transpose": (lambda: T.mT.view(2, 20), "`reshape`, not `view`"),
    "cat of other sizes": (lambda: torch.cat([torch.ones(2), torch.ones(2, 2)]), "joined"),
    "einsum without its batch": (lambda: torch.einsum("nd,md->nm", T, T), "after the arrow"),
    "rows of different lengths": (lambda: np.array([[1, 2], [3]]), "different lengths"),
    "/= of whole numbers": (lambda: in_place(np.ones(3, int)), "x = x / total"),
    "softmax of whole numbers": (lambda: torch.softmax(torch.tensor([1, 2]), 0), ".float()"),
    "two precisions": (lambda: T.double() @ torch.ones(4, 3), "dtype=x.dtype"),
    "two precisions in a layer": (lambda: nn.Linear(4, 3)(T.double()), "dtype=x.dtype"),
    "two devices": (lambda: torch.ones(3, device="meta") + torch.ones(3), "x.device"),
    "a view that is read-only": (lambda: written(np.broadcast_to(1.0, (2, 2))), "Copy it"),
    "NumPy on what needs a gradient": (lambda: np.exp(T.clone().requires_grad_()), "Stay in"),
    "a size that is a float": (lambda: T.reshape(2, 5, 2, 4 / 2), "`//`"),
    "+= on a smaller array": (lambda: added_to(np.ones(3), np.ones((2, 3))), "x = x + y"),
    "+= on a smaller tensor": (lambda: added_to(torch.ones(3), torch.ones(2, 3)), "x = x + y"),
    "lists multiplied by @": (lambda: Rows @ Rows, "Sum over products"),
    "rows that are not there yet": (lambda: filled([]), "Append a row"),
    "targets of a longer shape": (
        lambda: torch.nn.functional.cross_entropy(T, torch.zeros(2, 5, dtype=torch.long)),
        "flatten(0, -2)",
    ),
    "a draw from NaN": (lambda: torch.multinomial(T[0] * float("nan"), 1), "temperature 0"),
    "a parameter before super().__init__()": (Unprepared, "first line"),
    "a backend that does not take it": (only_efficient, "Catch the `RuntimeError`"),
    "waiting for no GPU": (torch.cuda.synchronize, "torch.cuda.is_available()"),
    "no clock that counts": (no_clock, "time.perf_counter()"),
    "other arguments than given": (other_arguments, "Call `fn(*args)`"),
    "in place on a leaf": (lambda: in_place(T.clone().requires_grad_()), "new tensor"),
}


@pytest.mark.parametrize("name", CRASHED)
def test_a_crash_is_explained(name: str) -> None:
    crashing, words = CRASHED[name]
    raised = perform(crashing, Call(()), Deadline(8)).raised
    assert raised is not None
    found = explain(raised)
    assert found is not None, raised
    said = [spoken(" ".join(found), stage) for stage in ("pure", "numpy", "torch")]
    assert any(words in text for text in said), said


def test_every_line_of_the_table_is_the_answer_to_some_crash() -> None:
    told = set()
    for crashing, _ in CRASHED.values():
        raised = perform(crashing, Call(()), Deadline(8)).raised
        assert raised is not None
        told.add(explain(raised))
    assert len(told) >= len(CRASHES)


def test_what_nobody_has_thought_of_is_left_to_the_traceback() -> None:
    def unheard_of() -> None:
        return open("/no/such/file")  # type: ignore[return-value]

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


@pytest.mark.parametrize("line", ["raise KeyError(query)", "assert n == m", "raise"])
def test_a_raise_of_the_learners_own_is_known_as_such(line: str) -> None:
    def refuses() -> None:
        raise ValueError

    raised = perform(refuses, Call(()), Deadline(8)).raised
    assert raised is not None
    assert is_meant(raised)
    assert is_meant(type(raised)(("X",), "", line))
    assert not is_meant(type(raised)(("X",), "", "x = raised"))
