"""Answers to lesson 01, with the standard library alone."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
# ruff: noqa: B905

import functools
import math
import operator
import sys
import warnings

from . import Lesson

lesson = Lesson("01-soft-lookup")
wrong, right = lesson.wrong, lesson.right


# hard_lookup ---------------------------------------------------------------------------------


@wrong("hard_lookup", "first-match-only")
def returns_at_the_first_match(query, keys, values):
    for key, value in zip(keys, values):
        if key == query:
            return list(value)
    raise KeyError(query)


@wrong("hard_lookup", "counted-to-a-number")
def knows_how_many_books_there_are(query, keys, values):
    output = [0.0] * len(values[0]) if values else []
    hits = 0
    for i in range(3):
        if keys[i] == query:
            hits += 1
            output = [o + v for o, v in zip(output, values[i])]
    if hits == 0:
        raise KeyError(query)
    return output


@wrong("hard_lookup", "last-match-only")
def assigns_in_the_loop(query, keys, values):
    output = None
    for i in range(len(keys)):
        if keys[i] == query:
            output = [float(x) for x in values[i]]
    if output is None:
        raise KeyError(query)
    return output


@wrong("hard_lookup", "not-raised")
def gives_zeros_for_no_match(query, keys, values):
    d_v = len(values[0]) if values else 0
    return [sum((k == query) * v[j] for k, v in zip(keys, values)) for j in range(d_v)]


@right("hard_lookup")
def two_loops(query, keys, values):
    if not any(key == query for key in keys):
        raise KeyError(query)
    output = [0.0] * len(values[0])
    for i in range(len(keys)):
        weight = 1.0 if keys[i] == query else 0.0
        for j in range(len(output)):
            output[j] = output[j] + weight * values[i][j]
    return output


@right("hard_lookup")
def columns_of_the_matches(query, keys, values):
    found = [value for key, value in zip(keys, values) if key == query]
    if not found:
        raise KeyError(f"{query!r} is on no spine")
    return [math.fsum(column) for column in zip(*found)]


class NoSuchBook(KeyError):
    pass


@right("hard_lookup")
def an_error_of_its_own(query, keys, values):
    def matches():
        for i, key in enumerate(keys):
            if key == query:
                yield i

    found = list(matches())
    if not found:
        raise NoSuchBook(query)
    return [0 + sum(values[i][j] for i in found) for j in range(len(values[0]))]


@right("hard_lookup")
def prints_its_way(query, keys, values):
    print("looking for", query)
    output = None
    for key, value in zip(keys, values):
        print(key, key == query, file=sys.stderr)
        if key == query:
            output = value[:] if output is None else list(map(operator.add, output, value))
    if output is None:
        raise KeyError(query) from None
    return output


class Desk:
    """A lookup that is an object."""

    def __call__(self, query, keys, values):
        counts = [int(key == query) for key in keys]
        if 1 not in counts:
            raise KeyError(query)
        return [sum(map(operator.mul, counts, column)) for column in zip(*values)]


right("hard_lookup")(Desk())


# softmax -------------------------------------------------------------------------------------


def _refuse(scores):
    if not scores or all(score == -math.inf for score in scores):
        raise ValueError("softmax needs at least one finite score")


@wrong("softmax", "unstable-softmax")
def straight_from_the_formula(scores):
    _refuse(scores)
    exps = [math.exp(s) for s in scores]
    total = sum(exps)
    return [e / total for e in exps]


@wrong("softmax", "sum-changes-meanwhile")
def divides_in_place(scores):
    _refuse(scores)
    exps = [math.exp(s - max(scores)) for s in scores]
    for i in range(len(exps)):
        exps[i] /= sum(exps)
    return exps


@wrong("softmax", "e-rounded")
def e_as_the_lesson_prints_it(scores):
    _refuse(scores)
    powers = [2.718 ** (s - max(scores)) for s in scores]
    return [power / sum(powers) for power in powers]


@wrong("softmax", "raised")
def infinity_for_large_scores(scores):
    _refuse(scores)
    exps = []
    for s in scores:
        try:
            exps.append(math.exp(s))
        except OverflowError:
            exps.append(math.inf)
    total = sum(exps)
    if total == 0 or total == math.inf:
        raise ArithmeticError("out of range")
    return [e / total for e in exps]


@right("softmax")
def subtracts_the_maximum(scores):
    _refuse(scores)
    top = max(scores)
    exps = [math.exp(s - top) for s in scores]
    total = sum(exps)
    return [e / total for e in exps]


@right("softmax")
def one_over_the_sum_of_ratios(scores):
    _refuse(scores)

    def share(s):
        if s == -math.inf:
            return 0
        if any(t - s > 700 for t in scores):
            return 0
        return 1 / sum(math.exp(t - s) for t in scores)

    return [share(s) for s in scores]


@right("softmax")
def warns_and_prints(scores):
    warnings.warn("softmax is being called", stacklevel=2)
    print("scores:", scores, file=sys.stderr)
    _refuse(scores)
    exps = [math.exp(s - max(scores)) for s in scores]
    return [e / sum(exps) for e in exps]


class EmptyScores(ValueError):
    pass


def _checked(function):
    def inner(scores):
        if not [s for s in scores if s != -math.inf]:
            raise EmptyScores
        return function(scores)

    return inner


@right("softmax", "decorated")
@_checked
def softmax_of_checked_scores(scores):
    exps = [math.exp(s - max(scores)) if s != -math.inf else 0 for s in scores]
    return [e / sum(exps) for e in exps]


def _softmax_in_base(base, scores):
    _refuse(scores)
    top = max(scores)
    powers = [base ** (s - top) for s in scores]
    return [p / sum(powers) for p in powers]


right("softmax", "partial")(functools.partial(_softmax_in_base, math.e))


# soft_lookup ---------------------------------------------------------------------------------


def _softmax(scores):
    top = max(scores)
    exps = [math.exp(s - top) for s in scores]
    total = sum(exps)
    return [e / total for e in exps]


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def _mix(weights, values):
    return [sum(w * v[j] for w, v in zip(weights, values)) for j in range(len(values[0]))]


def _fit(query, keys, values, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    if len(keys) != len(values):
        raise ValueError("as many keys as values, please")
    if any(len(key) != len(query) for key in keys):
        raise ValueError("keys must be as wide as the query")
    if any(len(value) != len(values[0]) for value in values):
        raise ValueError("values must be equally wide")


@wrong("soft_lookup", "temperature-ignored")
def forgets_the_temperature(query, keys, values, temperature=1.0):
    _fit(query, keys, values, temperature)
    weights = _softmax([_dot(query, key) for key in keys])
    return _mix(weights, values), weights


@wrong("soft_lookup", "temperature-multiplied")
def multiplies_by_the_temperature(query, keys, values, temperature=1.0):
    _fit(query, keys, values, temperature)
    weights = _softmax([_dot(query, key) * temperature for key in keys])
    return _mix(weights, values), weights


@wrong("soft_lookup", "not-raised")
def zip_cuts_what_is_ragged(query, keys, values, temperature=1.0):
    if temperature <= 0:
        raise ValueError("temperature")
    weights = _softmax([_dot(query, key) / temperature for key in keys])
    return _mix(weights, values), weights


@right("soft_lookup")
def step_by_step(query, keys, values, temperature=1.0):
    _fit(query, keys, values, temperature)
    scores = []
    for key in keys:
        score = 0.0
        for j in range(len(query)):
            score += query[j] * key[j]
        scores.append(score / temperature)
    weights = _softmax(scores)
    output = [0.0] * len(values[0])
    for i in range(len(values)):
        for j in range(len(values[i])):
            output[j] += weights[i] * values[i][j]
    return output, weights


@right("soft_lookup")
def strict_zips(query, keys, values, temperature=1.0):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}")
    scores = [
        math.fsum(q * k for q, k in zip(query, key, strict=True)) / temperature for key in keys
    ]
    weights = _softmax(scores)
    columns = zip(*values, strict=True)
    return [
        math.fsum(w * x for w, x in zip(weights, column, strict=True)) for column in columns
    ], weights


@right("soft_lookup")
def a_list_of_two(query, keys, values, temperature=1.0):
    _fit(query, keys, values, temperature)
    weights = _softmax([_dot(query, key) / temperature for key in keys])
    return [_mix(weights, values), weights]


class SoftDesk:
    """A lookup that counts its readers, which is nobody's business."""

    def __init__(self):
        self.readers = 0

    def __call__(self, query, keys, values, temperature=1.0):
        self.readers += 1
        _fit(query, keys, values, temperature)
        weights = _softmax([_dot(query, key) / temperature for key in keys])
        return _mix(weights, values), weights


right("soft_lookup")(SoftDesk())


# mistakes in loops ---------------------------------------------------------------------------
