"""Rotary arrows: a query and a key, pair by pair, as arrows that turn with their positions.

    query, key ─> pairs ─> turned by position · speed ─> angles and dot products ─> picture, words

The angle between two arrows of a pair depends on the distance of the positions alone: move both,
and all arrows turn, and the score stays.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import traitlets

from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Figure, Input, Values, array, number, source, style

PLACES = 12  # the largest position, and the farthest that both are moved
PAIRS = 4  # at most
BASE = 10000.0
RADIUS, ROOM = 60, 16  # of the circle in a picture, and around it
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#888"
MOVES = (0, 1, 2, 3, 6, 12)  # that the still figure steps through


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of columns of a query and a key, turned.

    Attributes:
        speed: degrees from one position to the next.
        query, key: (2,), as they are without positions.
        turned_query, turned_key: (2,), turned.
        angles: degrees by which each was turned, query first.
    """

    speed: float
    query: np.ndarray
    key: np.ndarray
    turned_query: np.ndarray
    turned_key: np.ndarray
    angles: tuple[float, float]

    @property
    def product(self) -> float:
        return float(self.turned_query @ self.turned_key)

    @property
    def between(self) -> float:
        """Degrees between the two arrows, 0 to 180; 0 where one of them has no length."""
        lengths = np.linalg.norm(self.turned_query) * np.linalg.norm(self.turned_key)
        cosine = self.product / lengths if lengths else 1.0
        return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


class RotaryArrows(Figure):
    """Sliders for the positions of a query and a key, and for moving both; arrows turn with them.

    Args:
        query: (d,), d even, at most 8.
        key_vector: (d,).
        query_at: position of the query, from 0 to 12.
        key_at: position of the key.
        moved: what is added to both positions.
        degrees: (d/2,), by which each pair turns from one position to the next; None gives rotary's
            own speeds, base 10000.
    Raises:
        ValueError: sizes do not fit, or a position is not there.
    """

    _esm = source("rotary_arrows")
    _css = style("rotary_arrows")
    title = traitlets.Unicode("Arrows that turn with position").tag(sync=True)
    query, key_vector, query_at, key_at, moved, degrees = (Input() for _ in range(6))

    def __init__(
        self,
        query: Any,
        key_vector: Any,
        query_at: int = 3,
        key_at: int = 1,
        moved: int = 0,
        degrees: Any = None,
    ) -> None:
        super().__init__(
            query=query,
            key_vector=key_vector,
            query_at=query_at,
            key_at=key_at,
            moved=moved,
            degrees=degrees,
        )

    def checked(self, inputs: Values) -> Values:
        query = array("query", inputs["query"], (None,))
        d = len(query)
        if d % 2 or not 2 <= d <= 2 * PAIRS:
            raise ValueError(
                f"query has {d} numbers; an even number from 2 to {2 * PAIRS} is needed"
            )
        given = inputs["degrees"]
        own = np.degrees(BASE ** (-np.arange(0, d, 2) / d))
        return {
            "query": query,
            "key_vector": array("key_vector", inputs["key_vector"], (d,)),
            "degrees": array("degrees", own if given is None else given, (d // 2,)),
            **{name: place(name, inputs[name]) for name in ("query_at", "key_at", "moved")},
        }

    def computed(self, inputs: Values) -> Values:
        pairs = turned(inputs)
        return {
            **{name: inputs[name] for name in ("query_at", "key_at", "moved")},
            "places": PLACES,
            "titles": [f"pair {n}, {short(pair.speed)}° a step" for n, pair in enumerate(pairs)],
            "pictures": [picture(n, pair, longest(inputs)) for n, pair in enumerate(pairs)],
            "table": table(pairs),
            "score": float(sum(pair.product for pair in pairs)),
            "told": in_words(inputs, pairs),
        }

    def summary(self) -> str:
        return str(self.state["told"])

    def fallback(self) -> str:
        mark = fallback.mark(repr(self))
        steps = dict.fromkeys([self.moved, *MOVES])
        states = [self.computed({**self._inputs, "moved": moved}) for moved in steps]
        radios = "".join(
            f'<span class="step step-{step + 1}" style="margin-right:12px;white-space:nowrap">'
            f"{fallback.radio(mark, step, f'both moved by {moved}')}</span>"
            for step, moved in enumerate(steps)
        )
        content = (
            fallback.stepper(mark, len(steps)) + radios + fallback.listed([*map(_still, states)])
        )
        return fallback.framed(content, repr(self), mark)


def place(name: str, given: Any) -> int:
    """A position, or by how many both are moved.

    Raises:
        ValueError: it is no whole number from 0 to PLACES.
    """
    value = number(given)
    if value != int(value) or not 0 <= value <= PLACES:
        raise ValueError(f"{name} is {value:g}; a whole number from 0 to {PLACES} is needed")
    return int(value)


def turned(inputs: Values) -> list[Pair]:
    """Each pair of the query and of the key, turned by its position."""
    places = [inputs["moved"] + inputs[name] for name in ("query_at", "key_at")]
    pairs = []
    for n, speed in enumerate(inputs["degrees"].tolist()):
        q, k = (inputs[name][2 * n : 2 * n + 2] for name in ("query", "key_vector"))
        angles = (places[0] * speed, places[1] * speed)
        pairs.append(Pair(speed, q, k, _turn(q, angles[0]), _turn(k, angles[1]), angles))
    return pairs


def _turn(arrow: np.ndarray, degrees: float) -> np.ndarray:
    """(2,), counter-clockwise."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[cos, -sin], [sin, cos]]) @ arrow


def longest(inputs: Values) -> float:
    """Length of the longest arrow, which reaches the circle."""
    arrows = np.concatenate([inputs["query"], inputs["key_vector"]]).reshape(-1, 2)
    return float(np.linalg.norm(arrows, axis=1).max()) or 1.0


def short(value: float) -> str:
    """Two digits after the point at most, and a true minus; no minus before 0."""
    text = f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    return ("0" if text == "-0" else text).replace("-", "−")


def decimals(value: float) -> str:
    """Two digits after the point."""
    return ("0.00" if f"{value:.2f}" == "-0.00" else f"{value:.2f}").replace("-", "−")


def table(pairs: list[Pair]) -> list[list[str]]:
    """A line for each pair and one for the sum: how far each arrow turned, and what comes out."""
    lines = [
        [
            f"pair {n}",
            f"{short(pair.angles[0])}°",
            f"{short(pair.angles[1])}°",
            f"{short(pair.between)}°",
            decimals(pair.product),
        ]
        for n, pair in enumerate(pairs)
    ]
    return [*lines, ["score", "", "", "", decimals(sum(pair.product for pair in pairs))]]


HEADS = ("", "query turned by", "key turned by", "between them", "dot product")


def in_words(inputs: Values, pairs: list[Pair]) -> str:
    """Where both stand, how far apart, and what the score is."""
    at, other = (inputs["moved"] + inputs[name] for name in ("query_at", "key_at"))
    distance = at - other
    if distance:
        way = "before" if distance > 0 else "after"
        steps = f"{abs(distance)} {'step' if abs(distance) == 1 else 'steps'}"
        apart = f"the key stands {steps} {way} it"
    else:
        apart = "the key stands there as well"
    angles = ", ".join(f"{short(pair.between)}° in pair {n}" for n, pair in enumerate(pairs))
    score = sum(pair.product for pair in pairs)
    unturned = sum(float(pair.query @ pair.key) for pair in pairs)
    return (
        f"The query stands at {at}, the key at {other}: {apart}. The angle between the arrows is "
        f"{angles}. The score is {decimals(score)}; without turning it would be "
        f"{decimals(unturned)}, wherever they stand."
    )


# The picture, the same in the page and where nothing runs -----------------------------------


def picture(n: int, pair: Pair, most: float) -> str:
    """Two arrows in a circle, as an SVG; dashed, where they would point at position 0."""
    said = (
        f"pair {n}: query arrow turned by {short(pair.angles[0])} degrees, key arrow by "
        f"{short(pair.angles[1])}, {short(pair.between)} degrees between them"
    )
    scale, edge = RADIUS / most, RADIUS + ROOM
    q, k = pair.turned_query * scale, pair.turned_key * scale
    side = 6 if q[0] * k[1] < q[1] * k[0] else -6  # the names keep out of each other's way
    shapes = "".join(
        (
            _line(pair.query * scale, BLUE, 'stroke-dasharray="2 3" stroke-width="1"'),
            _line(pair.key * scale, ORANGE, 'stroke-dasharray="2 3" stroke-width="1"'),
            _arrow(q, BLUE, "q", 3.0, side),
            _arrow(k, ORANGE, "k", 1.6, -side),
        )
    )
    return (
        f'<svg role="img" aria-label="{html.escape(said, quote=True)}" '
        f'viewBox="{-edge} {-edge} {2 * edge} {2 * edge}" font-size="11" fill="currentColor" '
        f'style="width:100%;max-width:190px;display:block">'
        f'<circle r="{RADIUS}" fill="none" stroke="{GREY}" stroke-width="0.6"/>'
        f'<path d="M{-RADIUS} 0H{RADIUS}M0 {-RADIUS}V{RADIUS}" stroke="{GREY}" '
        f'stroke-width="0.6"/>{shapes}</svg>'
    )


def _line(end: np.ndarray, colour: str, more: str) -> str:
    x, y = end
    return f'<line x2="{x:.1f}" y2="{0 - y:.1f}" stroke="{colour}" {more}/>'


def _arrow(end: np.ndarray, colour: str, name: str, width: float, side: float) -> str:
    """A line from the middle with a head, and its name beyond it; a dot where it has no length.

    Args:
        side: how far the name is moved counter-clockwise.
    """
    length = float(np.linalg.norm(end))
    if length < 1:
        return f'<circle r="3" fill="{colour}"/>'
    along = end / length
    across = np.array([-along[1], along[0]])
    tail = end - 8 * along
    corners = " ".join(
        f"{x:.1f},{0 - y:.1f}" for x, y in (end, tail + 4.5 * across, tail - 4.5 * across)
    )
    x, y = end + 9 * along + side * across
    return (
        _line(tail, colour, f'stroke-width="{width}"')
        + f'<polygon points="{corners}" fill="{colour}"/>'
        + f'<text x="{x:.1f}" y="{0 - y:.1f}" text-anchor="middle" dominant-baseline="central">'
        f"{name}</text>"
    )


def _still(state: Values) -> str:
    """The pictures, the table and the sentence of one state."""
    cell = "padding:2px 8px;text-align:right"
    panels = "".join(
        f'<div style="flex:0 1 190px;min-width:120px"><b>{title}</b>{drawing}</div>'
        for title, drawing in zip(state["titles"], state["pictures"], strict=True)
    )
    head = "".join(f'<th scope="col" style="{cell}">{name}</th>' for name in HEADS[1:])
    lines = "".join(
        f'<tr><th scope="row" style="{cell}">{name}</th>'
        + "".join(f'<td style="{cell}">{shown}</td>' for shown in numbers)
        + "</tr>"
        for name, *numbers in state["table"]
    )
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:4px 24px">{panels}</div>'
        f"<table><tr><td></td>{head}</tr>{lines}</table><p>{html.escape(state['told'])}</p>"
    )
