"""Sums as they are written on paper and read out."""

from __future__ import annotations

import math

import pytest

from attnlab.figures.live.on_paper import divided, products, read_out, shared_out, written


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (-1.0, None, "−1"),
        (-0.0, None, "0"),
        (0.5, None, "0.5"),
        (10.0, None, "10"),
        (0.1 + 0.2, None, "0.3"),
        (-0.0001, 3, "0.000"),
        (1.0, 3, "1.000"),
        (-math.inf, 3, "−∞"),
        (-12_345_678.0, 3, "−1.23e+07"),
    ],
)
def test_a_number_is_written_as_on_paper(value: float, digits: int | None, text: str) -> None:
    assert written(value, digits) == text


def test_a_sum_of_products_has_every_term() -> None:
    assert products([1, 2, 0], [2, -2, 1], -2) == "1·2 + 2·(−2) + 0·1 = −2"


def test_only_a_sum_with_rounded_numbers_is_about_equal() -> None:
    assert products([0.5], [0.5], 0.25) == "0.5·0.5 = 0.25"
    assert products([1 / 3], [3], 1) == "0.333·3 ≈ 1"


def test_a_root_is_named_before_it_is_rounded() -> None:
    assert divided(6, 3, 6 / math.sqrt(3)) == "6 / √3 ≈ 6 / 1.732 ≈ 3.464"
    assert divided(6, 4, 3) == "6 / √4 = 6 / 2 = 3.000"


def test_a_weight_is_a_share_of_its_row() -> None:
    assert shared_out([0.0, math.log(3)], 1, 0.75) == (
        "e^1.099 / (e^0.000 + e^1.099) ≈ 3.000 / (1.000 + 3.000) ≈ 3.000 / 4.000 ≈ 0.750"
    )


def test_a_blocked_share_is_exactly_0() -> None:
    assert shared_out([0.0, -math.inf], 1, 0.0) == (
        "e^(−∞) / (e^0.000 + e^(−∞)) ≈ 0 / (1.000 + 0) ≈ 0 / 1.000 = 0"
    )


def test_large_scores_are_lowered_before_they_overflow() -> None:
    assert shared_out([1e4, 1e4 - 1], 0, 0.731) == (
        "e^0.000 / (e^0.000 + e^(−1.000)) ≈ 1.000 / (1.000 + 0.368) ≈ 1.000 / 1.368 ≈ 0.731"
    )


def test_a_sum_can_be_listened_to() -> None:
    assert read_out("1·2 + 2·(−2) = −2") == "1 times 2, plus 2 times minus 2, is minus 2"
    assert read_out("e^0.577 / (e^0.577 + e^(−∞)) ≈ 1.000") == (
        "e to the 0.577, divided by the sum of e to the 0.577, plus e to the minus infinity, "
        "is about 1.000"
    )
    assert read_out("6 / √4 = 6 / 2") == "6 divided by the root of 4, is 6 divided by 2"
