"""What a function holds in memory, where Python and NumPy allocate it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from attnlab.calling.memory import holds

Q = np.ones((1000, 2))


def scores_of_pairs(Q: np.ndarray, K: np.ndarray) -> float:
    return float((Q * K).sum(-1).std())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_table_is_seen_that_is_thrown_away(dtype: type[np.floating]) -> None:
    def by_table(Q: np.ndarray, K: np.ndarray) -> float:
        return float(np.diag(Q.astype(dtype) @ K.T.astype(dtype)).std())

    assert holds(by_table, Q, Q, 400_000) == (0.0, True)
    assert holds(by_table, Q, Q, 1_100_000) == (0.0, False)


def test_lists_are_seen_as_well() -> None:
    def in_lists(Q: np.ndarray, K: np.ndarray) -> int:
        return len([float(number) for number in range(100_000)])

    assert holds(in_lists, Q, Q, 200_000) == (100_000, True)


def test_what_was_held_before_does_not_count() -> None:
    tracemalloc.start()
    kept = np.ones(1_000_000)
    assert holds(scores_of_pairs, Q, Q, 50_000) == (0.0, False)
    assert kept.size == 1_000_000


def begin_again() -> None:
    """Count just as much as was counted before."""
    allowed = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    tracemalloc.start()
    bytearray(allowed - tracemalloc.get_traced_memory()[0] - 89)
    assert tracemalloc.get_traced_memory()[1] == allowed


@pytest.mark.parametrize(
    "hide", [tracemalloc.stop, tracemalloc.clear_traces, tracemalloc.reset_peak, begin_again]
)
def test_whoever_hides_what_is_held_is_told_so(hide: Callable[[], None]) -> None:
    def unseen(Q: np.ndarray, K: np.ndarray) -> float:
        result = scores_of_pairs(Q, K)
        hide()
        return result

    with pytest.raises(RuntimeError, match="nobody sees"):
        holds(unseen, Q, Q, 50_000)
    assert not tracemalloc.is_tracing()
