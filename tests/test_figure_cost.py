"""What attention costs, without a browser: counts against PyTorch's, and a bounded measurement."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attnlab.figures.live import Cost, cost, counts, measured
from attnlab.figures.live.cost_chart import LETTER, SIZE, WIDTH, chart
from attnlab.figures.live.measured import measure, plain_attention
from attnlab.one_run import Held, held_by
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("Cost"))

D, HEADS = 32, 4


def weights() -> tuple[torch.Tensor, torch.Tensor]:
    """W_q, W_k and W_v side by side, and W_o."""
    rng = torch.Generator().manual_seed(0)
    return (torch.randn(D, 3 * D, generator=rng), torch.randn(D, D, generator=rng))


@pytest.mark.parametrize("n", [8, 50])
def test_counts_are_what_pytorch_counts(n: int) -> None:
    w_qkv, w_o = weights()
    with FlopCounterMode(display=False) as counter:
        plain_attention(torch.ones(n, D), w_qkv, w_o, HEADS)
    by_product = counter.get_flop_counts()["Global"]
    assert by_product[torch.ops.aten.mm] == counts.projection_flops(n, D)
    assert by_product[torch.ops.aten.bmm] == (counts.score_flops(n, D) + counts.mixing_flops(n, D))
    assert counter.get_total_flops() == counts.total_flops(n, D)


def test_the_attention_that_is_measured_is_pytorchs() -> None:
    w_qkv, w_o = (each.double() for each in weights())
    x = torch.randn(7, D, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    layer = torch.nn.MultiheadAttention(D, HEADS, bias=False, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(w_qkv.T)
        layer.out_proj.weight.copy_(w_o.T)
        wanted, _ = layer(x, x, x)
        torch.testing.assert_close(plain_attention(x, w_qkv, w_o, HEADS), wanted)


def test_the_scores_are_counted_as_pytorch_holds_them() -> None:
    scores = torch.empty(HEADS, 50, 50, dtype=torch.float16)
    assert counts.score_bytes(50, HEADS, counts.SIZES["float16"]) == scores.nbytes


@pytest.mark.parametrize("dtype", counts.SIZES)
def test_a_number_of_each_type_has_pytorchs_size(dtype: str) -> None:
    assert counts.SIZES[dtype] == getattr(torch, dtype).itemsize


@pytest.mark.parametrize("memory", [1000, 16 * counts.GIB, 140 * counts.GIB])
@pytest.mark.parametrize("heads", [1, 3, 32])
def test_one_token_more_than_the_longest_does_not_fit(memory: int, heads: int) -> None:
    n = counts.longest(memory, heads, 4)
    assert counts.score_bytes(n, heads, 4) <= memory < counts.score_bytes(n + 1, heads, 4)


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (7, "7"),
        (1e3, "1 thousand"),
        (34_359_738_368, "34.4 billion"),
        (2.5e12, "2.50 trillion"),
        (1.126e15, "1,126 trillion"),
    ],
)
def test_large_numbers_are_words(count: float, words: str) -> None:
    assert counts.in_number_words(count) == words


@pytest.mark.parametrize(
    ("count", "words"), [(512, "512 bytes"), (2**28, "256 MiB"), (1.5 * 2**30, "1.50 GiB")]
)
def test_bytes_have_units_of_1024(count: float, words: str) -> None:
    assert counts.in_bytes(count) == words


def test_the_counts_are_told() -> None:
    figure = Cost(4096, 512, 8, "float16")
    assert (
        figure.state["found"]
        == "Twice as long, four times the memory: 256\u00a0MiB\u00a0→\u00a01\u00a0GiB"
    )
    counted = ("One layer", "one text", "42.9 billion", "80 %", "N²", "fit", "16 GiB")
    assert tells(figure.state["told"], *counted)
    asked = ("4,096 tokens", "d = 512", "8 heads", "float16")
    assert tells(figure.summary(), *asked, figure.state["found"], figure.state["told"])


def test_more_heads_cost_no_operations_but_bytes() -> None:
    one, many = Cost(heads=1).state["counts"], Cost(heads=32).state["counts"]
    assert one[:4] == many[:4]
    assert (one[4][2], many[4][2]) == ("64 MiB", "2 GiB")


def test_what_fits_is_told_for_each_memory() -> None:
    figure = Cost(65536, 512, 8, "float32", memory=32 * counts.GIB)  # 128 GiB
    assert [fits for _, fits, _ in figure.state["fits"]] == ["no", "no", "yes", "no"]
    assert tells(figure.state["told"], "fit into", "140 GiB")
    figure.n = 131072
    assert tells(figure.state["told"], "fit into none")


def test_a_line_on_log_axes_is_straight_for_a_power() -> None:
    axes = chart((1, 100), (1, 10**4))
    path = axes.line(lambda n: n**2, (1, 10, 100), "")
    (x1, y1), (x2, y2), (x3, y3) = [
        (float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)
    ]
    assert x1 < x2 < x3
    assert y1 > y2 > y3
    assert (x2 - x1, y2 - y1) == pytest.approx((x3 - x2, y3 - y2), abs=0.11)


def test_twice_as_many_tokens_are_drawn_as_four_squares_and_a_page_in_their_scale() -> None:
    squares = Cost(4096, 512, 8, "float32").state["charts"][0]
    assert squares.count("<rect ") == 4 + 1
    assert squares.count(">512 MiB<") == 4
    assert tells(squares, "4,096 tokens", "twice", "2 GiB")
    side, half = (
        re.findall(rf'<rect {key}width="([\d.]+)"', squares) for key in ('data-key="page" ', "")
    )
    assert float(side[0]) / float(half[0]) == pytest.approx(512 / 4096, abs=1e-3)
    assert "a page<" not in Cost(512).state["charts"][0].replace("tokens, a page<", "")


def test_the_most_bytes_held_at_once_are_watched() -> None:
    def run() -> torch.Tensor:
        first = torch.ones(100, dtype=torch.float32)  # 400 bytes
        second = first * 2  # 800 together
        del first
        return second.view(10, 10) + 1  # 800 again, and a view holds nothing

    assert held_by(run) == 800


def test_a_view_of_what_was_there_before_holds_nothing() -> None:
    given = torch.ones(100)
    with Held() as held:
        given.view(10, 10).T[0]
    assert held.most == 0


def test_scores_and_weights_are_held_together() -> None:
    w_qkv, w_o = weights()
    n = 64
    held = held_by(lambda: plain_attention(torch.ones(n, D), w_qkv, w_o, HEADS))
    x_and_qkv = 4 * n * D * 4
    assert held == 2 * counts.score_bytes(n, HEADS, 4) + x_and_qkv


class Clock:
    """A clock on which each look takes as long."""

    def __init__(self, tick: float) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def test_a_slow_machine_measures_one_length_and_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(measured.SECONDS)
    monkeypatch.setattr(measured, "perf_counter", clock)
    found = measure(64, 2, "float32")
    assert [point.n for point in found.points] == [64]
    assert clock.now <= 12 * measured.SECONDS


def test_a_fast_machine_stops_where_memory_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "perf_counter", Clock(1e-6))
    monkeypatch.setattr(measured, "LEAST", 0)
    monkeypatch.setattr(measured, "MEMORY", 2 * counts.score_bytes(256, 2, 4))
    assert [point.n for point in measure(64, 2, "float32").points] == [64, 128, 256]


@pytest.mark.parametrize("n", [64, 4096, 262144])
def test_a_ring_tells_its_number_on_the_sheet_and_clear_of_the_line(n: int) -> None:
    figure = Cost(n, 512, 8, "float32")
    told = (
        counts.in_bytes(counts.score_bytes(n, 8, 4)),
        counts.in_number_words(counts.total_flops(n, 512)),
    )
    for drawing, words, way in zip(figure.state["charts"][1:], told, (1, -1), strict=True):
        [(x, y, anchor)] = re.findall(rf'<text x="(\S+)" y="(\S+)"([^>]*)>{words}<', drawing)
        wide = LETTER * SIZE * len(words)
        left = float(x) - wide * ("end" in anchor)
        assert left >= 0
        assert left + wide <= WIDTH
        [path] = re.findall(r'stroke-width="4" d="M([^"]*)"', drawing)
        across, up = np.array([place.split() for place in path.split(" L")], float).T
        if way == 1:  # the line passes over where the words begin, else under their end
            assert float(y) - 0.75 * SIZE > np.interp(left, across, up) + 2
        else:
            assert float(y) < np.interp(left + wide, across, up) - 2


@pytest.mark.parametrize("n", [64, 4096, 131072])
def test_twice_as_many_tokens_have_a_ring_on_the_line_and_words_that_meet_no_others(n: int) -> None:
    drawing = Cost(n, 512, 8, "float32").state["charts"][1]
    axes = chart((cost.LENGTHS[0], cost.LENGTHS[-1]), (counts.KIB, cost.MOST_BYTES))
    rings, heights = re.findall(r'cx="(\S+)" cy="(\S+)"', drawing), []
    for (x, y), tokens in zip(rings, (2 * n, n), strict=True):
        scores = counts.score_bytes(tokens, 8, 4)
        place = axes.across.at(tokens), axes.up.at(scores)
        assert (float(x), float(y)) == pytest.approx(place, abs=0.1)
        heights += re.findall(rf'<text x="\S+" y="(\S+)"[^>]*>{counts.in_bytes(scores)}<', drawing)
    upper, lower = map(float, heights)
    assert lower - upper >= SIZE
    most = Cost(cost.LENGTHS[-1]).state["charts"][1]
    assert most.count("<circle ") == 1, "twice as many are not on the axis"


def test_measuring_gives_the_threads_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "perf_counter", Clock(1.0))
    before = torch.get_num_threads()
    measure(64, 2, "float32")
    assert torch.get_num_threads() == before


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Cost:
    """A figure in which one length is measured."""
    monkeypatch.setattr(measured, "perf_counter", Clock(measured.SECONDS))
    figure = Cost(heads=2, d=64)
    figure.measure()
    return figure


def test_what_was_measured_is_drawn_and_told(found: Cost) -> None:
    assert found.state["measured"] == [["64", "2.00 s", "112 KiB"]]
    assert tells(found.state["told_measured"], "one core", "N = 64")
    assert all('class="point"' in drawing for drawing in found.state["charts"][1:])


def test_points_stay_for_another_length_and_go_with_what_they_were_measured_for(
    found: Cost,
) -> None:
    found.n = 8192
    assert found.state["measured"]
    found.dtype = "float64"
    assert found.measured is None
    assert found.state["measured"] == []


def test_a_change_that_is_refused_keeps_the_points(found: Cost) -> None:
    with pytest.raises(ValueError, match="cannot share"):
        found.heads = 3
    assert found.state["measured"]


def test_the_page_asks_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "perf_counter", Clock(measured.SECONDS))
    figure = Cost(d=64)
    figure._handle_custom_msg({"measure": True}, [])
    assert figure.measured.points[0].n == 64


def test_a_first_length_that_takes_too_long_is_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measured, "perf_counter", Clock(0.5))  # one matrix product takes as long
    monkeypatch.setattr(measured, "plain_attention", None)  # which is not called
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError, match=r"d = 4,096 .*float16 .*machine"):
        measure(4096, 8, "float16")
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("not implemented for 'Half'"), "not implemented for 'Half'"),
        (MemoryError(), "too little memory"),
    ],
)
def test_what_cannot_be_measured_is_said_and_the_points_stay(
    found: Cost, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fails(*_: Any) -> Any:
        raise error

    before = found.state
    monkeypatch.setattr(cost, "measure", fails)
    found._handle_custom_msg({"measure": True}, [])
    assert tells(found.problem, "nothing", said)
    assert found.state == before
    with pytest.raises(type(error)):
        found.measure()


def test_what_is_stored_has_no_times_in_it(found: Cost) -> None:
    assert repr(found) == repr(Cost(heads=2, d=64))
    assert found.fallback() == Cost(heads=2, d=64).fallback()


def test_where_this_machine_ends_is_marked_and_counted() -> None:
    figure = Cost(heads=1, memory=64 * counts.GIB)
    assert figure.state["fits"][-1] == [
        "this machine with 64 GiB",
        "yes",
        "up to N = 131,072",
    ]
    assert tells(figure.state["charts"][1], "this machine", "N = 131,072")
    figure.dtype = "float64"
    assert tells(figure.state["charts"][1], "this machine", "N = 92,681")
    assert "this machine" not in figure.state["charts"][0]


def test_this_machine_tells_how_much_memory_it_has() -> None:
    here = counts.memory_here()
    assert here is None or here > 2**28
    assert Cost().memory == here


def test_where_the_system_does_not_tell_nothing_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sysconf")
    figure = Cost()
    assert figure.memory is None
    assert "this machine" not in repr(figure.state)


def test_what_is_stored_is_the_same_on_every_machine() -> None:
    small, large = (Cost(memory=size * counts.GIB) for size in (4, 512))
    assert repr(small) == repr(large)
    assert small.fallback() == large.fallback()
    assert "this machine" not in small.fallback()


def test_the_fallback_counts_for_several_lengths() -> None:
    html = Cost(100).fallback()
    assert re.findall(r"> N = ([\d,]+)<", html) == [
        *("100", "1,024", "4,096", "16,384", "65,536", "262,144")
    ]
    assert html.count("<svg ") == 3 * html.count("<li>") == 18
    assert Cost(100).state["told"] in html
