"""Lesson 01's exercises: a lookup with 0/1 weights, softmax, and the lookup made soft."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from attnlab.checks import in_attention, in_softmax
from attnlab.checks.exercise import Case, Exercise, Group, Mistake, Property, Slot, unchanged
from attnlab.checks.inputs import (
    EQUAL,
    SECOND,
    far_rows,
    holes,
    low_rows,
    near_rows,
    one_size,
    ones_in_turn,
    ragged,
    random_list,
    rounded,
    sizes,
    tied_rows,
)
from attnlab.checks.recipe import Part, Recipe, Variation, mistakes_in
from attnlab.checks.reference import softmax, tensor
from attnlab.lessons.soft_lookup import LESSON

SPINES = ["tides", "moss", "glass", "bread", "owls", "maps", "salt", "sleep", "rust", "bees"]
MINUS_INFINITY = float("-inf")
E_ROUNDED: Part = (
    Variation(
        "e-rounded",
        "These are powers of 2.718. e goes on, 2.71828182…, and the weights miss the rest.",
        "Use `math.exp`, or `math.e ** x`.",
        ways=(
            {"weigh": lambda s: in_softmax.over_sum(2.718 ** (s - s.amax(-1, keepdim=True)))},
            {"weigh": lambda s: in_softmax.over_sum(2.72 ** (s - s.amax(-1, keepdim=True)))},
        ),
    ),
)


# hard_lookup ---------------------------------------------------------------------------------


def _hard_cases(rng: np.random.Generator) -> Iterator[Case]:
    m, d_k, d_v = sizes(rng, 3, 3)
    words = [str(word) for word in rng.permutation(SPINES)]
    for place in (0, int(rng.integers(1, m - 1))):
        args = words[place], words[:m], random_list(rng, m, d_v)
        yield Case("match", args, note="keys are words")
    vectors = random_list(rng, m, d_k)
    yield Case(
        "match", (list(vectors[1]), vectors, random_list(rng, m, d_v)), note="keys are lists"
    )
    yield Case("match", (words[0], words[:1], random_list(rng, 1, d_v)), note="there is one key")
    yield Case("match", (words[1], words[:m], random_list(rng, m, 1)), note="values are one wide")
    word = words[0]
    alike: list[tuple[Any, list[Any], str]] = [
        (word, [f"{word}s", word.upper(), word], "other keys are like it"),
        (0.5, [0.5 + 1e-9, 0.5, 1.0], "another key is close to it"),
        (1, ["1", 2, 1.0], "the query is an int and its key a float"),
        (
            vectors[0],
            [[*vectors[0], 1.0], list(vectors[0]), vectors[1]],
            "one key is a longer list",
        ),
        (0, [3, 0, 5], "the query is 0"),
        ("", ["a", "", "b"], "the query is ''"),
    ]
    for query, keys, note in alike:
        yield Case("match", (query, keys, random_list(rng, len(keys), d_v)), note=note)
    some = random_list(rng, m, d_v)
    some[1][int(rng.integers(d_v))] = 0.0
    yield Case("match", (words[1], words[:m], some), note="one number of the value is 0")
    first, second = (random_list(rng, m, d_v) for _ in range(2))
    earlier = words[1], words[:m], first
    yield Case("match", (words[0], words[:m], second), earlier=earlier, note=SECOND)
    twice = [*words[:m], words[1]]
    args = words[1], twice, random_list(rng, m + 1, d_v)
    yield Case("several", args, note="two keys match, one of them the last")
    args = words[1], [words[1], *twice], random_list(rng, m + 2, d_v)
    yield Case("several", args, note="three keys match")
    some = random_list(rng, m + 1, d_v)
    yield Case("several", (words[1], twice, [*some[:-1], some[1]]), note="their values are equal")
    note = "the value that belongs to the key is all 0"
    some = random_list(rng, m, d_v)
    some[1] = [0.0] * d_v
    yield Case("missing", (words[1], words[:m], some), note=note)
    yield Case("missing", ("zinc", words[:m], random_list(rng, m, d_v)), raises="KeyError")
    yield Case("missing", (9, [], []), raises="KeyError", note="there are no keys")


def _indicator(query: Any, keys: list[Any]) -> np.ndarray:
    return np.array([float(key == query) for key in keys])


def _hard_oracle(query: Any, keys: list[Any], values: list[list[float]]) -> np.ndarray:
    return (tensor(_indicator(query, keys)) @ tensor(values)).numpy()


def _first_identical(query: Any, keys: list[Any]) -> int:
    for position, key in enumerate(keys):
        if key is query:
            return position
    raise KeyError(query)


def _refusing_zero(query: Any, keys: list[Any], values: list[list[float]]) -> np.ndarray:
    output = _hard_oracle(query, keys, values) if keys else np.zeros(0)
    if not output.any():
        raise KeyError(query)
    return output


def _at(values: list[list[float]], position: int) -> list[float]:
    return values[position]


HARD_LOOKUP = Exercise(
    name="hard_lookup",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(query, keys, values) -> list[float]",
    axes=("?", "m …", "m v"),
    read="A dictionary, written as a sum",
    returns=(Slot("output", "list", "d_v"),),
    groups=(
        Group("match", "gives the value of the key that equals the query", 0.5, core=True),
        Group("several", "adds the values of all keys that match", 0.125),
        Group(
            "missing", "raises KeyError when no key matches, and none over a value of zeros", 0.25
        ),
        unchanged(0.125),
    ),
    cases=_hard_cases,
    oracle=_hard_oracle,
    mistakes=(
        Mistake(
            "first-match-only",
            lambda query, keys, values: values[keys.index(query)],
            "It stops at the first key that matches. The sum goes over every key.",
            "Let the loop run to the end and add up what each key contributes.",
        ),
        Mistake(
            "last-match-only",
            lambda query, keys, values: values[len(keys) - 1 - keys[::-1].index(query)],
            "A later match replaces an earlier one, as it would in a Python dict.",
            "Add to the output instead of assigning it.",
        ),
        Mistake(
            "averaged-matches",
            lambda query, keys, values: (
                _hard_oracle(query, keys, values) / _indicator(query, keys).sum()
            ),
            "The matches are averaged. This lookup's weights are 0 and 1 and are not normalised.",
            "Leave out the division: soft_lookup is where weights become shares.",
        ),
        Mistake(
            "keys-as-values",
            lambda query, keys, values: keys[keys.index(query)],
            "It returns the key that matched. A key only says where; the answer is its value.",
            "Use the key to find the position, then take `values` at that position.",
        ),
        Mistake(
            "values-unweighted",
            lambda query, keys, values: np.sum(values, axis=0),
            "It adds up all the values. Those whose key does not match should count 0 times.",
            "Multiply each value by 1 if its key equals the query and by 0 if not.",
        ),
        Mistake(
            "uniform-weights",
            lambda query, keys, values: np.mean(values, axis=0),
            "Every value counts the same, whatever the query.",
            "Multiply each value by 1 if its key equals the query and by 0 if not.",
        ),
        Mistake(
            "weights-as-output",
            lambda query, keys, values: _indicator(query, keys),
            "These are the 0/1 weights, one for each key. The lookup's answer is made of values.",
            "Multiply each weight with its value and add up, one sum for each entry of a value.",
        ),
        Mistake(
            "match-inverted",
            lambda query, keys, values: (1 - _indicator(query, keys)) @ np.array(values),
            "It adds up the values whose key does not match.",
            "Turn the test round: `==`, not `!=`.",
        ),
        Mistake(
            "equal-key-not-found",
            lambda query, keys, values: _at(values, _first_identical(query, keys)),
            "A key that equals the query is not taken for a match if it is a list. Two lists with "
            "the same entries are equal, and are still two things to `is`; and no list equals a "
            "tuple, or stands in itself.",
            "Compare each key with the query as they are given, by `==`.",
        ),
        Mistake(
            "zero-taken-for-no-match",
            _refusing_zero,
            "An output of zeros was taken for a sign that no key matched. A value may be all 0.",
            "Ask the weights, or `query in keys`, whether anything matched.",
        ),
        Mistake(
            "neighbour-of-the-match",
            lambda query, keys, values: _at(values, keys.index(query) + 1),
            "It takes the value after the one that belongs to the key: positions count from 0.",
            "Walk through both lists together: `for key, value in zip(keys, values)`.",
        ),
        Mistake(
            "neighbour-of-the-match",
            lambda query, keys, values: _at(values, keys.index(query) - 1),
            "It takes the value before the one that belongs to the key.",
            "Walk through both lists together: `for key, value in zip(keys, values)`.",
        ),
    ),
)


# softmax -------------------------------------------------------------------------------------


def _softmax_cases(rng: np.random.Generator) -> Iterator[Case]:
    some, more = sizes(rng, 2, 4)
    yield Case("values", (random_list(rng, some),))
    yield Case("values", (rng.normal(0, 3, more).tolist(),), note="scores have all their digits")
    yield Case("values", (rng.permutation([0, 1, 3]).tolist(),), note="scores are ints")
    yield Case("values", (random_list(rng, 1),), note="there is one score")
    notes = "two scores are the largest", "all scores are equal", "all are 0", "the largest is 0"
    for row, note in zip(rounded(tied_rows(rng, some)), notes, strict=True):
        yield Case("values", (row,), note=note)
    earlier, row = random_list(rng, 2, more)
    yield Case("values", (row,), earlier=(earlier,), note=SECOND)
    for row in rounded(near_rows(rng, more)):
        yield Case("large", (row,), note=f"scores are near {round(row[0], -3):,.0f}")
    for row in rounded(far_rows(rng, some)):
        yield Case("large", (row,), note="scores are thousands apart")
    for row in rounded(low_rows(rng, some)):
        note = "some scores are -inf, the others far below 0"
        yield Case("large", (row,), note=note, exact_zeros=True)
    for group, rows in (("large", far_rows(rng, some)), ("blocked", rng.normal(size=(3, some)))):
        for row in rounded(np.where(holes(rng, 3, some), rows, -np.inf)):
            yield Case(group, (row,), note="some scores are -inf", exact_zeros=True)
    yield Case("refuses", ([],), raises="ValueError", note="there are no scores")
    for number in (1, some):
        args = ([MINUS_INFINITY] * number,)
        yield Case("refuses", args, raises="ValueError", note="all scores are -inf")


SOFTMAX = Exercise(
    name="softmax",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(scores: list[float]) -> list[float]",
    axes=("m",),
    read="Softmax: scores become shares",
    returns=(Slot("weights", "list", "M"),),
    groups=(
        Group("values", "equals e to each score, divided by the sum of them all", 1.0, core=True),
        Group("large", "is stable at ±10,000", 0.25, needs=("blocked",)),
        Group("blocked", "gives exactly 0 to a score of -inf", 0.25),
        Group("refuses", "raises ValueError for no scores, or when all are -inf", 0.25),
        unchanged(0.25),
    ),
    cases=_softmax_cases,
    oracle=lambda scores: softmax(np.asarray(scores, dtype=float)),
    mistakes=mistakes_in(
        lambda recipe: recipe.softmax,
        in_softmax.SOFTMAX,
        E_ROUNDED,
        in_softmax.LARGE_IN_PYTHON,
        in_softmax.MAXIMA_IN_PYTHON,
        without=("one-maximum-for-all-rows",),  # there is one row
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, w: bool((w >= 0).all())),
        Property("weights add up to 1", lambda args, w: bool(abs(w.sum() - 1) <= 1e-6)),
    ),
)


# soft_lookup ---------------------------------------------------------------------------------


def _soft_cases(rng: np.random.Generator) -> Iterator[Case]:
    def desk(m: int, d_k: int, d_v: int) -> tuple[Any, Any, Any]:
        return random_list(rng, d_k), random_list(rng, m, d_k), random_list(rng, m, d_v)

    m, d_k, d_v = sizes(rng, 3, 3)
    yield Case("values", desk(m, d_k, d_v))
    yield Case("values", desk(*sizes(rng, 3)))
    yield Case("values", desk(*one_size(rng, 3)), note=EQUAL)
    query, keys, values = desk(m, d_k, d_v)
    alike = [keys[0], list(keys[0]), *keys[2:]]
    yield Case("values", (query, alike, values), note="two keys are equal")
    yield Case("values", ([0.0] * d_k, keys, values), note="the query is all 0")
    yield Case("values", desk(m, d_k, d_v), earlier=(query, keys, values), note=SECOND)
    for one in ones_in_turn(rng, 3):
        yield Case("values", desk(*one), note="one of the sizes is 1")
    yield Case("temperature", (*desk(m, d_k, d_v), 0.5), note="temperature is 0.5")
    args, kwargs = desk(*sizes(rng, 3)), {"temperature": 3.0}
    yield Case("temperature", args, kwargs, note="temperature is 3")
    for temperature in (1e-4, 1e4):  # with keys of that size, so that no score is large
        query, _, values = desk(m, d_k, d_v)
        keys = (temperature * rng.normal(size=(m, d_k))).tolist()
        note = f"temperature is {temperature:g}"
        yield Case("temperature", (query, keys, values, temperature), note=note)
    query, keys, values = desk(m, d_k, d_v)
    above = [abs(x) + 0.1 for x in query], [[abs(x) + 0.1 for x in key] for key in keys], values
    yield Case("large", (*above, 1e-4), note="temperature is 0.0001")  # all scores are large
    for row in far_rows(rng, m) / 1e4:
        along = np.array(query) / np.dot(query, query)
        apart = query, (row[:, None] * along).tolist(), values, 1e-4
        yield Case("large", apart, note="scores are thousands apart")
    query, keys, values = desk(m, d_k, d_v)
    for temperature in (0, -1.0, -1e-9):
        yield Case("refuses", (query, keys, values, temperature), raises="ValueError")
    for wrong, note in ragged(rng, keys):
        note = f"of the keys, {note}"
        yield Case("refuses", (query, wrong, values), raises="ValueError", note=note)
    for wrong, note in ragged(rng, values):
        note = f"of the values, {note}"
        yield Case("refuses", (query, keys, wrong), raises="ValueError", note=note)
    note = "there is a value too few"
    yield Case("refuses", (query, keys, values[:-1]), raises="ValueError", note=note)
    note = "there is a value too many"
    yield Case("refuses", (query, keys, [*values, values[0]]), raises="ValueError", note=note)
    note = "the query is wider than the keys"
    yield Case("refuses", ([*query, 1.0], keys, values), raises="ValueError", note=note)
    note = "the keys are wider than the query"
    yield Case("refuses", (query[:-1], keys, values), raises="ValueError", note=note)


def _soft(
    recipe: Recipe, heat: Callable[[float, int], float] = lambda temperature, d_k: temperature
) -> Callable[..., Any]:
    """soft_lookup, made from a recipe: its scale is one over a temperature."""

    def lookup(query: Any, keys: Any, values: Any, temperature: float = 1.0) -> Any:
        scaled = replace(recipe, scale=lambda at: 1.0 / heat(temperature, len(query)))
        return tuple(part[0] for part in scaled.compute([query], keys, values))

    return lookup


def _soft_oracle(query: Any, keys: Any, values: Any, temperature: float = 1.0) -> Any:
    weights = (tensor(keys) @ tensor(query) / temperature).softmax(-1)
    return (weights @ tensor(values)).numpy(), weights.numpy()


SOFT_LOOKUP = Exercise(
    name="soft_lookup",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(query, keys, values, temperature=1.0) -> (output, weights)",
    axes=("k", "m k", "m v"),
    read="The soft lookup",
    returns=(Slot("output", "list", "d_v"), Slot("weights", "list", "M")),
    groups=(
        Group("values", "averages the values by softmax of the dot products", 1.5, core=True),
        Group("temperature", "divides the scores by the temperature", 0.5),
        Group(
            "large",
            "stays right when scores are in the thousands",
            0.25,
            needs=("temperature",),
        ),
        Group("refuses", "raises ValueError for temperature ≤ 0 and for ragged inputs", 0.5),
        unchanged(0.25),
    ),
    cases=_soft_cases,
    oracle=_soft_oracle,
    mistakes=(
        *mistakes_in(
            _soft,
            in_softmax.SOFTMAX,
            in_softmax.NO_SOFTMAX,
            in_softmax.LARGE_IN_PYTHON,
            in_attention.SCORES,
            in_attention.MIX,
            in_attention.RESULTS,
        ),
        Mistake(
            "temperature-ignored",
            _soft(Recipe(), lambda temperature, d_k: 1.0),
            "The answer is the one for temperature 1, whatever temperature is asked for.",
            "Divide every score by `temperature` before softmax.",
        ),
        Mistake(
            "temperature-multiplied",
            _soft(Recipe(), lambda temperature, d_k: 1.0 / temperature),
            "The scores are multiplied by the temperature, so that hot and cold trade places.",
            "Divide: a small temperature has to make differences between scores larger.",
        ),
        Mistake(
            "temperature-after-softmax",
            lambda query, keys, values, temperature=1.0: tuple(
                part / temperature for part in _soft_oracle(query, keys, values)
            ),
            "The weights, not the scores, are divided by the temperature; they no longer add up "
            "to 1.",
            "Divide the scores, then take softmax.",
        ),
        Mistake(
            "temperature-squared",
            _soft(Recipe(), lambda temperature, d_k: temperature**2),
            "The scores are divided by the temperature twice.",
            "Divide once: either the query or the scores.",
        ),
        Mistake(
            "scaled-by-sqrt-d",
            _soft(Recipe(), lambda temperature, d_k: temperature * d_k**0.5),
            "The scores are divided by √d_k as well. That factor comes in lesson 02; here the "
            "temperature is the only scale.",
            "Divide by `temperature` alone.",
        ),
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, z, w: bool((w >= 0).all())),
        Property("weights add up to 1", lambda args, z, w: bool(abs(w.sum() - 1) <= 1e-6)),
    ),
)

EXERCISES = (HARD_LOOKUP, SOFTMAX, SOFT_LOOKUP)
