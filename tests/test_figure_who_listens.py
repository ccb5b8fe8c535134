"""Who listens to whom, without a browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

from attnlab import small
from attnlab.figures.live import WhoListens
from attnlab.figures.live.figure import STALE, number, ordinal
from tests.course import tells
from tests.figure_lab import lessons_with

pytestmark = pytest.mark.lessons(*lessons_with("WhoListens"))

TOKENS = ["the", "cat", "sat"]
WEIGHTS = [[0.168, 0.533, 0.299], [0.048, 0.086, 0.866], [0.060, 0.602, 0.338]]


@pytest.fixture
def figure() -> WhoListens:
    return WhoListens(WEIGHTS, TOKENS)


def test_a_row_is_told_in_words(figure: WhoListens) -> None:
    assert tells(figure.state["told"][1], "“cat”", "“sat” (0.87)", "“cat” (0.09)")


def test_no_key_is_named_with_a_weight_of_0_00() -> None:
    figure = WhoListens([[0.88, 0.115, 0.0048]], ["king"], ["<s>", "the", "king"])
    assert tells(figure.state["told"][0], "(0.88)", "“the” (0.12)")
    assert "(0.00)" not in figure.state["told"][0]


def test_a_row_that_is_spread_over_many_says_so() -> None:
    many, blocked = np.full((1, 32), 1 / 32), np.arange(32)[None] < 8
    figure = WhoListens(many, ["a"], [f"k{n}" for n in range(32)])
    assert tells(figure.state["told"][0], "“a”", "many", "none with 0.05")
    figure.change(weights=~blocked / 24, before=many, blocked=blocked)
    assert tells(figure.state["told"][0], "none with 0.05", "8 of 32 keys are blocked")


def test_a_row_with_nothing_to_listen_to_is_zeros_and_says_so() -> None:
    figure = WhoListens([[0, 0], [0.5, 0.5]], ["a", "b"], blocked=[[1, 1], [0, 0]])
    assert tells(figure.state["told"][0], "“a”", "nothing", "0", "2 of 2 keys")
    assert "nan" not in repr(figure.state).lower()


def test_where_the_weight_of_blocked_keys_went_is_told_and_shown() -> None:
    before, blocked = [[0.2, 0.5, 0.3], [0, 0.4, 0.6], [0.2, 0, 0.8]], [[0, 1, 0]] * 3
    blocked[1] = [1, 1, 1]
    after = [[0.4, 0, 0.6], [0, 0, 0], [0.2, 0, 0.8]]
    figure = WhoListens(after, TOKENS, blocked=blocked, before=before)
    assert tells(figure.state["told"][0], "“the”", "“cat” (0.50)", "“sat” (+0.30)", "“the” (+0.20)")
    assert tells(figure.state["told"][1], "“cat”", "nothing", "3 of 3 keys")
    assert tells(figure.state["told"][2], "“sat” (0.80)"), "there was nothing to share out"
    assert figure.state["found"][0] == "“the” shares out the 0.50 of “cat” in proportion"
    assert figure.state["found"][2] == "“sat” listens most to “sat” (0.80)"
    odd = WhoListens([[0.3, 0, 0.7]], ["the"], TOKENS, blocked=[[0, 1, 0]], before=[before[0]])
    assert odd.state["found"] == ["“the” gives the share of “cat” to “sat” and “the”"]
    assert figure.state["before"] == before
    figure.weights = WEIGHTS
    assert figure.state["before"] is None
    with pytest.raises(ValueError, match="before, are no shares"):
        WhoListens(after, TOKENS, blocked=blocked, before=np.ones((3, 3)))


def test_what_came_to_a_key_is_the_difference_of_the_numbers_that_are_read() -> None:
    before, after = [[0.2636, 0.4844, 0.252]], [[0.5112, 0, 0.4888]]
    figure = WhoListens(after, ["the"], TOKENS, blocked=[[0, 1, 0]], before=before)
    assert tells(figure.state["told"][0], "“cat” (0.48)", "“the” (+0.25)", "“sat” (+0.24)")
    assert "mostly" not in figure.state["told"][0]


def test_weights_and_tokens_change_together(figure: WhoListens) -> None:
    figure.row = 2
    figure.change(weights=[[1.0]], query_tokens=["alone"], key_tokens=["alone"], blocked=None)
    assert figure.state["queries"] == ["alone"]
    assert figure.row == 0


def test_repr_says_what_there_is_to_see(figure: WhoListens) -> None:
    assert tells(repr(figure), "“cat”", "“sat” (0.87)")


def test_the_fallback_holds_every_number_and_every_sentence(figure: WhoListens) -> None:
    html = figure.fallback()
    cells = re.findall(r"<td[^>]+>([\d.]+)</td>", html)
    assert cells == [f"{weight:.2f}" for row in WEIGHTS for weight in row]
    for sentence in figure.state["told"]:
        assert sentence in html


TWICE = ["the", "cat", "sat", "on", "the", "mat"]
NAMED = ["the, 1st", "cat", "sat", "on", "the, 2nd", "mat"]


def test_words_that_occur_twice_are_told_apart() -> None:
    figure = WhoListens(np.eye(6)[::-1], TWICE)
    assert figure.state["named"] == {"queries": NAMED, "keys": NAMED}
    assert figure.state["queries"] == TWICE, "the headers of the table stay"
    assert tells(figure.state["told"][1], "“cat”", "“the, 2nd” (1.00)")
    assert tells(repr(figure), "“the, 2nd”", "“cat” (1.00)")
    assert re.findall(r'type="radio"[^>]*> ([^<]+)<', figure.fallback()) == NAMED


def test_queries_and_keys_are_told_apart_each_among_themselves() -> None:
    figure = WhoListens(np.eye(2), ["the", "cat"], ["the", "the"])
    assert figure.state["named"] == {"queries": ["the", "cat"], "keys": ["the, 1st", "the, 2nd"]}


def test_positions_are_counted_as_one_says_them() -> None:
    said = [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 32)]
    assert said == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "21st",
        "22nd",
        "23rd",
        "32nd",
    ]


def test_what_python_alone_reads_as_a_number_is_none() -> None:
    with pytest.raises(ValueError, match="“1_0” is not a number"):
        number("1_0")


def test_weights_of_16_bits_are_read() -> None:
    figure = WhoListens(torch.eye(3, dtype=torch.bfloat16), TOKENS)
    np.testing.assert_array_equal(figure.weights, np.eye(3))


@pytest.mark.parametrize(
    "message",
    [
        {"edit": ["weights", 2, 0, "1"]},
        {"edit": ["shares", 0, 0, "1"]},
        {"change": [1]},
        {},
    ],
)
def test_a_message_that_no_longer_fits_is_told(figure: WhoListens, message: Any) -> None:
    pair = ["a", "b"]
    figure.change(weights=np.eye(2), query_tokens=pair, key_tokens=pair, blocked=None)
    before = figure.state
    figure._handle_custom_msg(message, [])
    assert figure.problem == STALE
    assert figure.state == before


# Several heads ------------------------------------------------------------------------------------

HEADS = [[np.eye(3).tolist(), WEIGHTS], [np.roll(np.eye(3), 1, axis=1), np.full((3, 3), 1 / 3)]]


def test_one_head_of_several_layers_is_shown_and_can_be_chosen() -> None:
    figure = WhoListens(HEADS, TOKENS, shown=1)
    assert figure.state["choices"] == [
        "layer 1, head 1",
        "layer 1, head 2",
        "layer 2, head 1",
        "layer 2, head 2",
    ]
    assert figure.state["weights"] == WEIGHTS
    figure.shown = 3
    assert figure.state["weights"] == np.full((3, 3), 1 / 3).tolist()
    assert figure.state["found"][1].startswith("Layer 2, head 2: “cat” listens most to ")
    assert "layer 2, head 2, heatmap of 3 × 3" in repr(figure)
    assert WhoListens(HEADS[0], TOKENS).state["choices"] == ["head 1", "head 2"]
    figure.weights = WEIGHTS
    assert (figure.state["choices"], figure.shown) == ([""], 0)


# A sentence of one's own --------------------------------------------------------------------------


def read_of(text: str, **options: Any) -> WhoListens:
    words = text.split()
    blocked = np.triu(np.ones((len(words), len(words))), 1)
    weights = small.weights(words)
    return WhoListens(weights, words, blocked=blocked, reader=small.weights, **options)


def test_a_sentence_of_ones_own_is_read_by_the_small_model() -> None:
    figure = read_of("<s> the dogs run", shown=5)
    assert figure.state["typed"] == "the dogs run"
    figure._handle_custom_msg({"read": " the king  behind the dogs "}, [])
    words = ["<s>", "the", "king", "behind", "the", "dogs"]
    assert figure.query_tokens == figure.key_tokens == words
    np.testing.assert_allclose(figure.state["weights"], small.weights(words)[1][1])
    assert np.array_equal(figure.blocked, np.triu(np.ones((6, 6)), 1))
    assert (figure.shown, figure.row, figure.problem) == (5, 5, "")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("the dgos run", ("“dgos”", "nearest", "dogs, ")),
        ("", ("0 words", "1 to 16")),
        ("the " * 17, ("17 words", "1 to 16")),
    ],
)
def test_what_the_model_cannot_read_is_said_in_one_line(typed: str, said: tuple[str, ...]) -> None:
    figure = read_of("<s> the dogs run")
    before = figure.state
    figure._handle_custom_msg({"read": typed}, [])
    assert tells(figure.problem, *said)
    assert "\n" not in figure.problem
    assert figure.state == before


def test_without_pytorch_the_field_says_so() -> None:
    def reader(words: Any) -> Any:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    figure = WhoListens(WEIGHTS, TOKENS, reader=reader)
    figure._handle_custom_msg({"read": "a b"}, [])
    assert tells(figure.problem, "torch", "not here")


def test_there_is_no_field_without_a_reader(figure: WhoListens) -> None:
    assert figure.state["typed"] is None
    figure._handle_custom_msg({"read": "the cat"}, [])
    assert figure.problem
