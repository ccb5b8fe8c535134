"""A training, step by step, without a browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

from attnlab.figures.live import TrainingScrubber
from attnlab.figures.live.training_scrubber import HIGH, LOW, telling
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("TrainingScrubber"))

ROWS, WORDS = ["it … tired", "it … wide"], ["the", "cat", "the", "road"]
LOSSES = [1.4, 0.9, 0.7, 0.69, 0.6, 0.01]
RECORDED: dict[int, Any] = {
    0: [[0.25] * 4, [0.25] * 4],
    5: [[0, 1, 0, 0], [0, 0.02, 0, 0.98]],
    2: [[0.1, 0.5, 0, 0.4], [0.1, 0.5, 0, 0.4]],
}


@pytest.fixture
def figure() -> TrainingScrubber:
    return TrainingScrubber(LOSSES, RECORDED, ROWS, WORDS)


def test_steps_are_in_their_order_and_the_first_is_shown(figure: TrainingScrubber) -> None:
    assert figure.state["stops"] == [0, 2, 5]
    assert figure.step == 0


def test_a_step_is_told_with_its_loss_and_where_the_weight_is(figure: TrainingScrubber) -> None:
    figure.step = 2
    weights = ("0.50 on “cat”", "0.40 on “road”")
    rows = ("“it … tired”", *weights, "“it … wide”", *weights)
    assert tells(figure.state["told"], "Step 2", "0.700", *rows)
    figure.step = 5
    assert tells(figure.state["told"], "1.00 on “cat”", "“it … wide”", "0.98 on “road”")
    assert "0.02" not in figure.state["told"]


def test_bars_are_as_high_as_the_largest_weight_of_all_steps_needs(
    figure: TrainingScrubber,
) -> None:
    assert figure.state["most"] == max(np.max(each) for each in RECORDED.values())
    assert TrainingScrubber([1, 2], {0: [[0]], 1: [[0]]}, ["a"], ["b"]).state["most"] == 1


def test_words_that_occur_twice_are_told_apart(figure: TrainingScrubber) -> None:
    assert "puts 0.25 on “the, 1st”" in figure.state["told"]
    assert figure.state["words"] == WORDS


def test_a_row_without_weight_is_told() -> None:
    recorded = {0: [[0, 0]], 1: [[1, 0]]}
    told = TrainingScrubber([1, 2], recorded, ["a"], ["b", "c"]).state["told"]
    assert tells(told, "Step 0", "1.000", "“a”", "nothing")


def test_the_weights_are_those_of_the_step_a_word_a_line(figure: TrainingScrubber) -> None:
    figure.step = 5
    np.testing.assert_allclose(figure.state["weights"], np.transpose(RECORDED[5]))


def marker(drawn: str) -> tuple[float, float]:
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert len(found) == 1
    return float(found[0][0]), float(found[0][1])


def test_the_heading_says_when_the_rows_part(figure: TrainingScrubber) -> None:
    parted = "Up to step 2 the rows are alike; from step 5 each has its own word"
    assert figure.state["claim"] == parted
    assert parted in figure.fallback()
    figure.recorded = {0: [[0, 1, 0, 0]] * 2, 2: [[0, 1, 0, 0], [0, 0, 0, 1]], 5: RECORDED[5]}
    assert figure.state["claim"].startswith("Up to step 0 the rows are alike; from step 2 each")
    figure.recorded = {0: [[1, 0, 0, 0], [0, 0, 0, 1]], 5: RECORDED[5]}
    assert figure.state["claim"] == "From step 5 each has its own word"
    figure.recorded = {0: [[0.47, 0.53, 0, 0], [0.53, 0.47, 0, 0]], 5: RECORDED[5]}
    assert not figure.state["claim"].startswith("Up to")  # so far apart one sees it
    figure.recorded = {0: RECORDED[0], 5: [[0, 1, 0, 0]] * 2}
    assert figure.state["claim"] == "From step 5 on all rows have most of the weight on “cat”"
    figure.recorded = {0: RECORDED[5], 5: RECORDED[0]}
    assert figure.state["claim"].startswith("Not every row")


def test_a_loss_to_compare_with_is_a_line_at_its_height(figure: TrainingScrubber) -> None:
    drawn = TrainingScrubber([2, 0], {0: [[1]], 1: [[1]]}, ["a"], ["b"], level=(0.5, "a coin"))
    assert f'd="M0 {0.75 * HIGH:.1f}H' in drawn.state["picture"]
    assert ">a coin<" in drawn.state["picture"]
    assert ">a coin<" in drawn.fallback()
    drawn.level = (3, "too high")
    assert "too high" not in drawn.state["picture"]


def test_the_marker_is_on_the_curve_at_the_step(figure: TrainingScrubber) -> None:
    points = re.findall(r'points="([^"]*)"', figure.state["picture"])[0].split()
    for step in (0, 2, 5):
        figure.step = step
        x, y = marker(figure.state["picture"])
        assert points[step] == f"{x:.1f},{y:.1f}"
        assert f"{LOSSES[step]:.2f} at step {step}" in figure.state["picture"]


def test_each_row_has_a_line_of_its_weight_on_the_word_of_the_first(
    figure: TrainingScrubber,
) -> None:
    drawn = figure.state["picture"]
    assert "weight on “cat” by" in drawn
    lines = re.findall(r'<polyline [^>]*points="([^"]*)"', drawn)[1:]
    shares = [[1 - float(point.split(",")[1]) / LOW for point in line.split()] for line in lines]
    expected = [[RECORDED[step][row][1] for step in (0, 2, 5)] for row in (0, 1)]
    np.testing.assert_allclose(shares, expected, atol=1e-3)


def test_axes_stay_from_step_to_step(figure: TrainingScrubber) -> None:
    before = re.findall(r"<text[^>]*>[^<]*</text>", figure.state["picture"])
    figure.step = 5
    assert re.findall(r"<text[^>]*>[^<]*</text>", figure.state["picture"]) == before


@pytest.mark.parametrize(
    ("losses", "ticks"),
    [([0.5, 0.5], ["0", "1"]), (range(120), ["0", "20", "40", "60", "80", "100"])],
)
def test_a_flat_curve_and_a_long_one_have_axes(losses: Any, ticks: list[str]) -> None:
    figure = TrainingScrubber(losses, {0: [[1]], 1: [[1]]}, ["a"], ["b"])
    assert re.findall(r'text-anchor="middle">(\d+)<', figure.state["picture"]) == ticks
    assert "nan" not in figure.state["picture"]


def test_tensors_of_a_training_are_read() -> None:
    weights = torch.tensor([[0.5, 0.5]], requires_grad=True)
    figure = TrainingScrubber(torch.tensor([1.0, 0.5]), {0: weights, 1: weights}, ["a"], ["b", "c"])
    assert figure.state["weights"] == [[0.5], [0.5]]


def test_many_steps_that_were_recorded_are_named_by_their_pattern() -> None:
    recorded = {step: [[1.0]] for step in range(0, 30, 3)}
    with pytest.raises(ValueError, match=r"step 4 .*0, 3, 6, …, 27"):
        TrainingScrubber(range(30), recorded, ["a"], ["b"], step=4)


def test_the_still_figure_has_the_steps_in_which_the_weights_moved() -> None:
    moved = [0, 0, 0, 0.5, 1, 1, 1, 1, 1, 1, 1, 1]
    recorded = {n: np.array([[share, 1 - share]]) for n, share in enumerate(moved)}
    assert telling(recorded)[1:-1] == [3, 4]


def test_the_fallback_has_several_steps_side_by_side(figure: TrainingScrubber) -> None:
    html = figure.fallback()
    assert re.findall(r"> (step \d, loss [\d.]+)<", html.replace("\u00a0", " ")) == [
        "step 0, loss 1.40",
        "step 2, loss 0.70",
        "step 5, loss 0.01",
    ]
    shown = [float(cell) for cell in re.findall(r"<td [^>]*>([\d.]+)</td>", html)]
    by_row = [RECORDED[step][row] for row in (0, 1) for step in (0, 2, 5)]
    np.testing.assert_allclose(shown, np.ravel(by_row), atol=0.0051)
    assert html.count("<circle ") == 3
