"""What attention costs in numbers, and which pairs a window leaves: two short exercises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks.exercise import Case, Exercise, Group, Mistake, Property, Slot, unchanged
from attnlab.checks.inputs import sizes
from attnlab.checks.recipe import Tensor
from attnlab.lessons.cost import LESSON

Generator = np.random.Generator

# attention_cost ------------------------------------------------------------------------------


def _cost_cases(rng: Generator) -> Iterator[Case]:
    for n, d in (sizes(rng, 2, 5, 40), sizes(rng, 2, 200, 900)):
        yield Case("values", (n, d), note="bytes_per_element is left out")
    for size in (4, 8, 1):
        yield Case("bytes", (*sizes(rng, 2, 5, 200), size), note=f"a number has {size} bytes")
    n, d = sizes(rng, 2, 50, 200)
    yield Case("bytes", (n, d), {"bytes_per_element": 4}, note="a number has 4 bytes")
    d = int(rng.integers(2, 200))
    for one in ((1, d), (d, 1), (1, 1)):
        yield Case("single", one, note="there is one token, or one number a token")


def _counting(
    flops: Callable[[int, int], int] = lambda n, d: 4 * n * n * d,
    scores: Callable[[int, int, int], int] = lambda n, d, size: n * n * size,
    moved: Callable[[int, int, int], int] = lambda n, d, size: 4 * n * d * size,
    order: tuple[int, ...] = (0, 1, 2),
    default: int = 2,
) -> Callable[..., Any]:
    """The exercise's function, with a part exchanged."""

    def attention_cost(n: int, d: int, bytes_per_element: int = default) -> Any:
        size = bytes_per_element
        counts = flops(n, d), scores(n, d, size), moved(n, d, size)
        return tuple(counts[at] for at in order)

    return attention_cost


def _with_projections(share: int) -> Callable[..., Any]:
    return _counting(flops=lambda n, d: 4 * n * n * d + share * n * d * d)


TWO_PRODUCTS = (
    "There are two products, Q Kᵀ and weights · V, n² · d multiplications and n² · d additions "
    "each: 4n²d in all."
)

ATTENTION_COST = Exercise(
    name="attention_cost",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(n, d, bytes_per_element=2) -> (flops, score_bytes, io_bytes)",
    axes=("=n", "=d", "?"),
    read="Count before you measure",
    returns=(Slot("flops", "int"), Slot("score_bytes", "int"), Slot("io_bytes", "int")),
    groups=(
        Group("values", "counts operations and bytes", 0.5, core=True),
        Group("bytes", "multiplies by the bytes of a number", 0.25),
        Group("single", "counts one token, and one number a token", 0.1875),
        unchanged(0.0625),
    ),
    cases=_cost_cases,
    oracle=_counting(),
    mistakes=(
        Mistake(
            "one-product-counted",
            _counting(flops=lambda n, d: 2 * n * n * d),
            "The flops are half of what they should be: one of the two products is missing, or "
            "multiplications are counted without additions.",
            TWO_PRODUCTS,
        ),
        Mistake(
            "one-product-without-additions",
            _counting(flops=lambda n, d: n * n * d),
            "The flops are a quarter of what they should be: one product, and its multiplications "
            "alone.",
            TWO_PRODUCTS,
        ),
        *(
            Mistake(
                "projections-counted",
                _with_projections(share),
                "The projections are counted too. They grow with n, and are paid whichever "
                "attention follows; what is asked for begins at q, k and v.",
                TWO_PRODUCTS,
            )
            for share in (6, 8)
        ),
        Mistake(
            "n-not-squared",
            _counting(flops=lambda n, d: 4 * n * d),
            "The flops grow with n here. There are n² scores, and each takes d products.",
            TWO_PRODUCTS,
        ),
        Mistake(
            "d-squared",
            _counting(flops=lambda n, d: 4 * n * d * d),
            "n and d have changed places in the flops: it is n that is squared.",
            TWO_PRODUCTS,
        ),
        Mistake(
            "second-product-as-wide-as-d",
            _counting(flops=lambda n, d: 2 * n * n * d + 2 * n * d * d),
            "One product is counted as 2nd². Both have n² in them: (n, d) times (d, n), and (n, n) "
            "times (n, d).",
            TWO_PRODUCTS,
        ),
        *(
            Mistake(
                "one-addition-less",
                _counting(flops=flops),
                "A sum of d numbers takes d − 1 additions. By custom d are counted, as many as "
                "multiplications.",
                TWO_PRODUCTS,
            )
            for flops in (
                lambda n, d: 2 * n * n * (2 * d - 1),
                lambda n, d: n * n * (2 * d - 1) + n * d * (2 * n - 1),
            )
        ),
        Mistake(
            "flops-times-bytes",
            lambda n, d, bytes_per_element=2: _counting(
                flops=lambda n, d: 4 * n * n * d * bytes_per_element
            )(n, d, bytes_per_element),
            "The flops are multiplied by the bytes of a number. A flop is an operation, however "
            "wide its numbers are.",
            TWO_PRODUCTS,
        ),
        Mistake(
            "scores-as-wide-as-d",
            _counting(scores=lambda n, d, size: n * d * size),
            "score_bytes counts n · d numbers. There is a score for each query and each key: n².",
            "score_bytes is n² times the bytes of a number.",
        ),
        Mistake(
            "bytes-always-2",
            lambda n, d, bytes_per_element=2: _counting()(n, d),
            "A number has 2 bytes here, whatever bytes_per_element says.",
            "Multiply both by bytes_per_element.",
        ),
        Mistake(
            "softmax-counted",
            _counting(flops=lambda n, d: 4 * n * n * d + 3 * n * n),
            "The softmax is counted too: a few operations for each score. Beside 4d they are left "
            "out, by custom.",
            TWO_PRODUCTS,
        ),
        Mistake(
            "bytes-not-multiplied",
            _counting(scores=lambda n, d, size: n * n, moved=lambda n, d, size: 4 * n * d),
            "Both are numbers of numbers. Each takes bytes_per_element bytes.",
            "Multiply both by bytes_per_element.",
        ),
        Mistake(
            "score-bytes-not-multiplied",
            _counting(scores=lambda n, d, size: n * n),
            "score_bytes is the number of scores. Each takes bytes_per_element bytes.",
            "Multiply by bytes_per_element.",
        ),
        Mistake(
            "io-bytes-not-multiplied",
            _counting(moved=lambda n, d, size: 4 * n * d),
            "io_bytes is a number of numbers. Each takes bytes_per_element bytes.",
            "Multiply by bytes_per_element.",
        ),
        Mistake(
            "output-not-written",
            _counting(moved=lambda n, d, size: 3 * n * d * size),
            "q, k and v are read. The output is as large, and is written.",
            "Four matrices of n × d go through memory once.",
        ),
        Mistake(
            "one-matrix-moved",
            _counting(moved=lambda n, d, size: n * d * size),
            "One matrix of n × d is counted. q, k and v are read, and the output is written.",
            "Four matrices of n × d go through memory once.",
        ),
        Mistake(
            "scores-moved",
            _counting(moved=lambda n, d, size: (4 * n * d + 2 * n * n) * size),
            "The scores are counted as written and read again. io_bytes is what cannot be "
            "avoided: q, k, v and the output, once each.",
            "Four matrices of n × d go through memory once.",
        ),
        Mistake(
            "weights-counted-too",
            _counting(scores=lambda n, d, size: 2 * n * n * size),
            "Scores and weights are both counted. score_bytes is one matrix of n × n.",
            "score_bytes is n² times the bytes of a number.",
        ),
        Mistake(
            "swapped-results",
            _counting(order=(0, 2, 1)),
            "The two byte counts have changed places.",
            "Return flops, score_bytes, io_bytes, in this order.",
        ),
        Mistake(
            "swapped-results",
            _counting(order=(1, 0, 2)),
            "The flops and the bytes of the scores have changed places.",
            "Return flops, score_bytes, io_bytes, in this order.",
        ),
        Mistake(
            "another-default",
            _counting(default=4),
            "Where bytes_per_element is left out, 4 is taken for it. Its default is 2, the size "
            "of a number in half precision.",
            "Keep the signature as it is given.",
        ),
    ),
)


# sliding_window_mask -------------------------------------------------------------------------


def _window_cases(rng: Generator) -> Iterator[Case]:
    for _ in range(2):
        n, window = sorted(sizes(rng, 2, 3, 20), reverse=True)
        yield Case("values", (n, window))
    n = int(rng.integers(4, 10))
    for window, note in (
        (1, "window is 1: each token sees itself"),
        (n, "window is n"),
        (n - 1, "window is n − 1"),
        (n + int(rng.integers(1, 30)), "window is larger than n"),
    ):
        yield Case("ends", (n, window), note=note)
    for window in (1, int(rng.integers(2, 9))):
        yield Case("ends", (1, window), note="there is one token")
    for window in (0, -1, -int(rng.integers(2, 9))):
        yield Case("refuses", (n, window), raises="ValueError", note=f"window is {window}")


def _band(n: int, window: int, allowed: Callable[[Tensor, int], Tensor]) -> Tensor:
    """Which pairs are allowed, by how far the key lies behind the query."""
    if window < 1:
        raise ValueError(f"window is {window}")
    place = torch.arange(n)
    return allowed(place[:, None] - place, window)


def _windowed(allowed: Callable[[Tensor, int], Tensor]) -> Callable[..., Any]:
    return lambda n, window: _band(n, window, allowed)


def _window(n: int, window: int) -> Tensor:
    """PyTorch's triangle without the one further down."""
    if window < 1:
        raise ValueError(f"window is {window}")
    return torch.ones(n, n).tril().triu(1 - window).bool()


def _in_slices(n: int, window: int) -> Tensor:
    if window < 1:
        raise ValueError(f"window is {window}")
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, i - window + 1 : i + 1] = True
    return mask


def _looks_back(args: tuple[Any, ...], mask: np.ndarray) -> bool:
    return not np.triu(mask, 1).any()


def _sees_itself(args: tuple[Any, ...], mask: np.ndarray) -> bool:
    return bool(mask.diagonal().all())


DISTANCE = "Token i sees token j if 0 ≤ i − j < window: itself and the window − 1 before it."

SLIDING_WINDOW_MASK = Exercise(
    name="sliding_window_mask",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(n, window) -> (n, n) bool, True = attend",
    axes=("=n", "=w"),
    read="Look less far: a sliding window",
    returns=(Slot("mask", "tensor", "N N"),),
    groups=(
        Group("values", "lets each token see itself and the window − 1 before it", 0.5, core=True),
        Group("ends", "takes windows from 1 to more than n, and one token", 0.25),
        Group("refuses", "raises ValueError for a window below 1", 0.1875),
        unchanged(0.0625),
    ),
    cases=_window_cases,
    oracle=_window,
    mistakes=(
        Mistake(
            "window-off-by-one",
            _windowed(lambda back, window: (back >= 0) & (back <= window)),
            "Each token sees one more: itself and window tokens before it.",
            DISTANCE,
        ),
        Mistake(
            "window-one-short",
            _windowed(lambda back, window: (back >= 0) & (back < window - 1)),
            "Each token sees one token too few; with a window of 1 it sees nothing.",
            DISTANCE,
        ),
        Mistake(
            "itself-not-seen",
            _windowed(lambda back, window: (back > 0) & (back < window)),
            "No token sees itself, and the first sees nothing.",
            DISTANCE,
        ),
        Mistake(
            "itself-not-seen",
            _windowed(lambda back, window: (back > 0) & (back <= window)),
            "The window begins one token back: no token sees itself, and the first sees nothing.",
            DISTANCE,
        ),
        Mistake(
            "both-sides",
            _windowed(lambda back, window: back.abs() < window),
            "The window reaches as far ahead as it reaches back. This one is causal: nobody sees "
            "the future.",
            DISTANCE,
        ),
        Mistake(
            "both-sides",
            _windowed(lambda back, window: back.abs() <= window // 2),
            "The window lies around each token. This one is causal: nobody sees the future.",
            DISTANCE,
        ),
        Mistake(
            "looks-ahead",
            _windowed(lambda back, window: (back <= 0) & (-back < window)),
            "The window lies ahead: rows and columns have changed places. Row i is query i.",
            DISTANCE,
        ),
        Mistake(
            "future-open",
            _windowed(lambda back, window: back < window),
            "What lies too far back is blocked, and the whole future is open.",
            DISTANCE,
        ),
        Mistake(
            "window-ignored",
            _windowed(lambda back, window: back >= 0),
            "This is the causal mask: each token sees all before it.",
            DISTANCE,
        ),
        Mistake(
            "mask-inverted",
            _windowed(lambda back, window: ~((back >= 0) & (back < window))),
            "True and False have changed places. Here True = attend.",
            DISTANCE,
        ),
        Mistake(
            "slice-from-below-0",
            _in_slices,
            "The first rows are wrong: row i is a slice that begins at i − window + 1, and a "
            "beginning below 0 counts from the end.",
            "Begin at `max(0, i - window + 1)`.",
        ),
        Mistake(
            "in-blocks",
            lambda n, window: _band(
                n,
                window,
                lambda back, w: (back >= 0) & (torch.arange(n)[:, None] % w >= back),
            ),
            "The sequence is cut into pieces of window tokens, and each token sees its own piece. "
            "A sliding window moves along with its token.",
            DISTANCE,
        ),
        Mistake(
            "edge-only",
            _windowed(lambda back, window: back == window - 1),
            "Each token sees one other, at the far end of its window.",
            DISTANCE,
        ),
    ),
    properties=(
        Property("no token sees the future", _looks_back),
        Property("each token sees itself", _sees_itself),
    ),
)
