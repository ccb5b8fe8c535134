"""How much a learner's function holds in memory, where Python and NumPy allocate it.

PyTorch's tensors are for `watching`. Nothing here knows what the right answer is.
"""

from __future__ import annotations

from _tracemalloc import _get_object_traceback as trace_of
from collections.abc import Callable
from tracemalloc import get_traced_memory, reset_peak, start, stop
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

BYTES = 8  # of a float64


def holds(
    function: Callable[..., Any], Q: np.ndarray, K: np.ndarray, numbers: int
) -> tuple[Any, bool]:
    """What a function returns for Q and K, and whether it held more than so many numbers at once.

    Raises:
        RuntimeError: it stopped the watching, or set it back.
    """
    start()
    try:
        mark = bytearray()  # has a trace, until somebody stops the watching or clears what it saw
        reset_peak()
        bytearray(BYTES * numbers)  # held and let go: a peak that is never lower from here on
        _, allowed = get_traced_memory()
        result = function(Q, K)
        _, peak = get_traced_memory()
        seen = trace_of(mark) is not None and peak >= allowed
    finally:
        stop()
    if not seen:
        raise RuntimeError("tracemalloc was stopped or set back, and nobody sees what is held")
    return result, peak > allowed
