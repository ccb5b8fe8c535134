"""Who listens to whom: a heatmap of weights, a row of it in words, and what a mask moved in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.figures.live import fallback
from attnlab.figures.live.figure import (
    Input,
    Values,
    WithRows,
    array,
    names,
    source,
    style,
    told_apart,
)
from attnlab.small import START
from attnlab.small.grammar import as_labels

ROUNDED = 2e-3  # rows of weights that were rounded to three digits still count as shares
TOLD = 3  # keys that a sentence names
SHOWN = 0.05  # a smaller weight is not told
OWN = 16  # words of a sentence of one's own


class WhoListens(WithRows):
    """A heatmap; the row under the pointer, or that the arrow keys reach, is drawn and told.

    Args:
        weights: (N, M), each row shares that add up to 1, or all 0; or those of heads, (H, N, M);
            or those of layers, one (H, N, M) each. Of several, one is shown, and there is a choice.
        query_tokens: N labels, who listens.
        key_tokens: M labels, who is listened to; None means the same.
        blocked: (N, M) bool, True = may not attend, hatched; None blocks nothing.
        before: (N, M), the weights without what is blocked, to see where theirs went.
        shown: which head is shown, counted from 0 through all layers.
        reader: of a list of words, their weights, as `small.weights`: then the page takes a
            sentence of the reader's own.
    Raises:
        ValueError: sizes do not fit, or weights are no shares.

    Attributes:
        row: the selected row; assigning to it moves the selection in the page.
        view: "table", or "arcs" over the sentence, where queries and keys are the same words.
    """

    _esm = source("who_listens")
    _css = style("who_listens")
    title = traitlets.Unicode("Who listens to whom").tag(sync=True)
    view = traitlets.Enum(["table", "arcs"], "table").tag(sync=True)
    weights, query_tokens, key_tokens, blocked = Input(), Input(), Input(), Input()
    before, shown, reader = Input(), Input(), Input()

    def __init__(
        self,
        weights: Any,
        query_tokens: Sequence[str],
        key_tokens: Sequence[str] | None = None,
        blocked: Any = None,
        before: Any = None,
        shown: int = 0,
        reader: Callable[[Sequence[str]], Any] | None = None,
    ) -> None:
        keys = query_tokens if key_tokens is None else key_tokens
        super().__init__(
            weights=weights,
            query_tokens=query_tokens,
            key_tokens=keys,
            blocked=blocked,
            before=before,
            shown=shown,
            reader=reader,
        )

    def checked(self, inputs: Values) -> Values:
        queries = names("queries", inputs["query_tokens"])
        keys = names("keys", inputs["key_tokens"])
        shape = (len(queries), len(keys))
        weights = _maps(inputs["weights"], shape)
        given, shown = inputs["blocked"], inputs["shown"]
        blocked = array("blocked", np.zeros(shape) if given is None else given, shape) != 0
        before = inputs["before"]
        if before is not None:
            before = array("before", before, shape)
            refuse_what_are_no_shares(before, queries, ", before")
        for name, each in weights.items():
            refuse_what_are_no_shares(each, queries, f", {name}" if name else "")
        if shown not in range(len(weights)):
            raise ValueError(f"there is no head {shown}; heads are 0 to {len(weights) - 1}")
        return {
            "weights": weights.get("", weights),
            "query_tokens": queries,
            "key_tokens": keys,
            "blocked": blocked,
            "before": before,
            "shown": shown,
            "reader": inputs["reader"],
        }

    def computed(self, inputs: Values) -> Values:
        blocked = inputs["blocked"]
        maps = _maps(inputs["weights"], blocked.shape)
        choices = [*maps]
        which = choices[inputs["shown"]]
        weights = maps[which]
        tokens = inputs["query_tokens"]
        queries, keys = told_apart(tokens), told_apart(inputs["key_tokens"])
        before = inputs["before"]
        told = [in_words(query, row, keys) for query, row in zip(queries, weights, strict=True)]
        found = [_heading(re.sub(", then to .*", "", line), which) for line in told]
        if before is not None:
            for n, query in enumerate(queries):
                moved = (query, weights[n], keys, blocked[n], before[n])
                if went := gone(*moved):
                    found[n], told[n] = _heading(passed_on(*moved), which), went
        return {
            "weights": weights.tolist(),
            "queries": as_labels(tokens),
            "keys": as_labels(inputs["key_tokens"]),
            "named": {"queries": queries, "keys": keys},
            "blocked": blocked.tolist(),
            "before": None if before is None else before.tolist(),
            "found": found,
            "told": [line + closed(hidden) for line, hidden in zip(told, blocked, strict=True)],
            "choices": choices,
            "shown": inputs["shown"],
            "typed": inputs["reader"] and " ".join(tokens[tokens[0] == START :]),
        }

    def read(self, text: str) -> None:
        """Show another sentence, with the weights that the reader finds in it.

        Raises:
            ValueError: it is empty or too long, or the reader cannot read it.
        """
        words = text.split()
        if not 1 <= len(words) <= OWN:
            raise ValueError(f"there are {len(words)} words; 1 to {OWN} can be read")
        if self.query_tokens[0] == START != words[0]:
            words = [START, *words]
        try:
            weights = self.reader(words)
        except ImportError as error:
            raise ValueError(f"another sentence needs {error.name}, which is not here") from error
        count = len(words)
        self.change(
            weights=weights,
            query_tokens=words,
            key_tokens=words,
            blocked=np.triu(np.ones((count, count)), 1) if self.blocked.any() else None,
            shown=self.shown,
        )
        self.row = count - 1

    def _do(self, message: Values) -> None:
        """Do what the page asks: {"read": a sentence}, or what every figure knows."""
        if "read" in message:
            self.read(message["read"])
        else:
            super()._do(message)

    def change(self, **inputs: Any) -> None:
        if "weights" in inputs:
            inputs = {"shown": 0, "before": None, **inputs}
        super().change(**inputs)

    def summary(self) -> str:
        state = self.state
        weights, keys = np.array(state["weights"]), state["named"]["keys"]
        which = state["choices"][state["shown"]]
        rows, columns = weights.shape
        return f"{which and f'{which}, '}heatmap of {rows} × {columns} weights. " + " ".join(
            f"“{query}” listens most to “{keys[int(row.argmax())]}” ({row.max():.2f})."
            if row.any()
            else f"“{query}” listens to nothing."
            for query, row in zip(state["named"]["queries"], weights, strict=True)
        )

    def controls(self) -> Values:
        return {"shown": range(len(self.state["choices"]))}

    def fallback(self) -> str:
        state = self.state
        mark = fallback.mark(repr(self), *state["told"])
        rows, which = state["named"]["queries"], state["choices"][state["shown"]]
        weights, blocked = np.array(state["weights"]), np.array(state["blocked"])
        table = fallback.heat_table(mark, weights, rows, state["keys"], blocked)
        steps = fallback.stepper(mark, len(rows))
        told = fallback.sentences(state["told"])
        return fallback.framed(
            f"{which and f'<p>{which}</p>'}{steps}{table}{told}", repr(self), mark
        )


def _maps(weights: Any, shape: tuple[int, int]) -> dict[str, np.ndarray]:
    """One (N, M) map under the name of its layer and head; of a single map under ''."""
    if isinstance(weights, dict):
        return weights  # checked before
    try:
        axes = np.ndim(weights[0]) + 1
    except (TypeError, ValueError, IndexError, KeyError):
        axes = 2
    if axes < 3:
        return {"": array("weights", weights, shape)}
    layers = [weights] if axes == 3 else list(weights)
    return {
        f"{f'layer {layer}, ' if len(layers) > 1 else ''}head {head}": array("weights", each, shape)
        for layer, heads in enumerate(layers, start=1)
        for head, each in enumerate(heads, start=1)
    }


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


def in_words(query: str, row: np.ndarray, keys: Sequence[str]) -> str:
    """One row of weights in a sentence.

    Args:
        query: who listens.
        row: (M,) weights.
        keys: M labels.
    """
    if not row.any():
        return f"“{query}” listens to nothing: all its weights are 0."
    first, *others = _most(row, keys, "“{}” ({:.2f})") or [""]
    if not first:
        return f"“{query}” listens to many, to none with {SHOWN} or more."
    then = f", then to {others[0]}" if others else ""
    return f"“{query}” listens most to {first}{then}."


def closed(hidden: np.ndarray) -> str:
    """How many of a query's keys are blocked, '' if none is; hidden is (M,) bool."""
    count = int(hidden.sum())
    are = "is" if count == 1 else "are"
    return f" {count} of {len(hidden)} keys {are} blocked." if count else ""


def gone(
    query: str,
    row: np.ndarray,
    keys: Sequence[str],
    hidden: np.ndarray,
    before: np.ndarray,
    forms: tuple[str, str] = ("“{}” ({:.2f})", "“{}” (+{:.2f})"),
) -> str:
    """Where the weight of blocked keys went, in a sentence; '' if they had none.

    Args:
        query, row, keys, hidden: as in `in_words`.
        before: (M,) weights with nothing blocked.
        forms: of a key that lost its share, and of one that has it.
    """
    lost, gains = before * hidden, row - before
    read = (row.round(2) - before.round(2)).round(2)  # of the numbers in the table
    taken, given = _most(lost, keys, forms[0]), _most(read, keys, forms[1])[:TOLD]
    if not taken or not given or not row.any():
        return ""
    rest = lost.sum() - np.sort(gains)[-len(given) :].sum()
    mostly = "mostly " if rest > ROUNDED else ""
    return f"“{query}” gives the share of {_listed(taken)} {mostly}to {_listed(given)}."


def passed_on(
    query: str, row: np.ndarray, keys: Sequence[str], hidden: np.ndarray, before: np.ndarray
) -> str:
    """How the weight of blocked keys was shared out, in short; arguments as of `gone`."""
    lost, left = before * hidden, ~hidden & (before > 0)
    grown = row[left] / before[left]
    if not np.allclose(grown, 1 / (1 - lost.sum()), rtol=ROUNDED):
        return gone(query, row, keys, hidden, before, ("“{}”", "“{}”"))
    taken = _listed(_most(lost, keys, "“{}”"))
    return f"“{query}” shares out the {lost.sum():.2f} of {taken} in proportion."


def _heading(sentence: str, which: str) -> str:
    """Without its full stop, and with the head that it is said of, if there are several."""
    return f"{which and f'{which.capitalize()}: '}{sentence.rstrip('.')}"


def _listed(parts: Sequence[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def _most(amounts: np.ndarray, keys: Sequence[str], form: str) -> list[str]:
    """The keys that have amounts worth telling, each with its own, the largest first."""
    order = np.argsort(-amounts, kind="stable")
    return [form.format(keys[m], amounts[m]) for m in order if amounts[m] >= SHOWN]
