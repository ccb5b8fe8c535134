"""By hand, step by step, without a browser."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attnlab.figures.live import ByHand
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("ByHand"))

TOKENS = ["the", "cat", "sat"]
X = [[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]
W_Q = [[0, 0, 1], [0, 1, 0], [1, 1, 0], [-1, 1, -1]]
W_K = [[0, -1, 0], [1, 1, 0], [-1, 0, 0], [1, 1, 1]]
W_V = [[-1, 0], [1, 1], [-1, 1], [2, 0]]


@pytest.fixture
def figure() -> ByHand:
    return ByHand(TOKENS, X, W_Q, W_K, W_V)


def receive(figure: ByHand, message: dict[str, Any]) -> None:
    """What happens when the page sends a message."""
    figure._handle_custom_msg(message, [])


def numbers(figure: ByHand, name: str) -> np.ndarray:
    return np.array(figure.state["matrices"][name]["numbers"], dtype=float)


def told(figure: ByHand, name: str, row: int, column: int) -> dict[str, Any]:
    words: dict[str, Any] = figure.state["matrices"][name]["told"][row][column]
    return words


def expected(figure: ByHand) -> tuple[np.ndarray, np.ndarray]:
    """Weights and output by PyTorch, from what the figure holds."""
    tokens, *projections = (
        torch.tensor(given.copy()) for given in (figure.X, figure.W_q, figure.W_k, figure.W_v)
    )
    q, k, v = (tokens @ matrix for matrix in projections)
    unit = torch.eye(len(k), dtype=k.dtype)
    weights, output = (
        F.scaled_dot_product_attention(q[None], k[None], part[None], is_causal=figure.causal)[0]
        for part in (unit, v)
    )
    return weights.numpy(), output.numpy()


@pytest.mark.parametrize("causal", [False, True])
def test_the_numbers_are_pytorchs_before_and_after_an_edit(figure: ByHand, causal: bool) -> None:
    figure.causal = causal
    for edit in (
        ["X", 2, 0, "−1.5"],
        ["W_q", 3, 2, "0.25"],
        ["W_k", 0, 0, "3"],
        ["W_v", 1, 1, "9"],
    ):
        receive(figure, {"edit": edit})
        assert figure.problem == ""
        weights, output = expected(figure)
        np.testing.assert_allclose(numbers(figure, "A"), weights, atol=1e-12)
        np.testing.assert_allclose(numbers(figure, "Z"), output, atol=1e-12)


def test_the_lessons_own_numbers_are_shown(figure: ByHand) -> None:
    text = {name: matrix["text"] for name, matrix in figure.state["matrices"].items()}
    assert text["Q"][1] == ["1", "2", "0"]
    assert text["S"] == [["−1", "1", "0"], ["1", "2", "6"], ["−2", "2", "1"]]
    assert text["scaled"][0] == ["−0.577", "0.577", "0.000"]
    assert text["masked"] == text["scaled"]
    assert text["A"][1] == ["0.048", "0.086", "0.866"]
    assert text["Z"] == [["1.065", "1.365"], ["2.645", "1.038"], ["1.074", "1.542"]]


@pytest.mark.parametrize(
    ("name", "row", "column", "behind"),
    [
        ("Q", 1, 0, "0·0 + 1·0 + 1·1 + 0·(−1) = 1"),
        ("S", 1, 2, "1·2 + 2·2 + 0·1 = 6"),
        ("scaled", 1, 2, "6 / √3 ≈ 6 / 1.732 ≈ 3.464"),
        (
            "A",
            1,
            0,
            "e^0.577 / (e^0.577 + e^1.155 + e^3.464) ≈ 1.781 / (1.781 + 3.173 + 31.948) ≈ "
            "1.781 / 36.902 ≈ 0.048",
        ),
        ("Z", 1, 0, "0.048·1 + 0.086·0 + 0.866·3 ≈ 2.645"),
    ],
)
def test_behind_each_cell_stands_its_sum(
    figure: ByHand, name: str, row: int, column: int, behind: str
) -> None:
    assert told(figure, name, row, column)["sums"] == [behind]


def test_what_is_said_has_no_signs_to_trip_over(figure: ByHand) -> None:
    assert told(figure, "S", 1, 2)["said"] == (
        "“cat” asks “sat”: its query with the key of “sat”. "
        "1 times 2, plus 2 times 2, plus 0 times 1, is 6"
    )
    said = [
        cell["said"].removeprefix(cell["what"])
        for matrix in figure.state["matrices"].values()
        for row in matrix["told"]
        for cell in row
    ]
    assert not re.findall("[·+−=≈√^()∞/]", "".join(said))


def test_a_querys_row_tells_its_dot_product_with_every_key(figure: ByHand) -> None:
    row = figure.state["matrices"]["S"]["whole"][1]
    assert tells(row["what"], "“cat”", "every key")
    assert row["sums"] == [
        "the: 1·1 + 2·0 + 0·1 = 1",
        "cat: 1·0 + 2·1 + 0·0 = 2",
        "sat: 1·2 + 2·2 + 0·1 = 6",
    ]
    assert row["said"] == (
        f"{row['what']} "
        "the: 1 times 1, plus 2 times 0, plus 0 times 1, is 1; "
        "cat: 1 times 0, plus 2 times 1, plus 0 times 0, is 2; "
        "sat: 1 times 2, plus 2 times 2, plus 0 times 1, is 6"
    )


def test_every_row_of_a_token_is_told_with_the_sums_of_its_cells(figure: ByHand) -> None:
    for name, matrix in figure.state["matrices"].items():
        rows = matrix["whole"]
        assert len(rows) == (0 if name in ("W_q", "W_k", "W_v") else len(TOKENS))
        for row, cells in zip(rows, matrix["told"], strict=False):
            assert [line.split(": ")[1] for line in row["sums"]] == [
                cell["sums"][0] for cell in cells
            ]


def test_what_becomes_of_a_query_is_told_to_its_output(figure: ByHand) -> None:
    steps = [(step["stage"], step["text"]) for step in figure.state["trails"][1]]
    assert steps == [
        (2, "query (1, 2, 0)"),
        (3, "scores (1, 2, 6)"),
        (4, "scaled (0.577, 1.155, 3.464)"),
        (6, "weights (0.048, 0.086, 0.866)"),
        (7, "output (2.645, 1.038)"),
    ]
    figure.causal = True
    assert figure.state["trails"][1][3] == {"stage": 5, "text": "masked (0.577, 1.155, −∞)"}


def test_a_causal_mask_blocks_what_comes_later_with_exactly_0(figure: ByHand) -> None:
    figure.causal = True
    later = np.triu(np.ones((3, 3), dtype=bool), k=1)
    for name, text in (("masked", "−∞"), ("A", "0")):
        matrix = figure.state["matrices"][name]
        np.testing.assert_array_equal(matrix["blocked"], later)
        assert {matrix["text"][r][c] for r, c in np.argwhere(later)} == {text}
    assert (numbers(figure, "A")[later] == 0).all()
    np.testing.assert_allclose(numbers(figure, "A").sum(axis=1), 1)
    cell = told(figure, "masked", 1, 2)
    assert tells(cell["what"], "“cat”", "“sat”", "blocked")
    assert (cell["sums"], cell["said"]) == (["−∞"], f"{cell['what']} minus infinity")


def test_the_state_is_json_with_large_numbers_and_a_mask(figure: ByHand) -> None:
    figure.change(X=np.full((3, 4), 99), W_q=np.full((4, 3), -99), causal=True)
    json.dumps(figure.state, allow_nan=False)
    assert "largest" in told(figure, "A", 1, 0)["what"]


def test_a_later_token_changes_no_earlier_row_under_the_mask(figure: ByHand) -> None:
    figure.causal = True
    receive(figure, {"edit": ["X", 2, 2, "1"]})
    changed = np.array(figure.changed["Z"]).any(axis=1)
    assert changed.tolist() == [False, False, True]
    figure.causal = False
    receive(figure, {"edit": ["X", 2, 2, "5"]})
    assert np.array(figure.changed["Z"]).any(axis=1).all()


def test_only_the_typed_cell_of_the_inputs_is_marked(figure: ByHand) -> None:
    receive(figure, {"edit": ["W_v", 3, 1, "7"]})
    marked = {name: np.argwhere(cells).tolist() for name, cells in figure.changed.items()}
    assert {name for name, cells in marked.items() if cells} == {"W_v", "V", "Z"}
    assert marked["W_v"] == [[3, 1]]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("abc", ("“abc”", "number")),
        ("nan", ("“nan”", "finite")),
        ("100", ("X", "100", "row 2, column 3", "−99 to 99")),
    ],
)
def test_a_bad_cell_is_told_and_the_last_good_state_stays(
    figure: ByHand, typed: str, said: tuple[str, ...]
) -> None:
    before = figure.state
    receive(figure, {"edit": ["X", 1, 2, typed]})
    assert tells(figure.problem, *said)
    assert figure.state == before


def test_turning_to_a_stage_selects_what_it_makes(figure: ByHand) -> None:
    figure.cell = ["X", 1, 3]
    figure.stage = 3
    assert figure.cell == ["S", 1, 2]
    figure.stage = 7
    assert figure.cell == ["Z", 1, 1]


def test_selecting_a_cell_turns_to_a_stage_that_shows_it(figure: ByHand) -> None:
    figure.cell = ["W_v", 3, 1]
    assert figure.stage == 2
    figure.cell = ["Z", 2, 1]
    assert figure.stage == 7
    assert figure.cell == ["Z", 2, 1]


def test_a_whole_row_stays_whole_from_stage_to_stage(figure: ByHand) -> None:
    figure.cell = ["Q", 1, None]
    for stage, name in ((3, "Q"), (4, "scaled"), (6, "A"), (7, "A"), (1, "X")):
        figure.stage = stage
        assert figure.cell == [name, 1, None]
    figure.change(tokens=["cat"], X=[[0, 1, 1, 0]])
    assert figure.cell == ["X", 0, None]


def test_a_smaller_sentence_keeps_the_selection_inside(figure: ByHand) -> None:
    figure.cell = ["A", 2, 2]
    figure.change(tokens=["cat"], X=[[0, 1, 1, 0]])
    assert figure.cell == ["A", 0, 0]
    assert not any(np.any(cells) for cells in figure.changed.values())


def test_repr_says_what_there_is_to_see(figure: ByHand) -> None:
    facts = ("d = 4, d_k = 3, d_v = 2", "no mask", "“the”", "“cat” (0.53)", "(1.065, 1.365)")
    assert tells(repr(figure), *facts)


def test_the_fallback_tells_every_stage_and_the_mask(figure: ByHand) -> None:
    html = figure.fallback()
    assert re.findall(r"> (\d [^<]+)</label>", html) == [
        *("1 X", "2 Q, K, V", "3 scores", "4 scaled", "5 mask", "6 weights", "7 output"),
        *("5 mask, causal", "6 weights, causal", "7 output, causal"),
    ]
    for name in ("Q", "K", "V", "S", "scaled", "A", "Z"):
        assert told(figure, name, 1, 1)["sums"][0] in html
    assert html.count('title="blocked"') == 12  # 3 a matrix, masked scores and weights twice
