"""By hand, in words: what each stage does, and for every cell what it is and the sum behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnlab.figures.live.on_paper import (
    divided,
    products,
    read_out,
    shared_out,
    taken_away,
    written,
)

Numbers = dict[str, np.ndarray]
INPUTS = ("X", "W_q", "W_k", "W_v")
# What each stage shows, in groups that stay side by side, and which of it the stage makes.
STAGES: list[dict[str, Any]] = [
    {"name": "X", "groups": [["X"]], "makes": ["X"]},
    {
        "name": "Q, K, V",
        "groups": [["X"], ["W_q", "Q"], ["W_k", "K"], ["W_v", "V"]],
        "makes": ["Q", "K", "V"],
    },
    {"name": "scores", "groups": [["Q"], ["K"], ["S"]], "makes": ["S"]},
    {"name": "scaled", "groups": [["S"], ["scaled"]], "makes": ["scaled"]},
    {"name": "mask", "groups": [["scaled"], ["masked"]], "makes": ["masked"]},
    {"name": "weights", "groups": [["masked"], ["A"]], "makes": ["A"]},
    {"name": "output", "groups": [["A"], ["V"], ["Z"]], "makes": ["Z"]},
]
CAPTIONS = {
    "X": "X, the tokens",
    "W_q": "W_q",
    "W_k": "W_k",
    "W_v": "W_v",
    "Q": "Q = X W_q",
    "K": "K = X W_k",
    "V": "V = X W_v",
    "S": "S = Q Kᵀ",
    "scaled": "S / √d_k",
    "masked": "masked scores",
    "A": "A, the weights",
    "Z": "Z = A V",
}
PAIRS = ("S", "scaled", "masked", "A")  # row: who asks; column: who is asked
THREE_DIGITS = ("scaled", "masked", "A", "Z")
# A token's whole row, in words.
WHOLE = {
    "X": "“{}” comes as this row of X.",
    "Q": "The query of “{}”: its row of X with every column of W_q.",
    "K": "The key of “{}”: its row of X with every column of W_k.",
    "V": "The value of “{}”: its row of X with every column of W_v.",
    "S": "“{}” asks everyone: its query with every key.",
    "scaled": "Every score of “{}”, divided by √d_k.",
    "masked": "The scores of “{}”, −∞ for whom it may not attend to.",
    "A": "What “{}” gives to everyone: shares of its row, which add up to 1.",
    "Z": "What “{0}” gets: every value, times the weight that “{0}” gives it, added up.",
}
# What becomes of a query: the stage, its matrix, and a word for it.
STEPS = (
    (2, "Q", "query"),
    (3, "S", "scores"),
    (4, "scaled", "scaled"),
    (5, "masked", "masked"),
    (6, "A", "weights"),
    (7, "Z", "output"),
)
_ROLES = {"Q": ("query", "W_q"), "K": ("key", "W_k"), "V": ("value", "W_v")}


def about(numbers: Numbers, causal: bool) -> list[str]:
    """One line for each stage."""
    d, width = numbers["W_q"].shape
    mask = (
        "Causal: no token may attend to a later one, and its score becomes −∞."
        if causal
        else "No mask: every token may attend to every token, and the scores stay as they are."
    )
    return [
        f"Every token is a row of {d} numbers.",
        "Three matrices make a query, a key and a value of every token.",
        "Every query meets every key. Row: who asks. Column: who is asked.",
        f"Every score is divided by √d_k, here √{width}.",
        mask,
        "Softmax along each row: e to a score, divided by the row's sum of these.",
        "Every output is an average of the rows of V, by the weights of its own row.",
    ]


def matrices(tokens: Sequence[str], numbers: Numbers) -> dict[str, dict[str, Any]]:
    """Every matrix as it is drawn: labels, text, numbers with None for −∞, and words."""
    return {name: _matrix(name, tokens, numbers) for name in CAPTIONS}


def _matrix(name: str, tokens: Sequence[str], numbers: Numbers) -> dict[str, Any]:
    matrix = numbers[name].tolist()
    rows, columns = ([str(n + 1) for n in range(size)] for size in numbers[name].shape)
    places = [[(r, c) for c in range(len(columns))] for r in range(len(rows))]
    return {
        "caption": CAPTIONS[name],
        "yours": name in INPUTS,
        "rows": rows if name in INPUTS[1:] else list(tokens),
        "columns": list(tokens) if name in PAIRS else columns,
        "blocked": [[_is_blocked(name, numbers, *place) for place in row] for row in places],
        "numbers": [[None if np.isinf(x) else x for x in row] for row in matrix],
        "text": [[_text(name, numbers, *place) for place in row] for row in places],
        "told": [[_told(name, tokens, numbers, *place) for place in row] for row in places],
        "whole": [] if name in INPUTS[1:] else _whole_rows(name, tokens, numbers),
    }


def _whole_rows(name: str, tokens: Sequence[str], numbers: Numbers) -> list[dict[str, Any]]:
    """What each token's row is, and a sum for each of its cells."""
    width = numbers[name].shape[1]
    columns = tokens if name in PAIRS else [f"entry {column + 1}" for column in range(width)]
    rows = []
    for row, token in enumerate(tokens):
        cells = [_told(name, tokens, numbers, row, column) for column in range(width)]
        sums = [
            f"{heading}: {total}"
            for heading, cell in zip(columns, cells, strict=True)
            for total in cell["sums"]
        ]
        what = WHOLE[name].format(token)
        rows.append({"what": what, "sums": sums, "said": f"{what} {read_out('; '.join(sums))}"})
    return rows


def trails(tokens: Sequence[str], numbers: Numbers) -> list[list[dict[str, Any]]]:
    """For each token what becomes of its query, stage by stage, from the query to the output."""
    blocks = bool(np.isinf(numbers["masked"]).any())
    return [
        [
            {"stage": stage, "text": f"{word} {_row_text(name, numbers, row)}"}
            for stage, name, word in STEPS
            if blocks or name != "masked"
        ]
        for row in range(len(tokens))
    ]


def _row_text(name: str, numbers: Numbers, row: int) -> str:
    cells = [_text(name, numbers, row, column) for column in range(numbers[name].shape[1])]
    return f"({', '.join(cells)})"


def _is_blocked(name: str, numbers: Numbers, row: int, column: int) -> bool:
    return name in ("masked", "A") and bool(np.isinf(numbers["masked"][row, column]))


def _text(name: str, numbers: Numbers, row: int, column: int) -> str:
    value = float(numbers[name][row, column])
    if name in INPUTS:  # as it was typed
        return f"{value + 0.0:g}".replace("-", "−")
    if name == "A" and _is_blocked(name, numbers, row, column):
        return "0"
    return written(value, 3 if name in THREE_DIGITS else None)


def _told(
    name: str, tokens: Sequence[str], numbers: Numbers, row: int, column: int
) -> dict[str, Any]:
    """What a cell is, the sum behind it, and both as they are read out."""
    if name in PAIRS:
        what, total = _told_of_pair(name, tokens, numbers, row, column)
    else:
        what, total = _told_of_entry(name, tokens, numbers, row, column)
    return {"what": what, "sums": [total], "said": f"{what} {read_out(total)}"}


def _told_of_entry(
    name: str, tokens: Sequence[str], numbers: Numbers, row: int, column: int
) -> tuple[str, str]:
    value = float(numbers[name][row, column])
    if name in INPUTS:
        line = f"row “{tokens[row]}”" if name == "X" else f"row {row + 1}"
        what = f"{name}, {line}, column {column + 1}: yours to change, by Enter or a double click."
        return what, _text(name, numbers, row, column)
    if name == "Z":
        what, left, right, digits = "output", "A", "V", 3
    else:
        (what, right), left, digits = _ROLES[name], "X", None
    factors = numbers[left][row].tolist(), numbers[right][:, column].tolist()
    return (
        f"Entry {column + 1} of the {what} of “{tokens[row]}”: its row of {left} with column "
        f"{column + 1} of {right}.",
        products(*factors, value, digits),
    )


def _told_of_pair(
    name: str, tokens: Sequence[str], numbers: Numbers, row: int, column: int
) -> tuple[str, str]:
    value = float(numbers[name][row, column])
    asks, asked = tokens[row], tokens[column]
    whom = "itself" if row == column else f"“{asked}”"
    match name:
        case "S":
            whose = "its own key" if row == column else f"the key of “{asked}”"
            factors = numbers["Q"][row].tolist(), numbers["K"][column].tolist()
            return f"“{asks}” asks {whom}: its query with {whose}.", products(*factors, value)
        case "scaled":
            score, width = float(numbers["S"][row, column]), numbers["Q"].shape[1]
            what = f"“{asks}” asks {whom}: the score, divided by √d_k."
            return what, divided(score, width, value)
        case "masked":
            may, then = ("may not", "blocked") if np.isinf(value) else ("may", "the score stays")
            return f"“{asks}” {may} attend to {whom}: {then}.", written(value, 3)
    row_of_scores = numbers["masked"][row].tolist()
    what = f"What “{asks}” gives to {whom}: a share of its row."
    if largest := taken_away(row_of_scores):
        what += f" The row's largest score, {written(largest)}, is taken away first."
    return what, shared_out(row_of_scores, column, value)
