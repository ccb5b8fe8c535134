"""What stands beside a learner's function and writes down how it goes about it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

from attnlab.calling import timing
from attnlab.calling.watching import holds

Tensor = torch.Tensor
Q = torch.arange(24.0, dtype=torch.float64).reshape(2, 4, 3)
BEFORE = torch.zeros(2, 4, 3, dtype=torch.float64)
Way = Callable[..., Any]


def held(way: Callable[[Tensor], Any]) -> tuple[Any, int, int]:
    return holds(lambda q, *_: way(q), Q, Q, Q, 2, False)


# What is held -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "most"),
    [
        (lambda q: q + 1, 24),
        (lambda q: (q + 1) * 2, 48),
        (lambda q: q + 1 + 1 + 1 + 1, 48),  # what is not needed any more goes
        (lambda q: q.mT[..., :2, :].unsqueeze(0), 0),  # a view of what was there
        (lambda q: (q.clone()[:1], torch.zeros(5, dtype=q.dtype))[0], 29),  # all that is kept
        (lambda q: q.clone().sub_(1).exp_(), 24),
        (lambda q: torch.zeros(2, 4, 3, dtype=q.dtype).copy_(q), 24),
        (lambda q: torch.cat(list(q)), 24),
        (lambda q: q * torch.tensor([2.0, 3.0, 4.0], dtype=q.dtype), 27),
        (lambda q: q[:, [0, 1]] * float(q.max()), 12 + 12),  # the places have gone
    ],
)
def test_all_that_is_alive_at_one_time_is_counted(way: Way, most: int) -> None:
    out, _, counted = held(way)
    assert counted == most
    assert type(out) is Tensor
    assert torch.equal(out, way(Q.clone()))


def test_nothing_that_is_replaced_by_name_changes_what_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kind, name in ((torch.UntypedStorage, "nbytes"), (torch.UntypedStorage, "data_ptr")):
        monkeypatch.setattr(kind, name, lambda self: 0)
    monkeypatch.setattr(Tensor, "untyped_storage", lambda self: None)
    monkeypatch.setattr(Tensor, "numel", lambda self: 0)
    assert held(lambda q: q + 1)[1:] == (24, 24)


def in_a_thread(q: Tensor) -> Tensor:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: q + 1).result()


def into_what_was_there(q: Tensor) -> Tensor:
    return BEFORE.copy_(q)


@pytest.mark.parametrize(
    "way",
    [
        lambda q: torch.from_numpy(q.numpy()),
        lambda q: torch.tensor(q.tolist()),
        lambda q: np.asarray(q),
        lambda q: np.from_dlpack(q),
        lambda q: q.as_subclass(type("Own", (Tensor,), {})) + 1,
        lambda q: torch.add(q, q, out=torch.empty(0, dtype=q.dtype)),
        lambda q: q.clone().set_(BEFORE),
        in_a_thread,
        into_what_was_there,
    ],
)
def test_no_number_goes_where_it_is_not_counted(way: Way) -> None:
    with pytest.raises(RuntimeError):
        held(way)
    assert BEFORE.sum() == 0


def test_what_is_filled_elsewhere_is_not_the_answer() -> None:
    def filled_in_a_thread(q: Tensor) -> Tensor:
        out = torch.zeros_like(q)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: out.copy_(q)).exception()
        return out

    assert held(filled_in_a_thread)[0].sum() == 0


def test_tensors_can_be_printed_and_one_number_read(capsys: pytest.CaptureFixture[str]) -> None:
    held(lambda q: print(q, f"{q.max():.1f}", bool((q >= 0).all())))
    assert capsys.readouterr().out == "tensor of shape (2, 4, 3) 23.0 True\n"


# When a clock is read -----------------------------------------------------------------------------


def order(function: Way) -> str:
    """What a timer did, a letter each."""
    _, events, _ = timing.watch(function, [2.0, 3.0], 10.0, "clock and wait", 1.0)
    return bytes(events.tolist()).rstrip(b"\0").decode()


def test_a_clock_may_be_read_in_a_helpers_thread() -> None:
    def plainly(fn: Way, clock: Way, wait: Way) -> float:
        began = clock()
        fn()
        wait()
        return float(clock() - began)

    def in_threads(fn: Way, clock: Way, wait: Way) -> float:
        with ThreadPoolExecutor(1) as pool:
            return plainly(
                *(lambda way=way: pool.submit(way).result() for way in (fn, clock, wait))
            )

    assert order(plainly) == order(in_threads) == "rcwr"
    assert timing.watch(in_threads, [2.0], 10.0, "clock and wait", 1.0)[0] == 2.0
