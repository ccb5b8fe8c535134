"""By hand, step by step: self-attention in seven stages, with the sum behind every cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.checks.reference import attend, weights
from attnlab.figures.live import by_hand_still
from attnlab.figures.live.by_hand_words import INPUTS, STAGES, about, matrices, trails
from attnlab.figures.live.figure import Figure, Input, Values, array, names, source, style

MOST_TOKENS = MOST_ENTRIES = 6  # sums of more terms are no longer read
LARGEST = 99


class ByHand(Figure):
    """Seven stages from tokens to output; each cell tells the sum behind it.

    A token's label tells all sums of its row, and what becomes of its query.

    Cells of X, W_q, W_k and W_v are inputs and can be typed over. All others are computed, and so
    cannot: a score that no query and key have would make the picture untrue.

    Args:
        tokens: N labels.
        X: (N, d).
        W_q: (d, d_k).
        W_k: (d, d_k).
        W_v: (d, d_v).
        causal: whether a query may only attend to itself and to earlier keys.
    Raises:
        ValueError: sizes do not fit, or a number does not fit into a cell.

    Attributes:
        stage: 1 to 7; assigning to it turns to the stage in the page.
        cell: [matrix, row, column], the selected cell; column None is a token's whole row.
        changed: for each matrix, which cells have other numbers since the last change.
    """

    _esm = source("by_hand")
    _css = style("by_hand")
    title = traitlets.Unicode("By hand, step by step").tag(sync=True)
    stage = traitlets.Int(1).tag(sync=True)
    cell: Any = traitlets.List(["X", 0, 0]).tag(sync=True)
    changed = traitlets.Dict().tag(sync=True)
    tokens, X, W_q, W_k, W_v, causal = Input(), Input(), Input(), Input(), Input(), Input()

    def __init__(
        self,
        tokens: Sequence[str],
        X: Any,
        W_q: Any,
        W_k: Any,
        W_v: Any,
        *,
        causal: bool = False,
    ) -> None:
        super().__init__(tokens=tokens, X=X, W_q=W_q, W_k=W_k, W_v=W_v, causal=causal)
        self.cell = ["Q", min(1, len(self.tokens) - 1), None]  # how a query comes from a token

    def checked(self, inputs: Values) -> Values:
        tokens = names("tokens", inputs["tokens"], MOST_TOKENS)
        X = array("X", inputs["X"], (len(tokens), None))
        W_q = array("W_q", inputs["W_q"], (X.shape[1], None))
        W_k = array("W_k", inputs["W_k"], W_q.shape)
        W_v = array("W_v", inputs["W_v"], (X.shape[1], None))
        given = {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v}
        for name, matrix in given.items():
            _fits_into_cells(name, matrix)
        causal = inputs["causal"]
        if not isinstance(causal, bool | np.bool_):
            raise ValueError(f"causal is {causal!r}; it has to be True or False")
        return {"tokens": tokens, **given, "causal": bool(causal)}

    def computed(self, inputs: Values) -> Values:
        numbers = every_matrix(inputs)
        told = about(numbers, inputs["causal"])
        return {
            "tokens": inputs["tokens"],
            "causal": inputs["causal"],
            "stages": [{**stage, "about": line} for stage, line in zip(STAGES, told, strict=True)],
            "matrices": matrices(inputs["tokens"], numbers),
            "trails": trails(inputs["tokens"], numbers),
        }

    def change(self, **inputs: Any) -> None:
        before = self.state["matrices"]
        with self.hold_sync():  # the page shows new numbers and what has changed at once
            super().change(**inputs)
            after = self.state["matrices"]
            self.changed = {name: _differing(before[name], after[name]) for name in after}
            name, row, column = self.cell
            self.cell = _nearest(after, name, row, column)

    @traitlets.validate("stage")
    def _stage_is_there(self, proposal: Any) -> int:
        if not 1 <= proposal["value"] <= len(STAGES):
            raise traitlets.TraitError(
                f"there is no stage {proposal['value']}; stages are 1 to {len(STAGES)}"
            )
        return int(proposal["value"])

    @traitlets.validate("cell")
    def _cell_is_there(self, proposal: Any) -> list[Any]:
        shown = self.state["matrices"]
        match proposal["value"]:
            case [str(name), int(row), int(column)] if name in shown:
                rows, columns = _size(shown[name])
                if 0 <= row < rows and 0 <= column < columns:
                    return [name, row, column]
                raise traitlets.TraitError(f"{name} has no cell [{row}, {column}]")
            case [str(name), int(row), None] if name in shown:
                if 0 <= row < len(shown[name]["whole"]):
                    return [name, row, None]
                raise traitlets.TraitError(f"{name} has no token's cells in a row {row}")
        raise traitlets.TraitError(
            f"a cell is [matrix, row, column], the matrix one of {', '.join(shown)}"
        )

    @traitlets.observe("stage")
    def _cell_follows(self, change: Any) -> None:
        if not _is_shown(self.cell[0], self.stage):
            _, row, column = self.cell
            result = STAGES[self.stage - 1]["makes"][0]
            self.cell = _nearest(self.state["matrices"], result, row, column)

    @traitlets.observe("cell")
    def _stage_follows(self, change: Any) -> None:
        name = self.cell[0]
        if not _is_shown(name, self.stage):
            self.stage = next(n for n in range(1, len(STAGES) + 1) if _is_shown(name, n))

    def summary(self) -> str:
        shown = self.state["matrices"]
        A, Z = np.array(shown["A"]["numbers"]), shown["Z"]["text"]
        widths = (
            f"d = {self.X.shape[1]}, d_k = {self.W_q.shape[1]}, d_v = {self.W_v.shape[1]}, "
            f"{'causal mask' if self.causal else 'no mask'}"
        )
        return f"seven stages from X to the output, {widths}. " + " ".join(
            f"“{token}” attends most to “{self.tokens[int(row.argmax())]}” ({row.max():.2f}) and "
            f"gets ({', '.join(output)})."
            for token, row, output in zip(self.tokens, A, Z, strict=True)
        )

    def controls(self) -> Values:
        return {"causal": (False, True)}

    def fallback(self) -> str:
        turned = self.computed({**self._inputs, "causal": not self.causal})
        return by_hand_still.html(repr(self), self.state, turned)


def every_matrix(inputs: Values) -> dict[str, np.ndarray]:
    """All matrices of self-attention by name; blocked scores are minus infinity."""
    given = {name: inputs[name].copy() for name in INPUTS}
    Q, K, V = (given["X"] @ given[name] for name in INPUTS[1:])
    S = Q @ K.T
    scaled = S / np.sqrt(Q.shape[1])
    blocked = np.triu(np.full(S.shape, inputs["causal"]), k=1)
    computed = {
        "Q": Q,
        "K": K,
        "V": V,
        "S": S,
        "scaled": scaled,
        "masked": np.where(blocked, -np.inf, scaled),
        "A": weights(Q, K, ~blocked),
        "Z": attend(Q, K, V, ~blocked),
    }
    return {**given, **computed}


def _fits_into_cells(name: str, matrix: np.ndarray) -> None:
    if not 1 <= matrix.shape[1] <= MOST_ENTRIES:
        raise ValueError(f"{name} has {matrix.shape[1]} columns; 1 to {MOST_ENTRIES} can be shown")
    over = np.argwhere(np.abs(matrix) > LARGEST)
    if len(over):
        row, column = map(int, over[0])
        raise ValueError(
            f"{name} would hold {matrix[row, column]:g} in row {row + 1}, column {column + 1}; "
            f"−{LARGEST} to {LARGEST} fit into a cell"
        )


def _is_shown(name: str, stage: int) -> bool:
    return any(name in group for group in STAGES[stage - 1]["groups"])


def _size(matrix: Values) -> tuple[int, int]:
    return len(matrix["text"]), len(matrix["text"][0])


def _nearest(matrices: Values, name: str, row: int, column: int | None) -> list[Any]:
    """The cell of a matrix that is nearest to one that may not be there; a row stays whole."""
    rows, columns = _size(matrices[name])
    return [name, min(row, rows - 1), None if column is None else min(column, columns - 1)]


def _differing(before: Values, after: Values) -> list[list[bool]]:
    """Which numbers are others than before; none where the sizes differ."""
    if _size(before) != _size(after):
        return [[False] * len(row) for row in after["text"]]
    return [
        [old != new for old, new in zip(*rows, strict=True)]
        for rows in zip(before["numbers"], after["numbers"], strict=True)
    ]
