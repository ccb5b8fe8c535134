"""Saturation, without a browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

from attnlab.figures.live import Saturation
from attnlab.figures.live.figure import short
from attnlab.figures.live.saturation import (
    HIGH,
    LIMIT,
    TALL,
    WIDE,
    WIDTHS,
    drawn,
    jacobian_norms,
    of_reader,
)
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("Saturation"))

SCALED, RAW = "÷ √d_k", "no scale"


@pytest.fixture
def figure() -> Saturation:
    return Saturation()


@pytest.mark.parametrize("d_k", [2, 64, 1024])
def test_scores_spread_as_the_root_of_the_width_and_scaled_ones_as_1(d_k: int) -> None:
    measures = of_reader(d_k, 1, 4)
    assert measures[RAW]["std"] == pytest.approx(d_k**0.5, rel=0.1)
    assert measures[SCALED]["std"] == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize(("way", "scale"), [(RAW, 1.0), (SCALED, 1 / 8)])
def test_weights_are_pytorchs_for_the_reader(way: str, scale: float) -> None:
    queries, keys = drawn(4)
    query, shelf = (torch.tensor(part[..., :64]) for part in (queries[0, 10], keys[0]))
    expected = torch.softmax(scale * (shelf @ query), -1)
    shown = of_reader(64, 11, 4)[way]["weights"]
    np.testing.assert_allclose(shown, expected, atol=1e-12)


def test_measures_of_a_reader_are_those_of_its_weights() -> None:
    each = of_reader(64, 1, 4)[SCALED]
    weights = torch.tensor(each["weights"], dtype=torch.float64)
    slopes: Any = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), weights.log())
    assert each["reader"]["largest"] == weights.max()
    assert each["reader"]["gradient"] == pytest.approx(float(torch.linalg.norm(slopes)), rel=1e-9)


def test_norms_are_those_of_each_rows_jacobian() -> None:
    norms = jacobian_norms(np.array([[0, 1, 0], [1 / 3] * 3]))
    np.testing.assert_allclose(norms, [0, 2**0.5 / 3], atol=1e-15)


def test_a_typical_reader_saturates_without_the_scale_and_not_with_it() -> None:
    measures = of_reader(1024, 1, 4)
    raw, scaled = measures[RAW]["typical"], measures[SCALED]["typical"]
    assert raw["largest"] > 0.99
    assert raw["gradient"] < 1e-3
    assert scaled["largest"] < 0.3
    assert scaled["gradient"] > 0.2


@pytest.mark.parametrize("way", [RAW, SCALED])
def test_the_histogram_holds_nearly_all_scores_at_every_width(way: str) -> None:
    held = [sum(of_reader(d_k, 1, 4)[way]["histogram"]) for d_k in WIDTHS]
    assert min(held) > 0.99
    assert max(held) <= 1 + 1e-12


def test_each_picture_has_the_same_axes_at_every_width(figure: Saturation) -> None:
    def axes(picture: str) -> list[str]:
        return re.findall(r'<text[^>]*--attn-grey[^>]*>[^<]*</text>|viewBox="[^"]*"', picture)

    def pairs() -> list[list[str]]:
        return [axes(picture) for picture in figure.state["pictures"]]

    before = pairs()
    assert before[1] == before[3]
    figure.d_k = 1024
    assert [pairs()[n] for n in (0, 1, 3)] == [before[n] for n in (0, 1, 3)]


@pytest.mark.parametrize("d_k", WIDTHS)
def test_divided_scores_have_the_same_hill_dots_and_bracket_over_a_finer_ruler(d_k: int) -> None:
    def places(picture: str) -> np.ndarray:
        drawn = [*re.findall(r'<path d="([^"]*)" fill', picture)[:2]]
        drawn += re.findall(r'<circle data-key="\d+" (cx="[\d.]+")', picture)
        return np.array([*map(float, re.findall(r"[\d.]+", " ".join(drawn)))])

    def scale(picture: str) -> np.ndarray:
        ticks = re.findall(r'<text x="([\d.]+)" y="120"[^>]*>(−?\d+)</text>', picture)
        return np.array([[float(x), float(at.replace("−", "-"))] for x, at in ticks])

    raw, _, divided, _ = Saturation(d_k, reader=11).state["pictures"]
    np.testing.assert_allclose(places(raw), places(divided), atol=0.11)
    assert f">ruler √{d_k} × finer<" in divided
    assert "ruler" not in raw
    for picture, zoom in ((raw, 1), (divided, d_k**0.5)):
        x, at = scale(picture).T
        np.testing.assert_allclose(x - WIDE / 2, at * zoom * WIDE / 2 / LIMIT, atol=0.06)
        assert 5 <= len(at) <= 9


def test_the_lead_of_a_score_is_told_beside_the_ratio_that_softmax_makes_of_it() -> None:
    pictures = Saturation(64, reader=11).state["pictures"]
    queries, keys = drawn(4)
    second, first = np.sort(keys[0, :, :64] @ queries[0, 10, :64])[-2:]
    for (scores, weights), scale in zip((pictures[:2], pictures[2:]), (1, 8), strict=True):
        lead = (first - second) / scale
        assert f">{lead:.2f} ahead</text>" in scores
        assert f">{np.exp(lead):.3g} × the next</text>" in weights


def test_a_bracket_goes_from_the_next_score_to_the_largest() -> None:
    for picture in Saturation(256, reader=11).state["pictures"][::2]:
        at = sorted(float(x) for x in re.findall(r'<circle data-key="\d+" cx="([\d.]+)"', picture))
        [ends] = re.findall(r'd="M([\d.]+) [\d.]+v-[\d.]+H([\d.]+)v', picture)
        assert [float(each) for each in ends] == at[-2:]


@pytest.mark.parametrize("d_k", [2, 1024])
def test_words_beside_a_bar_meet_no_other_bar(d_k: int) -> None:
    """Beside a tall one they are higher than all others; else they stand over the largest."""
    for reader in range(1, 51):
        figure = Saturation(d_k, reader=reader)
        for way, picture in zip((RAW, SCALED), figure.state["pictures"][1::2], strict=True):
            weights = np.sort(of_reader(d_k, reader, 4)[way]["weights"])
            found = re.findall(r'y="([-\d.]+)"[^>]* dy="([-\d.]+)em"', picture)
            lines = [float(y) + float(dy) * 15 for y, dy in found]
            assert len(lines) == 2
            top = HIGH * (1 - weights[-2 if weights[-1] > TALL else -1])
            assert max(lines) < top


def test_dots_stand_at_their_scores_on_an_axis_that_is_finer_once_divided() -> None:
    pictures = Saturation(256, reader=11).state["pictures"]
    for way, picture, zoom in ((RAW, pictures[0], 1), (SCALED, pictures[2], 16)):
        found = re.findall(r'<circle data-key="\d+" cx="([\d.]+)"', picture)
        scores = np.array(of_reader(256, 11, 4)[way]["scores"])
        at = np.array([*map(float, found)]) - WIDE / 2
        np.testing.assert_allclose(at, scores * zoom * WIDE / 2 / LIMIT, atol=0.05)


def test_bars_move_from_width_to_width_as_they_are_the_same_parts(figure: Saturation) -> None:
    def parts(picture: str) -> list[str]:
        paths = [path for path in re.findall(r' d="([^"]*)"', picture) if path[-2:] != "v6"]
        return [re.sub(r"[-\d.]+", "", path) for path in paths]  # all but the ruler's ticks

    before = [parts(picture) for picture in figure.state["pictures"]]
    figure.d_k = 2
    assert [parts(picture) for picture in figure.state["pictures"]] == before


def test_the_same_seed_draws_the_same_forms() -> None:
    for one, other in zip(drawn(4), drawn(4), strict=True):
        np.testing.assert_array_equal(one, other)


def test_another_seed_draws_other_forms(figure: Saturation) -> None:
    before = figure.state["table"]
    figure.seed = 5
    assert figure.state["table"] != before


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.4567, "0.46"), (2.6, "2.60"), (0.01, "0.01"), (4.3e-5, "4 · 10⁻⁵"), (0, "0.00")],
)
def test_small_numbers_are_shown_as_powers_of_ten(value: float, shown: str) -> None:
    assert short(value) == shown


def test_repr_says_what_there_is_to_see(figure: Saturation) -> None:
    assert tells(repr(figure), "d_k = 64", "reader 1", "No scale", "8.0;")


def test_the_fallback_steps_through_doubled_widths(figure: Saturation) -> None:
    figure.d_k = 96
    html = figure.fallback()
    widths = re.findall(r"> d_k = (\d+)<", html)
    assert widths == ["96", *(str(2**power) for power in range(1, 11))]
    assert html.count("<svg ") == 4 * len(widths)
