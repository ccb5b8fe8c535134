"""Lesson 01's exercises: a lookup with 0/1 weights, softmax, and the lookup made soft."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import sizes
from attnlab.checks.recipe import Recipe
from attnlab.checks.reference import softmax, tensor

SPINES = ("tides", "moss", "glass", "bread", "owls", "maps", "salt", "sleep", "rust", "bees")
INFINITY = float("inf")
Generator = np.random.Generator
Rows = list[list[float]]


def _numbers(rng: Generator, *shape: int) -> Any:
    return rng.normal(size=shape).tolist()


# hard_lookup ---------------------------------------------------------------------------------


def _shelf(rng: Generator, given: Mapping[str, Any]) -> list[str]:
    """Words, M, one of which is the query."""
    others = [word for word in SPINES if word != given["query"]]
    keys = [str(word) for word in rng.choice(others, given["m"])]
    keys[int(rng.integers(given["m"]))] = given["query"]
    return keys


def _hard_cases(rng: Generator) -> Iterator[Case]:
    word, *others = (str(each) for each in rng.permutation(SPINES))
    vectors, near = _numbers(rng, 4, 3), float(rng.normal())
    last = (list(vectors[0]), vectors[::-1], _numbers(rng, 4, 2))
    yield Case("values", last, note="keys are lists")
    for query, keys, note in (
        (list(vectors[0]), [[*vectors[0], 1.0], vectors[1], vectors[0]], "one is a longer list"),
        (list(vectors[0]), [vectors[0][::-1], vectors[0]], "one has its numbers in another order"),
        (word, [f"{word}s", word[:-1], word.upper(), word], "other keys are like it"),
        (near, [near + 1e-9, near, -near, 1.0], "another key is close to it"),
        (1, ["1", 2, 1.0], "the query is an int and its key a float"),
        (0, [3, 0, 5], "the query is 0"),
        ("", ["a", "", "b"], "the query is ''"),
    ):
        shelf = [keys[place] for place in rng.permutation(len(keys))]
        yield Case("values", (query, shelf, _numbers(rng, len(keys), 2)), note=note)
    for times in (2, 3):
        keys = [str(each) for each in rng.permutation([word] * times + others[:4])]
        values = _numbers(rng, len(keys), 3)
        yield Case("several", (word, keys, values), note=f"{times} keys match")
        alike = [
            values[0] if key == word else value for key, value in zip(keys, values, strict=True)
        ]
        yield Case("several", (word, keys, alike), note=f"{times} keys match, with equal values")
    m = int(rng.integers(3, 7))
    keys, values = others[:m], _numbers(rng, m, 3)
    at = int(rng.integers(m))
    zeros = [[0.0] * 3 if place == at else value for place, value in enumerate(values)]
    note = "the value that belongs to the key is all 0"
    yield Case("missing", (keys[at], keys, zeros), note=note)
    yield Case("missing", (word, keys, values), raises="KeyError")
    yield Case("missing", (word, [], []), raises="KeyError", note="there are no keys")


def _matches(query: Any, keys: list[Any]) -> np.ndarray:
    return np.array([float(key == query) for key in keys])


def _hard(query: Any, keys: list[Any], values: Rows) -> np.ndarray:
    return (tensor(_matches(query, keys)) @ tensor(values)).numpy()


def _identical(query: Any, keys: list[Any], values: Rows) -> list[float]:
    """The value of the first key that is the query itself."""
    for key, value in zip(keys, values, strict=True):
        if key is query:
            return value
    raise KeyError(query)


def _refusing_zero(query: Any, keys: list[Any], values: Rows) -> np.ndarray:
    if not keys or not _hard(query, keys, values).any():
        raise KeyError(query)
    return _hard(query, keys, values)


def _first_key_alone(query: Any, keys: list[Any], values: Rows) -> np.ndarray:
    """The first value if its key matches, else zeros."""
    return _hard(query, keys[:1], values[:1])


def _counting_to(count: int, adds: bool) -> Callable[..., Any]:
    """A lookup whose loop has a number in the place of `len(keys)`."""

    def looked_up(query: Any, keys: list[Any], values: Rows) -> Any:
        found = []
        for place in range(count):
            if keys[place] == query:
                found.append(values[place])
                if not adds:
                    break
        if not found:
            raise KeyError(query)
        return np.sum(found, axis=0)

    return looked_up


def _first_key_or_none(query: Any, keys: list[Any], values: Rows) -> list[float]:
    if query != keys[0]:
        raise KeyError(query)
    return values[0]


HARD_LOOKUP = Exercise(
    name="hard_lookup",
    signature="(query, keys, values) -> list[float]",
    axes=("word", "m", "m v"),
    read="A dictionary, written as a sum",
    returns=(Slot("output", "list", "d_v"),),
    claims=promises(
        "gives the value of the key that equals the query",
        0.25,
        Claim("several", "adds the values of all keys that match", 0.25),
        Claim(
            "missing", "raises KeyError when no key matches, and none over a value of zeros", 0.25
        ),
        unchanged=0.25,
    ),
    drawn={"query": lambda rng, given: str(rng.choice(SPINES)), "keys": _shelf},
    cases=_hard_cases,
    oracle=_hard,
    mistakes={
        "first-match-only": lambda query, keys, values: values[keys.index(query)],
        "last-match-only": lambda query, keys, values: values[::-1][keys[::-1].index(query)],
        "returned-too-early": (_first_key_alone, _first_key_or_none),
        "counted-to-a-number": tuple(
            _counting_to(count, adds) for count in (3, 4) for adds in (False, True)
        ),
        "averaged-matches": lambda query, keys, values: (
            _hard(query, keys, values) / _matches(query, keys).sum()
        ),
        "keys-as-values": lambda query, keys, values: keys[keys.index(query)],
        "values-unweighted": lambda query, keys, values: np.sum(values, axis=0),
        "uniform-weights": lambda query, keys, values: np.sum(values, axis=0) / len(values),
        "weights-as-output": lambda query, keys, values: _matches(query, keys),
        "match-inverted": lambda query, keys, values: (
            (1 - _matches(query, keys)) @ np.array(values)
        ),
        "equal-key-not-found": _identical,
        "zero-taken-for-no-match": _refusing_zero,
        "neighbour-of-the-match": (
            lambda query, keys, values: values[keys.index(query) + 1],
            lambda query, keys, values: values[keys.index(query) - 1],
        ),
    },
)


# softmax -------------------------------------------------------------------------------------


def _nothing_to_share(rng: Generator) -> Iterator[Case]:
    yield Case("nothing", ([],), raises="ValueError", note="there are no scores")
    for number in (1, int(rng.integers(2, 8))):
        scores = [-INFINITY] * number
        yield Case("nothing", (scores,), raises="ValueError", note="all scores are -inf")


def _powers(base: float) -> Callable[[list[float]], np.ndarray]:
    """Softmax by powers of another number than e."""
    return lambda scores: softmax(np.asarray(scores, dtype=float) * np.log(base))


SOFTMAX = Exercise(
    name="softmax",
    signature="(scores: list[float]) -> list[float]",
    axes=("m",),
    read="Softmax: scores become shares",
    returns=(Slot("weights", "list", "M"),),
    claims=(
        *promises(
            "equals e to each score, divided by the sum of them all",
            1.0,
            large=0.25,
            blocked=0.25,
            unchanged=0.25,
        ),
        Claim("nothing", "raises ValueError for no scores, or when all are -inf", 0.25),
    ),
    cases=_nothing_to_share,
    scores="scores",
    oracle=lambda scores: softmax(np.asarray(scores, dtype=float)),
    mistakes={"e-rounded": (_powers(2.718), _powers(2.72))},
    without=("one-maximum-for-all-rows",),  # there is one row
)


# soft_lookup ---------------------------------------------------------------------------------


def _soft(heat: Callable[[float, int], float]) -> Attention:
    """Attention of one query, its scores divided by what a temperature and d_k make."""
    return Attention(
        lambda query, keys, values, temperature=1.0: Parts([query], keys, values),
        lambda out, weights, *args, **kwargs: (out[0], weights[0]),
        lambda query, keys, values, temperature=1.0: 1 / heat(temperature, len(query)),
    )


LOOKUP = _soft(lambda temperature, d_k: temperature)


def _soft_cases(rng: Generator) -> Iterator[Case]:
    def desk(spread: float = 1.0) -> tuple[Any, Any, Any]:
        m, d_k, d_v = sizes(rng, 3, 3)
        keys = (spread * rng.normal(size=(m, d_k))).tolist()
        return _numbers(rng, d_k), keys, _numbers(rng, m, d_v)

    yield Case("temperature", (*desk(), float(rng.uniform(0.2, 0.7))), note="it is cold")
    hot = int(rng.integers(2, 6))
    yield Case("temperature", desk(), {"temperature": hot}, note=f"temperature is {hot}")
    for temperature in (1e-4, 1e4):  # and keys of that size, so that no score is large
        args = *desk(temperature), temperature
        yield Case("temperature", args, note=f"temperature is {temperature:g}")
    args = *desk(), 1e-4
    yield Case("large", args, note="temperature is 0.0001", about=("temperature",))
    for temperature in (0, -1.0, -1e-9):
        small = _numbers(rng, 2), _numbers(rng, 2, 2), _numbers(rng, 2, 2)
        yield Case("refuses", (*small, temperature), raises="ValueError")


SOFT_LOOKUP = Exercise(
    name="soft_lookup",
    signature="(query, keys, values, temperature=1.0) -> (output, weights)",
    axes=("k", "m k", "m v", "?"),
    read="The soft lookup",
    returns=(Slot("output", "list", "d_v"), Slot("weights", "list", "M")),
    claims=promises(
        "averages the values by softmax of the dot products",
        1.5,
        Claim("temperature", "divides the scores by the temperature", 0.5),
        Claim(
            "refuses",
            "raises ValueError for temperature ≤ 0, and where lengths differ",
            0.5,
            also=("ragged",),
        ),
        large=0.25,
        unchanged=0.25,
    ),
    cases=_soft_cases,
    attention=LOOKUP,
    mistakes={
        "temperature-ignored": _soft(lambda temperature, d_k: 1.0).oracle,
        "temperature-multiplied": _soft(lambda temperature, d_k: 1 / temperature).oracle,
        "temperature-squared": _soft(lambda temperature, d_k: temperature**2).oracle,
        "scaled-by-sqrt-d": _soft(lambda temperature, d_k: temperature * d_k**0.5).oracle,
        "temperature-after-softmax": lambda query, keys, values, temperature=1.0: tuple(
            part / temperature for part in LOOKUP.oracle(query, keys, values)
        ),
        "returned-too-early": LOOKUP.answer(
            Recipe(mix=lambda at: at.weights[..., :1] @ at.v[..., :1, :])
        ),
    },
    without=("swapped-q-k", "queries-with-queries"),  # there is one query
)

EXERCISES = (HARD_LOOKUP, SOFTMAX, SOFT_LOOKUP)
