"""Attention in tiles, without a browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attnlab.figures.live import Tiles
from attnlab.figures.live.on_paper import written
from attnlab.figures.live.tiles_picture import NARROW, WIDE
from attnlab.figures.live.tiling import after, open_to, tiles
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("Tiles"))

SIZES = [(1, 1, 1), (5, 7, 2), (7, 5, 3), (8, 8, 8), (4, 4, 1), (6, 3, 10)]


@pytest.fixture
def figure() -> Tiles:
    return Tiles(causal=True)


def normal(n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores up to about 200 in size, at which e^score would overflow or vanish."""
    rng = np.random.default_rng(0)
    return 20 * rng.normal(size=(n, 3)), 10 * rng.normal(size=(m, 3)), rng.normal(size=(m, 2))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n", "m", "block"), SIZES)
def test_what_is_kept_ends_as_pytorchs_attention(n: int, m: int, block: int, causal: bool) -> None:
    q, k, v = normal(n, m)
    kept = after(tiles(n, m, block, causal), q @ k.T / 3**0.5, v, open_to(n, m, causal))
    queries, keys, values = (torch.tensor(each) for each in (q, k, v))
    expected: Any = F.scaled_dot_product_attention(queries, keys, values, is_causal=causal)
    out = np.stack([kept[i].o / kept[i].s for i in range(n)])
    np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n", "m", "block"), SIZES)
def test_after_each_tile_m_and_s_are_those_of_the_keys_met_so_far(
    n: int, m: int, block: int, causal: bool
) -> None:
    q, k, v = normal(n, m)
    scores, is_open = q @ k.T, open_to(n, m, causal)
    loop = tiles(n, m, block, causal)
    for step, tile in enumerate(loop, start=1):
        kept = after(loop[:step], scores, v, is_open)
        for i in tile.queries:
            met = [scores[i, j] for j in range(tile.keys[-1] + 1) if is_open[i, j]]
            assert kept[i].m == max(met)
            assert kept[i].s == pytest.approx(np.exp(np.array(met) - max(met)).sum(), rel=1e-12)


@pytest.mark.parametrize(("n", "m", "block"), SIZES)
def test_each_open_pair_is_in_one_tile_and_no_tile_is_blocked_altogether(
    n: int, m: int, block: int
) -> None:
    for causal in (False, True):
        is_open, seen = open_to(n, m, causal), np.zeros((n, m))
        for tile in tiles(n, m, block, causal):
            seen[np.ix_(tile.queries, tile.keys)] += 1
            assert is_open[np.ix_(tile.queries, tile.keys)].any()
        assert seen.max() == 1
        assert (seen[is_open] == 1).all()


def test_all_keys_of_some_queries_come_before_the_next_queries() -> None:
    order = [(tile.queries[0], tile.keys[0]) for tile in tiles(4, 6, 2, causal=False)]
    assert order == [(0, 0), (0, 2), (0, 4), (2, 0), (2, 2), (2, 4)]
    ends = [tile.is_last for tile in tiles(4, 4, 2, causal=True)]
    assert ends == [True, False, True]


def test_a_larger_score_is_told_with_its_factor(figure: Tiles) -> None:
    figure.step = 5
    tile = ("Tile 5 of 10", "queries 4 to 5", "keys 2 to 3")
    risen = ("larger", "0.22 times for query 4", "0.03 times for query 5")
    assert tells(figure.state["told"], *tile, *risen)
    assert figure.state["found"] == "A larger score: what query 5 kept shrinks to 0.03"
    assert figure.state["kept"][0] == ["4", "1.00 → 2.50", "0.22", "1.30", "3.68, 8.05"]
    assert written(np.exp(-1.5), 2) == "0.22"
    for picture in figure.state["pictures"]:
        assert re.findall(r">([^<]*→[^<]*)</text>", picture) == ["1 → 2.5", "−1 → 2.5"]


def test_the_first_tile_and_the_last_are_told(figure: Tiles) -> None:
    assert "Nothing was kept" in figure.state["told"]
    assert figure.state["found"] == "Queries 0 to 1 come in: nothing of them is kept yet"
    assert figure.state["kept"][0][1:3] == ["−∞ → 0.50", "0.00"]
    figure.step = 10
    facts = ("No larger", "factor", "1", "all their keys", "o ÷ s")
    assert tells(figure.state["told"], *facts)
    assert figure.state["found"] == "No larger score comes: all that was kept counts in full"


def test_rows_that_are_done_stand_beside_plain_attention(figure: Tiles) -> None:
    figure.step = 3
    done, rest = figure.state["out"][:4], figure.state["out"][4:]
    assert all(mine == plain for _, mine, plain in done)
    assert {mine for _, mine, _ in rest} == {"…"}
    facts = ("6 of 16", "skipped", "4 of 8", "done", "10⁻¹²")
    assert tells(figure.state["compared"], *facts)
    assert tells(Tiles().state["compared"], "No query", "done")


def test_a_wrong_output_would_show(figure: Tiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.figures.live.tiles.attend", lambda q, k, v, mask: 0 * v[: len(q)])
    assert tells(Tiles(causal=True).state["compared"], "plain", "8.0e+00")


def test_numbers_that_are_held_are_counted_for_the_tile_at_hand() -> None:
    q, k, v = np.ones((5, 3)), np.ones((7, 3)), np.ones((7, 2))
    held = Tiles(q, k, v, block=4, step=4).state["held"]  # 1 query left, 3 keys left
    assert held == [
        ["scores", "3", "35"],
        ["rows of q", "3", "15"],
        ["rows of k and v", "15", "35"],
        ["o, m and s", "4", "20"],
        ["together", "25", "105"],
    ]


def test_fast_memory_has_the_scores_of_the_tile_and_the_plan_hatches_what_is_blocked(
    figure: Tiles,
) -> None:
    figure.step = 3
    scores = figure.q[2:4] @ figure.k[2:4].T / 2
    for picture in figure.state["pictures"]:
        fast = re.findall('<g data-key="2 2"[^>]*>(.*?)</g>', picture)[0]
        shown = [
            float(number.replace("−", "-"))
            for number in re.findall(r"<text[^>]*>([−\d.]+)</text>", fast)
        ]
        assert shown == [scores[0, 0], scores[1, 0], scores[1, 1]]  # key 3 is blocked for query 2
        hatched = re.findall(r'<path d="([^"]*)"[^>]* stroke-opacity="0.7"', picture)[0]
        assert hatched.count("M") == 3 * 28
        assert tells(picture, "Fast memory", "queries 2 to 3", "keys 2 to 3", "2 tiles before")


def test_the_plan_is_in_neither_memory() -> None:
    for sheet in (WIDE, NARROW):
        for memory in (sheet.slow, sheet.fast):
            right, under = memory.x + memory.width, memory.y + memory.height
            assert right < sheet.plan.x or under < sheet.plan.y


def test_what_comes_into_fast_memory_lies_in_slow_memory_and_output_goes_back() -> None:
    figure = Tiles(block=4)
    for step, back in ((1, []), (2, ["0", "1", "2", "3"]), (4, [*"01234567"])):
        figure.step = step
        for picture in figure.state["pictures"]:
            lies = re.findall(r'data-key="([^"]*)"', picture)
            comes = re.findall(r'data-from="((?:slow|out)[^"]*)"', picture)
            assert comes
            assert set(comes) <= set(lies)
            assert re.findall(r'data-key="out-(\d)"', picture) == back
            assert (">q, k, v<" in picture) == (step == 1), "queries stay while keys change"
    assert len(re.findall(r'data-from="o-', picture)) == 8


def test_scores_of_a_large_block_are_not_told_in_numbers() -> None:
    told = [">0.5<" in "".join(Tiles(block=block).state["pictures"]) for block in (4, 5)]
    assert told == [True, False]


def test_the_pictures_are_as_large_whatever_the_tile(figure: Tiles) -> None:
    views = {
        tuple(re.findall(r'viewBox="[^"]*"', "".join(Tiles(block=block).state["pictures"])))
        for block in range(1, 9)
    }
    assert len(views) == 1


def test_a_line_a_query_tells_what_is_kept_of_it_and_its_output(figure: Tiles) -> None:
    figure.step = 5
    kept, out, lines = (figure.state[name] for name in ("kept", "out", "queries"))
    assert lines[4] == [*kept[0], *out[4][1:]]
    assert lines[0] == ["0", *"····", *out[0][1:]]


def test_many_queries_whose_m_has_risen_are_counted() -> None:
    told = Tiles(block=8, causal=False).state["told"]
    assert "Nothing was kept" in told
    q = np.ones((6, 1))
    risen = Tiles(q, np.arange(6)[:, None], q, block=6, step=1)
    risen.change(q=np.ones((10, 1)), k=np.arange(10)[:, None], v=np.ones((10, 1)), block=9, step=2)
    assert risen.state["told"].count("times for query") == 3
    assert "6 more" in risen.state["told"]


def test_one_tile_and_one_query_are_told_in_the_singular() -> None:
    assert "1 of 4 tiles is skipped. 5 of 8 queries are" in Tiles(block=5, causal=True).summary()
    assert "1 of 8 queries is done" in Tiles(block=1, causal=True).summary()


def test_other_tiles_begin_at_the_first(figure: Tiles) -> None:
    figure.step = 7
    figure.block = 8
    assert (figure.step, figure.state["steps"]) == (1, 1)
    figure.change(block=1, step=36)
    assert figure.state["steps"] == figure.step == 36


def test_a_long_row_is_cut_and_zero_has_no_sign() -> None:
    q = np.zeros((2, 2))
    assert Tiles(q, q, np.ones((2, 6)), block=1).state["kept"][0][4] == "1.00, 1.00, 1.00, 1.00, …"
    assert [written(value, 2) for value in (-0.001, -1.5, 2)] == ["0.00", "−1.50", "2.00"]


def test_the_fallback_steps_through_tiles_that_are_spread_over_all(figure: Tiles) -> None:
    html = figure.fallback()
    assert re.findall(r"> tile (\d+)<", html) == ["1", "2", "4", "5", "6", "7", "9", "10"]
    assert html.count("<svg ") == 8


def test_what_was_kept_is_a_bar_that_shrinks_by_its_factor(figure: Tiles) -> None:
    for step, factors in ((4, [0, 0]), (5, [np.exp(-1.5), np.exp(-3.5)])):
        figure.step = step
        for picture in figure.state["pictures"]:
            bars = re.findall(
                r'data-key="o-\d"><rect[^>]*width="([\d.]+)"[^>]*opacity="([\d.]+)"/><rect[^>]*width="([\d.]+)"',
                picture,
            )
            assert [float(left) / float(whole) for whole, _, left in bars] == pytest.approx(
                factors, abs=1e-3
            )
            assert all((float(pale) > 0) == (step == 5) for _, pale, _ in bars), "nothing was kept"
