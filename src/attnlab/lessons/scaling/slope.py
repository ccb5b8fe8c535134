"""The line of lesson 04's experiment that its reader writes, compared with nudging.

It has no points: where it is missing or wrong, the experiment runs with the course's own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Slope = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]
NUDGE = 1e-5
UNWRITTEN = "slope_in_query: not written yet."


def compared(written: Slope) -> str:
    """In one line, whether a slope in the query, (d_k,), is what nudging gives."""
    rng = np.random.default_rng(1)
    q, K, wanted, factor = rng.standard_normal(3), rng.standard_normal((5, 3)), np.eye(5)[2], 0.7

    def weights(query: np.ndarray) -> np.ndarray:
        powers = np.exp(factor * (K @ query))
        return np.asarray(powers / powers.sum())

    def error(query: np.ndarray) -> float:
        return float(((weights(query) - wanted) ** 2).sum())

    p = weights(q)
    try:
        given = np.asarray(written(K.copy(), np.diag(p) - np.outer(p, p), 2 * (p - wanted), factor))
    except NotImplementedError:
        return UNWRITTEN
    if given.shape != q.shape:
        return f"slope_in_query: not right yet. It gives {given.shape} for a query of {q.shape}."
    nudged = [(error(q + step) - error(q - step)) / (2 * NUDGE) for step in NUDGE * np.eye(3)]
    if np.allclose(given, nudged, rtol=0, atol=1e-6):
        return "slope_in_query: right. Nudging each entry of a query gives the same."
    return (
        f"slope_in_query: not right yet. It gives {given.round(4)}, nudging {np.round(nudged, 4)}."
    )


def trusted(written: Slope) -> Slope:
    """The reader's line if it is right, else the course's own."""
    return written if ": right." in compared(written) else _own


def _own(K: np.ndarray, J: np.ndarray, g: np.ndarray, factor: float) -> np.ndarray:
    return factor * (g @ J @ K)  # J is symmetric
