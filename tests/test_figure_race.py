"""Race and what it reads, without a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import torch

from attnlab.figures.live import Race
from attnlab.figures.live.race import (
    ASKED,
    HAIR,
    LETTERS,
    RULE,
    STILLS,
    THICKEST,
    Entry,
    recording,
    width,
)
from attnlab.lessons.training import race
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("Race"), "10-training")


@pytest.fixture
def figure() -> Race:
    return Race(12)


# The race -----------------------------------------------------------------------------------


def test_each_text_has_one_mark_at_its_distance_and_asks_at_its_end() -> None:
    draw = torch.Generator().manual_seed(5)
    for distance in race.DISTANCES:
        ids, marked = race.texts(50, distance, draw)
        is_marked = (ids >= race.CLASSES) & (ids < race.ASKS)
        assert is_marked.sum(dim=1).tolist() == [1] * 50
        assert (ids[:, -1 - distance] - race.CLASSES).tolist() == marked.tolist()
        assert set(ids[:, -1].tolist()) == {race.ASKS}


@pytest.mark.parametrize("name", race.RECORDED)
def test_states_end_in_what_the_racer_answers_from(name: str) -> None:
    torch.manual_seed(5)
    racer = race.RECORDED[name]().double()
    ids, _ = race.texts(6, 3, torch.Generator().manual_seed(5))
    last = racer.states(racer.embed(ids))[-1][:, -1]
    torch.testing.assert_close(racer.classes(last), racer(ids))


def test_attention_learns_in_a_second_what_is_far() -> None:
    torch.manual_seed(5)
    racer, draw = race.Attention(), torch.Generator().manual_seed(5)
    losses: list[float] = []
    race.learn(racer, 16, draw, losses, range(120))
    assert losses[0] > 1.5
    assert race.share_right(racer, 16, draw) > 0.99
    assert 0 < (race.steps_needed(losses) or 0) < 120


def test_only_with_positions_does_attention_see_that_the_letters_are_turned_round() -> None:
    ids, _ = race.texts(6, 3, torch.Generator().manual_seed(5))
    turned = torch.cat([ids[:, :-1].flip(1), ids[:, -1:]], dim=1)
    for make, told in ((race.Attention, False), (race.Placed, True)):
        torch.manual_seed(5)
        racer = make().double()
        assert torch.allclose(racer(ids), racer(turned), atol=1e-9) != told


def test_a_recording_is_whole_or_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "race.json"
    path.write_text("old")

    def dies() -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(race, "record", dies)
    with pytest.raises(KeyboardInterrupt):
        race.write(path)
    assert path.read_text() == "old"
    monkeypatch.setattr(race, "record", lambda: {"racers": {}})
    race.write(path)
    assert json.loads(path.read_text()) == {"racers": {}}
    assert [*tmp_path.iterdir()] == [path]


def test_the_recording_says_how_it_was_made() -> None:
    made = recording()
    assert made["command"] == "python -m attnlab.lessons.training.race"
    assert made["settings"]["seeds"] == [1, 2, 3]
    assert made["settings"]["distances"] == [*race.DISTANCES]
    assert {"python", "torch"} <= made["versions"].keys()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"])
    assert [*made["racers"]] == [*race.RECORDED]


# The figure ---------------------------------------------------------------------------------


def test_showing_it_imports_no_torch() -> None:
    code = (
        "import sys; from attnlab.figures.live import Race; Race(3).fallback(); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize("distance", [1, 9, 16])
def test_numbers_are_the_middle_ones_of_the_recording(distance: int) -> None:
    told = Race(distance).state["told"]
    for name, record in recording()["racers"].items():
        assert f"{name} {median(record['right'][distance - 1]):.2f}" in told


def test_the_slope_at_the_mark_is_that_of_its_state() -> None:
    racers = recording()["racers"]
    assert Entry("GRU", 12).at_the_mark("before") == racers["GRU"]["before"][11][4][0]
    assert Entry("attention", 12).at_the_mark("after") == racers["attention"]["after"][11][0][4]
    assert (
        Entry("convolution", 3).at_the_mark("before") == (racers["convolution"]["before"][2][0][13])
    )


def test_who_guesses_is_told_at_each_distance() -> None:
    def found(distance: int) -> str:
        return str(Race(distance).state["found"])

    assert found(1) == "1 letter back, nobody has to guess"
    assert found(4) == "4 letters back, nobody has to guess"
    assert found(5) == "5 letters back, convolution can only guess"
    assert found(12) == "12 letters back, RNN and convolution can only guess"


def test_each_racer_tells_its_slope_at_the_mark(figure: Race) -> None:
    told = [each["slope"] for each in figure.state["racers"]]
    assert told == [f"slope {each}" for each in ("4 · 10⁻⁵", "3 · 10⁻³", "0", "0.04", "0.03")]


def test_the_signal_gets_to_the_end_where_its_way_does_and_is_small_where_little_arrives() -> None:
    def signal(name: str, distance: int) -> tuple[str, float]:
        found = re.search(
            r"path\('(.*?)'\);--left:([0-9.]+)px", Entry(name, distance).strip(when="before")
        )
        assert found
        return found[1], float(found[2])

    assert signal("RNN", 16)[1] < 0.2 * signal("RNN", 1)[1]
    assert signal("convolution", 4)[0].endswith("L480 0")
    assert signal("convolution", 5) == ("M330 38L450 0", 0)
    assert signal("attention", 16)[0].startswith("M0 50Q")
    assert signal("attention", 16)[1] > 4


def test_a_line_is_thinner_for_each_tenth_and_a_hair_for_none() -> None:
    assert width(1) == THICKEST
    assert width(1) - width(0.1) == pytest.approx(width(0.1) - width(0.01))
    assert width(1e-12) == width(0) == HAIR


def test_what_is_written_on_a_strip_holds_of_all_racers_and_distances() -> None:
    """Too thin is less than any slope from which something was learned; too few layers is few."""
    slopes: dict[str, list[float]] = {"too thin": [], "fall short": [], "": []}
    for name, distance in product(recording()["racers"], race.DISTANCES):
        racer = Entry(name, distance)
        strip = racer.strip(when="before")
        why = [each for each in slopes if each and each in strip]
        assert len(why) == racer.guesses
        slopes["".join(why)].append(racer.at_the_mark("before"))
        assert (">4 layers fall short<" in strip) == (name == "convolution" and distance > 4)
    assert max(slopes["too thin"]) < min(slopes[""])
    assert {*slopes["fall short"]} == {0.0}


def test_only_what_is_lit_is_as_thick_as_its_slope() -> None:
    for name in recording()["racers"]:
        lines = re.findall(
            r'<path [^>]*?stroke="([^"]*)"[^>]*? stroke-width="([\d.]+)"',
            Entry(name, 12).strip(when="before"),
        )
        grey = {float(thick) for ink, thick in lines if ink == "currentColor"}
        assert grey - {0.5, 6.0} == {HAIR}, name  # and the guide, and dots of six


def test_chance_and_1_are_named_once_where_each_bar_has_its_lines(figure: Race) -> None:
    named = re.findall(r'<text x="([\d.-]+)"[^>]*>([^<]+)<', figure.state["scale"])
    assert [word for _, word in named] == ["0", "each seed", "1"]
    for n, each in enumerate(figure.state["racers"]):
        assert 'd="M0 0V24M200 0V24"' in each["bar"]
        top = 0 if n == 0 else -RULE
        assert f'd="M25 {top}V24"' in each["bar"]  # one of eight, from bar to bar
        over = re.findall(r'<text x="(\d+)" y="-4" text-anchor="middle"[^>]*>chance<', each["bar"])
        assert over == ["25"] * (n == 0)


def test_each_bar_is_in_the_middle_of_its_drawing(figure: Race) -> None:
    for each in figure.state["racers"]:
        [(top, tall)] = re.findall(r'viewBox="-2 (-?\d+) 244 (\d+)"', each["bar"])
        assert int(top) + int(tall) / 2 == 12


def test_every_state_has_strips_of_one_height(figure: Race) -> None:
    def frames() -> list[str]:
        return [re.findall(r'viewBox="[^"]*"', each["strip"])[0] for each in figure.state["racers"]]

    first = frames()
    for distance in race.DISTANCES:
        for when in ("before", "after"):
            figure.change(distance=distance, when=when)
            assert frames() == first


def test_the_letters_stand_under_the_strips_and_mark_the_one_that_is_asked_for() -> None:
    for distance in (1, 12):
        drawn = Race(distance).state["letters"]
        found = re.findall(r"<text [^>]*?(bold)?\"?>(.)</text>", drawn)
        assert f">{ASKED}</text>" in drawn
        assert "".join(letter for _, letter in found) == f"{LETTERS[:-1]}?"
        assert [n for n, (bold, _) in enumerate(found) if bold] == [16 - distance]


def test_another_moment_draws_other_slopes_and_tells_the_same(figure: Race) -> None:
    before = figure.state
    figure.when = "after"
    assert figure.state["told"] == before["told"]
    assert figure.state["racers"][1]["strip"] != before["racers"][1]["strip"]


def test_the_fallback_steps_through_distances_that_tell(figure: Race) -> None:
    html = figure.fallback()
    assert re.findall(r"> distance (\d+)<", html) == [
        "12",
        *(str(each) for each in STILLS if each != 12),
    ]
