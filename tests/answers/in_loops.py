"""Attention in plain loops, with parts exchanged: mistakes that can be made in several exercises.

An exercise says which parts it has and how its function is made of `attention`. What it makes by
itself, in its own lesson's module, is not made for it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Row = list[float]
Rows = list[Row]
Parts = dict[str, Any]
Block = Callable[..., tuple[Rows, Rows]]
INFINITY = math.inf


# The block ---------------------------------------------------------------------------------------


def softmax(row: Row) -> Row:
    top = max(row)
    raised = [math.exp(score - top) for score in row]
    return [number / sum(raised) for number in raised]


def dot(a: Row, b: Row) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def columns(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def average(weights: Row, values: Rows) -> Row:
    return [dot(weights, column) for column in columns(values)]


def _softmax_rows(rows: Rows) -> Rows:
    return [softmax(row) for row in rows]


def _averages(A: Rows, Q: Rows, K: Rows, V: Rows, X: Rows | None) -> Rows:
    return [average(row, V) for row in A]


def attention(
    Q: Rows,
    K: Rows,
    V: Rows,
    X: Rows | None = None,
    blocked: list[list[bool]] | None = None,
    batch: int = 1,
    *,
    roles: Callable[..., Any] = lambda Q, K, V, X: (Q, K, V),
    score: Callable[[Row, Row], float] = dot,
    factor: Callable[..., float] = lambda d_k, **sizes: 1 / math.sqrt(d_k),
    block: Callable[[list[list[bool]]], list[list[bool]]] = lambda blocked: blocked,
    hide: Callable[[float, bool], float] = lambda score, hidden: -INFINITY if hidden else score,
    weigh: Callable[[Rows], Rows] = _softmax_rows,
    cover: Callable[[float, bool], float] = lambda a, hidden: 0.0 if math.isnan(a) else a,
    late: Callable[..., float] = lambda **sizes: 1.0,
    mix: Callable[..., Rows] = _averages,
    give: Callable[..., Any] = lambda out, A, scores, hidden: (out, A),
) -> Any:
    """Outputs (N, d_v) and weights (N, M) of one matrix of scores.

    Args:
        Q, K, V, X: (N, d_k), (M, d_k), (M, d_v), (N, d).
        blocked: (N, M), True = may not attend.
        batch: size of the first axis, where there is one in front of these.
    """
    Q, K, V = roles(Q, K, V, X)
    sizes = {"n": len(Q), "m": len(K), "d_k": len(Q[0]), "d_v": len(V[0]), "batch": batch}
    sizes["d"] = len(X[0]) if X else 0
    scores = hidden = [[score(q, k) * factor(**sizes) for k in K] for q in Q]
    if blocked is not None:
        blocked = block(blocked)
        hidden = _both(hide, scores, blocked)
    A = weigh(hidden)
    if blocked is not None:
        A = _both(cover, A, blocked)
    A = [[weight * late(**sizes) for weight in row] for row in A]
    return give(mix(A, Q, K, V, X), A, scores, hidden)


def _both(function: Callable[[float, bool], float], rows: Rows, mask: list[list[bool]]) -> Rows:
    return [list(map(function, row, hidden)) for row, hidden in zip(rows, mask, strict=True)]


def weights_of(block: Block, scores: Rows) -> Rows:
    """What a block makes of scores that are given."""
    places = [[float(i)] for i in range(max(len(scores), len(scores[0])))]
    return block(
        places[: len(scores)],
        places[: len(scores[0])],
        places[: len(scores[0])],
        score=lambda q, k: scores[int(q[0])][int(k[0])],
        factor=lambda **sizes: 1.0,
    )[1]


def in_arrays(block: Block, Q: Any, K: Any, V: Any, X: Any = None, blocked: Any = None) -> Any:
    """Outputs and weights of arrays with any leading axes.

    Args:
        blocked: (…, N, M) bool, True = may not attend, broadcast; or None.
    """
    leading = Q.shape[:-2]
    if blocked is not None:
        blocked = np.broadcast_to(blocked, (*Q.shape[:-1], K.shape[-2]))
    found = [
        block(
            *(None if part is None else np.asarray(part)[at].tolist() for part in (Q, K, V, X)),
            None if blocked is None else blocked[at].tolist(),
            Q.shape[0],
        )
        for at in np.ndindex(*leading)
    ]
    results = (np.array(parts, np.asarray(Q).dtype) for parts in zip(*found, strict=True))
    return tuple(part.reshape(*leading, *part.shape[1:]) for part in results)


# What is exchanged -------------------------------------------------------------------------------


def _exp(row: Row) -> Row:
    return [math.exp(score) for score in row]


def _over(row: Row, total: float) -> Row:
    return [number / total for number in row]


def _shown(row: Row) -> Row:
    return [score if score > -INFINITY else 0.0 for score in row]


def _log(row: Row) -> Row:
    return [math.log(weight) if weight else -INFINITY for weight in softmax(row)]


def _even(row: Row) -> Row:
    shown = [float(score > -INFINITY) for score in row]
    return _over(shown, sum(shown))


def _running(row: Row) -> Row:
    total, weights = 0.0, []
    for number in _exp(row):
        total += number
        weights.append(number / total)
    return weights


def _columns(rows: Rows) -> Rows:
    return columns([softmax(column) for column in columns(rows)])


def _everything(rows: Rows) -> Rows:
    flat, width = softmax([score for row in rows for score in row]), len(rows[0])
    return [flat[start : start + width] for start in range(0, len(flat), width)]


def _reshaped(Q: Rows, K: Rows, V: Rows, X: Rows) -> tuple[Rows, Rows, Rows]:
    flat, m = [number for key in K for number in key], len(K)
    return Q, columns([flat[start : start + m] for start in range(0, len(flat), m)]), V


def _unit(row: Row) -> Row:
    return _over(row, math.hypot(*row))


def _triangle(blocked: list[list[bool]], first: int) -> list[list[bool]]:
    return [[j >= i + first for j in range(len(row))] for i, row in enumerate(blocked)]


def _some_row(mask: list[list[bool]]) -> list[list[bool]]:
    return [[hidden and not all(row) for hidden in row] for row in mask]


def _zero(score: float, hidden: bool) -> float:
    return 0.0 if hidden else score


def _bare(number: float, hidden: bool) -> float:
    return number


def _low(number: float) -> Callable[[float, bool], float]:
    return lambda score, hidden: number if hidden else score


def _negated(row: Row) -> Row:
    return [-score if score > -INFINITY else score for score in row]


def _clipped(row: Row, limit: float) -> Row:
    return [min(max(s, -limit), limit) if s > -INFINITY else s for s in row]


def _best(row: Row) -> int:
    return row.index(max(row))


def _sums(rows: Rows) -> Row:
    return [sum(column) for column in columns(rows)]


def _bools(rows: Rows) -> list[list[bool]]:
    return [list(map(bool, row)) for row in rows]


def _inverted(mask: list[list[bool]]) -> list[list[bool]]:
    return [[not hidden for hidden in row] for row in mask]


def _unmasked(out: Rows, A: Rows, scores: Rows, hidden: Rows) -> tuple[Rows, Rows]:
    return out, [softmax(row) for row in scores]


def _rows(way: Callable[[Row], Row]) -> Parts:
    return {"weigh": lambda rows: [way(row) for row in rows]}


# By what an exercise needs to have: slug, label, what is exchanged.
SLIPS: dict[str, tuple[tuple[str, str, Parts], ...]] = {
    "softmax": (
        ("not-normalised", "exponentials", _rows(_exp)),
        ("no-exponential", "shares of scores", _rows(lambda r: _over(_shown(r), sum(_shown(r))))),
        ("divided-by-max", "relative", _rows(lambda r: _over(softmax(r), max(softmax(r))))),
        ("negated-scores", "the worst is best", _rows(lambda r: softmax(_negated(r)))),
        ("base-two", "powers of two", _rows(lambda r: softmax([s * math.log(2) for s in r]))),
        ("log-softmax", "logarithms", _rows(_log)),
        ("hard-argmax", "one hot", _rows(lambda r: [float(i == _best(r)) for i in range(len(r))])),
        ("uniform-weights", "even", _rows(_even)),
        ("sigmoid", "each alone", _rows(lambda r: [1 / (1 + math.exp(-s)) for s in r])),
        ("rounded", "three decimals", _rows(lambda r: [round(w, 3) for w in softmax(r)])),
        ("softmax-twice", "twice", _rows(lambda r: softmax(softmax(r)))),
        ("divided-by-norm", "unit length", _rows(lambda r: _over(_exp(r), math.hypot(*_exp(r))))),
        ("divided-by-count", "by the length", _rows(lambda r: _over(_exp(r), len(r)))),
        ("running-sum", "divides too soon", _rows(_running)),
        ("order-lost", "upwards", _rows(lambda r: sorted(softmax(r)))),
        ("order-lost", "downwards", _rows(lambda r: sorted(softmax(r), reverse=True))),
    ),
    "large": (("scores-clipped", "at 50", _rows(lambda r: softmax(_clipped(r, 50.0)))),),
    "weights": (("no-softmax", "scores", _rows(_shown)),),
    "rows": (
        ("softmax-over-queries", "by columns", {"weigh": _columns}),
        ("softmax-over-everything", "the whole matrix", {"weigh": _everything}),
    ),
    "scale": (
        ("no-scale", "one", {"factor": lambda **at: 1.0}),
        ("scale-by-d", "twice", {"factor": lambda d_k, **at: d_k**-0.5 * d_k**-0.5}),
        ("scale-multiplied", "times", {"factor": lambda d_k, **at: math.sqrt(d_k)}),
        ("half-not-root", "half", {"factor": lambda d_k, **at: 1 / (d_k**1 / 2)}),
        ("half-not-root", "left to right", {"factor": lambda d_k, **at: 1 / d_k**1 / 2}),
        ("scale-by-sqrt-n", "queries", {"factor": lambda n, **at: 1 / math.sqrt(n)}),
        ("scale-by-sqrt-n", "keys", {"factor": lambda m, **at: 1 / math.sqrt(m)}),
        ("fourth-root", "root of root", {"factor": lambda d_k, **at: d_k**-0.25}),
    ),
    "scaled weights": (
        (
            "scale-after-softmax",
            "late",
            {"factor": lambda **at: 1.0, "late": lambda d_k, **at: 1 / math.sqrt(d_k)},
        ),
    ),
    "batch": (
        ("scale-by-first-axis", "batch", {"factor": lambda batch, **at: 1 / math.sqrt(batch)}),
    ),
    "width of values": (
        ("scale-by-sqrt-d-v", "d_v", {"factor": lambda d_v, **at: 1 / math.sqrt(d_v)}),
    ),
    "values": (
        ("keys-as-values", "keys", {"mix": lambda A, Q, K, V, X: [average(a, K) for a in A]}),
        ("values-unweighted", "sum", {"mix": lambda A, Q, K, V, X: [_sums(V) for a in A]}),
        (
            "mean-of-weighted-values",
            "mean",
            {"mix": lambda A, Q, K, V, X: [_over(average(a, V), len(V)) for a in A]},
        ),
        ("best-value-only", "best", {"mix": lambda A, Q, K, V, X: [V[_best(a)] for a in A]}),
        (
            "last-value-only",
            "last",
            {"mix": lambda A, Q, K, V, X: [[a[-1] * x for x in V[-1]] for a in A]},
        ),
        ("swapped-results", "weights first", {"give": lambda out, A, s, hidden: (A, out)}),
        ("scores-for-weights", "scores", {"give": lambda out, A, s, hidden: (out, s)}),
    ),
    "scores": (
        ("distance-not-dot-product", "distance", {"score": lambda q, k: -math.dist(q, k)}),
        ("distance-not-dot-product", "squared", {"score": lambda q, k: -(math.dist(q, k) ** 2)}),
        ("cosine-not-dot-product", "cosine", {"score": lambda q, k: dot(_unit(q), _unit(k))}),
        ("sum-of-sums", "adds", {"score": lambda q, k: sum(q) + sum(k)}),
    ),
    "transpose": (("reshaped-not-transposed", "reshaped", {"roles": _reshaped}),),
    "tokens": (
        ("swapped-q-k", "keys ask", {"roles": lambda Q, K, V, X: (K, Q, V)}),
        ("keys-from-w-q", "queries twice", {"roles": lambda Q, K, V, X: (Q, Q, V)}),
        ("queries-from-w-k", "keys twice", {"roles": lambda Q, K, V, X: (K, K, V)}),
        ("nothing-projected", "tokens", {"roles": lambda Q, K, V, X: (X, X, X)}),
        ("scale-by-sqrt-d", "width of x", {"factor": lambda d, **at: 1 / math.sqrt(d)}),
        ("values-not-projected", "x", {"mix": lambda A, Q, K, V, X: [average(a, X) for a in A]}),
        ("queries-as-values", "q", {"mix": lambda A, Q, K, V, X: [average(a, Q) for a in A]}),
        ("values-unweighted", "as they are", {"mix": lambda A, Q, K, V, X: V}),
        (
            "weights-transposed",
            "columns",
            {"mix": lambda A, Q, K, V, X: [average(a, V) for a in columns(A)]},
        ),
    ),
    "mask": (
        ("mask-missing", "ignored", {"hide": _bare, "cover": _bare}),
        ("mask-after-softmax", "late", {"hide": _bare, "cover": _zero}),
        ("mask-with-zero", "scores of 0", {"hide": _zero, "cover": _bare}),
        ("mask-with-zero", "and weights of 0", {"hide": _zero, "cover": _zero}),
        ("mask-added", "blocked gain", {"hide": lambda s, hidden: s + hidden, "cover": _bare}),
        ("mask-added", "others gain", {"hide": lambda s, hidden: s + 1 - hidden, "cover": _bare}),
        ("mask-inverted", "the other way", {"block": _inverted}),
        ("mask-with-small-number", "-10", {"hide": _low(-10.0), "cover": _bare}),
        ("weights-not-masked", "plain weights", {"give": _unmasked}),
        (
            "zero-times-infinity",
            "product",
            {"hide": lambda s, hidden: s + hidden * -INFINITY, "cover": _bare},
        ),
    ),
    "empty": (
        ("empty-row-is-nan", "nan", {"cover": _bare}),
        ("empty-row-shared-out", "-1e9", {"hide": _low(-1e9), "cover": _bare}),
        ("empty-row-sees-all", "all back", {"block": _some_row}),
    ),
    "causal": (
        ("mask-transposed", "the past", {"block": lambda mask: _bools(columns(mask))}),
        ("mask-off-by-one", "itself", {"block": lambda mask: _triangle(mask, 0)}),
        ("mask-off-by-one", "the next", {"block": lambda mask: _triangle(mask, 2)}),
    ),
}


def slips(*parts: str) -> Iterator[tuple[str, str, Parts]]:
    """Slug, label and what is exchanged, for an exercise that has these parts."""
    for part in parts:
        for slug, label, changed in SLIPS[part]:
            yield slug, f"{label}, in loops", changed
