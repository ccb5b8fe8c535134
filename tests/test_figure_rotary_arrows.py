"""Arrows that turn with position, without a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from attnlab.figures.live import RotaryArrows
from attnlab.figures.live.on_paper import short
from attnlab.figures.live.rotary_arrows import reach, turned
from attnlab.figures.live.rotary_picture import HIGH, RADIUS, in_degrees
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("RotaryArrows"))

QUERY, KEY = [2.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.5, 1.0]


@pytest.fixture
def figure() -> RotaryArrows:
    return RotaryArrows(QUERY, KEY, degrees=[30, 3])


def complex_score(query_at: int, key_at: int, speeds: list[float]) -> float:
    """The score by complex numbers: the real part of q times the conjugate of k."""
    q, k = (torch.view_as_complex(torch.tensor(x).reshape(-1, 2)) for x in (QUERY, KEY))
    turns = torch.tensor(speeds) * (query_at - key_at)
    return float((q * k.conj() * torch.polar(torch.ones(2), turns)).real.sum())


def score(figure: RotaryArrows) -> float:
    return sum(pair.product for pair in turned(figure._inputs))


@pytest.mark.parametrize(("query_at", "key_at"), [(3, 1), (0, 0), (12, 0), (2, 9)])
def test_the_score_is_that_of_complex_numbers(query_at: int, key_at: int) -> None:
    given = RotaryArrows(QUERY, KEY, query_at, key_at, degrees=[30, 3])
    expected = complex_score(query_at, key_at, np.radians([30, 3]).tolist())
    assert score(given) == pytest.approx(expected, abs=1e-5)
    own = RotaryArrows(QUERY, KEY, query_at, key_at)
    assert score(own) == pytest.approx(complex_score(query_at, key_at, [1, 0.01]), abs=1e-5)


def test_moving_both_changes_every_angle_and_no_score(figure: RotaryArrows) -> None:
    before, first = figure.state, score(figure)
    assert before["titles"][-1] == "the score"
    figure.moved = 5
    after = figure.state
    assert after["titles"][-1] == f"the score (before the move: {first:.2f})"
    assert score(figure) == pytest.approx(first, abs=1e-12)
    assert after["table"][-1] == before["table"][-1]
    for old, new in zip(before["table"][:-1], after["table"][:-1], strict=True):
        assert old[1:3] != new[1:3]
        assert old[3:] == new[3:]


def test_it_is_told_in_words(figure: RotaryArrows) -> None:
    turn = ("60° in pair 0", "12° in pair 1", "Without", "score", "3.50")
    assert tells(figure.state["told"], "query", "at 3", "key", "at 1", *turn)
    assert tells(figure.state["found"], "2 steps before the query", "score 2.54")


@pytest.mark.parametrize(
    ("query_at", "key_at", "said"),
    [(1, 2, "1 step after"), (4, 4, "at the query"), (5, 4, "1 step before")],
)
def test_the_way_is_told(query_at: int, key_at: int, said: str) -> None:
    assert said in RotaryArrows(QUERY, KEY, query_at, key_at).state["found"]


def test_an_arrow_without_length_is_a_dot() -> None:
    figure = RotaryArrows([0, 0], [0, 0])
    assert "nan" not in repr(figure.state).lower()
    assert figure.state["pictures"][0].count("<polygon") == 0


@pytest.mark.parametrize(("query_at", "key_at"), [(3, 1), (0, 4), (12, 0), (2, 2), (9, 3)])
def test_the_angle_that_is_told_is_drawn(query_at: int, key_at: int) -> None:
    figure = RotaryArrows(QUERY, KEY, query_at, key_at, degrees=[30, 3])
    pairs = figure.state["pictures"][:-1]
    for pair, drawn in zip(figure.state["table"][:-1], pairs, strict=True):
        arc = float(re.findall(r'stroke-dasharray="([\d.]+) 360"', drawn)[0])
        assert drawn.count(' 360"') == 1, "not moved, there is one angle"
        assert f"{in_degrees(arc)}°" == pair[3]
        assert f">{pair[3]}</text>" in drawn


@pytest.mark.parametrize(("query_at", "key_at"), [(3, 1), (6, 0), (0, 4), (2, 2)])
def test_the_shadow_that_is_drawn_times_the_querys_length_is_the_dot_product(
    query_at: int, key_at: int
) -> None:
    figure = RotaryArrows(QUERY, KEY, query_at, key_at, degrees=[30, 3])
    for pair, drawn in zip(turned(figure._inputs), figure.state["pictures"], strict=False):
        (along,) = re.findall(r'data-key="shadow"[^>]*><path d="M0 0H(-?[\d.]+)"', drawn)
        shadow = float(along) / RADIUS * 2  # the longest arrow is 2 long, and reaches the circle
        assert shadow * np.linalg.norm(pair.query) == pytest.approx(pair.product, abs=3e-3)


@pytest.mark.parametrize("degrees", [[30, 3], None])
def test_bars_of_the_score_have_one_scale_at_every_distance_and_stay_on_the_sheet(
    degrees: list[float] | None,
) -> None:
    for query_at, key_at in [(place, 0) for place in range(13)] + [(0, 12), (2, 7)]:
        figure = RotaryArrows(QUERY, KEY, query_at, key_at, degrees=degrees)
        products = [pair.product for pair in turned(figure._inputs)]
        drawn = figure.state["pictures"][-1]
        found = re.findall(r'y="([\d.]+)" width="[\d.]+" height="([\d.]+)" fill="[^"]*"/>', drawn)
        bars = [(float(top), float(high)) for top, high in found]
        for (top, high), product in zip(bars, [*products, sum(products)], strict=True):
            assert 30 < top <= top + high < HIGH - 50
            low, most = reach(figure._inputs)
            assert high == pytest.approx(abs(product) / (most - low) * (HIGH - 90), abs=0.1)


def test_grey_arrows_stay_where_both_pointed_before_they_were_moved(figure: RotaryArrows) -> None:
    def directions(*names: str) -> list[float]:
        drawn = "".join(figure.state["pictures"][:-1])
        return [
            float(found) % 360
            for name in names
            for found in re.findall(rf'data-key="{name}" transform="rotate\((-?[\d.]+)\)', drawn)
        ]

    at_first = directions("q", "k")
    assert directions("ghost-q", "ghost-k") == at_first
    figure.moved = 5
    assert directions("ghost-q", "ghost-k") == pytest.approx(at_first)
    moved = [(old - new) % 360 for old, new in zip(at_first, directions("q", "k"), strict=True)]
    assert moved == pytest.approx([150, 15, 150, 15], abs=0.02)


def test_a_circle_has_one_arc_which_is_as_long_wherever_both_are_moved(
    figure: RotaryArrows,
) -> None:
    def arcs() -> list[list[str]]:
        return [re.findall(r'"([\d.]+) 360"', drawn) for drawn in figure.state["pictures"][:-1]]

    before = arcs()
    assert [len(arc) for arc in before] == [1, 1]
    figure.moved = 5
    assert arcs() == before


def test_the_shadow_is_named_once(figure: RotaryArrows) -> None:
    assert [drawn.count(">shadow<") for drawn in figure.state["pictures"]] == [1, 0, 0]


def test_degrees_are_whole_above_10_and_last_bits_decide_nothing() -> None:
    angles = (57.3, -30.4, 9.96, 22.5 + 1e-12, 22.5 - 1e-12)
    assert [in_degrees(angle) for angle in angles] == ["57", "−30", "9.96", "22", "22"]


def test_numbers_are_short_and_zero_has_no_sign() -> None:
    assert [short(value) for value in (57.29578, -30.0, -0.001, 90)] == ["57.3", "−30", "0", "90"]


def test_the_fallback_steps_through_the_moves_with_one_score(figure: RotaryArrows) -> None:
    html = figure.fallback()
    assert html.count('type="radio"') == 6
    assert html.count(">2.54</td>") == 6
    assert re.search(r'role="img" aria-label="pair 0: query arrow turned by 90 degrees', html)
