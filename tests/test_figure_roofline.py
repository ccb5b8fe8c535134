"""The roofline, without a browser: places and shares by a made device, and what is refused."""

from __future__ import annotations

import re

import pytest

from attnlab.figures.live import Roofline
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("Roofline"))

DEVICE = {"device": "made up", "flops": 1e12, "bandwidth": 1e10}  # bends at 100


def works(batch: int) -> dict[str, tuple[float, float]]:
    return {"shared": (2.0 * batch, 2), "own": (2.0 * batch, 2.0 * batch)}


@pytest.fixture
def figure() -> Roofline:
    return Roofline(works, [DEVICE])


def test_only_what_is_shared_moves_with_the_batch(figure: Roofline) -> None:
    rows = {}
    for batch in (1, 64, 1024):
        figure.batch = batch
        rows[batch] = figure.state["table"]
    assert rows == {
        1: [["shared", "1", "1.0 %, moving"], ["own", "1", "1.0 %, moving"]],
        64: [["shared", "64", "64 %, moving"], ["own", "1", "1.0 %, moving"]],
        1024: [["shared", "1,024", "100 %, computing"], ["own", "1", "1.0 %, moving"]],
    }


def test_places_and_bends_are_told(figure: Roofline) -> None:
    figure.batch = 64
    assert tells(figure.state["told"], "64", "shared: 64", "own: 1", "bend", "100 (made up)")
    (dial,) = figure.state["dials"]
    assert (dial["stops"], dial["at"]) == ([2**n for n in range(11)], 6)


def test_the_ring_of_what_is_shared_goes_right_and_then_no_higher(figure: Roofline) -> None:
    places = []
    for batch in (1, 64, 128, 1024):
        figure.batch = batch
        (chart,) = figure.state["pictures"]
        x, y = re.findall(r'<circle [^>]* cx="([0-9.]+)" cy="([0-9.]+)"', chart)[0]
        places.append((float(x), float(y)))
    xs, ys = zip(*places, strict=True)
    assert sorted(set(xs)) == list(xs)
    assert ys[0] > ys[1] > ys[2] == ys[3]


def test_works_are_in_the_order_of_the_axis_and_stay_so_for_any_batch() -> None:
    def both(batch: int) -> dict[str, tuple[float, float]]:
        return {"large": (100, 1), "small": (batch, 1)}

    figure = Roofline(both, [DEVICE])
    for batch in (1, 1024):
        figure.batch = batch
        assert [row[0] for row in figure.state["table"]] == ["small", "large"]


def test_each_roof_has_a_ring_for_each_work() -> None:
    chart = Roofline(works, [DEVICE, {**DEVICE, "flops": 2e12}]).state["pictures"][0]
    assert chart.count('r="6"') == 2 * 2


def test_the_way_that_the_batch_moved_a_work_is_drawn_along_its_roof(figure: Roofline) -> None:
    figure.batch = 64
    (chart,) = figure.state["pictures"]
    ways = re.findall(r'stroke-width="9"[^>]* d="M([\d.]+) [^"]*L([\d.]+) [\d.]+"', chart)
    rings = re.findall(r'<circle [^>]* cx="([\d.]+)"', chart)
    (shared, own) = rings
    assert ways == [(own, shared), (own, own)]


def test_works_and_roofs_are_named_in_the_chart() -> None:
    other = {**DEVICE, "device": "bought chip, 80 GB"}
    (chart,) = Roofline(works, [DEVICE, other]).state["pictures"]
    named = re.findall(">([^<>]+)</text>", chart)
    assert {"made up", "bought chip", "shared", "and own"} <= set(named)  # both in one place
    assert {"limited by moving", "limited by", "computing", "TFLOP/s (log)"} <= set(named)


def test_shares_of_the_peak_are_said_at_each_work_and_over_all(figure: Roofline) -> None:
    figure.batch = 64
    assert {"made up 64 %", "made up 1.0 %"} <= set(
        re.findall(">([^<>]+)</text>", figure.state["pictures"][0])
    )
    assert figure.state["found"] == (
        "At batch 64, shared reaches 64\u00a0% of the made up's peak, own 1.0\u00a0% at best"
    )
    figure.batch = 1
    assert figure.state["found"] == (
        "At batch 1, shared and own reach 1.0\u00a0% of the made up's peak at best"
    )


def test_works_in_one_place_are_said_by_what_begins_their_names_if_no_other_begins_so() -> None:
    def alike(batch: int) -> dict[str, tuple[float, float]]:
        return {"decode, shared": (2, 2), "decode, own": (2.0, 2.0), "last": (batch * 1e3, 1)}

    found = "At batch 1, decode reaches 1.0\u00a0% of the made up's peak at best"
    assert Roofline(alike, [DEVICE]).state["found"] == found

    def another(batch: int) -> dict[str, tuple[float, float]]:
        return {**dict([*alike(batch).items()][:2]), "decode, last": (batch * 1e3, 1)}

    found = found.replace("decode reaches", "decode shared and own reach")
    assert Roofline(another, [DEVICE]).state["found"] == found


def test_the_fallback_has_a_step_for_several_batches() -> None:
    html = Roofline(works, [DEVICE], batch=4).fallback()
    assert re.findall(r"> batch = ([0-9,]+)<", html) == ["4", "1", "16", "128", "1,024"]
    assert html.count("<svg ") == html.count("<table>") == 5
    assert "shared: 4; own: 1" in html
