"""Mask painter, without a browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attnlab.figures.live import MaskPainter
from attnlab.figures.live.figure import STALE
from attnlab.figures.live.mask_painter import PRESETS, Effect, Next, drawn
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("MaskPainter"))

TOKENS = ["the", "cat", "sat", "on"]
SCORES = [[1, 2, 0, 1], [0, 1, 2, 0], [1, 2, 0, 2], [1, 0, 1, 2]]


@pytest.fixture
def painter() -> MaskPainter:
    return MaskPainter(SCORES, TOKENS)


def by_softmax(blocked: Any) -> np.ndarray:
    """Weights of SCORES where −∞ fills the blocked cells, True = blocked."""
    hidden = torch.tensor(SCORES, dtype=torch.float64).masked_fill(
        torch.tensor(blocked), -torch.inf
    )
    return F.softmax(hidden, dim=-1).numpy()


def paint(painter: MaskPainter, message: dict[str, Any]) -> None:
    """What happens when the page sends a message."""
    painter._handle_custom_msg(message, [])


@pytest.mark.parametrize(
    ("preset", "rows"),
    [
        ("none", ["1111", "1111", "1111", "1111"]),
        ("causal", ["1000", "1100", "1110", "1111"]),
        ("padding", ["1110", "1110", "1110", "1110"]),
        ("causal and padding", ["1000", "1100", "1110", "1110"]),
        ("window", ["1000", "1100", "0110", "0011"]),
    ],
)
def test_a_preset_is_true_where_a_query_attends(
    painter: MaskPainter, preset: str, rows: list[str]
) -> None:
    painter.change(preset=preset, length=3, window=2)
    assert ["".join(str(int(each)) for each in row) for row in painter.mask] == rows
    np.testing.assert_array_equal(painter.blocked, ~painter.mask)


@pytest.mark.parametrize("preset", PRESETS)
def test_weights_are_softmax_of_what_is_open(painter: MaskPainter, preset: str) -> None:
    painter.preset = preset
    np.testing.assert_allclose(painter.weights, by_softmax(painter.blocked), atol=1e-12)


def test_a_row_that_may_read_nothing_is_zeros_and_says_so(painter: MaskPainter) -> None:
    mask = np.tril(np.ones((4, 4), dtype=bool))
    mask[2] = False
    painter.mask = mask
    assert painter.weights[2].tolist() == [0, 0, 0, 0]
    np.testing.assert_allclose(painter.weights[[0, 1, 3]].sum(axis=1), 1)
    assert tells(repr(painter), "“sat”", "nothing", "0", "NaN")
    assert "nan" not in str(painter.state["weights"])


def test_a_mask_from_python_reads_true_as_attend_and_is_by_hand(painter: MaskPainter) -> None:
    painter.preset = "causal"
    mask = torch.eye(4).bool()
    painter.mask = mask
    np.testing.assert_allclose(painter.weights, np.eye(4))
    assert painter.preset == "by hand"
    assert painter.mask.dtype == bool


def test_toggling_twice_leaves_the_mask_as_it_was(painter: MaskPainter) -> None:
    paint(painter, {"toggle": [1, 2]})
    assert np.argwhere(painter.blocked).tolist() == [[1, 2]]
    paint(painter, {"toggle": [1, 2]})
    assert painter.mask.all()


def test_a_stroke_makes_all_cells_like_its_first(painter: MaskPainter) -> None:
    paint(painter, {"toggle": [0, 0]})
    paint(painter, {"toggle": [0, 2]})
    paint(painter, {"spread": [[0, 0], [0, 1], [0, 2]]})
    assert painter.blocked[0].tolist() == [True, True, True, False]
    paint(painter, {"spread": [[0, 3], [0, 2]]})
    assert painter.blocked[0].tolist() == [True, True, False, False]


def test_painting_starts_from_the_preset(painter: MaskPainter) -> None:
    painter.preset = "causal"
    paint(painter, {"toggle": [0, 1]})
    assert painter.mask.sum() == drawn("causal", 4, 4, 4).sum() + 1
    assert painter.preset == "by hand"


def test_a_width_changes_the_window_that_is_painted(painter: MaskPainter) -> None:
    painter.preset = "window"
    paint(painter, {"change": {"window": 1}})
    np.testing.assert_array_equal(painter.mask, np.eye(4))
    paint(painter, {"toggle": [3, 0]})
    paint(painter, {"change": {"window": 4}})
    assert painter.mask.sum() == 5, "what was painted by hand stays"


def test_both_conventions_are_written_out_and_are_opposites(painter: MaskPainter) -> None:
    painter.preset = "causal"
    attend, blocked = painter.state["conventions"]
    assert (attend["means"], blocked["means"]) == ("True = attend", "True = blocked")
    assert "scaled_dot_product_attention" in attend["call"]
    assert "MultiheadAttention" in blocked["call"]
    assert attend["text"].splitlines()[1] == "cat  T T · ·"
    assert blocked["text"].splitlines()[1] == "cat  · · T T"
    assert "cat F F T T" in blocked["said"]


def test_pytorchs_functions_agree_when_each_gets_its_convention(painter: MaskPainter) -> None:
    painter.preset = "causal and padding"
    scores, unit = (torch.tensor(each, dtype=torch.float64) for each in (SCORES, np.eye(4)))
    by_sdpa = F.scaled_dot_product_attention(
        scores, unit, unit, attn_mask=torch.tensor(painter.mask), scale=1
    )
    module = torch.nn.MultiheadAttention(4, 1, bias=False, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([2 * unit, unit, unit]))  # 2 undoes 1/√4
        _, by_module = module(scores, unit, unit, attn_mask=torch.tensor(painter.blocked))
    np.testing.assert_allclose(painter.weights, by_sdpa, atol=1e-12)
    np.testing.assert_allclose(painter.weights, by_module, atol=1e-12)


def test_the_mask_cannot_be_changed_in_place(painter: MaskPainter) -> None:
    with pytest.raises(ValueError, match="read-only"):
        painter.mask[0, 0] = False


def test_what_a_mask_does_to_a_text_is_told_and_stands_in_the_still() -> None:
    def effect(mask: np.ndarray) -> Effect:
        many = int(mask.sum())
        return Effect(f"{many} can be <read>", [Next("this mask", f"on {many}", many > 15)], (3, 1))

    painter = MaskPainter(SCORES, TOKENS, effect=effect)
    assert painter.state["following"] == [{"by": "this mask", "said": "on 16", "right": True}]
    assert painter.state["missed"] == (3, 1)
    assert repr(painter).endswith("this mask → on 16 ✓")
    paint(painter, {"toggle": [0, 0]})
    assert painter.state["effect"] == "15 can be <read>"
    assert "15 can be &lt;read&gt;. this mask → on 15 ✗" in painter.fallback()


def test_repr_says_what_there_is_to_see(painter: MaskPainter) -> None:
    painter.preset = "causal"
    facts = ("causal", "6 of 16", "True = attend", "10 True", "True = blocked", "6")
    assert tells(repr(painter), *facts)


def test_the_fallback_steps_through_all_presets_from_the_current_mask(painter: MaskPainter) -> None:
    paint(painter, {"toggle": [0, 0]})
    html = painter.fallback()
    assert re.findall(r'type="radio"[^>]*> ([\w ]+)<', html) == ["by hand", *PRESETS]
    assert html.count("<li>") == len(PRESETS) + 1


def test_words_that_occur_twice_are_told_apart(painter: MaskPainter) -> None:
    painter.change(tokens=["the", "cat", "sat", "the"], mask=np.tril(np.ones((4, 4)), -1))
    assert painter.state["named"] == ["the, 1st", "cat", "sat", "the, 2nd"]
    assert tells(painter.state["told"][1], "“cat”", "“the, 1st” (1.00)")
    assert tells(repr(painter), "“the, 1st”", "nothing")
    attend = painter.state["conventions"][0]
    assert "the, 2nd T T T F" in attend["said"]
    assert attend["text"].splitlines()[3] == "the  T T T ·", "the tables stay"


@pytest.mark.parametrize("message", [{"toggle": [3, 3]}, {"spread": [[0, 0], [0, 3]]}])
def test_a_cell_that_is_no_longer_there_is_told(
    painter: MaskPainter, message: dict[str, Any]
) -> None:
    painter.change(tokens=TOKENS[:3], scores=np.eye(3))
    before = painter.state
    paint(painter, message)
    assert painter.problem == STALE
    assert painter.state == before


def test_a_shorter_sentence_fits_whatever_the_length_and_the_window_were() -> None:
    painter = MaskPainter(np.zeros((8, 8)), list("abcdefgh"), preset="padding")
    painter.window = 7
    painter.change(tokens=TOKENS, scores=SCORES)
    assert (painter.length, painter.window) == (4, 4)
    assert painter.mask.shape == (4, 4)
