"""How far slopes reach, without a browser: against PyTorch's own backward, and what is refused."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from attnlab.figures.live import Slopes
from attnlab.figures.live.ramp import contrast
from attnlab.figures.live.slopes import NOTHING, RAMPS
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("Slopes"))

SENTENCES = [["two", "readers", "want"], ["one", "clerk", "finds"]]


def qkv() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 2, 3, 4, generator=rng, dtype=torch.float64)
    return q, k, torch.randn(2, 3, 2, generator=rng, dtype=torch.float64)


@pytest.fixture
def figure() -> Slopes:
    return Slopes(F.scaled_dot_product_attention, *qkv(), SENTENCES, (0, 2, 1))


@pytest.mark.parametrize("entry", [(0, 2, 1), (1, 0, 0)])
def test_slopes_are_what_backward_leaves(figure: Slopes, entry: tuple[int, int, int]) -> None:
    q, k, v = parts = qkv()
    for part in parts:
        part.requires_grad_()
    F.scaled_dot_product_attention(q, k, v)[entry].backward()
    key = " ".join(map(str, entry))
    for name, part in zip("qkv", parts, strict=True):
        assert part.grad is not None
        shown = figure.state["slopes"][key][name]
        for row, slopes in zip(shown, part.grad.flatten(0, 1).tolist(), strict=True):
            for (text, shade), slope in zip(row, slopes, strict=True):
                assert (shade == NOTHING) == (slope == 0) == (text == "0")
                if slope:
                    assert float(text.replace("−", "-")) == pytest.approx(slope, abs=0.0051)
                    assert (shade > 10) == (slope > 0)


def test_what_is_reached_is_told(figure: Slopes) -> None:
    told = figure.state["told"]["0 2 1"]
    reach = ("1 row of q", "3 of k", "3 of v", "none in the 2nd sentence")
    assert tells(told, "Entry 1", "“want”", *reach)
    assert repr(figure).endswith(told)


def test_a_mask_ends_the_reach(figure: Slopes) -> None:
    figure.attention = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert tells(figure.state["told"]["1 1 0"], "1 row of q", "2 of k", "2 of v")
    assert tells(figure.state["told"]["1 0 0"], "0 rows of q", "0 of k", "1 of v")


def test_a_function_that_gives_weights_too_is_taken(figure: Slopes) -> None:
    before = figure.state
    figure.attention = lambda *qkv: (F.scaled_dot_product_attention(*qkv), None)
    assert figure.state == before


def test_fewer_words_keep_the_choice_inside(figure: Slopes) -> None:
    figure.change(
        sentences=[["want"]], **dict(zip("qkv", (part[:1, :1] for part in qkv()), strict=True))
    )
    assert figure.entry == [0, 0, 0]


def test_every_number_can_be_read_on_its_colour() -> None:
    assert min(contrast(face, ink) for ramp in RAMPS for face, ink in ramp) >= 4.5


def test_the_fallback_tells_an_entry_of_each_token(figure: Slopes) -> None:
    html = figure.fallback()
    assert html.count("<li>") == 6
    for key in ("0 2 1", "1 0 1"):
        assert figure.state["told"][key] in html
