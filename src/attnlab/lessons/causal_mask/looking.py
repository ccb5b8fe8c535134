"""Whether a function of a sequence looks ahead: the exercise `looks_ahead`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from attnlab.calling.observe import ByName, by_name
from attnlab.checks.edits import Way, edits
from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import Generator, sizes

Tensor = torch.Tensor
LEAST = 1e-9  # far from the honest rounding below 1e-12, and from leaks of 1e-6 or more
FAINT = 6e-7  # times a difference of 2, or of 0: what is said is all but ±1, by STEEP
STEEP = 50
LIVE = 64  # so many numbers that one of them always shows it
MUTE = "one number of each row is the same whatever is read"
PLAIN, CENTRED, UNSIGNED, STEPS = "as they are", "less their mean", "without signs", "in steps"


# Functions: none says by itself what is right -----------------------------------------------------


def _made(
    rng: Generator,
    weights: np.ndarray,
    d: int,
    taken: str = PLAIN,
    base: float = 0.0,
    rounds: bool = True,
    columns: int = 0,
    mute: bool = False,
    said: Callable[[np.ndarray], np.ndarray] = lambda matrix: matrix,
) -> ByName:
    """A function of (B, N, d) with these weights (B, e, N, N).

    Args:
        rounds: whether what has a weight of 0 shows in the last digit all the same.
        said: changes the matrix by which a row says something.
        columns: instead of e: then LIVE of them have numbers, the others are 0, and the weights,
            (B, 1, N, N), are for all.
        mute: whether its first number reads all rows and is 0 whatever they say, so that weights
            alone, which a function's closure has, do not tell.
    """
    e, n = weights.shape[1:3]
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0] if rounds else np.eye(n)
    matrix = said(rng.normal(0, d**-0.5, (d, columns or e)))
    if columns:
        matrix[:, rng.permutation(columns)[LIVE:]] = 0
    if mute:
        weights, matrix[:, 0] = weights.copy(), 0
        weights[:, 0] = _weights(rng, len(weights), n, n)
    tensors = (torch.from_numpy(part.copy()) for part in (turn, turn.T @ weights, matrix))
    return by_name("sequences.rows_by_place", *tensors, base, taken)


def _weights(rng: Generator, *shape: int) -> np.ndarray:
    """Some of both signs, none of them small."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.3, 1.0, shape)


def _some(rng: Generator, sizes: Mapping[str, Any]) -> ByName:
    """A function that looks ahead, or does not."""
    weights = _weights(rng, sizes["b"], 3, sizes["n"], sizes["n"])
    return _made(rng, weights if rng.random() < 0.5 else np.tril(weights), sizes["d"])


def _cases(rng: Generator) -> Iterator[Case]:
    yield from _everywhere(rng)
    yield from _at_one_place(rng)
    yield from _faintly(rng)


def _everywhere(rng: Generator) -> Iterator[Case]:
    def case(
        weights: np.ndarray,
        note: str,
        taken: str = PLAIN,
        x: np.ndarray | None = None,
        **how: Any,
    ) -> Case:
        x = rng.normal(size=(b, n, d)) if x is None else x
        fn = _made(rng, weights, d, taken, **how)
        return Case("values", (fn, torch.from_numpy(x)), note=note)

    ahead, honest = "every row reads all the others", "every row reads itself and earlier ones"
    # Rounded to −1, 0 and 1, what a row says changes with the row, and hardly with a nudge; in so
    # many sentences, that one of them always shows one column exchanged as well.
    b, n, d, e = 12, 3, int(rng.integers(6, 9)), 12
    yield case(_weights(rng, b, e, n, n), f"{ahead}, {STEPS}", STEPS)
    for taken in (PLAIN, CENTRED, UNSIGNED):
        b, n, d, e = sizes(rng, 4, 3)
        weights = _weights(rng, b, e, n, n)
        yield case(weights, f"{ahead}, {taken}", taken)
    for which, x in (("0", np.zeros((b, n, d))), ("1", np.ones((b, n, d)))):
        yield case(weights, f"{ahead}, and all numbers of x are {which}", PLAIN, x)
    yield case(np.tril(weights), f"{honest}, and all numbers of x are {which}", PLAIN, x)
    for way, sign in (("lowers", -1), ("raises", 1)):
        one_way, note = sign * np.abs(weights), f"what a later row says {way} all numbers"
        yield case(one_way, note, UNSIGNED, np.zeros((b, n, d)), said=np.abs)
    note = f"{ahead}, and one number of them alone"
    yield case(weights, note, said=_middle)
    pairs = _weights(rng, b, 2, n, n).repeat(2, axis=1)
    yield case(pairs, f"{ahead}, and what they say adds up to 0", said=_balanced)
    yield case(np.tril(weights), f"{honest}, and nothing is rounded", rounds=False)
    yield case(np.tril(weights), f"{honest}, and {MUTE}", mute=True)
    # These tell a test that compares too many rows from one that always says the same.
    yield case(np.tril(np.triu(weights)), "every row reads itself alone")
    yield case(np.tril(weights, -1), "every row reads earlier ones alone")
    yield case(0 * weights, "no row reads any")


def _middle(matrix: np.ndarray) -> np.ndarray:
    """Of a row's numbers one counts, neither the first nor the last."""
    return matrix * (np.arange(len(matrix)) == len(matrix) // 2)[:, None]


def _balanced(matrix: np.ndarray) -> np.ndarray:
    """All that is said comes with its negative."""
    return matrix[:, ::2].repeat(2, axis=1) * ([1, -1] * (matrix.shape[1] // 2))


def _at_one_place(rng: Generator) -> Iterator[Case]:
    def case(weights: np.ndarray, note: str, mute: bool = False) -> Case:
        fn = _made(rng, weights, d, mute=mute)
        return Case("place", (fn, torch.from_numpy(rng.normal(size=(b, n, d)))), note=note)

    b, e, d = 10, 8, int(rng.integers(3, 6))  # so many sentences that one of them always shows it
    n = d + 2  # one length for all, so that a cut left out shows; cuts up to d are too few
    neighbours = [(row, row + 1) for row in range(n - 1)]
    for row, read in ((0, n - 1), _apart(rng, n), *neighbours):
        weights = _weights(rng, b, e, n, n)
        one = np.tril(weights)
        one[:, :, row, read] = weights[:, :, row, read]
        yield case(one, f"row {row} reads row {read}, and no other row looks ahead")
    yield case(np.tril(weights), f"no row looks ahead, and {MUTE}", mute=True)
    for sentence, (row, read) in ((0, (0, 1)), (b - 1, _apart(rng, n))):
        one = np.tril(weights)
        one[sentence, :, row, read] = weights[sentence, :, row, read]
        note = f"row {row} reads row {read} in sentence {sentence}, and no other looks ahead"
        yield case(one, note)
    for column in (0, e - 1):
        row, read = _apart(rng, n)
        one = np.tril(weights)
        one[:, column, row, read] = weights[:, column, row, read]
        yield case(one, f"one number of row {row} reads row {read}, and nothing else looks ahead")


def _apart(rng: Generator, n: int) -> tuple[int, int]:
    """A row, not the first, and a later one that it reads, not the next."""
    row = int(rng.integers(1, n - 2))
    return row, int(rng.integers(row + 2, n))


def _faintly(rng: Generator) -> Iterator[Case]:
    b, e, d = 3, LIVE, 9
    for large, all_ in ((True, False), (False, False), (True, True)):
        n = int(rng.integers(5, 8))
        row = 0 if all_ else int(rng.integers(2, n - 1))  # of many rows before the cut, or of one
        weights = np.tril(_weights(rng, b, e, n, n)) * (1 if large else 1e-4)
        weight = FAINT if large and not all_ else 4 * FAINT  # or a mean equals a tolerance
        faint, sentences = weights.copy(), slice(None) if all_ else int(rng.integers(b))
        faint[sentences, :, row, n - 1] = weight  # the last cut finds it, whichever are left out
        base = _large(rng) if large else 0.0
        about = "numbers are in the hundreds" if large else "numbers are small"
        for each, mute, note in (
            (faint, False, f"row {row} reads a later one with a weight of {weight:g}, and {about}"),
            (weights, True, f"no row looks ahead, {MUTE}, and {about}"),
        ):
            taken = (PLAIN, CENTRED)[rng.integers(2)]
            fn = _made(rng, each, d, taken, base, mute=mute, said=_steep)
            x = torch.from_numpy(rng.normal(size=(b, n, d)))
            yield Case("faint", (fn, x), note=note, about=("place",))
    yield from _lost_in_a_mean(rng)


def _steep(matrix: np.ndarray) -> np.ndarray:
    return STEEP * matrix


def _large(rng: Generator) -> float:
    return float(rng.choice([-1.0, 1.0]) * rng.uniform(100.0, 200.0))


def _lost_in_a_mean(rng: Generator) -> Iterator[Case]:
    """A faint leak in one row of one sentence, with a mean of all numbers below 1e-9."""
    b, n, e, d = 4, 5, int(rng.integers(4000, 4100)), 9
    weights = np.tril(_weights(rng, b, 1, n, n))
    weights[rng.integers(b), :, n - 2, n - 1] = FAINT
    fn = _made(rng, weights, d, base=_large(rng), columns=e, said=_steep)
    note = f"a few of many numbers read a later row with a weight of {FAINT:g}"
    x = torch.from_numpy(rng.normal(size=(b, n, d)))
    yield Case("faint", (fn, x), note=note, about=("place",))


# What is right, and what is not -------------------------------------------------------------------


def _fresh(x: Tensor) -> Tensor:
    return torch.randn(x.shape, generator=torch.Generator().manual_seed(1), dtype=x.dtype)


def _exchanged(x: Tensor, n: int, new: Tensor) -> Tensor:
    return torch.cat([x[:, :n], new[:, n:]], dim=1)


def _next_alone(x: Tensor, n: int, new: Tensor) -> Tensor:
    return torch.cat([x[:, :n], new[:, n : n + 1], x[:, n + 1 :]], dim=1)


def _looks(fn: Any, x: Tensor) -> bool:
    a, N = fn(x), x.shape[1]
    for n in range(1, N):
        b = fn(_exchanged(x, n, _fresh(x)))
        if ((a - b)[:, :n].abs() > LEAST).any():
            return True
    return False


def _by_slopes(factors: Callable[[Tensor], Tensor]) -> Callable[..., bool]:
    """By the slopes of each row's numbers, times factors and added up."""

    def looks(fn: Any, x: Tensor) -> bool:
        x = x.clone().requires_grad_()
        out = fn(x)
        for n in range(out.shape[1]):
            one = (factors(out) * out)[:, n].sum()
            [slope] = torch.autograd.grad(one, x, retain_graph=True)
            if slope[:, n + 1 :].abs().sum() > LEAST:
                return True
        return False

    return looks


DIFFER = "((a - b)[:, :n].abs() > LEAST).any()"
MISTAKES: dict[str, Way | tuple[Way, ...]] = {
    "one-cut-only": tuple(
        f"range(1, N) -> [{cut}][: N - 1]" for cut in ("N - 1", "1", "N // 2", "(N + 1) // 2")
    ),
    "cut-left-out": (
        "range(1, N) -> range(1, N - 1)",
        "range(1, N) -> range(2, N)",
        "range(1, N) -> range(2, N - 1)",
        "range(1, N) -> range(1, N, 2)",
        "range(1, N) -> range(2, N, 2)",
        "range(1, N) -> [*range(1, N, 2), N - 1][: N - 1]",
    ),
    "row-between": "(x, n, -> (x, n + 1,",
    "neighbours-only": "_exchanged -> _next_alone; [:, :n] -> [:, n - 1 : n]",
    "changed-rows-compared": (
        "[:, :n] -> [:, : n + 1]",
        "[:, :n] -> [:, :]",
        "[:, :n] -> [:, :]; range(1, N) -> range(N)",
        "_exchanged( -> (x := _exchanged(; (x)) -> (x)))",  # in the copy of the round before
    ),
    "past-exchanged": (
        "_exchanged(x, n, _fresh(x)) -> _exchanged(_fresh(x), n, x); [:, :n] -> [:, n:]"
    ),
    "not-fresh-rows": (
        *(
            f"_fresh(x) -> {new}"
            for new in ("torch.zeros_like(x)", "torch.ones_like(x)", "x + 1", "2 * x", "-x")
        ),
        "_fresh(x) -> torch.cat([x[:, :n], x[:, n:].flip(1)], 1)",
        "_fresh(x) -> torch.cat([x[:, :n], x[:, n:].roll(1, 1)], 1)",
    ),
    "nudged": tuple(f"_fresh(x) -> x + {by} * (_fresh(x) - x)" for by in (1e-6, 1e-3)),
    "nan-put-in": (
        "_fresh(x) -> x * torch.nan; ((a - b)[:, :n].abs() > LEAST) -> b[:, :n].isnan()"
    ),
    "by-slopes": (_by_slopes(_fresh), _by_slopes(torch.ones_like)),
    "tolerance-too-small": "LEAST -> 0.0",
    "tolerance-too-large": tuple(f"LEAST -> {most}" for most in (2e-6, 4e-6, 1e-5, 1e-4, 1e-3)),
    "relative-tolerance": (
        f"{DIFFER} -> not torch.allclose(a[:, :n], b[:, :n])",
        f"{DIFFER} -> not torch.allclose(a[:, :n], b[:, :n], 1e-6, 1e-6)",
    ),
    "differences-averaged": (
        f"{DIFFER} -> (a - b)[:, :n].abs().mean() > 1e-6",
        f"{DIFFER} -> (a - b)[:, :n].abs().mean() > LEAST",
    ),
    "sums-compared": ("[:, :n] -> [:, :n].sum()", "[:, :n] -> [:, :n].sum(-1)"),
    "one-way-only": (".abs() -> ", "(a - b)[:, :n].abs() -> (b - a)[:, :n]"),
    "features-kept": (
        "_fresh(x) -> torch.cat([_fresh(x)[..., :1], x[..., 1:]], -1)",
        "_fresh(x) -> torch.cat([x[..., :-1], _fresh(x)[..., -1:]], -1)",
    ),
    "all-not-any": (
        ".any() -> .all()",
        "return False -> return N > 1; return True -> return False; if ( -> if not (",
    ),
    "one-sentence-only": (
        "_fresh(x) -> torch.cat([_fresh(x)[:1], x[1:]])",
        "_fresh(x) -> torch.cat([x[:-1], _fresh(x)[-1:]])",
    ),
    "part-compared": ("[:, :n] -> [:, :n, 0]", "[:, :n] -> [:, :n, -1]"),
    "columns-exchanged": (
        "x.shape[1] -> x.shape[-1]; [:, :n] -> [..., :n]; "
        "_exchanged(x, n, _fresh(x)) -> _exchanged(x.mT, n, _fresh(x).mT).mT"
    ),
    "always-the-same": (lambda fn, x: True, lambda fn, x: False),
    "negated": lambda fn, x: not _looks(fn, x),
}

LOOKS_AHEAD = Exercise(
    name="looks_ahead",
    signature="(fn, x) -> bool",
    axes=("fn", "b n d"),
    drawn={"fn": _some},
    read="A test of your own",
    returns=(Slot("the answer", "bool"),),
    claims=promises(
        "tells functions that look ahead in every row from those that do not at all",
        0.75,
        Claim("place", "finds a leak at one place, in one sentence or in one number", 0.5),
        Claim("faint", "finds a faint leak, and is not misled by rounding", 0.5),
        unchanged=0.25,
    ),
    cases=_cases,
    oracle=_looks,
    mistakes=edits(_looks, MISTAKES),
)
