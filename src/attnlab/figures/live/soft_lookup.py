"""Soft lookup: a query among keys on the plane; the hard and the soft answer, and their slopes."""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import cycle, islice, product
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
import traitlets

from attnlab.checks.reference import weights as soft_weights
from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Figure, Input, Values, array, names, number, source, style
from attnlab.figures.live.on_paper import written
from attnlab.figures.live.soft_lookup_plane import (
    CELLS,
    EDGE,
    FOLDED,
    MARGIN,
    QUERY,
    arrow,
    columns,
    drawing,
    ground,
    labels,
    path,
    place,
    reach_of,
    steepest,
)
from attnlab.figures.palette import SERIES

COARSE = 0.5  # the step of a query that was recorded
TEMPERATURES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
MOST_KEYS = 12  # arrows that can be told apart
LEAST = 0.05  # a share that is told
DIRECTIONS = range(-60, 121, 30)  # of the still figure's query, degrees


class SoftLookup(Figure):
    """A query that is dragged or moved by arrow keys, and a slider for the temperature.

    Args:
        query: (2,), inside the plane that the keys span.
        key_vectors: (M, 2).
        values: (M, d_v).
        books: M names.
        axes: two names, of a key's two entries.
        entries: d_v names of a value's entries; slopes are those of the first.
        temperature: what scores are divided by, above 0.
        step: how far an arrow key moves the query; so much lies between two places for it.
    Raises:
        ValueError: sizes do not fit, or a number is out of bounds.
    """

    _esm = source("soft_lookup")
    _css = style("soft_lookup")
    title = traitlets.Unicode("Soft lookup").tag(sync=True)
    query, key_vectors, values, books = Input(), Input(), Input(), Input()
    axes, entries, temperature, step = Input(), Input(), Input(), Input()

    def __init__(
        self,
        query: Any,
        key_vectors: Any,
        values: Any,
        books: Sequence[str],
        *,
        axes: Sequence[str],
        entries: Sequence[str],
        temperature: float = 1.0,
        step: float = 0.1,
    ) -> None:
        super().__init__(
            query=query,
            key_vectors=key_vectors,
            values=values,
            books=books,
            axes=axes,
            entries=entries,
            temperature=temperature,
            step=step,
        )

    def checked(self, inputs: Values) -> Values:
        books = names("books", inputs["books"], MOST_KEYS)
        entries = names("entries", inputs["entries"])
        keys = array("key_vectors", inputs["key_vectors"], (len(books), 2))
        if not keys.any():
            raise ValueError("all entries of all keys are 0; there is no plane to draw them on")
        axes = names("axes", inputs["axes"])
        if len(axes) != 2:
            raise ValueError(f"there are {len(axes)} axes; a key has two entries, each with a name")
        query = array("query", inputs["query"], (2,))
        reach = reach_of(keys)
        if (np.abs(query) > reach).any():
            raise ValueError(f"the query {_pair(query)} lies outside of the plane, ±{reach:g}")
        temperature = number(inputs["temperature"])
        if temperature < TEMPERATURES[0]:
            raise ValueError(f"the temperature is {temperature:g}; {TEMPERATURES[0]} is the least")
        return {
            "query": query,
            "key_vectors": keys,
            "values": array("values", inputs["values"], (len(books), len(entries))),
            "books": books,
            "axes": axes,
            "entries": entries,
            "temperature": temperature,
            "step": inputs["step"],
        }

    def computed(self, inputs: Values) -> Values:
        query, keys, values = inputs["query"], inputs["key_vectors"], inputs["values"]
        temperature, reach = inputs["temperature"], reach_of(keys)
        answer, slope = answer_and_slope(query, keys, values, temperature)
        scores = keys @ query
        best = np.flatnonzero(np.isclose(scores, scores.max(), rtol=0, atol=1e-9))
        hard = np.eye(len(keys))[best[0]]
        jumps = _jumps(keys[best], values[best])
        shares = soft_weights(query[None].copy(), keys.copy(), scale=1 / temperature)[0]
        tips, at = place(keys, reach), place(query, reach)
        end = steepest(at, slope[0])
        more = f"more {inputs['entries'][0].partition(' (')[0]}"
        ends, words = list(tips), list(inputs["books"])
        if (end != at).any():
            ends, words = [*ends, np.clip(end, -EDGE * 0.8, EDGE * 0.8)], [*words, more]
        *beside, asked = labels(np.array([*ends, at]), [*words, QUERY], at)
        beside.insert(len(keys), asked)  # after the books, though it takes what place is left
        state = {
            "query": query.tolist(),
            "temperature": temperature,
            "temperatures": list(TEMPERATURES),
            "reach": reach,
            "step": inputs["step"],
            "edge": EDGE,
            "margin": MARGIN,
            "cells": CELLS,
            "axes": inputs["axes"],
            "entries": inputs["entries"],
            "books": inputs["books"],
            "colours": [each.name for each in islice(cycle(SERIES), len(keys))],
            "ground": ground(keys, values[:, 0], temperature),
            "legend": _legend(inputs["entries"][0], values[:, 0]),
            "axis": [written(end) for end in _reach(values[:, 0])],
            "ties": [inputs["books"][m] for m in best] if len(best) > 1 else [],
            "jumps": jumps,
            "chosen": not jumps and _differ(values[best]),
            "hard": {
                "weights": hard.tolist(),
                "answer": (hard @ values).tolist(),
                "slope": None if jumps else [0.0, 0.0],
                "bar": _bar(float(hard @ values[:, 0]), values[:, 0]),
            },
            "soft": {
                "weights": shares.tolist(),
                "answer": answer.tolist(),
                "slope": slope[0].tolist(),
                "bar": _bar(float(answer[0]), values[:, 0]),
            },
            "arrows": {
                "keys": [arrow(tip) for tip in tips],
                "labels": beside,
                "query": arrow(at),
                "tip": at.tolist(),
                "slope": path(at, end),
            },
            "named": QUERY,
            "more": more,
            "folded": FOLDED,
        }
        return {**state, "found": finding(state), "told": in_words(state)}

    def summary(self) -> str:
        return str(self.state["told"])

    def controls(self) -> Values:
        reach = reach_of(self.key_vectors)
        most = int(reach / COARSE)
        grid = [COARSE * at for at in range(-most, most + 1)]
        queries = [list(pair) for pair in product(grid, grid)]
        return {"query": queries, "temperature": TEMPERATURES, "step": [COARSE]}

    def fallback(self) -> str:
        length = float(np.linalg.norm(self.query))
        limit = self.state["reach"]
        steps = {f"query {_pair(self.query)}": self.state}
        for degrees in DIRECTIONS:
            angle = np.radians(degrees)
            turned = np.clip(length * np.array([np.cos(angle), np.sin(angle)]), -limit, limit)
            label = f"turned to {degrees}°".replace("-", "−")
            steps[label] = self.computed({**self._inputs, "query": turned})
        stills = [
            (
                label,
                f'<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:center">'
                f"{drawing(state)}{columns(state)}</div><p>{html.escape(state['told'])}</p>",
            )
            for label, state in steps.items()
        ]
        return fallback.stepped(repr(self), stills)


def answer_and_slope(
    query: np.ndarray, keys: np.ndarray, values: np.ndarray, temperature: float
) -> tuple[np.ndarray, np.ndarray]:
    """PyTorch's soft answer, and its slope in every entry of the query, by autograd.

    Args:
        query: (2,).
        keys: (M, 2).
        values: (M, d_v).
        temperature: above 0.
    Returns:
        The answer, (d_v,), and its slopes, (d_v, 2).
    """
    k, v = (torch.tensor(part)[None] for part in (keys, values))

    def look_up(q: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q[None, None], k, v, scale=1 / temperature)[0, 0]

    q = torch.tensor(query)
    slopes: Any = torch.autograd.functional.jacobian(look_up, q)
    return look_up(q).numpy(), slopes.numpy()


def finding(state: Values) -> str:
    """Both answers for the first entry, and what else is in the blend."""
    soft, shares = state["soft"]["answer"][0], state["soft"]["weights"]
    entry = state["entries"][0].partition(" (")[0]
    entry = entry[:1].upper() + entry[1:]
    if state["jumps"]:
        ties = [f"“{book}”" for book in state["ties"]]
        tied = " and ".join(ties) if len(ties) == 2 else f"{len(ties)} keys"
        return f"{entry}: a jump between {tied}, but {soft:.1f} by the blend"
    best = int(np.argmax(state["hard"]["weights"]))
    alone = f"{entry}: {state['hard']['answer'][0]:g} by “{state['books'][best]}” alone, {soft:.1f}"
    share, other = max(((w, m) for m, w in enumerate(shares) if m != best), default=(0, best))
    if share < LEAST:
        return f"{alone} by the blend"
    return f"{alone} with {share:.2f} of “{state['books'][other]}” blended in"


def in_words(state: Values) -> str:
    """Both answers in three sentences."""
    soft = state["soft"]
    shares = ", ".join(
        f"“{book}” {100 * share:.0f} %"
        for book, share in zip(state["books"], soft["weights"], strict=True)
    )
    return (
        f"Query {_pair(state['query'])}, temperature {state['temperature']:g}. "
        f"{_hard_in_words(state)} The soft answer is {soft['answer'][0]:.2f}, from {shares}; its "
        f"slope is {_pair(soft['slope'], 2)}."
    )


def _hard_in_words(state: Values) -> str:
    """The hard answer in a sentence: of one key, of equal keys, or between keys, where it jumps."""
    entry, hard = state["entries"][0], state["hard"]
    best = state["books"][int(np.argmax(hard["weights"]))]
    answer = f"the hard answer for {entry} is {hard['answer'][0]:g}"
    tied = " and ".join(f"“{book}”" for book in state["ties"])
    if not tied:
        return f"The closest key is “{best}”: {answer}, and its slope is 0."
    if state["jumps"]:
        return f"{tied} are equally close: here the hard answer jumps and has no slope."
    if state["chosen"]:
        return (
            f"{tied} are equally close, with different values for one key: to take the first, "
            f"“{best}”, is a convention; {answer}, and its slope is 0."
        )
    return f"{tied} are equally close and hold the same: {answer}, and its slope is 0."


def _legend(entry: str, values: np.ndarray) -> list[str]:
    """What the ground means, and the ends of its shades."""
    return [f"Ground: the soft answer for {entry}:", *map(written, _ends(values))]


def _bar(answer: float, values: np.ndarray) -> list[float]:
    """Where a bar from 0 to an answer begins and how wide it is, as shares of the room."""
    low, high = _reach(values)
    room = high - low or 1.0
    return [round((min(answer, 0.0) - low) / room, 4), round(abs(answer) / room, 4)]


def _reach(values: np.ndarray) -> tuple[float, float]:
    """The ends of the axis that bars from 0 have."""
    return min(float(values.min()), 0.0), max(float(values.max()), 0.0)


def _ends(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _differ(rows: np.ndarray) -> bool:
    return bool((rows != rows[0]).any())


def _jumps(keys: np.ndarray, values: np.ndarray) -> bool:
    """Whether the hard answer changes at once where a query passes between equally close keys.

    Between equal keys no query passes: of these, the first is taken everywhere.

    Args:
        keys: (T, 2), all equally close.
        values: (T, d_v).
    """
    _, firsts = np.unique(keys, axis=0, return_index=True)
    return _differ(values[firsts])


def _pair(numbers: Any, digits: int = 1) -> str:
    """(1.0, −2.0), and never −0.0."""
    rounded = [round(float(entry), digits) + 0.0 for entry in numbers]
    return f"({', '.join(f'{entry:.{digits}f}' for entry in rounded)})".replace("-", "−")
