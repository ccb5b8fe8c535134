"""The exercise without one right answer: judged by what rows do in any sentence at all."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from attnlab.calling.call import Call, Outcome, perform
from attnlab.calling.deadline import Deadline
from attnlab.checks.judge import judge
from attnlab.checks.verdict import Verdict
from attnlab.lessons import exercises_of
from attnlab.notebook import verdict_on

EXERCISE = exercises_of("02-pure-python")["point_to_adjective"]
ARTICLE, NOUN, ADJECTIVE, VERB = range(4)


def verdict_of(W_q: Any, W_k: Any, seeds: tuple[int, ...] = (1, 2)) -> Verdict:
    return verdict_on(EXERCISE, lambda: (W_q, W_k), seeds, 10.0)


def least_share(W_q: np.ndarray, W_k: np.ndarray) -> float:
    """A noun's smallest weight on the adjective, in all sentences of up to eight words."""
    powers = np.exp(W_q[NOUN] @ W_k.T / 2**0.5)
    others = [
        counts
        for counts in itertools.product(range(8), repeat=3)
        if 1 <= sum(counts) <= 7 and counts[1]
    ]
    sums = np.array(others) @ powers[[ARTICLE, NOUN, VERB]]
    return float((powers[ADJECTIVE] / (powers[ADJECTIVE] + sums)).min())


@pytest.mark.parametrize("seed", range(12))
def test_full_points_are_for_every_sentence_and_not_for_those_that_were_drawn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W_q, W_k = rng.normal(size=(2, 4, 2))
    W_k[ADJECTIVE] += W_q[NOUN]  # or hardly any would do
    # Large enough for some sentences, and barely for all or not quite.
    for factor in np.linspace(1, 8, 15):
        asks, share = W_q * factor, least_share(W_q * factor, W_k)
        if abs(share - 0.9) < 1e-6:
            continue
        told = {verdict_of(asks.tolist(), W_k.tolist(), seeds).status for seeds in ((1, 2), (3, 4))}
        assert told == {"PASS" if share >= 0.9 else "FAIL"}, (share, factor)


def test_what_comes_of_the_matrices_is_worked_out_where_they_are_judged() -> None:
    asked = []

    def claims_to_be_right(calls: Sequence[Call]) -> Iterator[Outcome]:
        for call in calls:
            asked.append(call)
            yield perform(lambda: ([[0.0] * 2] * 4, [[0.0] * 2] * 4), call, Deadline(10.0))

    verdict = judge(EXERCISE, claims_to_be_right)
    assert verdict.status == "FAIL"
    assert {call.by for call in asked} == {"modules.returned"}  # which hands them on, no more


def test_a_score_of_minus_infinity_is_a_weight_of_zero() -> None:
    W_q = [[0, 0], [1e300, 0], [0, 0], [0, 0]]
    assert verdict_of(W_q, [[-1e300, 0], [0, 0], [1, 0], [0, 0]]).status == "PASS"
    assert verdict_of(W_q, [[0, 0], [0, 0], [1e300, 0], [0, 0]]).status == "FAIL"


@pytest.mark.parametrize(
    "matrix", [[[9, 0], [0, 0], [9, 0], [9, 0]], [[0, 0], [1, 0], [9, 0], [9, 0]]]
)
def test_the_same_matrix_twice_is_blamed_only_where_a_noun_is_drawn_to_itself(matrix: Any) -> None:
    diagnosis = verdict_of(matrix, matrix).diagnosis
    assert diagnosis is not None
    own, adjectives = (np.dot(matrix[NOUN], matrix[kind]) for kind in (NOUN, ADJECTIVE))
    assert (diagnosis.slug == "one-matrix-for-both") <= bool(own >= adjectives)
