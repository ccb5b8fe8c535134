"""Heads: the weights of several heads side by side, one query for all of them.

A head can be switched off where somebody can say what comes next without it. There is no mean of
the maps: the output is the sum of the heads' A_h V_h W_h (Vaswani et al. 2017, section 3.2.2), and
the mean of the A_h stands in no formula.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
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
from attnlab.figures.live.ramp import shade
from attnlab.figures.live.who_listens import refuse_what_are_no_shares
from attnlab.figures.palette import ORANGE
from attnlab.small import START
from attnlab.small.grammar import as_labels

MOST_HEADS = 12
MOST_CELLS = 4096  # of all heads together: 4 heads of 32 × 32, 12 heads of 18 × 18
EDGE = 100  # of a map
_BESIDE = "display:inline-block;width:120px;margin-right:8px;text-align:center"
LAST = 9  # words that are shown before the next: a sentence with its subject
SOME = 0.1  # of a row's weight: a head looks at what it gives as much
ALIKE = 0.005  # weights that are no further apart show the same two digits, or nearly
MEANING = "A row for each query, a column for each key."


# Of the head that is switched off, or of None, the share of each word that may come next.
Without = Callable[[int | None], Mapping[str, float]]


class Heads(WithRows):
    """Maps of all heads, and the row of one query in each of them.

    Args:
        weights: (H, N, M), each row shares that add up to 1, or all 0.
        query_tokens: N labels, who listens.
        key_tokens: M labels, who is listened to; None means the same.
        without: of the head that is switched off, counted from 0, or of None, the share of each
            word that may come next, as `measure.removal` makes it; then the page can switch heads
            off.
    Raises:
        ValueError: sizes do not fit, or weights are no shares.

    Attributes:
        row: the query that is shown; assigning to it moves the selection in the page.
        off: the head that is switched off, None if none is.
    """

    _esm = source("heads")
    _css = style("heads")
    title = traitlets.Unicode("Heads side by side").tag(sync=True)
    weights, query_tokens, key_tokens = Input(), Input(), Input()
    without, off = Input(), Input()

    def __init__(
        self,
        weights: Any,
        query_tokens: Sequence[str],
        key_tokens: Sequence[str] | None = None,
        without: Without | None = None,
    ) -> None:
        keys = query_tokens if key_tokens is None else key_tokens
        super().__init__(
            weights=weights,
            query_tokens=query_tokens,
            key_tokens=keys,
            without=without and cache(without),
            off=None,
        )

    def checked(self, inputs: Values) -> Values:
        queries = names("queries", inputs["query_tokens"])
        keys = names("keys", inputs["key_tokens"])
        weights = array("weights", inputs["weights"], (None, len(queries), len(keys)))
        heads = len(weights)
        if not 1 <= heads <= MOST_HEADS:
            raise ValueError(f"there are {heads} heads; 1 to {MOST_HEADS} can be shown")
        if weights.size > MOST_CELLS:
            raise ValueError(
                f"{heads} heads of {len(queries)} × {len(keys)} weights are {weights.size} cells; "
                f"{MOST_CELLS} can be shown"
            )
        for head, each in enumerate(weights):
            refuse_what_are_no_shares(each, queries, f" in head {head + 1}")
        off, without = inputs["off"], inputs["without"]
        if off is not None and (without is None or off not in range(heads)):
            raise ValueError(f"head {off} cannot be switched off here")
        return {
            "weights": weights,
            "query_tokens": queries,
            "key_tokens": keys,
            "without": without,
            "off": off,
        }

    def computed(self, inputs: Values) -> Values:
        weights = inputs["weights"]
        queries, keys = told_apart(inputs["query_tokens"]), told_apart(inputs["key_tokens"])
        heads = [f"head {head + 1}" for head in range(len(weights))]
        return {
            "heads": heads,
            "queries": as_labels(inputs["query_tokens"]),
            "keys": as_labels(inputs["key_tokens"]),
            "named": {"queries": queries, "keys": keys},
            "weights": weights.tolist(),
            "maps": [_map(name, each) for name, each in zip(heads, weights, strict=True)],
            "claims": [claim(query, weights[:, row], keys) for row, query in enumerate(queries)],
            "most": [[_most(row, keys) for row in each] for each in weights],
            "told": [in_words(query, weights[:, row], keys) for row, query in enumerate(queries)],
            "meaning": MEANING,
            "off": inputs["off"],
            "next": inputs["without"]
            and _next(inputs["query_tokens"], inputs["without"], inputs["off"]),
        }

    def change(self, **inputs: Any) -> None:
        if "weights" in inputs:
            inputs = {"off": None, **inputs}
        super().change(**inputs)

    def summary(self) -> str:
        heads, rows, columns = self.weights.shape
        common = 100 * self.weights.min(axis=0).sum(axis=1)
        least = int(common.argmin())
        query = told_apart(self.query_tokens)[least]
        return (
            f"maps of {heads} × {rows} × {columns} weights. The heads have {common.mean():.0f} % "
            f"of their weight in common, and least where “{query}” asks. "
            f"{self.state['told'][least]}"
        )

    def controls(self) -> Values:
        return {"off": (None, *range(len(self.weights)))} if self.without else {}

    def fallback(self) -> str:
        state, named = self.state, self.state["named"]
        maps = "".join(
            f'<span style="{_BESIDE}">{name}{drawing}</span>'
            for name, drawing in zip(state["heads"], state["maps"], strict=True)
        )
        rows = np.swapaxes(np.array(state["weights"]), 0, 1)
        steps = [
            (query, f"{html.escape(told)}{_row_table(row, state['heads'], named['keys'])}")
            for query, told, row in zip(named["queries"], state["told"], rows, strict=True)
        ]
        following = state["next"]
        comes = following and f"{following['said']} {following['word']}. {following['told']}"
        told = f"<p>{html.escape(comes)}</p>" if comes else ""
        around = {"above": f"<div>{maps}</div>", "below": f"{told}<p>{MEANING}</p>"}
        return fallback.stepped(
            repr(self), steps, *state["told"], **around, shown=(".said", ".here")
        )


def _next(queries: Sequence[str], without: Without, off: int | None) -> Values:
    """The likeliest next word with all heads or without one, and whether it is another one."""
    whole = without(None)
    rest = whole if off is None else without(off)
    before, word = (max(shares, key=lambda each: shares[each]) for shares in (whole, rest))
    told = f"With all heads “{before}” comes next, {whole[before]:.2f}. Switch one off."
    if off is not None and word == before:
        told = f"Without head {off + 1} “{word}” comes next as before, {rest[word]:.2f}."
    elif off is not None:
        told = (
            f"Without head {off + 1} “{word}” comes next, {rest[word]:.2f}. With all heads it is "
            f"“{before}”."
        )
    read = queries[queries[0] == START :]
    said = " ".join(read[-LAST:])
    return {
        "said": f"… {said}" if len(read) > LAST else said,
        "word": word,
        "flipped": word != before,
        "told": told,
    }


def _most(row: np.ndarray, keys: Sequence[str]) -> str:
    """The key of the largest of (M,) weights, and it."""
    return f"→ {keys[int(row.argmax())]} {row.max():.2f}" if row.any() else "→ nothing"


def claim(query: str, row: np.ndarray, keys: Sequence[str]) -> Values:
    """Which heads look at the key that one of them looks at most, (H, M) weights of one query."""
    top, key = divmod(int(row.argmax()), len(keys))
    heads = np.flatnonzero(row[:, key] >= SOME).tolist() or [top]
    if not row.any():
        return {"said": f"“{query}” looks at nothing", "heads": []}
    who, at = _numbered(heads), f"at “{keys[key]}”"
    share = f"{row[top, key]:.2f}"
    if len(heads) == 1:
        only = "only " * (len(row) > 1)
        said = f"{only}{who} looks {at} ({share})"
    elif len(heads) == 2:
        said = f"{who} look {at} ({', '.join(f'{row[head, key]:.2f}' for head in heads)})"
    else:
        count = "all" if len(heads) == len(row) else f"{len(heads)} of {len(row)}"
        said = f"{count} heads look {at}, head {top + 1} most ({share})"
    return {"said": f"From “{query}”, {said}", "heads": heads}


def in_words(query: str, row: np.ndarray, keys: Sequence[str]) -> str:
    """Where the heads agree on a query and where they differ.

    Args:
        query: who listens.
        row: (H, M), the weights of each head.
        keys: M labels.
    """
    count, silent = len(row), [head for head, shares in enumerate(row) if not shares.any()]
    if len(silent) == count:
        return f"“{query}” listens to nothing: all its weights are 0."
    listening: dict[int, list[int]] = {}
    for head in range(count):
        if head not in silent:
            listening.setdefault(int(row[head].argmax()), []).append(head)
    groups = [_listens(heads, row[heads, key], keys[key]) for key, heads in listening.items()]
    if silent:
        groups.append(f"{_numbered(silent)} to nothing")
    if count == 1:
        return f"“{query}”: {groups[0]}. With one head there is nothing to compare."
    if len(groups) == 1:
        low, high = row[:, next(iter(listening))].min(), row[:, next(iter(listening))].max()
        key = keys[next(iter(listening))]
        said = f"“{query}”: all {count} heads listen most to “{key}” ({low:.2f} to {high:.2f})."
    else:
        said = f"“{query}”: {'; '.join(groups)}."
    return f"{said} {_differ(row, keys)}"


def _listens(heads: list[int], shares: np.ndarray, key: str) -> str:
    numbers = ", ".join(f"{share:.2f}" for share in shares)
    verb = "listens" if len(heads) == 1 else "listen"
    return f"{_numbered(heads)} {verb} most to “{key}” ({numbers})"


def _numbered(heads: list[int]) -> str:
    """Heads by number, from 1 on, as in the paper."""
    *others, last = (str(head + 1) for head in heads)
    return f"heads {', '.join(others)} and {last}" if others else f"head {last}"


def _differ(row: np.ndarray, keys: Sequence[str]) -> str:
    """How much the heads have in common, and the key on which they are furthest apart."""
    spread = row.max(axis=0) - row.min(axis=0)
    if spread.max() < ALIKE:
        return "They do not differ."
    key = int(spread.argmax())
    low, high = int(row[:, key].argmin()), int(row[:, key].argmax())
    return (
        f"They have {100 * row.min(axis=0).sum():.0f} % of their weight in common, and differ most "
        f"on “{keys[key]}”: head {high + 1} gives it {row[high, key]:.2f}, head {low + 1} "
        f"{row[low, key]:.2f}."
    )


def _map(name: str, weights: np.ndarray) -> str:
    """A map as an SVG; in each `.here`, one of the frames around rows is to be shown."""
    rows, columns = weights.shape
    paths: dict[str, str] = {}
    for row, shares in enumerate(weights):
        for face, start, end in _runs([shade(share)[0] for share in shares]):
            paths[face] = f"{paths.get(face, '')}M{start} {row}.5h{end - start}"
    ground = max(paths, key=lambda face: len(paths[face]))
    colours = "".join(
        f'<path stroke="{face}" d="{path}"/>' for face, path in paths.items() if face != ground
    )
    height = EDGE / rows
    frames = "".join(
        f'<path display="none" d="M0 {row * height:.1f}h{EDGE}v{height:.1f}H0z"/>'
        for row in range(rows)
    )
    marks = f'<g class="here" stroke="{ORANGE.drawn}" stroke-width="2">{frames}</g>'
    return (
        f'<svg role="img" aria-label="{name}: map of {rows} × {columns} weights" '
        f'viewBox="-2 -2 {EDGE + 4} {EDGE + 4}" fill="none">'
        f'<rect fill="{ground}" width="{EDGE}" height="{EDGE}"/>'
        f'<g shape-rendering="crispEdges" transform="scale({EDGE / columns:.4f} {height:.4f})">'
        f"{colours}</g>{marks}</svg>"
    )


def _runs(faces: list[str]) -> Iterator[tuple[str, int, int]]:
    """Neighbours of the same colour: the colour, the first of them, and the one after the last."""
    start = 0
    for face, run in groupby(faces):
        end = start + len(list(run))
        yield face, start, end
        start = end


def _row_table(row: np.ndarray, heads: Sequence[str], keys: Sequence[str]) -> str:
    """The weights of one query, (H, M), as a table with a line for each key."""
    top = "".join(f"<th>{head}</th>" for head in heads)
    lines = "".join(
        f"<tr><th>{html.escape(key)}</th>{_cells(shares)}</tr>"
        for key, shares in zip(keys, row.T, strict=True)
    )
    return f"<table><tr><td></td>{top}</tr>{lines}</table>"


def _cells(shares: np.ndarray) -> str:
    return "".join(f"<td>{share:.2f}</td>" for share in shares)
