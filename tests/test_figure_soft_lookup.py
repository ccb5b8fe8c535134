"""Soft lookup, without a browser."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from attnlab.checks.reference import attend
from attnlab.figures.live import SoftLookup
from attnlab.figures.live.soft_lookup_plane import (
    CELLS,
    EDGE,
    HIGH,
    KNOB,
    WIDE,
    labels,
    place,
)
from attnlab.figures.palette import SERIES
from attnlab.lessons.soft_lookup.figures import COLOURS
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("SoftLookup"))

KEYS = [[2, -1], [2, 1], [-1, 2], [-2, -1]]
PAGES = [[1, 4, 12], [10, 8, 16], [35, 0, 10], [2, 0, 30]]
BOOKS = ["rivers", "marshes", "seas", "deserts"]


def shelf(query: Any = (1, 2), temperature: float = 1.0) -> SoftLookup:
    return SoftLookup(
        query,
        KEYS,
        PAGES,
        BOOKS,
        axes=["fresh", "salt"],
        entries=["salt (g/l)", "mud (g/l)", "warmth (°C)"],
        temperature=temperature,
    )


def soft_answer(query: Any, temperature: float) -> np.ndarray:
    """(3,), by PyTorch."""
    keys, values = np.array(KEYS, dtype=float), np.array(PAGES, dtype=float)
    asked = np.array([query], dtype=float)
    return attend(asked, keys, values, scale=1 / temperature)[0]


@pytest.mark.parametrize("temperature", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("query", [(1.0, 2.0), (-2.3, 0.4), (0.0, 0.0)])
def test_the_soft_answer_is_pytorchs_and_its_slope_that_of_a_nudge(
    query: tuple[float, float], temperature: float
) -> None:
    soft = shelf(query, temperature).state["soft"]
    np.testing.assert_allclose(soft["answer"], soft_answer(query, temperature), atol=1e-9)
    for axis in (0, 1):
        nudge = 1e-6 * np.eye(2)[axis]
        after, before = (soft_answer(query + sign * nudge, temperature)[0] for sign in (1, -1))
        assert soft["slope"][axis] == pytest.approx((after - before) / 2e-6, abs=1e-5)


def test_the_hard_answer_is_the_page_of_the_closest_key_and_is_flat() -> None:
    hard = shelf().state["hard"]
    bar = hard.pop("bar")
    assert hard == {"weights": [0, 1, 0, 0], "answer": [10, 8, 16], "slope": [0, 0]}
    assert bar == pytest.approx([0, 10 / 35], abs=1e-4)
    assert shelf().state["axis"] == ["0", "35"], "bars begin at 0, not at the least page"


def test_a_bar_of_a_negative_answer_ends_at_0() -> None:
    state = two_alike([[-4], [-4], [6]]).state
    assert state["hard"]["bar"] == [0, 0.4]
    assert state["axis"] == ["−4", "6"]


def test_where_two_keys_tie_the_hard_answer_has_no_slope() -> None:
    state = shelf((1, 3)).state  # 5 with marshes and 5 with seas
    assert state["hard"]["slope"] is None
    assert tells(state["told"], "“marshes” and “seas”", "equally close", "jumps")
    assert tells(state["found"], "Salt", "jump between “marshes” and “seas”", "by the blend")
    with_seas = "Salt: 10 by “marshes” alone, 16.5 with 0.27 of “seas” blended in"
    assert shelf().state["found"] == with_seas
    cold = "Salt: 10 by “marshes” alone, 10.0 by the blend"
    assert shelf(temperature=0.1).state["found"] == cold


def two_alike(values: Any, keys: Any = ((1, 0), (1, 0), (0, 1)), query: Any = (1, 0)) -> SoftLookup:
    """Three books, of which the first two have the same key if nothing else is said."""
    books = ["a", "b", "c"]
    return SoftLookup(query, keys, values, books, axes=["x", "y"], entries=["salt"])


def test_between_equal_keys_with_equal_values_nothing_jumps() -> None:
    state = two_alike([[4], [4], [7]]).state
    assert state["hard"]["slope"] == [0, 0]
    assert tells(state["told"], "“a” and “b”", "equally close", "the same", "salt is 4")


def test_between_equal_keys_with_different_values_the_first_is_a_convention() -> None:
    state = two_alike([[4], [5], [7]]).state
    assert (state["hard"]["slope"], state["hard"]["answer"]) == ([0, 0], [4])
    assert tells(state["told"], "first, “a”", "convention", "salt is 4")


def test_between_different_keys_with_equal_values_nothing_jumps() -> None:
    figure = two_alike([[4], [2], [4]], keys=[[1, 0], [-1, 0], [0, 1]], query=[1, 1])
    assert figure.state["hard"]["slope"] == [0, 0]
    assert tells(figure.state["told"], "“a” and “c”", "equally close", "the same")


def test_equal_keys_beside_another_that_ties_jump_to_its_value() -> None:
    state = two_alike([[4], [5], [7]], query=[1, 1]).state
    assert state["hard"]["slope"] is None
    assert tells(state["told"], "“a” and “b” and “c”", "equally close", "jumps")


def test_cold_is_the_closest_page_and_hot_the_plain_mean() -> None:
    assert shelf(temperature=0.05).state["soft"]["answer"][0] == pytest.approx(10, abs=1e-6)
    assert shelf(temperature=1e6).state["soft"]["answer"][0] == pytest.approx(12, abs=1e-3)


def test_repr_says_what_there_is_to_see() -> None:
    hard = ("(1.0, 2.0)", "temperature 1", "“marshes”", "salt (g/l) is 10", "slope is 0")
    shares = ("“rivers” 1 %", "“marshes” 72 %", "“seas” 27 %", "“deserts” 0 %")
    assert tells(repr(shelf()), *hard, "16.51", *shares, "(−14.70, 5.32)")


def test_the_fallback_tells_of_the_query_and_of_it_turned() -> None:
    html = shelf().fallback()
    assert re.findall(r"> (query|turned to) ", html) == ["query"] + ["turned to"] * 7
    assert html.count("<svg ") == html.count("<li>") == 8
    assert shelf().state["told"] in html


# The plane ----------------------------------------------------------------------------------------


def test_the_ground_is_shaded_by_the_soft_answer_at_each_place() -> None:
    state = shelf(temperature=0.7).state
    shares = np.array(state["ground"]).reshape(CELLS, CELLS)
    for row, column in ((0, 0), (5, 17), (23, 3)):
        x, y = (state["reach"] * ((2 * at + 1) / CELLS - 1) for at in (column, CELLS - 1 - row))
        salt = soft_answer((x, y), 0.7)[0]
        assert shares[row, column] == pytest.approx((salt - 1) / (35 - 1), abs=0.006)
    said, *ends = state["legend"]
    assert tells(said, "soft", "salt (g/l)")
    assert ends == ["1", "35"]


def test_the_ground_flattens_with_the_temperature_and_not_with_the_query() -> None:
    cold, warm = (np.array(shelf(temperature=each).state["ground"]) for each in (0.05, 100))
    assert np.ptp(cold) > 0.9 > 0.05 > np.ptp(warm)
    assert shelf((0, 1)).state["ground"] == shelf((1, 2)).state["ground"]
    assert set(two_alike([[4], [4], [4]]).state["ground"]) == {0.0}


def test_no_name_stands_under_the_knob_or_on_another_name() -> None:
    tips = place(np.array(KEYS, dtype=float), 3)
    halves = [np.array([WIDE * len(book), HIGH]) for book in BOOKS]
    for query in itertools.product(np.arange(-3, 3.1, 0.3), repeat=2):
        knob = place(np.array(query), 3)
        middles = [np.array(middle) for middle in labels(tips, BOOKS, knob)]
        for at, (middle, half) in enumerate(zip(middles, halves, strict=True)):
            away = np.maximum(np.abs(knob - middle) - half, 0)
            assert np.linalg.norm(away) > KNOB - 2, (query, BOOKS[at])
            assert (np.abs(middle) + half <= EDGE).all()
            for other, its_half in zip(middles[:at], halves[:at], strict=True):
                assert (np.abs(middle - other) >= half + its_half).any()


@pytest.mark.parametrize("values", [PAGES, [[7]] * 4])
def test_the_query_is_named_at_its_knob_after_the_books(values: Any) -> None:
    """Its name is nearer to the knob than any book's is, with an arrow to more salt and without."""
    entries = ["salt"] * len(values[0])
    figure = SoftLookup((1, 2), KEYS, values, BOOKS, axes=["x", "y"], entries=entries)
    arrows = figure.state["arrows"]
    away = np.linalg.norm(np.array(arrows["labels"][:5]) - arrows["tip"], axis=1)
    assert away.argmin() == 4
    assert len(arrows["labels"]) == 5 + (values is PAGES)
    assert ">query</text>" in figure.fallback()


def test_a_book_has_one_colour_in_every_picture_of_its_lesson() -> None:
    state = shelf().state
    assert state["colours"] == [colour.name for colour in SERIES]
    assert tuple(colour.light for colour in SERIES) == COLOURS
    assert all(colour.drawn in shelf().fallback() for colour in SERIES)
