"""Who listens to whom: a heatmap of weights, and one row of it as a distribution and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import traitlets

from attnlab.figures.live import fallback
from attnlab.figures.live.figure import (
    Figure,
    Input,
    Values,
    array,
    names,
    source,
    style,
    told_apart,
)

ROUNDED = 2e-3  # rows of weights that were rounded to three digits still count as shares
TOLD = 3  # keys that a sentence names


class WhoListens(Figure):
    """A heatmap; the row under the pointer, or that the arrow keys reach, is drawn and told.

    Args:
        weights: (N, M), each row shares that add up to 1, or all 0.
        query_tokens: N labels, who listens.
        key_tokens: M labels, who is listened to; None means the same.
        blocked: (N, M) bool, True = may not attend, hatched; None blocks nothing.
    Raises:
        ValueError: sizes do not fit, or weights are no shares.

    Attributes:
        row: the selected row; assigning to it moves the selection in the page.
    """

    _esm = source("who_listens")
    _css = style("who_listens")
    title = traitlets.Unicode("Who listens to whom").tag(sync=True)
    row = traitlets.Int(0).tag(sync=True)
    weights, query_tokens, key_tokens, blocked = Input(), Input(), Input(), Input()

    def __init__(
        self,
        weights: Any,
        query_tokens: Sequence[str],
        key_tokens: Sequence[str] | None = None,
        blocked: Any = None,
    ) -> None:
        keys = query_tokens if key_tokens is None else key_tokens
        super().__init__(
            weights=weights, query_tokens=query_tokens, key_tokens=keys, blocked=blocked
        )

    def checked(self, inputs: Values) -> Values:
        queries = names("queries", inputs["query_tokens"])
        keys = names("keys", inputs["key_tokens"])
        shape = (len(queries), len(keys))
        weights = array("weights", inputs["weights"], shape)
        given = inputs["blocked"]
        blocked = array("blocked", np.zeros(shape) if given is None else given, shape) != 0
        refuse_what_are_no_shares(weights, queries)
        return {
            "weights": weights,
            "query_tokens": queries,
            "key_tokens": keys,
            "blocked": blocked,
        }

    def computed(self, inputs: Values) -> Values:
        weights, blocked = inputs["weights"], inputs["blocked"]
        spread = entropies(weights)
        queries, keys = told_apart(inputs["query_tokens"]), told_apart(inputs["key_tokens"])
        told = [
            in_words(query, row, keys, hidden, entropy)
            for query, row, hidden, entropy in zip(queries, weights, blocked, spread, strict=True)
        ]
        return {
            "weights": weights.tolist(),
            "queries": inputs["query_tokens"],
            "keys": inputs["key_tokens"],
            "named": {"queries": queries, "keys": keys},
            "blocked": blocked.tolist(),
            "largest": weights.max(axis=1).tolist(),
            "entropy": spread,
            "told": told,
        }

    @traitlets.validate("row")
    def _row_is_there(self, proposal: Any) -> int:
        row, count = proposal["value"], len(self._inputs["query_tokens"])
        if not 0 <= row < count:
            raise traitlets.TraitError(f"there is no row {row}; rows are 0 to {count - 1}")
        return int(row)

    def change(self, **inputs: Any) -> None:
        super().change(**inputs)
        self.row = min(self.row, len(self.query_tokens) - 1)

    def summary(self) -> str:
        rows, columns = self.weights.shape
        queries, keys = told_apart(self.query_tokens), told_apart(self.key_tokens)
        return f"heatmap of {rows} × {columns} weights. " + " ".join(
            f"“{query}” listens most to “{keys[int(row.argmax())]}” ({row.max():.2f})."
            if row.any()
            else f"“{query}” listens to nothing."
            for query, row in zip(queries, self.weights, strict=True)
        )

    def fallback(self) -> str:
        queries, keys = self.query_tokens, self.key_tokens
        mark = fallback.mark(repr(self), *self.state["told"])
        rows = told_apart(queries)
        table = fallback.heat_table(mark, self.weights, rows, keys, self.blocked)
        steps = fallback.stepper(mark, len(queries))
        told = fallback.sentences(self.state["told"])
        return fallback.framed(f"{steps}{table}{told}", repr(self), mark)


def entropies(weights: np.ndarray) -> list[float]:
    """Entropy of each row in nats; torch counts 0 · log 0 as 0.

    Args:
        weights: (N, M).
    """
    rows: list[float] = torch.special.entr(torch.tensor(weights)).sum(dim=-1).tolist()
    return rows


def refuse_what_are_no_shares(weights: np.ndarray, queries: Sequence[str], where: str = "") -> None:
    """Weights of a query are shares that add up to 1, or all 0.

    Args:
        weights: (N, M).
        queries: N labels.
        where: told after the row's number.
    Raises:
        ValueError: those of some query are not.
    """
    sums = weights.sum(axis=1)
    wrong = (weights < 0).any(axis=1) | ((sums != 0) & (np.abs(sums - 1) > ROUNDED))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"the weights of “{queries[row]}”, row {row}{where}, are no shares: the smallest is "
            f"{weights[row].min():.3g} and they add up to {sums[row]:.3g}, not to 1"
        )


def in_words(
    query: str, row: np.ndarray, keys: Sequence[str], hidden: np.ndarray, entropy: float
) -> str:
    """One row of weights as a sentence.

    Args:
        query: who listens.
        row: (M,) weights.
        keys: M labels.
        hidden: (M,) bool, True = blocked.
        entropy: of the row, in nats.
    """
    count = int(hidden.sum())
    are = "is" if count == 1 else "are"
    closed = f" {count} of {len(keys)} keys {are} blocked." if count else ""
    if not row.any():
        return f"“{query}” listens to nothing: all its weights are 0.{closed}"
    order = np.argsort(-row, kind="stable")
    loudest = [f"“{keys[m]}” ({row[m]:.2f})" for m in order[:TOLD] if row[m] > 0]
    first, *others = loudest
    then = f", then to {' and '.join(others)}" if others else ""
    return (
        f"“{query}” listens most to {first}{then}. Entropy {entropy:.2f} nats: as spread out as "
        f"{np.exp(entropy):.1f} keys with equal shares.{closed}"
    )
