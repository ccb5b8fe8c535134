"""Soft lookup: a query among keys on the plane; the hard and the soft answer, and their slopes."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
import traitlets

from attnlab.checks.reference import weights as soft_weights
from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Figure, Input, Values, array, names, number, source, style

TEMPERATURES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
MOST_KEYS = 12  # arrows that can be told apart
ROOM = 1.5  # the plane reaches so much further than the farthest entry of a key
EDGE = 100  # of the drawing, from its middle
SLOPE_LENGTH, HEAD = 30, 7  # of the slope's arrow, and of any arrow's head
_CELL = "padding:1px 8px;font-weight:normal"
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
    Raises:
        ValueError: sizes do not fit, or a number is out of bounds.
    """

    _esm = source("soft_lookup")
    _css = style("soft_lookup")
    title = traitlets.Unicode("Soft lookup").tag(sync=True)
    query, key_vectors, values, books = Input(), Input(), Input(), Input()
    axes, entries, temperature = Input(), Input(), Input()

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
    ) -> None:
        super().__init__(
            query=query,
            key_vectors=key_vectors,
            values=values,
            books=books,
            axes=axes,
            entries=entries,
            temperature=temperature,
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
        reach = _reach(keys)
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
        }

    def computed(self, inputs: Values) -> Values:
        query, keys, values = inputs["query"], inputs["key_vectors"], inputs["values"]
        temperature, reach = inputs["temperature"], _reach(keys)
        answer, slope = answer_and_slope(query, keys, values, temperature)
        scores = keys @ query
        best = np.flatnonzero(np.isclose(scores, scores.max(), rtol=0, atol=1e-9))
        hard = np.eye(len(keys))[best[0]]
        jumps = _jumps(keys[best], values[best])
        shares = soft_weights(query[None].copy(), keys.copy(), scale=1 / temperature)[0]
        state = {
            "query": query.tolist(),
            "temperature": temperature,
            "temperatures": list(TEMPERATURES),
            "reach": reach,
            "edge": EDGE,
            "axes": inputs["axes"],
            "entries": inputs["entries"],
            "books": inputs["books"],
            "ties": [inputs["books"][m] for m in best] if len(best) > 1 else [],
            "jumps": jumps,
            "chosen": not jumps and _differ(values[best]),
            "hard": {
                "weights": hard.tolist(),
                "answer": (hard @ values).tolist(),
                "slope": None if jumps else [0.0, 0.0],
            },
            "soft": {
                "weights": shares.tolist(),
                "answer": answer.tolist(),
                "slope": slope[0].tolist(),
            },
            "arrows": {
                "keys": [_arrow(_place(key, reach)) for key in keys],
                "labels": [_place(1.2 * key, reach).tolist() for key in keys],
                "query": _arrow(_place(query, reach)),
                "tip": _place(query, reach).tolist(),
                "slope": _slope_arrow(_place(query, reach), slope[0]),
            },
        }
        return {**state, "told": in_words(state)}

    def summary(self) -> str:
        return str(self.state["told"])

    def fallback(self) -> str:
        mark = fallback.mark(repr(self))
        length = float(np.linalg.norm(self.query))
        limit = self.state["reach"]
        steps = {f"query {_pair(self.query)}": self.state}
        for degrees in DIRECTIONS:
            angle = np.radians(degrees)
            turned = np.clip(length * np.array([np.cos(angle), np.sin(angle)]), -limit, limit)
            label = f"turned to {degrees}°".replace("-", "−")
            steps[label] = self.computed({**self._inputs, "query": turned})
        radios = "".join(
            f'<span class="step step-{step + 1}" style="margin-right:12px">'
            f"{fallback.radio(mark, step, label)}</span>"
            for step, label in enumerate(steps)
        )
        pictures = [
            f'<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:center">'
            f"{_drawing(state)}{_columns(state)}</div><p>{html.escape(state['told'])}</p>"
            for state in steps.values()
        ]
        content = fallback.stepper(mark, len(steps)) + radios + fallback.listed(pictures)
        return fallback.framed(content, repr(self), mark)


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


def _reach(keys: np.ndarray) -> float:
    """The largest entry that a query may have."""
    return float(np.ceil(ROOM * np.abs(keys).max() * 10) / 10)


def _pair(numbers: Any, digits: int = 1) -> str:
    """(1.0, −2.0), and never −0.0."""
    rounded = [round(float(entry), digits) + 0.0 for entry in numbers]
    return f"({', '.join(f'{entry:.{digits}f}' for entry in rounded)})".replace("-", "−")


def _place(vector: np.ndarray, reach: float) -> np.ndarray:
    """Where a vector's tip is drawn; in a drawing, y grows downwards."""
    return EDGE / reach * vector * np.array([1, -1])


def _path(start: np.ndarray, tip: np.ndarray) -> str:
    """An arrow from start to tip, both (2,), as an SVG path."""
    length = float(np.linalg.norm(tip - start))
    if not length:
        return ""
    along = (tip - start) / length
    across = np.array([-along[1], along[0]])
    wings = [tip - HEAD * along + side * HEAD / 2 * across for side in (1, -1)]
    points = [f"{x:.1f} {y:.1f}" for x, y in (start, tip, wings[0], tip, wings[1])]
    return "M{} L{} M{} L{} L{}".format(*points)


def _arrow(tip: np.ndarray) -> str:
    return _path(np.zeros(2), tip)


def _slope_arrow(tip: np.ndarray, slope: np.ndarray) -> str:
    """The direction in which the soft answer grows fastest; '' where its slope shows as 0."""
    steepness = float(np.linalg.norm(slope))
    if steepness < 0.005:
        return ""
    return _path(tip, tip + SLOPE_LENGTH * slope / steepness * np.array([1, -1]))


def _drawing(state: Values) -> str:
    """The plane as an SVG, with the classes that the style sheet has, and colours of its own."""
    arrows = state["arrows"]
    line = 'fill="none" stroke-linecap="round"'
    keys = "".join(
        f'<path d="{path}" {line} stroke="#0072b2" stroke-width="{1.5 + 5 * share:.1f}"/>'
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="9" text-anchor="middle" fill="currentColor">'
        f"{html.escape(book)}</text>"
        for path, (x, y), book, share in zip(
            arrows["keys"], arrows["labels"], state["books"], state["soft"]["weights"], strict=True
        )
    )
    name, across = 'font-size="8" fill="currentColor"', f"M{-EDGE} 0H{EDGE} M0 {-EDGE}V{EDGE}"
    right, up = map(html.escape, state["axes"])
    axes = (
        f'<path d="{across}" {line} stroke="currentColor" stroke-width="0.5"/>'
        f'<text x="{EDGE}" y="9" {name} text-anchor="end">{right}</text>'
        f'<text x="3" y="{4 - EDGE}" {name}>{up}</text>'
    )
    said = html.escape(state["told"], quote=True)
    size = EDGE + 10
    return (
        f'<svg role="img" aria-label="{said}" viewBox="{-size} {-size} {2 * size} {2 * size}" '
        f'style="width:100%;max-width:340px;display:block">{axes}{keys}'
        f'<path d="{arrows["query"]}" {line} stroke="currentColor" stroke-width="3"/>'
        f'<path d="{arrows["slope"]}" {line} stroke="#d55e00" stroke-width="2"/></svg>'
    )


def _columns(state: Values) -> str:
    """The hard and the soft answer side by side: weights, answers, slopes."""
    first, sides = state["entries"][0], [state["hard"], state["soft"]]
    lines = {
        **{f"weight of {book}": ("weights", m, 3) for m, book in enumerate(state["books"])},
        **{entry: ("answer", j, 2) for j, entry in enumerate(state["entries"])},
        **{
            f"slope of {first} along {axis}": ("slope", i, 2)
            for i, axis in enumerate(state["axes"])
        },
    }
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL};text-align:left">{html.escape(name)}</th>'
        + "".join(
            f'<td style="{_CELL};text-align:right">{_entry(side[kind], at, digits)}</td>'
            for side in sides
        )
        + "</tr>"
        for name, (kind, at, digits) in lines.items()
    )
    head = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in ("hard", "soft"))
    return f'<table style="border-collapse:collapse"><tr><td></td>{head}</tr>{rows}</table>'


def _entry(numbers: Sequence[float] | None, at: int, digits: int) -> str:
    if numbers is None:
        return "none"
    return f"{round(numbers[at], digits) + 0.0:.{digits}f}".replace("-", "−")
