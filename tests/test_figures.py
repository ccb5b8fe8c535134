"""What holds for every figure to touch, without a browser: one row of this table for each.

A figure's own file, `test_figure_<name>`, has what only that figure does.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
import traitlets

from attnlab import figures
from attnlab.figures.live.figure import Figure
from tests.figure_lab import FIGURES
from tests.figure_sources import LARGEST, SIZES, SOURCES

# What is done to the figure of SOURCES, and what is said: nothing else changes.
REFUSED = {
    "ByHand": {
        "tokens = []": "there are 0 tokens; 1 to 6",
        "tokens = ['a'] * 200": "there are 200 tokens; 1 to 6",
        "X = [[1, 2]]": r"X has shape \(1, 2\), and 3 × any is needed",
        "change(X=np.ones((3, 7)), W_q=np.ones((7, 3)))": "W_k has shape",
        "W_k = np.ones((4, 2))": r"W_k has shape \(4, 2\), and 4 × 3 is needed",
        "W_v = np.ones((4, 7))": "W_v has 7 columns; 1 to 6",
        "W_v = np.ones((4, 0))": "W_v has 0 columns; 1 to 6",
        "W_q = [[np.nan] * 3] * 4": r"W_q holds nan at \[0, 0\]",
        "X = 'the cat sat'": "X has to hold numbers",
        "causal = 'yes'": "causal is 'yes'; it has to be True or False",
        "causal = np.ones((3, 3))": "it has to be True or False",
        "stage = 0": "stages are 1 to 7",
        "stage = 8": "stages are 1 to 7",
        **dict.fromkeys(
            [
                *("cell = ['B', 0, 0]", "cell = ['X', 3, 0]", "cell = ['X', 0, -1]", "cell = []"),
                *("cell = ['X', 'a', 0]", "cell = ['X', 3, None]", "cell = ['W_q', 0, None]"),
                *("cell = ['B', 0, None]", "cell = ['X', -1, None]"),
            ],
            "cell",
        ),
    },
    "Cost": {
        "n = 'many'": "“many” is not a number",
        "n = np.nan": "“nan” is not a finite number",
        "n = 0": "N is 0; it has to be a whole number, 64 to 262144",
        "n = 100.5": "N is 100.5; it has to be a whole number",
        "n = 10**7": r"N is 1e\+07; it has to be a whole number",
        "d = 63": "d is 63; it has to be a whole number, 64 to 4096",
        "heads = 0": "the number of heads is 0",
        "heads = 3": "3 heads cannot share d = 512: there is a rest of 2",
        "dtype = 'int8'": "there is no type 'int8' here; there are float64, float32, bfloat16",
        "measured = [1, 2]": r"measured is what measure\(\) finds, or None",
    },
    "Film": {
        "at = 4": "there are 4 frames, 0 to 3, and no 4",
        "at = -1": "and no -1",
    },
    "Heads": {
        "weights = [[[0.5, 0.6, 0]] * 3]": "“the”, row 0 in head 1, are no shares",
        "weights = [np.eye(3), [[1, 0, 0], [1.5, -0.5, 0], [1, 0, 0]]]": "row 1 in head 2, are no",
        "weights = np.eye(3)": r"weights has shape \(3, 3\), and any × 3 × 3 is needed",
        "weights = [[[1, 0, np.nan]] * 3]": r"weights holds nan at \[0, 0, 2\]",
        "weights = 'none'": "weights has to hold numbers",
        "weights = np.zeros((0, 3, 3))": "there are 0 heads; 1 to 12",
        "weights = [np.eye(3)] * 13": "there are 13 heads; 1 to 12",
        "query_tokens = []": "there are 0 queries",
        "query_tokens = ['word'] * 200": "there are 200 queries",
        "change(weights=[np.eye(32)] * 5, query_tokens=['a'] * 32, key_tokens=['a'] * 32)": (
            "5 heads of 32 × 32 weights are 5120 cells; 4096"
        ),
        "row = -1": "rows are 0 to 2",
        "row = 3": "rows are 0 to 2",
        "off = 0": "head 0 cannot be switched off here",
        "off = 7": "head 7 cannot be switched off here",
    },
    "MaskPainter": {
        "mask = np.ones((3, 4))": r"mask has shape \(3, 4\), and 4 × 4 is needed",
        "mask = np.ones((1, 1, 4, 4))": r"mask has shape \(1, 1, 4, 4\), and 4 × 4 is needed",
        "mask = np.triu(np.full((4, 4), -np.inf), 1)": r"mask holds -inf at \[0, 1\]",
        "mask = np.full((4, 4), 0.5)": r"mask holds 0.5 at \[0, 0\]; it has to be bool, True = at",
        "mask = 'causal'": "mask has to hold numbers",
        "preset = 'diagonal'": "there is no preset “diagonal”; there are none, causal",
        "length = 5": "length is 5; it has to be a whole number, 1 to 4",
        "window = 0": "window is 0; it has to be a whole number, 1 to 4",
        "window = 1.5": "window is 1.5; it has to be",
        "length = 'few'": "“few” is not a number",
        "scores = [[np.nan] * 4] * 4": r"scores holds nan at \[0, 0\]",
        "tokens = []": "there are 0 tokens; 1 to 32",
        "tokens = ['word'] * 200": "there are 200 tokens; 1 to 32",
        "change(tokens=['a'] * 3, scores=np.eye(3), length=4)": "length is 4; .* number, 1 to 3",
        "row = 4": "rows are 0 to 3",
    },
    "Quiz": {
        "change(chosen=[9, *figure.chosen[1:]])": "there is no choice 9; the choices are A to",
        "choose(99, 0)": "there is no question 99",
    },
    "Race": {
        "distance = 0": "distance 0 was not run; 1 to 16 were",
        "distance = 17": "distance 17 was not run",
        "distance = 2.5": "distance 2.5 was not run",
        "distance = 'far'": "“far” is not a number",
        "when = 'during'": "when is “during”; there are before and after",
        "when = ['after']": "there are before and after",
    },
    "Roofline": {
        "batch = 'many'": "“many” is not a number",
        "batch = 0": "the batch is 0; it has to be a whole number, 1 to 1024",
        "batch = 1.5": "the batch is 1.5",
        "batch = 2048": "the batch is 2048",
        "works = {'a': (1, 1)}": "works has to be a function",
        "works = lambda batch: {}": "there are 0 works; 1 to 3",
        "works = lambda batch: {'a': (0, 1)}": "“a” has 0 operations and 1 bytes",
        "works = lambda batch: {'a': (1, np.nan)}": "“a” has 1 operations and nan bytes",
        "works = lambda batch: {'a': (1e5, 1)}": "“a” has 100000 operations for each byte",
        "devices = []": "there are 0 devices; 1 to 2",
        "devices = [{'device': 'one', 'flops': 'fast', 'bandwidth': 1}]": "“fast” is not a number",
    },
    "RotaryArrows": {
        "query = [1.0, 2.0, 3.0]": "query has 3 numbers",
        "query = [1.0] * 10": "query has 10 numbers",
        "key_vector = [1.0, 2.0]": r"key_vector has shape \(2,\), and 4 is needed",
        "degrees = [1.0]": r"degrees has shape \(1,\)",
        "query_at = -1": "query_at is -1; it has to be a whole number, 0 to 12",
        "key_at = 1.5": "key_at is 1.5",
        "moved = 13": "moved is 13",
        "moved = 'far'": "“far” is not a number",
    },
    "Saturation": {
        "d_k = 5": "d_k is 5; there are 2, 3, 4, 6",
        "d_k = 0": "d_k is 0; there are",
        "d_k = 'wide'": "“wide” is not a number",
        "d_k = np.nan": "“nan” is not a finite number",
        "reader = 0": "there is no reader 0; there are 1 to 50",
        "reader = 51": "there is no reader 51",
        "reader = 1.5": "reader is 1.5; a whole number",
        "seed = -1": "seed is -1; a whole number from 0 on",
    },
    "Slopes": {
        "q = torch.ones(2, 5, 5)": "k has shape",
        "change(q=torch.ones(2, 5, 7), k=torch.ones(2, 5, 7))": "q is 7 wide; 1 to 6",
        "v = torch.ones(2, 5, 7)": "v is 7 wide; 1 to 6",
        "v = torch.ones(2, 6, 2)": "v has shape",
        "sentences = [['a'], ['b', 'c']]": "sentences of one length",
        "sentences = [['a'] * 7] * 2": "with 12 tokens in all at most",
        "sentences = []": "sentences of one length",
        "attention = 1": "attention has to be a function",
        "attention = lambda q, k, v: q": "the output has shape",
        "attention = lambda q, k, v: v.detach()": "no record of where it came from",
        **dict.fromkeys(
            [
                *("entry = [2, 0, 0]", "entry = [0, 5, 0]", "entry = [0, 0, 3]"),
                *("entry = [0, 0]", "entry = ['a', 0, 0]"),
            ],
            "no entry",
        ),
    },
    "SoftLookup": {
        "query = [1, 2, 3]": r"query has shape \(3,\), and 2 is needed",
        "query = ['abc', 1]": "query has to hold numbers",
        "query = [np.nan, 1]": r"query holds nan at \[0\]",
        "query = [9, 0]": r"\(9.0, 0.0\) lies outside of the plane, ±3",
        "temperature = 0": "the temperature is 0; 0.05 is the least",
        "temperature = 'warm'": "“warm” is not a number",
        "axes = ['fresh']": "there are 1 axes; a key has two entries, each with a name",
        "axes = ['fresh', 'salt', 'mud']": "there are 3 axes; a key has two entries",
        "books = []": "there are 0 books",
        "books = ['book'] * 200": "there are 200 books; 1 to 12",
        "values = [[1, 2]]": r"values has shape \(1, 2\), and 4 × 2 is needed",
        "key_vectors = np.zeros((4, 2))": "all entries of all keys are 0",
    },
    "Tiles": {
        "q = [[1.0, 2.0]]": r"k has shape \(8, 4\), and any × 2 is needed",
        "v = np.ones((7, 2))": r"v has shape \(7, 2\), and 8 × any is needed",
        "q = np.ones((11, 4))": r"q has shape \(11, 4\); at most 10 × 8",
        "v = np.ones((8, 9))": r"v has shape \(8, 9\); at most",
        "q = np.ones((0, 4))": r"q has shape \(0, 4\)",
        "block = 0": "block is 0; it has to be a whole number, 1 to 8",
        "block = 1.5": "block is 1.5",
        "block = 'two'": "“two” is not a number",
        "step = 5": "step is 5; it has to be a whole number, 1 to 4",
    },
    "TrainingScrubber": {
        "losses = [1.0]": "there are 1 losses; 2 to",
        "losses = [1.0, np.nan]": "losses holds nan",
        "losses = [1.0, 2.0, 3.0]": "5 was recorded; with 3 losses, steps are 0 to 2",
        "recorded = [1, 2]": "recorded has to be a dict",
        "recorded = {0: [[1, 0, 0]] * 2}": "1 steps are recorded; 2 to",
        "recorded = {0: [[1, 0]], 1: [[1, 0]]}": r"recorded\[0\] has shape \(1, 2\), and 2 × 3",
        "recorded = {1: [[1, 1, 0]] * 2, 2: []}": "“it … tired”, row 0 at step 1, are",
        "recorded = {0.5: [[1, 0, 0]] * 2, 1: []}": "0.5 was recorded",
        "rows = ['a'] * 6": "there are 6 rows; 1 to 5",
        "words = []": "there are 0 words",
        "level = ('high', 'a coin')": "“high” is not a number",
        "step = 1": "step 1 was not recorded; 0, 2, 5 were",
        "step = 'last'": "“last” is not a number",
    },
    "WhoListens": {
        "weights = [[0.5, 0.6, 0]] * 3": "row 0, are no shares: the smallest is 0 and they add up",
        "weights = [[1, 0, 0], [1.5, -0.5, 0], [1, 0, 0]]": "“cat”, row 1, are no shares",
        "weights = [[1, 0], [0, 1]]": r"weights has shape \(2, 2\), and 3 × 3 is needed",
        "weights = [[1, 0, np.nan]] * 3": r"weights holds nan at \[0, 2\]",
        "weights = 'none'": "weights has to hold numbers",
        "query_tokens = []": "there are 0 queries",
        "query_tokens = ['word'] * 200": "there are 200 queries",
        "shown = 1": "there is no head 1; heads are 0 to 0",
        "weights = [[np.eye(3), np.ones((3, 3))]]": "row 0, head 2, are no shares",
        "row = -1": "rows are 0 to 2",
        "row = 3": "rows are 0 to 2",
        "view = 'bars'": "view",
    },
}
STORED = 220_000  # bytes of a still that a notebook keeps
HOSTILE = '<script>"&'

every_figure = pytest.mark.parametrize("name", FIGURES.values())


def made(source: str) -> Figure:
    known: dict[str, Any] = {"figures": figures}
    exec(source, known)
    figure: Figure = known["figure"]
    return figure


def hostile(value: Any) -> Any:
    """The same with names that would end a tag or an attribute, in whatever they are held."""
    match value:
        case str():
            return HOSTILE + value
        case dict():
            return {hostile(key): hostile(each) for key, each in value.items()}
        case list():
            return [*map(hostile, value)]
        case tuple() if hasattr(value, "_replace"):
            return type(value)(*map(hostile, value))
    return (lambda *given: hostile(value(*given))) if callable(value) else value


@every_figure
def test_what_cannot_be_used_is_refused_and_changes_nothing(name: str) -> None:
    figure = made(SOURCES[name])
    told = [each for each in figure.trait_names(sync=True) if not each.startswith("_")]
    before = {each: getattr(figure, each) for each in told} | figure._inputs
    for done, said in REFUSED[name].items():
        with pytest.raises((ValueError, traitlets.TraitError), match=said):
            exec(f"figure.{done}", {"figure": figure, "np": np, "torch": torch})
        after = {each: getattr(figure, each) for each in told} | figure._inputs
        assert [each for each in after if after[each] is not before[each]] == [], done


@every_figure
def test_it_is_told_and_stored_alike_whenever_it_is_made(name: str) -> None:
    one, other = made(SOURCES[name]), made(SOURCES[name])
    assert repr(one) == repr(other)
    assert repr(one).startswith(f"{one.title}: ")
    assert not [each for each in np.ravel(one.state.get("found", [])) if each.endswith(".")]
    assert "0x" not in repr(one) + one.fallback()
    assert one.fallback() == one.fallback() == other.fallback()
    assert json.loads(json.dumps(one.state, allow_nan=False))


@every_figure
def test_names_cannot_break_the_still_figure(name: str) -> None:
    figure = made(SOURCES[name])
    before = figure.fallback()
    held = {key: each for key, each in figure._inputs.items() if not isinstance(each, str)}
    named = {key: hostile(each) for key, each in held.items()}
    figure.change(**{key: each for key, each in named.items() if each is not held[key]})
    still = figure.fallback()
    assert (HOSTILE in repr(figure.state)) == ("&lt;script&gt;" in still), "a name is left out"
    assert [still.count(sign) for sign in '<>"'] == [before.count(sign) for sign in '<>"']


@every_figure
def test_a_still_is_small_enough_to_store_whatever_is_set(name: str) -> None:
    figure = made(SOURCES[name])
    sizes = {"as made": len(figure.fallback().encode())}
    for control, values in (figure.controls() or {}).items():
        for value in values[:: len(values) // 20 + 1]:  # some have hundreds
            setattr(figure, control, value)
            sizes[f"{control} = {value}"] = len(figure.fallback().encode())
    for source in LARGEST.get(name, []):
        largest = made(f"{SIZES}figure = figures.live.{source}")
        sizes[source] = len(largest.fallback().encode())
    assert max(sizes.values()) < STORED, sizes
