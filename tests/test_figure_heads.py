"""Heads side by side, without a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attnlab import small
from attnlab.figures.live import Heads
from attnlab.figures.live.ramp import shade
from attnlab.small import measure
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("Heads"))

TOKENS = ["the", "cat", "sat"]
WEIGHTS = [
    [[1, 0, 0], [0.9, 0.1, 0], [0.2, 0.6, 0.2]],
    [[1, 0, 0], [0.2, 0.8, 0], [0.1, 0.3, 0.6]],
    [[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.3, 0.5, 0.2]],
]


@pytest.fixture
def figure() -> Heads:
    return Heads(WEIGHTS, TOKENS)


def test_heads_that_differ_are_told_apart(figure: Heads) -> None:
    groups = ("“cat”", "head 1", "“the” (0.90)", "heads 2 and 3", "“cat” (0.80, 0.70)", "20 %")
    differ = ("“the”", "head 1", "0.90", "head 3", "0.10")
    assert tells(figure.state["told"][1], *groups, *differ)


def test_heads_that_agree_are_told_together(figure: Heads) -> None:
    facts = ("“the”", "all 3 heads", "“the” (0.80 to 1.00)", "80 %")
    assert tells(figure.state["told"][0], *facts)


def test_heads_that_are_the_same_do_not_differ() -> None:
    said = Heads([[[0.3, 0.7]]] * 2, ["a"], ["b", "c"]).state["told"][0]
    facts = ("“a”", "all 2 heads", "“c” (0.70 to 0.70)", "not differ")
    assert tells(said, *facts)


def test_one_head_has_nothing_to_be_compared_with() -> None:
    said = Heads(WEIGHTS[:1], TOKENS).state["told"][2]
    assert tells(said, "“sat”", "head 1", "“cat” (0.60)", "nothing to compare")


def test_a_head_with_nothing_to_listen_to_is_told() -> None:
    said = Heads([[[0, 0]], [[0.5, 0.5]]], ["q"], ["a", "b"]).state["told"][0]
    assert tells(said, "“q”", "head 2", "“a” (0.50)", "head 1", "nothing")
    none = Heads([[[0, 0]]] * 2, ["q"], ["a", "b"])
    [told] = none.state["told"]
    assert tells(told, "“q”", "nothing", "0")
    assert "nan" not in repr(none.state).lower()


def test_the_heading_names_the_heads_that_look_at_what_one_looks_at_most() -> None:
    row = [[[0.95, 0.05], [0.95, 0.05], [0.02, 0.98]]]
    figure = Heads(np.swapaxes(row, 0, 1), ["see"], ["dogs", "king"])
    assert figure.state["claims"] == [
        {"said": "From “see”, only head 3 looks at “king” (0.98)", "heads": [2]}
    ]
    figure.weights = [[[0.8, 0.2]], [[0.95, 0.05]], [[0.05, 0.95]]]
    assert (
        figure.state["claims"][0]["said"] == "From “see”, heads 1 and 2 look at “dogs” (0.80, 0.95)"
    )


def test_the_heading_counts_three_heads_and_more(figure: Heads) -> None:
    assert figure.state["claims"][0]["heads"] == [0, 1, 2]
    assert (
        figure.state["claims"][0]["said"]
        == "From “the”, all heads look at “the”, head 1 most (1.00)"
    )
    one = Heads(WEIGHTS[:1], TOKENS).state["claims"][2]
    assert one["said"] == "From “sat”, head 1 looks at “cat” (0.60)"
    assert Heads([[[0, 0]]], ["q"], ["a", "b"]).state["claims"] == [
        {"said": "“q” looks at nothing", "heads": []}
    ]


def test_under_a_map_stands_what_each_query_looks_at_most(figure: Heads) -> None:
    assert [each[2] for each in figure.state["most"]] == ["→ cat 0.60", "→ sat 0.60", "→ cat 0.50"]
    assert Heads([[[0, 0]]], ["q"], ["a", "b"]).state["most"] == [["→ nothing"]]


def test_the_query_stays_inside_of_a_shorter_sentence(figure: Heads) -> None:
    figure.row = 2
    figure.change(weights=[[[1.0]]], query_tokens=["alone"], key_tokens=["alone"])
    assert figure.row == 0


def colours(drawing: str) -> list[list[str]]:
    """(3, 3) colours of a map, read from its paths."""
    ground = re.findall(r'<rect fill="(var\(.+?\))"', drawing)[0]
    cells = [[ground] * 3 for _ in range(3)]
    for face, path in re.findall(r'<path stroke="(var\(.+?\))" d="(.+?)"', drawing):
        for start, row, length in re.findall(r"M(\d) (\d)\.5h(\d)", path):
            cells[int(row)][int(start) : int(start) + int(length)] = [face] * int(length)
    return cells


def test_a_map_has_the_colour_of_each_weight(figure: Heads) -> None:
    for drawing, weights in zip(figure.state["maps"], figure.state["weights"], strict=True):
        assert colours(drawing) == [[shade(weight)[0] for weight in row] for row in weights]


def test_repr_says_what_there_is_to_see(figure: Heads) -> None:
    facts = ("3 × 3 × 3", "53 %", "least", "“cat”", figure.state["told"][1])
    assert tells(repr(figure), *facts)


def test_the_fallback_holds_every_number_and_every_sentence(figure: Heads) -> None:
    html = figure.fallback()
    shown = [float(cell) for cell in re.findall(r"<td>([\d.]+)</td>", html)]
    by_query = np.array(figure.state["weights"]).transpose(1, 2, 0)
    np.testing.assert_allclose(shown, by_query.ravel(), atol=0.0051)
    for sentence in figure.state["told"]:
        assert sentence in html


def test_words_that_occur_twice_are_told_apart() -> None:
    figure = Heads([np.eye(3), np.eye(3)[::-1]], ["the", "cat", "the"])
    named = ["the, 1st", "cat", "the, 2nd"]
    assert figure.state["named"] == {"queries": named, "keys": named}
    assert figure.state["queries"] == ["the", "cat", "the"]
    facts = ("“the, 2nd”", "head 1", "“the, 2nd” (1.00)", "head 2", "“the, 1st”")
    assert tells(figure.state["told"][2], *facts)
    assert tells(repr(figure), "least", "“the, 1st”", figure.state["told"][0])
    assert re.findall(r'type="radio"[^>]*> ([^<]+)<', figure.fallback()) == named


# A head that is switched off ----------------------------------------------------------------------


def test_a_head_is_switched_off_and_the_next_word_is_another() -> None:
    words, (layer, head) = ["<s>", "the", "king", "near", "the", "dogs"], small.head("subject")
    without = measure.removal(small.load(), layer, words)
    figure = Heads(small.weights(words)[layer], words, without=without)
    assert (figure.state["next"]["said"], figure.state["next"]["word"]) == (
        "the king near the dogs",
        "runs",
    )
    figure._handle_custom_msg({"change": {"off": head}}, [])
    following = figure.state["next"]
    assert (following["word"], following["flipped"]) == ("run", True)
    facts = (f"head {head + 1}", "“run”", f"{without(head)['run']:.2f}", "“runs”")
    assert tells(following["told"], *facts)
    assert "the king near the dogs run." in figure.fallback()


def test_where_nothing_changes_the_figure_says_so_and_each_head_is_asked_once() -> None:
    asked: list[int | None] = []

    def without(head: int | None) -> dict[str, float]:
        asked.append(head)
        return {"runs": 0.9, "run": 0.1}

    figure = Heads(WEIGHTS, TOKENS, without=without)
    figure.off = 1
    assert tells(figure.state["next"]["told"], "head 2", "as before")
    assert not figure.state["next"]["flipped"]
    figure.off = None
    figure.off = 1
    assert asked == [None, 1]
    figure.weights = WEIGHTS[:1]
    assert (figure.off, figure.state["off"]) == (None, None)
    assert Heads(WEIGHTS, TOKENS).state["next"] is None
